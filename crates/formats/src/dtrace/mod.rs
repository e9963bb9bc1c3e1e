//! Output of DTrace and bcc: lists of stacks with counts.

mod bcc;
pub(crate) mod list;

use crate::text::blocks;
use crate::{Confidence, ErrorKind, FormatError, ImportOptions, Imported, Importer, Input};
use list::StackList;

pub(crate) struct DTrace;

impl Importer for DTrace {
    fn name(&self) -> &'static str {
        "dtrace"
    }

    fn sniff(&self, head: &[u8]) -> Confidence {
        if head.contains(&0) {
            return Confidence::No;
        }
        let (share, kept) = blocks::recognised(head, &[&StackList]);
        if kept > 0 && share >= 0.8 { Confidence::Likely } else { Confidence::No }
    }

    fn read(&self, input: &Input, options: &ImportOptions) -> Result<Imported, FormatError> {
        let mut imported = blocks::read(self.name(), input, &[&StackList], options.limits.max_depth)?;
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
}
