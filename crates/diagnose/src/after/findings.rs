//! Which causes are gone, which came, which stayed, and whether their part of the CPU really changed.

use super::Side;
use super::answer::{Difference, FindingChange, Seen, State};
use crate::answer::{Answer, ShareOf};
use crate::facts::FactBase;
use crate::knowledge::Knowledge;
use std::collections::BTreeMap;
use zwhy_profile::{Delta, Pair, Sampling, compare};

/// From this confidence on a finding counts as there.
pub const THERE: f64 = 0.3;

pub fn findings(
    sides: [&Side<'_>; 2],
    facts: [&FactBase<'_>; 2],
    knowledge: &Knowledge,
) -> Vec<FindingChange> {
    let seen = sides.map(|side| confidences(&side.answer));
    let mut classes: Vec<&str> = Vec::new();
    for finding in sides.iter().flat_map(|s| &s.answer.findings).filter(|f| f.confidence >= THERE) {
        if !classes.contains(&finding.class.as_str()) {
            classes.push(&finding.class);
        }
    }
    let changes = changes(&classes, facts, knowledge);
    let mut rows: Vec<FindingChange> = classes
        .into_iter()
        .map(|class| {
            let [before, after] = [0, 1].map(|side: usize| seen[side].get(class).copied());
            let there = |seen: Option<Seen>| seen.is_some_and(|s| s.confidence >= THERE);
            let state = match (there(before), there(after)) {
                (true, false) => State::Gone,
                (false, true) => State::Came,
                _ => State::Stayed,
            };
            let delta = changes.get(class);
            let title = knowledge.cause(class).map_or(class, |c| &c.title).to_owned();
            FindingChange {
                class: class.to_owned(),
                title,
                state,
                before,
                after,
                share_before: delta.map(|d| d.0).or_else(|| share(&sides[0].answer, class)),
                share_after: delta.map(|d| d.1).or_else(|| share(&sides[1].answer, class)),
                change: delta.map(|d| d.2),
            }
        })
        .collect();
    rows.sort_by_key(|row| row.state != State::Gone && row.before.is_none());
    rows
}

fn confidences(answer: &Answer) -> BTreeMap<&str, Seen> {
    let seen =
        |f: &crate::answer::Finding| Seen { confidence: f.confidence, confidence_word: f.confidence_word };
    answer.findings.iter().map(|f| (f.class.as_str(), seen(f))).collect()
}

/// As a list of percentages has it.
fn share(answer: &Answer, class: &str) -> Option<ShareOf> {
    answer.findings.iter().find(|f| f.class == class)?.share
}

/// Shares on both sides and their difference, of causes that have CPU of their own, where both sides have samples.
fn changes<'c>(
    classes: &[&'c str],
    facts: [&FactBase<'_>; 2],
    knowledge: &Knowledge,
) -> BTreeMap<&'c str, (ShareOf, ShareOf, Difference)> {
    if !facts.iter().all(|f| f.has_samples()) {
        return BTreeMap::new();
    }
    let of = |class: &&'c str| {
        let cpu = &knowledge.cause(class).filter(|c| !c.cpu.is_empty())?.cpu;
        let [a, b] = facts.map(|f| crate::share::samples(cpu, f));
        Some(Pair { name: (*class).to_owned(), a, b })
    };
    let [a, b] = facts.map(|f| f.cpu.sampling);
    let deltas = compare(classes.iter().filter_map(of).collect(), &a, &b);
    let row = |class: &&'c str| {
        let delta = deltas.iter().find(|d| d.name == **class)?;
        Some((*class, (shown(delta.a, &a), shown(delta.b, &b), difference(delta))))
    };
    classes.iter().filter_map(row).collect()
}

fn shown(part: u64, sampling: &Sampling) -> ShareOf {
    ShareOf::sampled(sampling, part, sampling.amount)
}

fn difference(d: &Delta) -> Difference {
    Difference { value: d.change, low: d.change_low, high: d.change_high, p_value: d.p_value, real: d.real }
}
