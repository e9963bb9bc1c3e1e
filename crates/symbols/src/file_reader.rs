//! A file as `object` wants to read it, by `pread` and without a memory map: a file that is cut short
//! while it is read gives an error here, where a map would kill the process.
//!
//! Invariant: what was read stays where it is until the reader is dropped, so slices can be lent.

use crate::at::read_exact_at;
use object::ReadRef;
use std::cell::OnceCell;
use std::fs::{self, File, Metadata};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Names are read in windows of this size: one read serves thousands of symbols.
const WINDOW: u64 = 1 << 20;

pub(crate) struct FileReader {
    file: Arc<File>,
    len: u64,
    /// Newest first would need a lock; the list grows at its end and stays short.
    first: OnceCell<Box<Part>>,
}

struct Part {
    offset: u64,
    bytes: Box<[u8]>,
    next: OnceCell<Box<Part>>,
}

impl FileReader {
    pub(crate) fn new(file: impl Into<Arc<File>>, len: u64) -> FileReader {
        FileReader { file: file.into(), len, first: OnceCell::new() }
    }

    /// Opens a regular file, and nothing else: opening a pipe would block for ever.
    pub(crate) fn open(path: &Path) -> Option<(FileReader, Metadata)> {
        let meta = fs::metadata(path).ok().filter(Metadata::is_file)?;
        Some((FileReader::new(File::open(path).ok()?, meta.len()), meta))
    }

    fn find(&self, range: &Range<u64>) -> Option<&[u8]> {
        let mut at = &self.first;
        while let Some(part) = at.get() {
            if part.offset <= range.start && range.end <= part.offset + part.bytes.len() as u64 {
                let from = (range.start - part.offset) as usize;
                return part.bytes.get(from..from + (range.end - range.start) as usize);
            }
            at = &part.next;
        }
        None
    }

    /// The bytes of a range that lies inside the file.
    fn get(&self, range: Range<u64>) -> Option<&[u8]> {
        if range.start > range.end || range.end > self.len {
            return None;
        }
        if self.find(&range).is_none() {
            let mut bytes = vec![0; usize::try_from(range.end - range.start).ok()?].into_boxed_slice();
            read_exact_at(&self.file, &mut bytes, range.start).ok()?;
            let mut end = &self.first;
            while let Some(part) = end.get() {
                end = &part.next;
            }
            let part = Part { offset: range.start, bytes, next: OnceCell::new() };
            end.set(Box::new(part)).ok()?;
        }
        self.find(&range)
    }
}

impl<'a> ReadRef<'a> for &'a FileReader {
    fn len(self) -> Result<u64, ()> {
        Ok(self.len)
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'a [u8], ()> {
        self.get(offset..offset.checked_add(size).ok_or(())?).ok_or(())
    }

    fn read_bytes_at_until(self, range: Range<u64>, delimiter: u8) -> Result<&'a [u8], ()> {
        let end = range.end.min(self.len);
        let window = range.start / WINDOW * WINDOW;
        // A text may run over the end of its window; then more is read.
        for windows in [1, 2, 8] {
            let bytes = self.get(window..self.len.min(window + windows * WINDOW)).ok_or(())?;
            let bytes = bytes.get((range.start - window) as usize..).ok_or(())?;
            let bytes = &bytes[..bytes.len().min(end.saturating_sub(range.start) as usize)];
            if let Some(found) = bytes.iter().position(|b| *b == delimiter) {
                return Ok(&bytes[..found]);
            }
        }
        Err(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_over_the_edge_of_a_window_are_whole() {
        let dir = std::env::temp_dir().join(format!("zwhy-file-reader-{}", std::process::id()));
        let mut bytes = vec![b'x'; WINDOW as usize + 10];
        bytes.push(0);
        std::fs::write(&dir, &bytes).unwrap();
        let file = File::open(&dir).unwrap();
        std::fs::remove_file(&dir).unwrap();
        let reader = &FileReader::new(file, bytes.len() as u64);
        let len = bytes.len() as u64;
        assert_eq!(reader.read_bytes_at_until(WINDOW - 3..len, 0).map(<[u8]>::len), Ok(13));
        assert_eq!(reader.read_bytes_at_until(WINDOW + 9..len, 0).map(<[u8]>::len), Ok(1));
        assert_eq!(reader.read_bytes_at_until(3..WINDOW, 0), Err(()));
        assert_eq!(reader.read_bytes_at_until(len..u64::MAX, 0), Err(()));
        assert_eq!(reader.read_bytes_at(len - 2, 2), Ok(&b"x\0"[..]));
        assert_eq!(reader.read_bytes_at(len - 2, 3), Err(()));
        assert_eq!(reader.read_bytes_at(u64::MAX, 3), Err(()));
    }
}
