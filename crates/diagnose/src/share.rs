//! The CPU that a cause accounts for; samples are never counted for two findings.

use crate::answer::ShareOf;
use crate::facts::{FactBase, Query, Value};
use crate::knowledge::CpuOf;
use crate::rows::Chosen;
use zwhy_profile::StackId;

/// Busy samples of a cause, whoever else claims them.
pub fn samples(cpu: &CpuOf, facts: &FactBase<'_>) -> u64 {
    Claims::default().count(cpu, None, facts)
}

/// The share of a cause as a report without samples has it, whoever else claims it; `None` where it says none.
pub fn figure(cpu: &CpuOf, facts: &FactBase<'_>) -> Option<f64> {
    let (name, argument) = match (&cpu.functions, &cpu.stage) {
        (Some(functions), _) => ("share", functions.to_string()),
        (None, Some(stage)) => ("stage", stage.clone()),
        _ => return None,
    };
    let query = Query::new(name, vec![argument]).ok()?;
    let Value::Number(share) = facts.answer(&query)?.value else { return None };
    Some(share)
}

/// The stage where most samples of a cause are, and how many there are; `None` without samples.
pub fn main_stage(cpu: &CpuOf, facts: &FactBase<'_>) -> Option<(u8, u64)> {
    let mut stages = vec![0u64; facts.cpu.classified.stages.len()];
    for (stack, _) in matching(cpu, None, facts) {
        for (stage, amount) in facts.cpu.stages_of(stack) {
            *stages.get_mut(usize::from(stage))? += amount;
        }
    }
    let (stage, samples) = stages.into_iter().enumerate().max_by_key(|(_, samples)| *samples)?;
    (samples > 0).then_some((stage as u8, samples))
}

/// Samples that findings already account for, by stack.
#[derive(Default)]
pub struct Claims {
    /// Samples of each stack that are taken; empty before the first claim.
    taken: Vec<u64>,
    /// Share taken by findings that rest on percentages.
    figures: f64,
}

/// Below this part of its own samples a cause only offers another view of samples already claimed.
const LEFT_OVER: f64 = 0.1;

impl Claims {
    /// The share of all CPU samples that is this cause's and nobody's before it; where it is about threads or
    /// processes, of their samples alone.
    pub fn claim(&mut self, cpu: &CpuOf, rows: Option<&Chosen>, facts: &FactBase<'_>) -> Option<ShareOf> {
        if cpu.is_empty() {
            return None;
        }
        if !facts.has_samples() {
            return self.claim_figure(cpu, facts);
        }
        let threads = rows.and_then(|rows| facts.rows().threads_of(rows.scope, &rows.guilty));
        let threads = threads.filter(|of| of.contains(&true));
        let own = threads.map(|threads| (facts.cpu.own_of(&threads), threads));
        let own = own.as_ref();
        let whole = Claims::default().count(cpu, own, facts);
        let free = self.count(cpu, own, facts);
        if whole == 0 || (free as f64) < LEFT_OVER * whole as f64 {
            return None;
        }
        self.take(cpu, own, facts);
        Some(ShareOf::sampled(&facts.cpu.sampling, free, facts.cpu.all))
    }

    fn claim_figure(&mut self, cpu: &CpuOf, facts: &FactBase<'_>) -> Option<ShareOf> {
        let share = figure(cpu, facts)?;
        let free = share.min(1.0 - self.figures);
        if free < LEFT_OVER * share || free <= 0.0 {
            return None;
        }
        self.figures += free;
        Some(ShareOf::figure(free))
    }

    fn count(&self, cpu: &CpuOf, own: Option<&Own>, facts: &FactBase<'_>) -> u64 {
        let taken = |stack: usize| self.taken.get(stack).copied().unwrap_or(0);
        if let (None, None, Some(threads)) = (&cpu.functions, &cpu.stage, &cpu.threads) {
            // Threads are told apart by sample, stacks are not: what is claimed is an upper bound.
            let all = match own {
                Some((_, of)) => facts.cpu.thread_samples_of(threads, of),
                None => facts.cpu.thread_samples(threads),
            };
            return all.saturating_sub(self.taken.iter().sum());
        }
        matching(cpu, own, facts).map(|(stack, amount)| amount.saturating_sub(taken(stack))).sum()
    }

    fn take(&mut self, cpu: &CpuOf, own: Option<&Own>, facts: &FactBase<'_>) {
        self.taken.resize(facts.cpu.own.len(), 0);
        for (stack, amount) in matching(cpu, own, facts) {
            self.taken[stack] = self.taken[stack].max(amount);
        }
    }
}

/// Samples at each stack of some threads, and which threads those are.
type Own = (Vec<u64>, Vec<bool>);

/// Stacks with busy samples that belong to a cause, and how many of theirs do; of some threads' samples alone where
/// `only` says so.
fn matching<'f>(
    cpu: &CpuOf,
    only: Option<&'f Own>,
    facts: &'f FactBase<'_>,
) -> impl Iterator<Item = (usize, u64)> + 'f {
    let spans: Option<Vec<_>> = cpu.functions.as_ref().map(|functions| {
        crate::facts::outermost(&facts.cpu.spans_of(functions, cpu.within.as_ref())).collect()
    });
    let stage = cpu.stage.as_deref().and_then(|s| facts.anatomy.stage(s));
    let nothing = spans.is_none() && stage.is_none();
    let own = only.map_or(&facts.cpu.own, |(own, _)| own);
    let stacks = own
        .iter()
        .zip(0u32..)
        .filter(move |(own, stack)| !nothing && **own > 0 && !facts.cpu.classified.is_idle(StackId(*stack)));
    stacks.filter_map(move |(own, stack)| {
        let stack = stack as usize;
        let in_span = spans.as_ref().is_none_or(|spans| {
            let at = facts.cpu.preorder(stack);
            let i = spans.partition_point(|s| s.start <= at);
            i > 0 && at < spans[i - 1].end
        });
        let of_stage = |stage| facts.cpu.stages_of(stack).filter(|(s, _)| *s == stage).map(|(_, n)| n).sum();
        let amount = stage.map_or(*own, of_stage).min(*own);
        (in_span && amount > 0).then_some((stack, amount))
    })
}
