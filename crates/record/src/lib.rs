//! The recorder: samples of where CPU time goes, counters every second and facts of the host, into
//! a capture or, interval by interval, to whoever asks (`Intervals`).
//!
//! Invariants: what was written stays readable whatever ends the recorder; time is the monotonic
//! clock minus the start; every loss is counted and said. Only this crate and `lab` need privileges.

mod address;
mod background;
mod caveats;
mod cgroup;
mod command;
mod count;
mod counted;
mod error;
mod heap;
mod host_facts;
mod host_watch;
mod intervals;
mod jit_maps;
mod kstats;
mod live;
mod naming;
mod objects;
mod objsets;
mod options;
mod permission;
mod priority;
mod proc_stat;
mod processes;
mod recent;
mod recording;
mod renewing;
mod sampler;
mod scene;
mod series;
mod series_pen;
mod source_lines;
mod summary;
mod symbol_sources;
mod target;
mod thread_clock;
mod triggers;
mod waits;

pub use background::Background;
pub use count::{CountError, CountOptions, Counted, CountedFunction, Counting, PerCaller};
pub use error::RecordError;
pub use heap::give_back as give_back_memory;
pub use intervals::{Interval, Intervals};
pub use options::{KeepLast, MAX_HZ, RecordOptions, WAIT_HZ};
pub use priority::Priority;
pub use recording::Recording;
pub use sampler::{try_sampling, try_sampling_own};
pub use summary::{Progress, Status, Summary};
pub use target::Target;
pub use triggers::{Trigger, TriggerError};
