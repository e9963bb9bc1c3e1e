//! How long requests of pools and vdevs take: reports of `zpool iostat -w`, and what came between two of them.
//!
//! Invariants: a difference is of the same pools and vdevs, of which none began to count anew; otherwise the reports
//! before are forgotten. No more than the last [`VERDICT_SPAN`] is kept, of very many vdevs less: two reports.

mod lines;
mod watch;

pub(crate) use lines::lines;
pub use watch::LatencyWatch;

use crate::model::VERDICT_SPAN;
use serde::Serialize;
use std::collections::VecDeque;
use std::time::Duration;
use zwhy_zfs::{LATENCY_NAMES, LatencyHistogram, VdevLatency};

/// What is told where a capture is played.
pub(crate) const NO_HISTOGRAMS: &str = "latency histograms: a capture has none";

/// Numbers of requests that are kept at most, in all reports but the last two.
const MOST_NUMBERS: usize = 512 << 10;

/// What was told by now. Names are those of pools, and `POOL/VDEV`.
#[derive(Debug, Default)]
pub struct Latencies {
    /// The oldest first.
    reports: VecDeque<Report>,
    /// The newest of which somebody was told.
    told: Option<Duration>,
    asked: bool,
    missing: Option<String>,
}

#[derive(Debug)]
struct Report {
    at: Duration,
    vdevs: Vec<VdevLatency>,
}

/// Requests of a pool or vdev.
#[derive(Clone, Debug, PartialEq)]
pub struct LatencyRow {
    pub vdev: VdevLatency,
    /// In which they came; `None`: since the pool was imported.
    pub seconds: Option<f64>,
}

/// The same for programs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LatencyFigures {
    pub vdev: String,
    pub seconds: f64,
    /// What requests waited for, where there was any.
    pub waits: Vec<WaitFigures>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WaitFigures {
    pub wait: &'static str,
    pub requests: u64,
    pub p50_ns: u64,
    pub p90_ns: u64,
    pub p99_ns: u64,
    pub max_ns: u64,
    /// Those that hold any.
    pub buckets: Vec<BucketFigures>,
}

/// Requests that took at most so long, and longer than those of the bucket before.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BucketFigures {
    pub most_ns: u64,
    pub requests: u64,
}

impl Latencies {
    /// A capture is played, of which somebody wants to know.
    pub fn of_capture() -> Latencies {
        let mut none = Latencies::default();
        none.fail(NO_HISTOGRAMS.to_owned());
        none
    }

    /// Somebody wants to know.
    fn ask(&mut self) {
        self.asked = true;
    }

    /// Forgets what was told; this is why there is nothing.
    fn fail(&mut self, sentence: String) {
        *self = Latencies { asked: true, missing: Some(sentence), ..Latencies::default() };
    }

    /// A sentence on why there is none.
    pub fn missing(&self) -> Option<&str> {
        self.missing.as_deref()
    }

    /// Whether somebody wants to know.
    pub fn is_asked(&self) -> bool {
        self.asked
    }

    /// Takes in a report of the time `at`.
    pub fn push(&mut self, at: Duration, vdevs: Vec<VdevLatency>) {
        (self.asked, self.missing) = (true, None);
        if self.reports.back().is_some_and(|last| !goes_on(&last.vdevs, &vdevs)) {
            self.reports.clear();
        }
        let numbers: usize =
            vdevs.iter().flat_map(|vdev| &vdev.waits).map(|wait| wait.buckets().count()).sum();
        self.reports.push_back(Report { at, vdevs });
        let oldest = at.saturating_sub(VERDICT_SPAN);
        let most = (MOST_NUMBERS / numbers.max(1)).max(2);
        let is_old = |reports: &VecDeque<Report>, told| {
            reports.get(1).is_some_and(|second| second.at <= oldest) && reports.front().map(|r| r.at) != told
        };
        while self.reports.len() > 2 && (self.reports.len() > most || is_old(&self.reports, self.told)) {
            self.reports.pop_front();
        }
    }

