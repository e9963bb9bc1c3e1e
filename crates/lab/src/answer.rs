//! One sentence that answers the question of an experiment with its figures.

use crate::experiment::{Compare, Measure};
use crate::result::{Spread, Summary};

/// The sentence, and whether the figures come in the expected order.
///
/// The order counts only where it is beyond the range of the repetitions: neighbours whose ranges
/// overlap (or touch) are not told apart, so the order is not as expected.
pub fn answer(compare: &Compare, summary: &[Summary]) -> (String, Option<bool>) {
    let figures: Vec<(&str, Spread)> = ordered_labels(compare, summary)
        .into_iter()
        .filter_map(|label| Some((label, figure(compare, summary, label)?)))
        .collect();
    let Some(((first, top), rest)) = figures.split_first() else {
        return ("No figures were measured.".into(), None);
    };
    let doing = compare.phase.name();
    let (unit, higher) = match compare.measure {
        Measure::CpuSPerGb => ("CPU seconds per GB", "the CPU of"),
        Measure::MbPerS => ("MB/s", "the speed of"),
    };
    let mut text = format!("{first} takes {} {unit} to {doing}", number(top.median));
    if compare.measure == Measure::MbPerS {
        text = format!("{first} reaches {} {unit} in {doing}", number(top.median));
    }
    let others: Vec<String> = rest
        .iter()
        .map(|(label, s)| {
            let ratio = top.median / s.median;
            format!("{} times {higher} {label} ({})", number(ratio), number(s.median))
        })
        .collect();
    if !others.is_empty() {
        text += &format!(": {}", others.join(", "));
    }
    text.push('.');
    let expected = &compare.largest_first;
    if expected.len() < 2 {
        return (text, None);
    }
    let complete = figures.len() >= expected.len();
    let in_order = complete && figures[..expected.len()].windows(2).all(|w| w[0].1.least > w[1].1.most);
    if !in_order {
        text += &format!(
            " This is not the expected order ({}), or the runs do not separate it.",
            expected.join(" > ")
        );
    }
    (text, Some(in_order))
}

/// The expected labels first, then all others as they come.
fn ordered_labels<'a>(compare: &'a Compare, summary: &'a [Summary]) -> Vec<&'a str> {
    let expected = compare.largest_first.iter().map(String::as_str);
    let others = summary.iter().map(|s| s.variant.as_str());
    let others = others.filter(|label| !compare.largest_first.iter().any(|e| e == label));
    expected.chain(others).collect()
}

fn figure(compare: &Compare, summary: &[Summary], label: &str) -> Option<Spread> {
    let variant = summary.iter().find(|s| s.variant == label)?;
    variant.phases.iter().find(|p| p.phase == compare.phase)?.measure(compare.measure)
}

/// Three significant digits are all that such a measurement carries.
pub fn number(value: f64) -> String {
    match value.abs() {
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PhaseKind;
    use crate::result::SummaryPhase;

    fn variant(label: &str, values: &[f64]) -> Summary {
        let phase = SummaryPhase {
            phase: PhaseKind::Read,
            mb_per_s: None,
            cpu_s_per_gb: Spread::of(values.iter().copied()),
            threads: Vec::new(),
        };
        Summary { variant: label.into(), phases: vec![phase] }
    }

    fn compare() -> Compare {
        let largest_first = ["ccm", "gcm", "off"].map(String::from).to_vec();
        Compare { phase: PhaseKind::Read, measure: Measure::CpuSPerGb, largest_first }
    }

    #[test]
    fn ratios_are_told_in_the_expected_order() {
        let summary = [variant("off", &[0.25]), variant("ccm", &[2.5]), variant("gcm", &[0.5])];
        let (text, as_expected) = answer(&compare(), &summary);
        assert_eq!(
            text,
            "ccm takes 2.50 CPU seconds per GB to read: 5.00 times the CPU of gcm (0.50), \
             10.0 times the CPU of off (0.25)."
        );
        assert_eq!(as_expected, Some(true));
    }

    #[test]
    fn overlapping_ranges_are_not_an_order() {
        let summary = [variant("ccm", &[2.0]), variant("gcm", &[0.3, 0.5]), variant("off", &[0.2, 0.31])];
        let (text, as_expected) = answer(&compare(), &summary);
        assert_eq!(as_expected, Some(false));
        assert!(text.contains("not the expected order"), "{text}");
    }

    #[test]
    fn nothing_measured_says_so() {
        assert_eq!(answer(&compare(), &[]).1, None);
        assert_eq!(answer(&compare(), &[variant("ccm", &[2.0])]).1, Some(false));
    }
}
