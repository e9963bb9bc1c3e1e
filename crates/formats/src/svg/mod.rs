//! Flame graphs as SVG (flamegraph.pl and inferno, all their layouts) back into a profile.
//!
//! Counts come from the boxes' titles and are exact; who called whom comes from geometry. A program that
//! draws flame graphs leaves out boxes too narrow to see: their samples are in their parent's count and
//! stay with the parent as its own, so the total is that of the drawing. Sums of boxes are the unit of
//! the stats.

mod boxes;
mod tree;

use crate::{Confidence, ErrorKind, FormatError, ImportOptions, ImportStats, Imported, Importer, Input};
use zwhy_evidence::Evidence;

pub(crate) struct FlameSvg;

impl Importer for FlameSvg {
    fn name(&self) -> &'static str {
        "flamegraph-svg"
    }

    fn sniff(&self, head: &[u8]) -> Confidence {
        let start = head.trim_ascii_start();
        let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
        let xml =
            start.starts_with(b"<?xml") || start.starts_with(b"<svg") || start.starts_with(b"<!DOCTYPE svg");
        if xml && memchr::memmem::find(head, b"<svg").is_some() {
            Confidence::Certain
        } else {
            Confidence::No
        }
    }

    fn read(&self, input: &Input, options: &ImportOptions) -> Result<Imported, FormatError> {
        let text = String::from_utf8_lossy(input.bytes());
        let found = boxes::read(&text);
        if found.boxes.is_empty() {
            let what = match found.untitled {
                0 => "this SVG holds no flame graph boxes".to_owned(),
                n => format!("this SVG has {n} titles, none with a count as flame graphs have"),
            };
            return Err(FormatError::read(ErrorKind::Empty, input.name(), what)
                .hint("only drawings of flamegraph.pl and inferno hold their counts; import the stacks they were made from"));
        }
        let mut stats = ImportStats::new("flamegraph-svg", "boxes");
        stats.read = found.boxes.len() as u64 + found.untitled;
        stats.kept = found.boxes.len() as u64;
        stats.drop("title without a count", found.untitled);
        stats.lost_bytes = found.lost_bytes;
        if let Some(error) = &found.error {
            stats.warnings.push(format!(
                "the SVG breaks {} bytes before its end ({error}): the boxes after that are lost, their samples stay with the boxes below them",
                found.lost_bytes
            ));
        }
        if found.differential {
            stats.warnings.push(
                "this is a differential flame graph: the counts are those of the second profile, the first one is only drawn as colours; import both files and use `zwhy diff`".to_owned(),
            );
        }
        if let Some(unit) = found.other_unit() {
            stats.warnings.push(format!("the drawing counts `{unit}`: they are taken as samples"));
        }
        let profile = tree::build(found.boxes, options.limits.max_depth, &mut stats);
        let mut evidence = Evidence { profile, ..Evidence::default() };
        evidence.origin(input.name());
        Ok(Imported { evidence, stats })
    }
}
