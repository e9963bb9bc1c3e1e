//! Whether the first run of each cell differs from its later ones: caches of the host that fill, a CPU that clocks up.

use crate::plan::SplitMix;
use std::collections::BTreeMap;

/// Repetitions below which a first one is nothing special.
const FEW: usize = 3;
/// Runs below which nothing can be told.
const FEW_RUNS: usize = 8;

/// `cells`: the figures of each cell in the order they were made. Returns how much the first took, as a factor of the
/// later ones, when that is no accident.
///
/// In the test any run of a cell may be its first, chosen in each cell by itself.
pub fn warms_up<'a>(cells: impl IntoIterator<Item = &'a [f64]>) -> Option<f64> {
    let logs = |cell: &[f64]| cell.iter().filter(|v| **v > 0.0).map(|v| v.ln()).collect::<Vec<f64>>();
    let cells: Vec<Vec<f64>> = cells.into_iter().map(logs).filter(|cell| cell.len() >= FEW).collect();
    if cells.iter().map(Vec::len).sum::<usize>() < FEW_RUNS {
        return None;
    }
    let sums: Vec<f64> = cells.iter().map(|cell| cell.iter().sum()).collect();
    // Mean over the cells of one run less the mean of the cell's others.
    let apart = |first: &mut dyn FnMut(&[f64]) -> f64| {
        let of_cell = |(cell, sum): (&Vec<f64>, &f64)| {
            let one = first(cell);
            one - (sum - one) / (cell.len() as f64 - 1.0)
        };
        cells.iter().zip(&sums).map(of_cell).sum::<f64>() / cells.len() as f64
    };
    let seen = apart(&mut |cell| cell[0]);
    let mut random = SplitMix(cells.len() as u64);
    super::no_accident(seen, seen.abs() * (1.0 - 1e-9), || {
        apart(&mut |cell| cell[(random.next() % cell.len() as u64) as usize])
    })
}

/// Figures of runs by cell, in the order they were made.
pub fn by_cell(runs: &[(usize, f64)]) -> Vec<Vec<f64>> {
    let mut cells: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for (cell, figure) in runs {
        cells.entry(*cell).or_default().push(*figure);
    }
    cells.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::simulate::noisy;

    fn cells(random: &mut SplitMix, first: f64) -> Vec<Vec<f64>> {
        let runs: Vec<(usize, f64)> = (0..24)
            .map(|i| (i % 4, noisy(random, if i < 4 { first } else { 1.0 } * (1 + i % 4) as f64, 0.05)))
            .collect();
        by_cell(&runs)
    }

    #[test]
    fn first_runs_that_are_slower_are_told_and_equal_ones_are_not() {
        let mut random = SplitMix(9);
        let factor = warms_up(cells(&mut random, 1.5).iter().map(Vec::as_slice)).unwrap();
        assert!((1.35..1.65).contains(&factor), "{factor}");
        let accused = (0..200)
            .filter(|_| warms_up(cells(&mut random, 1.0).iter().map(Vec::as_slice)).is_some())
            .count();
        assert!(accused <= 7, "{accused} of 200");
        assert_eq!(warms_up([&[9.0, 1.0][..], &[9.0, 1.0]]), None);
    }
}
