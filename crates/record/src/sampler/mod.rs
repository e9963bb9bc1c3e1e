//! What is sampled, each kind in one file behind one contract.
//!
//! A new sampler is one file with a [`Sampler`] and one line in [`others`]. The loop (`live`) asks each when it is
//! due, has it take in what came, and collects what it has to say; it knows nothing of any of them.

mod counters;
mod cpu;
mod cpu_events;
mod owners;
mod pace;
mod processes;
mod threads;
mod vdevs;

use crate::counted::Counted;
use crate::error::RecordError;
use crate::options::RecordOptions;
use crate::scene::Scene;
use crate::waits::{OffCpu, WaitSampler};
use counters::Counters;
pub(crate) use cpu::Cpu;
#[cfg(test)]
pub(crate) use cpu::Taken;
#[cfg(test)]
pub(crate) use cpu_events::Attached;
pub(crate) use cpu_events::open as open_cpu_events;
pub use cpu_events::{try_sampling, try_sampling_own};
use pace::Pace;
use processes::Processes;
use rustix::fd::OwnedFd;
use std::collections::BTreeMap;
use std::time::Duration;
use threads::Threads;
use vdevs::Vdevs;
use zwhy_evidence::RecorderFacts;
use zwhy_perf::Until;
use zwhy_profile::Profile;

/// Where in a recording a look is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Begin,
    Middle,
    /// What was recorded up to now is written, and the recording goes on.
    Cut,
    End,
}

/// One look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// The monotonic clock.
    pub now_ns: u64,
    /// The same since the recording began.
    pub elapsed: Duration,
    pub part: Part,
}

impl Look {
    /// What rings give out at this look.
    pub(crate) fn until(&self) -> Until {
        if self.part == Part::End { Until::TheEnd } else { Until::Settled(self.now_ns) }
    }
}

/// What a capture says of a recording that has ended, or of its last seconds.
pub(crate) struct Ended<'a> {
    /// What was counted before the span that the capture holds.
    pub before: &'a Counted,
    /// The capture holds the last seconds only.
    pub last_seconds: bool,
    /// Samples that found no room in this span, by CPU.
    pub lost: &'a BTreeMap<u32, u64>,
}

/// One kind of thing that is recorded.
pub(crate) trait Sampler: Send {
    /// When it wants to look next, as time of the recording. Zero: at each look of the loop.
    fn due(&self) -> Duration;

    /// Takes in what came since the last look: samples, readings, names.
    fn take(&mut self, scene: &mut Scene, look: Look);

    /// Stacks and threads that it holds on to are those of `new` from now on, not those of `old`.
    fn renumber(&mut self, _old: &Profile, _new: &mut Profile) {}

    /// Fills in its part of the recorder's facts; without an end what is known when recording begins.
    fn facts(&self, facts: &mut RecorderFacts, scene: &Scene, end: Option<&Ended<'_>>);

    /// Sentences on what is not in the capture, at the end.
    fn caveats(&self, _scene: &Scene, _lost: &BTreeMap<u32, u64>) -> Vec<String> {
        Vec::new()
    }

    /// Sentences on what cannot be seen, when recording begins.
    fn caveats_at_start(&self, _scene: &Scene) -> Vec<String> {
        Vec::new()
    }

    /// Begins; called when the target is about to run.
    fn start(&mut self) -> Result<(), RecordError> {
        Ok(())
    }

    /// Ends; what the kernel holds by then is taken in by a last look.
    fn stop(&mut self) {}

    /// Gives names to what waits for them.
    fn name(&mut self, _scene: &mut Scene) {}

    /// Names that it keeps may be others from now on.
    fn forget_names(&mut self) {}

    /// Samples that wait for names.
    fn pending(&self) -> usize {
        0
    }

    /// Samples that it took, and those that it was told were lost; cheap, for a look in between.
    fn progress(&self) -> (u64, u64) {
        (0, 0)
    }

    /// Adds what it has counted since the beginning.
    fn count(&self, _counted: &mut Counted) {}

    /// Become readable when it wants to look at once.
    fn wakes(&self) -> Vec<&OwnedFd> {
        Vec::new()
    }

    /// One of those has no end of being ready.
    fn wake_no_more(&mut self) {}
}

/// The samplers of a recording beside the one of CPU time, in the order in which they look.
///
/// # Errors
/// When the kernel refuses one that was asked for.
pub(crate) fn others(options: &RecordOptions) -> Result<Vec<Box<dyn Sampler>>, RecordError> {
    let mut all: Vec<Box<dyn Sampler>> = Vec::new();
    if options.off_cpu {
        all.push(Box::new(OffCpu::of(options)?));
    }
    if let Some(hz) = options.wait_hz {
        all.push(Box::new(WaitSampler::new(&options.proc_root, hz)));
    }
    all.push(Box::new(Threads::new(options.interval)));
    all.push(Box::new(Counters::new(options)));
    all.extend(Vdevs::new(options).map(|vdevs| Box::new(vdevs) as Box<dyn Sampler>));
    if options.ask_zfs {
        all.push(Box::new(Processes::new(options)));
    }
    Ok(all)
}
