//! The recorder's own figures: how it recorded, what it took, what it lost.

use super::facts;
use super::forms::some_texts;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

facts! {
    /// How a profile was recorded, by whom, and what is not in it.
    RecorderFacts {
        /// Samples a second of each CPU.
        hz: f64,
        /// What a sample is of: `cpu-clock`, `cycles`, `count`.
        event: String,
        events: Events,
        /// `system`, `pid 12,13`, `cgroup /x`, `command fio --rw=read`.
        target: String,
        /// The tool that recorded, where that is another one.
        tool: String,
        /// Its command line.
        command: String,
        /// Name and number of the process that recorded, where its samples can be told.
        program: String,
        pid: i32,
        user_only: bool,
        kernel_only: bool,
        ring_bytes: u64,
        /// Between two readings of counters.
        interval_s: f64,
        duration_s: f64,
        /// CPU time that recording took, in seconds and as a part of the duration.
        cpu_s: f64,
        cpu_share: f64,
        peak_rss_bytes: u64,
        nice: i64,
        samples: u64,
        lost: u64,
        lost_by_cpu: BTreeMap<u32, u64>,
        /// By reason.
        dropped: BTreeMap<String, u64>,
        /// Frames without a name, by reason.
        unresolved: BTreeMap<String, u64>,
        throttled: u64,
        /// Samples of what the recorder itself started.
        #[serde(alias = "own_samples_left_out")]
        own_samples_excluded: u64,
        /// How often the tables of names were reset to bound memory.
        #[serde(alias = "names_begun_anew", alias = "names_reset")]
        name_resets: u64,
        /// Sentences on what is not seen.
        limits: Vec<String>,
        lines: LineFacts,
        wait: WaitFacts,
        series: SeriesFacts,
        /// What a process runs in, and which guest has a volume: `process/12` is `container 3f2a`, `dataset/tank/vm`
        /// is `guest web1`.
        #[serde(deserialize_with = "some_texts")]
        owners: BTreeMap<String, String>,
        threads: ThreadClockFacts,
        /// The function whose calls were counted, and those that it names.
        count: String,
        functions: Vec<String>,
        calls: u64,
        /// Of so many calls one has a stack.
        one_in: u64,
    }

    /// Source lines: what has them, and why others have none.
    LineFacts {
        modules: Vec<String>,
        #[serde(deserialize_with = "some_texts")]
        modules_without: BTreeMap<String, String>,
        objects: u64,
        objects_without: u64,
    }

    /// How waiting was recorded.
    WaitFacts {
        /// `/proc/PID/stack` or `sched:sched_switch`.
        #[serde(alias = "how")]
        method: String,
        hz: f64,
        threads: u64,
        #[serde(alias = "looks")]
        rounds: u64,
        #[serde(alias = "rounds_cut_short")]
        rounds_truncated: u64,
        /// The shortest wait that is kept with its stack.
        #[serde(alias = "least_s")]
        min_s: f64,
        /// Threads that may wait at one time.
        #[serde(alias = "most_threads")]
        max_threads: u64,
        samples: u64,
        #[serde(alias = "shorter")]
        short: ShortWaits,
        /// For want of room.
        #[serde(alias = "left_out")]
        skipped: u64,
        lost: u64,
        /// Waits without a known end.
        #[serde(alias = "forgotten")]
        unfinished: u64,
    }

    /// Waits that were too short to keep their stacks.
    ShortWaits {
        waits: u64,
        seconds: f64,
        threads: Vec<ThreadWaits>,
    }

    /// Those of one thread.
    ThreadWaits {
        tid: i32,
        waits: u64,
        seconds: f64,
    }

    /// Counters that were read.
    SeriesFacts {
        datasets_seen: u64,
        datasets_recorded: u64,
        #[serde(alias = "datasets_left_out")]
        datasets_skipped: u64,
        /// Readings that were deferred to a later round.
        #[serde(alias = "datasets_put_off")]
        datasets_deferred: u64,
        /// Dataset of each objset kstat.
        #[serde(deserialize_with = "some_texts")]
        objsets: BTreeMap<String, String>,
        kstats_unreadable: Vec<String>,
        #[serde(alias = "kstat_lines_not_understood")]
        kstat_lines_unparsed: u64,
        /// Seconds between two readings of the latencies and queues of vdevs; none where they were not read.
        vdev_interval_s: f64,
    }

    /// Clocks of threads that were read.
    ThreadClockFacts {
        /// Threads that are read in one round.
        #[serde(alias = "a_turn")]
        batch: u64,
        /// Most threads that were due in one round.
        #[serde(alias = "most_due")]
        max_due: u64,
        /// Readings that were deferred to a later round.
        #[serde(alias = "put_off")]
        deferred: u64,
        /// Threads that were not read at the start or at the end because there were too many.
        #[serde(alias = "left_out")]
        skipped: u64,
    }
}

/// Perf events of a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Events {
    /// How many were opened.
    Opened(u64),
    Sampled(Vec<RecordedEvent>),
}

/// An event of a file, with its samples.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecordedEvent {
    pub name: String,
    pub samples: u64,
    /// What it counts is CPU time.
    pub cpu_time: bool,
}
