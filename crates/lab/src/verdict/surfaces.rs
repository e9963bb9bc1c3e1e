//! How the answering figure grows with two factors at once.

use super::grows::by_size;
use super::number;
use crate::result::{ExperimentResult, SurfaceResult};
use crate::stats::{Interval, fit_surface};
use std::collections::BTreeMap;

/// How many times as large the sizes are of which a prediction is told.
const FURTHER: f64 = 10.0;

/// One for each combination of the other factors; none where the experiment does not let two factors grow.
pub fn surfaces(grow: &[String], result: &ExperimentResult) -> Vec<SurfaceResult> {
    let [n, m] = grow else { return Vec::new() };
    let mut of_others: BTreeMap<String, Vec<(f64, f64, f64)>> = BTreeMap::new();
    for run in &result.runs {
        if let (Some(first), Some(second), Some(cost)) = (run.size(n), run.size(m), result.cost(run)) {
            of_others.entry(run.others(&[n, m])).or_default().push((first, second, cost));
        }
    }
    let surface = |(of, points): (String, Vec<(f64, f64, f64)>)| {
        Some(SurfaceResult {
            of,
            factors: [n.clone(), m.clone()],
            step: result.figure.step.clone(),
            measure: result.figure.measure.clone(),
            fit: fit_surface(&points)?,
            points: medians(&points),
        })
    };
    of_others.into_iter().filter_map(surface).collect()
}

fn medians(points: &[(f64, f64, f64)]) -> Vec<(f64, f64, Interval)> {
    let mut rows: BTreeMap<u64, Vec<(f64, f64)>> = BTreeMap::new();
    for (n, m, cost) in points {
        rows.entry(n.to_bits()).or_default().push((*m, *cost));
    }
    let row = |(bits, costs): (u64, Vec<(f64, f64)>)| {
        by_size(&costs).into_iter().map(move |(m, median)| (f64::from_bits(bits), m, median))
    };
    rows.into_iter().flat_map(row).collect()
}

/// The law in a sentence, with what it predicts.
pub fn surface_line(surface: &SurfaceResult) -> String {
    let [n, m] = &surface.factors;
    let largest = |of: fn(&(f64, f64, Interval)) -> f64| surface.points.iter().map(of).fold(0.0, f64::max);
    let (far_n, far_m) = (largest(|p| p.0) * FURTHER, largest(|p| p.1) * FURTHER);
    format!(
        "{}; at {n} = {far_n:.0} and {m} = {far_m:.0} that would be {}.",
        surface_law(surface),
        number(surface.fit.at(far_n, far_m)),
    )
}

/// `CPU ms per operation in destroy, by n and m: grows as n·m (exponents: n 1.02 [0.97, 1.07], m 0.99 [0.95, 1.03])`
pub fn surface_law(surface: &SurfaceResult) -> String {
    let [n, m] = &surface.factors;
    let of = if surface.of.is_empty() { String::new() } else { format!("{}: ", surface.of) };
    let exponent = |name: &str, e: &Interval| format!("{name} {:.2} [{:.2}, {:.2}]", e.value, e.low, e.high);
    let law = match surface.fit.law {
        crate::stats::Law::Constant => "grows with neither".to_owned(),
        law => format!("grows as {}", law.name(n, m)),
    };
    format!(
        "{of}{} in {}, by {n} and {m}: {law} (exponents: {}, {})",
        surface.measure.unit(),
        surface.step,
        exponent(n, &surface.fit.exponents[0]),
        exponent(m, &surface.fit.exponents[1]),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn two_factors_that_grow_have_one_law_together() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/lab");
        let mut result = ExperimentResult::read(&folder).unwrap();
        let run = result.runs[0].clone();
        let at = result.figure.step.clone();
        let of = |n: u32, m: u32| {
            let mut run = run.clone();
            run.factors = [("n", n), ("m", m)].map(|(name, size)| (name.to_owned(), size.to_string())).into();
            for step in run.steps.iter_mut().filter(|step| step.name == at) {
                // CPU milliseconds for each operation: a thousandth of n·m.
                (step.user_s, step.system_s) = (f64::from(n * m) * 1e-6 * step.operations as f64, 0.0);
            }
            run
        };
        result.runs = [10, 20, 40].into_iter().flat_map(|n| [3, 9, 27].map(|m| of(n, m))).collect();
        let found = surfaces(&["n".into(), "m".into()], &result);
        assert_eq!((found.len(), found[0].points.len()), (1, 9));
        let line = surface_line(&found[0]);
        assert!(line.contains("by n and m: grows as n·m (exponents: n 1.00 [1.00, 1.00], m 1.00"), "{line}");
        assert!(line.ends_with("at n = 400 and m = 270 that would be 108."), "{line}");
        assert!(surfaces(&["n".into()], &result).is_empty());
    }
}
