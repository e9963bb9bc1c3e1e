//! Whether a machine changed while an experiment ran: heat, a neighbour, a disk that fills.

use crate::plan::SplitMix;

/// Below this many runs nothing can be told.
const FEW: usize = 8;

/// `runs` are the cell of each run and its figure, in the order they were made. Returns how much the later
/// half took, as a factor of the earlier half, when that is no accident.
///
/// Each figure is first divided by the mean of its cell, so that the cells themselves do not count.
pub fn drifts(runs: &[(usize, f64)]) -> Option<f64> {
    let residuals = residuals(runs);
    if residuals.len() < FEW {
        return None;
    }
    let seen = change(&residuals);
    let mut shuffled = residuals.clone();
    let mut random = SplitMix(residuals.len() as u64);
    super::no_accident(seen, seen.abs(), || {
        random.shuffle(&mut shuffled);
        change(&shuffled)
    })
}

/// Logarithms of each figure over its cell's mean; cells with one run tell nothing.
fn residuals(runs: &[(usize, f64)]) -> Vec<f64> {
    let of_cell = |cell: usize| runs.iter().filter(move |(c, v)| *c == cell && *v > 0.0).map(|(_, v)| v.ln());
    runs.iter()
        .filter(|(cell, value)| *value > 0.0 && of_cell(*cell).count() > 1)
        .map(|(cell, value)| value.ln() - of_cell(*cell).sum::<f64>() / of_cell(*cell).count() as f64)
        .collect()
}

/// Mean of the later half less that of the earlier half.
fn change(residuals: &[f64]) -> f64 {
    let (early, late) = residuals.split_at(residuals.len() / 2);
    super::mean(late) - super::mean(early)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::simulate::noisy;

    #[test]
    fn a_machine_that_heats_up_is_found() {
        let mut random = SplitMix(3);
        let runs: Vec<(usize, f64)> = (0..20)
            .map(|i| (i % 2, noisy(&mut random, if i < 10 { 1.0 } else { 1.4 }, 0.03) * (1 + i % 2) as f64))
            .collect();
        let factor = drifts(&runs).unwrap();
        assert!((1.3..1.5).contains(&factor), "{factor}");
    }

    #[test]
    fn a_steady_machine_is_not_accused() {
        let mut random = SplitMix(5);
        let accused = (0..100)
            .filter(|_| {
                let runs: Vec<(usize, f64)> =
                    (0..15).map(|i| (i % 3, noisy(&mut random, (1 + i % 3) as f64, 0.2))).collect();
                drifts(&runs).is_some()
            })
            .count();
        assert!(accused <= 4, "{accused} of 100");
        assert_eq!(drifts(&[(0, 1.0), (0, 9.0)]), None);
    }
}
