//! CPU samples by stage, and by stage and label: what tables and conditions take their figures from.
//!
//! Invariant: the sums of all stages are all CPU samples of the profile.

use crate::anatomy::{NOT_ZFS, StageId};
use crate::classify::Classified;
use rustc_hash::FxHashMap;
use zwhy_profile::{Event, Profile, StackId};

/// Amounts in the unit of the profile, idle samples included.
#[derive(Clone, Debug, Default)]
pub struct StageSums {
    by_stage: Vec<u64>,
    /// By stage and, within it, by label; `None` where no sample is.
    by_label: Vec<Option<u64>>,
    labels: usize,
    /// Where the thread tells what the stack does not: the parts of a stack's samples that have another stage
    /// than its functions.
    pub by_thread: FxHashMap<StackId, Vec<(StageId, u64)>>,
}

impl StageSums {
    pub fn of(profile: &Profile, classified: &Classified) -> StageSums {
        let (samples, amounts) = (&profile.samples, profile.amounts());
        let (stages, labels) = (classified.stages.len(), classified.labels.len());
        let by_label = vec![None; stages * labels];
        let mut sums = StageSums { by_stage: vec![0; stages], by_label, labels, ..StageSums::default() };
        for row in (0..samples.len()).filter(|row| samples.event[*row] == Event::Cpu) {
            let (stack, amount) = (samples.stack[row], amounts.of(row));
            let stage = classified.stage_of(stack, samples.thread[row]);
            if let Some(sum) = sums.by_stage.get_mut(usize::from(stage)) {
                *sum = sum.saturating_add(amount);
            }
            let label = classified.node_label.get(stack.index()).copied().unwrap_or(0);
            if label != 0
                && let Some(sum) = sums.by_label.get_mut(usize::from(stage) * labels + usize::from(label))
            {
                *sum = Some(sum.unwrap_or(0).saturating_add(amount));
            }
            if stage != classified.of_functions(stack) {
                let parts = sums.by_thread.entry(stack).or_default();
                match parts.iter_mut().find(|(other, _)| *other == stage) {
                    Some((_, sum)) => *sum += amount,
                    None => parts.push((stage, amount)),
                }
            }
        }
        sums
    }

    /// All stages in the order of their ids.
    pub fn all(&self) -> impl Iterator<Item = (StageId, u64)> + '_ {
        (0..=StageId::MAX).zip(self.by_stage.iter().copied())
    }

    pub fn of_stage(&self, stage: StageId) -> u64 {
        self.by_stage.get(usize::from(stage)).copied().unwrap_or(0)
    }

    /// All stages of ZFS together.
    pub fn of_zfs(&self) -> u64 {
        self.all().filter(|(stage, _)| *stage > NOT_ZFS).map(|(_, amount)| amount).sum()
    }

    /// Samples of the stages and labels that are kept.
    pub fn labelled(&self, keep: impl Fn(StageId, u8) -> bool) -> u64 {
        let all =
            self.all().flat_map(|(stage, _)| self.labels_of(stage).map(move |(label, n)| (stage, label, n)));
        all.filter(|(stage, label, _)| keep(*stage, *label)).map(|(.., n)| n).sum()
    }

    /// Labels of a stage, each with its samples.
    pub fn labels_of(&self, stage: StageId) -> impl Iterator<Item = (u8, u64)> + '_ {
        let from = usize::from(stage) * self.labels;
        let of_stage = self.by_label.get(from..from + self.labels).unwrap_or_default();
        (0..=u8::MAX).zip(of_stage).filter_map(|(label, sum)| Some((label, (*sum)?)))
    }
}
