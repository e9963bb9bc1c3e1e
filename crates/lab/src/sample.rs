//! A sample of the user's own files, which is written instead of made-up data: what compresses, and at what cost, is
//! then what it is on that host.
//!
//! Pieces are taken at random by their bytes, so that large files have the part that they have in the folder. A piece
//! is a run of one file; a file that is shorter is taken whole.

use crate::plan::SplitMix;
use crate::{Bytes, LabError};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The sample in the output folder.
const FILE: &str = "sample";
/// A sample is so long; it repeats in the data.
const LENGTH: u64 = 32 << 20;
/// The largest record, so that a record has data of one file.
const PIECE: u64 = 1 << 20;
/// Files that are looked at; more hardly change the mixture.
const MOST_FILES: usize = 200_000;

/// What a sample was made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sampled {
    pub folder: PathBuf,
    /// Files in the folder, and their bytes.
    pub files: u64,
    pub bytes: Bytes,
    /// Length of the sample, and how many pieces it has.
    pub taken: Bytes,
    pub pieces: u64,
}

impl Sampled {
    /// The folder without what a terminal would obey.
    pub fn place(&self) -> String {
        self.folder.display().to_string().replace(char::is_control, " ")
    }
}

/// The sample in the output folder of an experiment.
pub fn path(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

/// Writes a sample into the output folder, readable by nobody else.
///
/// # Errors
/// When it cannot be written.
pub fn keep(folder: &Path, sample: &[u8]) -> Result<(), LabError> {
    let path = path(folder);
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path);
    file.and_then(|mut file| file.write_all(sample)).map_err(|source| LabError::Io {
        doing: "write the sample of the data to",
        path,
        source,
    })
}

/// Removes the sample from the output folder: it is the user's data.
///
/// # Errors
/// When it stays.
pub fn forget(folder: &Path) -> Result<(), LabError> {
    let path = path(folder);
    match fs::remove_file(&path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(LabError::Io { doing: "remove the sample of the data,", path, source })
        }
        _ => Ok(()),
    }
}

/// Takes a sample of the files below `folder`.
///
/// # Errors
/// When the folder cannot be read, or holds no 4 KiB of data that can be.
pub fn take(folder: &Path, seed: u64) -> Result<(Sampled, Vec<u8>), LabError> {
    let io = |doing| move |source| LabError::Io { doing, path: folder.to_owned(), source };
    let folder = folder.canonicalize().map_err(io("find the data,"))?;
    if !folder.is_dir() {
        return Err(LabError::NotFolder { path: folder });
    }
    let files = files_below(&folder).map_err(io("look into the data,"))?;
    let bytes: u64 = files.iter().map(|(_, size)| size).sum();
    let mut random = SplitMix(seed);
    let mut sample = Vec::new();
    let mut pieces = 0;
    for (path, at, length) in places(&files, bytes, &mut random) {
        let before = sample.len();
        // What goes away or may not be read meanwhile is left out.
        if read_piece(&path, at, length, &mut sample).is_err() {
            sample.truncate(before);
        }
        pieces += u64::from(sample.len() > before);
    }
    if sample.len() < 4096 {
        return Err(LabError::Result {
            path: folder,
            what: "it holds no files with 4 KiB of data that can be read".into(),
        });
    }
    let taken = Bytes(sample.len() as u64);
    let sampled = Sampled { folder, files: files.len() as u64, bytes: Bytes(bytes), taken, pieces };
    Ok((sampled, sample))
}

/// Regular files of this file system with their lengths, by name; links are not followed.
fn files_below(folder: &Path) -> std::io::Result<Vec<(PathBuf, u64)>> {
    let device = fs::metadata(folder)?.dev();
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    let mut first = true;
    while let Some(folder) = folders.pop().filter(|_| files.len() < MOST_FILES) {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if first => return Err(error),
            // One that may not be read is left out.
            Err(_) => continue,
        };
        first = false;
        for entry in entries.flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            if metadata.is_dir() && metadata.dev() == device {
                folders.push(entry.path());
            } else if metadata.is_file() && metadata.len() > 0 {
                files.push((entry.path(), metadata.len()));
            }
        }
    }
    files.sort();
    Ok(files)
}

