//! How the answering figure grows with a factor that is a number.

use crate::result::{ExperimentResult, GrowthResult};
use crate::stats::{Interval, fit, median_interval};
use std::collections::{BTreeMap, BTreeSet};

pub use crate::spec::SIZES;

/// One curve for each factor with enough numbers as values, and each combination of the others.
pub fn grows(result: &ExperimentResult) -> Vec<GrowthResult> {
    let factors: BTreeSet<&String> = result.runs.iter().flat_map(|run| run.factors.keys()).collect();
    factors.into_iter().flat_map(|factor| curves(result, factor)).collect()
}

fn curves(result: &ExperimentResult, factor: &str) -> Vec<GrowthResult> {
    // Points by the other factors, in the order of their labels.
    let mut curves: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    for run in &result.runs {
        if let Some(point) = run.size(factor).zip(result.cost(run)) {
            curves.entry(run.others(&[factor])).or_default().push(point);
        }
    }
    let many = |points: &[(f64, f64)]| by_size(points).len() >= SIZES;
    let curves = curves.into_iter().filter(|(_, points)| many(points));
    curves.filter_map(|(of, points)| growth(result, of, factor, None, &points)).collect()
}

/// How a cost grows with a factor: of the whole step, or of one of its functions.
pub fn growth(
    result: &ExperimentResult,
    of: String,
    factor: &str,
    function: Option<String>,
    points: &[(f64, f64)],
) -> Option<GrowthResult> {
    Some(GrowthResult {
        of,
        factor: factor.to_owned(),
        step: result.figure.step.clone(),
        measure: result.figure.measure.clone(),
        function,
        fit: fit(points)?,
        points: by_size(points),
    })
}

/// The median cost at each size with its interval, the smallest size first.
pub fn by_size(points: &[(f64, f64)]) -> Vec<(f64, Interval)> {
    // Sizes are above zero, where the order of the bits is that of the numbers.
    let mut sizes: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for (size, cost) in points {
        sizes.entry(size.to_bits()).or_default().push(*cost);
    }
    let median = |(bits, costs): (u64, Vec<f64>)| Some((f64::from_bits(bits), median_interval(&costs)?));
    sizes.into_iter().filter_map(median).collect()
}
