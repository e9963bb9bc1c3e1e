//! Texts made of blocks as inputs of importers: the recognisers are `zwhy_paste`'s and those of stacks here.

use crate::{ErrorKind, FormatError, Imported, Input};
pub use zwhy_paste::blocks::{Block, Line, NOT_RECOGNISED, Sink, Taken, recognised};

/// Larger texts are refused: these are for people to paste, not recordings.
const MAX_BYTES: usize = 256 << 20;

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
