//! What following a remedy gains, as data: which part of the cause's CPU goes away, or why none is promised.

use serde::Deserialize;

/// `[gain]` of a cause file.
#[derive(Clone, Debug, PartialEq)]
pub enum GainRule {
    /// Parts of the CPU that the cause accounts for; above 1 where other work goes with it.
    Removes { low: f64, high: f64, why: String },
    /// No gain in CPU can be promised.
    Nothing { why: String },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GainEntry {
    removes: Option<[f64; 2]>,
    #[serde(default)]
    why: String,
    none: Option<String>,
}

/// No work takes ten times its own CPU with it.
const MOST: f64 = 10.0;

impl GainEntry {
    /// # Errors
    /// A sentence that says what is wrong.
    pub(super) fn compile(self) -> Result<GainRule, String> {
        let wrong = |what: &str| Err(format!("gain: {what}"));
        match (self.removes, self.none) {
            (Some([low, high]), None) => {
                if !(0.0 <= low && low <= high && high <= MOST) {
                    return wrong("`removes` is two parts of the cause's CPU, the smaller first");
                }
                if self.why.trim().is_empty() {
                    return wrong("say in `why` what makes that sure");
                }
                Ok(GainRule::Removes { low, high, why: self.why })
            }
            (None, Some(why)) if !why.trim().is_empty() && self.why.is_empty() => {
                Ok(GainRule::Nothing { why })
            }
            _ => wrong("it has either `removes` and `why`, or `none` with the reason"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gain_is_a_range_with_a_reason_or_a_reason_for_none() {
        let of = |text: &str| toml::from_str::<GainEntry>(text).map_err(|e| e.to_string())?.compile();
        assert!(
            matches!(of("removes = [0.5, 0.9]\nwhy = 'x'"), Ok(GainRule::Removes { low, .. }) if low == 0.5)
        );
        assert_eq!(of("none = 'x'"), Ok(GainRule::Nothing { why: "x".into() }));
        for wrong in [
            "removes = [0.9, 0.5]\nwhy = 'x'",
            "removes = [-0.1, 0.5]\nwhy = 'x'",
            "removes = [0.5, 11]\nwhy = 'x'",
            "removes = [nan, 1.0]\nwhy = 'x'",
            "removes = [0.5, 0.9]",
            "none = ''",
            "why = 'x'",
            "none = 'x'\nremoves = [0.5, 0.9]\nwhy = 'x'",
        ] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
