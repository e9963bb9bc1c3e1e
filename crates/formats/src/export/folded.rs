//! Folded stacks: `frame;frame;leaf count`, one line a distinct stack.

use crate::{ExportOptions, Exporter};
use std::io::Write;
use zwhy_evidence::Evidence;
use zwhy_profile::FoldedStacks;

pub(crate) struct Folded;

impl Exporter for Folded {
    fn name(&self) -> &'static str {
        "folded"
    }

    fn extension(&self) -> &'static str {
        "folded"
    }

    fn write(
        &self,
        evidence: &Evidence,
        options: &ExportOptions,
        out: &mut dyn Write,
    ) -> std::io::Result<()> {
        FoldedStacks::pieces(&evidence.profile, options.event, |piece| out.write_all(piece.as_bytes()))
    }
}
