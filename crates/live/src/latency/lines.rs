//! Histograms of a pool or vdev as lines: columns as `zpool iostat -w` has them, a bar for each bucket, and quantiles.
//!
//! Invariant: no line is wider than it may be; columns that find no room are left out whole.

use super::LatencyRow;
use crate::words::NONE;
use zwhy_report::cells;
use zwhy_zfs::{LATENCY_GROUPS, LATENCY_NAMES, LatencyHistogram, Quantiles};

/// Cells of what stands before the columns, and the fewest and the most of a column.
const LABEL: usize = 8;
const NARROW: usize = 5;
const WIDE: usize = 17;
/// From so many cells on a column has numbers beside its bars, in this many of them.
const WITH_NUMBERS: usize = 14;
const NUMBER: usize = 7;
/// Bars from an eighth of a cell to the whole.
const BARS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

/// A histogram for reading.
pub(crate) struct Lines {
    /// Names of the columns, then requests and quantiles.
    pub head: Vec<String>,
    /// From the first bucket that holds a request to the last one.
    pub buckets: Vec<String>,
}

struct Column<'a> {
    name: &'static str,
    histogram: &'a LatencyHistogram,
    told: Option<Quantiles>,
    /// Of the fullest bucket.
    most: u64,
    cells: usize,
}

pub(crate) fn lines(row: &LatencyRow, width: usize) -> Lines {
    let columns = columns(row, width);
    let line = |label: &str, cell: &dyn Fn(&Column<'_>) -> String| {
        let cells: String = columns.iter().map(|column| format!(" {}", cell(column))).collect();
        format!("{label:LABEL$}{cells}").trim_end().to_owned()
    };
    let quantile = |label: &str, of: fn(&Quantiles) -> f64| {
        line(label, &|c| c.right(&c.told.map_or_else(|| NONE.to_owned(), |told| time(of(&told) as u64))))
    };
    let head = vec![
        groups(&columns),
        line("latency", &|c| c.right(last_word(c.name))),
        line("requests", &|c| c.right(&short(c.told.map_or(0, |told| told.count as u64)))),
        quantile("p50", |told| told.p50),
        quantile("p90", |told| told.p90),
        quantile("p99", |told| told.p99),
        quantile("max", |told| told.max),
    ];
    let mut ends: Vec<(usize, u64)> = Vec::new();
    for wait in &row.vdev.waits {
        let held = wait.buckets().enumerate().filter(|(_, (_, requests))| *requests > 0);
        ends.extend(held.map(|(n, (end, _))| (n, end)));
    }
    let buckets = match (ends.iter().min(), ends.iter().max()) {
        (Some((first, _)), Some((last, _))) => {
            let ends = row.vdev.waits.iter().take(1).flat_map(LatencyHistogram::buckets);
            let ends = ends.enumerate().take(last + 1).skip(*first);
            ends.map(|(n, (end, _))| line(&time(end), &|c| c.bucket(n))).collect()
        }
        _ => Vec::new(),
    };
    Lines { head, buckets }
}

/// The columns that there is room for, all as wide as there is.
fn columns(row: &LatencyRow, width: usize) -> Vec<Column<'_>> {
    let mut room = width.saturating_sub(LABEL);
    let most = (room / row.vdev.waits.len().max(1)).saturating_sub(1).clamp(NARROW, WIDE);
    let mut columns = Vec::new();
    for (name, histogram) in LATENCY_NAMES.into_iter().zip(&row.vdev.waits) {
        let cells = most.max(cells(last_word(name)));
        let Some(left) = room.checked_sub(cells + 1) else { break };
        room = left;
        let most = histogram.buckets().map(|(_, requests)| requests).max().unwrap_or(0);
        columns.push(Column { name, histogram, told: histogram.quantiles(), most, cells });
    }
    columns
}

