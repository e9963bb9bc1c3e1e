//! What was seen of each vdev over a recording: how long its I/O took, and how much of it waited and was under way.
//!
//! From the series `vdev/POOL` and `vdev/POOL/DISK` of the timeline, whose names are [`zwhy_zfs::IOSTAT_NAMES`]. Each
//! report of `zpool iostat` counts the same, whatever it had to say; mean times count by operations.
//!
//! The queues of a report are those of the moment in which it was made, which says little of the second before: on a
//! busy host `zpool` may not get to look before they have emptied. The mean length of a queue over an interval follows
//! from the rate and the mean time of its operations (Little's law), and that is taken where it can be told how many of
//! all reads or writes were its own: those of one queue, or of two whose times tell their parts.

use crate::{Line, OriginId, Table, Timeline};
use std::collections::BTreeMap;
use zwhy_zfs::{IOSTAT, IOSTAT_NAMES};

/// Means over all reports of one pool (`disk` is empty) or one disk of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VdevLoad {
    pub pool: String,
    pub disk: String,
    /// Reports that the means are of.
    pub reports: usize,
    means: BTreeMap<&'static str, f64>,
}

impl VdevLoad {
    /// Operations a second, nanoseconds or requests by a name of [`zwhy_zfs::IOSTAT_NAMES`]; 0 for what there was none of.
    pub fn mean(&self, name: &str) -> f64 {
        self.means.get(name).copied().unwrap_or(0.0)
    }

    /// All pools and disks that did something, in order of their names.
    pub fn all(timeline: &Timeline) -> Vec<VdevLoad> {
        let mut sources: BTreeMap<&str, Vec<&Line>> = BTreeMap::new();
        for line in &timeline.lines {
            if let Some(source) = line.source.strip_prefix("vdev/") {
                sources.entry(source).or_default().push(line);
            }
        }
        sources.into_iter().map(|(source, lines)| VdevLoad::of(source, &lines)).collect()
    }

    fn of(source: &str, lines: &[&Line]) -> VdevLoad {
        let times = Line::times(lines);
        let reported = |name: &str| {
            let line = lines.iter().find(|line| line.name == name)?;
            Some(times.iter().map(|t| value_at(&line.points, *t)).collect::<Vec<f64>>())
        };
        let at = |name: &str| {
            let mut values = reported(name);
            for (i, length) in lengths(name, &reported).into_iter().enumerate() {
                let Some(length) = length else { continue };
                values.get_or_insert_with(|| vec![0.0; times.len()])[i] = length;
            }
            values
        };
        let operations = ["reads_s", "writes_s"].map(|name| at(name).unwrap_or_default());
        let mean = |name: &'static str| {
            let values = at(name)?;
            let weights = match name {
                _ if !name.ends_with("_ns") => None,
                _ if name.ends_with("read_ns") => Some(&operations[0]),
                _ if name.ends_with("write_ns") => Some(&operations[1]),
                _ => None,
            };
            let weight = |i: usize| match weights.and_then(|w| w.get(i)) {
                // A time of 0 is no time.
                _ if name.ends_with("_ns") && values[i] == 0.0 => 0.0,
                Some(operations) => operations.max(0.5),
                None => 1.0,
            };
            let all: f64 = (0..values.len()).map(weight).sum();
            let sum: f64 = values.iter().enumerate().map(|(i, value)| value * weight(i)).sum();
            (all > 0.0).then(|| (name, sum / all))
        };
        let (pool, disk) = source.split_once('/').unwrap_or((source, ""));
        VdevLoad {
            pool: pool.to_owned(),
            disk: disk.to_owned(),
            reports: times.len(),
            means: IOSTAT_NAMES.into_iter().filter_map(mean).collect(),
        }
    }

    /// All of them as the table that `zpool iostat -lqv` prints, by the names that signs ask for; `None` of none.
    pub fn table(loads: &[VdevLoad], origin: OriginId) -> Option<Table> {
        let cell = |load: &VdevLoad, name: &str| match load.mean(name) {
            n if n >= 100.0 => format!("{n:.0}"),
            n => format!("{n:.3}"),
        };
        let row = |load: &VdevLoad| {
            let names = [load.pool.clone(), load.disk.clone()].into_iter();
            names.chain(IOSTAT_NAMES.iter().map(|name| cell(load, name))).collect()
        };
        let columns =
            ["pool", "vdev"].into_iter().chain(IOSTAT.map(|(_, column)| column)).map(str::to_owned).collect();
        let rows: Vec<Vec<String>> = loads.iter().map(row).collect();
        (!rows.is_empty()).then(|| Table { tool: "zpool iostat -lqv".to_owned(), columns, rows, origin })
    }
}

