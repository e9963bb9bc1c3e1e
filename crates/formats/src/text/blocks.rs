//! Texts made of blocks as inputs of importers: the recognisers are `zwhy_paste`'s and those of stacks here.

use crate::{Confidence, ErrorKind, FormatError, Imported, Input};
use zwhy_paste::blocks::recognised;
pub use zwhy_paste::blocks::{Block, Line, NOT_RECOGNISED, Sink, Taken};

/// Larger texts are refused: these are for people to paste, not recordings.
const MAX_BYTES: usize = 256 << 20;

/// Whether lines of a head are nearly all of one kind of block: at least `share` of them, of 1.
pub fn sniff(head: &[u8], block: &dyn Block, share: f64) -> Confidence {
    if head.contains(&0) {
        return Confidence::No;
    }
    let (part, kept) = recognised(head, &[block]);
    if kept > 0 && part >= share { Confidence::Likely } else { Confidence::No }
}

/// Reads a whole text with the given recognisers, the first that takes something wins.
pub fn read(
    format: &str,
    input: &Input,
    blocks: &[&dyn Block],
    max_depth: usize,
) -> Result<Imported, FormatError> {
    let bytes = input.bytes();
    if bytes.len() > MAX_BYTES {
        let found = format!("{} bytes of text, at most {MAX_BYTES} are read as {format}", bytes.len());
        return Err(FormatError::read(ErrorKind::TooLarge, input.name(), found)
            .hint("import recordings as files of their own"));
    }
    Ok(zwhy_paste::blocks::read(format, input.name(), bytes, blocks, max_depth))
}
