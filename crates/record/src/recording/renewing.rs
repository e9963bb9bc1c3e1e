//! Tables of names started anew when they are large, so that memory is bounded however long a recording
//! takes and however many processes come and go.
//!
//! Invariant: what was written stays as it is. What later samples refer to is written again under the
//! same ids, since ids are hashes of content, and readers and packing take it as one.

use super::Recording;
use crate::collect::Collector;
use crate::heap;
use crate::waits::{OffCpu, WaitSampler};
use zwhy_capture::Writer;
use zwhy_profile::Samples;

/// Bytes of names at which they begin anew.
const NAMES_BUDGET: usize = 6 << 20;
/// Flushes after which free pages are given back to the kernel.
const GIVE_BACK: u64 = 12;

/// When names begin anew.
pub(super) struct Renewals {
    budget: usize,
    pub count: u64,
    flushes: u64,
    /// What was left in use the last time. Where that alone is much, as on a host of very many threads,
    /// it must double: else all of it would be written again at every flush.
    left: usize,
}

impl Default for Renewals {
    fn default() -> Renewals {
        Renewals { budget: NAMES_BUDGET, count: 0, flushes: 0, left: 0 }
    }
}

impl Renewals {
    /// Call it after a flush, when no sample waits.
    fn flushed(
        &mut self,
        collector: &mut Collector,
        writer: &mut Writer,
        waits: Option<&mut WaitSampler>,
        off_cpu: Option<&mut OffCpu>,
    ) {
        let due = collector.names_memory() > self.budget.max(2 * self.left);
        if due {
            compact(collector, std::iter::empty(), waits, off_cpu);
            writer.begin_anew();
            self.left = collector.names_memory();
            self.count += 1;
        }
        self.flushes += 1;
        if due || self.flushes.is_multiple_of(GIVE_BACK) {
            heap::give_back();
        }
    }
}

impl Recording {
    /// Call it after a flush.
    pub(super) fn keep_small(&mut self) {
        let (waits, off_cpu) = (self.waits.as_mut(), self.off_cpu.as_mut());
        self.renewals.flushed(&mut self.collector, &mut self.writer, waits, off_cpu);
    }
}

/// Leaves of all names only those that these samples refer to, and live threads and recent addresses.
pub(super) fn compact<'a>(
    collector: &mut Collector,
    kept: impl Iterator<Item = &'a mut Samples>,
    waits: Option<&mut WaitSampler>,
    off_cpu: Option<&mut OffCpu>,
) {
    let old = collector.compact(kept);
    if let Some(waits) = waits {
        waits.renumber(&old, &mut collector.profile);
    }
    if let Some(off_cpu) = off_cpu {
        off_cpu.forget_stacks();
    }
}

#[cfg(test)]
#[path = "renewing_tests.rs"]
mod tests;
