//! The bytes of an object: a file, read where it is asked for, or what is in memory.
//!
//! A file is read and not mapped: one that is cut short meanwhile, as by a linker, gives an error here, where a map
//! would end the process.

use crate::at::read_exact_at;
use std::fs::{File, Metadata};
use std::ops::Range;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(crate) enum ObjectBytes {
    File(Arc<File>),
    Memory(Arc<[u8]>),
}

impl Default for ObjectBytes {
    fn default() -> ObjectBytes {
        ObjectBytes::Memory(Arc::from([]))
    }
}

impl ObjectBytes {
    /// Fills `to` with the bytes from `at` on; `None` where there are not so many.
    pub(crate) fn read(&self, at: u64, to: &mut [u8]) -> Option<()> {
        match self {
            ObjectBytes::File(file) => read_exact_at(file, to, at).ok(),
            ObjectBytes::Memory(bytes) => {
                let from = usize::try_from(at).ok()?;
                to.copy_from_slice(bytes.get(from..from.checked_add(to.len())?)?);
                Some(())
            }
        }
    }

    /// A part of at most `most` bytes.
    pub(crate) fn part(&self, range: Range<u64>, most: u64) -> Option<Vec<u8>> {
        let len = range.end.checked_sub(range.start).filter(|len| *len <= most)?;
        let mut bytes = vec![0; usize::try_from(len).ok()?];
        self.read(range.start, &mut bytes)?;
        Some(bytes)
    }

    /// Only these parts, where they are in memory; a file stays as it is.
    pub(crate) fn only(&self, parts: [Range<u64>; 2]) -> (ObjectBytes, [Range<u64>; 2]) {
        let ObjectBytes::Memory(bytes) = self else { return (self.clone(), parts) };
        let mut copy = Vec::new();
        let parts = parts.map(|range| {
            let part = usize::try_from(range.start).ok().zip(usize::try_from(range.end).ok());
            let from = copy.len() as u64;
            copy.extend_from_slice(part.and_then(|(start, end)| bytes.get(start..end)).unwrap_or_default());
            from..copy.len() as u64
        });
        (ObjectBytes::Memory(copy.into()), parts)
    }

    /// Of a file, as it is now.
    pub(crate) fn metadata(&self) -> Option<Metadata> {
        match self {
            ObjectBytes::File(file) => file.metadata().ok(),
            ObjectBytes::Memory(_) => None,
        }
    }

    /// Bytes held in memory.
    pub(crate) fn memory(&self) -> usize {
        match self {
            ObjectBytes::File(_) => 0,
            ObjectBytes::Memory(bytes) => bytes.len(),
        }
    }
}
