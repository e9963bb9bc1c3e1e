//! What one interval came to, in numbers: the same in the terminal view, in `--json` and in `--csv`.
//!
//! Units are in the names: `_s` behind a count or bytes is "a second", `_ms` milliseconds, `_pct` 0 to 100, shares
//! are 0 to 1 and of one CPU where they are called `cpu`. What the host does not tell is absent (`null`), never 0.
//! Names are as the host gave them: whoever shows them escapes them.

mod arc;
mod cpu;
mod storage;

pub use arc::{ArcFigures, CacheHits, DbufFigures};
pub use cpu::{HostCpu, ProcessFigures, StageFigures, StageSeconds, ThreadFigures};
pub use storage::{DatasetFigures, PoolFigures, QueueFigures};

use crate::names::Names;
use crate::readings::Readings;
use crate::slice::Slice;
use serde::Serialize;
use zwhy_diagnose::{Classified, DiskRow};
use zwhy_evidence::CaptureFacts;

/// Rows of a table that are kept, the busiest ones.
pub const MOST_ROWS: usize = 50;

/// One interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// Seconds since the start, at its end.
    pub at_s: f64,
    /// The same as seconds since 1970, where the start is known.
    pub unix_s: Option<f64>,
    /// Seconds between the two readings that counters are compared of; 0 where none fell into it.
    pub seconds: f64,
    pub cpus: usize,
    pub cpu: Option<HostCpu>,
    /// CPU samples, those of the recorder not counted.
    pub samples: u64,
    pub lost: u64,
    /// CPU that the recorder itself used, of one CPU.
    pub own_cpu: Option<f64>,
    /// Shares of all CPU time that the host had, busiest first.
    pub stages: Vec<StageFigures>,
    /// Threads of ZFS, those of one name together.
    pub threads: Vec<ThreadFigures>,
    pub processes: Vec<ProcessFigures>,
    pub datasets: Vec<DatasetFigures>,
    /// Block devices; `pool` where zwhy knows whose they are.
    pub disks: Vec<DiskRow>,
    pub pools: Vec<PoolFigures>,
    /// Task queues with work.
    pub queues: Vec<QueueFigures>,
    pub arc: Option<ArcFigures>,
    pub dbuf: Option<DbufFigures>,
    /// Writers held up by the dirty data limit, a second: delayed, and stopped until a txg was synced.
    pub tx_delays_s: Option<f64>,
    pub tx_stops_s: Option<f64>,
    pub zil_commits_s: Option<f64>,
}

/// What figures are made of.
pub(crate) struct Sources<'a> {
    pub slice: &'a Slice,
    pub readings: &'a Readings,
    pub names: &'a Names,
    pub classified: &'a Classified,
    pub facts: &'a CaptureFacts,
}

impl Figures {
    pub(crate) fn of(sources: &Sources<'_>) -> Figures {
        let Sources { slice, readings, facts, .. } = sources;
        let at_s = slice.to.as_secs_f64();
        let cpus = cpu::cpus(sources);
        let stages = cpu::stages(sources, cpus);
        Figures {
            at_s,
            unix_s: facts.start_unix_s.map(|start| start + at_s),
            seconds: readings.seconds,
            cpus,
            cpu: cpu::host(readings),
            samples: stages.samples,
            lost: slice.lost,
            own_cpu: cpu::own(sources),
            stages: stages.rows,
            threads: cpu::threads(sources),
            processes: cpu::processes(sources),
            datasets: storage::datasets(sources),
            disks: storage::disks(sources),
            pools: storage::pools(sources),
            queues: storage::queues(readings),
            arc: arc::arc(readings),
            dbuf: arc::dbuf(readings),
            tx_delays_s: readings.rate("dmu_tx", "dmu_tx_dirty_delay"),
            tx_stops_s: readings.rate("dmu_tx", "dmu_tx_dirty_over_max"),
            zil_commits_s: readings.rate("zil", "zil_commit_count"),
        }
    }
}

/// The rows with the highest values first, at most [`MOST_ROWS`]; equal ones by name.
pub(crate) fn most<T>(rows: &mut Vec<T>, value: impl Fn(&T) -> f64, name: impl Fn(&T) -> &str) {
    rows.sort_by(|a, b| value(b).total_cmp(&value(a)).then_with(|| name(a).cmp(name(b))));
    rows.truncate(MOST_ROWS);
}
