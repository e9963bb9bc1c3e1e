//! The result of an experiment as it is written to `result.json`. Times are seconds, sizes bytes,
//! MB and GB are powers of ten.

mod rows;
mod step;
mod summary;

pub use step::{Captured, Mark, StepResult, ThreadGroup};
pub use summary::{Summary, SummaryStep, summarise};

use crate::like::Likeness;
use crate::sample::Sampled;
use crate::spec::{Check, Engine, Measure, Setup, Size, SizeSpec, Stop};
use crate::stats::{self, Growth, Ratio, Surface};
use crate::user::cures::Cure;
use crate::user::library::LibraryInfo;
use crate::verdict::CheckResult;
use crate::{Interval, LabError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use zwhy_place::{Place, PlaceError};

/// Goes up when a reader of older results would misunderstand a newer one.
pub const SCHEMA: u32 = 2;

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
    /// What the outcome means for somebody's pool.
    pub meaning: String,
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
    /// The user's own files that were written, where they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Sampled>,
    /// The recorded host that settings were taken from, with what could not be taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub like: Option<Likeness>,
    /// The rule by which repetitions ended, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stopped>,
    pub seed: u64,
    /// Unix time.
    pub started_s: u64,
    pub library: LibraryInfo,
    pub cpu: Cpu,
    /// What was done about known distortions of OpenZFS in user space.
    pub cures: Vec<Cure>,
    /// What remains: where these figures differ from those of a kernel.
    pub distortions: Vec<String>,
    /// The figure that answers the question.
    pub figure: Figure,
    /// The stage of the pipeline whose part of the CPU is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// In the order they were made.
    pub runs: Vec<RunResult>,
    /// Runs that OpenZFS did not end.
    pub failed: Vec<FailedRun>,
    pub summary: Vec<Summary>,
    /// How much the figure differs between runs of the same cell, as a factor: the noise of this machine.
    pub noise: Option<f64>,
    /// How much the later runs took, as a factor of the earlier ones, where that is no accident.
    pub drift: Option<f64>,
    /// How much the first run of each cell took, as a factor of the later ones, where that is no accident.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<f64>,
    pub growth: Vec<GrowthResult>,
    /// Where two factors were asked to grow: how the figure grows with both.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub surfaces: Vec<SurfaceResult>,
    pub expected: Vec<Check>,
    pub checks: Vec<CheckResult>,
}

/// When enough repetitions were made.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stopped {
    pub rule: Stop,
    /// Repetitions after which it was enough; `None` where the most of the rule were not.
    pub after: Option<u32>,
}

/// A figure of one step.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Figure {
    pub step: String,
    pub measure: Measure,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Cpu {
    pub model: String,
    pub cores: usize,
}

/// One cell, once.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunResult {
    /// Place in the order of the runs, from 0.
    pub position: usize,
    /// Label of the cell.
    pub variant: String,
    pub factors: BTreeMap<String, String>,
    pub setup: Setup,
    /// Counted from 1.
    pub repetition: u32,
    pub steps: Vec<StepResult>,
}

impl RunResult {
    pub fn step(&self, name: &str) -> Option<&StepResult> {
        self.steps.iter().find(|step| step.name == name)
    }

    /// The value of a factor that is a number.
    pub fn size(&self, factor: &str) -> Option<f64> {
        self.factors.get(factor)?.parse().ok()
    }

    /// The factors but these: label of the curve that a run is on.
    pub fn others(&self, but: &[&str]) -> String {
        let others = self.factors.iter().filter(|(name, _)| !but.contains(&name.as_str()));
        others.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(" ")
    }
}

/// A run that ended before its last step, and why.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FailedRun {
    pub position: usize,
    pub variant: String,
    pub repetition: u32,
    /// With the last words of the process that ran OpenZFS.
    pub error: String,
}

/// How the figure grows with a factor, other factors held.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GrowthResult {
    /// The other factors: label of the curve.
    pub of: String,
    pub factor: String,
    pub step: String,
    pub measure: Measure,
    /// Of a function of OpenZFS, when it is one's own CPU; the whole step's otherwise.
    pub function: Option<String>,
    pub fit: Growth,
    /// Size and median cost with its interval.
    pub points: Vec<(f64, Interval)>,
}

