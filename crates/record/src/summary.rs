//! What a recording came to.

use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

#[derive(Clone, Debug)]
pub struct Summary {
    /// The finished capture.
    pub path: PathBuf,
    pub bytes: u64,
    pub samples: u64,
    /// Samples that found no room in a ring.
    pub lost: u64,
    pub duration: Duration,
    /// CPU time of the recorder itself.
    pub cpu: Duration,
    /// The same as a share of one CPU.
    pub cpu_share: f64,
    /// Most memory that the recorder's process held, in bytes; `None` where the kernel does not say.
    pub peak_rss: Option<u64>,
    /// How the recorded command ended.
    pub exit_status: Option<ExitStatus>,
    /// Sentences: what is not in the capture, and what to do.
    pub warnings: Vec<String>,
}

/// How far a recording is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Status {
    pub elapsed: Duration,
    pub samples: u64,
    pub lost: u64,
    pub bytes_written: u64,
}

/// Told about a running recording about every second.
pub trait Progress {
    fn update(&mut self, status: Status);

    /// A capture was written, and the recording goes on.
    fn saved(&mut self, _path: &Path) {}
}

/// For callers that want no news.
impl Progress for () {
    fn update(&mut self, _: Status) {}
}
