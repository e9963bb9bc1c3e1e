//! How many times as much one cell takes as another, with an interval.

use super::bootstrap::Interval;
use super::{mean, student, variance};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Probability of calling two equal cells different: runs are compared often, so it is small.
const FALSE_ALARM: f64 = 0.01;
/// Outside the 95 % interval.
pub const OUTSIDE: f64 = 0.05;

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// The ratio with its 95 % interval; where runs were looked at several times, of all looks together.
    pub times: Interval,
    /// Runs of the cell that has fewer.
    pub runs: usize,
    /// The runs tell the cells apart, with one false alarm in a hundred comparisons; of two whole results, in a hundred
    /// pairs of results.
    pub is_shown: bool,
}

/// Of runs that were made one beside the other: what slows a host for a while slows both.
/// `None` without a pair; with one pair the interval has no end.
pub fn paired(pairs: &[(f64, f64)]) -> Option<Ratio> {
    paired_at(pairs, OUTSIDE)
}

/// The same with an interval that misses with another probability: of several looks at growing runs.
pub fn paired_at(pairs: &[(f64, f64)], outside: f64) -> Option<Ratio> {
    let logs: Vec<f64> =
        pairs.iter().filter(|(a, b)| *a > 0.0 && *b > 0.0).map(|(a, b)| (a / b).ln()).collect();
    let error = (logs.len() > 1).then(|| (variance(&logs) / logs.len() as f64).sqrt());
    ratio(mean_of(&logs)?, error, logs.len() as f64 - 1.0, logs.len(), outside, FALSE_ALARM)
}

/// Of runs of two experiments (Welch's interval), one of so many `comparisons` of the two.
pub fn unpaired(of: &[f64], to: &[f64], comparisons: usize) -> Option<Ratio> {
    let alarm = FALSE_ALARM / comparisons.max(1) as f64;
    let logs = |values: &[f64]| values.iter().filter(|v| **v > 0.0).map(|v| v.ln()).collect::<Vec<f64>>();
    let (of, to) = (logs(of), logs(to));
    let difference = mean_of(&of)? - mean_of(&to)?;
    let runs = of.len().min(to.len());
    if runs < 2 {
        return ratio(difference, None, 0.0, runs, OUTSIDE, alarm);
    }
    let part = |logs: &[f64]| variance(logs) / logs.len() as f64;
    let (a, b) = (part(&of), part(&to));
    let below = a * a / (of.len() as f64 - 1.0) + b * b / (to.len() as f64 - 1.0);
    let freedom = if below > 0.0 { (a + b).powi(2) / below } else { (of.len() + to.len()) as f64 - 2.0 };
    ratio(difference, Some((a + b).sqrt()), freedom, runs, OUTSIDE, alarm)
}

/// Figures of two cells by repetition, as they were made one beside the other.
pub fn pairs(of: &BTreeMap<u32, f64>, to: &BTreeMap<u32, f64>) -> Vec<(f64, f64)> {
    of.iter().filter_map(|(repetition, value)| Some((*value, *to.get(repetition)?))).collect()
}

fn mean_of(logs: &[f64]) -> Option<f64> {
    (!logs.is_empty()).then(|| mean(logs))
}

fn ratio(log: f64, error: Option<f64>, freedom: f64, runs: usize, outside: f64, alarm: f64) -> Option<Ratio> {
    let around =
        |outside: f64| error.map_or(f64::MAX.ln(), |error| error * student::quantile(outside, freedom));
    let reach = around(outside);
    let times = Interval { value: log.exp(), low: (log - reach).exp(), high: (log + reach).exp() };
    Some(Ratio { times, runs, is_shown: log.abs() > around(alarm.min(outside)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::SplitMix;
    use crate::stats::simulate::noisy;

    #[test]
    fn pairs_take_out_what_slows_both() {
        let slow = [1.0, 3.0, 0.5, 2.0, 1.5];
        let pairs: Vec<(f64, f64)> =
            slow.iter().zip([3.1, 2.9, 3.0, 3.05, 2.95]).map(|(s, r)| (s * r, *s)).collect();
        let ratio = paired(&pairs).unwrap();
        assert!(ratio.is_shown && ratio.times.low > 2.8 && ratio.times.high < 3.2, "{ratio:?}");
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        assert!(!unpaired(&a, &b, 1).unwrap().is_shown, "five runs that differ six times show nothing");
    }

    #[test]
    fn a_single_run_shows_nothing() {
        let ratio = paired(&[(5.0, 1.0)]).unwrap();
        assert!(!ratio.is_shown && ratio.times.low < 1e-3 && (ratio.times.value - 5.0).abs() < 1e-9);
        assert!(!unpaired(&[5.0], &[1.0, 1.0], 1).unwrap().is_shown);
        assert_eq!(paired(&[]), None);
    }

    #[test]
    fn equal_cells_are_rarely_called_different_and_the_interval_holds() {
        let mut random = SplitMix(7);
        let (mut false_alarms, mut held) = (0, 0);
        for _ in 0..1000 {
            let mut five = |centre| (0..5).map(|_| noisy(&mut random, centre, 0.2)).collect::<Vec<f64>>();
            let (of, to) = (five(1.0), five(1.0));
            false_alarms += usize::from(unpaired(&of, &to, 1).unwrap().is_shown);
            let pairs: Vec<(f64, f64)> = of.into_iter().zip(to).collect();
            let ratio = paired(&pairs).unwrap();
            false_alarms += usize::from(ratio.is_shown);
            held += usize::from(ratio.times.low <= 1.0 && ratio.times.high >= 1.0);
        }
        assert!(false_alarms <= 50, "{false_alarms} of 2000");
        assert!((930..=970).contains(&held), "{held} of 1000 intervals held");
    }

    #[test]
    fn results_of_many_cells_are_rarely_called_different() {
        let mut random = SplitMix(11);
        let cells = 8;
        let differ = (0..1000).filter(|_| {
            let mut five = || (0..5).map(|_| noisy(&mut random, 1.0, 0.1)).collect::<Vec<f64>>();
            (0..cells).any(|_| unpaired(&five(), &five(), cells).unwrap().is_shown)
        });
        let differ = differ.count();
        assert!(differ <= 30, "{differ} of 1000");
    }
}
