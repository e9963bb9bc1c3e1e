//! How a cost grows with two sizes at once: with one of them, with both side by side, or with their product.
//!
//! As in `growth`, a law has no part below zero, is fitted on relative errors, and is chosen by leaving out each pair of
//! sizes in turn and predicting it; a more complicated law must be clearly better.

use super::Interval;
use super::growth::{NOTHING, chosen};
use serde::{Deserialize, Serialize};

/// Sizes are called n and m.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    Constant,
    LogFirst,
    LogSecond,
    First,
    Second,
    LinearithmicFirst,
    LinearithmicSecond,
    /// n + m, each with a slope of its own
    Sum,
    /// n·m
    Product,
    SquareFirst,
    SquareSecond,
}

/// The simplest first.
const LAWS: [Law; 11] = [
    Law::Constant,
    Law::LogFirst,
    Law::LogSecond,
    Law::First,
    Law::Second,
    Law::LinearithmicFirst,
    Law::LinearithmicSecond,
    Law::Sum,
    Law::Product,
    Law::SquareFirst,
    Law::SquareSecond,
];

impl Law {
    /// What the slopes are of; a law of one term has 0 as the other.
    fn terms(self, n: f64, m: f64) -> [f64; 2] {
        match self {
            Law::Constant => [0.0, 0.0],
            Law::LogFirst => [n.ln(), 0.0],
            Law::LogSecond => [m.ln(), 0.0],
            Law::First => [n, 0.0],
            Law::Second => [m, 0.0],
            Law::LinearithmicFirst => [n * n.ln(), 0.0],
            Law::LinearithmicSecond => [m * m.ln(), 0.0],
            Law::Sum => [n, m],
            Law::Product => [n * m, 0.0],
            Law::SquareFirst => [n * n, 0.0],
            Law::SquareSecond => [m * m, 0.0],
        }
    }

    /// As it is written of two factors: `n·files`.
    pub fn name(self, n: &str, m: &str) -> String {
        match self {
            Law::Constant => "constant".into(),
            Law::LogFirst => format!("log {n}"),
            Law::LogSecond => format!("log {m}"),
            Law::First => n.into(),
            Law::Second => m.into(),
            Law::LinearithmicFirst => format!("{n} log {n}"),
            Law::LinearithmicSecond => format!("{m} log {m}"),
            Law::Sum => format!("{n} + {m}"),
            Law::Product => format!("{n}·{m}"),
            Law::SquareFirst => format!("{n}²"),
            Law::SquareSecond => format!("{m}²"),
        }
    }
}

/// What was fitted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Surface {
    pub law: Law,
    /// Cost that does not grow.
    pub fixed: f64,
    /// Cost for each unit of the law; the second of the sum only.
    pub slopes: [f64; 2],
    /// Of a power law, `cost ~ n^first · m^second`, with their 95 % intervals.
    pub exponents: [Interval; 2],
    /// Relative error of predicting a pair of sizes from the others, typically.
    pub error: f64,
}

impl Surface {
    pub fn at(&self, n: f64, m: f64) -> f64 {
        let [first, second] = self.law.terms(n, m);
        self.fixed + self.slopes[0] * first + self.slopes[1] * second
    }
}

/// Both sizes and the cost.
type Point = (f64, f64, f64);

/// `points`: several for each pair of sizes where there are repetitions. `None` with fewer than three of either size.
pub fn fit_surface(points: &[Point]) -> Option<Surface> {
    let positive = points.iter().filter(|(n, m, _)| *n > 0.0 && *m > 0.0);
    let points: Vec<Point> = positive.map(|(n, m, cost)| (*n, *m, cost.max(NOTHING))).collect();
    let distinct = |of: fn(&Point) -> f64| {
        points.iter().map(|point| of(point).to_bits()).collect::<std::collections::BTreeSet<u64>>().len()
    };
    if distinct(|p| p.0) < 3 || distinct(|p| p.1) < 3 {
        return None;
    }
    let (law, error) = chosen(LAWS, |law| cross_validated(law, &points))?;
    let [fixed, first, second] = least_squares(law, &points);
    Some(Surface { law, fixed, slopes: [first, second], exponents: exponents(&points)?, error })
}

