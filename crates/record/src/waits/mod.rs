//! Waiting: what threads sleep on, as samples of event `wait` apart from CPU time.

mod begun;
mod off_cpu;
mod pairing;
mod sampler;
mod stack_text;
mod switches;

pub(crate) use off_cpu::OffCpu;
pub(crate) use sampler::WaitSampler;
