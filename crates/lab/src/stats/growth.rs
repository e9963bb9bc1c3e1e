//! How a cost grows with a size: which of a few laws fits, how surely, and what it predicts.
//!
//! Each law is `a + b f(n)` with `a` and `b` not below zero, fitted on relative errors. The law is chosen by
//! leaving each size out in turn and predicting it; a more complicated law must be clearly better.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    Constant,
    Logarithmic,
    Linear,
    /// n log n
    Linearithmic,
    Quadratic,
    Cubic,
}

/// The simplest first.
const MODELS: [Model; 6] =
    [Model::Constant, Model::Logarithmic, Model::Linear, Model::Linearithmic, Model::Quadratic, Model::Cubic];

impl Model {
    fn of(self, n: f64) -> f64 {
        match self {
            Model::Constant => 0.0,
            Model::Logarithmic => n.ln(),
            Model::Linear => n,
            Model::Linearithmic => n * n.ln(),
            Model::Quadratic => n * n,
            Model::Cubic => n.powi(3),
        }
    }

    /// Of the law `n^power`; `None` of one that is no power.
    pub fn power(self) -> Option<f64> {
        match self {
            Model::Constant => Some(0.0),
            Model::Linear => Some(1.0),
            Model::Quadratic => Some(2.0),
            Model::Cubic => Some(3.0),
            Model::Logarithmic | Model::Linearithmic => None,
        }
    }

    /// As it is written: `n log n`.
    pub fn name(self) -> &'static str {
        match self {
            Model::Constant => "constant",
            Model::Logarithmic => "log n",
            Model::Linear => "n",
            Model::Linearithmic => "n log n",
            Model::Quadratic => "n²",
            Model::Cubic => "n³",
        }
    }
}

/// What was fitted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    pub model: Model,
    /// Cost that does not grow.
    pub fixed: f64,
    /// Cost for each unit of the law.
    pub slope: f64,
    /// Of a power law, `cost ~ n^exponent`, with its 95 % interval.
    pub exponent: super::Interval,
    /// Relative error of predicting a size from the others, typically.
    pub error: f64,
}

impl Growth {
    pub fn at(&self, n: f64) -> f64 {
        self.fixed + self.slope * self.model.of(n)
    }
}

/// How far from a law's exponent a measured one may lie and still be that law's: where the size doubles, the cost changes
/// by 7 % more or less than the law says. Caches that larger sizes leave do as much.
pub const EXPONENT_MARGIN: f64 = 0.1;
/// A more complicated law is taken when its error is below this part of a simpler one's.
const CLEARLY_BETTER: f64 = 0.8;
/// Costs below zero are no costs; this stands for none.
pub(super) const NOTHING: f64 = 1e-12;

/// The law that fits, of several from the simplest on, with its error.
pub(super) fn chosen<L: Copy>(
    laws: impl IntoIterator<Item = L>,
    error: impl Fn(L) -> f64,
) -> Option<(L, f64)> {
    laws.into_iter()
        .map(|law| (law, error(law)))
        .reduce(|best, next| if next.1 < best.1 * CLEARLY_BETTER { next } else { best })
}

/// `points`: size and cost, several for each size where there are repetitions. `None` with fewer than three
/// sizes.
pub fn fit(points: &[(f64, f64)]) -> Option<Growth> {
    let points: Vec<(f64, f64)> =
        points.iter().filter(|(n, _)| *n > 0.0).map(|(n, cost)| (*n, cost.max(NOTHING))).collect();
    let mut sizes: Vec<f64> = points.iter().map(|(n, _)| *n).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    if sizes.len() < 3 {
        return None;
    }
    let (model, error) = chosen(MODELS, |model| cross_validated(model, &points, &sizes))?;
    let (fixed, slope) = least_squares(model, &points);
    Some(Growth { model, fixed, slope, exponent: exponent(&points), error })
}

/// Root of the mean squared relative error, each size predicted from the others.
fn cross_validated(model: Model, points: &[(f64, f64)], sizes: &[f64]) -> f64 {
    let mut sum = 0.0;
    for size in sizes {
        let others: Vec<(f64, f64)> = points.iter().copied().filter(|(n, _)| n != size).collect();
        let (fixed, slope) = least_squares(model, &others);
        let own = points.iter().filter(|(n, _)| n == size);
        let (errors, count) = own.fold((0.0, 0.0), |(errors, count), (n, cost)| {
            let predicted = (fixed + slope * model.of(*n)).max(NOTHING);
            (errors + (predicted / cost).ln().powi(2), count + 1.0)
        });
        sum += errors / count;
    }
    (sum / sizes.len() as f64).sqrt()
}

