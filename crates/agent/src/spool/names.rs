//! What lies in a spool: a file for some minutes, named by its number, its begin and its length.
//!
//! `00000042-20261122-191233-300s.zwhy` is a finished one, `00000043-20261122-191733.zwhy.part` grows or was cut, and
//! `00000030-00000041-20261122-181233-3600s.zwhy` has the sums of those from 30 to 41. Numbers only grow, whatever the clock
//! does, and give the order.

use crate::error::AgentError;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use zwhy_live::{stamp, unix_of_stamp};

/// A file of the spool.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub number: u64,
    /// Of sums the number of the last file that they are of; else the same.
    pub last: u64,
    /// By the host's clock, in seconds since 1970; whole seconds.
    pub start_unix_s: f64,
    /// Absent while it grows, and where it was cut.
    pub seconds: Option<f64>,
    pub bytes: u64,
    pub path: PathBuf,
}

impl Entry {
    /// Whether it has the sums of other files, and not what was recorded.
    pub fn is_sums(&self) -> bool {
        let name = self.path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.ends_with(".zwhy") && name.matches('-').count() == 4)
    }

    /// Whether it is the file of this number or has its sums.
    pub fn has(&self, number: u64) -> bool {
        (self.number..=self.last).contains(&number)
    }

    /// A finished file with what was recorded.
    pub(crate) fn is_finished(&self) -> bool {
        self.path.extension().is_some_and(|e| e == "zwhy") && !self.is_sums()
    }
}

/// Where a file that begins now will grow, without the ending `.part`.
pub(crate) fn growing(folder: &Path, number: u64, start_unix_s: f64) -> PathBuf {
    folder.join(format!("{number:08}-{}.zwhy", stamp(start_unix_s)))
}

/// What it is called when it is finished.
pub(crate) fn finished(folder: &Path, number: u64, start_unix_s: f64, seconds: f64) -> PathBuf {
    folder.join(format!("{number:08}-{}-{:.0}s.zwhy", stamp(start_unix_s), seconds.max(0.0)))
}

/// What the sums of the files from `number` to `last` are called.
pub(crate) fn sums(folder: &Path, (number, last): (u64, u64), start_unix_s: f64, seconds: f64) -> PathBuf {
    folder.join(format!("{number:08}-{last:08}-{}-{:.0}s.zwhy", stamp(start_unix_s), seconds.max(0.0)))
}

/// All files, the oldest first. What is not of a spool is passed over, and so are files whose sums are there.
///
/// # Errors
/// When the folder cannot be read.
pub fn entries(folder: &Path) -> Result<Vec<Entry>, AgentError> {
    Ok(with_covered(folder)?.0)
}

/// As [`entries`], and the files whose sums are there.
pub(crate) fn with_covered(folder: &Path) -> Result<(Vec<Entry>, Vec<Entry>), AgentError> {
    let found = all(folder)?;
    let sums: Vec<(u64, u64)> =
        found.iter().filter(|entry| entry.is_sums()).map(|entry| (entry.number, entry.last)).collect();
    let in_sums = |entry: &Entry| sums.iter().any(|(first, last)| (*first..=*last).contains(&entry.number));
    Ok(found.into_iter().partition(|entry| entry.is_sums() || !in_sums(entry)))
}

fn all(folder: &Path) -> Result<Vec<Entry>, AgentError> {
    let files = fs::read_dir(folder).and_then(|files| files.collect::<io::Result<Vec<_>>>());
    let files = files.map_err(AgentError::io("read the folder", folder))?;
    let mut found: Vec<Entry> = files.iter().filter_map(|file| entry_of(file.path())).collect();
    // Of one number the finished file comes last: it has all.
    found.sort_by(|a, b| a.number.cmp(&b.number).then(a.seconds.is_some().cmp(&b.seconds.is_some())));
    Ok(found)
}

pub(crate) fn entry_of(path: PathBuf) -> Option<Entry> {
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
    let number_of = |text: &str| text.parse::<u64>().ok().filter(|_| digits(text));
    let number = number_of(number)?;
    let (last, begin) = match begin.split_once('-') {
        // A day and a time, or a number before them.
        Some((last, begin)) if begin.contains('-') && !is_part => (number_of(last)?, begin),
        _ => (number, begin),
    };
    let start_unix_s = unix_of_stamp(begin)?;
    (last >= number).then(|| Entry { number, last, start_unix_s, seconds, bytes: bytes(&path), path })
}

/// Bytes of a file, or of all files of a folder.
pub(crate) fn bytes(path: &Path) -> u64 {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => {
            let files = fs::read_dir(path).into_iter().flatten().flatten();
            files.filter_map(|file| file.metadata().ok()).map(|meta| meta.len()).sum()
        }
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
        let told = || -> Vec<_> {
            let found = entries(dir.path()).unwrap();
            found.iter().map(|e| (e.number, e.last, e.start_unix_s, e.seconds, e.bytes)).collect()
        };
        let grows = (43, 43, at + 60.0, None, 3);
        assert_eq!(told(), [(42, 42, at, Some(60.0), 5), grows]);
        fs::write(sums(dir.path(), (40, 42), at - 120.0, 179.7), b"1234567").unwrap();
        assert_eq!(told(), [(40, 42, at - 120.0, Some(180.0), 7), grows], "42 is in the sums");
        let (found, covered) = with_covered(dir.path()).unwrap();
        assert_eq!(covered.iter().map(|e| e.number).collect::<Vec<_>>(), [42]);
        assert_eq!(
            [found[0].is_sums(), found[0].has(41), found[0].has(43), found[1].is_sums()],
            [true, true, false, false]
        );
        fs::write(sums(dir.path(), (44, 44), at, 60.0), b"").unwrap();
        assert!(entries(dir.path()).unwrap()[2].is_sums(), "of one file, too");
        fs::write(sums(dir.path(), (46, 45), at, 60.0), b"").unwrap();
        assert_eq!(entries(dir.path()).unwrap().len(), 3);
    }
}
