//! How much faster everything could be without some work, and what remedies promise: Amdahl's law, with its
//! assumption.
//!
//! A bound, not a forecast: it holds if the CPU is what limits, and if nothing has to be done in
//! place of the work that is left out.

use crate::answer::{Answer, ShareOf, SpeedUp, WhatIf};
use crate::facts::FactBase;
use crate::gain::{Shares, gain};
use crate::knowledge::Knowledge;
use crate::whole::host_busy;

/// From this idle share on the CPU as a whole hardly limits.
const IDLE: f64 = 0.3;
/// Below this idle share the CPU is full.
const FULL: f64 = 0.1;

/// Work that a faster ZFS would not spare: what is not of ZFS, or not known to be.
const NOT_OURS: [&str; 3] = ["idle", "not zfs", "unknown"];

/// Fills the bounds of stages and findings.
pub fn bounds(answer: &mut Answer, facts: &FactBase<'_>, knowledge: &Knowledge) {
    let busy = host_busy(facts);
    // Lists of percentages leave idle out, or say nothing of it: they are taken as of busy CPU.
    let of_busy = |share: &ShareOf| match (facts.cpu.all, facts.cpu.busy) {
        (0, _) => Some(*share),
        (_, 0) => None,
        (all, busy) => {
            let part = (share.value * all as f64).round() as u64;
            Some(ShareOf::sampled(&facts.cpu.sampling, part, busy))
        }
    };
    let mut any = false;
    for row in answer.stages.iter_mut().filter(|r| !NOT_OURS.contains(&r.stage.as_str())) {
        row.without = of_busy(&row.share).map(|share| SpeedUp::without(&share));
        any |= row.without.is_some();
    }
    for finding in &mut answer.findings {
        let share = finding.share.as_ref().and_then(of_busy);
        finding.without = share.as_ref().map(SpeedUp::without);
        any |= finding.without.is_some();
        let rule = knowledge.cause(&finding.class).and_then(|cause| cause.gain.as_ref());
        let shares = share.map(|of_busy| Shares { of_zfs: of_zfs(&of_busy, facts), of_busy });
        finding.gain = rule.map(|rule| gain(rule, shares.as_ref(), busy));
    }
    answer.what_if = any.then(|| WhatIf { busy, assumption: assumption(busy) });
}

/// A share of busy CPU as one of what ZFS took; work that a list of percentages leaves out stays in it.
fn of_zfs(of_busy: &ShareOf, facts: &FactBase<'_>) -> ShareOf {
    let cpu = &facts.cpu;
    let part = (of_busy.value * cpu.busy as f64).round() as u64;
    if part == 0 || cpu.busy == 0 {
        return *of_busy;
    }
    // What a cause makes others do may count as no work of ZFS.
    ShareOf::sampled(&cpu.sampling, part, cpu.stages.of_zfs().max(part))
}

impl SpeedUp {
    /// `1 / (1 - share)`: what is left of the time when that share of it is gone.
    pub fn without(share: &ShareOf) -> SpeedUp {
        let bound = |share: f64| Some(1.0 / (1.0 - share)).filter(|b| b.is_finite() && share < 1.0);
        // The low end of an interval is below one, as some time was measured.
        let low = bound(share.low.clamp(0.0, 0.999_999)).unwrap_or(1.0);
        SpeedUp { at_most: bound(share.value), low, high: bound(share.high) }
    }
}

fn assumption(busy: Option<f64>) -> String {
    const LAW: &str = "Amdahl's bound for work that is bound by the CPU: if that part took no time and \
                       nothing took its place, this is the most that everything else would speed up.";
    match busy {
        Some(busy) if 1.0 - busy >= IDLE => format!(
            "{LAW} Here {:.0} % of the CPU is idle, so throughput need not change at all: a disk, a lock \
             or one full thread may limit instead. The CPU time shrinks in any case.",
            (1.0 - busy) * 100.0
        ),
        Some(busy) if 1.0 - busy <= FULL => {
            format!("{LAW} Here the CPU is fully used, so such a gain is plausible.")
        }
        Some(busy) => format!("{LAW} Here {:.0} % of the CPU is idle.", (1.0 - busy) * 100.0),
        None => format!("{LAW} The evidence does not say how idle the CPUs of the host are."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_time_gone_is_twice_as_fast() {
        let half = SpeedUp::without(&ShareOf { value: 0.5, low: 0.2, high: 0.75 });
        assert_eq!((half.at_most, half.low, half.high), (Some(2.0), 1.25, Some(4.0)));
        let all = SpeedUp::without(&ShareOf { value: 1.0, low: 0.9, high: 1.0 });
        assert_eq!((all.at_most, all.high), (None, None));
        assert!((all.low - 10.0).abs() < 1e-9);
        let none = SpeedUp::without(&ShareOf::figure(0.0));
        assert_eq!((none.at_most, none.low, none.high), (Some(1.0), 1.0, Some(1.0)));
    }

    #[test]
    fn an_idle_host_is_told_that_throughput_need_not_change() {
        assert!(assumption(Some(0.2)).contains("80 % of the CPU is idle, so throughput need not change"));
        assert!(assumption(Some(0.95)).contains("the CPU is full"));
        assert!(assumption(Some(0.8)).contains("20 % of the CPU is idle."));
        assert!(assumption(None).contains("does not say"));
    }
}