/// `a` and `b` of `a + b f(n)`, neither below zero, each point weighed by the inverse of its cost squared.
fn least_squares(model: Model, points: &[(f64, f64)]) -> (f64, f64) {
    let (mut w, mut wx, mut wy, mut wxx, mut wxy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (n, y) in points {
        let (x, weight) = (model.of(*n), 1.0 / (y * y));
        w += weight;
        wx += weight * x;
        wy += weight * y;
        wxx += weight * x * x;
        wxy += weight * x * y;
    }
    let spread = w * wxx - wx * wx;
    if model == Model::Constant || spread <= 0.0 {
        return (wy / w, 0.0);
    }
    let (fixed, slope) = ((wy * wxx - wx * wxy) / spread, (w * wxy - wx * wy) / spread);
    match (fixed < 0.0, slope < 0.0) {
        (_, true) => (wy / w, 0.0),
        (true, false) => (0.0, wxy / wxx),
        (false, false) => (fixed, slope),
    }
}

/// Slope of the costs over the sizes, both as logarithms.
fn exponent(points: &[(f64, f64)]) -> super::Interval {
    let logs: Vec<(f64, f64)> = points.iter().map(|(n, cost)| (n.ln(), cost.ln())).collect();
    let count = logs.len() as f64;
    let middle = |of: fn(&(f64, f64)) -> f64| logs.iter().map(of).sum::<f64>() / count;
    let (mx, my) = (middle(|p| p.0), middle(|p| p.1));
    let xx: f64 = logs.iter().map(|(x, _)| (x - mx).powi(2)).sum();
    let slope = logs.iter().map(|(x, y)| (x - mx) * (y - my)).sum::<f64>() / xx;
    let left: f64 = logs.iter().map(|(x, y)| (y - my - slope * (x - mx)).powi(2)).sum();
    let freedom = (count - 2.0).max(1.0);
    let reach = super::student::quantile(0.05, freedom) * (left / freedom / xx).sqrt();
    super::Interval { value: slope, low: slope - reach, high: slope + reach }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::SplitMix;
    use crate::stats::simulate::noisy;

    const SIZES: [f64; 7] = [50.0, 100.0, 200.0, 400.0, 800.0, 1600.0, 3200.0];

    fn cost(model: Model, n: f64) -> f64 {
        let at_the_end = model.of(3200.0).max(1.0);
        2.0 + 200.0 * model.of(n) / at_the_end
    }

    /// Three laws that an admin would tell apart by the time it takes.
    #[test]
    fn the_law_is_found_through_ten_percent_of_noise() {
        let mut random = SplitMix(11);
        for model in MODELS {
            let right = (0..100)
                .filter(|_| {
                    let points: Vec<(f64, f64)> = SIZES
                        .iter()
                        .flat_map(|n| (0..5).map(|_| *n).collect::<Vec<f64>>())
                        .map(|n| (n, noisy(&mut random, cost(model, n), 0.1)))
                        .collect();
                    fit(&points).unwrap().model == model
                })
                .count();
            assert!(right >= 95, "{model:?}: {right} of 100");
        }
    }

    #[test]
    fn a_power_law_has_its_exponent_and_predicts() {
        let points: Vec<(f64, f64)> = SIZES.iter().map(|n| (*n, 0.001 * n * n)).collect();
        let growth = fit(&points).unwrap();
        assert_eq!(growth.model, Model::Quadratic);
        assert!((growth.exponent.value - 2.0).abs() < 1e-6, "{growth:?}");
        assert!((growth.at(10_000.0) / 100_000.0 - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_part_that_stays_lowers_the_exponent_and_not_the_law() {
        let noise = [1.02, 0.98, 1.01, 0.99];
        let points =
            [100.0, 200.0, 400.0, 800.0].iter().zip(noise).map(|(n, times)| (*n, (0.7 + 0.01 * n) * times));
        let growth = fit(&points.collect::<Vec<_>>()).unwrap();
        assert!(growth.exponent.high < 1.0, "{growth:?}");
        assert_eq!(growth.model.power(), Some(1.0), "{growth:?}");
    }

    #[test]
    fn two_sizes_are_not_enough() {
        assert_eq!(fit(&[(1.0, 1.0), (2.0, 2.0), (2.0, 2.1)]), None);
    }
}
