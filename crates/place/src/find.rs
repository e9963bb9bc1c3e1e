//! What stands at a path: links are followed one by one, as the kernel would.

use crate::{PlaceError, Reason};
use rustix::fs::{Access, AtFlags, CWD, accessat};
use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// As many as the kernel follows.
const MOST_LINKS: usize = 40;

/// What stands there.
#[derive(Debug)]
pub(crate) enum Kind {
    /// A regular file, there or not yet, with all links resolved.
    File { target: PathBuf, there: Option<fs::Metadata> },
    /// A pipe or a character device.
    Stream,
    /// A descriptor that some process has open, by its name under /proc.
    Descriptor,
}

pub fn kind(path: &Path) -> Result<Kind, PlaceError> {
    let failed = |source| PlaceError::refused(path, source);
    // The kernel's own look comes first: in folders that everybody may write it does not follow links
    // that others have put there, and neither must what comes below.
    let there = match fs::metadata(path) {
        Ok(meta) => Some(meta),
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(e) => return Err(failed(e)),
    };
    let target = match resolve(path)? {
        Resolved::Descriptor => return Ok(Kind::Descriptor),
        Resolved::Path(target) => target,
    };
    let Some(there) = there else {
        let is_name = target.file_name().is_some() && !path.as_os_str().is_empty();
        return match folder_of(&target).is_dir() && is_name {
            true => Ok(Kind::File { target, there: None }),
            false => Err(failed(io::ErrorKind::NotFound.into())),
        };
    };
    let file_type = there.file_type();
    let refused = |what| Err(PlaceError::new(path, Reason::NotAFile(what)));
    if file_type.is_dir() {
        refused("a folder")
    } else if file_type.is_socket() {
        refused("a socket")
    } else if file_type.is_block_device() {
        refused("a disk, and its data would be lost")
    } else if file_type.is_file() {
        // Replacing needs only the folder; what its owner protects stays.
        accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS).map_err(|e| failed(e.into()))?;
        Ok(Kind::File { target, there: Some(there) })
    } else {
        Ok(Kind::Stream)
    }
}

enum Resolved {
    Path(PathBuf),
    /// An open file of a process: its name is no path that could be opened anew.
    Descriptor,
}

fn resolve(path: &Path) -> Result<Resolved, PlaceError> {
    let mut at = path.to_owned();
    for _ in 0..MOST_LINKS {
        if descriptor(&at).is_some() {
            return Ok(Resolved::Descriptor);
        }
        match fs::read_link(&at) {
            Ok(link) => at = folder_of(&at).join(link),
            Err(_) => return Ok(Resolved::Path(at)),
        }
    }
    Err(PlaceError::new(path, Reason::Circle))
}

/// The folder of the process and the number, when `path` is an entry of /proc/PID/fd itself.
fn descriptor(path: &Path) -> Option<(PathBuf, u32)> {
    let number = path.file_name()?.to_str()?.parse().ok()?;
    let folder = fs::canonicalize(folder_of(path)).ok()?;
    (folder.starts_with("/proc") && folder.ends_with("fd")).then_some((folder, number))
}

/// Whether `path` leads to descriptor `number` of this process.
pub fn is_own_descriptor(path: &Path, number: u32) -> bool {
    let mut at = path.to_owned();
    for _ in 0..MOST_LINKS {
        if let Some((folder, found)) = descriptor(&at) {
            return found == number && fs::canonicalize("/proc/self/fd").is_ok_and(|own| own == folder);
        }
        match fs::read_link(&at) {
            Ok(link) => at = folder_of(&at).join(link),
            Err(_) => return false,
        }
    }
    false
}

/// The folder that a path lies in.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) => Path::new("."),
        None => path,
    }
}
