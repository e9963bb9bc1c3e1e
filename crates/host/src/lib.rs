//! The host as it stands: its facts, what can be recorded on it (`doctor`), and small readings of /proc.
//!
//! Invariants: nothing is changed and nothing here fails; what cannot be read is absent. No perf event is
//! opened: whether the host may be sampled is asked of whoever samples. Commands of ZFS have their time.

pub mod doctor;
mod facts;
mod files;
mod processes;
mod question;
mod readings;
mod stream;

pub use facts::{ASKING_THREAD, Facts, Output, TOOLS_PATIENCE, ask_tools, quick};
pub use files::{entries, named_numbers, read_cut};
pub use processes::{numbers_in, read_trimmed, stat_fields};
pub use question::Question;
pub use readings::{
    max_sample_rate, monotonic_ns, online_cpus, paranoid, peak_rss, raise_descriptor_limit, thread_cpu,
};
pub use stream::ToolStream;
