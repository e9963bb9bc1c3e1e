//! A sample of the user's own files, which is written instead of made-up data: what compresses, and at what cost, is
//! then what it is on that host.
//!
//! Pieces are taken at random by their bytes, so that large files have the part that they have in the folder. A piece
//! is a run of one file; a file that is shorter is taken whole. Holes of sparse files are no data.

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
    /// Pieces that were not taken: the user may not read them, or they are holes.
    #[serde(default)]
    pub unread: u64,
    #[serde(default)]
    pub holes: u64,
}

impl Sampled {
    /// The folder without what a terminal would obey.
    pub fn place(&self) -> String {
        self.folder.display().to_string().replace(char::is_control, " ")
    }

    /// `; 3 pieces could not be read, 12 are holes of sparse files`, or nothing.
    pub fn without(&self) -> String {
        let told = [(self.unread, "could not be read"), (self.holes, "are holes of sparse files")];
        let told: Vec<String> = told
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        if told.is_empty() { String::new() } else { format!("; of the pieces drawn {}", told.join(", ")) }
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
    file.and_then(|mut file| file.write_all(sample))
        .map_err(LabError::io("write the sample of the data to", path))
}

/// Removes the sample from the output folder: it is the user's data.
///
/// # Errors
/// When it stays.
pub fn forget(folder: &Path) -> Result<(), LabError> {
    let path = path(folder);
    match fs::remove_file(&path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(LabError::io("remove the sample of the data,", path)(e))
        }
        _ => Ok(()),
    }
}

/// Takes a sample of the files below `folder`.
///
/// # Errors
/// When the folder cannot be read, or holds no 4 KiB of data that can be.
pub fn take(folder: &Path, seed: u64) -> Result<(Sampled, Vec<u8>), LabError> {
    let io = |doing| LabError::io(doing, folder);
    let folder = folder.canonicalize().map_err(io("find the data,"))?;
    if !folder.is_dir() {
        return Err(LabError::NotFolder { path: folder });
    }
    refuse_kernels(&folder)?;
    let files = files_below(&folder).map_err(io("look into the data,"))?;
    let bytes: u64 = files.iter().map(|(_, size)| size).sum();
    let mut random = SplitMix(seed);
    let mut sample = Vec::new();
    let (mut pieces, mut unread, mut holes) = (0, 0, 0);
    for (path, at, length) in places(&files, bytes, &mut random) {
        if sample.len() as u64 >= LENGTH {
            break;
        }
        let before = sample.len();
        // What goes away or may not be read meanwhile is left out.
        match read_piece(&path, at, length, &mut sample) {
            Ok(true) => {}
            Ok(false) => holes += 1,
            Err(_) => {
                sample.truncate(before);
                unread += 1;
            }
        }
        pieces += u64::from(sample.len() > before);
    }
    sample.truncate(LENGTH as usize);
    if sample.len() < 4096 {
        let what = format!(
            "it holds no files with 4 KiB of data that can be read ({} files; {unread} pieces could not be read, {holes} are holes)",
            files.len()
        );
        return Err(LabError::useless(folder)(what));
    }
    let taken = Bytes(sample.len() as u64);
    let sampled =
        Sampled { folder, files: files.len() as u64, bytes: Bytes(bytes), taken, pieces, unread, holes };
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

/// A file system of the kernel's own holds no data, and reading its files may do things.
fn refuse_kernels(folder: &Path) -> Result<(), LabError> {
    // statfs(2): proc, sysfs, debugfs, tracefs, cgroup2.
    const KERNELS: [rustix::fs::FsWord; 5] = [0x9fa0, 0x6265_6572, 0x6462_6720, 0x7472_6163, 0x6367_7270];
    let kind = rustix::fs::statfs(folder).map(|found| found.f_type);
    match kind.is_ok_and(|kind| KERNELS.contains(&kind)) {
        true => {
            Err(LabError::useless(folder)("it is a file system of the kernel's own, which holds no data"))
        }
        false => Ok(()),
    }
}

/// File, offset and length of places to take pieces of, more than are needed where there is much: some will be holes.
/// Everything comes once where it is little.
fn places(
    files: &[(PathBuf, u64)],
    bytes: u64,
    random: &mut SplitMix,
) -> impl Iterator<Item = (PathBuf, u64, u64)> {
    /// Holes and files that cannot be read must not make this go on for ever; small ones make many pieces.
    const MOST_PIECES: usize = 20_000;
    let mut ends = Vec::with_capacity(files.len());
    let mut end = 0;
    for (_, size) in files {
        end += size;
        ends.push(end);
    }
    let piece = |file: usize, from: u64| {
        let (path, size) = &files[file];
        (path.clone(), from, PIECE.min(size - from))
    };
    let whole = files
        .iter()
        .enumerate()
        .flat_map(|(file, (_, size))| (0..size.div_ceil(PIECE)).map(move |at| (file, at * PIECE)));
    let drawn = std::iter::repeat_with(|| {
        let at = random.next() % bytes;
        let file = ends.partition_point(|end| *end <= at);
        let inside = at - (ends[file] - files[file].1);
        (file, inside - inside % PIECE)
    });
    let little = bytes <= LENGTH;
    let places: Vec<(usize, u64)> = if little { whole.collect() } else { drawn.take(MOST_PIECES).collect() };
    places.into_iter().map(move |(file, from)| piece(file, from))
}

/// Whether there was data: a hole of a sparse file is none.
fn read_piece(path: &Path, at: u64, length: u64, into: &mut Vec<u8>) -> std::io::Result<bool> {
    // A name that became a pipe since it was listed must not block.
    let mut file =
        OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)?;
    match rustix::fs::seek(&file, rustix::fs::SeekFrom::Data(at)) {
        // No data from here to the end, or only after the piece.
        Err(rustix::io::Errno::NXIO) => return Ok(false),
        Ok(data) if data >= at + length => return Ok(false),
        // Not every file system tells.
        _ => {}
    }
    file.seek(SeekFrom::Start(at))?;
    file.take(length).read_to_end(into).map(|read| read > 0)
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
    fn holes_are_no_data_and_files_of_the_kernel_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        fs::create_dir_all(&data).unwrap();
        // A disk image of 256 MiB with 4 MiB of data in it.
        let mut image = File::create(data.join("image")).unwrap();
        image.seek(SeekFrom::Start(100 << 20)).unwrap();
        image.write_all(&vec![b'd'; 4 << 20]).unwrap();
        image.set_len(256 << 20).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(data.join("socket")).unwrap();
        let (sampled, sample) = take(&data, 3).unwrap();
        assert_eq!(sampled.files, 1);
        assert!(sampled.holes > 100, "{sampled:?}");
        let zeros = sample.iter().filter(|byte| **byte == 0).count() as f64 / sample.len() as f64;
        assert!(zeros < 0.3, "{zeros} of the sample are of holes");
        let error = take(Path::new("/proc/self"), 1).unwrap_err().to_string();
        assert!(error.contains("file system of the kernel"), "{error}");
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
