//! Quantities that carry their unit: times, shares and the intervals around them.

/// Nanoseconds, as a time since the start of a recording or as a span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Nanos(pub i64);

impl Nanos {
    pub fn from_secs_f64(secs: f64) -> Nanos {
        Nanos((secs * 1e9) as i64)
    }

    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

/// A part of a whole, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Share(pub f64);

impl Share {
    /// `part` of `whole`; 0 when the whole is empty.
    pub fn of(part: u64, whole: u64) -> Share {
        if whole == 0 { Share(0.0) } else { Share(part as f64 / whole as f64) }
    }

    pub fn percent(self) -> f64 {
        self.0 * 100.0
    }
}

/// A share with its 95 % interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval {
    pub value: Share,
    pub low: Share,
    pub high: Share,
}

impl Interval {
    /// Wilson score interval of `part` out of `whole` samples (E. B. Wilson, JASA 22, 1927).
    ///
    /// Unlike the normal approximation it stays inside 0..1 and does not collapse for small counts.
    /// Samples of one timer are taken as independent, which is close enough at profiling rates.
    pub fn wilson(part: u64, whole: u64) -> Interval {
        if whole == 0 {
            return Interval { value: Share(0.0), low: Share(0.0), high: Share(1.0) };
        }
        Interval::of_share(Share::of(part.min(whole), whole), whole as f64)
    }

    /// The same of a share that was measured with `samples` samples, a number that may be an estimate.
    pub fn of_share(share: Share, samples: f64) -> Interval {
        if samples <= 0.0 {
            return Interval { value: share, low: Share(0.0), high: Share(1.0) };
        }
        const Z: f64 = 1.959_963_984_540_054;
        let (n, p) = (samples, share.0.clamp(0.0, 1.0));
        let z2 = Z * Z;
        let centre = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
        let half = Z / (1.0 + z2 / n) * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
        Interval {
            value: Share(p),
            low: Share((centre - half).clamp(0.0, p)),
            high: Share((centre + half).clamp(p, 1.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figures of the worked examples in Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
    #[test]
    fn wilson_matches_published_figures() {
        for (part, whole, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let i = Interval::wilson(part, whole);
            assert!((i.low.0 - low).abs() < 5e-5 && (i.high.0 - high).abs() < 5e-5, "{part}/{whole}: {i:?}");
        }
    }

    #[test]
    fn no_samples_say_nothing() {
        let i = Interval::wilson(0, 0);
        assert_eq!((i.low, i.high), (Share(0.0), Share(1.0)));
    }
}
