//! What the amounts of a profile are: numbers of samples, or values in a unit of their own.
//!
//! Invariants: a row's count is a number of samples, its weight a value in the unit of its event's measure;
//! shares are of amounts, intervals rest on numbers of samples.

use crate::samples::{Event, Samples};
use crate::units::Interval;
use crate::{Profile, Share};

/// Unit of amounts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Amounts are the counts of rows.
    #[default]
    Samples,
    Nanos,
    Bytes,
    /// As the source calls it: `cycles`, `contentions`.
    Other(String),
}

impl Unit {
    pub fn name(&self) -> &str {
        match self {
            Unit::Samples => "samples",
            Unit::Nanos => "nanoseconds",
            Unit::Bytes => "bytes",
            Unit::Other(name) => name,
        }
    }

    pub fn from_name(name: &str) -> Unit {
        match name {
            "samples" | "" => Unit::Samples,
            "nanoseconds" => Unit::Nanos,
            "bytes" => Unit::Bytes,
            other => Unit::Other(other.to_owned()),
        }
    }

    /// An amount for people: `1,234 samples`, `14.72 s`, `5,000 cycles`.
    pub fn words(&self, amount: u64) -> String {
        match self {
            Unit::Nanos => seconds(amount),
            _ => format!("{} {}", grouped(amount), self.name()),
        }
    }
}

/// A time with four digits or so, in the unit that suits it.
fn seconds(nanos: u64) -> String {
    let n = nanos as f64;
    let (value, unit) = match nanos {
        0..1_000 => return format!("{nanos} ns"),
        1_000..1_000_000 => (n / 1e3, "us"),
        1_000_000..1_000_000_000 => (n / 1e6, "ms"),
        _ => (n / 1e9, "s"),
    };
    match value {
        v if v < 10.0 => format!("{v:.2} {unit}"),
        v if v < 1000.0 => format!("{v:.1} {unit}"),
        v => format!("{} {unit}", grouped(v.round() as u64)),
    }
}

/// Digits in groups of three: `4,751,716`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// What the rows of one event are measured in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measure {
    pub unit: Unit,
    /// `false` when the source does not say how many samples there were: a row is at least one.
    pub counted: bool,
}

impl Default for Measure {
    fn default() -> Self {
        Measure { unit: Unit::Samples, counted: true }
    }
}

/// How much was sampled, and by how many samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    pub amount: u64,
    /// At least that many.
    pub samples: u64,
    /// Whether `samples` is their number and not only the least it can be.
    pub counted: bool,
}

impl Sampling {
    /// Amounts that are numbers of samples.
    pub fn counted(samples: u64) -> Sampling {
        Sampling { amount: samples, samples, counted: true }
    }

    /// Samples that an amount stands for, about.
    pub fn samples_in(&self, amount: u64) -> f64 {
        if self.amount == self.samples {
            return amount as f64;
        }
        amount as f64 * self.samples as f64 / self.amount.max(1) as f64
    }

    /// The share of `part` in `whole` (amounts both) with its interval, at the least number of samples.
    pub fn interval(&self, part: u64, whole: u64) -> Interval {
        Interval::of_share(Share::of(part.min(whole), whole), self.samples_in(whole))
    }
}

/// Amounts of rows, looked up by row.
#[derive(Clone, Copy, Debug)]
pub struct Amounts<'a> {
    samples: &'a Samples,
    by_weight: [bool; Event::ALL.len()],
}

impl Amounts<'_> {
    /// The amount of a row; 0 for a row that is not there.
    pub fn of(&self, row: usize) -> u64 {
        let event = self.samples.event.get(row).copied().unwrap_or_default();
        if self.by_weight[event as usize] {
            return self.samples.weight.get(row).map_or(0, |w| u64::try_from(w.0).unwrap_or(0));
        }
        self.samples.count.get(row).map_or(0, |c| u64::from(*c))
    }
}

impl Profile {
    pub fn measure(&self, event: Event) -> &Measure {
        &self.measures[event as usize]
    }

    pub fn set_measure(&mut self, event: Event, measure: Measure) {
        self.measures[event as usize] = measure;
    }

