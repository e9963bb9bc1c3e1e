//! Waiting: what threads sleep on, as samples of event `wait` apart from CPU time.

mod begun;
mod off_cpu;
mod pairing;
mod sampler;
mod stack_text;
mod switches;

pub(crate) use off_cpu::OffCpu;
pub(crate) use sampler::WaitSampler;

use zwhy_profile::{Event, Nanos, Profile, Sample, StackId, ThreadId};

/// A wait that ended, or was seen, at `t` and lasted `ns`.
fn put_wait(profile: &mut Profile, t: Nanos, thread: ThreadId, stack: StackId, ns: u64) {
    let weight = Nanos(i64::try_from(ns).unwrap_or(i64::MAX));
    profile.samples.push(Sample { t, weight, ..Sample::counted(thread, stack, Event::Wait, 1) });
}
