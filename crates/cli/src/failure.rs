//! How a command fails: what went wrong, said once; exit code 2 for wrong usage, 1 for all else.

use std::fmt;
use std::process::ExitCode;
use zwhy_lab::LabError;
use zwhy_record::{CountError, RecordError};

/// The call is wrong, whatever the machine holds.
#[derive(Debug)]
pub struct Usage(pub String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// The error for a call that cannot mean anything.
pub fn usage(text: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(Usage(text.into()))
}

pub fn exit_code(error: &anyhow::Error) -> ExitCode {
    let wrong_call = error.is::<Usage>()
        || error.downcast_ref::<RecordError>().is_some_and(RecordError::is_usage)
        || error.downcast_ref::<CountError>().is_some_and(CountError::is_usage)
        || matches!(error.downcast_ref::<LabError>(), Some(LabError::NoExperiment { .. }));
    ExitCode::from(if wrong_call { 2 } else { 1 })
}

/// The error and its causes in a line. Libraries quote the cause in their own sentence, which is not
/// said twice.
pub fn text(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn a_cause_is_told_once() {
        let io = || std::io::Error::other("disk is gone");
        let quoted = LabError::Io { doing: "make the folder", path: "x".into(), source: io() };
        assert_eq!(text(&anyhow::Error::new(quoted)), "cannot make the folder x: disk is gone");
        let wrapped = Err::<(), _>(io()).context("cannot write x").unwrap_err();
        assert_eq!(text(&wrapped), "cannot write x: disk is gone");
    }
}
