//! Why an object has no source lines.

use std::path::{Path, PathBuf};

/// Said of one module, program or library; its text goes on after "no source lines for zfs: ".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoLines {
    #[error("its file was not found")]
    NotFound,
    #[error("the loaded module shows no build-id to find its debug information by")]
    NoBuildId,
    #[error("the recording has no build-id of it")]
    NotRecorded,
    #[error("{} has no debug information", .0.display())]
    NoDwarf(PathBuf),
    #[error("{} is another build than the code that ran", .0.display())]
    OtherBuild(PathBuf),
    #[error("its debug information is larger than what is left of 1 GiB for all")]
    TooLarge,
    #[error("its debug information is damaged: {0}")]
    Damaged(String),
}

impl NoLines {
    /// How near a file came to be the one that is wanted; of several reasons the nearest is told.
    pub(super) fn nearness(&self) -> u8 {
        match self {
            NoLines::NotFound | NoLines::NoBuildId | NoLines::NotRecorded => 0,
            NoLines::OtherBuild(_) => 1,
            NoLines::NoDwarf(_) => 2,
            NoLines::TooLarge | NoLines::Damaged(_) => 3,
        }
    }

    /// Of the file at `path`, when it was told of its bytes.
    pub(super) fn at(self, path: &Path) -> NoLines {
        match self {
            NoLines::NoDwarf(_) => NoLines::NoDwarf(path.to_owned()),
            NoLines::Damaged(why) => NoLines::Damaged(format!("{}: {why}", path.display())),
            other => other,
        }
    }
}

/// What the first of `paths` gives that gives anything, else why the nearest one does not.
pub(super) fn first_of<T>(
    paths: &[PathBuf],
    mut open: impl FnMut(&Path) -> Result<T, NoLines>,
) -> Result<T, NoLines> {
    let mut reason = NoLines::NotFound;
    for path in paths {
        match open(path) {
            Err(why) if why.nearness() > reason.nearness() => reason = why,
            Err(_) => {}
            found => return found,
        }
    }
    Err(reason)
}
