//! The fact base: evidence indexed so that questions are answered once and fast, each answer with
//! where it comes from; what the evidence does not say stays unknown.

mod architecture;
mod catalogue;
mod compared;
mod cpu;
mod index;
mod locks;
mod number;
mod percent;
mod pool_disks;
mod query;
mod reading;
mod stages;
mod tables;
mod threads;
mod told;
mod values;
mod version;

#[cfg(test)]
mod tests;

pub use catalogue::{Argument, CATALOGUE, Family, Function, Kind, LISTS, OF_BUSY, ResultKind, Signature};
pub use cpu::CpuFacts;
pub use index::{Span, StackIndex, outermost};
pub use number::leading_number;
pub use query::Query;
pub use reading::{Quality, Reading, Value};
pub use tables::columns_like;
pub use threads::WORTH_NAMING;
pub use values::{chosen, value_like};
pub use version::{Requirement, has_fix};

use crate::anatomy::Anatomy;
use crate::bottleneck::alone_slow;
use crate::classify::Classified;
use crate::name::bare_names;
use crate::pattern::Pattern;
use crate::rows::Rows;
use crate::times::Times;
use percent::PercentFacts;
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};
use zwhy_evidence::{Evidence, VdevLoad};

/// All that can be asked of one host's evidence.
pub struct FactBase<'a> {
    pub evidence: &'a Evidence,
    pub anatomy: &'a Anatomy,
    pub cpu: Arc<CpuFacts<'a>>,
    percent: PercentFacts,
    /// Benchmarks that OpenZFS made of itself.
    pub benchmarks: Vec<zwhy_evidence::Table>,
    /// Lock statistics, of those locks that are waited for.
    locks: Vec<zwhy_evidence::Table>,
    /// Disks that a report lists as those of its pools.
    pool_disks: pool_disks::PoolDisks,
    rows: OnceLock<Rows<'a>>,
    times: OnceLock<Times>,
    vdev_loads: OnceLock<Vec<VdevLoad>>,
}

