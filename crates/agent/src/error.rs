//! Why the agent cannot work in its folder: the deed, the path, what was found, what to try.

use std::io;
use std::path::{Path, PathBuf};
use zwhy_capture::CaptureError;
use zwhy_record::RecordError;

#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    #[error("cannot {deed} {}: {source}{}", path.display(), hint(source))]
    Io { deed: &'static str, path: PathBuf, source: io::Error },
    #[error(
        "{} belongs to an agent that runs (process {pid}); end that one, or name another folder with --spool",
        path.display()
    )]
    Locked { path: PathBuf, pid: String },
    #[error("{} holds nothing that was recorded; start `zwhy agent`, or name its folder with --spool", .0.display())]
    Empty(PathBuf),
    #[error("cannot send to {place}: {why}")]
    Store { place: String, why: String },
    #[error("the recorder ended, and nobody asked for it; start the agent again")]
    Ended,
    #[error(transparent)]
    Capture(#[from] CaptureError),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Serve(#[from] zwhy_serve::ServeError),
}

impl AgentError {
    pub(crate) fn io(deed: &'static str, path: &Path) -> impl FnOnce(io::Error) -> AgentError {
        let path = path.to_owned();
        move |source| AgentError::Io { deed, path, source }
    }
}

fn hint(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::PermissionDenied => "; run as root, or name a folder of your own with --spool",
        io::ErrorKind::NotFound => "; name the folder with --spool",
        io::ErrorKind::StorageFull => "; free some space or name another folder with --spool",
        _ => "",
    }
}
