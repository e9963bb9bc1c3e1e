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
        out.write_all(FoldedStacks::text(&evidence.profile, options.event).as_bytes())
    }
}
