//! Control groups with a limit of their own: how long they were stopped and how much memory they hold. Sources
//! `cgroup/PATH` below the unified hierarchy; times in nanoseconds, sizes in bytes.
//!
//! Layout: Documentation/admin-guide/cgroup-v2.rst of Linux, `cpu.max`, `cpu.stat`, `memory.max`, `memory.high`,
//! `memory.current`, `memory.events`, `cgroup.procs`. Groups without a limit, which are most, are not read; a search for new ones goes
//! through a bounded number of folders. Groups of the first version are not seen.

use crate::series_pen::SeriesPen;
use std::path::{Path, PathBuf};
use zwhy_capture::SeriesKind;
use zwhy_host::{entries, named_numbers, read_cut, stat_fields};
use zwhy_profile::Nanos;

/// Folders that one search looks at, groups that are read each interval, and readings between two searches.
const MOST_FOLDERS: usize = 512;
const MOST_GROUPS: usize = 32;
/// Processes of a group that are compared.
const MOST_MEMBERS: usize = 64;
const SEARCH_EVERY: u32 = 30;

#[derive(Debug, Default)]
pub(super) struct Cgroups {
    groups: Vec<(String, PathBuf)>,
    until_search: u32,
}

impl Cgroups {
    /// `proc_root` is /proc, which has the groups' folder beside it.
    pub(super) fn poll(&mut self, proc_root: &Path, t: Nanos, pen: &mut SeriesPen) {
        if self.until_search == 0 {
            self.until_search = SEARCH_EVERY;
            let found = limited(&proc_root.join("../sys/fs/cgroup"));
            for (gone, _) in self.groups.iter().filter(|group| !found.contains(group)) {
                pen.end(gone);
            }
            self.groups = found;
        }
        self.until_search -= 1;
        for (source, folder) in &self.groups {
            read(source, folder, t, pen);
            if let Some(pid) = busiest(proc_root, folder) {
                pen.put(t, source, "busiest_pid", SeriesKind::Gauge, pid);
            }
        }
    }
}

/// Groups that have a limit of CPU or memory, as source and folder.
fn limited(root: &Path) -> Vec<(String, PathBuf)> {
    let (mut found, mut folders, mut seen) = (Vec::new(), vec![(String::new(), root.to_owned())], 0);
    while let Some((name, folder)) = folders.pop() {
        seen += 1;
        if seen > MOST_FOLDERS || found.len() >= MOST_GROUPS {
            break;
        }
        let has = |file: &str| read_cut(&folder.join(file)).is_ok_and(|text| !text.starts_with("max"));
        if ["cpu.max", "memory.max", "memory.high"].into_iter().any(has) {
            found.push((format!("cgroup/{name}"), folder.clone()));
        }
        let below = entries(&folder).into_iter().filter(|(.., is_folder)| *is_folder);
        let path = |child: &str| if name.is_empty() { child.to_owned() } else { format!("{name}/{child}") };
        folders.extend(below.map(|(child, folder, _)| (path(&child), folder)));
    }
    found.sort();
    found
}

fn read(source: &str, folder: &Path, t: Nanos, pen: &mut SeriesPen) {
    let text = |file: &str| read_cut(&folder.join(file)).unwrap_or_default();
    let mut gauge = |name: &str, value: i64| pen.put(t, source, name, SeriesKind::Gauge, value);
    let max = text("cpu.max");
    if let Some((quota, period)) = max.trim().split_once(' ')
        && let (Ok(quota), Ok(period)) = (quota.parse::<i64>(), period.parse::<i64>())
    {
        gauge("cpu_quota_ns", quota.saturating_mul(1000));
        gauge("cpu_period_ns", period.saturating_mul(1000));
    }
    for (file, name) in [
        ("memory.current", "memory_current_bytes"),
        ("memory.max", "memory_max_bytes"),
        ("memory.high", "memory_high_bytes"),
    ] {
        if let Ok(bytes) = text(file).trim().parse() {
            gauge(name, bytes);
        }
    }
    for (name, value) in named_numbers(&text("cpu.stat")) {
        let (name, value) = match name.strip_suffix("_usec") {
            Some(name) => (format!("{name}_ns"), value.saturating_mul(1000)),
            None => (name.to_owned(), value),
        };
        if name.starts_with("nr_") || name.starts_with("throttled") || name == "usage_ns" {
            pen.put(t, source, &name, SeriesKind::Counter, value);
        }
    }
    for (name, value) in named_numbers(&text("memory.events")) {
        if matches!(name, "high" | "max" | "oom" | "oom_kill") {
            pen.put(t, source, &format!("memory_{name}_events"), SeriesKind::Counter, value);
        }
    }
}

