//! Reports of `zpool iostat -Hpvw`: how many requests of a pool or vdev took how long.
//!
//! Layout (`print_iostat_histos` and `print_iostat_histo` of cmd/zpool/zpool_main.c, 0.7 to 2.4): an empty line, a name,
//! then a line for each bucket: its upper end, 2^n - 1 ns, and behind tabs how many requests of each kind took so long.
//! OpenZFS 0.7 has no trim, and no release before 2.0 rebuilds; which there are is told by how many numbers there are.
//!
//! A report without an interval has all requests since the pool was imported. One of an interval has requests a second,
//! rounded down: a bucket of which there is less than one a second is empty there, and that is where slow requests are.

use crate::histogram::Quantiles;

/// Groups of two columns each, reads and writes.
pub const LATENCY_GROUPS: [&str; 4] = ["total_wait", "disk_wait", "syncq_wait", "asyncq_wait"];

/// What requests waited for, in the order of [`VdevLatency::waits`].
pub const LATENCY_NAMES: [&str; 11] = [
    "total_wait read",
    "total_wait write",
    "disk_wait read",
    "disk_wait write",
    "syncq_wait read",
    "syncq_wait write",
    "asyncq_wait read",
    "asyncq_wait write",
    "scrub",
    "trim",
    "rebuild",
];

/// Columns by release: up to scrub, trim, rebuild.
const WIDTHS: std::ops::RangeInclusive<usize> = 9..=LATENCY_NAMES.len();
/// OpenZFS has 37; a bucket's end is a u64.
const MOST_BUCKETS: usize = 63;
/// Pools and vdevs that are read.
const MOST_ROWS: usize = 2400;

/// Requests by how long they took: of bucket n up to 2^(n+1) - 1 ns, and longer than those of the bucket before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LatencyHistogram(Vec<u64>);

impl LatencyHistogram {
    /// Upper ends in nanoseconds, and requests.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> {
        self.0.iter().enumerate().map(|(n, requests)| (upper(n), *requests))
    }

    /// In nanoseconds; `None` of no request.
    pub fn quantiles(&self) -> Option<Quantiles> {
        let buckets: Vec<(f64, f64)> = self.buckets().map(|(end, n)| (end as f64, n as f64)).collect();
        Quantiles::of(&buckets)
    }

    /// What came since; `None` where there was more before.
    fn since(&self, before: &LatencyHistogram) -> Option<LatencyHistogram> {
        let same = self.0.len() == before.0.len();
        let pairs = self.0.iter().zip(&before.0).filter(|_| same);
        let grown: Vec<u64> = pairs.map(|(now, then)| now.checked_sub(*then)).collect::<Option<_>>()?;
        same.then_some(LatencyHistogram(grown))
    }
}

/// The end of a bucket.
fn upper(bucket: usize) -> u64 {
    (2u64 << bucket.min(MOST_BUCKETS - 1)) - 1
}

/// A pool or vdev.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VdevLatency {
    pub name: String,
    /// As [`LATENCY_NAMES`], without those that the release has not.
    pub waits: Vec<LatencyHistogram>,
}

impl VdevLatency {
    /// Requests between two reports; `None` where these are not of the same vdev, or it began to count anew.
    pub fn since(&self, before: &VdevLatency) -> Option<VdevLatency> {
        if self.name != before.name || self.waits.len() != before.waits.len() {
            return None;
        }
        let waits = self.waits.iter().zip(&before.waits).map(|(now, then)| now.since(then));
        Some(VdevLatency { name: self.name.clone(), waits: waits.collect::<Option<_>>()? })
    }

    fn add(&mut self, end: u64, requests: &[u64]) {
        if self.waits.is_empty() {
            self.waits.resize(requests.len(), LatencyHistogram::default());
        }
        let buckets = self.waits.first().map_or(0, |wait| wait.0.len());
        if buckets < MOST_BUCKETS && upper(buckets) == end && self.waits.len() == requests.len() {
            self.waits.iter_mut().zip(requests).for_each(|(wait, requests)| wait.0.push(*requests));
        }
    }
}

