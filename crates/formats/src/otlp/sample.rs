//! Profile and Sample messages, whose field numbers differ between versions 1.8 and 1.10 of the protocol.

use crate::interchange::meaning::{Meaning, Unit};
use crate::interchange::protobuf::{Fields, Value, numbers_in};

/// Field numbers of Sample. Both versions call themselves v1development.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// opentelemetry-proto 1.8 and 1.9: values 2, attributes 3, link 4.
    Before110,
    /// opentelemetry-proto 1.10: attributes 2, link 3, values 4.
    From110,
}

impl Layout {
    /// What one sample shows of the layout; `None` when it fits both.
    pub fn shown_by(sample: &[u8]) -> Option<Layout> {
        let (mut second, mut fifth) = (false, false);
        for field in Fields::new(sample) {
            match (field.number, field.value) {
                // Lists are packed, links are plain numbers.
                (3, Value::Bytes(_)) | (4, Value::Varint(_)) => return Some(Layout::Before110),
                (3, Value::Varint(_)) | (4, Value::Bytes(_)) => return Some(Layout::From110),
                (2, _) => second = true,
                (5, _) => fifth = true,
                _ => {}
            }
        }
        // A sample must have values or times.
        (second && !fifth).then_some(Layout::Before110)
    }

    fn values(self) -> u32 {
        if self == Layout::From110 { 4 } else { 2 }
    }

    fn attributes(self) -> u32 {
        if self == Layout::From110 { 2 } else { 3 }
    }
}

/// `true` for a sample of versions before 1.8, which pointed into a list of locations.
pub fn is_before_18(sample: &[u8]) -> bool {
    Fields::new(sample).any(|f| f.number == 6 || (f.number == 2 && matches!(f.value, Value::Varint(_))))
}

/// The fields of a profile that matter.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProfileHead {
    /// Indexes of name and unit.
    pub value_type: [u64; 2],
    pub time: u64,
    pub period_unit: u64,
    pub period: i64,
}

impl ProfileHead {
    pub fn read(profile: &[u8]) -> ProfileHead {
        let mut head = ProfileHead::default();
        for field in Fields::new(profile) {
            match (field.number, field.value) {
                (1, Value::Bytes(bytes)) => head.value_type = numbers_in(bytes, [1, 2]),
                (3, Value::Fixed64(time)) => head.time = time,
                (5, Value::Bytes(bytes)) => [head.period_unit] = numbers_in(bytes, [2]),
                (6, value) => head.period = value.number() as i64,
                _ => {}
            }
        }
        head
    }

    /// Nanoseconds between samples; 0 where the period is no time.
    pub fn period(&self, unit: &str) -> u64 {
        match (Unit::from_name(unit), u64::try_from(self.period)) {
            (Unit::Time(ns), Ok(period)) if !unit.is_empty() => period.saturating_mul(u64::from(ns)),
            _ => 0,
        }
    }
}

/// Attributes of a sample that are looked at.
const MAX_ATTRIBUTES: usize = 64;

/// One sample message.
#[derive(Debug, Default)]
pub struct Sample {
    pub stack: u64,
    pub values: Vec<i64>,
    pub times: Vec<u64>,
    pub attributes: Vec<u64>,
}

impl Sample {
    /// Fills from a message; `false` when it is damaged.
    pub fn read(&mut self, message: &[u8], layout: Layout) -> bool {
        self.stack = 0;
        self.values.clear();
        self.times.clear();
        self.attributes.clear();
        let mut fields = Fields::new(message);
        for field in fields.by_ref() {
            match field.number {
                1 => self.stack = field.value.number(),
                5 => self.times.extend(field.value.fixed64s()),
                n if n == layout.values() => self.values.extend(field.value.numbers().map(|v| v as i64)),
                n if n == layout.attributes() => {
                    let more = MAX_ATTRIBUTES.saturating_sub(self.attributes.len());
                    self.attributes.extend(field.value.numbers().take(more));
                }
                _ => {}
            }
        }
        fields.damage().is_none()
    }

    /// Time (0 for none) and value of each thing seen; a list that is missing stands for ones.
    pub fn points(&self) -> impl Iterator<Item = (u64, i64)> + '_ {
        let paired =
            !self.times.is_empty() && (self.values.is_empty() || self.values.len() == self.times.len());
        let pairs =
            self.times.iter().enumerate().map(|(i, t)| (*t, self.values.get(i).copied().unwrap_or(1)));
        let sum = self.values.iter().fold(0i64, |sum, value| sum.saturating_add(*value));
        let one = (!paired).then(|| (self.times.first().copied().unwrap_or(0), sum));
        pairs.take(if paired { usize::MAX } else { 0 }).chain(one)
    }
}

/// Of profiles of one event in one scope the best is taken: they are the same samples in several units.
pub fn rank(meaning: Meaning) -> u8 {
    match meaning.unit {
        Unit::Count => 2,
        Unit::Time(_) => 1,
        Unit::Other => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interchange::protobuf::{put_number, put_numbers};

    #[test]
    fn layouts_are_told_apart_by_what_only_one_of_them_can_hold() {
        let message = |fields: &[(u32, bool)]| {
            let mut out = Vec::new();
            for (number, list) in fields {
                if *list { put_numbers(&mut out, *number, [1, 2]) } else { put_number(&mut out, *number, 1) }
            }
            Layout::shown_by(&out)
        };
        assert_eq!(message(&[(1, false), (2, true)]), Some(Layout::Before110));
        assert_eq!(message(&[(1, false), (2, true), (3, true)]), Some(Layout::Before110));
        assert_eq!(message(&[(1, false), (4, true)]), Some(Layout::From110));
        assert_eq!(message(&[(1, false), (2, true), (5, true)]), None);
    }

    #[test]
    fn three_shapes_of_a_sample() {
        let points = |values: &[i64], times: &[u64]| {
            let sample = Sample { values: values.to_vec(), times: times.to_vec(), ..Sample::default() };
            sample.points().collect::<Vec<_>>()
        };
        assert_eq!(points(&[], &[5, 6]), [(5, 1), (6, 1)]);
        assert_eq!(points(&[3, 4], &[5, 6]), [(5, 3), (6, 4)]);
        assert_eq!(points(&[3, 4], &[]), [(0, 7)]);
    }
}
