//! Why nothing can be counted, each with what to try.

use crate::error::RecordError;
use std::io;
use zwhy_capture::CaptureError;

#[derive(Debug, thiserror::Error)]
pub enum CountError {
    #[error("{0}")]
    Usage(String),
    /// No function of that name where it was looked for.
    #[error("no function `{function}` {place}{hint}")]
    Unknown { function: String, place: String, hint: String },
    #[error("`{pattern}` names {found} functions, more than the {most} that are counted at once; {hint}")]
    TooMany { pattern: String, found: usize, most: usize, hint: String },
    #[error("cannot find {object}: {hint}")]
    NoObject { object: String, hint: String },
    /// The kernel was built or booted without these probes.
    #[error("cannot count {what}: this kernel has no {kind}s ({device} is missing); {remedy}")]
    NoProbes { what: String, kind: &'static str, device: String, remedy: &'static str },
    #[error("cannot count {what}: {found}; {remedy}")]
    Permission { what: String, found: String, remedy: String },
    #[error("cannot put a probe on {what}: {source}; {hint}")]
    Refused { what: String, source: io::Error, hint: String },
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Capture(#[from] CaptureError),
}

impl CountError {
    /// `true` for errors of the call, not of the machine.
    pub fn is_usage(&self) -> bool {
        match self {
            CountError::Usage(_) | CountError::Unknown { .. } | CountError::TooMany { .. } => true,
            CountError::Record(error) => error.is_usage(),
            _ => false,
        }
    }
}
