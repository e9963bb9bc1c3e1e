//! What perf_event_open(2) and perf.data share: records and their layout, rings, order of time, address
//! spaces, rules for call chains, and labels of frames without a name.
//!
//! Invariants: the recorder and the reader of perf.data see the same address under the same name, as both
//! go through here; whatever a record claims, reading stays within it. Only `open` and `ring` touch the
//! kernel; a reader of files needs neither, and has neither where there is no such kernel (in a browser).

mod address_space;
#[cfg(unix)]
pub mod ask;
pub mod attr;
pub mod bytes;
pub mod chain;
mod family;
pub mod label;
#[cfg(unix)]
pub mod open;
pub mod record;
#[cfg(unix)]
mod ring;
#[cfg(unix)]
mod rings;
mod sample;
mod side_band;
mod sorter;
mod spaces;

pub use address_space::{AddressSpace, Mapping, NewMapping, Overlap};
pub use family::Family;
#[cfg(unix)]
pub use perf_event_open_sys::bindings as sys;
#[cfg(unix)]
pub use rings::{Rings, ring_bytes};
pub use sample::{Sample, ip_register};
pub use side_band::{Identity, Mmap, SideBand};
pub use sorter::{NATIVE, SETTLE_NS, Sorter, Until};
pub use spaces::{Era, Spaces};
