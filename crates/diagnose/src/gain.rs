//! What a remedy promises: CPU for the same work, and throughput where the CPU limits.
//!
//! The share of a finding, with the interval of its samples, times the part of it that goes away (`[gain]` of the
//! cause): from the least of both to the most of both. A promise holds for the same load on the same host.

use crate::answer::{Gain, Range, ShareOf};
use crate::knowledge::GainRule;

/// Nothing makes all work disappear.
const MOST: f64 = 0.995;
/// From this part of the CPU on it is what limits.
const LIMITS: f64 = 0.9;

/// The CPU of a finding: as a part of what ZFS took, and of all that was not idle.
pub struct Shares {
    pub of_zfs: ShareOf,
    pub of_busy: ShareOf,
}

/// `busy` is the part of all CPU that is not idle, where that is known.
pub fn gain(rule: &GainRule, shares: Option<&Shares>, busy: Option<f64>) -> Gain {
    let (low, high, why) = match rule {
        GainRule::Nothing { why } => return nothing(why),
        GainRule::Removes { low, high, why } => (low, high, why),
    };
    let Some(shares) = shares else { return nothing("The evidence does not say how much CPU it takes.") };
    let less = |share: &ShareOf| Range {
        low: (share.low * low).clamp(0.0, MOST),
        high: (share.high * high).clamp(0.0, MOST),
    };
    let (zfs, all) = (less(&shares.of_zfs), less(&shares.of_busy));
    let faster = Range { low: 1.0 / (1.0 - all.low), high: 1.0 / (1.0 - zfs.high) };
    let limits = busy.map(|busy| busy >= LIMITS);
    let speed = match limits {
        Some(true) => format!(
            "The CPU is saturated here, so throughput may rise {:.1} to {:.1} times.",
            faster.low, faster.high
        ),
        Some(false) => "The CPU is not saturated here, so throughput may not change.".to_owned(),
        None => "Whether throughput rises depends on what limits it.".to_owned(),
    };
    let text = format!(
        "For the same work ZFS should use {} less CPU ({} less of all busy CPU). {speed} {why}",
        between(zfs.low, zfs.high),
        between(all.low, all.high)
    );
    let faster = limits.filter(|l| *l).map(|_| faster);
    Gain { zfs_cpu_less: Some(zfs), cpu_less: Some(all), faster, reason: why.clone(), text }
}

/// What the remedy of a cause should bring on any host, and why.
pub fn gain_words(rule: &GainRule) -> String {
    match rule {
        GainRule::Nothing { why } => no_gain(why),
        GainRule::Removes { low, high, why } if *high > 1.0 => format!(
            "For the same work {low} to {high} times the CPU that this cause takes should go away, as other work \
             goes with it. {why}"
        ),
        GainRule::Removes { low, high, why } => format!(
            "For the same work {} of the CPU that this cause takes should go away. {why}",
            between(*low, *high)
        ),
    }
}

fn no_gain(why: &str) -> String {
    format!("No gain in CPU is promised. {why}")
}

fn nothing(why: &str) -> Gain {
    let text = no_gain(why);
    Gain { zfs_cpu_less: None, cpu_less: None, faster: None, reason: why.to_owned(), text }
}

/// `48 to 62 %`, `about 5 %`.
fn between(low: f64, high: f64) -> String {
    let [low, high] = [low, high].map(|part| format!("{:.0}", part * 100.0));
    if low == high { format!("about {low} %") } else { format!("{low} to {high} %") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn removes(low: f64, high: f64) -> GainRule {
        GainRule::Removes { low, high, why: "Because.".into() }
    }

    fn shares(of_zfs: ShareOf) -> Shares {
        let half = |v: f64| v / 2.0;
        let ShareOf { value, low, high } = of_zfs;
        Shares { of_zfs, of_busy: ShareOf { value: half(value), low: half(low), high: half(high) } }
    }

    #[test]
    fn a_promise_reaches_from_the_least_to_the_most_of_share_and_part() {
        let shares = shares(ShareOf { value: 0.6, low: 0.5, high: 0.7 });
        let full = gain(&removes(0.8, 1.0), Some(&shares), Some(0.95));
        assert_eq!(full.zfs_cpu_less, Some(Range { low: 0.4, high: 0.7 }));
        assert_eq!(full.cpu_less, Some(Range { low: 0.2, high: 0.35 }));
        assert_eq!(
            full.text,
            "For the same work ZFS should use 40 to 70 % less CPU (20 to 35 % less of all busy CPU). The CPU is \
             saturated here, so throughput may rise 1.2 to 3.3 times. Because."
        );
        let idle = gain(&removes(0.8, 1.0), Some(&shares), Some(0.3));
        assert!(idle.faster.is_none() && idle.text.contains("throughput may not change"), "{}", idle.text);
        let more = gain(&removes(0.9, 6.0), Some(&shares), None);
        assert_eq!(more.zfs_cpu_less.map(|p| p.high), Some(0.995), "never all of it");
    }

    #[test]
    fn without_a_host_the_rule_itself_is_told() {
        let of = |low, high| gain_words(&removes(low, high));
        assert_eq!(
            of(0.6, 0.97),
            "For the same work 60 to 97 % of the CPU that this cause takes should go away. Because."
        );
        assert_eq!(
            of(0.9, 6.0),
            "For the same work 0.9 to 6 times the CPU that this cause takes should go away, as other work goes with \
             it. Because."
        );
        let none = gain_words(&GainRule::Nothing { why: "It is about waiting.".into() });
        assert_eq!(none, "No gain in CPU is promised. It is about waiting.");
    }

    #[test]
    fn what_cannot_be_promised_is_said_with_its_reason() {
        let none = gain(&GainRule::Nothing { why: "It is about waiting.".into() }, None, Some(1.0));
        assert_eq!(
            (none.cpu_less, none.text.as_str()),
            (None, "No gain in CPU is promised. It is about waiting.")
        );
        assert!(gain(&removes(0.5, 1.0), None, None).cpu_less.is_none(), "nobody knows the share");
    }
}
