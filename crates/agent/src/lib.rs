//! The agent (`zwhy agent`): what the recorder sees goes into a bounded spool on disk, all the time, so that last night
//! can be explained in the morning; once a minute the engine says what is found, and since when.
//!
//! `spool` keeps, `compact` makes sums of what is old, `merge` makes a capture of any part of it, `findings` follows what the engine finds, `metrics` is what
//! Prometheus reads, `ship` sends finished files to a store, `status` says how things are. Nothing here prints, and nothing that fails after the start ends the agent.

mod agent;
mod board;
mod compact;
mod error;
mod findings;
mod merge;
mod metrics;
mod own;
mod ship;
mod spool;
mod status;
mod sum;

pub use agent::{Agent, AgentOptions};
pub use error::AgentError;
pub use findings::{Change, Episode, Found, Log, LogEvent, LoggedFinding, Tracker, read_log};
pub use merge::{Merged, Piece, choose, merge};
pub use ship::StoreAt;
pub use spool::{Dropped, Entry, Limits, Reason, Rows, Spool, State, entries, writer_of};
pub use status::{Look, Status};