/// File, offset and length of each piece, until there are enough. Everything is taken once where it is little.
fn places(files: &[(PathBuf, u64)], bytes: u64, random: &mut SplitMix) -> Vec<(PathBuf, u64, u64)> {
    let mut places = Vec::new();
    if bytes <= LENGTH {
        return files.iter().map(|(path, size)| (path.clone(), 0, *size)).collect();
    }
    let ends: Vec<u64> = files
        .iter()
        .scan(0, |end, (_, size)| {
            *end += size;
            Some(*end)
        })
        .collect();
    let mut taken = 0;
    // Files that cannot be read must not make this go on for ever; small ones make many pieces.
    const MOST_PIECES: usize = 20_000;
    while taken < LENGTH && places.len() < MOST_PIECES {
        let at = random.next() % bytes;
        let file = ends.partition_point(|end| *end <= at);
        let (path, size) = &files[file];
        let inside = at - (ends[file] - size);
        let from = inside - inside % PIECE;
        let length = PIECE.min(size - from).min(LENGTH - taken);
        taken += length;
        places.push((path.clone(), from, length));
    }
    places
}

fn read_piece(path: &Path, at: u64, length: u64, into: &mut Vec<u8>) -> std::io::Result<()> {
    // A name that became a pipe since it was listed must not block.
    let mut file =
        OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)?;
    file.seek(SeekFrom::Start(at))?;
    file.take(length).read_to_end(into).map(drop)
}

/// Reads a sample back, cut and repeated so that I/O of `io_size` fits into it.
///
/// # Errors
/// When it cannot be read.
pub fn read(path: &Path, io_size: u64) -> std::io::Result<Vec<u8>> {
    let mut sample = Vec::new();
    File::open(path)?.take(2 * LENGTH).read_to_end(&mut sample)?;
    if sample.is_empty() {
        return Err(std::io::Error::other("it is empty"));
    }
    let io_size = io_size as usize;
    let whole = sample.len() / io_size * io_size;
    if whole > 0 {
        sample.truncate(whole);
        return Ok(sample);
    }
    let once = sample.clone();
    while sample.len() < io_size {
        sample.extend_from_slice(&once);
    }
    sample.truncate(io_size);
    Ok(sample)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_is_taken_whole_and_links_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        fs::create_dir_all(data.join("below")).unwrap();
        fs::write(data.join("a"), vec![b'a'; 5000]).unwrap();
        fs::write(data.join("below/b"), vec![b'b'; 3000]).unwrap();
        fs::write(dir.path().join("outside"), vec![b'x'; 9000]).unwrap();
        std::os::unix::fs::symlink(dir.path().join("outside"), data.join("link")).unwrap();
        let (sampled, sample) = take(&data, 1).unwrap();
        assert_eq!((sampled.files, sampled.bytes, sampled.pieces), (2, Bytes(8000), 2));
        assert_eq!(sample, [vec![b'a'; 5000], vec![b'b'; 3000]].concat());
        keep(dir.path(), &sample).unwrap();
        assert_eq!(fs::metadata(path(dir.path())).unwrap().mode() & 0o777, 0o600);
        forget(dir.path()).unwrap();
        assert!(!path(dir.path()).exists());
        forget(dir.path()).unwrap();
    }

    #[test]
    fn large_files_have_the_part_that_they_have_in_the_folder() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        fs::create_dir_all(&data).unwrap();
        fs::write(data.join("large"), vec![b'L'; 96 << 20]).unwrap();
        for i in 0..8 {
            fs::write(data.join(format!("small{i}")), vec![b's'; 4 << 20]).unwrap();
        }
        let (sampled, sample) = take(&data, 7).unwrap();
        assert_eq!(sampled.taken, Bytes(LENGTH));
        let large = sample.iter().filter(|byte| **byte == b'L').count() as f64 / sample.len() as f64;
        assert!((0.5..0.95).contains(&large), "{large} of the sample, 0.75 of the folder");
        assert!(take(&data, 7).unwrap().1 == sample, "the same seed takes the same");
    }

    #[test]
    fn nothing_to_take_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let error = take(dir.path(), 1).unwrap_err().to_string();
        assert!(error.contains("no files"), "{error}");
        assert!(take(&dir.path().join("nosuch"), 1).is_err());
        fs::write(dir.path().join("file"), "x").unwrap();
        let error = take(&dir.path().join("file"), 1).unwrap_err().to_string();
        assert!(error.contains("--data takes a folder"), "{error}");
    }

    #[test]
    fn a_sample_fits_each_size_of_io() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sample");
        fs::write(&path, vec![1; 10_000]).unwrap();
        assert_eq!(read(&path, 4096).unwrap().len(), 8192);
        assert_eq!(read(&path, 16384).unwrap().len(), 16384);
        fs::write(&path, b"").unwrap();
        assert!(read(&path, 4096).is_err());
    }
}