/// Queues through which go both reads and writes.
const MIXED: [&str; 2] = ["scrubq_ns", "rebuildq_ns"];
/// Two times in a queue are told apart from this ratio on: they are means of histograms by powers of two.
const APART: f64 = 1.25;

/// The mean length of queue `name` (`syncq_read_pending` and the like) in each interval, by Little's law; `None` where
/// it cannot be told how many operations were of this queue, and nothing of a name that is no such queue.
fn lengths(name: &str, reported: &impl Fn(&str) -> Option<Vec<f64>>) -> Vec<Option<f64>> {
    let parts: Vec<&str> = name.split('_').collect();
    let [queue @ ("syncq" | "asyncq"), direction @ ("read" | "write"), state @ ("pending" | "active")] =
        parts[..]
    else {
        return Vec::new();
    };
    // The queues of what programs and ZFS ask for: those of reads, and those of writes, share the disks' operations.
    let other = if queue == "syncq" { "asyncq" } else { "syncq" };
    let time_of = |what: &str| format!("{what}_{direction}_ns");
    let (Some(rates), Some(disks), Some(waits)) =
        (reported(&format!("{direction}s_s")), reported(&time_of("disk")), reported(&time_of(queue)))
    else {
        return Vec::new();
    };
    let at = |name: &str| reported(name).unwrap_or_else(|| vec![0.0; rates.len()]);
    let other = at(&time_of(other));
    let (totals, mixed) = (at(&time_of("total")), MIXED.map(at));
    let length = |i: usize| {
        let alone = mixed.iter().all(|times| times[i] == 0.0) && waits[i] > 0.0;
        let part = if alone { part_of(waits[i], other[i], totals[i] - disks[i])? } else { return None };
        let time = if state == "pending" { waits[i] } else { disks[i] };
        Some(rates[i] * part * time / 1e9)
    };
    (0..rates.len()).map(length).collect()
}

/// Which part of the operations went through a queue with a mean time of `own`, where the rest had one of `other` (0
/// without a rest) and all together `mean`.
fn part_of(own: f64, other: f64, mean: f64) -> Option<f64> {
    if other == 0.0 {
        return Some(1.0);
    }
    let apart = own.max(other) >= APART * own.min(other) && mean > 0.0;
    apart.then(|| ((mean - other) / (own - other)).clamp(0.0, 1.0))
}

