//! Whether the runs show the signature that the experiment expects.

use super::{growth_line, number, range};
use crate::result::{ExperimentResult, GrowthResult};
use crate::spec::{Check, Measure};
use crate::stats::{EXPONENT_MARGIN, Growth, Interval, Ratio, median_interval};
use serde::{Deserialize, Serialize};
use zwhy_zfs::parse_version;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckResult {
    /// What was expected.
    pub say: String,
    pub outcome: Outcome,
    /// What was found, with its interval.
    pub found: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Holds,
    Fails,
    /// The step has no such figure, its runs failed, or they are too few to tell one law from another.
    NotMeasured,
}

/// Judges every expectation of the experiment by its runs.
pub fn check(result: &ExperimentResult) -> Vec<CheckResult> {
    let modelled = result.runs.iter().any(|run| run.setup.device.is_some());
    let grows = !result.growth.is_empty();
    let release = parse_version(&result.library.version_number());
    let applies = |check: &&Check| {
        check.modelled.is_none_or(|only| only == modelled)
            && (grows || check.exponent.is_none())
            && check.is_of(release.as_ref())
    };
    result.expected.iter().filter(applies).map(|check| judge(check, result)).collect()
}

fn judge(check: &Check, result: &ExperimentResult) -> CheckResult {
    let decided = |(good, found)| (if good { Outcome::Holds } else { Outcome::Fails }, found);
    let judged = match (check.exponent, &check.to) {
        (Some(power), _) => exponent(check, power, result),
        (None, None) => figure(check, result).map(decided),
        (None, Some(to)) => ratio(check, to, result).map(decided),
    };
    let nothing = || format!("{} was not measured in these runs", check.measure.unit());
    let (outcome, found) = judged.unwrap_or_else(|| (Outcome::NotMeasured, nothing()));
    CheckResult { say: check.say.clone(), outcome, found }
}

/// The bounds of a check.
fn within(check: &Check, value: f64) -> bool {
    check.at_least.is_none_or(|least| value >= least) && check.at_most.is_none_or(|most| value <= most)
}

fn figure(check: &Check, result: &ExperimentResult) -> Option<(bool, String)> {
    let values = result.figures(&check.of, &check.step, &check.measure);
    let interval = median_interval(&values)?;
    if let Measure::Outcome(_) = &check.measure {
        let outcome = |run: &crate::RunResult| run.step(&check.step)?.outcome.clone();
        let ended = result.runs_of(&check.of).next().and_then(outcome);
        let proof = super::outcomes::proof(result, &check.of, &check.step);
        let found = [ended.unwrap_or_default(), proof].join(", ");
        return Some((
            within(check, interval.value),
            format!("{}: {}", check.of, found.trim_end_matches(", ")),
        ));
    }
    let found = format!("{}: {} {}", check.of, with_range(interval, values.len()), check.measure.unit());
    Some((within(check, interval.value), found))
}

/// A part that does not grow lowers the exponent of a cost, so the law that predicts the sizes best counts as well.
fn exponent(check: &Check, power: f64, result: &ExperimentResult) -> Option<(Outcome, String)> {
    let wanted = |g: &&GrowthResult| {
        g.of == check.of && g.function == check.function && g.step == check.step && g.measure == check.measure
    };
    let growth = result.growth.iter().find(wanted)?;
    let found = growth_line(growth).trim_end_matches('.').to_owned();
    let outcome = as_power(power, &growth.fit);
    let more = match outcome {
        Outcome::NotMeasured => ": too wide to tell; more sizes (--grow) or runs (--repeats) narrow it",
        _ => "",
    };
    Some((outcome, format!("{found}{more}")))
}

/// Whether a cost grows with this power of the size, or surely within the margin of it: neither the power above nor the one
/// below may be possible. What shrinks as sizes grow is no law, so nothing is below the constant one.
fn as_power(power: f64, fit: &Growth) -> Outcome {
    let Interval { low, high, .. } = fit.exponent;
    let is_near = low >= power - EXPONENT_MARGIN && high <= power + EXPONENT_MARGIN;
    let is_possible = is_near || (low <= power && power <= high);
    let is_alone = (power == 0.0 || low > power - 1.0) && high < power + 1.0;
    match (is_possible || fit.model.power() == Some(power), is_alone) {
        (true, true) => Outcome::Holds,
        _ if is_possible => Outcome::NotMeasured,
        _ => Outcome::Fails,
    }
}

/// A ratio holds when it is as large (or small) as expected, and with several runs when its interval lies on
/// that side of 1, too: what repeats by chance is no signature.
fn ratio(check: &Check, to: &str, result: &ExperimentResult) -> Option<(bool, String)> {
    let to_step = check.to_step.as_ref().unwrap_or(&check.step);
    let Ratio { times, runs, .. } = result.ratio((&check.of, &check.step), (to, to_step), &check.measure)?;
    let apart = |bound: Option<f64>, beyond: bool| match bound {
        Some(_) if runs > 1 => beyond,
        _ => true,
    };
    let above = apart(check.at_least.filter(|least| *least > 1.0), times.low > 1.0);
    let below = apart(check.at_most.filter(|most| *most < 1.0), times.high < 1.0);
    let found = format!(
        "{} {} {} times the {} of {}{}",
        named(&check.of, &check.step, to_step),
        check.measure.verb(),
        with_range(times, runs),
        check.measure.noun(),
        named(to, to_step, &check.step).trim_end_matches(','),
        if runs > 1 { format!(", {runs} pairs of runs") } else { ", one pair of runs".into() }
    );
    Some((within(check, times.value) && above && below, found))
}

/// The cell; with its step where two steps are compared.
fn named(cell: &str, step: &str, other: &str) -> String {
    if step == other { cell.to_owned() } else { format!("{cell}, {step},") }
}

fn with_range(interval: Interval, runs: usize) -> String {
    match runs {
        1 => number(interval.value),
        _ => format!("{} {}", number(interval.value), range(&interval)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Model;

    #[test]
    fn a_power_holds_where_its_neighbours_are_excluded() {
        let fit = |low: f64, high: f64| {
            let exponent = Interval { value: (low + high) / 2.0, low, high };
            Growth { model: Model::Logarithmic, fixed: 0.0, slope: 1.0, exponent, error: 0.0 }
        };
        for (power, low, high, outcome) in [
            (1.0, 0.9, 1.1, Outcome::Holds),
            (1.0, 0.3, 0.7, Outcome::Fails),
            (1.0, -0.5, 2.2, Outcome::NotMeasured),
            (1.0, -0.1, 1.1, Outcome::NotMeasured),
            (0.0, -0.3, 0.3, Outcome::Holds),
            (0.0, -1.2, 0.9, Outcome::Holds),
            (0.0, 0.03, 0.09, Outcome::Holds),
            (0.0, 0.03, 0.12, Outcome::Fails),
            (2.0, 1.91, 1.97, Outcome::Holds),
            (0.0, 0.1, 1.2, Outcome::Fails),
            (0.0, -4.4, 5.0, Outcome::NotMeasured),
        ] {
            assert_eq!(as_power(power, &fit(low, high)), outcome, "{power}: {low} to {high}");
        }
    }
}
