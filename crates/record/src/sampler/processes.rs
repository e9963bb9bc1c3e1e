//! Memory and I/O of processes, from /proc/PID/statm and /proc/PID/io: sources `process/PID`, bytes.
//!
//! Of all processes those with most memory, and those that moved data, are read at every interval; the others are
//! searched through in turn, [`SEARCHED`] an interval, at some 20 µs each. /proc/PID/io of other users needs root.

use super::{Ended, Look, Pace, Sampler, owners};
use crate::options::RecordOptions;
use crate::scene::Scene;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use zwhy_capture::SeriesKind;
use zwhy_evidence::RecorderFacts;
use zwhy_host::{named_numbers, numbers_in, read_cut, read_trimmed};

/// Processes that one interval searches, the first one, and those that are read each time.
const SEARCHED: usize = 64;
const SEARCHED_FIRST: usize = 2048;
const WATCHED: usize = 24;
/// Processes and volumes whose owner is kept, and volumes of one guest.
const MOST_OWNERS: usize = 1024;
const MOST_VOLUMES: usize = 32;
/// Memory and data moved from which a process is worth watching.
const MUCH_MEMORY: i64 = 64 << 20;
const MUCH_IO: i64 = 1 << 20;

/// What was read of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Usage {
    rss: i64,
    /// Bytes that it read and wrote by system calls, and those that a storage layer had to fetch or keep for it.
    io: [Option<i64>; 4],
}

const IO: [(&str, &str); 4] = [
    ("rchar", "read_calls_bytes"),
    ("wchar", "write_calls_bytes"),
    ("read_bytes", "read_bytes"),
    ("write_bytes", "write_bytes"),
];

impl Usage {
    fn moved(&self) -> i64 {
        self.io[..2].iter().flatten().fold(0, |sum, n| sum.saturating_add(*n))
    }
}

#[derive(Default)]
pub(crate) struct Processes {
    proc_root: PathBuf,
    pace: Pace,
    /// Still to be searched in this round.
    search: Vec<i32>,
    searched: bool,
    /// Data moved by the time of the last search, by process.
    moved: FxHashMap<i32, i64>,
    watched: Vec<i32>,
    /// What they run in, and whose volumes are: kept when a process has ended.
    owners: BTreeMap<String, String>,
}

impl Processes {
    pub(crate) fn new(options: &RecordOptions) -> Processes {
        Processes {
            proc_root: options.proc_root.clone(),
            pace: Pace::new(options.interval),
            ..Processes::default()
        }
    }

    /// Asks whose a process is, once.
    fn learn(&mut self, pid: i32) {
        let root = &self.proc_root;
        let comm = read_trimmed(root.join(format!("{pid}/comm"))).unwrap_or_default();
        let Some(owner) = owners::owner(root, pid, &comm).filter(|_| self.owners.len() < MOST_OWNERS) else {
            return;
        };
        for dataset in owners::volumes(root, pid, &comm).into_iter().take(MOST_VOLUMES) {
            self.owners.insert(format!("dataset/{dataset}"), owner.clone());
        }
        self.owners.insert(format!("process/{pid}"), owner);
    }

    /// Looks at some more processes; returns those that are worth watching from now on.
    fn search(&mut self) -> Vec<i32> {
        if self.search.is_empty() {
            self.search = numbers_in(&self.proc_root);
            let present: rustc_hash::FxHashSet<i32> = self.search.iter().copied().collect();
            self.moved.retain(|pid, _| present.contains(pid));
        }
        let many = if std::mem::replace(&mut self.searched, true) { SEARCHED } else { SEARCHED_FIRST };
        let from = self.search.len().saturating_sub(many);
        let mut found: Vec<(i64, i32)> = Vec::new();
        for pid in self.search.split_off(from) {
            let Some(usage) = usage(&self.proc_root, pid) else { continue };
            let before = self.moved.insert(pid, usage.moved());
            let moved = before.map_or(0, |before| usage.moved() - before);
            if (usage.rss >= MUCH_MEMORY || moved >= MUCH_IO) && !self.watched.contains(&pid) {
                found.push((usage.rss.saturating_add(moved), pid));
            }
        }
        found.sort_unstable_by(|a, b| b.cmp(a));
        found.truncate(WATCHED.saturating_sub(self.watched.len()));
        found.into_iter().map(|(_, pid)| pid).collect()
    }
}