/// Pools and vdevs of a report, in its order: each pool before its vdevs. One whose last lines are missing is left out.
pub fn parse_latency_report(text: &str) -> Vec<VdevLatency> {
    let mut found: Vec<VdevLatency> = Vec::new();
    for line in text.lines() {
        if let Some((end, requests)) = bucket(line) {
            if let Some(vdev) = found.last_mut() {
                vdev.add(end, &requests);
            }
        } else if !line.trim().is_empty() && found.len() < MOST_ROWS {
            found.push(VdevLatency { name: line.trim_end().to_owned(), waits: Vec::new() });
        }
    }
    let buckets = |vdev: &VdevLatency| vdev.waits.first().map_or(0, |wait| wait.0.len());
    let most = found.iter().map(buckets).max().unwrap_or(0);
    found.retain(|vdev| buckets(vdev) == most && most > 0);
    found
}

/// The end of a bucket and its requests.
fn bucket(line: &str) -> Option<(u64, Vec<u64>)> {
    let mut cells = line.trim_end_matches('\r').split('\t');
    let end = cells.next()?.parse().ok()?;
    let requests: Vec<u64> = cells.map(|cell| cell.parse().ok()).collect::<Option<_>>()?;
    WIDTHS.contains(&requests.len()).then_some((end, requests))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// As OpenZFS prints a vdev: requests of the first column in buckets, no others.
    fn section(name: &str, columns: usize, reads: &[(usize, u64)]) -> String {
        let of =
            |n: usize| reads.iter().find(|(bucket, _)| *bucket == n).map_or(0, |(_, requests)| *requests);
        let line = |n: usize| format!("{}\t{}{}\n", (2u64 << n) - 1, of(n), "\t0".repeat(columns - 1));
        format!("\n{name}\n{}", (0..37).map(line).collect::<String>())
    }

    fn reads(vdev: &VdevLatency) -> Vec<(u64, u64)> {
        vdev.waits[0].buckets().filter(|(_, requests)| *requests > 0).collect()
    }

    #[test]
    fn releases_have_other_columns_and_the_same_names() {
        for columns in [9, 10, 11] {
            let text =
                section("tank", columns, &[(16, 5), (36, 1)]) + "\n" + &section("a disk", columns, &[]);
            let found = parse_latency_report(&text);
            let names: Vec<&str> = found.iter().map(|vdev| vdev.name.as_str()).collect();
            assert_eq!(names, ["tank", "a disk"]);
            assert_eq!(reads(&found[0]), [(131_071, 5), (137_438_953_471, 1)], "131us and 137s");
            assert!(found.iter().all(|vdev| vdev.waits.len() == columns));
            let told = found[0].waits[0].quantiles().unwrap();
            assert_eq!((told.count, told.p50, told.max), (6.0, 131_071.0, 137_438_953_471.0));
            assert_eq!(found[1].waits[0].quantiles(), None);
        }
    }

    #[test]
    fn requests_of_an_interval_are_those_that_came() {
        let [before, now] = [&[(10, 5), (11, 1)], &[(10, 5), (11, 4)]]
            .map(|of| parse_latency_report(&section("sda", 11, of)).remove(0));
        assert_eq!(reads(&now.since(&before).unwrap()), [(4095, 3)]);
        assert_eq!(before.since(&now), None, "it began anew");
        let other = VdevLatency { name: "sdb".to_owned(), ..before.clone() };
        assert_eq!(now.since(&other), None);
        let older = parse_latency_report(&section("sda", 10, &[(10, 5)])).remove(0);
        assert_eq!(now.since(&older), None);
    }

    #[test]
    fn what_was_cut_short_is_left_out_and_other_text_is_none() {
        let whole = section("tank", 11, &[(3, 1)]);
        let cut = &whole[..whole.len() - 40];
        let found = parse_latency_report(&format!("{whole}{}", cut.replace("tank", "sda")));
        assert_eq!(found.iter().map(|vdev| vdev.name.as_str()).collect::<Vec<_>>(), ["tank"]);
        for text in [
            "",
            "no pools available\n",
            "tank\n1\t2\n",
            "1\t0\t0\t0\t0\t0\t0\t0\t0\t0\n",
            "tank\n2\t0\t0\t0\t0\t0\t0\t0\t0\t0\n",
        ] {
            assert_eq!(parse_latency_report(text), [], "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "[ -~\t\n]{0,400}", lines in prop::collection::vec("(a|[0-9]{1,20}(\t[0-9]{1,20}){9})\n", 0..80)) {
            let _ = parse_latency_report(&text);
            let _ = parse_latency_report(&lines.concat());
        }
    }
}
