//! CPU time and nice values of threads, read from /proc every interval.

use super::{Ended, Look, Pace, Part, Sampler};
use crate::scene::Scene;
use std::collections::BTreeMap;
use std::time::Duration;
use zwhy_evidence::RecorderFacts;

/// The clocks themselves are part of the scene, as records of threads move them too.
pub(crate) struct Threads {
    pace: Pace,
}

impl Threads {
    pub(crate) fn new(interval: Duration) -> Threads {
        Threads { pace: Pace::new(interval) }
    }
}

impl Sampler for Threads {
    fn due(&self) -> Duration {
        self.pace.due()
    }

    /// At the beginning and at the end also idle threads are read.
    fn take(&mut self, scene: &mut Scene, look: Look) {
        if !self.pace.begins(&look) {
            return;
        }
        let t = scene.since_start(look.now_ns);
        let Scene { clocks: Some(clocks), family, profile, pen, .. } = scene else { return };
        clocks.tick(t, pen);
        if look.part != Part::Middle {
            let found = clocks.read_all(t, family, profile, pen);
            scene.found(found);
        }
    }

    fn facts(&self, facts: &mut RecorderFacts, scene: &Scene, end: Option<&Ended<'_>>) {
        facts.threads = scene.clocks.as_ref().filter(|_| end.is_some()).map(|clocks| clocks.facts());
    }

    fn caveats(&self, scene: &Scene, _: &BTreeMap<u32, u64>) -> Vec<String> {
        scene.clocks.iter().filter_map(|clocks| clocks.limits()).collect()
    }
}
