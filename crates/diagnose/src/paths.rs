//! Well-known operations and what their CPU splits into: useful work beside what it costs to get there.
//!
//! Which functions they are is data (`knowledge/paths.toml`). Invariant: a path's steps and its
//! rest add up to the path.

use crate::answer::{PathRow, PathStep, ShareOf};
use crate::facts::{FactBase, Span, StackIndex};
use crate::knowledge::entries;
use crate::pattern::Pattern;
use serde::Deserialize;
use std::sync::LazyLock;
use zwhy_profile::Sampling;

/// Paths below this share of busy CPU are left out.
const MATERIAL: f64 = 0.05;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PathEntry {
    name: String,
    root: String,
    steps: Vec<StepEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StepEntry {
    functions: String,
    what: String,
    #[serde(default)]
    useful: bool,
    #[serde(default)]
    inside: Vec<StepEntry>,
}

/// The file comes with zwhy and a test reads it, so a broken one never gets here.
static PATHS: LazyLock<Vec<PathEntry>> =
    LazyLock::new(|| entries(include_str!("../knowledge/paths.toml")).unwrap_or_default());

/// The operations that matter in this profile, the largest first.
pub fn paths(facts: &FactBase<'_>) -> Vec<PathRow> {
    let index = &facts.cpu.index;
    let busy = facts.cpu.busy.max(1) as f64;
    let mut rows: Vec<PathRow> = PATHS
        .iter()
        .filter_map(|entry| path(entry, index, &facts.cpu.sampling))
        .filter(|row| row.samples as f64 / busy >= MATERIAL)
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.samples));
    rows
}

fn path(entry: &PathEntry, index: &StackIndex, all: &Sampling) -> Option<PathRow> {
    let root = nodes(&entry.root, index);
    let samples = index.inclusive(&root);
    if samples == 0 {
        return None;
    }
    let mut in_steps: Vec<Span> = Vec::new();
    let steps = steps(&entry.steps, &root, samples, index, all, &mut in_steps);
    in_steps.sort_unstable_by_key(|s| s.start);
    let rest = samples - index.inclusive(&in_steps);
    let (name, root) = (entry.name.clone(), entry.root.clone());
    Some(PathRow { name, root, samples, share: ShareOf::sampled(all, samples, all.amount), steps, rest })
}

/// The steps with samples, the largest first; where steps contain each other the outer one counts.
fn steps(
    entries: &[StepEntry],
    outer: &[Span],
    of: u64,
    index: &StackIndex,
    all: &Sampling,
    taken: &mut Vec<Span>,
) -> Vec<PathStep> {
    let found: Vec<Vec<Span>> =
        entries.iter().map(|e| index.below(&nodes(&e.functions, index), outer)).collect();
    let mut union: Vec<Span> = found.concat();
    union.sort_unstable_by_key(|s| s.start);
    let outermost: Vec<Span> = crate::facts::outermost(&union).collect();
    let is_outermost = |s: &Span| outermost.binary_search_by_key(&s.start, |o| o.start).is_ok();
    let mut rows: Vec<PathStep> = Vec::new();
    for (entry, spans) in entries.iter().zip(found) {
        let own: Vec<Span> = spans.into_iter().filter(is_outermost).collect();
        let samples = index.inclusive(&own);
        if samples == 0 {
            continue;
        }
        let names = index.matching(&Pattern::new(&entry.functions));
        let heaviest = index.heaviest(&names, 1);
        rows.push(PathStep {
            function: heaviest.first().map_or("", |(name, _)| index.name(*name)).to_owned(),
            what: entry.what.clone(),
            useful: entry.useful,
            samples,
            share: ShareOf::sampled(all, samples, all.amount),
            of_path: samples as f64 / of.max(1) as f64,
            inside: steps(&entry.inside, &own, of, index, all, &mut Vec::new()),
        });
        taken.extend(own);
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row.samples));
    rows
}

fn nodes(functions: &str, index: &StackIndex) -> Vec<Span> {
    index.nodes(&index.matching(&Pattern::new(functions)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_as_the_code_expects_it() {
        assert!(PATHS.len() >= 4);
        let first = &PATHS[0];
        assert!(first.root == "zfs_read" && first.steps.iter().any(|s| s.useful));
    }
}
