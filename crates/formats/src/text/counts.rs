//! Counts of text formats as sample counts: whole, decimal or too large for a column.
//!
//! Invariant: counts keep their ratios; when they are scaled, a warning says by what.

use zwhy_evidence::ImportStats;
use zwhy_profile::{Event, Profile, StackId, ThreadId};

/// Most decimals that are kept.
const MAX_DECIMALS: u8 = 6;
/// Most sample rows that one count may be spread over (a row holds up to `u32::MAX`).
const MAX_ROWS: u128 = 16;

/// A count of up to 19 digits and its decimals: `12.5` is 125 with 1 decimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    pub digits: u64,
    pub decimals: u8,
}

impl Count {
    pub const ONE: Count = Count { digits: 1, decimals: 0 };

    pub fn whole(count: u64) -> Count {
        Count { digits: count, decimals: 0 }
    }

    /// `12`, `12.5`, `1.5e+06`; nothing else, no sign.
    pub fn parse(text: &[u8]) -> Option<Count> {
        if !text.first()?.is_ascii_digit() {
            return None;
        }
        let mut count = Count { digits: 0, decimals: 0 };
        let mut point = false;
        for (at, &byte) in text.iter().enumerate() {
            match byte {
                b'0'..=b'9' if point && count.decimals == MAX_DECIMALS => {}
                b'0'..=b'9' => {
                    count.digits = count.digits.checked_mul(10)?.checked_add(u64::from(byte - b'0'))?;
                    count.decimals += u8::from(point);
                }
                b'.' if !point => point = true,
                b'e' | b'E' => return count.times_ten_to(&text[at + 1..]),
                _ => return None,
            }
        }
        while count.decimals > 0 && count.digits.is_multiple_of(10) {
            count.digits /= 10;
            count.decimals -= 1;
        }
        Some(count)
    }

    fn times_ten_to(self, exponent: &[u8]) -> Option<Count> {
        let exponent: i32 = std::str::from_utf8(exponent).ok()?.parse().ok()?;
        let value = self.digits as f64 * 10f64.powi(exponent.checked_sub(i32::from(self.decimals))?);
        if !(0.0..1e18).contains(&value) {
            return None;
        }
        if value.fract() == 0.0 {
            return Some(Count::whole(value as u64));
        }
        let scaled = value * 10f64.powi(i32::from(MAX_DECIMALS));
        (scaled < 1e18).then_some(Count { digits: scaled as u64, decimals: MAX_DECIMALS })
    }
}

/// Counted stacks that wait for their common scale.
#[derive(Debug, Default)]
pub struct CountedStacks {
    rows: Vec<(ThreadId, StackId, Count)>,
}

impl CountedStacks {
    pub fn push(&mut self, thread: ThreadId, stack: StackId, count: Count) {
        self.rows.push((thread, stack, count));
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Makes all of them samples of `event`.
    pub fn into_samples(self, profile: &mut Profile, event: Event, stats: &mut ImportStats) {
        let decimals = self.rows.iter().map(|(_, _, c)| c.decimals).max().unwrap_or(0);
        let whole =
            |c: Count| u128::from(c.digits) * 10u128.pow(u32::from(decimals.saturating_sub(c.decimals)));
        let largest = self.rows.iter().map(|(_, _, c)| whole(*c)).max().unwrap_or(0);
        let mut divisor = 1u128;
        while largest / divisor > u128::from(u32::MAX) * MAX_ROWS {
            divisor *= 10;
        }
        if decimals > 0 {
            stats.warnings.push(format!(
                "the counts have decimals: all are multiplied by {} to keep them exact",
                10u64.pow(u32::from(decimals))
            ));
        }
        if divisor > 1 {
            stats.warnings.push(format!(
                "the counts are very large (times or cycles?): all are divided by {divisor} and rounded"
            ));
        }
        profile.samples.reserve(self.rows.len());
        for (thread, stack, count) in self.rows {
            let value = whole(count);
            let mut left = (value + divisor / 2) / divisor;
            if value > 0 {
                left = left.max(1); // rounding may not make a stack vanish
            }
            while left > 0 {
                let part = u32::try_from(left).unwrap_or(u32::MAX);
                profile.samples.push_counted(thread, stack, event, part);
                left -= u128::from(part);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(texts: &[&str]) -> (Vec<u64>, usize) {
        let mut profile = Profile::new();
        let thread = profile.thread(-1, -1, "");
        let mut counted = CountedStacks::default();
        for (i, text) in texts.iter().enumerate() {
            let frame = profile.frame(&i.to_string(), "", Default::default());
            let stack = profile.stack(&[frame]);
            counted.push(thread, stack, Count::parse(text.as_bytes()).unwrap());
        }
        let mut stats = ImportStats::default();
        counted.into_samples(&mut profile, Event::Cpu, &mut stats);
        let totals = zwhy_profile::StackTotals::of(&profile, Event::Cpu);
        (totals.own[1..].to_vec(), stats.warnings.len())
    }

    #[test]
    fn ratios_survive_every_size() {
        assert_eq!(sums(&["3", "4000000000", "5000000000"]), (vec![3, 4_000_000_000, 5_000_000_000], 0));
        assert_eq!(sums(&["1.50", "2", "0.25"]), (vec![150, 200, 25], 1));
        assert_eq!(sums(&["1e3", "1.5e+01"]), (vec![1000, 15], 0));
        let (own, warnings) = sums(&["1", "9000000000000000000"]);
        assert_eq!((own[0], warnings), (1, 1));
        assert!(own[1] > 1_000_000_000);
    }

    #[test]
    fn what_is_no_count_is_refused() {
        for text in ["", "-1", "x", "1x", "1.2.3", "99999999999999999999", "1e99", "1e", "0x10"] {
            assert_eq!(Count::parse(text.as_bytes()), None, "{text}");
        }
    }
}
