//! Two profiles side by side: verdict, stages, threads, functions.

use crate::figures::grouped;
use crate::layout::{Align, Grid, cut};
use crate::style::Style;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use zwhy_diagnose::{AfterAnswer, Classified};
use zwhy_profile::{Delta, Event, FunctionTotals, Nanos, Pair, Profile, StackId, StackTotals, Unit, compare};

/// How the two sides were made comparable, in words.
const NORMALISED: &str = "Shares are of all samples of the same profile, so profiles of different length compare; \
     intervals are 95 %; * marks changes that hold at a false discovery rate of 5 %. Samples are taken as \
     independent: differences between two runs of the same kind are not covered.";

/// The page lists the functions that changed most; the graph has all.
const FUNCTIONS_ON_PAGE: usize = 300;
/// A name in the verdict; the table has more room.
const NAME_CELLS: usize = 60;

/// All deltas of two profiles.
pub struct DiffReport {
    /// All CPU samples of both sides, in their units.
    amounts: [u64; 2],
    units: [Unit; 2],
    /// CPU seconds where the recorder said how much time a sample stands for.
    cpu_s: [Option<f64>; 2],
    stages: Vec<Delta>,
    threads: Vec<Delta>,
    functions: Vec<Delta>,
    /// Functions of the idle loop: less work shows there too, but never says what changed.
    idle: BTreeSet<String>,
}

/// One of the two profiles, with the stages of its samples.
#[derive(Clone, Copy)]
pub struct DiffSide<'a> {
    pub profile: &'a Profile,
    pub classified: &'a Classified,
}

impl DiffReport {
    pub fn new(before: DiffSide<'_>, after: DiffSide<'_>) -> DiffReport {
        let [a, b] = [before.profile, after.profile];
        let sampling = [a.sampling(Event::Cpu), b.sampling(Event::Cpu)];
        let of = |pairs: [BTreeMap<String, u64>; 2]| compare(join(pairs), &sampling[0], &sampling[1]);
        DiffReport {
            amounts: sampling.map(|s| s.amount),
            units: [a, b].map(|p| p.measure(Event::Cpu).unit.clone()),
            cpu_s: [cpu_seconds(a), cpu_seconds(b)],
            stages: of([stages(before), stages(after)]),
            threads: of([threads(a), threads(b)]),
            functions: of([functions(a), functions(b)]),
            idle: [before, after].into_iter().flat_map(idle_functions).collect(),
        }
    }

    /// Verdict first, then a table each for stages, threads and functions, at most `width` cells wide.
    pub fn text(&self, count: usize, width: usize, style: Style) -> String {
        let mut out = crate::layout::labelled("", 0, &self.verdict(), 80) + "\n";
        for (title, deltas) in
            [("stage", &self.stages), ("thread", &self.threads), ("function (with callees)", &self.functions)]
        {
            // A profile that does not tell threads apart has one without a name.
            if deltas.iter().any(|d| !d.name.is_empty()) {
                out.push_str(&self.table(title, deltas, count, width, style));
                out.push('\n');
            }
        }
        for line in crate::layout::wrap(NORMALISED, 80) {
            out.push_str(&style.dim(&line));
            out.push('\n');
        }
        out
    }

    fn verdict(&self) -> String {
        let mut out = self.both(self.amounts);
        if let [Some(a), Some(b)] = self.cpu_s {
            out.push_str(&format!(", {a:.2} → {b:.2} CPU s"));
        }
        let real = self.functions.iter().filter(|d| d.real).count();
        let mut changed = self.functions.iter().filter(|d| d.real).peekable();
        let first = changed.peek().copied();
        match changed.find(|d| d.name != "[unknown]" && !self.idle.contains(&d.name)).or(first) {
            None => out.push_str(": nothing changed beyond chance."),
            Some(top) => out.push_str(&format!(
                ": {real} functions really changed, most of all {} ({}, {:.1} % → {:.1} %).",
                cut(&top.name, NAME_CELLS),
                self.both([top.a, top.b]),
                top.share_a.value.percent(),
                top.share_b.value.percent()
            )),
        }
        out
    }

    /// `100 → 120 samples`
    fn both(&self, [a, b]: [u64; 2]) -> String {
        match &self.units {
            [Unit::Samples, Unit::Samples] => format!("{} → {} samples", grouped(a), grouped(b)),
            [of_a, of_b] => format!("{} → {}", of_a.words(a), of_b.words(b)),
        }
    }

    /// What the page of a comparison shows: whether it helped, and what changed, most of it first.
    ///
    /// # Errors
    /// When the answer cannot be put into JSON, which does not happen.
    pub fn page(&self, helped: &AfterAnswer) -> serde_json::Result<Value> {
        let mut value = self.value();
        value["functions"] =
            self.functions.iter().take(FUNCTIONS_ON_PAGE).map(|d| self.delta_json(d)).collect();
        Ok(
            json!({ "verdict_of_change": self.verdict(), "after": serde_json::to_value(helped)?, "diff": value }),
        )
    }