    /// Pools and vdevs.
    pub fn len(&self) -> usize {
        self.reports.back().map_or(0, |report| report.vdevs.len())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What came to a pool or vdev in the last seconds; since its import where there is but one report.
    pub fn row(&self, place: usize) -> Option<LatencyRow> {
        let (first, last) = (self.reports.front()?, self.reports.back()?);
        let vdev = last.vdevs.get(place)?;
        if first.at == last.at {
            return Some(LatencyRow { vdev: vdev.clone(), seconds: None });
        }
        let vdev = vdev.since(first.vdevs.get(place)?)?;
        Some(LatencyRow { vdev, seconds: Some(last.at.saturating_sub(first.at).as_secs_f64()) })
    }

    /// The pools.
    pub(crate) fn pools(&self) -> impl Iterator<Item = LatencyRow> {
        (0..self.len()).filter_map(|place| self.row(place)).filter(|row| !row.vdev.name.contains('/'))
    }

    /// What came since somebody was told; `None` where there is nothing new.
    pub(crate) fn figures(&self) -> Option<Vec<LatencyFigures>> {
        let told = |report: &&Report| Some(report.at) == self.told;
        let first = self.reports.iter().find(told).or(self.reports.front())?;
        let last = self.reports.back().filter(|last| last.at > first.at)?;
        let seconds = last.at.saturating_sub(first.at).as_secs_f64();
        let pairs = last.vdevs.iter().zip(&first.vdevs);
        let rows = pairs.filter_map(|(now, before)| now.since(before));
        Some(rows.map(|vdev| LatencyFigures::of(&vdev, seconds)).collect())
    }

    /// Somebody was told of all by now.
    pub fn tell(&mut self) {
        self.told = self.reports.back().map(|report| report.at);
    }
}

fn goes_on(before: &[VdevLatency], now: &[VdevLatency]) -> bool {
    before.len() == now.len() && now.iter().zip(before).all(|(now, before)| now.since(before).is_some())
}

impl LatencyFigures {
    fn of(vdev: &VdevLatency, seconds: f64) -> LatencyFigures {
        let waits =
            LATENCY_NAMES.into_iter().zip(&vdev.waits).filter_map(|(name, of)| WaitFigures::of(name, of));
        LatencyFigures { vdev: vdev.name.clone(), seconds, waits: waits.collect() }
    }
}

impl WaitFigures {
    fn of(wait: &'static str, histogram: &LatencyHistogram) -> Option<WaitFigures> {
        let told = histogram.quantiles()?;
        let [p50_ns, p90_ns, p99_ns, max_ns] = [told.p50, told.p90, told.p99, told.max].map(|ns| ns as u64);
        let buckets = histogram.buckets().filter(|(_, requests)| *requests > 0);
        let buckets = buckets.map(|(most_ns, requests)| BucketFigures { most_ns, requests }).collect();
        Some(WaitFigures { wait, requests: told.count as u64, p50_ns, p90_ns, p99_ns, max_ns, buckets })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zwhy_zfs::parse_latency_report;

    /// Reads of `tank` and of its disk by bucket.
    fn report(reads: &[(usize, u64)]) -> Vec<VdevLatency> {
        let of =
            |n: usize| reads.iter().find(|(bucket, _)| *bucket == n).map_or(0, |(_, requests)| *requests);
        let lines: String =
            (0..37).map(|n| format!("{}\t{}{}\n", (2u64 << n) - 1, of(n), "\t0".repeat(10))).collect();
        parse_latency_report(&format!("\ntank\n{lines}\ntank/sda\n{lines}"))
    }

    fn second(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    #[test]
    fn the_first_report_is_since_import_and_later_ones_of_the_last_ten_seconds() {
        let mut of = Latencies::default();
        assert!((of.row(0), of.figures(), of.is_asked()) == (None, None, false));
        of.push(second(1), report(&[(10, 1000)]));
        let requests = |of: &Latencies| of.row(1).unwrap().vdev.waits[0].quantiles().map(|q| q.count);
        assert_eq!((of.row(1).unwrap().seconds, requests(&of)), (None, Some(1000.0)));
        assert_eq!(of.figures(), None, "a program is told of no time that it did not ask about");
        for n in 2..=30 {
            of.push(second(n), report(&[(10, 1000 + 5 * n)]));
        }
        assert_eq!((of.row(1).unwrap().seconds, requests(&of)), (Some(10.0), Some(50.0)));
        assert_eq!(of.pools().map(|row| row.vdev.name).collect::<Vec<_>>(), ["tank"]);
        assert_eq!(of.row(2), None);
    }

    #[test]
    fn every_request_is_told_once() {
        let mut of = Latencies::default();
        let mut told = 0;
        for n in 1..=40 {
            of.push(second(n), report(&[(10, 1000 + n * n)]));
            // Somebody who is slow.
            if n % 15 == 0 {
                let figures = of.figures().unwrap();
                told += figures[0].waits[0].requests;
                of.tell();
                assert_eq!(of.figures(), None, "nothing new");
            }
        }
        // Ten seconds before the first time, all of the time between.
        assert_eq!(told, 30 * 30 - 5 * 5);
    }

    #[test]
    fn figures_are_those_of_the_buckets() {
        let mut of = Latencies::default();
        of.push(second(1), report(&[(10, 7), (20, 1)]));
        of.push(second(2), report(&[(10, 106), (20, 2)]));
        let figures = of.figures().unwrap();
        assert_eq!((figures.len(), figures[1].vdev.as_str(), figures[1].seconds), (2, "tank/sda", 1.0));
        let [wait] = &figures[1].waits[..] else { panic!("{figures:?}") };
        assert_eq!((wait.wait, wait.requests), ("total_wait read", 100));
        assert_eq!([wait.p50_ns, wait.p90_ns, wait.p99_ns, wait.max_ns], [2047, 2047, 2047, 2_097_151]);
        assert_eq!(wait.buckets[1], BucketFigures { most_ns: 2_097_151, requests: 1 });
    }

    #[test]
    fn a_pool_that_was_imported_again_and_a_new_disk_begin_anew() {
        let mut of = Latencies::default();
        of.push(second(1), report(&[(10, 100)]));
        of.push(second(2), report(&[(10, 110)]));
        of.push(second(3), report(&[(10, 3)]));
        assert_eq!((of.row(0).unwrap().seconds, of.figures()), (None, None));
        let mut more = report(&[(10, 4)]);
        more.push(VdevLatency { name: "tank/sdb".to_owned(), ..more[1].clone() });
        of.push(second(4), more.clone());
        assert_eq!((of.row(0).unwrap().seconds, of.len()), (None, 3));
        of.push(second(5), more);
        assert_eq!(of.row(0).unwrap().seconds, Some(1.0));
    }

    #[test]
    fn of_very_many_vdevs_two_reports_are_kept() {
        let many: Vec<VdevLatency> = (0..1000).map(|_| report(&[(10, 1)]).remove(0)).collect();
        let mut of = Latencies::default();
        (1..=5).for_each(|n| of.push(second(n), many.clone()));
        assert_eq!(of.reports.len(), 2);
    }
}