/// The process of a group that has used most CPU time since it began: it has the group's name told.
fn busiest(proc_root: &Path, folder: &Path) -> Option<i64> {
    let members = read_cut(&folder.join("cgroup.procs")).ok()?;
    let pids = members.lines().take(MOST_MEMBERS).filter_map(|line| line.trim().parse::<i64>().ok());
    let used = |pid: &i64| {
        let stat = read_cut(&proc_root.join(format!("{pid}/stat"))).ok()?;
        // utime and stime, proc_pid_stat(5): the 12th and 13th after the state.
        let fields: Vec<u64> = stat_fields(&stat)?.skip(11).take(2).filter_map(|f| f.parse().ok()).collect();
        Some(fields.iter().sum::<u64>())
    };
    pids.filter_map(|pid| Some((used(&pid)?, pid))).max().map(|(_, pid)| pid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn groups_with_a_limit_are_read_and_others_are_not() {
        let root = tempfile::tempdir().unwrap();
        let put = |group: &str, file: &str, text: &str| {
            let folder = root.path().join("sys/fs/cgroup").join(group);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(file), text).unwrap();
        };
        fs::create_dir(root.path().join("proc")).unwrap();
        put("a/batch", "cpu.max", "20000 100000\n");
        put(
            "a/batch",
            "cpu.stat",
            "usage_usec 500\nnr_periods 10\nnr_throttled 9\nthrottled_usec 700\nodd\n",
        );
        put("a/batch", "memory.max", "max\n");
        put("b", "memory.max", "1048576\n");
        put("b", "memory.current", "1000\n");
        put("b", "memory.events", "low 1\nmax 7\n");
        put("free", "cpu.max", "max 100000\n");
        put("free", "cpu.stat", "usage_usec 500\n");
        put("a/batch", "cgroup.procs", "7\n8\n9\n");
        for (pid, used) in [(7, "5 6"), (8, "50 6")] {
            let folder = root.path().join(format!("proc/{pid}"));
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("stat"), format!("{pid} (a) (b) R 1 1 1 0 -1 0 0 0 0 0 {used} 0 0"))
                .unwrap();
        }
        let (mut groups, mut pen) = (Cgroups::default(), SeriesPen::default());
        groups.poll(&root.path().join("proc"), Nanos(0), &mut pen);
        let rows: Vec<(String, i64)> =
            pen.series.iter().map(|r| (format!("{}:{}", r.source, r.name), r.value)).collect();
        for row in [
            ("cgroup/a/batch:cpu_quota_ns", 20_000_000),
            ("cgroup/a/batch:nr_throttled", 9),
            ("cgroup/a/batch:throttled_ns", 700_000),
            ("cgroup/a/batch:busiest_pid", 8),
            ("cgroup/b:memory_max_bytes", 1_048_576),
            ("cgroup/b:memory_max_events", 7),
        ] {
            assert!(rows.contains(&(row.0.to_owned(), row.1)), "{row:?} {rows:?}");
        }
        assert!(!rows.iter().any(|(name, _)| name.contains("free") || name.contains("low")), "{rows:?}");
    }

    #[test]
    fn a_tree_without_end_is_not_walked_to_its_end() {
        let root = tempfile::tempdir().unwrap();
        for n in 0..MOST_FOLDERS + 50 {
            let folder = root.path().join(format!("sys/fs/cgroup/g{n}"));
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("cpu.max"), "1 2").unwrap();
        }
        assert_eq!(limited(&root.path().join("sys/fs/cgroup")).len(), MOST_GROUPS);
    }
}
