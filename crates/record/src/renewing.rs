//! Tables of names are reset when they grow large, so that memory is bounded however long a recording
//! takes and however many processes come and go.
//!
//! Invariant: what was taken stays as it is. What later samples refer to is handed out again; in captures under
//! the same ids, since ids are hashes of content, and readers and packing take it as one.

use crate::heap;
use crate::sampler::Sampler;
use crate::scene::Scene;
use zwhy_profile::Samples;

/// Bytes of names at which their tables are reset.
const NAMES_BUDGET: usize = 6 << 20;
/// Intervals after which free pages are given back to the kernel.
const GIVE_BACK: u64 = 12;

/// When the tables of names are reset.
pub(crate) struct Renewals {
    budget: usize,
    pub count: u64,
    taken: u64,
    /// What was left in use the last time. Where that alone is much, as on a host of very many threads,
    /// it must double: else all of it would be written again at every flush.
    left: usize,
}

impl Default for Renewals {
    fn default() -> Renewals {
        Renewals { budget: NAMES_BUDGET, count: 0, taken: 0, left: 0 }
    }
}

impl Renewals {
    /// Call it when no sample waits; `true` when the tables were reset.
    pub(crate) fn taken(&mut self, scene: &mut Scene, samplers: &mut [Box<dyn Sampler>]) -> bool {
        let due = scene.names_memory() > self.budget.max(2 * self.left);
        if due {
            compact(scene, std::iter::empty(), samplers);
            self.left = scene.names_memory();
            self.count += 1;
        }
        self.taken += 1;
        if due || self.taken.is_multiple_of(GIVE_BACK) {
            heap::give_back();
        }
        due
    }
}

/// Leaves of all names only those that these samples refer to, and live threads and recent addresses.
pub(crate) fn compact<'a>(
    scene: &mut Scene,
    kept: impl Iterator<Item = &'a mut Samples>,
    samplers: &mut [Box<dyn Sampler>],
) {
    let old = scene.compact(kept);
    for sampler in samplers {
        sampler.renumber(&old, &mut scene.profile);
    }
}

#[cfg(test)]
#[path = "renewing_tests.rs"]
mod tests;
