//! Whole disks from /proc/diskstats: sources `disk/nvme0n1`, …; bytes and nanoseconds.
//!
//! Columns are those of Documentation/admin-guide/iostats.rst of Linux; older kernels have fewer.
//! Partitions are left out: their disk counts the same again.

use crate::series_pen::SeriesPen;
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::Path;
use zwhy_capture::SeriesKind;
use zwhy_host::read_cut;
use zwhy_profile::Nanos;

/// Name and factor to the unit in the name; empty names are not recorded.
const COLUMNS: [(&str, i64); 17] = [
    ("reads", 1),
    ("reads_merged", 1),
    ("read_bytes", 512),
    ("read_ns", 1_000_000),
    ("writes", 1),
    ("writes_merged", 1),
    ("write_bytes", 512),
    ("write_ns", 1_000_000),
    ("in_flight", 1),
    ("io_ns", 1_000_000),
    ("queue_ns", 1_000_000),
    ("discards", 1),
    ("", 1),
    ("discard_bytes", 512),
    ("discard_ns", 1_000_000),
    ("flushes", 1),
    ("flush_ns", 1_000_000),
];
/// A host with more disks has its later ones left out while they are idle anyway.
const MOST: usize = 4096;

#[derive(Default)]
pub(super) struct Disks {
    /// Whether a name is a whole disk, looked up once.
    whole: FxHashMap<String, bool>,
    seen: FxHashSet<String>,
}

impl Disks {
    pub(super) fn poll(&mut self, proc_root: &Path, t: Nanos, pen: &mut SeriesPen) {
        let Ok(text) = read_cut(&proc_root.join("diskstats")) else { return };
        let mut present = FxHashSet::default();
        let mut names: Vec<&str> = Vec::new();
        for (name, values) in text.lines().filter_map(disk_line).take(MOST) {
            // A disk stands before its partitions.
            let whole = *self.whole.entry(name.to_owned()).or_insert_with(|| is_whole(name, &names));
            if whole {
                names.push(name);
            }
            // A disk that never did anything, such as an unused loop device, is no row.
            if !whole || values.iter().all(|v| *v == 0) {
                continue;
            }
            let source = format!("disk/{name}");
            for ((column, factor), value) in COLUMNS.iter().zip(&values).filter(|((c, _), _)| !c.is_empty()) {
                let kind = if *column == "in_flight" { SeriesKind::Gauge } else { SeriesKind::Counter };
                pen.put(t, &source, column, kind, value.saturating_mul(*factor));
            }
            present.insert(source);
        }
        for gone in self.seen.difference(&present) {
            pen.end(gone);
        }
        self.seen = present;
    }
}

fn disk_line(line: &str) -> Option<(&str, Vec<i64>)> {
    let mut words = line.split_ascii_whitespace().skip(2);
    let name = words.next()?;
    let values: Vec<i64> = words.map(str::parse).collect::<Result<_, _>>().ok()?;
    (values.len() >= 11).then_some((name, values))
}

/// `sda1` of `sda`, `nvme0n1p1` of `nvme0n1`. Loop and RAM devices, zvols (`zd16`), device mapper and
/// software RAID are disks of their own.
fn is_whole(name: &str, disks: &[&str]) -> bool {
    !disks.iter().any(|disk| {
        name.strip_prefix(disk).is_some_and(|rest| {
            let ends_in_digit = disk.ends_with(|c: char| c.is_ascii_digit());
            let number = if ends_in_digit { rest.strip_prefix('p').unwrap_or("") } else { rest };
            !number.is_empty() && number.chars().all(|c| c.is_ascii_digit())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn rows(pen: &mut SeriesPen) -> Vec<(String, String, i64)> {
        let rows = pen.series.iter().map(|r| (r.source.into(), r.name.into(), r.value)).collect();
        pen.series.clear();
        rows
    }

    #[test]
    fn whole_disks_count_bytes_and_nanoseconds() {
        let root = tempfile::tempdir().unwrap();
        let text = "259 0 nvme0n1 10 0 16 3 20 0 32 4 1 5 7 0 0 0 0 2 1\n259 1 nvme0n1p1 9 0 8 3 0 0 0 0 0 3 3\n\
                    7 0 loop0 0 0 0 0 0 0 0 0 0 0 0\n8 0 sda 1 0 2 3 0 0 0 0 0 3 3\n8 1 sda1 1 0 2 3 0 0 0 0 0 3 3\n\
                    9 0 cut 1\n9 1 odd a b c d e f g h i j k l\n";
        fs::write(root.path().join("diskstats"), text).unwrap();
        let (mut disks, mut pen) = (Disks::default(), SeriesPen::default());
        disks.poll(root.path(), Nanos(0), &mut pen);
        let seen = rows(&mut pen);
        for row in [("nvme0n1", "read_bytes", 8192), ("nvme0n1", "io_ns", 5_000_000), ("sda", "reads", 1)] {
            assert!(seen.contains(&(format!("disk/{}", row.0), row.1.into(), row.2)), "{row:?} {seen:?}");
        }
        assert!(!seen.iter().any(|r| r.0.ends_with("p1") || r.0.ends_with("sda1") || r.0.contains("loop")));

        fs::write(root.path().join("diskstats"), "8 0 sda 1 0 2 3 0 0 0 0 0 3 3\n").unwrap();
        disks.poll(root.path(), Nanos(1), &mut pen);
        disks.poll(root.path(), Nanos(2), &mut pen);
        assert!(rows(&mut pen).is_empty(), "the disk that went had nothing unwritten");
    }

    #[test]
    fn names_that_end_in_digits_are_disks_unless_they_are_partitions() {
        for (name, whole) in
            [("sdb", true), ("sda12", false), ("dm-0", true), ("md127", true), ("md127p1", false)]
        {
            assert_eq!(is_whole(name, &["sda", "md127"]), whole, "{name}");
        }
        assert!(is_whole("zd16", &["zd0", "zd1"]), "zvols are numbered in steps of 16");
        assert!(!is_whole("zd16p1", &["zd16"]));
    }
}
