//! What happens to a host under a recording: kernel modules come and go, the clock is set.
//!
//! Invariant: a look costs one small file and three clocks; nothing here fails.

mod clock;
mod modules;

pub(crate) use clock::ClockWatch;
pub(crate) use modules::ModuleWatch;
