//! Why a result cannot be written where the user wants it.

use std::io;
use std::path::{Path, PathBuf};

/// Prints as `cannot write PATH: reason; what to do`.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {reason}", path.display())]
pub struct PlaceError {
    pub path: PathBuf,
    pub reason: Reason,
}

#[derive(Debug, thiserror::Error)]
pub enum Reason {
    #[error("{}{}", .0, hint(.0))]
    Io(io::Error),
    #[error("it is {0}; give a file name")]
    NotAFile(&'static str),
    #[error("its links lead in a circle")]
    Circle,
    #[error("no temporary file can be made ({0}); name another folder with TMPDIR")]
    Temporary(io::Error),
}

impl PlaceError {
    pub(crate) fn new(path: &Path, reason: Reason) -> PlaceError {
        PlaceError { path: path.to_owned(), reason }
    }

    /// The system refused to write `path`.
    pub fn refused(path: &Path, source: io::Error) -> PlaceError {
        PlaceError::new(path, Reason::Io(source))
    }

    /// The error of the system, where there is one.
    pub fn io(&self) -> Option<&io::Error> {
        match &self.reason {
            Reason::Io(source) | Reason::Temporary(source) => Some(source),
            Reason::NotAFile(_) | Reason::Circle => None,
        }
    }
}

/// What to do about an error of writing, to be put behind it.
fn hint(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::NotFound => "; the folder has to be there",
        io::ErrorKind::PermissionDenied => "; check who may, or run as that user",
        io::ErrorKind::StorageFull => "; free some space or write elsewhere",
        _ => "",
    }
}
