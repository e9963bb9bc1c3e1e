//! Which functions of OpenZFS make a cost grow: their CPU in the recorded steps, by size.

use super::grows::{SIZES, by_size, growth};
use crate::result::{Captured, ExperimentResult, GrowthResult};
use crate::stats::fit;
use std::collections::{BTreeMap, BTreeSet};

/// At the largest size a function takes at least this part of the step.
const WEIGHS: f64 = 0.05;
/// Of what the step takes more at the largest size than at the smallest, at least this part is its.
const OF_GROWTH: f64 = 0.25;
/// Its exponent is at least this part of the steepest one's, or of 1 where that is steeper: callers also hold what does not
/// grow, and a steep law may be one of few samples.
const OF_STEEPEST: f64 = 0.75;
/// Functions of one curve that are told, the steepest.
const TOLD: usize = 5;

/// Cost of each function in one run, by its name, and of the step as `None`.
type Costs = BTreeMap<Option<String>, f64>;

struct Run {
    size: f64,
    costs: Costs,
    /// What a single sample stands for.
    sample: f64,
}

/// The curves of the functions that grow. `shares` reads one capture of the result: the part of the CPU below each
/// function of OpenZFS, 0 to 1; `None` where it is gone.
///
/// # Errors
/// The first one of `shares`.
pub fn functions_grow<E>(
    result: &ExperimentResult,
    mut shares: impl FnMut(&Captured) -> Result<Option<BTreeMap<String, f64>>, E>,
) -> Result<Vec<GrowthResult>, E> {
    let mut grown = Vec::new();
    let factors: BTreeSet<&str> = result.growth.iter().map(|growth| growth.factor.as_str()).collect();
    for factor in factors {
        let mut curves: BTreeMap<String, Vec<Run>> = BTreeMap::new();
        for run in &result.runs {
            let Some((size, cost)) = run.size(factor).zip(result.cost(run)) else { continue };
            let step = run.step(&result.figure.step);
            let Some(capture) = step.and_then(|step| step.capture.as_ref()) else { continue };
            let Some(shares) = shares(capture)? else { continue };
            let mut costs: Costs =
                shares.into_iter().map(|(name, share)| (Some(name), share * cost)).collect();
            costs.insert(None, cost);
            let sample = cost / capture.samples.max(1) as f64;
            curves.entry(run.others(&[factor])).or_default().push(Run { size, costs, sample });
        }
        let of_curve = |(of, runs): (String, Vec<Run>)| {
            let asked = expected(result, &of);
            curve(&runs, &asked).into_iter().map(move |found| (of.clone(), found))
        };
        let result_of = |(of, (function, points)): (String, (String, Vec<(f64, f64)>))| {
            growth(result, of, factor, Some(function), &points)
        };
        grown.extend(curves.into_iter().flat_map(of_curve).filter_map(result_of));
    }
    Ok(grown)
}

/// Functions of one curve that the experiment expects something of.
fn expected<'r>(result: &'r ExperimentResult, of: &str) -> BTreeSet<&'r str> {
    let own = result.expected.iter().filter(|check| check.of == of && check.step == result.figure.step);
    own.filter_map(|check| check.function.as_deref()).collect()
}

/// The functions that make this curve grow, and those that are asked for, with size and cost of each run.
fn curve(runs: &[Run], asked: &BTreeSet<&str>) -> Vec<(String, Vec<(f64, f64)>)> {
    let names: BTreeSet<&String> = runs.iter().flat_map(|run| run.costs.keys().flatten()).collect();
    let points = |name: Option<&String>| -> Vec<(f64, f64)> {
        // A function without a sample took less than one: half of one is as good a guess as any.
        let cost = |run: &Run| run.costs.get(&name.cloned()).copied().unwrap_or(run.sample / 2.0);
        runs.iter().map(|run| (run.size, cost(run))).collect()
    };
    let Some((least, most)) = ends(&points(None)) else { return Vec::new() };
    let grew = |name: &&String| {
        let own = points(Some(name));
        let (small, large) = ends(&own)?;
        let exponent = fit(&own)?.exponent.value;
        let grows = large >= most * WEIGHS && large - small >= (most - least) * OF_GROWTH && most > least;
        grows.then(|| (large - small, (*name).clone(), own, exponent))
    };
    let mut found: Vec<_> = names.iter().filter_map(grew).collect();
    let steepest = found.iter().map(|(.., exponent)| *exponent).fold(0.0, f64::max);
    found.retain(|(.., exponent)| *exponent >= steepest.min(1.0) * OF_STEEPEST);
    found.sort_by(|a, b| b.3.total_cmp(&a.3).then_with(|| a.1.cmp(&b.1)));
    found.truncate(TOLD);
    let mut told: Vec<_> = found.into_iter().map(|(_, name, own, _)| (name, own)).collect();
    let missing = |name: &&String| asked.contains(name.as_str()) && told.iter().all(|(had, _)| had != *name);
    let missing: Vec<_> = names.into_iter().filter(missing).cloned().collect();
    told.extend(missing.into_iter().map(|name| (name.clone(), points(Some(&name)))));
    told
}

/// Medians at the smallest and the largest size; `None` with too few sizes for a law.
fn ends(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let sizes = by_size(points);
    (sizes.len() >= SIZES).then(|| Some((sizes.first()?.1.value, sizes.last()?.1.value))).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A step with a cost that stays and one that grows; the caller of both grows, too, but less.
    fn run(size: f64) -> Run {
        let (stays, grows) = (5.0, 0.01 * size);
        let costs = [
            (None, stays + grows),
            (Some("txg_sync_thread"), stays + grows),
            (Some("spa_sync"), 0.8 * (stays + grows)),
            (Some("dsl_deadlist_merge"), grows),
            (Some("zio_write"), stays),
        ];
        let costs = costs.into_iter().map(|(name, cost)| (name.map(str::to_owned), cost)).collect();
        Run { size, costs, sample: 0.01 }
    }

    #[test]
    fn what_grows_is_named_and_not_its_callers() {
        let runs: Vec<Run> =
            [100.0, 200.0, 400.0, 800.0].into_iter().flat_map(|n| [run(n), run(n)]).collect();
        let found = curve(&runs, &BTreeSet::new());
        assert_eq!(found.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["dsl_deadlist_merge"]);
        let law = fit(&found[0].1).unwrap();
        assert!((law.exponent.value - 1.0).abs() < 1e-6, "{law:?}");
        let asked = curve(&runs, &["dsl_deadlist_merge", "zio_write", "nosuch"].into());
        let names: Vec<&str> = asked.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            ["dsl_deadlist_merge", "zio_write"],
            "what is expected to grow is told whether it does or not"
        );
    }

    #[test]
    fn what_stays_and_too_few_sizes_name_nothing() {
        let mut still: Vec<Run> = [100.0, 200.0, 400.0].map(run).into();
        for run in &mut still {
            run.costs = [(None, 5.0), (Some("zio_write".to_owned()), 3.0)].into();
        }
        assert!(curve(&still, &BTreeSet::new()).is_empty());
        assert!(curve(&[run(100.0), run(800.0)], &BTreeSet::new()).is_empty());
    }
}
