//! Quantiles of Student's distribution, for intervals of a mean of few values.

use std::f64::consts::PI;

/// The `t` that a value lies beyond, on either side, with probability `beyond` (0.05 for 95 %), at `freedom`
/// degrees of freedom.
pub fn quantile(beyond: f64, freedom: f64) -> f64 {
    // The tail falls with t, so halving finds it.
    let (mut low, mut high) = (0.0, 1e7);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if beyond_either_side(middle, freedom) > beyond { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// Probability of a value beyond `t` or `-t`: the regularised incomplete beta function.
fn beyond_either_side(t: f64, freedom: f64) -> f64 {
    beta(freedom / (freedom + t * t), freedom / 2.0, 0.5)
}

/// I_x(a, b) by its continued fraction (Abramowitz and Stegun 26.5.8).
fn beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta(1.0 - x, b, a);
    }
    let front = (gamma_ln(a + b) - gamma_ln(a) - gamma_ln(b) + a * x.ln() + b * (1.0 - x).ln()).exp() / a;
    front / fraction(x, a, b)
}

/// The fraction, evaluated from its end: 200 terms are more than doubles can tell.
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    (1..=200).rev().fold(1.0, |rest, term| {
        let m = f64::from(term / 2);
        let step = match term % 2 {
            0 => m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            _ => -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        };
        1.0 + step / rest
    })
}

/// ln Γ(x) for x > 0: Stirling's series after shifting x up.
fn gamma_ln(x: f64) -> f64 {
    let (mut x, mut shift) = (x, 0.0);
    while x < 10.0 {
        shift -= x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / x;
    let series = inverse / 12.0 - inverse.powi(3) / 360.0 + inverse.powi(5) / 1260.0;
    shift + (x - 0.5) * x.ln() - x + 0.5 * (2.0 * PI).ln() + series
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From printed tables.
    #[test]
    fn quantiles_agree_with_tables() {
        for (beyond, freedom, expected) in [
            (0.05, 1.0, 12.706),
            (0.05, 4.0, 2.776),
            (0.01, 8.0, 3.355),
            (0.05, 30.0, 2.042),
            (0.01, 2.0, 9.925),
        ] {
            let t = quantile(beyond, freedom);
            assert!((t - expected).abs() < 0.001, "{beyond} at {freedom}: {t}");
        }
    }
}
