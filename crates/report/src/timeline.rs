//! Counters over the length of a recording, for the page: sums of what belongs together, counters as rates.
//!
//! Readings that did not change are not in a capture: between two of them the value lies on a straight line.

use serde::Serialize;
use zwhy_evidence::{Evidence, Line};

/// One line of the picture.
#[derive(Debug, PartialEq, Serialize)]
pub struct Curve {
    /// What it is drawn with: `CPU of the host`.
    pub group: &'static str,
    pub name: &'static str,
    /// `CPUs`, `B/s`, `/s`, `B`.
    pub unit: &'static str,
    /// Seconds since the start; of a rate, the end of its interval.
    pub t: Vec<f64>,
    pub v: Vec<f64>,
}

#[derive(Debug, PartialEq, Serialize)]
pub struct MarkRow {
    pub t: f64,
    pub name: String,
    pub text: String,
}

/// All that is drawn over time besides samples.
#[derive(Debug, PartialEq, Serialize)]
pub struct Timeline {
    pub duration_s: Option<f64>,
    pub curves: Vec<Curve>,
    pub marks: Vec<MarkRow>,
}

/// Group, name, unit, what a unit of the counter is, and the sources and counters that are summed.
type Row = (&'static str, &'static str, &'static str, f64, &'static [(&'static str, &'static str)]);

const NANOS: f64 = 1e9;
const ROWS: [Row; 15] = [
    ("CPU of the host", "user", "CPUs", NANOS, &[("cpu/all", "usr_ns"), ("cpu/all", "nice_ns")]),
    (
        "CPU of the host",
        "system",
        "CPUs",
        NANOS,
        &[("cpu/all", "sys_ns"), ("cpu/all", "irq_ns"), ("cpu/all", "softirq_ns")],
    ),
    ("CPU of the host", "stolen", "CPUs", NANOS, &[("cpu/all", "steal_ns")]),
    ("CPU of the host", "idle", "CPUs", NANOS, &[("cpu/all", "idle_ns"), ("cpu/all", "iowait_ns")]),
    ("Datasets", "read", "B/s", 1.0, &[("*/objset-*", "nread")]),
    ("Datasets", "written", "B/s", 1.0, &[("*/objset-*", "nwritten")]),
    ("Disks", "read", "B/s", 1.0, &[("disk/*", "read_bytes")]),
    ("Disks", "written", "B/s", 1.0, &[("disk/*", "write_bytes")]),
    ("ARC lookups", "hits", "/s", 1.0, &[("arcstats", "hits")]),
    ("ARC lookups", "misses", "/s", 1.0, &[("arcstats", "misses")]),
    ("ARC size", "size", "B", 1.0, &[("arcstats", "size")]),
    ("ARC size", "target", "B", 1.0, &[("arcstats", "c")]),
    ("Memory", "available", "B", 1.0, &[("meminfo", "MemAvailable")]),
    ("Intent log", "commits", "/s", 1.0, &[("zil", "zil_commit_count")]),
    ("Prefetch", "hits", "/s", 1.0, &[("zfetchstats", "hits")]),
];

impl Timeline {
    pub fn of(evidence: &Evidence) -> Timeline {
        let of = &evidence.timeline;
        let curve = |(group, name, unit, scale, sources): Row| {
            let lines: Vec<&Line> = sources.iter().flat_map(|(source, name)| of.of(source, name)).collect();
            let (t, v) = summed(&lines, scale);
            // What never moved is no picture.
            v.iter().any(|v| *v > 0.0).then_some(Curve { group, name, unit, t, v })
        };
        let mark = |m: &zwhy_evidence::Moment| MarkRow {
            t: m.t as f64 / NANOS,
            name: m.name.clone(),
            text: m.text.clone(),
        };
        Timeline {
            duration_s: evidence.facts.recorder.duration_s,
            curves: ROWS.into_iter().filter_map(curve).collect(),
            marks: of.marks.iter().map(mark).collect(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.curves.is_empty() && self.marks.is_empty()
    }
}

/// The sum of lines of one kind at all their times: of counters as rates in units of `scale`.
fn summed(lines: &[&Line], scale: f64) -> (Vec<f64>, Vec<f64>) {
    let times = Line::times(lines);
    let seconds = |t: i64| t as f64 / NANOS;
    let gauges = lines.iter().any(|line| !line.counter);
    let mut sums = vec![0.0; times.len()];
    for line in lines {
        let mut before: Option<f64> = None;
        for (at, t) in times.iter().enumerate() {
            let now = value_at(&line.points, *t);
            sums[at] += match (gauges, before) {
                (true, _) => now,
                // A counter that began again at zero counts from there.
                (false, Some(before)) => (now - before).max(0.0) / scale,
                (false, None) => 0.0,
            };
            before = Some(now);
        }
    }
    if gauges {
        return (times.into_iter().map(seconds).collect(), sums);
    }
    let rate = |at: usize| sums[at] / (seconds(times[at]) - seconds(times[at - 1]));
    let rates: Vec<f64> = (1..times.len()).map(rate).collect();
    (times.iter().skip(1).map(|t| seconds(*t)).collect(), rates)
}

/// The value on the straight line between the readings around `t`.
fn value_at(points: &[(i64, i64)], t: i64) -> f64 {
    let after = points.partition_point(|(at, _)| *at < t);
    match (after.checked_sub(1).and_then(|i| points.get(i)), points.get(after)) {
        (Some((t0, v0)), Some((t1, v1))) => {
            *v0 as f64 + (*v1 - *v0) as f64 * (t - t0) as f64 / (t1 - t0).max(1) as f64
        }
        (None, Some((_, v))) | (Some((_, v)), None) => *v as f64,
        (None, None) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(counter: bool, points: &[(i64, i64)]) -> Line {
        let points = points.iter().map(|(t, v)| (t * 1_000_000_000, *v)).collect();
        Line { counter, points, ..Line::default() }
    }

    #[test]
    fn counters_are_rates_and_unwritten_readings_lie_between() {
        let (a, b) = (line(true, &[(0, 0), (1, 10), (2, 20)]), line(true, &[(0, 100), (2, 104)]));
        assert_eq!(summed(&[&a, &b], 1.0), (vec![1.0, 2.0], vec![12.0, 12.0]));
        let again = line(true, &[(0, 50), (1, 5), (2, 7)]);
        assert_eq!(summed(&[&again], 1.0).1, [0.0, 2.0]);
    }

    #[test]
    fn gauges_are_their_values() {
        let gauge = line(false, &[(0, 5), (4, 9)]);
        assert_eq!(summed(&[&gauge], 1.0), (vec![0.0, 4.0], vec![5.0, 9.0]));
        assert_eq!(summed(&[], 1.0), (vec![], vec![]));
    }
}