/// Root of the mean squared relative error, each pair of sizes predicted from the others.
fn cross_validated(law: Law, points: &[Point]) -> f64 {
    let mut pairs: Vec<(f64, f64)> = points.iter().map(|(n, m, _)| (*n, *m)).collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    pairs.dedup();
    let mut sum = 0.0;
    for (n, m) in &pairs {
        let is_own = |point: &&Point| point.0 == *n && point.1 == *m;
        let others: Vec<Point> = points.iter().filter(|point| !is_own(point)).copied().collect();
        let [fixed, first, second] = least_squares(law, &others);
        let [x, y] = law.terms(*n, *m);
        let predicted = (fixed + first * x + second * y).max(NOTHING);
        let errors: Vec<f64> =
            points.iter().filter(is_own).map(|(.., cost)| (predicted / cost).ln().powi(2)).collect();
        sum += super::mean(&errors);
    }
    (sum / pairs.len() as f64).sqrt()
}

/// What does not grow and both slopes, none below zero, each point weighed by the inverse of its cost squared: of all
/// choices of parts that are zero the one that fits best.
fn least_squares(law: Law, points: &[Point]) -> [f64; 3] {
    // Products of the columns with each other, and with the cost; all divided by the cost, so that errors are relative.
    let (mut products, mut right) = ([[0.0; 3]; 3], [0.0; 3]);
    for (n, m, cost) in points {
        let [x, y] = law.terms(*n, *m);
        let row = [1.0 / cost, x / cost, y / cost];
        for i in 0..3 {
            right[i] += row[i];
            for j in 0..3 {
                products[i][j] += row[i] * row[j];
            }
        }
    }
    let mut best = ([0.0; 3], f64::INFINITY);
    for choice in 1..8_u8 {
        let used: Vec<usize> = (0..3).filter(|part| choice & (1 << part) != 0).collect();
        let Some(parts) =
            solved(&products, &right, &used).filter(|parts| parts.iter().all(|part| *part >= 0.0))
        else {
            continue;
        };
        // Sum of the squares that are left, but for what all choices share.
        let left: f64 = (0..3)
            .map(|i| {
                let row: f64 = (0..3).map(|j| products[i][j] * parts[j]).sum();
                parts[i] * (row - 2.0 * right[i])
            })
            .sum();
        if left < best.1 {
            best = (parts, left);
        }
    }
    best.0
}

/// Least squares of some columns by their normal equations, the others zero; `None` where the columns say the same.
fn solved(products: &[[f64; 3]; 3], right: &[f64; 3], used: &[usize]) -> Option<[f64; 3]> {
    // Columns of one length, so that what is near to nothing means the same for all.
    let scale: Vec<f64> = used.iter().map(|column| products[*column][*column].sqrt()).collect();
    if scale.contains(&0.0) {
        return None;
    }
    let row = |i: usize| {
        let own = (0..used.len()).map(|j| products[used[i]][used[j]] / scale[i] / scale[j]);
        own.chain([right[used[i]] / scale[i]]).collect::<Vec<f64>>()
    };
    let found = eliminated((0..used.len()).map(row).collect())?;
    let mut parts = [0.0; 3];
    used.iter().zip(found.iter().zip(&scale)).for_each(|(part, (value, scale))| parts[*part] = value / scale);
    Some(parts)
}

/// Gauss's elimination of a symmetric matrix with the right side as its last column.
fn eliminated(mut matrix: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    /// Of columns of length 1.
    const SINGULAR: f64 = 1e-12;
    let count = matrix.len();
    for pivot in 0..count {
        let head = matrix[pivot].clone();
        if head[pivot].abs() < SINGULAR {
            return None;
        }
        for row in matrix.iter_mut().skip(pivot + 1) {
            let factor = row[pivot] / head[pivot];
            row.iter_mut().zip(&head).for_each(|(value, above)| *value -= factor * above);
        }
    }
    let mut found = vec![0.0; count];
    for at in (0..count).rev() {
        let known: f64 = (at + 1..count).map(|column| matrix[at][column] * found[column]).sum();
        found[at] = (matrix[at][count] - known) / matrix[at][at];
    }
    Some(found)
}