impl Sampler for Processes {
    fn due(&self) -> Duration {
        self.pace.due()
    }

    fn take(&mut self, scene: &mut Scene, look: Look) {
        if !self.pace.begins(&look) {
            return;
        }
        let t = scene.since_start(look.now_ns);
        let found = self.search();
        found.iter().for_each(|pid| self.learn(*pid));
        self.watched.extend(found);
        let Scene { profile, pen, .. } = scene;
        let root = &self.proc_root;
        self.watched.retain(|pid| {
            let source = format!("process/{pid}");
            let Some(usage) = usage(root, *pid) else {
                pen.end(&source);
                return false;
            };
            let comm = read_trimmed(root.join(format!("{pid}/comm"))).unwrap_or_default();
            profile.thread(*pid, *pid, &comm);
            pen.put(t, &source, "rss_bytes", SeriesKind::Gauge, usage.rss);
            for ((_, name), value) in IO.iter().zip(usage.io) {
                if let Some(value) = value {
                    pen.put(t, &source, name, SeriesKind::Counter, value);
                }
            }
            true
        });
    }

    fn facts(&self, facts: &mut RecorderFacts, _: &Scene, end: Option<&Ended<'_>>) {
        facts.owners = Some(self.owners.clone()).filter(|owners| end.is_some() && !owners.is_empty());
    }
}

/// `None` of a thread of the kernel, which has no memory of its own, and of a process that ended.
fn usage(proc_root: &Path, pid: i32) -> Option<Usage> {
    let folder = proc_root.join(pid.to_string());
    let statm = read_cut(&folder.join("statm")).ok()?;
    let pages: i64 = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
    let page = i64::try_from(rustix::param::page_size()).unwrap_or(4096);
    let rss = pages.saturating_mul(page);
    if rss == 0 {
        return None;
    }
    let text = read_cut(&folder.join("io")).unwrap_or_default();
    let io = IO.map(|(field, _)| named_numbers(&text).find(|(name, _)| *name == field).map(|(_, n)| n));
    Some(Usage { rss, io })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Target;
    use std::fs;

    fn process(root: &Path, pid: i32, pages: u64, moved: u64) {
        let folder = root.join(pid.to_string());
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("statm"), format!("{} {pages} 3 4 0 5 0\n", pages * 2)).unwrap();
        let io = format!("rchar: {moved}\nwchar: 0\nsyscr: 1\nsyscw: 0\nread_bytes: 4096\nwrite_bytes: 0\n");
        fs::write(folder.join("io"), io).unwrap();
    }

    #[test]
    fn who_has_memory_or_moves_data_is_watched() {
        let root = tempfile::tempdir().unwrap();
        let large = MUCH_MEMORY as u64 / rustix::param::page_size() as u64 + 1;
        process(root.path(), 10, large, 0);
        process(root.path(), 11, 100, 0);
        process(root.path(), 12, 100, 5);
        process(root.path(), 13, 0, 0);
        let mut options = RecordOptions::without_file(Target::System);
        options.proc_root = root.path().to_owned();
        let mut processes = Processes::new(&options);
        assert_eq!(processes.search(), [10], "memory; a thread of the kernel has none");
        processes.watched.push(10);
        process(root.path(), 12, 100, 5 + MUCH_IO as u64);
        assert_eq!(processes.search(), [12], "data moved since the last look");
        let io = usage(root.path(), 12).unwrap().io;
        assert_eq!(io, [Some(5 + MUCH_IO), Some(0), Some(4096), Some(0)]);
        assert_eq!(usage(root.path(), 13), None);
    }
}
