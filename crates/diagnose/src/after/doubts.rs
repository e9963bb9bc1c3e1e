//! Why two recordings may not be comparable.

use super::Side;
use super::answer::{Doubt, Times, Work};
use crate::answer::Quality;
use crate::facts::FactBase;
use zwhy_profile::{Event, FunctionTotals};

/// Busy samples below which one side says too little.
const FEW: f64 = 100.0;
/// Load that fell to less than this part is another load.
const LESS: f64 = 0.25;
/// Part of the work that is read on one side and not on the other.
const OTHER_MIX: f64 = 0.3;
/// Losses that are told of one input: the first are the gravest.
const MOST_TOLD: usize = 3;
/// Times as long.
const LONGER: f64 = 4.0;

fn forbids(text: String) -> Doubt {
    Doubt { text, forbids: true }
}

fn notes(text: String) -> Doubt {
    Doubt { text, forbids: false }
}

pub fn doubts(sides: [&Side<'_>; 2], facts: [&FactBase<'_>; 2], work: Option<&Work>) -> Vec<Doubt> {
    let mut out = Vec::new();
    if same(facts) {
        out.push(forbids("Both are the same recording: there is nothing to compare.".to_owned()));
        return out;
    }
    for (facts, name) in facts.iter().zip(["BEFORE", "AFTER"]) {
        let samples = facts.cpu.sampling.samples_in(facts.cpu.busy);
        if facts.has_samples() && samples < FEW {
            out.push(forbids(format!(
                "{name} has only {samples:.0} samples that are not idle: record longer, or while the load runs."
            )));
        }
    }
    out.extend(of_samples(sides, facts));
    out.extend(of_recording(sides, facts));
    out.extend(of_host(sides));
    out.extend(work.and_then(of_load));
    if work.is_none() {
        out.push(notes(
            "How much was done, no counter of both tells: whether the load was the same is not known, and CPU is \
             compared by time or share alone."
                .to_owned(),
        ));
    }
    out
}

/// Sides without samples that were counted, and why they have none.
fn of_samples(sides: [&Side<'_>; 2], facts: [&FactBase<'_>; 2]) -> Option<Doubt> {
    let mut why: Vec<String> = Vec::new();
    for ((side, facts), name) in sides.iter().zip(facts).zip(["BEFORE", "AFTER"]) {
        let told = if facts.has_samples() { None } else { lacking(&side.answer.quality) };
        why.extend(told.map(|told| format!(" {name} was not read completely: {told}.")));
    }
    let why = why.concat();
    match facts.map(|f| f.has_samples()) {
        [true, true] => None,
        [false, false] => Some(notes(format!(
            "Neither side has samples that were counted: shares have no intervals, and chance is not told from \
             change.{why}"
        ))),
        [before, _] => {
            let name = if before { "AFTER" } else { "BEFORE" };
            Some(forbids(format!(
                "{name} has no samples that were counted, so there are no shares to compare.{why}"
            )))
        }
    }
}

/// What was lost of an input, in words; `None` where all of it was read.
fn lacking(quality: &Quality) -> Option<String> {
    let lost = match quality.lost {
        Some(0) => None,
        Some(lost) => Some(format!("{lost} {} are lost", quality.unit)),
        None => Some(format!("an unknown number of {} is lost", quality.unit)),
    };
    let cut = quality.cut_at.map(|byte| format!("it is cut at byte {byte}"));
    let bytes = (quality.lost_bytes > 0).then(|| format!("{} bytes are not readable", quality.lost_bytes));
    let told = cut.into_iter().chain(bytes).chain(lost).chain(quality.warnings.iter().cloned());
    let told: Vec<String> = told.take(MOST_TOLD).collect();
    (!told.is_empty()).then(|| told.join("; "))
}