/// On the straight line between two readings; before the first one there was nothing.
fn value_at(points: &[(i64, i64)], t: i64) -> f64 {
    match points.binary_search_by_key(&t, |(at, _)| *at) {
        Ok(found) => points[found].1 as f64,
        Err(0) => 0.0,
        Err(after) => {
            let (before, value) = points[after - 1];
            let Some((next, then)) = points.get(after) else { return value as f64 };
            let part = (t - before) as f64 / (*next - before) as f64;
            value as f64 + part * (*then as f64 - value as f64)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(source: &str, name: &str, points: &[(i64, i64)]) -> Line {
        Line { source: source.into(), name: name.into(), counter: false, points: points.to_vec() }
    }

    #[test]
    fn every_report_counts_and_times_count_by_operations() {
        let timeline = Timeline {
            lines: vec![
                line("vdev/tank/sda", "reads_s", &[(1, 100), (2, 300), (3, 0), (4, 0)]),
                line("vdev/tank/sda", "disk_read_ns", &[(1, 1000), (2, 2000), (3, 0), (4, 0)]),
                // It did not change until the last report.
                line("vdev/tank/sda", "syncq_read_pending", &[(1, 8), (3, 8), (4, 0)]),
                // Nothing was trimmed before.
                line("vdev/tank/sda", "trimq_active", &[(4, 2)]),
                line("vdev/tank", "reads_s", &[(1, 7)]),
                line("disk/sda", "io_ns", &[(1, 7)]),
            ],
            ..Timeline::default()
        };
        let loads = VdevLoad::all(&timeline);
        let named: Vec<_> = loads.iter().map(|l| (l.pool.as_str(), l.disk.as_str(), l.reports)).collect();
        assert_eq!(named, [("tank", "", 1), ("tank", "sda", 4)]);
        let disk = &loads[1];
        assert_eq!(disk.mean("disk_read_ns"), 1750.0);
        assert_eq!((disk.mean("reads_s"), disk.mean("syncq_read_pending")), (100.0, 6.0));
        assert_eq!((disk.mean("trimq_active"), disk.mean("scrubq_active")), (0.5, 0.0));
    }

    #[test]
    fn a_queue_that_has_all_reads_is_as_long_as_their_rate_and_time_make_it() {
        let mut lines = vec![
            line("vdev/tank/sda", "reads_s", &[(1, 2000), (2, 2000)]),
            line("vdev/tank/sda", "disk_read_ns", &[(1, 500_000), (2, 500_000)]),
            line("vdev/tank/sda", "syncq_read_ns", &[(1, 4_000_000), (2, 4_000_000)]),
            line("vdev/tank/sda", "syncq_read_pending", &[(1, 0), (2, 2)]),
            line("vdev/tank/sda", "writes_s", &[(1, 100), (2, 100)]),
            line("vdev/tank/sda", "asyncq_write_ns", &[(1, 9_000_000), (2, 9_000_000)]),
        ];
        let means = |lines: &[Line]| {
            let timeline = Timeline { lines: lines.to_vec(), ..Timeline::default() };
            let load = VdevLoad::all(&timeline).remove(0);
            (load.mean("syncq_read_pending"), load.mean("syncq_read_active"))
        };
        assert_eq!(means(&lines), (8.0, 1.0));
        // In the second interval half of the reads were reads ahead: the mean time of all is between those of the queues.
        lines.push(line("vdev/tank/sda", "total_read_ns", &[(1, 4_500_000), (2, 3_000_000)]));
        lines.push(line("vdev/tank/sda", "asyncq_read_ns", &[(1, 0), (2, 1_000_000)]));
        assert_eq!(means(&lines), (6.0, 0.75));
        // A scrub reads, too, and nobody tells how much: only what was seen is left of that interval.
        lines.push(line("vdev/tank/sda", "scrubq_ns", &[(1, 10_000), (2, 0)]));
        assert_eq!(means(&lines), (2.0, 0.25));
    }

    #[test]
    fn times_that_are_alike_do_not_tell_their_parts() {
        assert_eq!(part_of(5.0, 0.0, 0.0), Some(1.0));
        assert_eq!(part_of(5.0, 4.5, 4.7), None);
        assert_eq!(
            (part_of(5.0, 1.0, 3.0), part_of(5.0, 1.0, 9.0), part_of(1.0, 5.0, 9.0)),
            (Some(0.5), Some(1.0), Some(0.0))
        );
    }

    #[test]
    fn the_table_is_the_one_that_is_pasted() {
        let load = VdevLoad {
            pool: "tank".into(),
            disk: "sda".into(),
            reports: 9,
            means: [("syncq_read_active", 0.975), ("disk_read_ns", 123_456.7)].into(),
        };
        let table = VdevLoad::table(&[load], OriginId(0)).unwrap();
        let cell = |column: &str| {
            let at = table.columns.iter().position(|c| c == column).unwrap();
            table.rows[0][at].as_str()
        };
        assert_eq!(
            (cell("vdev"), cell("syncq_read activ"), cell("disk_wait read ns")),
            ("sda", "0.975", "123457")
        );
        assert_eq!((table.rows[0].len(), cell("rebuildq_write activ")), (table.columns.len(), "0.000"));
        assert_eq!(VdevLoad::table(&[], OriginId(0)), None);
    }
}
