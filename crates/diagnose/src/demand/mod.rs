//! Who asks ZFS for reads, writes and commits, and what works in the background: datasets by their own counters,
//! programs by those of the kernel and by what ZFS does in their calls.

mod background;
mod programs;

#[cfg(test)]
mod tests;

pub use background::duration;

use crate::bottleneck::Bottleneck;
use crate::facts::FactBase;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::collections::BTreeMap;

/// Datasets and programs that are listed.
const MOST: usize = 8;
/// Bytes, operations and commits a second from which something is worth a line.
const BYTES: f64 = 4096.0;
const OPERATIONS: f64 = 0.5;

/// Who is behind the load; the busiest stand first.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
pub struct Demand {
    pub programs: Vec<ProgramDemand>,
    pub datasets: Vec<DatasetDemand>,
    pub background: Vec<BackgroundWork>,
}

/// What a program moved, with all files, sockets and devices together.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
pub struct ProgramDemand {
    pub program: String,
    /// The container, service or guest that it runs in: `container 3f2a`, `guest web1`.
    pub owner: Option<String>,
    pub processes: u64,
    /// By system calls, cached or not; `None` where the kernel's counters were not read.
    pub read_bytes_s: Option<f64>,
    pub written_bytes_s: Option<f64>,
    /// Memory of its processes; what they share counts once for each.
    pub memory_bytes: Option<f64>,
    /// Of all CPU time of ZFS in calls of programs, the part in calls of this one.
    pub zfs_part: Option<f64>,
    /// What its calls are, as parts of its CPU time in ZFS: `reads`, `writes`, `commits`, `other calls`.
    pub calls: Vec<CallPart>,
}

/// A part of a program's calls.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
pub struct CallPart {
    pub call: String,
    pub share: f64,
}

/// What programs asked of a dataset, cached or not.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
pub struct DatasetDemand {
    pub dataset: String,
    /// The guest that has the volume as a disk.
    pub owner: Option<String>,
    pub reads_s: f64,
    pub writes_s: f64,
    pub read_bytes_s: f64,
    pub written_bytes_s: f64,
    /// Synchronous writes, fsync and the like; `None` before OpenZFS 2.2, which counts them for all together.
    pub commits_s: Option<f64>,
}

/// Work of a pool that no program waits for.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
pub struct BackgroundWork {
    /// `scrub`, `resilver`, `freeing of destroyed data`.
    pub work: String,
    pub pool: String,
    /// How much is done, 0 to 1.
    pub done: Option<f64>,
    pub left_bytes: Option<f64>,
    /// Seconds that it will still take at the speed it had so far.
    pub left_s: Option<f64>,
    /// Of the requests that the disks of the pool worked on, the part of this work; `None` where that is not known.
    pub disk_share: Option<f64>,
    /// Programs that wait for these disks meanwhile.
    pub slows: Vec<String>,
}

impl Demand {
    /// `about 10 min to go`: of the background work that a cause is called by, where there is one of it.
    pub(crate) fn time_left(&self, class: &str) -> Option<String> {
        let mut of_class = self.background.iter().filter(|work| class.split('-').next() == Some(&work.work));
        let (only, more) = (of_class.next()?, of_class.next());
        only.left_s
            .filter(|_| more.is_none())
            .map(|seconds| format!("about {} to go", background::duration(seconds)))
    }
}

/// `None` where nothing is known of any. `limit` says who waits for which disk.
pub fn demand(facts: &FactBase<'_>, limit: Option<&Bottleneck>) -> Option<Demand> {
    let found = Demand {
        programs: programs::programs(facts),
        datasets: datasets(facts),
        background: background::background(facts, limit),
    };
    (found != Demand::default()).then_some(found)
}

fn datasets(facts: &FactBase<'_>) -> Vec<DatasetDemand> {
    let evidence = facts.evidence;
    let recorder = &evidence.facts.recorder;
    let names = recorder.series.as_ref().and_then(|series| series.objsets.as_ref());
    let mut rates: BTreeMap<&str, FxHashMap<&str, f64>> = BTreeMap::new();
    for kstat in evidence.kstats.iter().filter(|k| k.source.contains("/objset-")) {
        let name = names.and_then(|names| names.get(&kstat.source)).filter(|name| !name.is_empty());
        let (Some(name), Some(rate)) = (name, kstat.rate) else { continue };
        *rates.entry(name).or_default().entry(&kstat.name).or_default() += rate;
    }
    let owners = recorder.owners.as_ref();
    let row = |(name, rates): (&&str, &FxHashMap<&str, f64>)| {
        let rate = |of: &str| rates.get(of).copied();
        let or_none = |of: &str| rate(of).unwrap_or(0.0);
        DatasetDemand {
            dataset: (*name).to_owned(),
            owner: owners.and_then(|owners| owners.get(&format!("dataset/{name}")).cloned()),
            reads_s: or_none("reads"),
            writes_s: or_none("writes"),
            read_bytes_s: or_none("nread"),
            written_bytes_s: or_none("nwritten"),
            commits_s: rate("zil_commit_count"),
        }
    };
    let worth = |d: &DatasetDemand| {
        d.read_bytes_s + d.written_bytes_s >= BYTES
            || d.reads_s + d.writes_s + d.commits_s.unwrap_or(0.0) >= OPERATIONS
    };
    let mut rows: Vec<DatasetDemand> = rates.iter().map(row).filter(worth).collect();
    let moved = |d: &DatasetDemand| d.read_bytes_s + d.written_bytes_s;
    rows.sort_by(|a, b| moved(b).total_cmp(&moved(a)).then_with(|| a.dataset.cmp(&b.dataset)));
    rows.truncate(MOST);
    rows
}
