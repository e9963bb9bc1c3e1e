//! What one step of one run took and moved.

use crate::latency::Latency;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StepResult {
    pub name: String,
    /// Bytes the application wrote or read; 0 for a step that moves none.
    pub bytes: u64,
    /// Blocks of the dataset that these were in.
    pub blocks: u64,
    /// Snapshots taken or destroyed.
    pub operations: u64,
    pub wall_s: f64,
    pub user_s: f64,
    pub system_s: f64,
    pub mb_per_s: Option<f64>,
    pub cpu_s_per_gb: Option<f64>,
    /// Of each read or write call of the application, its commit included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
    /// What reached the disks, and what did not come from the ARC: in user space bytes of the read and
    /// write calls of the whole process.
    pub device_read_bytes: u64,
    pub device_written_bytes: u64,
    /// CPU of OpenZFS threads alive at the end of the step and of the application, by name, most first.
    pub threads: Vec<ThreadGroup>,
    /// The most memory that the process which runs OpenZFS held at once in the step, buffers of the application included.
    /// `None` where OpenZFS is in a kernel, whose memory belongs to all pools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_bytes: Option<u64>,
    /// How much counters of OpenZFS changed, `arcstats.hits`; those that did not are left out.
    pub counters: BTreeMap<String, i64>,
    /// What became of the one call of the step: `direct`, `buffered`, `EINVAL`, or `errno N`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// Counters of the lab that the engine cannot count.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub not_counted: BTreeSet<String>,
    pub marks: Vec<Mark>,
    pub capture: Option<Captured>,
}

impl StepResult {
    pub fn cpu_s(&self) -> f64 {
        self.user_s + self.system_s
    }

    /// Change of a counter; 0 for one that did not change. `None` when it was not counted.
    pub fn counter(&self, name: &str) -> Option<f64> {
        let counted = !self.counters.is_empty() && !self.not_counted.contains(name);
        counted.then(|| self.counters.get(name).map_or(0.0, |change| *change as f64))
    }
}

/// Threads of one name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThreadGroup {
    pub comm: String,
    /// How many used any CPU in the step.
    pub threads: u32,
    pub cpu_s: f64,
}

impl ThreadGroup {
    /// Threads with the CPU seconds that each used, those of one name without its number together, most first; those
    /// that used nothing are left out.
    pub fn of<S: AsRef<str>>(used: impl Iterator<Item = (S, f64)>) -> Vec<ThreadGroup> {
        let mut groups: BTreeMap<String, (u32, f64)> = BTreeMap::new();
        for (comm, cpu_s) in used.filter(|(_, cpu_s)| *cpu_s > 0.0) {
            let group = groups.entry(zwhy_zfs::thread_base(comm.as_ref()).to_owned()).or_default();
            *group = (group.0 + 1, group.1 + cpu_s);
        }
        ThreadGroup::all(groups)
    }

    /// Names with numbers of threads and CPU seconds, most first.
    pub fn all(groups: BTreeMap<String, (u32, f64)>) -> Vec<ThreadGroup> {
        let group = |(comm, (threads, cpu_s))| ThreadGroup { comm, threads, cpu_s };
        let mut groups: Vec<ThreadGroup> = groups.into_iter().map(group).collect();
        ThreadGroup::sort(&mut groups);
        groups
    }

    pub fn sort(groups: &mut [ThreadGroup]) {
        groups.sort_by(|a, b| b.cpu_s.total_cmp(&a.cpu_s));
    }
}

/// An event inside a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Monotonic clock of the host.
    pub t_ns: i64,
    pub name: String,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Captured {
    /// Relative to the output folder where possible.
    pub path: PathBuf,
    pub samples: u64,
    pub lost: u64,
}
