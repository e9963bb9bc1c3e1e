//! Waiting: what threads sleep on, as samples of event `wait` apart from CPU time.

mod sampler;
mod stack_text;

pub(crate) use sampler::WaitSampler;
