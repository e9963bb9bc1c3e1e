//! The verdict in sentences, and its figures in words.

use super::answer::{AfterAnswer, FindingChange, Outcome, State, Times};
use super::findings::THERE;
use crate::answer::{CONFIDENT, ShareOf};
use crate::figures;

/// `481 MB a second`, `1,204 operations a second`.
pub fn rate(unit: &str, rate: f64) -> String {
    match unit {
        "bytes" if rate >= 9.995e8 => format!("{:.2} GB a second", rate / 1e9),
        "bytes" if rate >= 9.95e6 => format!("{:.0} MB a second", rate / 1e6),
        "bytes" => format!("{:.1} MB a second", rate / 1e6),
        _ => format!("{:.0} {unit} a second", rate),
    }
}

/// `56 % less (53–60)`, `2.1 times as much (1.9–2.3)`, `not measurably changed`.
pub fn change(times: &Times) -> String {
    let (Some(ratio), Some(low), Some(high)) = (times.ratio, times.low, times.high) else {
        return times.ratio.map_or("nothing before".to_owned(), alone);
    };
    let less = |r: f64| (1.0 - r) * 100.0;
    if times.fell() {
        return format!("{:.0} % less ({:.0}–{:.0})", less(ratio), less(high), less(low));
    }
    if !times.rose() {
        return format!("not measurably changed ({:+.0} to {:+.0} %)", -less(low), -less(high));
    }
    if ratio < 2.0 {
        return format!("{:.0} % more ({:.0}–{:.0})", -less(ratio), -less(low), -less(high));
    }
    format!("{ratio:.1} times as much ({low:.1}–{high:.1})")
}

/// A ratio without an interval.
fn alone(ratio: f64) -> String {
    match ratio {
        r if (r - 1.0).abs() < 0.005 => "the same".to_owned(),
        r if r < 1.0 => format!("{:.0} % less", (1.0 - r) * 100.0),
        r if r < 2.0 => format!("{:.0} % more", (r - 1.0) * 100.0),
        r => format!("{r:.1} times as much"),
    }
}

/// What becomes of the main finding of before, if there was one, and of the cost.
pub fn outcome(answer: &AfterAnswer) -> Outcome {
    if answer.doubts.iter().any(|d| d.forbids) {
        return Outcome::CannotTell;
    }
    let cost = answer.cost.cpu_s_per_unit.as_ref();
    let (fell, rose) = (cost.is_some_and(Times::fell), cost.is_some_and(Times::rose));
    match main(answer) {
        Some(main) if main.state == State::Gone && rose => Outcome::HelpedInPart,
        Some(main) if main.state == State::Gone => Outcome::Helped,
        Some(main) => {
            let real = main.change.filter(|c| c.real);
            if fell || (cost.is_none() && real.is_some_and(|c| c.value < 0.0)) {
                Outcome::HelpedInPart
            } else if rose || (cost.is_none() && real.is_some_and(|c| c.value > 0.0)) {
                Outcome::Worse
            } else {
                Outcome::DidNotHelp
            }
        }
        None if fell => Outcome::Helped,
        None if rose || confident(answer, State::Came).is_some() => Outcome::Worse,
        None => Outcome::DidNotHelp,
    }
}

/// The finding that the change was for: the first of before.
pub fn main(answer: &AfterAnswer) -> Option<&FindingChange> {
    let there = |f: &&FindingChange| f.before.is_some_and(|s| s.confidence >= THERE);
    answer.findings.iter().filter(there).max_by(|a, b| weight(a).total_cmp(&weight(b)))
}

fn weight(finding: &FindingChange) -> f64 {
    finding.before.map_or(0.0, |s| s.confidence)
}

fn confident(answer: &AfterAnswer, state: State) -> Option<&FindingChange> {
    let sure = |f: &&FindingChange| f.state == state && f.after.is_some_and(|s| s.confidence >= CONFIDENT);
    answer.findings.iter().find(sure)
}

/// The verdict: one sentence on the finding, one on the cost, one on what came.
pub fn verdict(answer: &AfterAnswer) -> String {
    let mut out = match answer.outcome {
        Outcome::CannotTell => {
            let why = answer.doubts.iter().find(|d| d.forbids).map_or("", |d| d.text.as_str());
            return format!("Whether it helped cannot be told. {why}");
        }
        Outcome::Helped => "It helped",
        Outcome::HelpedInPart => "It helped in part",
        Outcome::DidNotHelp => "It did not help",
        Outcome::Worse => "It is worse",
    }
    .to_owned();
    match main(answer) {
        Some(main) => out.push_str(&format!(": {}.", fate(main))),
        None => out.push_str(", though no known cause was found before."),
    }
    if let Some(cost) = cost(answer) {
        out.push_str(&format!(" {cost}"));
    }
    if let Some(promise) = &answer.promise {
        out.push_str(&format!(" {}", promise.text));
    }
    if let Some(came) = confident(answer, State::Came) {
        out.push_str(&format!(" New: {}{}.", came.title, of_cpu(came.share_after.as_ref())));
    }
    out
}

/// `AES-CCM … is gone (73 % → 0 % of CPU)`.
fn fate(finding: &FindingChange) -> String {
    let shares = match (&finding.share_before, &finding.share_after) {
        // The same functions may do what comes in its place.
        (Some(_), Some(_)) if finding.state == State::Gone && finding.change.is_some_and(|c| !c.real) => {
            String::new()
        }
        (Some(a), Some(b)) => {
            let really = match finding.change {
                Some(change) if !change.real => ", no more than chance",
                _ => "",
            };
            format!(" ({} → {} of CPU{really})", percent(a), percent(b))
        }
        _ => String::new(),
    };
    let state = match finding.state {
        State::Gone => "is gone",
        State::Came => "came",
        State::Stayed => "is still there",
    };
    format!("\"{}\" {state}{shares}", finding.title)
}

fn of_cpu(share: Option<&ShareOf>) -> String {
    share.map_or(String::new(), |s| format!(" ({} of CPU)", percent(s)))
}

pub fn percent(share: &ShareOf) -> String {
    figures::percent(share.value, false)
}

/// What a unit of work costs, or where nobody counted the work, a second.
fn cost(answer: &AfterAnswer) -> Option<String> {
    let unit = match answer.work.as_ref().map(|w| w.unit.as_str()) {
        Some("bytes") => "GB",
        Some(_) => "1,000 operations",
        None => "",
    };
    if let Some(times) = &answer.cost.cpu_s_per_unit {
        return Some(format!(
            "{} CPU seconds a {unit} before, {} after: {}.",
            figure(times.before),
            figure(times.after),
            change(times)
        ));
    }
    let times = answer.cost.cpus.as_ref()?;
    Some(format!(
        "{:.2} CPUs were busy before, {:.2} after: {}; how much was done is not known.",
        times.before,
        times.after,
        change(times)
    ))
}

/// Three digits or so.
pub fn figure(value: f64) -> String {
    match value {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v if v >= 0.1 => format!("{v:.2}"),
        v => format!("{v:.4}"),
    }
}
