//! How far a sign that holds can be relied on: would it still hold at the edge of what was measured?
//!
//! A share of sixty samples is known to a dozen points, a percentage pasted from a call tree may be
//! relative to its caller. A condition that only just holds on such a figure counts for less.

use crate::asked::Asked;
use crate::condition::{Answers, Condition, QueryBank, QueryId, Truth};
use crate::facts::{Quality, Reading, ResultKind, Value};

/// What is left of the weight of a sign that holds by the figure but not within its interval.
const SHAKY: f64 = 0.6;
/// A percentage of a call tree may be relative to its caller: it is taken for as little as this
/// part of itself. Half is a judgement, not a measurement: a caller that matters rarely has less.
const RELATIVE: f64 = 0.5;

/// 1, or less where the condition holds by a hair.
pub fn solidity(condition: &Condition, bank: &QueryBank, asked: &Asked<'_>) -> f64 {
    let bounded = condition.queries.iter().any(|id| asked.reading(*id).is_some_and(is_rough));
    let holds = |low| condition.truth(&AtEnd { asked, bank, low }) == Truth::Yes;
    if !bounded || (holds(true) && holds(false)) { 1.0 } else { SHAKY }
}

fn is_rough(reading: &Reading) -> bool {
    matches!(reading.quality, Quality::Counted | Quality::Unclear)
}

/// The answers with every share at one end of what it may be.
struct AtEnd<'a, 'f> {
    asked: &'a Asked<'f>,
    bank: &'a QueryBank,
    low: bool,
}

impl Answers for AtEnd<'_, '_> {
    fn answer(&self, id: QueryId) -> Option<Reading> {
        let mut reading = self.asked.reading(id)?.clone();
        let is_share = self.bank.get(id)?.signature().result == ResultKind::Share;
        if let (Value::Number(share), true) = (&mut reading.value, is_share) {
            *share = match (reading.interval, reading.quality) {
                (Some(interval), _) if self.low => interval.low.0,
                (Some(interval), _) => interval.high.0,
                (None, Quality::Unclear) if self.low => *share * RELATIVE,
                (None, _) => *share,
            };
        }
        Some(reading)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::anatomy::Anatomy;
    use crate::facts::FactBase;
    use crate::knowledge::Fixture;

    fn of(evidence: &str, condition: &str) -> f64 {
        let fixture: Fixture = toml::from_str(evidence).unwrap();
        let (evidence, _) = fixture.evidence();
        let anatomy = Anatomy::load(&[], &mut Vec::new());
        let facts = FactBase::new(&evidence, &anatomy);
        let mut bank = QueryBank::default();
        let condition = Condition::compile(condition, &mut bank).unwrap();
        let asked = Asked::new(&facts, &bank);
        assert_eq!(condition.truth(&asked), Truth::Yes);
        solidity(&condition, &bank, &asked)
    }

    #[test]
    fn what_holds_by_a_hair_counts_for_less() {
        let few = r#"samples = ["x;f 12", "x;g 88"]"#;
        let many = r#"samples = ["x;f 12000", "x;g 88000"]"#;
        assert_eq!(of(few, "share('f') > 0.1"), SHAKY, "5 to 20 %");
        assert_eq!(of(many, "share('f') > 0.1"), 1.0);
        assert_eq!(of(few, "share('f') < 0.15"), SHAKY, "the other end");
        assert_eq!(of(few, "share('f') > 0.02"), 1.0);
        assert_eq!(of(few, "share('f') > 0.1 || share('g') > 0.5"), 1.0);
    }

    #[test]
    fn pasted_trees_may_be_relative_and_flat_rows_are_not() {
        assert_eq!(of(r#"stacks = ["x;f;g 15"]"#, "share('g') > 0.1"), SHAKY);
        assert_eq!(of(r#"stacks = ["x;f;g 50"]"#, "share('g') > 0.1"), 1.0);
        assert_eq!(of(r#"flat = ["15 [zfs] g"]"#, "share('g') > 0.1"), 1.0);
        assert_eq!(of(r#"params = { a = 1 }"#, "param('a') > 0"), 1.0);
    }
}
