//! One sentence that answers the question of an experiment with its figures.

use super::table::law;
use crate::result::ExperimentResult;
use crate::spec::{Compare, Measure};
use crate::stats::{Interval, Ratio, median, paired_at, pairs};
use std::collections::{BTreeMap, BTreeSet};

/// The sentence, and whether the figures come in the expected order.
///
/// The order counts only where the runs show it: with several repetitions the interval of each neighbour's
/// ratio must lie above 1. A single run of each cell can only be compared as it is. Where sizes were compared
/// and no order is expected, the laws of growth answer.
pub fn answer(compare: &Compare, result: &ExperimentResult) -> (String, Option<bool>) {
    if compare.largest_first.len() < 2 && !result.growth.is_empty() {
        return (growth(compare, result), None);
    }
    if matches!(compare.measure, Measure::Outcome(_)) {
        return (super::outcomes::sentence(result, &compare.step), None);
    }
    let cells: Vec<Cell> = ordered_labels(compare, result)
        .into_iter()
        .filter_map(|label| Cell::of(compare, result, label))
        .collect();
    let Some((first, rest)) = cells.split_first() else {
        return ("No figures were measured.".into(), None);
    };
    let verb = compare.measure.verb();
    let mut text = format!(
        "{} {verb} {} {} in {}",
        first.label,
        number(first.median),
        compare.measure.unit(),
        compare.step
    );
    let others: Vec<String> = rest.iter().map(|cell| told(first, cell, compare)).collect();
    if !others.is_empty() {
        text += &format!(": {}", others.join(", "));
    }
    text.push('.');
    text += &above(compare, &cells);
    text += &super::limit::limit(compare, result);
    let expected = &compare.largest_first;
    if expected.len() < 2 {
        return (text, None);
    }
    let complete = cells.len() >= expected.len();
    let above = |w: &[Cell]| {
        w[0].ratio_to(&w[1]).is_some_and(|r| r.times.value > 1.0 && (r.runs == 1 || r.times.low > 1.0))
    };
    let in_order = complete && cells[..expected.len()].windows(2).all(above);
    if !in_order {
        let expected = expected.join(" > ");
        text += &format!(" This is not the expected order ({expected}), or the runs do not separate it.");
    }
    (text, Some(in_order))
}

/// `CPU ms per operation in destroy, by n: newest-first grows as n (exponent 0.9 [0.8, 1.0]), …`
fn growth(compare: &Compare, result: &ExperimentResult) -> String {
    let factors: BTreeSet<&str> = result.growth.iter().map(|g| g.factor.as_str()).collect();
    let of_factor = |factor: &str| {
        let curves = result.growth.iter().filter(|g| g.factor == factor && g.function.is_none());
        let told: Vec<String> =
            curves.map(|g| format!("{} {}", g.of, law(&g.fit)).trim().to_owned()).collect();
        format!("{} in {}, by {factor}: {}.", compare.measure.unit(), compare.step, told.join(", "))
    };
    let both: Vec<String> = result.surfaces.iter().map(|one| super::surface_law(one) + ".").collect();
    if !both.is_empty() {
        return both.join(" ");
    }
    factors.into_iter().map(of_factor).collect::<Vec<_>>().join(" ")
}

/// A cell with what each of its repetitions measured.
struct Cell {
    label: String,
    values: BTreeMap<u32, f64>,
    median: f64,
    /// Probability that the interval of a ratio misses.
    outside: f64,
}

impl Cell {
    fn of(compare: &Compare, result: &ExperimentResult, label: &str) -> Option<Cell> {
        let values = result.values(label, &compare.step, &compare.measure);
        Cell { label: label.to_owned(), values, median: 0.0, outside: result.outside() }.with_median()
    }

    /// `None` without runs.
    fn with_median(self) -> Option<Cell> {
        let median = median(&self.values.values().copied().collect::<Vec<f64>>())?;
        Some(Cell { median, ..self })
    }

    /// What it takes more than `base`; `None` where the median is no more.
    fn less(&self, base: &Cell) -> Option<Cell> {
        let more =
            |(repetition, value): (&u32, &f64)| Some((*repetition, value - base.values.get(repetition)?));
        let values = self.values.iter().filter_map(more).collect();
        let less = Cell { label: self.label.clone(), values, ..*self }.with_median()?;
        (less.median > 0.0).then_some(less)
    }

    /// Repetition by repetition, as they were made one beside the other.
    fn ratio_to(&self, other: &Cell) -> Option<Ratio> {
        paired_at(&pairs(&self.values, &other.values), self.outside)
    }
}

