//! Answers from counted samples. Shares are of busy CPU: idle samples are left out, so that a
//! quiet host and a full one are judged alike.

use super::catalogue::Function;
use super::index::{Span, StackIndex};
use super::query::Query;
use super::reading::{Quality, Reading, Value};
use super::stages::StageSums;
use crate::anatomy::{Anatomy, NOT_ZFS, StageId};
use crate::classify::Classified;
use crate::pattern::Pattern;
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::sync::OnceLock;
use zwhy_profile::{Event, FrameKind, Profile, Sampling, StackId, StackTotals, StringId, ThreadId};
use zwhy_zfs::thread_base;

const ORIGIN: &str = "samples";
/// Part of busy CPU from which a function counts as seen, where a condition does not say: less than that
/// makes no CPU busy, and a long profile has seen everything once.
pub const PRESENT: f64 = 0.01;

/// CPU samples of a profile, classified and indexed.
pub struct CpuFacts<'a> {
    profile: &'a Profile,
    pub classified: Cow<'a, Classified>,
    pub stages: StageSums,
    /// CPU samples that end at each stack, idle ones included.
    pub own: Vec<u64>,
    /// All of them, as amounts and as numbers of samples.
    pub sampling: Sampling,
    /// All CPU samples, in the unit of the profile, as all sums here are.
    pub all: u64,
    /// Those that were not idle.
    pub busy: u64,
    pub index: StackIndex,
    waiting: OnceLock<Option<StackIndex>>,
    /// `(thread, preorder number, count)` of busy samples, in preorder.
    by_thread: OnceLock<Vec<(ThreadId, u32, u64)>>,
    /// Busy samples by thread name, each name with what it is without its number: many questions
    /// ask of threads, and hosts have far more threads than names.
    by_comm: OnceLock<Vec<(StringId, &'a str, u64)>>,
}