/// Slopes of the costs over both sizes, all as logarithms.
fn exponents(points: &[Point]) -> Option<[Interval; 2]> {
    let logs: Vec<[f64; 3]> = points.iter().map(|(n, m, cost)| [n.ln(), m.ln(), cost.ln()]).collect();
    let count = logs.len() as f64;
    let middle = |column: usize| logs.iter().map(|row| row[column]).sum::<f64>() / count;
    let centre = [middle(0), middle(1), middle(2)];
    let sum =
        |a: usize, b: usize| logs.iter().map(|row| (row[a] - centre[a]) * (row[b] - centre[b])).sum::<f64>();
    let (nn, mm, nm) = (sum(0, 0), sum(1, 1), sum(0, 1));
    let spread = nn * mm - nm * nm;
    if spread <= 0.0 {
        // Both sizes only grew together.
        return None;
    }
    let slopes = [(sum(0, 2) * mm - sum(1, 2) * nm) / spread, (sum(1, 2) * nn - sum(0, 2) * nm) / spread];
    let left = sum(2, 2) - slopes[0] * sum(0, 2) - slopes[1] * sum(1, 2);
    let freedom = (count - 3.0).max(1.0);
    let t = super::student::quantile(super::OUTSIDE, freedom);
    let interval = |slope: f64, other: f64| {
        let reach = t * (left.max(0.0) / freedom * other / spread).sqrt();
        Interval { value: slope, low: slope - reach, high: slope + reach }
    };
    Some([interval(slopes[0], mm), interval(slopes[1], nn)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::SplitMix;
    use crate::stats::simulate::noisy;

    const SIZES: [f64; 4] = [25.0, 160.0, 1000.0, 6400.0];

    fn cost(law: Law, n: f64, m: f64) -> f64 {
        let part = |terms: [f64; 2]| terms[0] + terms[1];
        2.0 + 200.0 * part(law.terms(n, m)) / part(law.terms(6400.0, 6400.0)).max(1.0)
    }

    #[test]
    fn the_law_of_two_sizes_is_found_through_ten_percent_of_noise() {
        let mut random = SplitMix(31);
        for law in LAWS {
            let right = (0..100)
                .filter(|_| {
                    let pairs = SIZES.iter().flat_map(|n| SIZES.map(|m| (*n, m)));
                    let points: Vec<Point> = pairs
                        .flat_map(|pair| [pair; 5])
                        .map(|(n, m)| (n, m, noisy(&mut random, cost(law, n, m), 0.1)))
                        .collect();
                    fit_surface(&points).unwrap().law == law
                })
                .count();
            assert!(right >= 95, "{law:?}: {right} of 100");
        }
    }

    #[test]
    fn a_product_has_both_exponents_and_predicts() {
        let points: Vec<Point> = SIZES.iter().flat_map(|n| SIZES.map(|m| (*n, m, 0.01 * n * m))).collect();
        let surface = fit_surface(&points).unwrap();
        assert_eq!(surface.law, Law::Product);
        assert!(surface.exponents.iter().all(|e| (e.value - 1.0).abs() < 1e-6), "{surface:?}");
        assert!((surface.at(10_000.0, 50.0) / 5000.0 - 1.0).abs() < 1e-6);
        assert_eq!(Law::Product.name("n", "files"), "n·files");
    }

    /// The page draws the laws by the same file.
    #[test]
    fn the_page_knows_every_law_by_its_name_and_its_cost() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/test/sample/laws-of-two.json");
        let rows: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        let rows = rows.as_array().unwrap();
        let around = Interval { value: 1.0, low: 1.0, high: 1.0 };
        assert_eq!(rows.len(), LAWS.len());
        for (row, law) in rows.iter().zip(LAWS) {
            let number = |key: &str| row[key].as_f64().unwrap();
            assert_eq!(serde_json::to_value(law).unwrap(), row["law"]);
            let slopes = serde_json::from_value(row["slopes"].clone()).unwrap();
            let fit = Surface { law, fixed: number("fixed"), slopes, exponents: [around; 2], error: 0.0 };
            let cost = fit.at(number("n"), number("m"));
            assert!((cost - number("cost")).abs() < 1e-6, "{law:?}: {cost}");
        }
    }

    #[test]
    fn sizes_that_only_grow_together_and_too_few_of_them_tell_nothing() {
        let together: Vec<Point> = SIZES.iter().map(|n| (*n, *n, *n)).collect();
        assert_eq!(fit_surface(&together), None);
        assert_eq!(fit_surface(&[(1.0, 1.0, 1.0), (2.0, 2.0, 2.0), (3.0, 1.0, 1.0)]), None);
    }
}
