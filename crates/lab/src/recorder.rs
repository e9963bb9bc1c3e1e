//! What the runner needs from whoever records captures and shows progress; both live above this crate.

use std::path::{Path, PathBuf};
use zwhy_evidence::CaptureFacts;
use zwhy_profile::Nanos;

pub type RecordError = Box<dyn std::error::Error + Send + Sync>;

/// Whose work is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whom {
    /// A process with all the threads it has by now. It is idle until the recording has started.
    Process(u32),
    /// The whole host: OpenZFS works in its kernel.
    Host,
}

/// Starts recordings.
pub trait Recorder {
    /// Records into `out`, under `name` (`aes-256-ccm read`).
    /// `facts` belong into the capture: what is run, on which OpenZFS, with which properties.
    fn start(
        &mut self,
        whom: Whom,
        out: &Path,
        name: &str,
        facts: &CaptureFacts,
    ) -> Result<Box<dyn Recording>, RecordError>;
}

/// One recording under way. Dropping it without [`Recording::stop`] gives up the capture.
pub trait Recording {
    /// Notes an event; `t` is the system's monotonic clock.
    fn mark(&mut self, t: Nanos, name: &str, text: &str);
    /// Ends the recording and completes the capture.
    fn stop(self: Box<Self>) -> Result<RecordedPhase, RecordError>;
}

/// What came of a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedPhase {
    /// The capture; `None` when nothing was stored.
    pub path: Option<PathBuf>,
    pub samples: u64,
    pub lost: u64,
}

/// Records nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullRecorder;

impl Recorder for NullRecorder {
    fn start(
        &mut self,
        _whom: Whom,
        _out: &Path,
        _name: &str,
        _facts: &CaptureFacts,
    ) -> Result<Box<dyn Recording>, RecordError> {
        Ok(Box::new(NullRecorder))
    }
}

impl Recording for NullRecorder {
    fn mark(&mut self, _t: Nanos, _name: &str, _text: &str) {}

    fn stop(self: Box<Self>) -> Result<RecordedPhase, RecordError> {
        Ok(RecordedPhase { path: None, samples: 0, lost: 0 })
    }
}

/// Where the experiment is.
#[derive(Clone, Debug, PartialEq)]
pub struct Step<'a> {
    /// Counted from 1.
    pub run: usize,
    pub runs: usize,
    pub variant: &'a str,
    pub phase: &'a str,
}

/// Told about the way of an experiment.
pub trait Progress {
    fn step(&mut self, step: &Step<'_>);
    /// Bytes of the current phase.
    fn bytes(&mut self, done: u64, total: u64);
}

/// Shows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn step(&mut self, _step: &Step<'_>) {}
    fn bytes(&mut self, _done: u64, _total: u64) {}
}
