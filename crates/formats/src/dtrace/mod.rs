//! Output of DTrace and bcc: lists of stacks with counts.

mod bcc;
mod line;
pub(crate) mod list;
pub(crate) mod push;

use crate::text::blocks;
use crate::{Confidence, ErrorKind, FormatError, ImportOptions, Imported, Importer, Input};
use list::StackList;

pub(crate) static IMPORTER: Importer = Importer { name: "dtrace", sniff, read };

fn sniff(head: &[u8]) -> Confidence {
    blocks::sniff(head, &StackList, 0.8)
}

fn read(input: &Input, options: &ImportOptions) -> Result<Imported, FormatError> {
    let mut imported = blocks::read("dtrace", input, &[&StackList], options.limits.max_depth)?;
    if imported.evidence.profile.samples.is_empty() {
        return Err(FormatError::read(
            ErrorKind::Empty,
            input.name(),
            "no list of frames in it ends in a count",
        )
        .hint("DTrace prints such lists for `@[stack()] = count();`"));
    }
    imported.evidence.origin(input.name());
    Ok(imported)
}
