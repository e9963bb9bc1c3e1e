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
    in_preorder: OnceLock<InPreorder>,
    /// Busy samples by thread.
    thread_sums: OnceLock<Vec<u64>>,
    /// Busy samples by thread name, each name with what it is without its number: many questions
    /// ask of threads, and hosts have far more threads than names.
    by_comm: OnceLock<Vec<(StringId, &'a str, u64)>>,
}

/// Rows of busy samples, sorted by their stacks.
struct InPreorder {
    /// `rows[starts[p]..starts[p + 1]]` are those at preorder number `p`.
    starts: Vec<u32>,
    rows: Vec<u32>,
}

impl InPreorder {
    fn below(&self, span: Span) -> &[u32] {
        let start = |at: u32| self.starts.get(at as usize).map_or(self.rows.len(), |start| *start as usize);
        self.rows.get(start(span.start)..start(span.end)).unwrap_or_default()
    }
}

impl<'a> CpuFacts<'a> {
    pub fn new(profile: &'a Profile, classified: Cow<'a, Classified>) -> CpuFacts<'a> {
        let own = StackTotals::own_of(profile, Event::Cpu);
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
            in_preorder: OnceLock::new(),
            thread_sums: OnceLock::new(),
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
        if let Some(spans) = self.spans_asked(query) {
            let whole = query.patterns.get(1).filter(|_| query.function == F::PartOf);
            let whole = whole.map(|whole| self.index.inclusive(&self.spans(whole)));
            return self.answer_of(query, self.index.inclusive(&spans), whole);
        }
        match query.function {
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
            F::InThread => self.share(self.in_thread(query.patterns.first()?, query.patterns.get(1)?)),
            _ => None,
        }
    }

    /// Where the stacks are that a question about functions asks for, in preorder; `None` for other questions.
    fn spans_asked(&self, query: &Query) -> Option<Vec<Span>> {
        use Function as F;
        let spans = |at: usize| Some(self.spans(query.patterns.get(at)?));
        Some(match query.function {
            F::Share | F::Seen => spans(0)?,
            F::SelfShare => super::index::alone(spans(0)?),
            F::Under | F::PartOf => self.index.below(&spans(0)?, &spans(1)?),
            F::Calls => self.index.below(&spans(1)?, &spans(0)?),
            F::UnderNot => self.index.not_below(&self.index.below(&spans(0)?, &spans(1)?), &spans(2)?),
            F::CalledBy => self.index.directly_below(&spans(0)?, &spans(1)?),
            _ => return None,
        })
    }

    /// What busy samples that a question about functions asks for come to: a share of busy CPU, or whether they
    /// are enough to be seen; `whole` is what a part is of.
    pub fn answer_of(&self, query: &Query, samples: u64, whole: Option<u64>) -> Option<Reading> {
        match query.function {
            Function::Seen | Function::Calls => self.present(samples, query.least),
            Function::PartOf => self.part(samples, whole?),
            _ => self.share(samples),
        }
    }

    /// Busy samples that a question about functions or threads asks for, by thread of the profile; `None` where it
    /// asks for something else, or where there are no samples.
    pub fn by_thread_asked(&self, query: &Query) -> Option<Vec<u64>> {
        use Function as F;
        let mut sums = match query.function {
            _ if self.busy == 0 => return None,
            F::InThread => self.sums_by_thread(&self.spans(query.patterns.first()?)),
            F::ThreadShare => self.thread_sums().to_vec(),
            _ => self.sums_by_thread(&self.spans_asked(query)?),
        };
        let threads = match query.function {
            F::InThread => query.patterns.get(1)?,
            F::ThreadShare => query.patterns.first()?,
            _ => return Some(sums),
        };
        let wanted = self.threads_like(threads);
        sums.iter_mut().zip(wanted).filter(|(_, wanted)| !wanted).for_each(|(sum, _)| *sum = 0);
        Some(sums)
    }

    /// Of a question for a part, what that is of, by thread of the profile.
    pub fn whole_by_thread(&self, query: &Query) -> Option<Vec<u64>> {
        let whole = query.patterns.get(1).filter(|_| query.function == Function::PartOf)?;
        Some(self.sums_by_thread(&self.spans(whole)))
    }

    fn sums_by_thread(&self, spans: &[Span]) -> Vec<u64> {
        let (samples, amounts) = (&self.profile.samples, self.profile.amounts());
        let mut sums = vec![0u64; self.profile.threads.len()];
        for span in super::index::outermost(spans) {
            for row in self.in_preorder().below(span) {
                if let Some(sum) = sums.get_mut(samples.thread[*row as usize].index()) {
                    *sum += amounts.of(*row as usize);
                }
            }
        }
        sums
    }

    /// Threads of the profile that have CPU samples, with their busy ones.
    pub fn busy_by_thread(&self) -> impl Iterator<Item = (ThreadId, u64)> {
        (0..).map(ThreadId).zip(self.thread_sums().iter().copied()).filter(|(_, busy)| *busy > 0)
    }

    /// Busy samples at each stack of some threads, by stack id.
    pub fn own_of(&self, threads: &[bool]) -> Vec<u64> {
        let (samples, amounts) = (&self.profile.samples, self.profile.amounts());
        let mut own = vec![0u64; self.own.len()];
        for row in (0..samples.len()).filter(|row| samples.event[*row] == Event::Cpu) {
            if threads.get(samples.thread[row].index()) == Some(&true) {
                own[samples.stack[row].index()] += amounts.of(row);
            }
        }
        own
    }

    /// A part of some busy samples: of what is hardly there no part says anything.
    fn part(&self, part: u64, whole: u64) -> Option<Reading> {
        let there = self.present(whole, None)?;
        (there.value == Value::Truth(true)).then(|| Reading::share(part, whole, &self.sampling, ORIGIN))?
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

    /// Rows of busy samples in the order of their stacks, and where those of each stack begin, by preorder number.
    fn in_preorder(&self) -> &InPreorder {
        self.in_preorder.get_or_init(|| {
            let samples = &self.profile.samples;
            let of = |row: u32| self.index.preorder(samples.stack[row as usize]) as usize;
            // Sorted by counting, as there are fewer stacks than samples.
            let mut starts = vec![0u32; self.profile.stacks.len() + 1];
            self.busy_rows().for_each(|row| starts[of(row) + 1] += 1);
            for at in 1..starts.len() {
                starts[at] += starts[at - 1];
            }
            let mut rows = vec![0u32; starts.last().map_or(0, |all| *all as usize)];
            let mut next = starts.clone();
            for row in self.busy_rows() {
                let slot = &mut next[of(row)];
                rows[*slot as usize] = row;
                *slot += 1;
            }
            InPreorder { starts, rows }
        })
    }

    fn busy_rows(&self) -> impl Iterator<Item = u32> {
        let samples = &self.profile.samples;
        let is_busy = |row: &u32| {
            let row = *row as usize;
            samples.event[row] == Event::Cpu && !self.classified.is_idle(samples.stack[row])
        };
        (0..samples.len() as u32).filter(is_busy)
    }

    /// Busy samples of each thread of the profile.
    fn thread_sums(&self) -> &[u64] {
        self.thread_sums.get_or_init(|| {
            let (samples, amounts) = (&self.profile.samples, self.profile.amounts());
            let mut sums = vec![0u64; self.profile.threads.len()];
            for row in self.busy_rows() {
                if let Some(sum) = sums.get_mut(samples.thread[row as usize].index()) {
                    *sum += amounts.of(row as usize);
                }
            }
            sums
        })
    }

    fn by_comm(&self) -> &[(StringId, &'a str, u64)] {
        self.by_comm.get_or_init(|| {
            let profile = self.profile;
            let mut counts: FxHashMap<StringId, u64> =
                profile.threads.iter().map(|(_, t)| (t.comm, 0)).collect();
            for ((_, thread), count) in profile.threads.iter().zip(self.thread_sums()) {
                *counts.entry(thread.comm).or_default() += count;
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
        if !wanted.contains(&true) {
            return 0;
        }
        let sums = self.sums_by_thread(&self.spans(functions));
        sums.into_iter().zip(wanted).filter(|(_, wanted)| *wanted).map(|(sum, _)| sum).sum()
    }

    /// The same of some threads alone, by thread of the profile.
    pub fn thread_samples_of(&self, like: &Pattern, of: &[bool]) -> u64 {
        let wanted = self.threads_like(like).into_iter().zip(of).map(|(like, of)| like && *of);
        self.thread_sums().iter().zip(wanted).filter(|(_, wanted)| *wanted).map(|(sum, _)| sum).sum()
    }

    /// Busy samples on threads called like that.
    pub fn thread_samples(&self, threads: &Pattern) -> u64 {
        self.comms_like(threads).map(|(_, count)| count).sum()
    }

    /// Part of waiting samples in some functions; `None` without waiting samples.
    pub fn wait_share(&self, pattern: &Pattern) -> Option<Reading> {
        let index = self.waiting.get_or_init(|| {
            let own = StackTotals::own_of(self.profile, Event::Wait);
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
