//! Why a recording could not start or go on, each with what to try.

use std::io;
use zwhy_capture::CaptureError;

#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error("cannot sample {target}: {found}; {remedy}")]
    Permission { target: String, found: String, remedy: String },
    #[error("cannot sample {target}: {source}{hint}")]
    Perf { target: String, source: io::Error, hint: &'static str },
    #[error("cannot record process {0}: there is no such process; check the id with ps -e")]
    NoSuchProcess(i32),
    #[error("cannot record cgroup {group}: {found}; {remedy}")]
    Cgroup { group: String, found: String, remedy: &'static str },
    #[error("cannot start {command}: {source}; check the name and that it may be executed")]
    Command { command: String, source: io::Error },
    #[error("{0}")]
    Usage(String),
    #[error(transparent)]
    Capture(#[from] CaptureError),
    #[error("cannot {deed}: {source}")]
    Io { deed: &'static str, source: io::Error },
}

impl RecordError {
    pub(crate) fn io(deed: &'static str) -> impl FnOnce(io::Error) -> RecordError {
        move |source| RecordError::Io { deed, source }
    }

    /// `true` for errors of the call, not of the machine.
    pub fn is_usage(&self) -> bool {
        matches!(self, RecordError::Usage(_))
    }
}
