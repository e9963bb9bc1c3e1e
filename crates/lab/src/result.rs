//! The result of an experiment as it is written to `result.json`. Times are seconds, sizes bytes,
//! MB and GB are powers of ten.

use crate::experiment::{Engine, Measure, Size, SizeSpec};
use crate::user::cures::Cure;
use crate::user::library::LibraryInfo;
use crate::{LabError, PhaseKind, Settings};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use zwhy_place::{Place, PlaceError};

/// Goes up when a reader of older results would misunderstand a newer one.
pub const SCHEMA: u32 = 1;

/// Name of the result inside the output folder.
pub const FILE_NAME: &str = "result.json";

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ExperimentResult {
    pub schema: u32,
    pub zwhy: String,
    pub experiment: String,
    pub title: String,
    pub question: String,
    pub expectation: String,
    /// One sentence with the figures.
    pub answer: String,
    /// Whether the figures came in the expected order; `None` when no order was expected.
    pub as_expected: Option<bool>,
    pub engine: Engine,
    pub references: Vec<String>,
    /// The command as it was given.
    pub command: Vec<String>,
    pub size: Size,
    pub size_spec: SizeSpec,
    pub seed: u64,
    /// Unix time.
    pub started_s: u64,
    pub library: LibraryInfo,
    pub cpu: Cpu,
    /// What was done about known distortions of OpenZFS in user space.
    pub cures: Vec<Cure>,
    /// What remains: where these figures differ from those of a kernel.
    pub distortions: Vec<String>,
    /// In the order they were made.
    pub runs: Vec<RunResult>,
    pub summary: Vec<Summary>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Cpu {
    pub model: String,
    pub cores: usize,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunResult {
    pub variant: String,
    pub axes: BTreeMap<String, String>,
    pub settings: Settings,
    pub repetition: u32,
    pub phases: Vec<PhaseResult>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PhaseResult {
    pub phase: PhaseKind,
    /// Bytes the application wrote or read; 0 for a phase that moves none.
    pub bytes: u64,
    pub wall_s: f64,
    pub user_s: f64,
    pub system_s: f64,
    pub mb_per_s: Option<f64>,
    pub cpu_s_per_gb: Option<f64>,
    /// Bytes of read and write calls of the whole process: what reached the vdev and what did not
    /// come from the ARC.
    pub device_read_bytes: u64,
    pub device_written_bytes: u64,
    /// CPU of OpenZFS threads alive at the end of the phase and of the application, by name, most first.
    pub threads: Vec<ThreadGroup>,
    pub marks: Vec<Mark>,
    pub capture: Option<Captured>,
}

impl PhaseResult {
    pub fn measure(&self, measure: Measure) -> Option<f64> {
        match measure {
            Measure::CpuSPerGb => self.cpu_s_per_gb,
            Measure::MbPerS => self.mb_per_s,
        }
    }
}

/// Threads of one name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThreadGroup {
    pub comm: String,
    /// How many used any CPU in the phase.
    pub threads: u32,
    pub cpu_s: f64,
}

/// An event inside a phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Monotonic clock of the host.
    pub t_ns: i64,
    pub name: String,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Captured {
    /// Relative to the output folder where possible.
    pub path: PathBuf,
    pub samples: u64,
    pub lost: u64,
}

/// All repetitions of one variant.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Summary {
    pub variant: String,
    pub phases: Vec<SummaryPhase>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SummaryPhase {
    pub phase: PhaseKind,
    pub mb_per_s: Option<Spread>,
    pub cpu_s_per_gb: Option<Spread>,
    /// Sums over the repetitions.
    pub threads: Vec<ThreadGroup>,
}

impl SummaryPhase {
    pub fn measure(&self, measure: Measure) -> Option<Spread> {
        match measure {
            Measure::CpuSPerGb => self.cpu_s_per_gb,
            Measure::MbPerS => self.mb_per_s,
        }
    }
}

/// Median and range of the repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    pub median: f64,
    pub least: f64,
    pub most: f64,
}

impl Spread {
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Spread> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let (least, most) = (*values.first()?, *values.last()?);
        let middle = values.len() / 2;
        let median =
            if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 };
        Some(Spread { median, least, most })
    }
}

impl ExperimentResult {
    /// Writes `result.json` into `folder`, whole or not at all.
    pub fn write(&self, folder: &Path) -> Result<PathBuf, LabError> {
        let path = folder.join(FILE_NAME);
        let text =
            serde_json::to_string_pretty(self).map_err(|e| PlaceError::refused(&path, e.into()))? + "\n";
        Place::of(&path)?
            .write(|out| out.write_all(text.as_bytes()).map_err(|e| PlaceError::refused(&path, e)))?;
        Ok(path)
    }
}

/// Brings the repetitions of each variant together, in the order of `labels`.
pub fn summarise(labels: &[String], runs: &[RunResult]) -> Vec<Summary> {
    let summary = |label: &String| {
        let own: Vec<&RunResult> = runs.iter().filter(|r| r.variant == *label).collect();
        let kinds = own.first().map_or(&[][..], |r| &r.phases).iter().map(|p| p.phase);
        let phases = kinds.map(|kind| summarise_phase(kind, &own)).collect();
        Summary { variant: label.clone(), phases }
    };
    labels.iter().map(summary).collect()
}

fn summarise_phase(kind: PhaseKind, runs: &[&RunResult]) -> SummaryPhase {
    let phases: Vec<&PhaseResult> = runs.iter().flat_map(|r| &r.phases).filter(|p| p.phase == kind).collect();
    let mut threads: BTreeMap<&str, (u32, f64)> = BTreeMap::new();
    for group in phases.iter().flat_map(|p| &p.threads) {
        let entry = threads.entry(&group.comm).or_default();
        entry.0 = entry.0.max(group.threads);
        entry.1 += group.cpu_s;
    }
    let mut threads: Vec<ThreadGroup> = threads
        .into_iter()
        .map(|(comm, (threads, cpu_s))| ThreadGroup { comm: comm.to_owned(), threads, cpu_s })
        .collect();
    threads.sort_by(|a, b| b.cpu_s.total_cmp(&a.cpu_s));
    SummaryPhase {
        phase: kind,
        mb_per_s: Spread::of(phases.iter().filter_map(|p| p.mb_per_s)),
        cpu_s_per_gb: Spread::of(phases.iter().filter_map(|p| p.cpu_s_per_gb)),
        threads,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_is_median_and_range() {
        assert_eq!(Spread::of([3.0, 1.0, 2.0]), Some(Spread { median: 2.0, least: 1.0, most: 3.0 }));
        assert_eq!(Spread::of([4.0, 1.0]), Some(Spread { median: 2.5, least: 1.0, most: 4.0 }));
        assert_eq!(Spread::of([]), None);
    }
}
