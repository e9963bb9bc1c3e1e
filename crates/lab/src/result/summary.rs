//! The repetitions of each cell brought together.

use super::{RunResult, StepResult, ThreadGroup};
use crate::spec::Measure;
use crate::stats::{Interval, median_interval};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// All repetitions of one cell.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Summary {
    pub variant: String,
    pub steps: Vec<SummaryStep>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SummaryStep {
    pub step: String,
    /// Medians with their 95 % intervals; of fewer than four repetitions with their range.
    pub mb_per_s: Option<Interval>,
    pub cpu_s_per_gb: Option<Interval>,
    pub cpu_ms_per_operation: Option<Interval>,
    pub wall_s: Option<Interval>,
    /// Sums over the repetitions.
    pub threads: Vec<ThreadGroup>,
}

impl Summary {
    pub fn step(&self, name: &str) -> Option<&SummaryStep> {
        self.steps.iter().find(|step| step.step == name)
    }
}

/// Brings the repetitions of each cell together, in the order of `labels`.
pub fn summarise(labels: &[String], runs: &[RunResult]) -> Vec<Summary> {
    let summary = |label: &String| {
        let own: Vec<&RunResult> = runs.iter().filter(|r| r.variant == *label).collect();
        let steps = own.first().map_or(&[][..], |r| &r.steps).iter();
        let steps = steps.map(|step| summarise_step(&step.name, &own)).collect();
        Summary { variant: label.clone(), steps }
    };
    labels.iter().map(summary).collect()
}

fn summarise_step(name: &str, runs: &[&RunResult]) -> SummaryStep {
    let steps: Vec<&StepResult> = runs.iter().filter_map(|r| r.step(name)).collect();
    let figure = |measure: Measure| {
        median_interval(&steps.iter().filter_map(|step| measure.of(step)).collect::<Vec<f64>>())
    };
    SummaryStep {
        step: name.to_owned(),
        mb_per_s: figure(Measure::MbPerS),
        cpu_s_per_gb: figure(Measure::CpuSPerGb),
        cpu_ms_per_operation: figure(Measure::CpuMsPerOperation),
        wall_s: figure(Measure::WallS),
        threads: all_threads(&steps),
    }
}

fn all_threads(steps: &[&StepResult]) -> Vec<ThreadGroup> {
    let mut threads: BTreeMap<String, (u32, f64)> = BTreeMap::new();
    for group in steps.iter().flat_map(|step| &step.threads) {
        let entry = threads.entry(group.comm.clone()).or_default();
        *entry = (entry.0.max(group.threads), entry.1 + group.cpu_s);
    }
    ThreadGroup::all(threads)
}
