//! How long calls of the application took: a histogram of each thread, brought together and told as percentiles.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// Longer calls count as this long: a minute.
const LONGEST_NS: u64 = 60_000_000_000;
/// Significant digits: percentiles are within 1 %.
const DIGITS: u8 = 2;

/// Times of calls.
#[derive(Clone)]
pub struct Latencies(Histogram<u64>);

impl Default for Latencies {
    fn default() -> Self {
        let histogram = Histogram::new_with_bounds(1, LONGEST_NS, DIGITS);
        Latencies(histogram.unwrap_or_else(|_| unreachable!("these bounds are possible")))
    }
}

impl Latencies {
    /// Calls `work` and notes how long it took.
    pub fn of<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let result = work();
        self.note(begin.elapsed());
        result
    }

    fn note(&mut self, took: Duration) {
        let ns = u64::try_from(took.as_nanos()).unwrap_or(LONGEST_NS);
        self.0.saturating_record(ns.clamp(1, LONGEST_NS));
    }

    pub fn add(&mut self, more: &Latencies) {
        // Fails only where the other holds what this cannot: both have the same bounds.
        let _ = self.0.add(&more.0);
    }

    /// `None` without calls.
    pub fn percentiles(&self) -> Option<Latency> {
        let us = |ns: u64| ns as f64 / 1e3;
        let at = |quantile| us(self.0.value_at_quantile(quantile));
        (!self.0.is_empty()).then(|| Latency {
            calls: self.0.len(),
            p50_us: at(0.5),
            p90_us: at(0.9),
            p99_us: at(0.99),
            p999_us: at(0.999),
            max_us: us(self.0.max()),
        })
    }
}

/// Microseconds that the read or write calls of a step took, what they waited for included: half of them at most
/// `p50_us`, all but one of a hundred at most `p99_us`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    pub calls: u64,
    pub p50_us: f64,
    pub p90_us: f64,
    pub p99_us: f64,
    pub p999_us: f64,
    pub max_us: f64,
}

/// Which of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Percentile {
    P50,
    P90,
    P99,
    P999,
    Max,
}

impl Percentile {
    pub const ALL: [(&'static str, Percentile); 5] = [
        ("p50", Percentile::P50),
        ("p90", Percentile::P90),
        ("p99", Percentile::P99),
        ("p99.9", Percentile::P999),
        ("max", Percentile::Max),
    ];

    pub fn of(self, latency: &Latency) -> f64 {
        match self {
            Percentile::P50 => latency.p50_us,
            Percentile::P90 => latency.p90_us,
            Percentile::P99 => latency.p99_us,
            Percentile::P999 => latency.p999_us,
            Percentile::Max => latency.max_us,
        }
    }

    pub fn name(self) -> &'static str {
        Percentile::ALL.iter().find(|(_, p)| *p == self).map_or("", |(name, _)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_all_threads_together() {
        let (mut fast, mut slow) = (Latencies::default(), Latencies::default());
        (0..990).for_each(|_| fast.note(Duration::from_micros(100)));
        (0..10).for_each(|_| slow.note(Duration::from_millis(40)));
        fast.add(&slow);
        let latency = fast.percentiles().unwrap();
        assert_eq!(latency.calls, 1000);
        let near = |value: f64, expected: f64| (value / expected - 1.0).abs() < 0.01;
        assert!(near(latency.p50_us, 100.0) && near(latency.p90_us, 100.0), "{latency:?}");
        assert!(near(latency.p999_us, 40_000.0) && near(latency.max_us, 40_000.0), "{latency:?}");
        assert_eq!(Latencies::default().percentiles(), None);
    }

    #[test]
    fn a_call_of_hours_counts_as_the_longest() {
        let mut all = Latencies::default();
        all.note(Duration::from_secs(7200));
        assert!((all.percentiles().unwrap().max_us / 60e6 - 1.0).abs() < 0.01);
    }
}