impl<'a> CpuFacts<'a> {
    pub fn new(profile: &'a Profile, classified: Cow<'a, Classified>) -> CpuFacts<'a> {
        let own = StackTotals::of(profile, Event::Cpu).own;
        let stages = StageSums::of(profile, &classified);
        let all = own.iter().fold(0u64, |sum, n| sum.saturating_add(*n));
        let busy_own: Vec<u64> = own
            .iter()
            .zip(0u32..)
            .map(|(count, stack)| if classified.is_idle(StackId(stack)) { 0 } else { *count })
            .collect();
        CpuFacts {
            profile,
            all,
            sampling: Sampling { amount: all, ..profile.sampling(Event::Cpu) },
            busy: busy_own.iter().fold(0u64, |sum, n| sum.saturating_add(*n)),
            index: StackIndex::new(profile, &busy_own),
            classified,
            stages,
            own,
            waiting: OnceLock::new(),
            by_thread: OnceLock::new(),
            by_comm: OnceLock::new(),
        }
    }

    fn share(&self, samples: u64) -> Option<Reading> {
        Reading::share(samples, self.busy, &self.sampling, ORIGIN)
    }

    /// Whether so many busy samples show that something is there: from `least` of busy CPU on, else from
    /// [`PRESENT`]. Unknown where the samples are too few to tell; where the source does not say how many there
    /// were, the share itself decides.
    pub fn present(&self, samples: u64, least: Option<f64>) -> Option<Reading> {
        let least = least.unwrap_or(PRESENT);
        let share = self.sampling.interval(samples, self.busy);
        let low = if self.sampling.counted { share.low.0 } else { share.value.0 };
        let (enough, too_little) = (low >= least, share.value.0 < least);
        let truth = Reading::new(Value::Truth(enough), Quality::Counted, ORIGIN);
        (enough || too_little).then_some(Reading { interval: Some(share), ..truth })
    }

    fn spans(&self, pattern: &Pattern) -> Vec<Span> {
        self.index.nodes(&self.index.matching(pattern))
    }

    pub fn answer(&self, query: &Query, anatomy: &Anatomy) -> Option<Reading> {
        use Function as F;
        let pattern = |at: usize| query.patterns.get(at);
        match query.function {
            F::Share => self.share(self.index.inclusive(&self.spans(pattern(0)?))),
            F::SelfShare => self.share(self.index.own(&self.spans(pattern(0)?))),
            F::UnderNot => {
                let below = self.index.below(&self.spans(pattern(0)?), &self.spans(pattern(1)?));
                let kept = self.index.not_below(&below, &self.spans(pattern(2)?));
                self.share(self.index.inclusive(&kept))
            }
            F::CalledBy => {
                let direct = self.index.directly_below(&self.spans(pattern(0)?), &self.spans(pattern(1)?));
                self.share(self.index.inclusive(&direct))
            }
            F::Seen => {
                let spans = self.spans(pattern(0)?);
                self.present(self.index.inclusive(&spans), query.least)
            }
            F::Under => self.share(self.below(pattern(0)?, pattern(1)?)),
            F::Calls => self.present(self.below(pattern(1)?, pattern(0)?), query.least),
            F::PartOf => {
                let whole = self.index.inclusive(&self.spans(pattern(1)?));
                self.part(self.below(pattern(0)?, pattern(1)?), whole)
            }
            F::Stage => {
                let stage = anatomy.stage(query.argument(0))?;
                self.share(self.stages.of_stage(stage))
            }
            F::Label => {
                let label = anatomy.label(query.argument(0))?;
                self.share(self.stages.labelled(|stage, of| of == label && stage > NOT_ZFS))
            }
            F::LabelIn => {
                let (label, stage) = (anatomy.label(query.argument(0))?, anatomy.stage(query.argument(1))?);
                let part = self.stages.labelled(|in_stage, of| of == label && in_stage == stage);
                self.part(part, self.stages.of_stage(stage))
            }
            F::InThread => self.share(self.in_thread(pattern(0)?, pattern(1)?)),
            _ => None,
        }
    }

    /// A part of some busy samples: of what is hardly there no part says anything.
    fn part(&self, part: u64, whole: u64) -> Option<Reading> {
        let there = self.present(whole, None)?;
        (there.value == Value::Truth(true)).then(|| Reading::share(part, whole, &self.sampling, ORIGIN))?
    }

    fn below(&self, inner: &Pattern, outer: &Pattern) -> u64 {
        self.index.inclusive(&self.index.below(&self.spans(inner), &self.spans(outer)))
    }

    /// Stages of the samples that end at a stack, each with its amount.
    pub fn stages_of(&self, stack: usize) -> impl Iterator<Item = (StageId, u64)> + '_ {
        let id = StackId(stack as u32);
        let moved = self.stages.by_thread.get(&id).map_or(&[][..], Vec::as_slice);
        let rest = self.own.get(stack).copied().unwrap_or(0) - moved.iter().map(|(_, n)| n).sum::<u64>();
        std::iter::once((self.classified.of_functions(id), rest)).chain(moved.iter().copied())
    }

    fn count_nodes(&self, keep: impl Fn(usize) -> bool) -> u64 {
        self.own.iter().enumerate().filter(|(node, count)| **count > 0 && keep(*node)).map(|(_, c)| c).sum()
    }

    /// Busy samples below any of `functions`, and the spans of their outermost nodes.
    pub fn spans_of(&self, functions: &Pattern, within: Option<&Pattern>) -> Vec<Span> {
        let spans = self.spans(functions);
        match within {
            Some(outer) => self.index.below(&spans, &self.spans(outer)),
            None => spans,
        }
    }

    /// Preorder number of a stack, as in [`Span`].
    pub fn preorder(&self, stack: usize) -> u32 {
        self.index.preorder(StackId(stack as u32))
    }

    pub fn heaviest(&self, pattern: &Pattern, most: usize) -> Vec<String> {
        let names = self.index.matching(pattern);
        self.index.heaviest(&names, most).iter().map(|(n, _)| self.index.name(*n).to_owned()).collect()
    }

    fn by_thread(&self) -> &[(ThreadId, u32, u64)] {
        self.by_thread.get_or_init(|| {
            let (samples, amounts) = (&self.profile.samples, self.profile.amounts());
            let mut rows: Vec<(ThreadId, u32, u64)> = (0..samples.len())
                .filter(|i| samples.event[*i] == Event::Cpu)
                .filter(|i| !self.classified.is_idle(samples.stack[*i]))
                .map(|i| {
                    let at = self.index.preorder(samples.stack[i]);
                    (samples.thread[i], at, amounts.of(i))
                })
                .collect();
            rows.sort_unstable_by_key(|(_, at, _)| *at);
            rows
        })
    }

    fn by_comm(&self) -> &[(StringId, &'a str, u64)] {
        self.by_comm.get_or_init(|| {
            let profile = self.profile;
            let mut counts: FxHashMap<StringId, u64> =
                profile.threads.iter().map(|(_, t)| (t.comm, 0)).collect();
            for (thread, _, count) in self.by_thread() {
                *counts.entry(profile.threads.get(*thread).comm).or_default() += count;
            }
            let base = |comm| thread_base(profile.strings.get(comm));
            counts.into_iter().map(|(comm, count)| (comm, base(comm), count)).collect()
        })
    }

    /// Names, with their busy samples, that a pattern matches with or without their number.
    fn comms_like(&self, pattern: &Pattern) -> impl Iterator<Item = (StringId, u64)> {
        let matches = |comm: StringId, base: &str| {
            pattern.matches(base) || pattern.matches(self.profile.strings.get(comm))
        };
        self.by_comm().iter().filter(move |(comm, base, _)| matches(*comm, base)).map(|r| (r.0, r.2))
    }

    fn threads_like(&self, pattern: &Pattern) -> Vec<bool> {
        let comms: FxHashSet<StringId> = self.comms_like(pattern).map(|(comm, _)| comm).collect();
        self.profile.threads.iter().map(|(_, t)| comms.contains(&t.comm)).collect()
    }

    fn in_thread(&self, functions: &Pattern, threads: &Pattern) -> u64 {
        let wanted = self.threads_like(threads);
        let spans: Vec<Span> = super::index::outermost(&self.spans(functions)).collect();
        let inside = |at: u32| {
            let i = spans.partition_point(|s| s.start <= at);
            i > 0 && at < spans[i - 1].end
        };
        let rows = self.by_thread().iter();
        rows.filter(|(t, at, _)| wanted.get(t.index()) == Some(&true) && inside(*at)).map(|r| r.2).sum()
    }

    /// Busy samples on threads called like that.
    pub fn thread_samples(&self, threads: &Pattern) -> u64 {
        self.comms_like(threads).map(|(_, count)| count).sum()
    }

    /// Part of waiting samples in some functions; `None` without waiting samples.
    pub fn wait_share(&self, pattern: &Pattern) -> Option<Reading> {
        let index = self.waiting.get_or_init(|| {
            let own = StackTotals::of(self.profile, Event::Wait).own;
            own.iter().any(|c| *c > 0).then(|| StackIndex::new(self.profile, &own))
        });
        let index = index.as_ref()?;
        let part = index.inclusive(&index.nodes(&index.matching(pattern)));
        Reading::share(part, index.total(), &self.profile.sampling(Event::Wait), "waiting samples")
    }

    pub fn busy_share(&self) -> Option<Reading> {
        Reading::share(self.busy, self.all, &self.sampling, ORIGIN)
    }

    /// Part of busy samples whose leaf is kernel code; `None` where the source does not say.
    pub fn kernel_share(&self) -> Option<Reading> {
        // What is inlined is of the kind of the frame it is in.
        let kind = |node: usize| {
            let mut stack = StackId(node as u32);
            loop {
                let frame = self.profile.stacks.frame(stack)?;
                match self.profile.frames.get(frame).kind {
                    FrameKind::Inlined => stack = self.profile.stacks.parent(stack),
                    kind => return Some(kind),
                }
            }
        };
        let not_idle = |node: usize| !self.classified.is_idle(StackId(node as u32));
        let kernel = self.count_nodes(|n| not_idle(n) && kind(n) == Some(FrameKind::Kernel));
        let user = self.count_nodes(|n| not_idle(n) && kind(n) == Some(FrameKind::User));
        if (kernel + user) * 2 < self.busy {
            return None;
        }
        self.share(kernel)
    }
}
