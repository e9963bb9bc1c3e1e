//! A whole capture without names, with all its samples, readings and moments.

use super::facts::{self, kstat_source};
use super::{Redactor, collect_items, collect_profile, known, names::Names, redacted_profile, rewrite_items};
use crate::open::Capture;
use crate::series::Series;

/// Moments that zwhy itself names; the words of all others are somebody's own.
const MARKS: [&str; 3] = ["clock", "module", "trigger"];
/// Of these the words are zwhy's own, too.
const TOLD: [&str; 2] = ["clock", "module"];

impl Redactor {
    /// Replaces every private name of `capture` in place; what may hold one without being known as a name is left out.
    pub fn redact_capture(&mut self, capture: &mut Capture) {
        let names = &mut self.names;
        facts::learn(&capture.facts, names);
        collect_profile(&capture.profile, names);
        if let Some(items) = &capture.facts.evidence {
            collect_items(items, names);
        }
        for row in capture.series.iter() {
            learn_source(row.source, names);
        }
        let pasted = capture.facts.evidence.as_deref();
        let of_pasted = pasted.into_iter().flat_map(|e| &e.properties).filter_map(|p| p.dataset.as_deref());
        names.settle(&facts::datasets(&capture.facts).into_iter().chain(of_pasted).collect::<Vec<_>>());
        capture.profile = redacted_profile(&capture.profile, names);
        capture.series = redacted_series(&capture.series, names);
        for mark in &mut capture.marks {
            if !MARKS.contains(&mark.name.as_str()) {
                mark.name = names.stand_in("mark", &mark.name);
            }
            if TOLD.contains(&mark.name.as_str()) {
                mark.text = names.text(&mark.text);
            } else if !mark.text.is_empty() {
                mark.text.clear();
                names.left_out(1);
            }
        }
        let mut items = capture.facts.evidence.take();
        capture.facts = facts::redacted(std::mem::take(&mut capture.facts), names);
        if let Some(items) = &mut items {
            rewrite_items(items, names);
        }
        capture.facts.evidence = items;
        if let Some(import) = &mut capture.facts.import {
            import.dropped = std::mem::take(&mut import.dropped)
                .into_iter()
                .map(|(why, n)| (names.text(&why), n))
                .collect();
        }
    }
}

/// Pools and disks that only a counter names.
fn learn_source(source: &str, names: &mut Names) {
    if let Some(pool) = known::pool_of_kstat(source) {
        names.pool_of(pool);
    }
    if let Some((pool, disk)) = source.strip_prefix("vdev/").and_then(|rest| rest.split_once('/')) {
        names.pool_of(pool);
        names.disk(disk);
    }
}

fn redacted_series(series: &Series, names: &mut Names) -> Series {
    let mut out = Series::default();
    let mut given = rustc_hash::FxHashMap::default();
    for row in series.iter() {
        if known::is_identity(row.source) || known::is_identity(row.name) {
            names.left_out(1);
            continue;
        }
        let source = given.entry(row.source).or_insert_with(|| kstat_source(row.source, names));
        out.push(row.t, source, row.name, row.kind, row.value);
    }
    out
}
