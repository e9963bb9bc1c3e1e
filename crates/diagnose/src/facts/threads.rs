//! Answers about threads: their CPU time where a source gave it, else their samples.

use super::FactBase;
use super::catalogue::Function;
use super::query::Query;
use super::reading::{Quality, Reading};
use crate::pattern::Pattern;
use zwhy_zfs::thread_base;

impl FactBase<'_> {
    pub(super) fn thread_answer(&self, query: &Query) -> Option<Reading> {
        let pattern = query.patterns.first()?;
        match query.function {
            Function::ThreadSeen => self.thread_seen(pattern),
            Function::ThreadNamed => self.thread_named(pattern),
            Function::ThreadShare => {
                let samples = self.has_samples().then(|| self.cpu.thread_samples(pattern))?;
                Reading::share(samples, self.cpu.busy, &self.cpu.sampling, "samples")
            }
            Function::ThreadCount => {
                let (listed, origin) = self.listed(pattern)?;
                Reading::number(listed.len() as f64, Quality::Figure, origin)
            }
            Function::ThreadNice => {
                let threads = self.evidence.threads.iter();
                let nice = threads
                    .filter(|t| pattern.matches_thread(&t.comm))
                    .filter_map(|t| Some((t.nice?, t.origin)));
                let (lowest, origin) = nice.min_by_key(|(nice, _)| *nice)?;
                Reading::number(f64::from(lowest), Quality::Figure, self.evidence.origin_name(origin))
            }
            Function::ThreadMax => {
                let (listed, origin) = self.listed(pattern)?;
                let most = listed.into_iter().flatten().max_by(f64::total_cmp)?;
                Reading::number(most, Quality::Figure, origin)
            }
            _ => self.thread_cpu(pattern),
        }
    }

    /// Names, without numbers, of the threads that are listed, or have a stack, and that a pattern matches.
    pub fn thread_names(&self, pattern: &Pattern) -> Vec<&str> {
        let listed = self
            .evidence
            .threads
            .iter()
            .filter(|t| pattern.matches_thread(&t.comm))
            .map(|t| thread_base(&t.comm));
        let mut names: Vec<&str> = listed.chain(self.percent.thread_names(pattern)).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// How many listed threads a pattern matches.
    pub fn threads_listed(&self, pattern: &Pattern) -> usize {
        self.listed(pattern).map_or(0, |(listed, _)| listed.len())
    }

    /// CPUs' worth of each matching thread that is listed, and where; `None` when none is.
    fn listed(&self, pattern: &Pattern) -> Option<(Vec<Option<f64>>, String)> {
        let threads: Vec<_> =
            self.evidence.threads.iter().filter(|t| pattern.matches_thread(&t.comm)).collect();
        let origin = self.evidence.origin_name(threads.first()?.origin).to_owned();
        Some((threads.iter().map(|t| t.cpu_pct.map(|p| p / 100.0)).collect(), origin))
    }

    fn thread_cpu(&self, pattern: &Pattern) -> Option<Reading> {
        if let Some((listed, origin)) = self.listed(pattern) {
            let known: Vec<f64> = listed.into_iter().flatten().collect();
            if !known.is_empty() {
                return Reading::number(known.iter().sum(), Quality::Figure, origin);
            }
        }
        let samples = self.has_samples().then(|| self.cpu.thread_samples(pattern))?;
        let recorder = &self.evidence.facts.recorder;
        let ticks = recorder.hz? * recorder.duration_s?;
        Reading::number(self.cpu.sampling.samples_in(samples) / ticks, Quality::Counted, "samples")
    }

    /// Whether all that is said of these threads is their name.
    fn thread_named(&self, pattern: &Pattern) -> Option<Reading> {
        let listed = self.listed(pattern);
        let figures = listed.as_ref().is_some_and(|(cpus, _)| cpus.iter().any(Option::is_some));
        let origin = listed.map(|(_, origin)| origin).or_else(|| {
            let stack = self.percent.has_thread(pattern)?;
            Some(stack.to_owned())
        });
        let profiled = self.has_samples() || self.percent.thread_share(pattern).is_some();
        let only_named = origin.is_some() && !figures && !profiled;
        Reading::truth(only_named, Quality::Named, origin.unwrap_or_default())
    }

    /// Named without a figure, or with one that is worth naming: every host has these threads.
    fn thread_seen(&self, pattern: &Pattern) -> Option<Reading> {
        if let Some((listed, origin)) = self.listed(pattern) {
            let worth = listed.iter().any(|cpu| cpu.is_none_or(|c| c >= WORTH_NAMING));
            let named = listed.iter().any(Option::is_none);
            return Reading::truth(worth, if named { Quality::Named } else { Quality::Figure }, origin);
        }
        if let Some(origin) = self.percent.has_thread(pattern) {
            let share = self.percent.thread_share(pattern);
            return share
                .is_none_or(|s| s >= WORTH_NAMING)
                .then(|| Reading::truth(true, Quality::Named, origin))?;
        }
        let samples = self.has_samples().then(|| self.cpu.thread_samples(pattern))?;
        self.cpu.present(samples, Some(WORTH_NAMING))
    }
}

/// Part of a CPU, or of busy CPU, from which a thread counts as seen at work.
pub const WORTH_NAMING: f64 = 0.02;
