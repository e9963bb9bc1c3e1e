//! Bytes that arrive as a stream: few are held in memory, many lie in a file without a name that is mapped.
//!
//! Invariant: besides the file no more than [`Limits::max_held`] bytes and a buffer are held.

use super::{Bytes, map};
use crate::{ErrorKind, FormatError, Limits};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// What one write to the file takes.
const BUFFER: usize = 1 << 20;

/// What a stream gave.
pub(crate) struct Stream {
    pub bytes: Bytes,
    /// Why it ended before its end; what came until then is in `bytes`.
    pub broken: Option<io::Error>,
}

/// Reads to the end, to an error of the reader, or until there are more than `most` bytes.
///
/// # Errors
/// When the file for a long stream cannot be made or has no room; `name` is the input's.
pub(crate) fn collect(
    name: &str,
    reader: impl Read,
    most: u64,
    limits: &Limits,
) -> Result<Stream, FormatError> {
    // Only a long stream needs a folder; in a browser there is none.
    collect_with(reader, most, limits.max_held, || tempfile::tempfile_in(folder()))
        .map_err(|error| no_room(name, &folder(), &error))
}

fn collect_with(
    reader: impl Read,
    most: u64,
    held: usize,
    file: impl FnOnce() -> io::Result<File>,
) -> io::Result<Stream> {
    let mut reader = reader.take(most.saturating_add(1));
    let mut memory = Vec::new();
    // read_to_end keeps what it read before an error.
    let broken = reader.by_ref().take(held as u64 + 1).read_to_end(&mut memory).err();
    if memory.len() <= held || broken.is_some() {
        return Ok(Stream { bytes: Bytes::Memory(memory), broken });
    }
    let mut file = file()?;
    file.write_all(&memory)?;
    drop(memory);
    let broken = copy(&mut reader, &mut file)?;
    Ok(Stream { bytes: Bytes::Mapped(map(&file)?), broken })
}

/// Copies all there is; fails when it cannot be written, and returns what stopped the reading.
fn copy(reader: &mut impl Read, file: &mut File) -> io::Result<Option<io::Error>> {
    let mut buffer = vec![0; BUFFER];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(None),
            Ok(read) => file.write_all(&buffer[..read])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Ok(Some(error)),
        }
    }
}

/// Where long streams lie: $TMPDIR, else /var/tmp, which is seldom in memory as /tmp often is.
fn folder() -> PathBuf {
    if std::env::var_os("TMPDIR").is_some_and(|dir| !dir.is_empty()) {
        return std::env::temp_dir();
    }
    let disk = Path::new("/var/tmp");
    if disk.is_dir() { disk.to_owned() } else { std::env::temp_dir() }
}

fn no_room(name: &str, folder: &Path, error: &io::Error) -> FormatError {
    let found = format!("it is too long for memory, and {} cannot take it: {error}", folder.display());
    FormatError::read(ErrorKind::Io, name, found)
        .hint("set TMPDIR to a folder with room, or give zwhy a plain file, not a pipe and not compressed")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(stream: &Stream) -> &[u8] {
        stream.bytes.as_slice()
    }

    #[test]
    fn short_streams_stay_in_memory_and_long_ones_do_not() {
        let data: Vec<u8> = (0..3 * BUFFER as u32).map(|i| (i % 251) as u8).collect();
        let short = collect_with(&data[..100], 1000, 100, || unreachable!("it fits")).unwrap();
        assert!(matches!(short.bytes, Bytes::Memory(_)));
        assert_eq!(bytes(&short), &data[..100]);
        let long = collect_with(&data[..], u64::MAX, 100, tempfile::tempfile).unwrap();
        assert!(matches!(long.bytes, Bytes::Mapped(_)));
        assert_eq!(bytes(&long), data);
    }

    #[test]
    fn no_more_is_taken_than_asked_for() {
        let long = collect_with(io::repeat(1), 5000, 100, tempfile::tempfile).unwrap();
        assert_eq!(bytes(&long).len(), 5001);
    }

    #[test]
    fn what_came_before_an_error_is_kept() {
        struct Breaks;
        impl Read for Breaks {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("it broke"))
            }
        }
        for held in [10, 10_000] {
            let stream = [7; 500].as_slice().chain(Breaks);
            let stream = collect_with(stream, u64::MAX, held, tempfile::tempfile).unwrap();
            assert_eq!(bytes(&stream), [7; 500]);
            assert_eq!(stream.broken.unwrap().to_string(), "it broke");
        }
    }

    #[test]
    fn a_full_disk_is_told_with_the_folder() {
        let full = || File::options().write(true).open("/dev/full");
        let error = collect_with(io::repeat(1), 5000, 100, full).err().unwrap();
        let error = no_room("stdin", Path::new("/var/tmp"), &error);
        let text = error.to_string();
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(text.contains("/var/tmp cannot take it: No space left on device"), "{text}");
        assert!(text.contains("set TMPDIR to a folder with room"), "{text}");
    }
}
