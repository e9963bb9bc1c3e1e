//! The answer as data: what `zwhy explain --json` prints and every face shows.
//!
//! Shares are fractions 0 to 1 of all CPU samples; `whole` says what these are of.

use crate::bottleneck::Bottleneck;
use crate::demand::Demand;
use serde::Serialize;
use std::collections::BTreeMap;
use zwhy_evidence::{ImportStats, Itself};
use zwhy_profile::{Interval, Sampling};

/// Version of the answer's layout.
pub const SCHEMA: u32 = 1;

/// A share with its 95 % interval; without counts both ends are the value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
pub struct ShareOf {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl ShareOf {
    pub fn counted(part: u64, whole: u64) -> ShareOf {
        ShareOf::sampled(&Sampling::counted(whole), part, whole)
    }

    /// Of amounts; without an interval where the source does not say how many samples there were.
    pub fn sampled(sampling: &Sampling, part: u64, whole: u64) -> ShareOf {
        let Interval { value, low, high } = sampling.interval(part, whole);
        if !sampling.counted {
            return ShareOf::figure(value.0);
        }
        ShareOf { value: value.0, low: low.0, high: high.0 }
    }

    pub fn figure(value: f64) -> ShareOf {
        ShareOf { value, low: value, high: value }
    }
}

/// What the answer is about.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
pub struct Source {
    pub name: String,
    /// `record`, `lab`, `import`, or "" where the source does not say.
    pub kind: String,
    pub host: Option<String>,
    pub kernel: Option<String>,
    pub os: Option<String>,
    pub zfs_version: Option<String>,
    pub duration_s: Option<f64>,
    pub hz: Option<f64>,
    /// How many CPU samples there were; `None` where the source does not say.
    pub samples: Option<u64>,
    /// What they amount to, in `unit`; so do the `samples` of stages, threads and paths.
    pub amount: u64,
    /// `samples`, `nanoseconds`, `bytes`, or an event such as `cycles`.
    pub unit: String,
    /// `None` where the source was cut and nobody knows how many followed.
    pub lost: Option<u64>,
    /// Whether ZFS holds any pool; `None` where that is not known.
    pub zfs_in_use: Option<bool>,
}

/// What all shares of CPU in the answer are of.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
pub struct WholeAnswer {
    /// `the CPU time of fio`, `this host's CPU, idle time included`.
    pub what: String,
    /// Seconds of CPU time in it; where it is all of a host, those that were busy. `None` where the source does not say how often it sampled.
    pub cpu_s: Option<f64>,
    /// The same as a part of all that this host's CPUs had, 0 to 1; `None` where nothing tells, or where it is the host.
    pub of_host: Option<f64>,
    /// Idle time is part of it: the samples are of all that the host's CPUs had.
    pub idle: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ConfidenceWord {
    High,
    Medium,
    Low,
}

/// From here on a finding is called confident: of ten such findings seven or more are right.
pub const CONFIDENT: f64 = 0.7;
/// From here on its confidence is high: of ten such findings nine are right.
pub const SURE: f64 = 0.9;

impl ConfidenceWord {
    pub fn of(confidence: f64) -> ConfidenceWord {
        match confidence {
            c if c >= SURE => ConfidenceWord::High,
            c if c >= CONFIDENT => ConfidenceWord::Medium,
            _ => ConfidenceWord::Low,
        }
    }

