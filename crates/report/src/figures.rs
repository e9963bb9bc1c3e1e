//! Numbers for people.

use zwhy_diagnose::Source;
use zwhy_profile::Unit;
pub use zwhy_profile::grouped;

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

#[cfg(test)]
mod tests {
    use super::*;

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
