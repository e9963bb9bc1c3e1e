//! How the answering figure grows with a factor that is a number.

use crate::result::{ExperimentResult, GrowthResult, RunResult};
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
        let size = run.factors.get(factor).and_then(|value| value.parse::<f64>().ok());
        let cost = run.step(&result.figure.step).and_then(|step| result.figure.measure.of(step));
        if let (Some(size), Some(cost)) = (size, cost) {
            curves.entry(others(run, factor)).or_default().push((size, cost));
        }
    }
    let curve = |(of, points): (String, Vec<(f64, f64)>)| {
        let medians = by_size(&points);
        if medians.len() < SIZES {
            return None;
        }
        Some(GrowthResult {
            of,
            factor: factor.to_owned(),
            step: result.figure.step.clone(),
            measure: result.figure.measure.clone(),
            function: None,
            fit: fit(&points)?,
            points: medians,
        })
    };
    curves.into_iter().filter_map(curve).collect()
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

/// The other factors of a run: label of its curve.
pub fn others(run: &RunResult, factor: &str) -> String {
    let others = run.factors.iter().filter(|(name, _)| *name != factor).map(|(_, value)| value.as_str());
    others.collect::<Vec<_>>().join(" ")
}
