//! What the lab changes on this host, written down and on disk before it is changed.
//!
//! A folder for each run, `FOLDER/TOKEN`, that only its owner can look into: the journal, the key of an
//! encrypted dataset, and `root`, where the pool is mounted. One JSON value a line; a line that a crash cut
//! off is of a change that was not made.

use super::host::Roots;
use super::kill;
use crate::LabError;
use crate::bytes::hex;
use crate::failure::Failure;
use serde::{Deserialize, Serialize};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Where journals are when nothing else is said: it stays over a reboot.
pub const FOLDER: &str = "/var/lib/zwhy/lab";
const FILE: &str = "journal";
/// Pools of the lab are called so, with a token.
const POOL: &str = "zwhy-lab-";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "kebab-case")]
pub enum Entry {
    Begin(Begin),
    /// A parameter of the module gets another value.
    Parameter(OldValue),
    /// These become disks of the pool.
    Disks {
        files: Vec<PathBuf>,
        devices: Vec<PathBuf>,
        numbers: Vec<u64>,
    },
    /// The pool is made.
    Pool,
    /// It was made, with this guid.
    Made {
        guid: u64,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begin {
    pub token: String,
    /// Of the pool, as a property: nobody else has it.
    pub mark: String,
    /// The process that runs the experiment, and when it started.
    pub pid: u32,
    pub started: Option<u64>,
    pub scratch: PathBuf,
}

impl Begin {
    pub fn pool(&self) -> String {
        format!("{POOL}{}", self.token)
    }
}

/// How a parameter was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OldValue {
    pub file: PathBuf,
    pub value: String,
    /// Written before `value`: what it stood for, where OpenZFS does not go back by `value` alone.
    pub before: Option<String>,
}

/// The journal of one run.
pub struct Journal {
    folder: PathBuf,
    file: File,
}

impl Journal {
    /// Begins a journal below `journals`, with a token of its own.
    ///
    /// # Errors
    /// When the folder cannot be made, or others could write into it.
    pub fn begin(journals: &Path, scratch: &Path, roots: &Roots) -> Result<(Journal, Begin), LabError> {
        let io = LabError::io("make the journal in", journals);
        DirBuilder::new().recursive(true).mode(0o700).create(journals).map_err(&io)?;
        check_owner(journals)?;
        let mut random = [0; 24];
        File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut random)).map_err(&io)?;
        let pid = std::process::id();
        let begin = Begin {
            token: hex(&random[..8]),
            mark: hex(&random[8..]),
            pid,
            started: roots.started(pid),
            scratch: scratch.to_owned(),
        };
        let folder = journals.join(&begin.token);
        DirBuilder::new().mode(0o700).create(&folder).map_err(&io)?;
        let path = folder.join(FILE);
        let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(path).map_err(&io)?;
        let mut journal = Journal { folder: folder.clone(), file };
        journal.write(&Entry::Begin(begin.clone())).map_err(&io)?;
        // The names of file and folder have to be on disk, too.
        for folder in [folder.as_path(), journals] {
            File::open(folder).and_then(|f| f.sync_all()).map_err(&io)?;
        }
        Ok((journal, begin))
    }

    /// Goes on with the journal in a folder.
    ///
    /// # Errors
    /// When it is not there.
    pub fn go_on(folder: &Path) -> Result<Journal, Failure> {
        let file = OpenOptions::new().append(true).open(folder.join(FILE));
        let file = file.map_err(|e| Failure::other("open the journal", e))?;
        Ok(Journal { folder: folder.to_owned(), file })
    }

    /// Notes what comes next; it is on disk when this returns.
    ///
    /// # Errors
    /// When it could not be written: the change must not be made then.
    pub fn note(&mut self, entry: &Entry) -> Result<(), Failure> {
        kill::point()?;
        self.write(entry).map_err(|e| Failure::other("write the journal", e))?;
        kill::point()
    }

    fn write(&mut self, entry: &Entry) -> io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        self.file.write_all(&line)?;
        self.file.sync_all()
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// Where the pool is mounted.
pub fn root(folder: &Path) -> PathBuf {
    folder.join("root")
}

pub fn key(folder: &Path) -> PathBuf {
    folder.join("key")
}

/// Folders of all journals below `journals`.
///
/// # Errors
/// When there may be some and they cannot be listed.
pub fn all(journals: &Path) -> Result<Vec<PathBuf>, LabError> {
    let entries = match fs::read_dir(journals) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(LabError::io("look for journals in", journals))?,
    };
    check_owner(journals)?;
    let mut folders: Vec<PathBuf> =
        entries.flatten().filter(|e| e.file_type().is_ok_and(|t| t.is_dir())).map(|e| e.path()).collect();
    folders.sort();
    Ok(folders)
}

/// What was noted; empty where a kill came before the first line.
pub fn read(folder: &Path) -> Vec<Entry> {
    let text = fs::read_to_string(folder.join(FILE)).unwrap_or_default();
    text.lines().map_while(|line| serde_json::from_str(line).ok()).collect()
}

/// Removes a journal whose changes are all taken back.
///
/// # Errors
/// When something else is in its folder.
pub fn remove(folder: &Path) -> io::Result<()> {
    let root = root(folder);
    for path in [root.join("data"), root] {
        if path.exists() {
            fs::remove_dir(path)?;
        }
    }
    // The journal last: without it nobody knows of the rest.
    for path in [key(folder), folder.join(FILE)] {
        if path.exists() {
            fs::remove_file(path)?;
        }
    }
    fs::remove_dir(folder)
}

/// Whoever can write journals decides what is destroyed.
fn check_owner(journals: &Path) -> Result<(), LabError> {
    let refused = LabError::useless(journals);
    let data = fs::metadata(journals).map_err(LabError::useless(journals))?;
    if data.uid() != rustix::process::geteuid().as_raw() {
        return Err(refused("the folder of the journals belongs to another user"));
    }
    if data.mode() & 0o022 != 0 {
        return Err(refused("others may write into the folder of the journals; chmod 700 it"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn what_was_noted_is_read_and_a_torn_line_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let journals = dir.path().join("lab");
        let (mut journal, begin) =
            Journal::begin(&journals, Path::new("/scratch"), &Roots::default()).unwrap();
        assert!(begin.pool().starts_with("zwhy-lab-") && begin.token.len() == 16 && begin.mark.len() == 32);
        journal.note(&Entry::Made { guid: u64::MAX }).unwrap();
        journal.file.write_all(b"{\"entry\":\"made\",\"gu").unwrap();
        let folder = journal.folder().to_owned();
        assert_eq!(all(&journals).unwrap(), std::slice::from_ref(&folder));
        assert_eq!(read(&folder), [Entry::Begin(begin), Entry::Made { guid: u64::MAX }]);
        fs::write(folder.join("precious"), "").unwrap();
        assert!(remove(&folder).is_err() && folder.join("precious").exists());
    }

    #[test]
    fn a_folder_that_others_may_write_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let error = Journal::begin(dir.path(), Path::new("/s"), &Roots::default()).err().unwrap();
        assert!(error.to_string().contains("chmod 700"), "{error}");
        assert!(all(dir.path()).is_err());
        assert_eq!(all(&dir.path().join("none")).unwrap(), Vec::<PathBuf>::new());
    }
}
