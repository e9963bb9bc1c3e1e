//! Why a capture could not be written or read: the deed, the thing, what was found, what to try.

use std::path::{Path, PathBuf};
use zwhy_place::PlaceError;

#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    #[error("cannot {deed} {path}: {source}{}", hint(.source))]
    Io { deed: &'static str, path: PathBuf, source: std::io::Error },
    #[error("{0} already exists; choose another name with -o or move it away")]
    Exists(PathBuf),
    #[error(
        "cannot record to {0}: it is a pipe or a device, and a recording is built up in a folder beside its file; name a file with -o"
    )]
    Stream(PathBuf),
    #[error(transparent)]
    Place(#[from] PlaceError),
    #[error("{path} is not a zwhy capture: {found}")]
    NotACapture { path: PathBuf, found: String },
    #[error(
        "{path} was written by a newer zwhy (capture format {found}, this build reads up to {known}); upgrade zwhy"
    )]
    Newer { path: PathBuf, found: u64, known: u32 },
    #[error("cannot encode table {table}: {why}")]
    Encode { table: &'static str, why: String },
}

impl CaptureError {
    pub(crate) fn io(deed: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> CaptureError {
        let path = path.to_owned();
        move |source| CaptureError::Io { deed, path, source }
    }

    /// `true` when the file system has no room left.
    pub fn is_disk_full(&self) -> bool {
        let source = match self {
            CaptureError::Io { source, .. } => Some(source),
            CaptureError::Place(error) => error.io(),
            _ => None,
        };
        source.is_some_and(|source| source.kind() == std::io::ErrorKind::StorageFull)
    }
}

fn hint(source: &std::io::Error) -> &'static str {
    match source.kind() {
        std::io::ErrorKind::StorageFull => "; free some space or write elsewhere with -o",
        std::io::ErrorKind::PermissionDenied => {
            "; check the permissions of the folder or write elsewhere with -o"
        }
        std::io::ErrorKind::NotFound => "; check the name",
        _ => "",
    }
}
