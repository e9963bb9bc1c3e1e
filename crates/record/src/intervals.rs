//! A recording that hands out each interval as it ends, and keeps no file: for a live view or an agent.
//!
//! Invariants: an interval is valid until the next one is asked for, when its samples and readings are dropped;
//! memory is that of one interval and of names in use. An interval ends early where more samples came than are
//! kept, and what was lost is counted.

use crate::error::RecordError;
use crate::heap;
use crate::host_facts::HostFacts;
use crate::live::Live;
use crate::options::RecordOptions;
use crate::recording::{MOST_PENDING, TICK};
use crate::sampler::Ended;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use zwhy_capture::{Mark, Series};
use zwhy_evidence::CaptureFacts;
use zwhy_host::thread_cpu;
use zwhy_profile::{Nanos, Profile};

/// A running recording without a file.
pub struct Intervals {
    live: Live,
    facts: HostFacts,
    options: RecordOptions,
    every: Duration,
    /// Where the interval that runs began.
    from: Duration,
    /// Losses that were told with an interval.
    lost: BTreeMap<u32, u64>,
    sample: Duration,
    /// An interval was handed out, and is forgotten when the next one begins.
    told: bool,
    over: bool,
}

/// What was seen between two moments.
pub struct Interval<'a> {
    /// Since the start; the interval holds the samples that were taken after it, up to `to`.
    pub from: Duration,
    pub to: Duration,
    /// Samples of this interval. Ids of names, stacks and threads hold for this interval alone.
    pub profile: &'a Profile,
    /// CPU time that a sample of weight 0 stands for.
    pub sample: Duration,
    /// Readings that changed in this interval; see [`Interval::reading`] for one that did not.
    pub series: &'a Series,
    /// Sources of series that ended in it.
    pub ended: &'a [String],
    /// What happened to the host.
    pub marks: &'a [Mark],
    /// Samples of this interval that found no room.
    pub lost: u64,
    live: &'a Live,
}

impl Interval<'_> {
    /// The last reading of a counter, as `arcstats` and `size`.
    pub fn reading(&self, source: &str, name: &str) -> Option<i64> {
        self.live.scene.pen.reading(source, name)
    }

    /// How long ago it ended: naming what was seen takes time, and a busy host lets the recorder wait.
    pub fn since_end(&self) -> Duration {
        self.live.elapsed().saturating_sub(self.to)
    }

    /// CPU time that a sample stands for.
    pub fn cpu_time(&self, count: u32, weight: Nanos) -> Duration {
        match u64::try_from(weight.0) {
            Ok(ns) if ns > 0 => Duration::from_nanos(ns),
            _ => self.sample * count,
        }
    }
}

impl Intervals {
    /// Begins to look; of the options those of the file are not used.
    ///
    /// # Errors
    /// As [`crate::Recording::start`].
    pub fn start(options: &RecordOptions) -> Result<Intervals, RecordError> {
        options.check()?;
        let live = Live::start(options)?;
        let every = options.interval.max(TICK / 10);
        // The kernel may allow a lower rate than was asked for.
        let hz = live.facts(None).hz;
        let hz = hz.map_or(options.hz, |hz| hz as u32);
        let sample = Duration::from_secs(1) / hz.max(1);
        let mut facts = HostFacts::quick();
        if options.ask_zfs {
            facts.ask_tools();
        }
        heap::give_back();
        let (options, from, lost) = (options.clone(), Duration::ZERO, BTreeMap::new());
        let (told, over) = (false, false);
        Ok(Intervals { live, facts, options, every, from, lost, sample, told, over })
    }

    /// Sentences on what cannot be seen, as recording began.
    pub fn caveats(&self) -> &[String] {
        &self.live.caveats
    }

    /// What a capture of all up to now would say of the host and the recorder; what `zpool` and `zfs` tell is in
    /// it once they have answered. Whoever keeps a part of it puts in that part's times and counts.
    pub fn facts(&self) -> CaptureFacts {
        let mut facts = self.facts.as_recorded(&self.live, Duration::ZERO);
        let ended = Ended { before: &self.live.first, last_seconds: true, lost: &self.lost };
        facts.recorder = self.live.facts(Some(&ended));
        self.facts.put_recorder(&self.live, &self.options, &mut facts.recorder);
        facts.recorder.duration_s = Some(self.from.as_secs_f64());
        facts.put(self.options.facts.clone());
        facts
    }

    /// Learns the host's facts anew, as pools, datasets and settings change; what `zpool` and `zfs` tell follows
    /// once they have answered.
    pub fn ask_again(&mut self) {
        if self.facts.waits() {
            return;
        }
        let before = thread_cpu();
        self.facts.look_again(self.options.ask_zfs);
        self.live.cpu += thread_cpu().saturating_sub(before);
    }

    /// CPU time of the recorder itself up to now.
    pub fn cpu(&self) -> Duration {
        self.live.cpu
    }

    /// Waits for the end of the next interval; `None` when the target has ended, the time is up or `stop` was
    /// set, and the last interval was handed out.
    pub fn next(&mut self, stop: &AtomicBool) -> Option<Interval<'_>> {
        if self.over {
            self.live.lower_priority();
            return None;
        }
        let cpu_before = thread_cpu();
        // The first one holds what was read as recording began.
        if std::mem::replace(&mut self.told, true) {
            self.drop_taken();
        }
        let until = self.from + self.every;
        let mut to = self.from;
        while !self.over && to < until && self.live.pending() < MOST_PENDING {
            // A sample is taken in a moment after it was taken.
            let left = until.saturating_sub(to).max(TICK / 100);
            let turn = self.live.turn(TICK.min(left));
            self.over = turn.over || stop.load(Ordering::Relaxed);
            to = turn.settled.max(to);
        }
        if self.over {
            to = self.live.end();
        }
        self.live.name();
        self.live.cpu += self.facts.take_more(Duration::ZERO);
        let from = self.from;
        self.from = to;
        let lost = self.live.counted().lost_by_cpu;
        let sum = |lost: &BTreeMap<u32, u64>| lost.values().sum::<u64>();
        let new = sum(&lost).saturating_sub(sum(&self.lost));
        self.lost = lost;
        self.live.cpu += thread_cpu().saturating_sub(cpu_before);
        let live = &self.live;
        let (profile, series) = (&live.scene.profile, &live.scene.pen.series);
        let (marks, ended) = (&live.marks, &live.scene.pen.ended);
        Some(Interval { from, to, profile, sample: self.sample, series, ended, marks, lost: new, live })
    }

    /// Forgets the interval that was handed out.
    fn drop_taken(&mut self) {
        let scene = &mut self.live.scene;
        scene.profile.samples.clear();
        scene.pen.series.clear();
        scene.pen.trim();
        self.live.marks.clear();
        self.live.keep_small();
    }
}
