//! Values of foreign samples to samples and what they amount to.
//!
//! A count is taken as it is. A value in another unit (nanoseconds, bytes, cycles) is kept to the unit as the
//! weight of its row; how many samples it stands for is told by the file, estimated from its period, or not
//! known. Invariants: values are never scaled or rounded; a row with a value never vanishes.

use zwhy_evidence::ImportStats;
use zwhy_profile::{Event, Measure, Nanos, Profile, Sample, StackId, ThreadId, Unit};

/// Rows that are kept: a few bytes of a file can each be one, and each takes about 80 in memory.
const MAX_KEPT: usize = 1 << 25;
/// Rows that one count may be spread over (a row holds up to `u32::MAX`); larger ones are kept as weights.
const MAX_ROWS: u64 = 16;

/// What a row's value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Samples or events, at least 1.
    Count(u64),
    /// A value in the unit of [`Rows::measure_in`], and the samples it stands for where that is known.
    Value(u64, Option<u64>),
    /// Samples and the value that they have, both from the file.
    Both(u64, u64),
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

/// Rows that wait for their common measure.
#[derive(Debug, Default)]
pub struct Rows {
    rows: Vec<Row>,
    amounts: Vec<Amount>,
    units: [Unit; Event::ALL.len()],
    /// Events that were measured in several units.
    mixed: [bool; Event::ALL.len()],
}

/// How the rows of one event become samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// The counts are the amounts.
    Counts,
    /// The values are, and the counts are numbers of samples.
    Weights { counted: bool },
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

    /// Says what the values of an event are in.
    pub fn measure_in(&mut self, event: Event, unit: Unit) {
        let known = &mut self.units[event as usize];
        self.mixed[event as usize] |= *known != Unit::Samples && *known != unit;
        *known = unit;
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
        let ways = Event::ALL.map(|event| self.way(event, stats));
        for event in Event::ALL {
            if let Way::Weights { counted } = ways[event as usize] {
                let unit = match &self.units[event as usize] {
                    Unit::Samples => Unit::Other("counts".to_owned()),
                    unit => unit.clone(),
                };
                profile.set_measure(event, Measure { unit, counted });
            }
        }
        profile.samples.reserve(self.rows.len());
        for (row, amount) in self.rows.into_iter().zip(self.amounts) {
            match (ways[row.event as usize], amount) {
                (Way::Counts, Amount::Count(count)) => push(profile, row, count, row.weight),
                (Way::Counts, Amount::Both(count, value)) => push(profile, row, count, nanos(value)),
                (Way::Counts, Amount::Value(_, samples)) => {
                    push(profile, row, samples.unwrap_or(1), row.weight);
                }
                (Way::Weights { .. }, Amount::Count(count)) => push(profile, row, 1, nanos(count)),
                (Way::Weights { .. }, Amount::Both(samples, value)) => {
                    push(profile, row, samples, nanos(value));
                }
                (Way::Weights { .. }, Amount::Value(value, samples)) => {
                    push(profile, row, samples.unwrap_or(1), nanos(value));
                }
            }
        }
    }

    fn way(&self, event: Event, stats: &mut ImportStats) -> Way {
        let amounts =
            || self.rows.iter().zip(&self.amounts).filter(|(r, _)| r.event == event).map(|(_, a)| *a);
        let counts = amounts().any(|a| matches!(a, Amount::Count(_)));
        let values = amounts().any(|a| !matches!(a, Amount::Count(_)));
        if self.mixed[event as usize] || (counts && values) {
            stats.warnings.push(format!(
                "the file measures its {} samples in several units: each counts by its number of samples, one where that is not known",
                event.name()
            ));
            return Way::Counts;
        }
        if !values {
            let large =
                amounts().any(|a| matches!(a, Amount::Count(n) if n > u64::from(u32::MAX) * MAX_ROWS));
            if large {
                stats.warnings.push(
                    "the counts are too large for numbers of samples (cycles or bytes?): how many samples there were is not known, so shares have no intervals".to_owned(),
                );
                return Way::Weights { counted: false };
            }
            return Way::Counts;
        }
        if proportional(amounts()) && self.units[event as usize] == Unit::Nanos {
            return Way::Counts; // the same shares, and the time is kept beside the count
        }
        let counted = amounts().all(|a| !matches!(a, Amount::Value(_, None)));
        if !counted {
            stats.warnings.push(format!(
                "the file says {}, not numbers of samples: shares are exact, but have no intervals",
                match &self.units[event as usize] {
                    Unit::Nanos => "times",
                    unit => unit.name(),
                }
            ));
        }
        Way::Weights { counted }
    }
}

