//! Marks what happens to the host meanwhile, and keeps the kernel's names true.

use super::Recording;
use crate::error::RecordError;
use crate::waits::OffCpu;
use zwhy_host::monotonic_ns;

impl Recording {
    /// Looks whether kernel modules changed or the clock was set since the last time.
    pub(super) fn watch_host(&mut self) -> Result<(), RecordError> {
        let now = monotonic_ns();
        let changes = self.modules.look();
        if !changes.is_empty() {
            // What is in the rings belongs to the time before, too.
            self.collector.drain(&mut self.session, now, false);
            self.take_waits(false);
            self.collector.modules_changed();
            self.off_cpu.iter_mut().for_each(OffCpu::forget_stacks);
        }
        for text in changes {
            self.mark_at(now, "module", &text)?;
        }
        for text in self.clock.look() {
            self.mark_at(now, "clock", &text)?;
        }
        Ok(())
    }
}
