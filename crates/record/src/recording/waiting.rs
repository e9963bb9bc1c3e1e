//! Waits of a recording: looked at some times a second, or taken from context switches.

use super::Recording;
use crate::collect::Collector;
use zwhy_host::monotonic_ns;

impl Recording {
    /// Adds what waited up to now; at the `last` time also what still waits.
    pub(super) fn take_waits(&mut self, last: bool) {
        let (elapsed, now) = (self.elapsed(), monotonic_ns());
        if let Some(off_cpu) = &mut self.off_cpu {
            off_cpu.drain(now, last, &mut self.collector);
            if last {
                self.limits.extend(off_cpu.limits());
            }
        }
        if let Some(waits) = self.waits.as_mut().filter(|_| !last) {
            let Collector { wanted, own, profile, .. } = &mut self.collector;
            waits.tick(elapsed, wanted.as_ref(), own, profile);
        }
    }

    /// Adds what waits up to now, as a capture is written while the recording goes on.
    pub(super) fn cut_waits(&mut self) {
        if let Some(off_cpu) = &mut self.off_cpu {
            off_cpu.cut(monotonic_ns(), &mut self.collector);
        }
    }

    /// `facts.recorder.wait`, where waiting is recorded.
    pub(super) fn wait_facts(&self) -> Option<serde_json::Value> {
        let off_cpu = self.off_cpu.as_ref().map(|off_cpu| off_cpu.facts(self.window.is_some()));
        off_cpu.or_else(|| self.waits.as_ref().map(crate::waits::WaitSampler::facts))
    }
}