impl<'a> FactBase<'a> {
    #[cfg(test)]
    pub fn new(evidence: &'a Evidence, anatomy: &'a Anatomy) -> FactBase<'a> {
        FactBase::with(evidence, anatomy, Cow::Owned(crate::classify::classify(&evidence.profile, anatomy)))
    }

    /// Of a profile that is classified already.
    pub fn with(
        evidence: &'a Evidence,
        anatomy: &'a Anatomy,
        classified: Cow<'a, Classified>,
    ) -> FactBase<'a> {
        FactBase {
            evidence,
            anatomy,
            cpu: Arc::new(CpuFacts::new(&evidence.profile, classified)),
            percent: PercentFacts::new(evidence, anatomy),
            benchmarks: tables::benchmarks(&evidence.facts),
            locks: locks::contended(evidence).collect(),
            pool_disks: pool_disks::PoolDisks::of(evidence),
            rows: OnceLock::new(),
            times: OnceLock::new(),
            vdev_loads: OnceLock::new(),
        }
    }

    /// Pools, datasets, vdevs, threads and processes, each with what is known of it alone.
    pub fn rows(&self) -> &Rows<'a> {
        self.rows.get_or_init(|| Rows::new(self.evidence, self.cpu.clone()))
    }

    /// What was seen of each pool and disk that did something.
    pub fn vdev_loads(&self) -> &[VdevLoad] {
        self.vdev_loads.get_or_init(|| VdevLoad::all(&self.evidence.timeline))
    }

    /// Time by thread, on a CPU and waiting.
    pub fn times(&self) -> &Times {
        self.times.get_or_init(|| Times::of(&self.evidence.profile, &self.cpu.classified))
    }

    /// `true` when real CPU samples were counted, so that what is absent is known to be absent.
    pub fn has_samples(&self) -> bool {
        self.cpu.busy > 0
    }

    /// Answers a question; `None` when the evidence does not say.
    pub fn answer(&self, query: &Query) -> Option<Reading> {
        match query.signature().family {
            Family::Stacks => self.stack_answer(query),
            Family::Names => self.named(query),
            Family::Threads => self.thread_answer(query),
            Family::Waits if query.function == Function::SlowDisk => self.slow_disk(),
            Family::Waits => self.wait_answer(query),
            Family::Samples if query.function == Function::Busy => self.cpu.busy_share(),
            Family::Samples => self.cpu.kernel_share(),
            Family::Kstats => self.kstat_answer(query),
            Family::Parameters => self.param_answer(query),
            Family::Properties => self.property_answer(query),
            Family::Host => self.host_answer(query),
            Family::Tables => self.table_answer(query),
            Family::Lists => self.count_answer(query),
            Family::Facts => self.fact_answer(query),
        }
    }

    /// Of counted samples, else of percentages that somebody pasted.
    fn stack_answer(&self, query: &Query) -> Option<Reading> {
        let elsewhere = || (query.function == Function::Seen).then(|| self.seen_elsewhere(query)).flatten();
        if !self.has_samples() {
            return self.percent.answer(query, self.anatomy).or_else(elsewhere);
        }
        let counted = self.cpu.answer(query, self.anatomy);
        if counted.as_ref().is_some_and(|r| r.value != Value::Truth(false)) {
            return counted;
        }
        // A function may also be known from a waiting stack or a table of counts.
        elsewhere().or(counted)
    }

    /// Stage and share of each row of a flat list.
    pub fn flat_stages(&self) -> impl Iterator<Item = (crate::anatomy::StageId, f64)> + '_ {
        self.percent.stage_shares().map(|(stage, _, share)| (stage, share))
    }

    /// Whether all that is said of some functions is their name; a table of counts gives no share of CPU.
    fn named(&self, query: &Query) -> Option<Reading> {
        let pattern = query.patterns.first()?;
        let listed = self.percent.named(pattern, self.has_samples());
        let is_named = |reading: &Reading| reading.value == Value::Truth(true);
        if self.has_samples() || listed.as_ref().is_some_and(is_named) || self.percent.knows(pattern) {
            return listed;
        }
        self.seen_elsewhere(query).map(|r| Reading { quality: Quality::Named, ..r }).or(listed)
    }

    /// A function in a waiting stack or a cell of a table.
    fn seen_elsewhere(&self, query: &Query) -> Option<Reading> {
        let pattern = query.patterns.first()?;
        if let Some(waits) = self.wait_answer(query).filter(|r| r.value == Value::Truth(true)) {
            return Some(waits);
        }
        let named = |cell: &String| bare_names(cell).any(|name| pattern.matches(name));
        let table = self.tables().find(|t| t.rows.iter().flatten().any(named))?;
        Reading::truth(true, Quality::Figure, self.evidence.origin_name(table.origin))
    }

    fn slow_disk(&self) -> Option<Reading> {
        let (times, said) = alone_slow(self.evidence)?;
        let read = Reading::number(times, Quality::Figure, "the kernel's counters of disks")?;
        Some(Reading { said, ..read })
    }

    fn wait_answer(&self, query: &Query) -> Option<Reading> {
        let pattern = query.patterns.first()?;
        let waits = self.cpu.wait_share(pattern);
        if query.function == Function::WaitShare {
            return waits;
        }
        let counted = waits.and_then(|w| Reading::truth(w.value.number()? > 0.0, w.quality, w.origin));
        if counted.as_ref().is_some_and(|c| c.value == Value::Truth(true)) {
            return counted;
        }
        let stack = self.percent.waiting_with(pattern);
        stack.and_then(|origin| Reading::truth(true, Quality::Named, origin)).or(counted)
    }

    /// Functions of the evidence that a pattern matches, heaviest first.
    pub fn names(&self, pattern: &Pattern, most: usize) -> Vec<String> {
        let counted = self.cpu.heaviest(pattern, most);
        let listed = if counted.is_empty() { self.percent.names(pattern, most) } else { counted };
        if listed.is_empty() { self.names_in_tables(pattern, most) } else { listed }
    }

    /// Functions that only cells of tables name, in their order there.
    fn names_in_tables(&self, pattern: &Pattern, most: usize) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for cell in self.tables().flat_map(|t| t.rows.iter().flatten()) {
            for name in bare_names(cell).filter(|name| pattern.matches(name)) {
                if found.len() < most && !found.iter().any(|f| f == name) {
                    found.push(name.to_owned());
                }
            }
        }
        found
    }

    /// Names behind an answer, heaviest first: the functions that it is about, and one that calls them.
    pub fn frames(&self, query: &Query, most: usize) -> Vec<String> {
        let asked = query.signature();
        let mut functions = asked.places(Argument::Functions).take(2).filter_map(|at| query.patterns.get(at));
        let (Some(first), second) = (functions.next(), functions.next()) else { return Vec::new() };
        let (pattern, caller) = match second {
            Some(second) if asked.subject == 1 => (second, Some(first)),
            second => (first, second),
        };
        let mut names = self.names(pattern, most);
        if let Some(caller) = caller {
            names.extend(self.names(caller, 1));
        }
        names.dedup();
        names
    }
}
