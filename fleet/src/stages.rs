//! CPU time by stage of ZFS's work: of all hosts, of each, and over time.
//!
//! Invariant: stages are those that the knowledge at hand gives to a stack now, whenever it was sampled; the samples of all
//! stages add up to all CPU samples.

use crate::groups::{Group, Placed};
use serde::Serialize;
use std::collections::BTreeMap;
use zwhy_diagnose::{Anatomy, Classified, IDLE, NOT_ZFS, StageId, classify};
use zwhy_profile::{Event, FrameKind};

/// CPU time of one stage.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StageRow {
    pub stage: String,
    /// In samples, or in the unit of the profile.
    pub samples: u64,
    /// Part of all, 0 to 1.
    pub share: f64,
}

/// CPU time of one stage in one step of time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StagePoint {
    pub host: String,
    pub begin_ms: i64,
    pub stage: String,
    pub samples: u64,
}

/// CPU time of one host.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HostCpu {
    pub samples: u64,
    /// Parts of all samples, 0 to 1: of CPUs without work, of the kernel (idle CPUs left out), of work of ZFS.
    pub idle: f64,
    pub kernel: f64,
    pub zfs: f64,
    /// The stage of ZFS with most samples.
    pub most: Option<String>,
}

/// Groups with the stage of each.
pub struct Staged<'a> {
    groups: &'a [Group],
    placed: &'a Placed,
    pub classified: Classified,
}

impl<'a> Staged<'a> {
    pub fn new(groups: &'a [Group], placed: &'a Placed, anatomy: &Anatomy) -> Staged<'a> {
        Staged { groups, placed, classified: classify(&placed.profile, anatomy) }
    }

    /// CPU groups with what they amount to, their stage, and whether they end in the kernel.
    fn rows(&self) -> impl Iterator<Item = (&'a Group, u64, StageId, bool)> + '_ {
        let rows = self.groups.iter().zip(&self.placed.at).filter(|(group, _)| group.event == Event::Cpu);
        rows.map(move |(group, (thread, stack))| {
            let profile = &self.placed.profile;
            let leaf = profile.stacks.frame(*stack).map(|frame| profile.frames.get(frame).kind);
            let stage = self.classified.stage_of(*stack, *thread);
            (group, self.placed.amount(group), stage, leaf == Some(FrameKind::Kernel))
        })
    }

    /// All stages that have samples, the largest first.
    pub fn table(&self) -> Vec<StageRow> {
        let mut of: BTreeMap<StageId, u64> = BTreeMap::new();
        self.rows().for_each(|(_, amount, stage, _)| *of.entry(stage).or_default() += amount);
        let all: u64 = of.values().sum();
        let row = |(stage, samples): (StageId, u64)| {
            let stage = self.classified.stage_name(stage).to_owned();
            StageRow { stage, samples, share: samples as f64 / all.max(1) as f64 }
        };
        let mut rows: Vec<StageRow> = of.into_iter().filter(|(_, n)| *n > 0).map(row).collect();
        rows.sort_by(|a, b| b.samples.cmp(&a.samples).then_with(|| a.stage.cmp(&b.stage)));
        rows
    }

    /// Stages of each host in each step of time that began at `from_ms`.
    pub fn over_time(&self, from_ms: i64, step_ms: i64) -> Vec<StagePoint> {
        let mut of: BTreeMap<(&str, i64, StageId), u64> = BTreeMap::new();
        for (group, amount, stage, _) in self.rows() {
            *of.entry((group.host.as_str(), group.step, stage)).or_default() += amount;
        }
        let point = |((host, step, stage), samples): ((&str, i64, StageId), u64)| StagePoint {
            host: host.to_owned(),
            begin_ms: from_ms.saturating_add(step.saturating_mul(step_ms)),
            stage: self.classified.stage_name(stage).to_owned(),
            samples,
        };
        of.into_iter().map(point).collect()
    }

    /// CPU time by host.
    pub fn hosts(&self) -> BTreeMap<&'a str, HostCpu> {
        let mut all: BTreeMap<&str, BTreeMap<(StageId, bool), u64>> = BTreeMap::new();
        for (group, amount, stage, kernel) in self.rows() {
            *all.entry(&group.host).or_default().entry((stage, kernel)).or_default() += amount;
        }
        all.into_iter().map(|(host, of)| (host, self.host(&of))).collect()
    }

    fn host(&self, of: &BTreeMap<(StageId, bool), u64>) -> HostCpu {
        let samples: u64 = of.values().sum();
        let sum = |wanted: &dyn Fn(StageId, bool) -> bool| -> f64 {
            let wanted = of.iter().filter(|((stage, kernel), _)| wanted(*stage, *kernel));
            wanted.map(|(_, n)| n).sum::<u64>() as f64 / samples.max(1) as f64
        };
        let is_zfs = |stage: StageId| !matches!(stage, IDLE | NOT_ZFS);
        let mut stages: BTreeMap<StageId, u64> = BTreeMap::new();
        of.iter()
            .filter(|((stage, _), _)| is_zfs(*stage))
            .for_each(|((stage, _), n)| *stages.entry(*stage).or_default() += n);
        let most = stages.into_iter().max_by_key(|(_, n)| *n);
        HostCpu {
            samples,
            idle: sum(&|stage, _| stage == IDLE),
            kernel: sum(&|stage, kernel| kernel && stage != IDLE),
            zfs: sum(&|stage, _| is_zfs(stage)),
            most: most.map(|(stage, _)| self.classified.stage_name(stage).to_owned()),
        }
    }
}