    /// As people read it.
    pub fn word(self) -> &'static str {
        match self {
            ConfidenceWord::High => "high",
            ConfidenceWord::Medium => "medium",
            ConfidenceWord::Low => "low",
        }
    }
}

/// How many times everything else would speed up without some work, at most.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
pub struct SpeedUp {
    /// `1 / (1 - share of busy CPU)`; `None` when that share is everything.
    pub at_most: Option<f64>,
    /// The same for the ends of the share's 95 % interval.
    pub low: f64,
    pub high: Option<f64>,
}

/// From the least to the most that is expected.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
pub struct Range {
    pub low: f64,
    pub high: f64,
}

/// What following the remedy should bring, for the same load on the same host.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
pub struct Gain {
    /// Part of ZFS's CPU for the same work that goes away, 0 to 1; `None` where nothing is promised.
    pub zfs_cpu_less: Option<Range>,
    /// Part of all busy CPU that goes away, what else runs on the host included.
    pub cpu_less: Option<Range>,
    /// How many times as much can be done, where the CPU is what limits.
    pub faster: Option<Range>,
    /// What makes that sure, or why nothing is promised.
    pub reason: String,
    /// All of it in words.
    pub text: String,
}

/// What the bounds of [`SpeedUp`] assume.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
pub struct WhatIf {
    /// Part of all that the host's CPUs had that was not idle; `None` where the evidence does not say.
    pub busy: Option<f64>,
    pub assumption: String,
}

/// What one CPU of this machine can do of some work.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
pub struct MachineLimit {
    /// `aes-256-gcm`, `zstd-3 compress`, `raidz2 gen_pq`.
    pub work: String,
    /// MB (10^6 bytes) per second of CPU time.
    pub mb_s: f64,
    /// Whose figure it is: a benchmark kstat of OpenZFS, or a library measured by `zwhy limits`.
    pub source: String,
    /// What ZFS got in this evidence, per CPU that was at this work.
    pub achieved_mb_s: Option<f64>,
    /// All of it in words.
    pub text: String,
}

/// What the evidence answered to one question of a sign, as a program reads it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
pub struct Figure {
    /// As causes ask it: `self_pct(aes_*)`.
    pub question: String,
    /// Shares are 0 to 1; `None` where the answer is a text, or yes or no.
    pub value: Option<f64>,
    /// Ends of the 95 % interval; both `None` where nothing was counted. Of yes or no they are of the share that
    /// decides it.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// `share`, `bytes`, `ns`, `percent`; empty of a number without a unit.
    pub unit: String,
    /// What a share is of; empty of other figures.
    pub of: String,
    /// The answer where it is not a number: a version, a property, `yes` or `no`.
    pub text: Option<String>,
}

/// One thing that speaks for a finding.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
pub struct EvidenceLine {
    pub claim: String,
    /// What was measured, in words; `figures` has the same as numbers.
    pub measure: String,
    pub figures: Vec<Figure>,
    pub source: String,
    pub frames: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
pub struct RemedyAnswer {
    pub text: String,
    /// Commands that show whether it is so and change nothing.
    pub look: Vec<String>,
    /// Commands to run as they stand, in this order.
    pub commands: Vec<String>,
    /// There are commands, and all name things of this host: nothing in capitals is to be replaced.
    pub complete: bool,
    /// Which datasets the commands are for, where that is not plain to see: where a value is inherited from.
    pub place: Vec<String>,
    /// Commands that take `commands` back, in this order, with what was recorded.
    pub undo: Vec<String>,
    /// Ways of which the user picks one.
    pub choices: Vec<ChoiceAnswer>,
    /// What no command does.
    pub advice: Vec<String>,
    /// What to know of the way back.
    pub undo_note: String,
    /// What becomes of blocks that are there already, where a property only changes new ones.
    pub rewrite: Option<String>,
    pub risk: String,
}

/// One of several ways.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
pub struct ChoiceAnswer {
    pub text: String,
    pub commands: Vec<String>,
    pub undo: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
pub struct RuledOut {
    pub class: String,
    pub why: String,
}

/// One thing that a finding is about.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
pub struct RowAnswer {
    /// `dataset`, `pool`, `vdev`, `thread` or `process`.
    pub kind: String,
    /// Of a thread or process with its number, where that is known.
    pub name: String,
    /// Bytes that it read and wrote a second, where counters tell.
    pub read_bytes_s: Option<f64>,
    pub written_bytes_s: Option<f64>,
    /// CPUs' worth of time that a thread or process took; 1 is one CPU full.
    pub cpus: Option<f64>,
    /// Of what the guilty rows read and wrote together, or of their CPU time, the part that is its own.
    pub part: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
pub struct Finding {
    pub class: String,
    pub title: String,
    pub confidence: f64,
    pub confidence_word: ConfidenceWord,
    /// Of all CPU samples; samples that a finding above accounts for are not counted again.
    pub share: Option<ShareOf>,
    /// The datasets, pools, vdevs, threads or processes that it is about, the busiest first.
    pub rows: Vec<RowAnswer>,
    /// Rows that are guilty too and are not listed.
    pub rows_more: u64,
    /// Rows that were not looked at one by one, as they do less than many others.
    pub rows_unseen: u64,
    /// Without the work that the share counts.
    pub without: Option<SpeedUp>,
    /// What this machine can do of that work.
    pub limits: Vec<MachineLimit>,
    pub evidence: Vec<EvidenceLine>,
    /// What speaks against it; each line has lowered the confidence.
    pub against: Vec<EvidenceLine>,
    pub explanation: String,
    pub remedy: RemedyAnswer,
    /// What the remedy should bring; `None` where the remedy has no commands.
    pub gain: Option<Gain>,
    /// What to measure to be surer.
    pub next: Vec<String>,
    pub rules_out: Vec<RuledOut>,
    pub experiment: Option<String>,
    pub references: Vec<String>,
    pub affected: String,
    pub fixed_in: Option<String>,
    /// What to upgrade, where this host's release is older than the fix.
    pub upgrade: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
pub struct LabelRow {
    pub label: String,
    pub share: ShareOf,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
pub struct WhoRow {
    pub thread: String,
    /// Of the stage.
    pub share: f64,
}

/// One stage; over all rows the samples add up to all samples.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
pub struct StageRow {
    pub stage: String,
    pub samples: u64,
    pub share: ShareOf,
    /// Generic work inside the stage, of all CPU samples.
    #[serde(rename = "self_label", skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<LabelRow>,
    /// Without this stage; `None` for what is not of ZFS.
    pub without: Option<SpeedUp>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<MachineLimit>,
    pub who: Vec<WhoRow>,
}

/// Threads of one name that wait in one place.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
pub struct WaitRow {
    /// The function that waits, and its caller: `spa_sync > zio_wait`.
    pub inside: String,
    /// `disk reads`, `a lock`, `memory`; empty where the functions do not say.
    pub waits_for: String,
    /// Who ends it: a disk, or a thread of ZFS; empty where that is not known.
    pub on: String,
    /// Stage of the work that waits.
    pub stage: String,
    pub thread: String,
    /// What the thread does for ZFS; empty when it is not of ZFS.
    pub role: String,
    pub samples: u64,
    /// Waiting time of all these threads together; 0 where the source has no times.
    pub wait_s: f64,
}

/// An operation in the profile.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
pub struct PathRow {
    pub name: String,
    pub root: String,
    pub samples: u64,
    pub share: ShareOf,
    pub steps: Vec<PathStep>,
    /// Samples of the path in none of its steps.
    pub rest: u64,
}

/// A part of a path.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
pub struct PathStep {
    /// The function of the step that has most of its samples.
    pub function: String,
    pub what: String,
    /// What the caller asked for.
    pub useful: bool,
    pub samples: u64,
    /// Of all CPU samples.
    pub share: ShareOf,
    /// Of the path, 0 to 1.
    pub of_path: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inside: Vec<PathStep>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
pub struct OriginRow {
    pub origin: String,
    pub samples: u64,
    pub share: ShareOf,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
pub struct ThreadRow {
    pub comm: String,
    /// What the thread does for ZFS; empty when it is not of ZFS.
    pub role: String,
    pub threads: usize,
    pub cpu_s: Option<f64>,
    /// CPUs' worth of time; 1 is one CPU full.
    pub cpu_share: Option<f64>,
    pub samples: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
pub struct Quality {
    pub read: u64,
    pub kept: u64,
    pub dropped: BTreeMap<String, u64>,
    /// `None` where the source was cut and nobody knows how many followed.
    pub lost: Option<u64>,
    pub lost_bytes: u64,
    /// Byte at which the source ends before its time.
    pub cut_at: Option<u64>,
    /// What is counted: samples, lines, boxes.
    pub unit: String,
    /// CPU samples whose leaf has no name, by reason.
    pub unresolved: BTreeMap<String, u64>,
    pub warnings: Vec<String>,
}

impl From<&ImportStats> for Quality {
    fn from(stats: &ImportStats) -> Quality {
        Quality {
            read: stats.read,
            kept: stats.kept,
            dropped: stats.dropped.clone(),
            lost: stats.lost_known(),
            lost_bytes: stats.lost_bytes,
            cut_at: stats.cut_at,
            unit: stats.unit.clone(),
            unresolved: BTreeMap::new(),
            warnings: stats.warnings.clone(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
pub struct Answer {
    pub zwhy: String,
    pub schema: u32,
    pub source: Source,
    /// What all shares of CPU are of; `None` where there are no samples.
    pub whole: Option<WholeAnswer>,
    pub why: String,
    #[serde(rename = "do")]
    pub act: Option<String>,
    /// What limits the load; `None` where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bottleneck: Option<Bottleneck>,
    /// Who asks for it: programs, datasets, work in the background; `None` where nothing is known of any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub demand: Option<Demand>,
    pub findings: Vec<Finding>,
    pub stages: Vec<StageRow>,
    pub origins: Vec<OriginRow>,
    /// Operations that matter here, by what they split into.
    pub paths: Vec<PathRow>,
    pub threads: Vec<ThreadRow>,
    /// What the recorder did; in none of the figures above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub itself: Option<Itself>,
    /// Where threads wait, longest first; apart from all CPU time, and without threads that wait for work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<WaitRow>,
    /// What the bounds on speed assume; `None` when there are none.
    pub what_if: Option<WhatIf>,
    pub quality: Quality,
    pub stats: serde_json::Value,
}
