//! Counting calls of functions by caller stack, with probes of the kernel in the kernel (kprobe) and
//! in programs and libraries (uprobe).
//!
//! Invariants: nothing is left on the host when counting ends, whatever ended it, because probes
//! belong to descriptors; every call that has no stack is counted as lost; counting ends or thins out
//! by itself before it costs more than was allowed.

mod counting;
mod error;
mod find;
mod kernel;
mod objects;
mod options;
mod overhead;
mod pattern;
mod probe;
mod session;
mod tally;

pub use counting::{Counted, CountedFunction, Counting, PerCaller};
pub use error::CountError;
pub use options::CountOptions;
