//! Counters of the host, read every interval: kstats, memory, pressure, disks, CPU time.

use super::{Ended, Look, Pace, Sampler};
use crate::counted::Counted;
use crate::options::RecordOptions;
use crate::proc_stat::HostCpu;
use crate::scene::Scene;
use crate::series::Pollers;
use std::collections::BTreeMap;
use std::time::Duration;
use zwhy_evidence::RecorderFacts;

pub(crate) struct Counters {
    pollers: Pollers,
    pace: Pace,
    host_cpu: Option<HostCpu>,
}

impl Counters {
    pub(crate) fn new(options: &RecordOptions) -> Counters {
        let pollers = Pollers::new(&options.proc_root);
        let pollers = if options.ask_zfs { pollers } else { pollers.without_host_zfs() };
        Counters { pollers, pace: Pace::new(options.interval), host_cpu: None }
    }
}

impl Sampler for Counters {
    fn due(&self) -> Duration {
        self.pace.due()
    }

    fn take(&mut self, scene: &mut Scene, look: Look) {
        if !self.pace.begins(&look) {
            return;
        }
        let now = self.pollers.poll(scene.since_start(look.now_ns), &mut scene.pen);
        self.host_cpu = now.or(self.host_cpu);
    }

    fn facts(&self, facts: &mut RecorderFacts, _: &Scene, end: Option<&Ended<'_>>) {
        facts.series = end.map(|_| self.pollers.facts());
    }

    fn caveats(&self, _: &Scene, _: &BTreeMap<u32, u64>) -> Vec<String> {
        self.pollers.limits()
    }

    fn count(&self, counted: &mut Counted) {
        counted.host_cpu = self.host_cpu;
    }
}
