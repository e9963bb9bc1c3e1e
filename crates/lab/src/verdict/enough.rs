//! Whether the repetitions so far are enough, by the experiment's own rule.

use crate::result::ExperimentResult;
use crate::spec::{Compare, Stop};
use crate::stats::{Interval, paired_at, pairs};

/// The ratios that the answer tells are those of the first cell to each other, and of neighbours in the expected order.
/// A cell of which no run ended cannot be known, and is not waited for.
pub fn enough(compare: &Compare, stop: &Stop, result: &ExperimentResult) -> bool {
    let labels = super::answer::ordered_labels(compare, result);
    let values = |label: &str| result.values(label, &compare.step, &compare.measure);
    let measured: Vec<&str> = labels.into_iter().filter(|label| !values(label).is_empty()).collect();
    let Some((first, others)) = measured.split_first() else { return false };
    let expected = measured.iter().filter(|label| compare.largest_first.iter().any(|e| e == *label));
    let expected: Vec<&str> = expected.copied().collect();
    let neighbours = expected.windows(2).map(|pair| (pair[0], pair[1]));
    let mut ratios = others.iter().map(|other| (*first, *other)).chain(neighbours);
    !others.is_empty() && ratios.all(|(of, to)| is_known(&pairs(&values(of), &values(to)), stop))
}

fn is_known(pairs: &[(f64, f64)], stop: &Stop) -> bool {
    let Some(ratio) = paired_at(pairs, stop.outside()).filter(|ratio| ratio.runs >= stop.least as usize)
    else {
        return false;
    };
    let Interval { value, low, high } = ratio.times;
    let settled = stop.settled && (low > 1.0 || high < 1.0);
    settled || (high / value <= 1.0 + stop.within && value / low <= 1.0 + stop.within)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::SplitMix;
    use crate::stats::simulate::noisy;

    /// Repetitions that were made, and the interval at the end.
    fn played(random: &mut SplitMix, stop: &Stop, ratio: f64, noise: f64) -> (usize, Interval) {
        let pairs: Vec<(f64, f64)> =
            (0..stop.most).map(|_| (noisy(random, ratio, noise), noisy(random, 1.0, noise))).collect();
        let looks = stop.looks();
        let made = looks.iter().find(|look| is_known(&pairs[..**look as usize], stop));
        let made = *made.unwrap_or(&stop.most) as usize;
        (made, paired_at(&pairs[..made], stop.outside()).unwrap().times)
    }

    #[test]
    fn equal_cells_are_rarely_called_different_however_often_one_looks() {
        let stop = Stop::within(0.1);
        for noise in [0.05, 0.3] {
            let mut random = SplitMix(23);
            let ends: Vec<(usize, Interval)> =
                (0..1000).map(|_| played(&mut random, &stop, 1.0, noise)).collect();
            let wrong = ends.iter().filter(|(_, times)| times.low > 1.0 || times.high < 1.0).count();
            assert!(wrong <= 50, "noise {noise}: {wrong} of 1000");
            let unknown = ends.iter().filter(|(made, times)| {
                let Interval { value, low, high } = *times;
                let apart = low > 1.0 || high < 1.0;
                *made < stop.most as usize && !apart && (high > 1.1 * value || value > 1.1 * low)
            });
            assert_eq!(unknown.count(), 0, "it stopped without knowing");
        }
    }

    /// What each look as if it were the only one would come to.
    #[test]
    fn looking_with_intervals_of_one_look_would_find_too_many_differences() {
        let stop = Stop::within(0.1);
        let mut random = SplitMix(23);
        let wrong = (0..1000)
            .filter(|_| {
                let pairs: Vec<(f64, f64)> =
                    (0..20).map(|_| (noisy(&mut random, 1.0, 0.3), noisy(&mut random, 1.0, 0.3))).collect();
                stop.looks().iter().any(|look| {
                    let Interval { low, high, .. } = paired_at(&pairs[..*look as usize], 0.05).unwrap().times;
                    low > 1.0 || high < 1.0
                })
            })
            .count();
        assert!(wrong > 80, "{wrong} of 1000");
    }

    #[test]
    fn what_is_clear_ends_early_and_what_is_not_goes_on() {
        let stop = Stop::within(0.1);
        let mut random = SplitMix(5);
        let mut mean = |ratio, noise| {
            (0..200).map(|_| played(&mut random, &stop, ratio, noise).0).sum::<usize>() as f64 / 200.0
        };
        let (clear, quiet, noisy) = (mean(3.0, 0.1), mean(1.0, 0.02), mean(1.0, 0.3));
        assert!(clear < 5.5 && quiet < 6.0 && noisy > 18.0, "{clear} {quiet} {noisy}");
        let never = Stop { settled: false, ..stop };
        let wide: Vec<(f64, f64)> = [2.0, 4.0, 2.5, 3.5, 3.0].map(|ratio| (ratio, 1.0)).into();
        assert!(!is_known(&wide, &never), "{:?}", paired_at(&wide, never.outside()));
    }
}
