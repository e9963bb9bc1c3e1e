//! Numbers for people.

use crate::escape::plain;
use zwhy_diagnose::Source;
use zwhy_evidence::Itself;
use zwhy_profile::Unit;
pub use zwhy_profile::grouped;

/// `63.0 %`
pub fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// What was sampled: `1,234 samples`, `14.7 s in 1,472 samples`.
pub fn sampled(source: &Source) -> String {
    let unit = Unit::from_name(&source.unit);
    let amount = unit.words(source.amount);
    match (unit, source.samples) {
        (Unit::Samples, _) => amount,
        (_, Some(samples)) => format!("{amount} in {} samples", grouped(samples)),
        (_, None) => format!("{amount} in an unknown number of samples"),
    }
}

/// `zwhy itself: 0.52 CPU s (0.9 % of one CPU), 51 samples, counted nowhere else`; without samples only its time.
pub fn itself_text(itself: &Itself) -> String {
    let time = match (itself.cpu_s, itself.of_one_cpu) {
        (Some(s), Some(share)) => Some(format!("{s:.2} CPU s ({:.1} % of one CPU)", share * 100.0)),
        (Some(s), None) => Some(format!("{s:.2} CPU s")),
        _ => None,
    };
    let samples = match itself.samples {
        0 if time.is_some() => None,
        0 => Some("no samples".to_owned()),
        1 => Some("1 sample, counted nowhere else".to_owned()),
        n => Some(format!("{} samples, counted nowhere else", grouped(n))),
    };
    let told: Vec<String> = time.into_iter().chain(samples).collect();
    format!("{} itself: {}", plain(&itself.program), told.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recorder_is_told_with_what_is_known() {
        let itself =
            Itself { program: "zwhy".into(), cpu_s: Some(0.521), of_one_cpu: Some(0.0087), samples: 51 };
        assert_eq!(
            itself_text(&itself),
            "zwhy itself: 0.52 CPU s (0.9 % of one CPU), 51 samples, counted nowhere else"
        );
        let perf = Itself { program: "perf\x1b[31m".into(), samples: 1, ..Itself::default() };
        assert_eq!(itself_text(&perf), "perf\\u{1b}[31m itself: 1 sample, counted nowhere else");
        let quiet = Itself { samples: 0, ..itself };
        assert_eq!(itself_text(&quiet), "zwhy itself: 0.52 CPU s (0.9 % of one CPU)");
        assert_eq!(itself_text(&Itself { cpu_s: None, ..quiet }), "zwhy itself: no samples");
    }

    #[test]
    fn times_are_told_with_their_samples() {
        let of = |unit: &str, amount, samples| {
            sampled(&Source { unit: unit.to_owned(), amount, samples, ..Source::default() })
        };
        assert_eq!(of("samples", 1234, Some(1234)), "1,234 samples");
        assert_eq!(of("nanoseconds", 14_723_000_000, Some(1472)), "14.7 s in 1,472 samples");
        assert_eq!(of("nanoseconds", 14_723_000_000, None), "14.7 s in an unknown number of samples");
    }
}
