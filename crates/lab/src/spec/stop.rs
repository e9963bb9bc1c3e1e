//! When an experiment has made enough repetitions.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Below five pairs an interval says little.
const LEAST: u32 = 5;
/// More repetitions than this are a mistake.
const MOST: u32 = 1000;
/// How much more often it has repeated when it looks again.
const NEXT_LOOK: f64 = std::f64::consts::SQRT_2;
/// Probability that any interval, of all looks together, misses the truth.
const OUTSIDE: f64 = 0.05;

/// It is enough once each ratio of the answer is told apart from 1, or known well.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    /// A ratio is known when both ends of its interval lie within this part of it: 0.1 is 10 %.
    pub within: f64,
    /// A ratio that is told apart from 1 needs not be known any better.
    #[serde(default = "yes")]
    pub settled: bool,
    /// Repetitions before the first look.
    #[serde(default = "least")]
    pub least: u32,
    /// Repetitions after which it ends in any case.
    #[serde(default = "most")]
    pub most: u32,
}

fn yes() -> bool {
    true
}

fn least() -> u32 {
    LEAST
}

fn most() -> u32 {
    20
}

impl Stop {
    /// With everything else as it is where a specification leaves it out.
    pub fn within(within: f64) -> Stop {
        Stop { within, settled: yes(), least: least(), most: most() }
    }

    /// # Errors
    /// Which field cannot be so.
    pub fn check(&self) -> Result<(), String> {
        let Stop { within, least, most, .. } = *self;
        if !(0.001..=1.0).contains(&within) {
            return Err(format!("stop: within is {within}; it must be 0.001 to 1, as in 0.1 for 10 %"));
        }
        if least < LEAST || most < least || most > MOST {
            return Err(format!(
                "stop: least is {least} and most {most}; at least {LEAST} repetitions are needed, and at most {MOST} are possible"
            ));
        }
        Ok(())
    }

    /// Repetitions after which it looks, the most of them last: each look more would widen the intervals of all.
    pub fn looks(&self) -> Vec<u32> {
        let growing = std::iter::successors(Some(f64::from(self.least)), |next| Some(next * NEXT_LOOK));
        let looks = growing.map(|look| look.round() as u32).take_while(|look| *look < self.most);
        looks.chain([self.most]).collect()
    }

    /// Probability that the interval of one look misses: its part, so that looking again and again does not make a
    /// difference out of chance (Bonferroni, which holds however the looks depend on each other).
    pub fn outside(&self) -> f64 {
        OUTSIDE / self.looks().len() as f64
    }
}

/// `each ratio is told apart from 1 or known to within 10 %`
impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settled = if self.settled { "told apart from 1 or " } else { "" };
        write!(f, "each ratio is {settled}known to within {} %", (self.within * 1000.0).round() / 10.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_looks_less_and_less_often_and_at_the_end() {
        assert_eq!(Stop::within(0.1).looks(), [5, 7, 10, 14, 20]);
        assert_eq!(Stop { most: 5, ..Stop::within(0.1) }.looks(), [5]);
        assert_eq!(Stop { most: 6, ..Stop::within(0.1) }.looks(), [5, 6]);
        assert!((Stop::within(0.1).outside() - 0.01).abs() < 1e-12);
    }

    #[test]
    fn what_cannot_be_is_told() {
        assert_eq!(Stop::within(0.1).check(), Ok(()));
        for wrong in [
            Stop::within(0.0),
            Stop::within(f64::NAN),
            Stop { least: 4, ..Stop::within(0.1) },
            Stop { most: 4, ..Stop::within(0.1) },
        ] {
            assert!(wrong.check().is_err(), "{wrong:?}");
        }
        assert_eq!(
            Stop::within(0.025).to_string(),
            "each ratio is told apart from 1 or known to within 2.5 %"
        );
    }
}
