//! Everything that is read every interval besides samples: kstats, memory, pressure, disks, CPU time.
//!
//! Invariants: values are stored as the kernel gives them (KiB as bytes, sectors as bytes,
//! microseconds as nanoseconds); rates are computed by readers. Nothing here fails: a file that is
//! absent or unreadable gives no rows, and [`Pollers::limits`] says what cannot be read. All paths
//! are below one folder, `/proc` on a live host. Left out because they are not cheap: `dbufs`, which
//! walks every cached block, and `/proc/spl/taskq-all`, which prints every waiting task with the lock
//! of its queue held; since 2.3 the kstats of task queues say the same, and before it `taskqs` reads
//! the table of busy ones, rarely.

mod cgroups;
mod disks;
mod memory;
mod slab;
mod taskqs;

use crate::kstats::KstatPoller;
use crate::proc_stat::{self, HostCpu};
use crate::series_pen::SeriesPen;
use std::path::{Path, PathBuf};
use zwhy_evidence::SeriesFacts;
use zwhy_profile::Nanos;

/// All pollers of one recording.
pub(crate) struct Pollers {
    proc_root: PathBuf,
    kstats: KstatPoller,
    cgroups: cgroups::Cgroups,
    disks: disks::Disks,
    taskqs: taskqs::Taskqs,
    of_host_zfs: bool,
}

impl Pollers {
    pub(crate) fn new(proc_root: &Path) -> Pollers {
        Pollers {
            proc_root: proc_root.to_owned(),
            kstats: KstatPoller::new(&proc_root.join("spl/kstat")),
            cgroups: cgroups::Cgroups::default(),
            disks: disks::Disks::default(),
            taskqs: taskqs::Taskqs::default(),
            of_host_zfs: true,
        }
    }

    /// For a process that brings its own OpenZFS: counters and memory of the host would be taken for
    /// those of the process.
    pub(crate) fn without_host_zfs(self) -> Pollers {
        Pollers { of_host_zfs: false, ..self }
    }

    /// Reads all once. Returns the CPU time of the host, which also becomes a fact.
    pub(crate) fn poll(&mut self, t: Nanos, pen: &mut SeriesPen) -> Option<HostCpu> {
        if self.of_host_zfs {
            self.kstats.poll(t, pen);
            self.taskqs.poll(&self.proc_root, t, pen);
            slab::poll(&self.proc_root, t, pen);
            memory::poll(&self.proc_root, t, pen);
        }
        self.cgroups.poll(&self.proc_root, t, pen);
        self.disks.poll(&self.proc_root, t, pen);
        proc_stat::read(&self.proc_root, t, pen)
    }

    /// Sentences on what is not in the series.
    pub(crate) fn limits(&self) -> Vec<String> {
        self.kstats.limits()
    }