/// The line above the names: groups of two columns.
fn groups(columns: &[Column<'_>]) -> String {
    let mut line = " ".repeat(LABEL);
    for (group, pair) in LATENCY_GROUPS.iter().zip(columns.chunks(2)) {
        let width = pair.iter().map(|column| column.cells + 1).sum::<usize>() - 1;
        // Of half a group there is no room for its name.
        let name = if pair.len() == 2 { group } else { "" };
        line.push_str(&format!(" {name:^width$}"));
    }
    line.trim_end().to_owned()
}

fn last_word(name: &'static str) -> &'static str {
    name.rsplit(' ').next().unwrap_or_default()
}

impl Column<'_> {
    /// Where numbers stand.
    fn right(&self, text: &str) -> String {
        let number = if self.cells < WITH_NUMBERS { self.cells } else { NUMBER };
        format!("{:width$}", format!("{text:>number$}"), width = self.cells)
    }

    /// How many requests a bucket holds: a bar, of the fullest bucket of the column, and the number where there is room.
    fn bucket(&self, n: usize) -> String {
        let requests = self.histogram.buckets().nth(n).map_or(0, |(_, requests)| requests);
        if self.cells < WITH_NUMBERS {
            return format!("{:width$}", bar(requests, self.most, self.cells), width = self.cells);
        }
        let number = if requests > 0 { short(requests) } else { String::new() };
        let room = self.cells - NUMBER - 1;
        format!("{number:>NUMBER$} {:room$}", bar(requests, self.most, room))
    }
}

/// A bar of at most so many cells; of little the least, of nothing none.
fn bar(value: u64, most: u64, room: usize) -> String {
    if value == 0 {
        return String::new();
    }
    let eighths = (value as f64 / most.max(1) as f64 * (room * BARS.len()) as f64).round() as usize;
    let eighths = eighths.clamp(1, room * BARS.len());
    let (whole, rest) = (eighths / BARS.len(), eighths % BARS.len());
    let mut text: String = std::iter::repeat_n(BARS[BARS.len() - 1], whole).collect();
    text.extend(rest.checked_sub(1).map(|part| BARS[part]));
    text
}

/// The end of a bucket as `zpool iostat -w` names it: `262us`, `1ms`, `33ms`, `137s`.
fn time(ns: u64) -> String {
    match ns {
        0..1_000 => format!("{ns}ns"),
        1_000..1_000_000 => format!("{}us", ns / 1_000),
        1_000_000..1_000_000_000 => format!("{}ms", ns / 1_000_000),
        _ => format!("{}s", ns / 1_000_000_000),
    }
}

/// A number in five characters: `99999`, `123k`, `1.2M`.
fn short(n: u64) -> String {
    const UNITS: [&str; 6] = ["k", "M", "G", "T", "P", "E"];
    if n < 100_000 {
        return n.to_string();
    }
    let (mut value, mut unit) = (n as f64 / 1e3, 0);
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1e3;
        unit += 1;
    }
    let digits = usize::from(value < 9.95);
    format!("{value:.digits$}{}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;
    use zwhy_zfs::parse_latency_report;

    /// A vdev of so many columns, with requests by column and bucket.
    fn row(columns: usize, of: &[(usize, usize, u64)]) -> LatencyRow {
        let cell = |n: usize, c: usize| {
            of.iter().find(|(column, bucket, _)| (*column, *bucket) == (c, n)).map_or(0, |o| o.2)
        };
        let line = |n: usize| {
            let cells: String = (0..columns).map(|c| format!("\t{}", cell(n, c))).collect();
            format!("{}{cells}\n", (2u64 << n) - 1)
        };
        let text = format!("tank\n{}", (0..37).map(line).collect::<String>());
        LatencyRow { vdev: parse_latency_report(&text).remove(0), seconds: Some(1.0) }
    }

    #[test]
    fn lines_are_as_wide_as_they_may_be_and_no_wider() {
        let of = row(11, &[(0, 15, 12_345_678), (0, 16, 3), (10, 36, 1)]);
        for width in [0, 8, 20, 40, 75, 76, 80, 120, 172, 173, 200, 300] {
            let Lines { head, buckets } = lines(&of, width);
            assert_eq!((head.len(), buckets.len()), (7, 22), "32us to 137s");
            for line in head.iter().chain(&buckets) {
                assert!(cells(line) <= width.max(LABEL), "{width}: {line}");
            }
            assert_eq!(head[1].ends_with("rebuild"), width >= 76, "{width}: {}", head[1]);
            assert_eq!(buckets[0].contains("12M █"), width >= 173, "{width}: {}", buckets[0]);
        }
    }

    #[test]
    fn names_are_above_their_columns() {
        let Lines { head, .. } = lines(&row(9, &[(8, 3, 1)]), 80);
        assert_eq!(head[0], "           total_wait       disk_wait      syncq_wait      asyncq_wait");
        assert_eq!(
            head[1],
            "latency     read   write    read   write    read   write    read   write   scrub"
        );
        assert!(head[3].ends_with("      -    15ns"), "{}", head[3]);
    }

    #[test]
    fn one_of_a_million_is_seen_and_none_is_blank() {
        let bars = [0, 1, 500_000, 1_000_000].map(|n| bar(n, 1_000_000, 4));
        assert_eq!(bars, ["", "▏", "██", "████"]);
        assert_eq!(bar(5, 8, 1), "▋");
        assert_eq!(lines(&row(11, &[]), 80).buckets.len(), 0);
    }

    #[test]
    fn figures_have_five_characters() {
        let ends = [0, 9, 10, 19, 24, 29, 36].map(|n| time((2u64 << n) - 1));
        assert_eq!(ends, ["1ns", "1us", "2us", "1ms", "33ms", "1s", "137s"]);
        let numbers = [0, 99_999, 100_000, 999_600, 1_240_000, 12_345_678, u64::MAX].map(short);
        assert_eq!(numbers, ["0", "99999", "100k", "1.0M", "1.2M", "12M", "18E"]);
    }
}
