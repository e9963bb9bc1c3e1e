//! What only systems with files can do: read a file at an offset, and tell files apart.

use std::fs::{File, Metadata};
use std::io;

#[cfg(unix)]
pub(crate) fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(unix)]
pub(crate) fn inode(meta: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(meta)
}

/// Never reached: where there are no files, none was opened.
#[cfg(not(unix))]
pub(crate) fn read_exact_at(_: &File, _: &mut [u8], _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Never reached: where there are no files, none was opened.
#[cfg(not(unix))]
pub(crate) fn inode(_: &Metadata) -> u64 {
    0
}
