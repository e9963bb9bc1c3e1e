//! Readings of a minute: what a counter came to, and between what a gauge moved.
//!
//! Invariants: the first and the last reading of a series stay; a counter that begins anew keeps its readings before and
//! after, so that its growth stays the same; of a gauge the least and the most of each minute stay.

use rustc_hash::FxHashMap;
use std::time::Duration;
use zwhy_capture::{Series, SeriesKind, SeriesRow};

/// Of so much time at most three readings of a series stay.
pub(super) const SPAN: Duration = Duration::from_secs(60);
/// How near to the begin or the end of the whole a thread has to be seen to be known for longer.
const NEAR: Duration = Duration::from_secs(10);

type Rows<'a> = Vec<SeriesRow<'a>>;

/// Rows by series, each in its time; series by name.
fn by_series(series: &Series) -> Vec<Rows<'_>> {
    let mut lines: FxHashMap<(&str, &str), Rows<'_>> = FxHashMap::default();
    series.iter().for_each(|row| lines.entry((row.source, row.name)).or_default().push(row));
    let mut lines: Vec<Rows<'_>> = lines.into_values().collect();
    lines.sort_unstable_by_key(|rows| rows.first().map(|row| (row.source, row.name)));
    lines.iter_mut().for_each(|rows| rows.sort_by_key(|row| row.t));
    lines
}

/// Puts what stays of a file that begins at `base` nanoseconds behind what stayed of those before.
pub(super) fn add(from: &Series, base: i64, to: &mut Series) {
    for rows in by_series(from) {
        for (row, _) in rows.iter().zip(stays(&rows)).filter(|(_, stays)| *stays) {
            let t = zwhy_profile::Nanos(row.t.0.saturating_add(base));
            to.push(t, row.source, row.name, row.kind, row.value);
        }
    }
}

fn stays(rows: &[SeriesRow<'_>]) -> Vec<bool> {
    let mut stays = vec![false; rows.len()];
    let minute = |at: usize| rows[at].t.0.div_euclid(SPAN.as_nanos() as i64);
    let mut begin = 0;
    while begin < rows.len() {
        let end = (begin..rows.len()).find(|at| minute(*at) != minute(begin)).unwrap_or(rows.len());
        stays[end - 1] = true;
        if rows[begin].kind == SeriesKind::Gauge {
            let value = |at: &usize| rows[*at].value;
            (begin..end).min_by_key(value).into_iter().for_each(|at| stays[at] = true);
            (begin..end).max_by_key(value).into_iter().for_each(|at| stays[at] = true);
        }
        begin = end;
    }
    stays.iter_mut().take(1).for_each(|first| *first = true);
    for at in 1..rows.len() {
        if rows[at].kind == SeriesKind::Counter && rows[at].value < rows[at - 1].value {
            (stays[at - 1], stays[at]) = (true, true);
        }
    }
    stays
}

/// All without the clocks of threads and processes that came and went within a minute, and without readings between two
/// that are the same.
pub(super) fn long_lived(series: &Series, seconds: f64) -> Series {
    let near_end = (seconds * 1e9) as i64 - NEAR.as_nanos() as i64;
    let mut out = Series::default();
    for rows in by_series(series) {
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else { continue };
        let of_thread = first.source.starts_with("thread/") || first.source.starts_with("process/");
        let is_whole = first.t.0 > NEAR.as_nanos() as i64 && last.t.0 < near_end;
        if of_thread && is_whole && last.t.0 - first.t.0 < SPAN.as_nanos() as i64 {
            continue;
        }
        for at in 0..rows.len() {
            let same = |other: Option<&SeriesRow<'_>>| other.is_some_and(|row| row.value == rows[at].value);
            let before = at.checked_sub(1).and_then(|at| rows.get(at));
            if !(same(before) && same(rows.get(at + 1))) {
                let row = rows[at];
                out.push(row.t, row.source, row.name, row.kind, row.value);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use zwhy_profile::Nanos;

    const S: i64 = 1_000_000_000;

    fn series(rows: &[(i64, i64)], source: &str, kind: SeriesKind) -> Series {
        let mut series = Series::default();
        rows.iter().for_each(|(t, value)| series.push(Nanos(t * S), source, "x", kind, *value));
        series
    }

    fn added(rows: &[(i64, i64)], kind: SeriesKind) -> Vec<(i64, i64)> {
        let mut out = Series::default();
        add(&series(rows, "arcstats", kind), 300 * S, &mut out);
        out.iter().map(|row| (row.t.0 / S - 300, row.value)).collect()
    }

    #[test]
    fn a_counter_keeps_its_growth_though_it_begins_anew() {
        let rows: Vec<(i64, i64)> =
            (0..40).map(|n| (n * 5, if n < 20 { n * 100 } else { (n - 20) * 10 })).collect();
        let stayed = added(&rows, SeriesKind::Counter);
        assert_eq!(stayed, [(0, 0), (55, 1100), (95, 1900), (100, 0), (115, 30), (175, 150), (195, 190)]);
        let growth =
            |rows: &[(i64, i64)]| rows.windows(2).map(|two| (two[1].1 - two[0].1).max(0)).sum::<i64>();
        assert_eq!(growth(&stayed), growth(&rows));
    }

    #[test]
    fn a_gauge_keeps_its_least_and_its_most_of_a_minute() {
        let rows = [(0, 5), (5, 1), (10, 9), (15, 4), (20, 4), (70, 7), (80, 7)];
        assert_eq!(added(&rows, SeriesKind::Gauge), [(0, 5), (5, 1), (10, 9), (20, 4), (70, 7), (80, 7)]);
    }

    #[test]
    fn threads_that_came_and_went_have_no_clock_and_what_does_not_change_is_told_twice() {
        let of = |source: &str, rows: &[(i64, i64)]| {
            let all = series(rows, source, SeriesKind::Counter);
            long_lived(&all, 600.0).iter().map(|row| (row.t.0 / S, row.value)).collect::<Vec<_>>()
        };
        let brief = [(100, 1), (130, 2)];
        assert_eq!(of("thread/7", &brief), [(0, 0); 0]);
        assert_eq!(of("arcstats", &brief), brief);
        assert_eq!(of("thread/7", &[(100, 1), (160, 2)]), [(100, 1), (160, 2)]);
        assert_eq!(of("thread/7", &[(0, 1), (30, 2)]), [(0, 1), (30, 2)], "it lived before");
        assert_eq!(of("process/7", &[(580, 1), (599, 2)]), [(580, 1), (599, 2)], "it goes on");
        let still = [(0, 5), (60, 5), (120, 5), (180, 6), (240, 6), (300, 6)];
        assert_eq!(of("arcstats", &still), [(0, 5), (120, 5), (180, 6), (300, 6)]);
    }
}