/// What was recorded, and how.
fn of_recording(sides: [&Side<'_>; 2], facts: [&FactBase<'_>; 2]) -> Vec<Doubt> {
    let mut out = Vec::new();
    let recorders = facts.map(|facts| &facts.evidence.facts.recorder);
    let user = recorders.map(|recorder| recorder.user_only);
    let kernel = recorders.map(|recorder| recorder.kernel_only);
    for (sides, what) in [(user, "user code alone"), (kernel, "the kernel alone")] {
        if let Some([a, _]) = differing(sides) {
            let which = if a { "BEFORE" } else { "AFTER" };
            out.push(forbids(format!(
                "{which} is of {what}, the other is not: shares are of different wholes."
            )));
        }
    }
    // Two processes have two numbers: only what kind of thing was recorded can differ.
    let kinds = recorders.map(|recorder| recorder.target.as_deref().and_then(|t| t.split(' ').next()));
    if let Some([a, b]) = differing(kinds) {
        out.push(forbids(format!(
            "BEFORE is a recording of a {a}, AFTER of a {b}: shares are of different wholes."
        )));
    }
    let [a, b] = sides.map(|s| &s.answer.source);
    if a.unit != b.unit {
        let text = format!("BEFORE counts {}, AFTER {}: shares compare, amounts do not.", a.unit, b.unit);
        out.push(notes(text));
    }
    if let (Some(x), Some(y)) = (a.duration_s, b.duration_s)
        && x.min(y) > 0.0
        && x.max(y) / x.min(y) > LONGER
    {
        out.push(notes(format!(
            "BEFORE lasted {x:.0} s and AFTER {y:.0} s: all is compared by second and by share, but what happens now \
             and then may be in one of them only."
        )));
    }
    let start = |side: usize| facts[side].evidence.facts.start_unix_s;
    if let (Some(a), Some(b)) = (start(0), start(1))
        && b < a
    {
        out.push(notes("AFTER was recorded before BEFORE: are the two swapped?".to_owned()));
    }
    out
}

/// What both sides tell, and tell differently.
fn differing<T: PartialEq>([a, b]: [Option<T>; 2]) -> Option<[T; 2]> {
    Some([a?, b?]).filter(|[a, b]| a != b)
}

fn of_host(sides: [&Side<'_>; 2]) -> Vec<Doubt> {
    let mut out = Vec::new();
    let [a, b] = sides.map(|s| &s.evidence.host);
    if let Some([x, y]) = differing([a.name.as_ref(), b.name.as_ref()]) {
        out.push(forbids(format!(
            "These are two hosts, {x} and {y}: what differs may be the host, not the change."
        )));
    }
    if let Some([x, y]) = differing([a.cpu_model.as_ref(), b.cpu_model.as_ref()]) {
        out.push(forbids(format!(
            "The CPUs are of different models, {x} and {y}: CPU time does not compare."
        )));
    }
    out
}

/// Another load than before.
fn of_load(work: &Work) -> Option<Doubt> {
    let Times { ratio, before, after, .. } = work.rate;
    if let (Some(x), Some(y)) = (work.read_before, work.read_after)
        && (x - y).abs() > OTHER_MIX
    {
        return Some(forbids(format!(
            "The load is not the same: {:.0} % of what was moved was read before, {:.0} % after.",
            x * 100.0,
            y * 100.0
        )));
    }
    let less = ratio.is_some_and(|r| r < LESS);
    less.then(|| {
        forbids(format!(
            "The load is not the same: {} before and {} after.",
            super::words::rate(&work.unit, before),
            super::words::rate(&work.unit, after)
        ))
    })
}

/// Whether the samples of both are the same ones.
fn same([a, b]: [&FactBase<'_>; 2]) -> bool {
    if differing([a, b].map(|f| f.evidence.facts.start_unix_s)).is_some() {
        return false;
    }
    let sums = [a, b].map(|f| {
        let profile = &f.evidence.profile;
        let totals = FunctionTotals::of(profile, Event::Cpu);
        let mut rows: Vec<(String, u64, u64)> = totals
            .rows
            .iter()
            .map(|r| (profile.strings.get(r.function).to_owned(), r.own, r.total))
            .collect();
        rows.sort_unstable();
        (f.cpu.all, rows)
    });
    let [x, y] = &sums;
    let counted = x.0 > 0 && x == y;
    let (a, b) = (a.evidence, b.evidence);
    let listed = a.flat == b.flat && a.trees == b.trees && a.threads == b.threads && a.tables == b.tables;
    counted || (x.0 == 0 && y.0 == 0 && a.has_items() && listed && a.kstats == b.kstats)
}
