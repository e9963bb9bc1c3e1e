//! What really changed between two profiles: shares with intervals, and a mark that controls the
//! rate of false discoveries.
//!
//! Profiles of different length are made comparable by dividing each count by all samples of its
//! own profile. Intervals of a difference are Newcombe's hybrid score intervals (Statistics in
//! Medicine 17, 1998, method 10), the test is the two-proportion z test, and the mark is
//! Benjamini and Hochberg's at 5 % over all rows (J. R. Stat. Soc. B 57, 1995).

use crate::measure::Sampling;
use crate::units::{Interval, Share};

/// Amounts of one thing (function, stage, thread) in both profiles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pair {
    pub name: String,
    pub a: u64,
    pub b: u64,
}

/// A [`Pair`] as shares of its profiles.
#[derive(Clone, Debug, PartialEq)]
pub struct Delta {
    pub name: String,
    pub a: u64,
    pub b: u64,
    pub share_a: Interval,
    pub share_b: Interval,
    /// Share of B minus share of A, with its 95 % interval; -1 to 1.
    pub change: f64,
    pub change_low: f64,
    pub change_high: f64,
    /// Probability of a difference at least this large if nothing changed.
    pub p_value: f64,
    /// At most 5 % of the rows marked so are expected to be chance.
    pub real: bool,
}

const FALSE_DISCOVERY_RATE: f64 = 0.05;

/// Compares rows of two profiles; largest change first.
pub fn compare(pairs: Vec<Pair>, a: &Sampling, b: &Sampling) -> Vec<Delta> {
    let mut deltas: Vec<Delta> = pairs.into_iter().map(|pair| delta(pair, a, b)).collect();
    mark_real(&mut deltas);
    deltas.sort_by(|x, y| y.change.abs().total_cmp(&x.change.abs()).then_with(|| x.name.cmp(&y.name)));
    deltas
}

fn delta(pair: Pair, a: &Sampling, b: &Sampling) -> Delta {
    let share_a = a.interval(pair.a, a.amount);
    let share_b = b.interval(pair.b, b.amount);
    let (pa, pb) = (share_a.value.0, share_b.value.0);
    let change = pb - pa;
    let reach = |b: Share, a: Share| ((pb - b.0).powi(2) + (pa - a.0).powi(2)).sqrt();
    Delta {
        change,
        change_low: change - reach(share_b.low, share_a.high),
        change_high: change + reach(share_b.high, share_a.low),
        p_value: p_value([pa, pb], [a.samples as f64, b.samples as f64]),
        real: false,
        share_a,
        share_b,
        name: pair.name,
        a: pair.a,
        b: pair.b,
    }
}

fn p_value([a, b]: [f64; 2], [na, nb]: [f64; 2]) -> f64 {
    if na <= 0.0 || nb <= 0.0 {
        return 1.0;
    }
    let pooled = (a * na + b * nb) / (na + nb);
    let variance = pooled * (1.0 - pooled) * (1.0 / na + 1.0 / nb);
    if variance <= 0.0 {
        return 1.0;
    }
    let z = (b - a) / variance.sqrt();
    libm::erfc(z.abs() / std::f64::consts::SQRT_2)
}

fn mark_real(deltas: &mut [Delta]) {
    let mut order: Vec<usize> = (0..deltas.len()).collect();
    order.sort_by(|x, y| deltas[*x].p_value.total_cmp(&deltas[*y].p_value));
    let m = order.len() as f64;
    let passes =
        |rank: usize, row: usize| deltas[row].p_value <= FALSE_DISCOVERY_RATE * (rank + 1) as f64 / m;
    let last = order.iter().enumerate().rev().find(|(rank, row)| passes(*rank, **row)).map(|(rank, _)| rank);
    for row in order.iter().take(last.map_or(0, |rank| rank + 1)) {
        deltas[*row].real = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(name: &str, a: u64, b: u64) -> Pair {
        Pair { name: name.to_owned(), a, b }
    }

    /// Newcombe 1998 (method 10), table II (a): 56/70 against 48/80.
    #[test]
    fn difference_interval_matches_published_figures() {
        let d = delta(pair("x", 48, 56), &Sampling::counted(80), &Sampling::counted(70));
        assert!((d.change - 0.2).abs() < 1e-9);
        assert!((d.change_low - 0.0524).abs() < 5e-5 && (d.change_high - 0.3339).abs() < 5e-5, "{d:?}");
    }

    #[test]
    fn only_what_stands_out_is_marked() {
        let rows = compare(
            vec![pair("fixed", 3756, 269), pair("noise", 500, 520), pair("same", 10, 10)],
            &Sampling::counted(59_838),
            &Sampling::counted(59_844),
        );
        let marks: Vec<_> = rows.iter().map(|d| (d.name.as_str(), d.real)).collect();
        assert_eq!(marks, [("fixed", true), ("noise", false), ("same", false)]);
    }

    #[test]
    fn an_empty_profile_proves_nothing() {
        let rows = compare(vec![pair("x", 5, 0)], &Sampling::counted(10), &Sampling::counted(0));
        assert!(!rows[0].real && rows[0].p_value == 1.0);
    }
}