    pub fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(&self.value()).map(|s| s + "\n")
    }

    fn value(&self) -> Value {
        let rows = |deltas: &[Delta]| -> Vec<Value> { deltas.iter().map(|d| self.delta_json(d)).collect() };
        json!({
            "samples": self.amounts,
            "units": [self.units[0].name(), self.units[1].name()],
            "cpu_s": self.cpu_s,
            "normalised": NORMALISED,
            "stages": rows(&self.stages),
            "threads": rows(&self.threads),
            "functions": rows(&self.functions),
        })
    }

    /// CPU seconds of `samples` of one side, where a sample's worth is known.
    fn seconds(&self, side: usize, samples: u64) -> Option<f64> {
        let total = self.amounts[side];
        self.cpu_s[side].filter(|_| total > 0).map(|cpu| cpu * samples as f64 / total as f64)
    }

    fn amount(&self, side: usize, amount: u64) -> String {
        match &self.units[side] {
            unit @ Unit::Nanos => unit.words(amount),
            _ => grouped(amount),
        }
    }

    fn delta_json(&self, d: &Delta) -> Value {
        let interval =
            |i: &zwhy_profile::Interval| json!({"value": i.value.0, "low": i.low.0, "high": i.high.0});
        json!({
            "name": d.name,
            "samples": [d.a, d.b],
            "cpu_s": [self.seconds(0, d.a), self.seconds(1, d.b)],
            "share_a": interval(&d.share_a),
            "share_b": interval(&d.share_b),
            "change": { "value": d.change, "low": d.change_low, "high": d.change_high },
            "p_value": d.p_value,
            "real": d.real,
        })
    }

    /// Rows of one kind; CPU seconds where both sides know them, else samples.
    fn table(&self, title: &str, deltas: &[Delta], count: usize, width: usize, style: Style) -> String {
        let right = Align::Right;
        let mut grid = Grid::new(0, &[right, right, right, right, right, Align::Left, Align::Left]).about(6);
        let unit = if self.cpu_s.iter().all(Option::is_some) { "CPU s" } else { self.units[0].name() };
        grid.row([unit, "after", "share", "after", "change", "95 %", title]);
        for d in deltas.iter().filter(|d| d.a + d.b > 0).take(count) {
            let mark = if d.real { "*" } else { " " };
            let amounts = match (self.seconds(0, d.a), self.seconds(1, d.b)) {
                (Some(a), Some(b)) => [format!("{a:.2}"), format!("{b:.2}")],
                _ => [self.amount(0, d.a), self.amount(1, d.b)],
            };
            let [before, after] = amounts;
            grid.row([
                before,
                after,
                format!("{:.1} %", d.share_a.value.percent()),
                format!("{:.1} %", d.share_b.value.percent()),
                format!("{:+.1}{mark}", d.change * 100.0),
                format!("{:+.1} … {:+.1}", d.change_low * 100.0, d.change_high * 100.0),
                if d.name.is_empty() { "(unnamed)".to_owned() } else { d.name.clone() },
            ]);
        }
        let mut out = String::new();
        for (i, line) in grid.lines(width).iter().enumerate() {
            out.push_str(&if i == 0 { style.bold(line) } else { line.clone() });
            out.push('\n');
        }
        out
    }
}

fn join([a, b]: [BTreeMap<String, u64>; 2]) -> Vec<Pair> {
    let mut pairs: BTreeMap<String, Pair> = BTreeMap::new();
    for (side, counts) in [a, b].into_iter().enumerate() {
        for (name, count) in counts {
            let pair = pairs.entry(name.clone()).or_insert_with(|| Pair { name, ..Pair::default() });
            if side == 0 { pair.a += count } else { pair.b += count }
        }
    }
    pairs.into_values().collect()
}

fn functions(profile: &Profile) -> BTreeMap<String, u64> {
    let mut out = BTreeMap::new();
    for row in FunctionTotals::of(profile, Event::Cpu).rows {
        *out.entry(profile.strings.get(row.function).to_owned()).or_default() += row.total;
    }
    out
}

/// Functions that run (nearly) only below the idle loop, itself included.
fn idle_functions(side: DiffSide<'_>) -> Vec<String> {
    let profile = side.profile;
    let mut idle: BTreeMap<&str, u64> = BTreeMap::new();
    for (index, count) in StackTotals::of(profile, Event::Cpu).own.into_iter().enumerate() {
        let Ok(stack) = u32::try_from(index).map(StackId) else { break };
        if count > 0 && side.classified.is_idle(stack) {
            let names: BTreeSet<&str> = profile.function_names(stack).into_iter().collect();
            names.into_iter().for_each(|name| *idle.entry(name).or_default() += count);
        }
    }
    let mostly = |name: &str, all: u64| idle.get(name).is_some_and(|idle| idle * 10 >= all * 9);
    functions(profile).into_iter().filter(|(name, all)| mostly(name, *all)).map(|(name, _)| name).collect()
}

fn threads(profile: &Profile) -> BTreeMap<String, u64> {
    let (mut out, amounts) = (BTreeMap::new(), profile.amounts());
    for (row, s) in profile.samples.iter().enumerate().filter(|(_, s)| s.event == Event::Cpu) {
        let comm = profile.strings.get(profile.threads.get(s.thread).comm);
        *out.entry(comm.to_owned()).or_default() += amounts.of(row);
    }
    out
}

fn stages(side: DiffSide<'_>) -> BTreeMap<String, u64> {
    let (profile, classified) = (side.profile, side.classified);
    let (mut out, amounts): (BTreeMap<String, u64>, _) = (BTreeMap::new(), profile.amounts());
    for (row, s) in profile.samples.iter().enumerate().filter(|(_, s)| s.event == Event::Cpu) {
        let stage = classified.stage_name(classified.stage_of(s.stack, s.thread));
        *out.entry(stage.to_owned()).or_default() += amounts.of(row);
    }
    out
}

fn cpu_seconds(profile: &Profile) -> Option<f64> {
    if !matches!(profile.measure(Event::Cpu).unit, Unit::Samples | Unit::Nanos) {
        return None;
    }
    let cpu = |row: &usize| profile.samples.event[*row] == Event::Cpu;
    let sum: i64 = (0..profile.samples.len()).filter(cpu).map(|row| profile.samples.weight[row].0).sum();
    (sum > 0).then(|| Nanos(sum).as_secs_f64())
}
