//! What of a file could not be read, and why.

/// A stretch that could not be read.
#[derive(Clone, Debug)]
pub struct Gap {
    /// Position in the file, or in the decompressed records.
    pub at: u64,
    pub bytes: u64,
    pub why: Why,
    /// It goes on from the gap reported before it.
    pub continues: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The data ends inside a record.
    Cut,
    /// Not a record.
    Damaged,
    /// Compressed records that the decompressor refuses; `bytes` are compressed ones.
    Compression,
    /// More decompressed bytes than the limit allows; `bytes` are compressed ones.
    Limit,
}