    /// `facts.recorder.series`: how many datasets were looked at and how many moved, and which
    /// dataset an objset kstat belongs to.
    pub(crate) fn facts(&self) -> SeriesFacts {
        let objsets = &self.kstats.objsets;
        SeriesFacts {
            datasets_seen: Some(objsets.seen() as u64),
            datasets_recorded: Some(objsets.moved().len() as u64),
            datasets_skipped: Some(objsets.left_out as u64),
            datasets_deferred: Some(objsets.deferred),
            objsets: Some(objsets.moved().clone()),
            kstats_unreadable: Some(self.kstats.unreadable().into_iter().map(str::to_owned).collect()),
            kstat_lines_unparsed: Some(self.kstats.odd_lines as u64),
            ..SeriesFacts::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_host_without_proc_gives_no_rows_and_no_error() {
        let (mut pollers, mut pen) = (Pollers::new(Path::new("/nonexistent")), SeriesPen::default());
        assert!(pollers.poll(Nanos(0), &mut pen).is_none());
        assert!(pen.series.is_empty() && pollers.limits().is_empty());
    }

    /// The files of a host with one busy pool at one second: about half of all values move.
    fn busy_host(root: &Path, second: u64) {
        let put = |path: &str, text: String| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        // Irregular steps, as counters of a real load have them.
        let value = |salt: u64, moves: bool| {
            let at = if moves { second } else { 0 };
            (salt + 1) * 1_000_003 + (at * (salt % 977 + 1) * 7919 + at * at * 31) % (1 + at * 4_099)
        };
        let named = |salt: u64, names: u64, moving: u64| {
            let line =
                |n: u64| format!("value_number_{n:<18} 4    {}\n", value(salt * 997 + n, n % names < moving));
            format!(
                "9 1 0x01 4 1088 5 {second}\nname type data\n{}",
                (0..names).map(line).collect::<String>()
            )
        };
        let kstat =
            |path: &str, salt, names, moving| put(&format!("spl/kstat/{path}"), named(salt, names, moving));
        kstat("zfs/arcstats", 1, 146, 80);
        kstat("zfs/dbufstats", 2, 52, 20);
        kstat("zfs/abdstats", 3, 21, 12);
        kstat("zfs/dnodestats", 4, 28, 8);
        kstat("zfs/zil", 5, 20, 8);
        kstat("zfs/dmu_tx", 6, 13, 3);
        kstat("zfs/tank/iostats", 7, 26, 8);
        (0..40).for_each(|i| kstat(&format!("taskq/queue_{i}.0"), 100 + i, 23, 6));
        (0..20).for_each(|i| kstat(&format!("zfs/tank/objset-0x{i:x}"), 200 + i, 26, 6));
        let lines = |head: &str, count: u64, salt: u64| -> String {
            (0..count).map(|n| format!("{head}{n} {}\n", value(salt + n, true))).collect()
        };
        put("vmstat", lines("pgscan_", 40, 5000));
        put("meminfo", MEMORY.iter().map(|n| format!("{n}: {} kB\n", value(6000, true))).collect());
        let disk = |d: u64| {
            let columns: String = (0..17).map(|c| format!(" {}", value(7000 + d * 17 + c, true))).collect();
            format!("8 {d} sd{}{columns}\n", char::from(b'a' + d as u8))
        };
        put("diskstats", (0..8).map(disk).collect());
        put(
            "spl/kmem/slab",
            (0..60).map(|n| format!("cache_{n} 0x00100 - {} - 88\n", value(8000 + n, n < 30))).collect(),
        );
    }

    const MEMORY: [&str; 6] = ["MemFree", "MemAvailable", "Cached", "Dirty", "SUnreclaim", "Slab"];

    #[test]
    fn a_minute_of_a_busy_host_is_less_than_two_megabytes() {
        let root = tempfile::tempdir().unwrap();
        let mut writer = zwhy_capture::Writer::create(&root.path().join("x.zwhy")).unwrap();
        let (mut pollers, mut pen) = (Pollers::new(&root.path().join("proc")), SeriesPen::default());
        let mut rows = 0;
        for second in 0..60 {
            busy_host(&root.path().join("proc"), second);
            pollers.poll(Nanos(second as i64 * 1_000_000_000), &mut pen);
            rows += pen.series.len();
            writer.append_series(&pen.series).unwrap();
            pen.series.clear();
        }
        let bytes = writer.bytes_written();
        assert!(rows > 30_000, "{rows} rows: the host is busy");
        assert!(bytes < 2_000_000, "{bytes} bytes for {rows} rows");
    }

    #[test]
    fn what_is_of_the_hosts_zfs_is_left_out_on_request() {
        let root = tempfile::tempdir().unwrap();
        let proc = root.path().join("proc");
        busy_host(&proc, 0);
        let sources = |mut pollers: Pollers| {
            let mut pen = SeriesPen::default();
            pollers.poll(Nanos(0), &mut pen);
            pen.series.iter().map(|row| row.source.to_string()).collect::<std::collections::BTreeSet<_>>()
        };
        let all = sources(Pollers::new(&proc));
        let own = sources(Pollers::new(&proc).without_host_zfs());
        assert!(all.contains("meminfo") && all.contains("arcstats"), "{all:?}");
        assert!(
            own.iter().all(|s| s.starts_with("disk/") || s.starts_with("cpu/") || s == "host"),
            "{own:?}"
        );
        assert!(own.is_subset(&all) && own.iter().any(|s| s.starts_with("disk/")), "{own:?}");
    }

    #[test]
    fn garbage_in_every_file_is_survived() {
        let root = tempfile::tempdir().unwrap();
        let garbage: Vec<u8> = (0..2000u32).map(|i| (i * 7919 % 251) as u8).collect();
        for file in ["meminfo", "vmstat", "diskstats", "stat", "pressure/io", "spl/kmem/slab"] {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, &garbage).unwrap();
        }
        for file in ["zfs/arcstats", "zfs/tank/objset-0x36", "zfs/tank/txgs", "taskq/x.0"] {
            let path = root.path().join("spl/kstat").join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, &garbage).unwrap();
        }
        let (mut pollers, mut pen) = (Pollers::new(root.path()), SeriesPen::default());
        pollers.poll(Nanos(0), &mut pen);
        pollers.poll(Nanos(1), &mut pen);
        assert!(pen.series.is_empty(), "{:?}", pen.series.iter().collect::<Vec<_>>());
    }
}