    pub fn amounts(&self) -> Amounts<'_> {
        let by_weight = Event::ALL.map(|e| self.measure(e).unit != Unit::Samples);
        Amounts { samples: &self.samples, by_weight }
    }

    /// Sum of amounts of one event.
    pub fn total(&self, event: Event) -> u64 {
        if self.measure(event).unit == Unit::Samples {
            return self.samples.total(event);
        }
        let amounts = self.amounts();
        let rows = (0..self.samples.len()).filter(|row| self.samples.event[*row] == event);
        rows.fold(0, |sum: u64, row| sum.saturating_add(amounts.of(row)))
    }

    pub fn sampling(&self, event: Event) -> Sampling {
        let counted = self.measure(event).counted;
        Sampling { amount: self.total(event), samples: self.samples.total(event), counted }
    }

    /// Measures of this and another profile together; `false` where their units differ: then only
    /// the counts of both are comparable.
    pub(crate) fn join_measures(&mut self, other: &Profile) -> bool {
        let mut same = true;
        for event in Event::ALL {
            let of = other.measure(event);
            if other.samples.total(event) == 0 || of == self.measure(event) {
                continue;
            }
            let counted = of.counted && self.measure(event).counted;
            let joined = if self.samples.total(event) == 0 {
                of.clone()
            } else if of.unit == self.measure(event).unit {
                Measure { counted, ..of.clone() }
            } else {
                same = false;
                Measure { unit: Unit::Samples, counted }
            };
            self.set_measure(event, joined);
        }
        same
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FrameKind, FunctionTotals, Nanos, Sample, StackTotals};

    fn weighted(unit: Unit, rows: &[(&str, u32, i64)]) -> Profile {
        let mut p = Profile::new();
        let thread = p.thread(-1, -1, "");
        for (name, count, weight) in rows {
            let frame = p.frame(name, "", FrameKind::Unknown);
            let stack = p.stack(&[frame]);
            let (event, weight) = (Event::Cpu, Nanos(*weight));
            p.samples.push(Sample { t: Nanos(0), cpu: -1, thread, stack, event, count: *count, weight });
        }
        p.set_measure(Event::Cpu, Measure { unit, counted: true });
        p
    }

    #[test]
    fn amounts_in_words() {
        let cases = [(0, "0"), (999, "999"), (1000, "1,000"), (4_751_716, "4,751,716")];
        for (number, want) in cases {
            assert_eq!(grouped(number), want);
        }
        assert_eq!(grouped(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(Unit::Samples.words(14_723_000_000), "14,723,000,000 samples");
        for (nanos, want) in [
            (14_723_000_000, "14.7 s"),
            (120_000, "120.0 us"),
            (1_472_000, "1.47 ms"),
            (7, "7 ns"),
            (7_200_000_000_000, "7,200 s"),
        ] {
            assert_eq!(Unit::Nanos.words(nanos), want);
        }
    }

    #[test]
    fn totals_are_of_amounts_and_intervals_of_samples() {
        let p = weighted(Unit::Nanos, &[("a", 1, 900), ("b", 9, 100)]);
        assert_eq!((p.total(Event::Cpu), p.samples.total(Event::Cpu)), (1000, 10));
        assert_eq!(StackTotals::of(&p, Event::Cpu).own, [0, 900, 100]);
        assert_eq!(FunctionTotals::of(&p, Event::Cpu).rows[0].own, 900);
        let sampling = p.sampling(Event::Cpu);
        let (ours, ten) = (sampling.interval(900, 1000), Interval::wilson(9, 10));
        assert!((ours.low.0 - ten.low.0).abs() < 1e-9 && (ours.high.0 - ten.high.0).abs() < 1e-9);
        let counts = weighted(Unit::Samples, &[("a", 1, 900), ("b", 9, 100)]);
        assert_eq!(counts.total(Event::Cpu), 10);
        assert_eq!(counts.sampling(Event::Cpu).interval(3, 10), Interval::wilson(3, 10));
    }

    #[test]
    fn profiles_of_two_units_are_joined_by_their_counts() {
        let mut all = Profile::new();
        all.merge(&weighted(Unit::Nanos, &[("a", 1, 900)]));
        assert_eq!(all.total(Event::Cpu), 900);
        all.merge(&weighted(Unit::Nanos, &[("a", 2, 50)]));
        assert_eq!(all.total(Event::Cpu), 950);
        all.merge(&weighted(Unit::Samples, &[("a", 4, 0)]));
        assert_eq!(all.total(Event::Cpu), 7);
    }
}
