//! How a command fails: what went wrong, said once; exit code 2 for wrong usage, 1 for all else.

use std::process::ExitCode;
use zwhy_capture::CaptureError;
use zwhy_formats::{ErrorKind, FormatError};
use zwhy_lab::LabError;
use zwhy_record::{CountError, RecordError};

/// The call is wrong, whatever the machine holds.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct Usage {
    text: String,
    /// Of `zwhy help`.
    topic: Option<&'static str>,
}

/// The error for a call that cannot mean anything.
pub fn usage(text: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(Usage { text: text.into(), topic: None })
}

/// As [`usage`], where a topic of `zwhy help` says more.
pub fn usage_about(topic: &'static str, text: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(Usage { text: text.into(), topic: Some(topic) })
}

/// The topic of `zwhy help` that says more of an error, where there is one.
pub fn topic(error: &anyhow::Error) -> Option<&'static str> {
    error.chain().find_map(|cause| {
        None.or_else(|| cause.downcast_ref::<Usage>()?.topic)
            .or_else(|| of_recorder(cause.downcast_ref()?))
            .or_else(|| of_counter(cause.downcast_ref()?))
            .or_else(|| of_format(cause.downcast_ref()?))
            .or_else(|| of_lab(cause.downcast_ref()?))
            .or_else(|| of_capture(cause.downcast_ref()?))
    })
}

fn of_recorder(error: &RecordError) -> Option<&'static str> {
    match error {
        RecordError::Permission { .. } | RecordError::Perf { .. } => Some("privileges"),
        RecordError::Cgroup { .. } => Some("containers"),
        RecordError::Capture(error) => of_capture(error),
        _ => None,
    }
}

fn of_capture(error: &CaptureError) -> Option<&'static str> {
    matches!(error, CaptureError::NotACapture { .. } | CaptureError::Newer { .. }).then_some("captures")
}

fn of_counter(error: &CountError) -> Option<&'static str> {
    match error {
        CountError::Record(error) => of_recorder(error),
        CountError::Permission { .. } => Some("privileges"),
        _ => None,
    }
}

fn of_format(error: &FormatError) -> Option<&'static str> {
    matches!(error.kind(), ErrorKind::UnknownFormat | ErrorKind::Unsupported).then_some("formats")
}

fn of_lab(error: &LabError) -> Option<&'static str> {
    match error {
        LabError::NotRoot => Some("privileges"),
        LabError::NoExperiment { .. }
        | LabError::Spec { .. }
        | LabError::Library(_)
        | LabError::NoParameter { .. }
        | LabError::OtherLibrary { .. }
        | LabError::UserCannot { .. }
        | LabError::NoModule
        | LabError::UnknownModule { .. }
        | LabError::PoolCannot { .. }
        | LabError::Device { .. }
        | LabError::ScratchNotEmpty { .. }
        | LabError::NotFolder { .. }
        | LabError::Space { .. }
        | LabError::LeftBehind { .. } => Some("lab"),
        _ => None,
    }
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

    #[test]
    fn every_topic_that_an_error_names_exists() {
        let format = |kind| FormatError::read(kind, "x", "found");
        let errors = [
            anyhow::Error::new(RecordError::Permission {
                target: "the host".into(),
                found: "refused".into(),
                remedy: "be root".into(),
            }),
            anyhow::Error::new(RecordError::Cgroup {
                group: "x.slice".into(),
                found: "there is none".into(),
                remedy: "check the name",
            }),
            anyhow::Error::new(CaptureError::NotACapture { path: "x.zwhy".into(), found: "a zip".into() }),
            anyhow::Error::new(LabError::NotRoot),
            anyhow::Error::new(LabError::NoModule).context("cannot run it"),
            anyhow::Error::new(format(ErrorKind::UnknownFormat)),
            usage_about("formats", "no such format"),
        ];
        for error in errors {
            let topic = topic(&error).unwrap_or_else(|| panic!("{error:?} has no topic"));
            assert!(crate::topics().iter().any(|t| t.name == topic), "{topic}");
        }
        assert_eq!(topic(&usage("wrong")), None);
        assert_eq!(topic(&anyhow::Error::new(format(ErrorKind::Empty))), None);
    }
}