/// How the figure grows with two factors at once, others held.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SurfaceResult {
    /// The other factors.
    pub of: String,
    pub factors: [String; 2],
    pub step: String,
    pub measure: Measure,
    pub fit: Surface,
    /// Both sizes and the median cost with its interval.
    pub points: Vec<(f64, f64, Interval)>,
}

impl ExperimentResult {
    /// Reads what [`ExperimentResult::write`] wrote.
    ///
    /// # Errors
    /// When there is no result in `folder`, it is damaged, or another version wrote it.
    pub fn read(folder: &Path) -> Result<ExperimentResult, LabError> {
        let path = folder.join(FILE_NAME);
        let text = std::fs::read_to_string(&path).map_err(|source| {
            LabError::unread("read the result of an experiment,", folder, path.clone(), source)
        })?;
        let schema: serde_json::Value = serde_json::from_str(&text).map_err(LabError::useless(&path))?;
        match schema.get("schema").and_then(serde_json::Value::as_u64) {
            Some(found) if found == u64::from(SCHEMA) => {
                serde_json::from_value(schema).map_err(LabError::useless(path))
            }
            found => Err(LabError::useless(path)(format!(
                "it has schema {}, this zwhy reads {SCHEMA}; run the experiment again, or use the zwhy that wrote it",
                found.map_or("of no number".to_owned(), |n| n.to_string())
            ))),
        }
    }

    /// Writes `result.json` into `folder`, whole or not at all.
    pub fn write(&self, folder: &Path) -> Result<PathBuf, LabError> {
        let path = folder.join(FILE_NAME);
        let text =
            serde_json::to_string_pretty(self).map_err(|e| PlaceError::refused(&path, e.into()))? + "\n";
        Place::of(&path)?
            .write(|out| out.write_all(text.as_bytes()).map_err(|e| PlaceError::refused(&path, e)))?;
        Ok(path)
    }

    /// Writes `result.parquet` into `folder`: a row for each figure of each step of each run.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_rows(&self, folder: &Path) -> Result<PathBuf, LabError> {
        rows::write(self, folder)
    }

    /// Probability that the interval of a ratio misses: where the runs were looked at several times, the part of one look.
    pub fn outside(&self) -> f64 {
        self.stop.map_or(stats::OUTSIDE, |stopped| stopped.rule.outside())
    }

    /// Labels of the cells, as they are summarised.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        self.summary.iter().map(|s| s.variant.as_str())
    }

    /// Names of the steps, as far as any run came.
    pub fn steps(&self) -> Vec<&str> {
        let longest = self.runs.iter().max_by_key(|run| run.steps.len());
        longest.into_iter().flat_map(|run| &run.steps).map(|step| step.name.as_str()).collect()
    }

    pub fn runs_of(&self, variant: &str) -> impl Iterator<Item = &RunResult> {
        self.runs.iter().filter(move |run| run.variant == variant)
    }

    /// The figures of a cell's runs.
    pub fn figures(&self, variant: &str, step: &str, measure: &Measure) -> Vec<f64> {
        self.values(variant, step, measure).into_values().collect()
    }

    /// A figure of one cell and step to that of another; `None` without runs that can be compared.
    pub fn ratio(&self, of: (&str, &str), to: (&str, &str), measure: &Measure) -> Option<Ratio> {
        let values = |(variant, step)| self.values(variant, step, measure);
        stats::paired_at(&stats::pairs(&values(of), &values(to)), self.outside())
    }

    /// The answering figure of a run.
    pub fn cost(&self, run: &RunResult) -> Option<f64> {
        self.figure.measure.of(run.step(&self.figure.step)?)
    }

    /// The figure of each run of a cell, by repetition.
    pub fn values(&self, variant: &str, step: &str, measure: &Measure) -> BTreeMap<u32, f64> {
        self.runs_of(variant).filter_map(|run| Some((run.repetition, measure.of(run.step(step)?)?))).collect()
    }
}
