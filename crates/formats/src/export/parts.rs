//! What exporters share: a frame for every sample, sums by thread and stack, facts of the recording, names
//! on one line.

use crate::interchange::frames;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use zwhy_profile::{Event, Profile, StackId, ThreadId, Unit};

/// The profile with a frame for samples without a stack, which other formats leave out.
pub fn with_stacks(profile: &Profile) -> Cow<'_, Profile> {
    if !profile.samples.stack.contains(&StackId::ROOT) {
        return Cow::Borrowed(profile);
    }
    let mut profile = profile.clone();
    let frame = frames::unknown(&mut profile, "the sample has no stack");
    let unknown = profile.stacks.child(StackId::ROOT, frame);
    for stack in profile.samples.stack.iter_mut().filter(|s| **s == StackId::ROOT) {
        *stack = unknown;
    }
    Cow::Owned(profile)
}

/// What one thread did in one stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    pub count: u64,
    /// Nanoseconds, or in the unit of the profile; 0 where the source did not say.
    pub weight: i64,
}

impl Sum {
    /// What it amounts to in the unit of the profile.
    pub fn amount(&self, unit: &Unit) -> u64 {
        match unit {
            Unit::Samples => self.count,
            _ => u64::try_from(self.weight).unwrap_or(0),
        }
    }
}

/// Sums in order of thread and stack, so that equal profiles give equal files.
pub fn by_thread_and_stack(profile: &Profile, event: Event) -> Vec<(ThreadId, StackId, Sum)> {
    let mut sums: FxHashMap<(ThreadId, StackId), Sum> = FxHashMap::default();
    for sample in profile.samples.iter().filter(|s| s.event == event && s.count > 0) {
        let sum = sums.entry((sample.thread, sample.stack)).or_default();
        sum.count = sum.count.saturating_add(u64::from(sample.count));
        sum.weight = sum.weight.saturating_add(sample.weight.0);
    }
    let mut rows: Vec<_> = sums.into_iter().map(|((thread, stack), sum)| (thread, stack, sum)).collect();
    rows.sort_unstable_by_key(|(thread, stack, _)| (*thread, *stack));
    rows
}

/// A figure of the facts that can be used.
pub fn usable(figure: Option<f64>) -> Option<f64> {
    figure.filter(|n| n.is_finite() && *n > 0.0)
}

/// A name on one line, without control characters that a terminal would act on.
pub fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}
