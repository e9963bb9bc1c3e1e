//! The recorder: samples of where CPU time goes, counters every second and facts of the host, into
//! a capture.
//!
//! Invariants: what was written stays readable whatever ends the recorder; time is the monotonic
//! clock minus the start; every loss is counted and said. Only this crate and `lab` need privileges.

mod background;
mod cgroup;
mod collect;
mod command;
mod count;
mod error;
mod heap;
mod host_watch;
mod jit_maps;
mod kstats;
mod limits;
mod moving;
mod naming;
mod options;
mod perf;
mod priority;
mod proc_stat;
mod processes;
mod recent;
mod recording;
mod series;
mod series_pen;
mod source_lines;
mod start;
mod summary;
mod symbol_sources;
mod thread_clock;
mod triggers;
mod waits;

pub use background::Background;
pub use count::{CountError, CountOptions, CountTarget, Counted, CountedFunction, Counting, PerCaller};
pub use error::RecordError;
pub use options::{KeepLast, MAX_HZ, RecordOptions, Target, WAIT_HZ};
pub use perf::session::try_sampling;
pub use recording::Recording;
pub use summary::{Progress, Status, Summary};
pub use triggers::{Trigger, TriggerError};
