//! The median and how far it can be trusted, by drawing the runs again.

use crate::plan::SplitMix;
use serde::{Deserialize, Serialize};

/// A figure with the range that holds it with 95 % confidence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

/// Draws of the bootstrap; more change the third digit of an interval only.
const DRAWS: usize = 2000;
/// Below this many runs an interval is no more than their range.
const FEW: usize = 4;

pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// Percentile bootstrap of the median (Efron 1979); of fewer than four values their range. The draws are the
/// same for the same number of values.
pub fn median_interval(values: &[f64]) -> Option<Interval> {
    let value = median(values)?;
    let (low, high) = match values.len() < FEW {
        true => values.iter().fold((value, value), |(low, high), v| (low.min(*v), high.max(*v))),
        false => drawn(values),
    };
    Some(Interval { value, low, high })
}

fn drawn(values: &[f64]) -> (f64, f64) {
    let mut random = SplitMix(values.len() as u64);
    let mut draw = vec![0.0; values.len()];
    let mut medians: Vec<f64> = (0..DRAWS)
        .map(|_| {
            draw.fill_with(|| values[(random.next() % values.len() as u64) as usize]);
            median(&draw).unwrap_or_default()
        })
        .collect();
    medians.sort_by(f64::total_cmp);
    (medians[DRAWS * 25 / 1000], medians[DRAWS * 975 / 1000 - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_few_comes_with_their_range() {
        let interval = median_interval(&[3.0, 1.0, 2.0]).unwrap();
        assert_eq!(interval, Interval { value: 2.0, low: 1.0, high: 3.0 });
        assert_eq!(median(&[4.0, 1.0]), Some(2.5));
        assert_eq!(median_interval(&[]), None);
    }

    #[test]
    fn one_wild_run_does_not_move_the_interval_much() {
        let interval = median_interval(&[1.0, 1.1, 0.9, 1.05, 0.95, 1.0, 50.0]).unwrap();
        assert!(interval.value == 1.0 && interval.low >= 0.9 && interval.high <= 50.0, "{interval:?}");
        assert!(interval.low < 1.0 && interval.low < interval.high);
    }
}
