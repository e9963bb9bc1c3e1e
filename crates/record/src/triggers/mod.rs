//! Triggers: conditions on what is read every interval, in words, that save the last seconds.

mod grammar;
mod watch;

pub use grammar::{Trigger, TriggerError};
pub(crate) use watch::{Readings, Watch};
