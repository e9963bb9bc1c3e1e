//! What one CPU of this machine can do of the work that ZFS asks of it: encrypt, checksum, compress, copy.
//!
//! Measured with well-kept libraries on one thread, in MB (10^6 bytes) per second of that thread's
//! CPU time, so that other load costs little accuracy. A figure is what the machine is known to
//! reach, not the most it could: `with` says whose code reached it. Nothing is measured unless
//! [`measure`] is called; [`load`] and [`store`] keep the result for this machine.

mod cache;
mod data;
mod machine;
mod measure;
mod work;

pub use cache::{LimitsError, cache_file, load, store};
pub use machine::Machine;
pub use measure::{Limit, Limits, Pace, SCHEMA, measure};
pub use work::{RECORD, Work, works};
