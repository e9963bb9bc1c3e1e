//! Statistics of few runs: medians with bootstrap intervals, ratios of pairs, noise, drift, growth.
//!
//! Costs are compared as ratios, so everything is computed on logarithms where the figures are positive.

mod bootstrap;
mod drift;
mod growth;
mod ratio;
mod student;
mod surface;
mod warmup;

pub use bootstrap::{Interval, median, median_interval};
pub use drift::drifts;
pub use growth::{EXPONENT_MARGIN, Growth, Model, fit};
pub use ratio::{OUTSIDE, Ratio, paired, paired_at, pairs, unpaired};
pub use surface::{Law, Surface, fit_surface};
pub use warmup::{by_cell, warms_up};

/// Geometric standard deviation of repetitions as a factor: 1.05 is about 5 % noise. `None` below two.
pub fn noise(values: &[f64]) -> Option<f64> {
    let logs: Vec<f64> = values.iter().filter(|v| **v > 0.0).map(|v| v.ln()).collect();
    (logs.len() >= 2).then(|| variance(&logs).sqrt().exp())
}

/// How much something differs, as a factor, from the logarithm that was seen: when that is no accident, as of so many draws of
/// chance hardly any differs as much.
fn no_accident(seen: f64, least: f64, mut draw: impl FnMut() -> f64) -> Option<f64> {
    /// Draws of the test.
    const DRAWS: usize = 2000;
    /// Part of them that may differ as much.
    const CHANCE: f64 = 0.01;
    let as_much = (0..DRAWS).filter(|_| draw().abs() >= least).count();
    (as_much as f64 <= CHANCE * DRAWS as f64).then(|| seen.exp())
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Of a sample: divided by one less than its size.
pub(crate) fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (values.len() as f64 - 1.0)
}

#[cfg(test)]
pub(crate) mod simulate {
    use crate::plan::SplitMix;

    /// A figure around `centre` whose logarithm is spread normally by `sigma`.
    pub fn noisy(random: &mut SplitMix, centre: f64, sigma: f64) -> f64 {
        let uniform = |random: &mut SplitMix| (random.next() >> 11) as f64 / (1_u64 << 53) as f64;
        let (a, b) = (uniform(random).max(1e-300), uniform(random));
        // Box and Muller.
        centre * (sigma * (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()).exp()
    }
}