/// `3.10 times the CPU of gcm [2.80, 3.40]`
fn told(first: &Cell, cell: &Cell, compare: &Compare) -> String {
    let noun = compare.measure.noun();
    match first.ratio_to(cell) {
        Some(Ratio { times, runs, .. }) if runs > 1 => {
            let (value, label, range) = (number(times.value), &cell.label, range(&times));
            if times.low <= 1.0 && times.high >= 1.0 {
                return format!("no difference shown to {label} ({value} times the {noun} {range})");
            }
            format!("{value} times the {noun} of {label} {range}")
        }
        _ => format!(
            "{} times the {noun} of {} ({})",
            number(first.median / cell.median),
            cell.label,
            number(cell.median)
        ),
    }
}

/// ` On top of off: ccm 3.00, 3.40 times as much as gcm (0.88) [3.10, 3.70].` Of repetitions that were made one beside
/// the other; empty where there is nothing on top.
fn above(compare: &Compare, cells: &[Cell]) -> String {
    let Some(base) = cells.iter().find(|cell| Some(&cell.label) == compare.above.as_ref()) else {
        return String::new();
    };
    let top: Vec<Cell> = cells.iter().filter_map(|cell| cell.less(base)).collect();
    let Some((first, rest)) = top.split_first() else { return String::new() };
    let mut text = format!(" On top of {}: {} {}", base.label, first.label, number(first.median));
    for cell in rest {
        if let Some(Ratio { times, runs, .. }) = first.ratio_to(cell) {
            let (value, of) = (number(times.value), number(cell.median));
            text += &format!(", {value} times as much as {} ({of})", cell.label);
            if runs > 1 {
                text += &format!(" {}", range(&times));
            }
        }
    }
    text + "."
}

/// The expected labels first, then all others as they come.
pub(super) fn ordered_labels<'a>(compare: &'a Compare, result: &'a ExperimentResult) -> Vec<&'a str> {
    let expected = compare.largest_first.iter().map(String::as_str);
    let others = result.labels().filter(|label| !compare.largest_first.iter().any(|e| e == label));
    expected.chain(others).collect()
}

/// `[2.80, 3.40]`
pub fn range(interval: &Interval) -> String {
    format!("[{}, {}]", number(interval.low), number(interval.high))
}

/// Three significant digits are all that such a measurement carries.
pub fn number(value: f64) -> String {
    match value.abs() {
        v if v >= 1e9 => format!("{value:.1e}"),
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        v if v >= 0.0995 || v == 0.0 => format!("{value:.2}"),
        v if v >= 0.000_995 => format!("{value:.4}"),
        _ => format!("{value:.1e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(label: &str, values: &[f64]) -> Cell {
        let median = crate::stats::median(values).unwrap();
        let values = (1..).zip(values.iter().copied()).collect();
        Cell { label: label.into(), values, median, outside: crate::stats::OUTSIDE }
    }

    fn compare(above: Option<&str>) -> Compare {
        Compare {
            step: "read".into(),
            measure: crate::spec::Measure::CpuSPerGb,
            largest_first: Vec::new(),
            above: above.map(Into::into),
            raw: None,
            stage: None,
        }
    }

    #[test]
    fn what_comes_on_top_is_told_without_what_all_cells_do() {
        let cells = [cell("ccm", &[4.0]), cell("gcm", &[2.0]), cell("off", &[1.0])];
        let text = above(&compare(Some("off")), &cells);
        assert_eq!(text, " On top of off: ccm 3.00, 3.00 times as much as gcm (1.00).");
        assert_eq!(above(&compare(None), &cells), "");
    }

    #[test]
    fn a_slow_repetition_does_not_widen_the_interval_of_what_comes_on_top() {
        let (ccm, gcm) = (cell("ccm", &[4.0, 8.0, 4.1]), cell("gcm", &[2.0, 4.0, 2.02]));
        let text = above(&compare(Some("off")), &[ccm, gcm, cell("off", &[1.0, 2.0, 1.01])]);
        assert!(text.starts_with(" On top of off: ccm 3.09, 3.02 times as much as gcm (1.01) [2."), "{text}");
        // No more than the base is nothing on top.
        let cells = [cell("ccm", &[4.0]), cell("gcm", &[0.9]), cell("off", &[1.0])];
        assert_eq!(above(&compare(Some("off")), &cells), " On top of off: ccm 3.00.");
    }
}
