//! Quantiles of requests that were counted in buckets.
//!
//! A quantile is the upper end of the bucket that holds it, so it is never too small.

/// What a histogram says in few figures, in the unit of its buckets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantiles {
    /// All that was counted.
    pub count: f64,
    pub p50: f64,
    pub p90: f64,
    pub p99: f64,
    pub max: f64,
}

impl Quantiles {
    /// Of upper ends and counts, ascending; `None` where nothing was counted.
    pub fn of(buckets: &[(f64, f64)]) -> Option<Quantiles> {
        let count: f64 = buckets.iter().map(|(_, count)| count).sum();
        if !count.is_finite() || count <= 0.0 {
            return None;
        }
        let at = |part: f64| {
            let mut sum = 0.0;
            let found = buckets.iter().find(|(_, here)| {
                sum += here;
                sum >= part * count
            });
            found.or(buckets.last()).map_or(0.0, |(upper, _)| *upper)
        };
        let max = buckets.iter().rfind(|(_, count)| *count > 0.0)?.0;
        Some(Quantiles { count, p50: at(0.5), p90: at(0.9), p99: at(0.99), max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_upper_ends() {
        let of =
            |buckets: &[(f64, f64)]| Quantiles::of(buckets).map(|q| [q.count, q.p50, q.p90, q.p99, q.max]);
        let buckets = [(10.0, 50.0), (20.0, 49.0), (40.0, 1.0), (80.0, 0.0)];
        assert_eq!(of(&buckets), Some([100.0, 10.0, 20.0, 20.0, 40.0]));
        assert_eq!(of(&[(1.0, 1.0)]), Some([1.0; 5]));
        for none in [&[] as &[_], &[(1.0, 0.0)], &[(1.0, f64::NAN)], &[(1.0, f64::INFINITY)]] {
            assert_eq!(of(none), None);
        }
    }
}