/// Whether each sample of the file has the same value.
fn proportional(amounts: impl Iterator<Item = Amount>) -> bool {
    let mut first: Option<(u128, u128)> = None;
    for amount in amounts {
        let Amount::Both(samples, value) = amount else { return false };
        let (samples, value) = (u128::from(samples), u128::from(value));
        let (n, v) = *first.get_or_insert((samples, value));
        if n * value != v * samples {
            return false;
        }
    }
    first.is_some()
}

fn nanos(value: u64) -> Nanos {
    Nanos(i64::try_from(value).unwrap_or(i64::MAX))
}

fn push(profile: &mut Profile, row: Row, count: u64, mut weight: Nanos) {
    // A number of samples beyond that is none.
    let mut left = count.clamp(1, u64::from(u32::MAX) * MAX_ROWS);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Amounts by row, numbers of samples, whether these are known, and warnings.
    fn taken(unit: Unit, amounts: &[Amount]) -> (Vec<u64>, u64, bool, usize) {
        let mut profile = Profile::new();
        let thread = profile.thread(-1, -1, "");
        let mut rows = Rows::default();
        rows.measure_in(Event::Cpu, unit);
        for (i, amount) in amounts.iter().enumerate() {
            let frame = profile.frame(&i.to_string(), "", Default::default());
            let stack = profile.stack(&[frame]);
            let row = Row { t: Nanos(0), cpu: -1, thread, stack, event: Event::Cpu, weight: Nanos(0) };
            assert!(rows.push(row, *amount));
        }
        let mut stats = ImportStats::default();
        rows.into_samples(&mut profile, &mut stats);
        let own = zwhy_profile::StackTotals::of(&profile, Event::Cpu).own[1..].to_vec();
        let sampling = profile.sampling(Event::Cpu);
        (own, sampling.samples, sampling.counted, stats.warnings.len())
    }

    #[test]
    fn values_are_kept_to_the_unit() {
        use Amount::{Both, Count, Value};
        let large = u64::from(u32::MAX) + 5;
        assert_eq!(taken(Unit::Samples, &[Count(3), Count(large)]), (vec![3, large], large + 3, true, 0));
        let most = i64::MAX as u64;
        assert_eq!(taken(Unit::Samples, &[Count(1), Count(most)]), (vec![1, most], 2, false, 1));
        // 3.7 % stays 3.7 %, whatever the period.
        assert_eq!(taken(Unit::Nanos, &[Value(37, None), Value(963, None)]), (vec![37, 963], 2, false, 1));
        let timed = [Value(37, Some(1)), Value(963, Some(10))];
        assert_eq!(taken(Unit::Nanos, &timed), (vec![37, 963], 11, true, 0));
        // Times that only repeat the counts change nothing.
        assert_eq!(taken(Unit::Nanos, &[Both(1, 10), Both(3, 30)]), (vec![1, 3], 4, true, 0));
        assert_eq!(taken(Unit::Nanos, &[Both(1, 11), Both(3, 30)]), (vec![11, 30], 4, true, 0));
        assert_eq!(taken(Unit::Nanos, &[Count(5), Value(70, None)]), (vec![5, 1], 6, true, 1));
    }
}
