//! Output of DTrace and bcc: lists of stacks with counts.

use crate::blocks;
use crate::stack_list::StackList;
use crate::{Confidence, ErrorKind, FormatError, ImportOptions, Imported, Importer, Input};

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
