//! Values of foreign samples to sample counts.
//!
//! A count is taken as it is. A file that has only times (milliseconds of CPU, durations of calls) does not
//! say how many samples there were: a common quantum of time is then one sample, and the warning says so.
//! Invariants: ratios of counts are kept; a row with a value never vanishes.

use zwhy_evidence::ImportStats;
use zwhy_profile::{Event, Nanos, Profile, Sample, StackId, ThreadId};

/// Most sample rows that one count may be spread over (a row holds up to `u32::MAX`).
const MAX_ROWS: u64 = 16;
/// Rows that are kept: a few bytes of a file can each be one, and each takes about 80 in memory.
const MAX_KEPT: usize = 1 << 25;
/// Why a sample beyond that is dropped.
pub const TOO_MANY: &str = "more samples than are read";
/// Samples that times are made into at most, unless the file has more rows.
const MAX_QUANTA: u64 = 1_000_000;

/// What a row's value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Samples or events, at least 1.
    Count(u64),
    /// Time that was spent, at least 1 ns.
    Time(Nanos),
}

/// One foreign sample.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub t: Nanos,
    pub cpu: i32,
    pub thread: ThreadId,
    pub stack: StackId,
    pub event: Event,
    /// Of a count: the time it stands for, 0 where not known.
    pub weight: Nanos,
}

/// Rows that wait for their common scale.
#[derive(Debug, Default)]
pub struct Rows {
    rows: Vec<Row>,
    amounts: Vec<Amount>,
}

impl Rows {
    /// Keeps a row; `false` when there are too many.
    #[must_use]
    pub fn push(&mut self, row: Row, amount: Amount) -> bool {
        if self.rows.len() == MAX_KEPT {
            return false;
        }
        self.rows.push(row);
        self.amounts.push(amount);
        true
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Makes times relative to the earliest one; for formats with absolute times. Rows at 0 have none.
    pub fn start_at_zero(&mut self) {
        let start = self.rows.iter().map(|r| r.t.0).filter(|t| *t != 0).min().unwrap_or(0);
        for row in self.rows.iter_mut().filter(|r| r.t.0 != 0) {
            row.t.0 -= start;
        }
    }

    /// Makes all of them samples of `profile`.
    pub fn into_samples(self, profile: &mut Profile, stats: &mut ImportStats) {
        let divisor = self.divisor(stats);
        let quantum = self.quantum(stats);
        profile.samples.reserve(self.rows.len());
        for (row, amount) in self.rows.into_iter().zip(self.amounts) {
            let (count, weight) = match amount {
                Amount::Count(count) => (divide(count, divisor), row.weight),
                Amount::Time(time) => (divide(time.0.unsigned_abs(), quantum), time),
            };
            push(profile, row, count.max(1), weight);
        }
    }

    /// What counts are divided by so that each fits in a few rows.
    fn divisor(&self, stats: &mut ImportStats) -> u64 {
        let counts = self.amounts.iter().map(|a| if let Amount::Count(n) = a { *n } else { 0 });
        let largest = counts.max().unwrap_or(0);
        let mut divisor = 1u64;
        while largest / divisor > u64::from(u32::MAX) * MAX_ROWS {
            divisor *= 10;
        }
        if divisor > 1 {
            stats.warnings.push(format!(
                "the counts are very large (cycles or bytes?): all are divided by {divisor} and rounded"
            ));
        }
        divisor
    }

    /// Nanoseconds that are one sample: the largest that divides all times, where that makes a sensible
    /// number of samples.
    fn quantum(&self, stats: &mut ImportStats) -> u64 {
        let (mut total, mut common, mut rows) = (0u128, 0u64, 0u64);
        for amount in &self.amounts {
            if let Amount::Time(time) = amount {
                total += u128::from(time.0.unsigned_abs());
                common = gcd(common, time.0.unsigned_abs());
                rows += 1;
            }
        }
        if rows == 0 {
            return 1;
        }
        let most = u128::from(MAX_QUANTA.max(rows.saturating_mul(4)));
        let exact = total / u128::from(common.max(1)) <= most;
        let quantum = if exact { common.max(1) } else { u64::try_from(total / most + 1).unwrap_or(u64::MAX) };
        let what = if exact { "which divides them all" } else { "and rounded" };
        stats.warnings.push(format!(
            "the file says times, not numbers of samples: one sample is made of each {} us, {what}; intervals computed from them are too narrow where the profiler sampled less often",
            quantum as f64 / 1e3
        ));
        quantum
    }
}

fn push(profile: &mut Profile, row: Row, mut left: u64, mut weight: Nanos) {
    while left > 0 {
        let count = u32::try_from(left).unwrap_or(u32::MAX);
        profile.samples.push(Sample {
            t: row.t,
            cpu: row.cpu,
            thread: row.thread,
            stack: row.stack,
            event: row.event,
            count,
            weight,
        });
        left -= u64::from(count);
        weight = Nanos(0); // a count spread over rows keeps its weight once
    }
}

/// Rounded to the nearest.
fn divide(value: u64, by: u64) -> u64 {
    let by = by.max(1);
    value / by + u64::from(value % by > by / 2)
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(amounts: &[Amount]) -> (Vec<u64>, Vec<i64>, usize) {
        let mut profile = Profile::new();
        let thread = profile.thread(-1, -1, "");
        let mut rows = Rows::default();
        for (i, amount) in amounts.iter().enumerate() {
            let frame = profile.frame(&i.to_string(), "", Default::default());
            let stack = profile.stack(&[frame]);
            let row = Row { t: Nanos(0), cpu: -1, thread, stack, event: Event::Cpu, weight: Nanos(0) };
            assert!(rows.push(row, *amount));
        }
        let mut stats = ImportStats::default();
        rows.into_samples(&mut profile, &mut stats);
        let own = zwhy_profile::StackTotals::of(&profile, Event::Cpu).own[1..].to_vec();
        (own, profile.samples.weight.iter().map(|w| w.0).collect(), stats.warnings.len())
    }

    #[test]
    fn counts_stay_and_times_become_quanta() {
        use Amount::{Count, Time};
        assert_eq!(counts(&[Count(3), Count(5_000_000_000)]), (vec![3, 5_000_000_000], vec![0, 0, 0], 0));
        let (own, _, warnings) = counts(&[Count(1), Count(u64::MAX)]);
        assert!(own[0] == 1 && own[1] > 1_000_000_000 && warnings == 1);
        let ms = |n: i64| Time(Nanos(n * 1_000_000));
        assert_eq!(
            counts(&[ms(10), ms(30), ms(20)]),
            (vec![1, 3, 2], vec![10_000_000, 30_000_000, 20_000_000], 1)
        );
        let (own, weights, _) =
            counts(&[Time(Nanos(1)), Time(Nanos(999_999_999_999)), Time(Nanos(1_000_000_000_000))]);
        assert_eq!((own[0], own[1], own[2]), (1, 500_000, 500_000));
        assert_eq!(weights[1], 999_999_999_999);
    }
}
