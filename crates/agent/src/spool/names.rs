//! What lies in a spool: a file for some minutes, named by its number, its begin and its length.
//!
//! `00000042-20261122-191233-300s.zwhy` is a finished one, `00000043-20261122-191733.zwhy.part` grows or was cut. Numbers
//! only grow, whatever the clock does, and give the order.

use crate::error::AgentError;
use std::fs;
use std::path::{Path, PathBuf};
use zwhy_live::{stamp, unix_of_stamp};

/// A file of the spool.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub number: u64,
    /// By the host's clock, in seconds since 1970; whole seconds.
    pub start_unix_s: f64,
    /// Absent while it grows, and where it was cut.
    pub seconds: Option<f64>,
    pub bytes: u64,
    pub path: PathBuf,
}

/// Where a file that begins now will grow, without the ending `.part`.
pub(crate) fn growing(folder: &Path, number: u64, start_unix_s: f64) -> PathBuf {
    folder.join(format!("{number:08}-{}.zwhy", stamp(start_unix_s)))
}

/// What it is called when it is finished.
pub(crate) fn finished(folder: &Path, number: u64, start_unix_s: f64, seconds: f64) -> PathBuf {
    folder.join(format!("{number:08}-{}-{:.0}s.zwhy", stamp(start_unix_s), seconds.max(0.0)))
}

/// All files, the oldest first. What is not of a spool is passed over.
///
/// # Errors
/// When the folder cannot be read.
pub fn entries(folder: &Path) -> Result<Vec<Entry>, AgentError> {
    let failed = |e| AgentError::io("read the folder", folder)(e);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(AgentError::io("read the folder", folder))?.path();
        found.extend(entry_of(path));
    }
    // Of one number the finished file comes last: it has all.
    found.sort_by(|a, b| a.number.cmp(&b.number).then(a.seconds.is_some().cmp(&b.seconds.is_some())));
    Ok(found)
}

fn entry_of(path: PathBuf) -> Option<Entry> {
    let name = path.file_name()?.to_str()?;
    let (stem, is_part) = match name.strip_suffix(".zwhy.part") {
        Some(stem) => (stem, true),
        None => (name.strip_suffix(".zwhy")?, false),
    };
    let (number, rest) = stem.split_once('-')?;
    let (begin, seconds) = match is_part {
        true => (rest, None),
        false => {
            let (begin, length) = rest.rsplit_once('-')?;
            (begin, Some(length.strip_suffix('s')?.parse::<u32>().ok().map(f64::from)?))
        }
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let number = number.parse().ok().filter(|_| digits(number))?;
    Some(Entry { number, start_unix_s: unix_of_stamp(begin)?, seconds, bytes: bytes(&path), path })
}

/// Bytes of a file, or of all files of a folder.
pub(crate) fn bytes(path: &Path) -> u64 {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => fs::read_dir(path)
            .map(|files| files.flatten().filter_map(|file| file.metadata().ok()).map(|m| m.len()).sum())
            .unwrap_or(0),
        Ok(meta) => meta.len(),
        Err(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_and_strangers_are_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let at = 1_795_375_953.0;
        fs::write(finished(dir.path(), 42, at, 59.7), b"12345").unwrap();
        let part = zwhy_capture::part_folder(&growing(dir.path(), 43, at + 60.0));
        fs::create_dir(&part).unwrap();
        fs::write(part.join("facts.json"), b"123").unwrap();
        for odd in
            ["x.zwhy", "-1-20261122-191233-60s.zwhy", "00000001-2026-60s.zwhy", "lock", "9-a-b.zwhy.part"]
        {
            fs::write(dir.path().join(odd), b"").unwrap();
        }
        let found = entries(dir.path()).unwrap();
        let told: Vec<_> = found.iter().map(|e| (e.number, e.start_unix_s, e.seconds, e.bytes)).collect();
        assert_eq!(told, [(42, at, Some(60.0), 5), (43, at + 60.0, None, 3)]);
    }
}
