//! The contract of a foreign format: how it is recognised and how it is read.

use crate::{FormatError, ImportOptions, Imported, Input};

/// How sure an importer is that an input is its own, from the first bytes alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// Not this format.
    No,
    /// Nothing speaks against it: takers of last resort.
    Possible,
    /// It looks like it, and other formats could look the same.
    Likely,
    /// A magic number or a shape that no other format has.
    Certain,
}

/// One foreign format.
pub struct Importer {
    /// Name for `--format` and messages: `perf.data`, `folded`.
    pub name: &'static str,
    /// Looks at up to [`HEAD_BYTES`] first bytes, compression already undone.
    pub sniff: fn(&[u8]) -> Confidence,
    /// Reads all of it. Fails only when nothing could be kept; else losses are in the stats.
    pub read: fn(&Input, &ImportOptions) -> Result<Imported, FormatError>,
}

/// Bytes that [`Importer::sniff`] sees at most.
pub const HEAD_BYTES: usize = 64 * 1024;
