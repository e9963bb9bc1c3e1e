//! Everything that is read every interval besides samples: kstats, memory, pressure, disks, CPU time.
//!
//! Invariants: values are stored as the kernel gives them (KiB as bytes, sectors as bytes,
//! microseconds as nanoseconds); rates are computed by readers. Nothing here fails: a file that is
//! absent or unreadable gives no rows, and [`Pollers::limits`] says what cannot be read. All paths
//! are below one folder, `/proc` on a live host.

mod disks;
mod files;
mod memory;
mod objsets;
mod slab;

use crate::kstats::KstatPoller;
use crate::proc_stat::{self, HostCpu};
use crate::series_pen::SeriesPen;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use zwhy_profile::Nanos;

pub(crate) use files::{entries, named_numbers, read_cut};
pub(crate) use objsets::Objsets;

/// All pollers of one recording.
pub(crate) struct Pollers {
    proc_root: PathBuf,
    kstats: KstatPoller,
    disks: disks::Disks,
}

impl Pollers {
    pub(crate) fn new(proc_root: &Path) -> Pollers {
        Pollers {
            proc_root: proc_root.to_owned(),
            kstats: KstatPoller::new(&proc_root.join("spl/kstat")),
            disks: disks::Disks::default(),
        }
    }

    /// Reads all once. Returns the CPU time of the host, which also becomes a fact.
    pub(crate) fn poll(&mut self, t: Nanos, pen: &mut SeriesPen) -> Option<HostCpu> {
        self.kstats.poll(t, pen);
        slab::poll(&self.proc_root, t, pen);
        memory::poll(&self.proc_root, t, pen);
        self.disks.poll(&self.proc_root, t, pen);
        proc_stat::read(&self.proc_root, t, pen)
    }

    /// Sentences on what is not in the series.
    pub(crate) fn limits(&self) -> Vec<String> {
        self.kstats.limits()
    }

    /// `facts.recorder.series`: how many datasets were looked at and how many moved, and which
    /// dataset an objset kstat belongs to.
    pub(crate) fn facts(&self) -> Map<String, Value> {
        let mut facts = Map::new();
        let objsets = &self.kstats.objsets;
        facts.insert("datasets_seen".into(), json!(objsets.seen()));
        facts.insert("datasets_recorded".into(), json!(objsets.moved().len()));
        facts.insert("datasets_left_out".into(), json!(objsets.left_out));
        facts.insert("objsets".into(), json!(objsets.moved()));
        facts.insert("kstats_unreadable".into(), json!(self.kstats.unreadable()));
        facts.insert("kstat_lines_not_understood".into(), json!(self.kstats.odd_lines));
        facts
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
