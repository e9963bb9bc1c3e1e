//! Periods of sampled events, and whether the shares of a profile must follow them.
//!
//! A recorder that keeps to a frequency changes the period as it goes, so that its samples stand for
//! unequal amounts of what they count; `perf report` adds up periods, not samples. Where all periods of
//! an event are equal both are the same, and nothing is weighed.

use zwhy_profile::Event;

/// What one sample stands for on average where periods of several units are made comparable.
pub const COMMON_MEAN: f64 = 1e6;
/// Unit of weights made comparable so.
pub const COMMON_UNIT: &str = "weight";
/// How a note begins that says so of samples that are weighed.
pub const WEIGHED: &str = "samples are weighed by the period";
/// Unit of weights of events that are counted.
pub const CALLS_UNIT: &str = "events";

/// The periods of one event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Periods {
    pub samples: u64,
    sum: u128,
    least: u64,
    most: u64,
}

impl Periods {
    pub fn add(&mut self, period: u64) {
        self.least = if self.samples == 0 { period } else { self.least.min(period) };
        self.most = self.most.max(period);
        self.samples += 1;
        self.sum += u128::from(period);
    }

    pub fn are_uneven(&self) -> bool {
        self.least != self.most
    }

    /// What a period is multiplied by so that a sample comes to `mean` on average.
    pub fn scale_to(&self, mean: f64) -> f64 {
        if self.sum == 0 { 0.0 } else { mean * self.samples as f64 / self.sum as f64 }
    }

    /// How samples of `event` are weighed, in words; `followed` is whether by their periods.
    pub fn told(&self, event: &str, followed: bool) -> String {
        let range = format!("{} to {} a sample", self.least, self.most);
        if followed {
            format!(
                "{} of event `{event}` ({range}), as perf report does; intervals rest on the {} samples; --weight samples counts them alike",
                WEIGHED, self.samples
            )
        } else {
            format!(
                "all samples of event `{event}` count alike, though their periods differ ({range}); perf report weighs by them, as --weight period does"
            )
        }
    }
}

/// The name of an event without its modifiers: `cycles:ppp` is `cycles`.
pub fn bare_event(name: &str) -> &str {
    match name.rsplit_once(':') {
        Some((event, modifiers))
            if !event.is_empty() && modifiers.bytes().all(|b| b"ukhGHIpPSDWeb".contains(&b)) =>
        {
            event
        }
        _ => name,
    }
}

/// Scales a period, which stays at least 1 when it was.
pub fn scaled(period: u64, scale: f64) -> i64 {
    let weight = (period as f64 * scale).round();
    if period > 0 { (weight as i64).max(1) } else { 0 }
}

/// The period as a weight.
pub fn whole(period: u64) -> i64 {
    period.min(i64::MAX as u64).cast_signed()
}

/// Which kinds of samples have events with uneven periods.
pub fn uneven_kinds<'a>(events: impl Iterator<Item = (Event, &'a Periods)>) -> [bool; Event::ALL.len()] {
    let mut out = [false; Event::ALL.len()];
    for (event, periods) in events {
        out[event as usize] |= periods.are_uneven();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_names() {
        let mut periods = Periods::default();
        [1, 3, 8].into_iter().for_each(|p| periods.add(p));
        assert!(periods.are_uneven());
        assert!((periods.scale_to(100.0) - 25.0).abs() < 1e-9);
        assert_eq!(
            (scaled(3, 25.0), scaled(1, 1e-9), scaled(0, 25.0), whole(u64::MAX)),
            (75, 1, 0, i64::MAX)
        );
        for (name, bare) in [
            ("cycles:ppp", "cycles"),
            ("sched:sched_switch", "sched:sched_switch"),
            ("cpu_core/cycles/", "cpu_core/cycles/"),
        ] {
            assert_eq!(bare_event(name), bare);
        }
        let mut one = Periods::default();
        one.add(5);
        one.add(5);
        assert!(!one.are_uneven());
    }
}
