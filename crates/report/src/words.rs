//! Parts of the answer in words that terminal and Markdown share.

use crate::figures::grouped;
use zwhy_diagnose::{Finding, Quality, ShareOf, SpeedUp, WhatIf, WholeAnswer};

/// Rows below this share are told together.
const SMALL: f64 = 0.001;

pub(crate) fn is_small(share: f64) -> bool {
    share < SMALL
}

/// Rows that no table lists, as each is below 0.1 %.
pub(crate) struct Small {
    pub count: usize,
    sum: f64,
}

impl Small {
    /// The rows to list, and the others together; nothing is small where the source has no shares at all.
    pub fn split<T>(rows: &[T], share: impl Fn(&T) -> f64) -> (Vec<&T>, Small) {
        let none = rows.iter().all(|row| is_small(share(row)));
        let (large, small): (Vec<&T>, Vec<&T>) = rows.iter().partition(|row| none || !is_small(share(row)));
        let sum = small.iter().map(|row| share(row)).sum();
        (large, Small { count: small.len(), sum })
    }

    /// `and 4 more stages, each below 0.1 %, together 0.2 %`; empty where there are none.
    pub fn text(&self, one: &str, several: &str) -> String {
        match self.count {
            0 => return String::new(),
            1 => return format!("and 1 more {one}, below 0.1 %"),
            _ => {}
        }
        let sum = match self.sum {
            sum if sum < SMALL / 2.0 => String::new(),
            sum => format!(", together {:.1} %", sum * 100.0),
        };
        format!("and {} more {several}, each below 0.1 %{sum}", self.count)
    }
}

/// What all shares are of, said once: `Shares are of the CPU time of fio: 0.27 s, 6 % of all CPU time of this host.`
pub(crate) fn whole_text(whole: &WholeAnswer) -> String {
    let time = whole.cpu_s.map(|s| match whole.idle {
        true => format!("{s:.2} s of it busy"),
        false => format!("{s:.2} s"),
    });
    let cpus = if whole.what.contains("host") { "its CPUs" } else { "the CPUs of this host" };
    let host = whole.of_host.map(|part| {
        let digits = usize::from(part < 0.1);
        format!("{:.digits$} % of all that {cpus} had", part * 100.0)
    });
    let parts: Vec<String> = [time, host].into_iter().flatten().collect();
    let colon = if parts.is_empty() { "" } else { ": " };
    format!("Shares are of {}{colon}{}.", whole.what, parts.join(", "))
}

pub(crate) const NO_POOL: &str = "no pool in use";

/// What would be, were the work gone.
pub(crate) fn speed_up(bound: &SpeedUp) -> String {
    match bound.at_most {
        Some(_) => format!("everything else speeds up by at most {}", times(bound)),
        None => "there is nothing else that takes CPU".to_owned(),
    }
}

/// `2.7x (2.5–3.0)`; the interval only where one was measured, nothing where there is no bound.
pub(crate) fn times(bound: &SpeedUp) -> String {
    match (bound.at_most, bound.high) {
        (None, _) => "nothing else takes CPU".to_owned(),
        (Some(n), Some(high)) if high - bound.low < 0.05 => format!("{n:.2}x"),
        (Some(n), Some(high)) => format!("{n:.1}x ({:.1}–{high:.1})", bound.low),
        (Some(n), None) => format!("{n:.1}x ({:.1} or more)", bound.low),
    }
}

/// `0.8.0 and later; fixed in 2.2`, or one of them.
pub(crate) fn affected(f: &Finding) -> String {
    let fixed = f.fixed_in.as_ref().map(|release| format!("fixed in {release}"));
    let parts = [Some(f.affected.trim_end_matches('.').to_owned()), fixed];
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
}

pub(crate) fn confidence(f: &Finding) -> String {
    let share = f.share.as_ref().map(|s| format!("{}, ", interval(s))).unwrap_or_default();
    format!("{share}confidence {} ({:.2})", f.confidence_word.word(), f.confidence)
}

pub(crate) fn interval(s: &ShareOf) -> String {
    format!("{:.1} % ({:.1}–{:.1})", s.value * 100.0, s.low * 100.0, s.high * 100.0)
}

/// What the bounds assume, and how busy the CPU was.
pub(crate) fn assumption(what_if: &WhatIf) -> String {
    let busy = what_if.busy.map(|busy| format!(" Busy: {:.1} % of all CPU.", busy * 100.0));
    what_if.assumption.clone() + &busy.unwrap_or_default()
}

/// `59.2–67.0`; nothing without counts, as there is no interval then.
pub(crate) fn measured(share: &ShareOf) -> String {
    if share.low < share.high {
        format!("{:.1}–{:.1}", share.low * 100.0, share.high * 100.0)
    } else {
        String::new()
    }
}

/// Samples whose function has no name, by reason.
pub(crate) fn not_named(quality: &Quality) -> impl Iterator<Item = String> {
    quality.unresolved.iter().map(|(reason, n)| format!("{} not named: {reason}", grouped(*n)))
}
