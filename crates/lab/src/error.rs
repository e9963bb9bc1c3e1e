//! What can go wrong in the lab, each with what was done, what was found and what to try.

use crate::Bytes;
use crate::engine::parent::RunStep;
use crate::failure::Failure;
use crate::user::library::LibraryError;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, thiserror::Error)]
pub enum LabError {
    #[error("there is no experiment {name:?}{meant} Known are: {known}. A path to a .toml file works too")]
    NoExperiment { name: String, meant: String, known: String },

    #[error("the experiment {origin} cannot be used: {what}")]
    Spec { origin: String, what: String },

    #[error(transparent)]
    Library(#[from] LibraryError),

    #[error(
        "{library} has no parameter {name} that can be set from outside; leave it out, or run this on the kernel's OpenZFS"
    )]
    NoParameter { name: String, library: String },

    #[error(
        "the OpenZFS library {} is another one now ({found}) than when this experiment began; run it again from the start",
        .path.display()
    )]
    OtherLibrary { path: PathBuf, found: String },

    #[error("the engine pool needs root: it makes a pool on the host's OpenZFS; try sudo")]
    NotRoot,

    #[error(
        "OpenZFS is not in this kernel: the module zfs is not loaded. Load it (modprobe zfs), or leave out --engine \
         pool to run libzpool instead"
    )]
    NoModule,

    #[error("the OpenZFS in this kernel is {version}; the lab knows 2.1 to 2.4")]
    UnknownModule { version: String },

    #[error("the engine user cannot run this: {}", .reasons.join("; "))]
    UserCannot { reasons: Vec<String> },

    #[error("the engine pool cannot run this: {}", .reasons.join("; "))]
    PoolCannot { reasons: Vec<String> },

    #[error("{} cannot be used: {why}", .path.display())]
    Device { path: PathBuf, why: String },

    #[error(
        "something of the lab is left on this host: {}. zwhy lab cleanup{} takes it away when nothing holds it any more",
        .left.join("; "), other_journals(.journals)
    )]
    LeftBehind { left: Vec<String>, journals: PathBuf },

    #[error(
        "there are no results of an experiment in {}; run one first: zwhy lab run NAME -o {} (zwhy lab list names \
         them)", .folder.display(), .folder.display()
    )]
    NoResults { folder: PathBuf },

    #[error(
        "the experiment in {} was cut off before its first run ended; zwhy lab resume {} goes on with it",
        .folder.display(), .folder.display()
    )]
    NotYet { folder: PathBuf },

    #[error("{} cannot be used: {what}", .path.display())]
    Result { path: PathBuf, what: String },

    #[error("the data {} is a file; --data takes a folder, of whose files a sample is written", .path.display())]
    NotFolder { path: PathBuf },

    #[error(transparent)]
    Place(#[from] zwhy_place::PlaceError),

    #[error(
        "the scratch folder {} is not empty ({found}); the lab only works in a new or empty folder. \
         Name another one, or empty it if these are leftovers of a lab that was killed", .path.display()
    )]
    ScratchNotEmpty { path: PathBuf, found: String },

    #[error("the scratch folder {} is a file; name a folder, it is made if it does not exist", .path.display())]
    ScratchNotFolder { path: PathBuf },

    #[error(
        "the scratch folder {} has {} MB free, the experiment needs {} MB (the data and the pool around \
         it); name a scratch folder on a larger disk, or run the quick size", .path.display(), free.0 / 1_000_000,
        needed.0 / 1_000_000
    )]
    Space { path: PathBuf, free: Bytes, needed: Bytes },

    #[error("cannot {doing} {}: {source}", .path.display())]
    Io { doing: &'static str, path: PathBuf, source: std::io::Error },

    #[error("cannot start the program that runs OpenZFS ({program}): {source}")]
    Spawn { program: String, source: std::io::Error },

    #[error("OpenZFS failed in {place}: {failure}")]
    OpenZfs { place: Box<RunStep>, failure: Box<Failure> },

    #[error(
        "OpenZFS crashed in {place}: the process that ran it {how}. The runs before it are kept. \
         Unless it was killed, the fault is in {library}: please report it there{}",
        told(.last_words)
    )]
    Crashed { place: Box<RunStep>, how: String, library: String, last_words: String },

    #[error(
        "OpenZFS said nothing for {} s in {place}, and was stopped. \
         A slow disk needs a longer limit; otherwise the pool may have been suspended by an I/O error{}",
        .after.as_secs_f64(), told(.last_words)
    )]
    Hung { place: Box<RunStep>, after: Duration, last_words: String },

    #[error("the process that runs OpenZFS spoke out of turn in {place}: {what}")]
    Protocol { place: Box<RunStep>, what: String },

    #[error("cannot record {place}: {source}")]
    Record { place: Box<RunStep>, source: crate::RecordError },

    #[error("the experiment was cancelled")]
    Cancelled,
}

impl LabError {
    /// What the host refused: the deed, and what it was done to.
    pub(crate) fn io(doing: &'static str, path: impl Into<PathBuf>) -> impl Fn(std::io::Error) -> LabError {
        let path = path.into();
        move |source| LabError::Io { doing, path: path.clone(), source }
    }

    /// What was found in a file or folder makes it useless.
    pub(crate) fn useless<E: ToString>(path: impl Into<PathBuf>) -> impl Fn(E) -> LabError {
        let path = path.into();
        move |what| LabError::Result { path: path.clone(), what: what.to_string() }
    }

    /// A file that an experiment writes into its folder could not be read.
    pub(crate) fn unread(
        doing: &'static str,
        folder: &std::path::Path,
        path: PathBuf,
        source: std::io::Error,
    ) -> LabError {
        use std::io::ErrorKind::{NotADirectory, NotFound};
        match source.kind() {
            NotFound if crate::store::is_begun(folder) => LabError::NotYet { folder: folder.to_owned() },
            NotFound | NotADirectory => LabError::NoResults { folder: folder.to_owned() },
            _ => LabError::io(doing, path)(source),
        }
    }

    /// A run ended early, and the next one may well come to its end.
    pub fn is_of_one_run(&self) -> bool {
        matches!(
            self,
            LabError::OpenZfs { .. }
                | LabError::Crashed { .. }
                | LabError::Hung { .. }
                | LabError::Protocol { .. }
        )
    }
}

fn other_journals(journals: &std::path::Path) -> String {
    match journals == std::path::Path::new(crate::pool::journal::FOLDER) {
        true => String::new(),
        false => format!(" --journal {}", journals.display()),
    }
}

fn told(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!("; its last words:\n{words}") }
}
