//! Flame graphs as SVG (flamegraph.pl since 2011, its hot/cold and differential drawings, and inferno) back
//! into a profile.
//!
//! Counts come from the boxes' titles and are exact; who called whom comes from geometry. A program that
//! draws flame graphs leaves out boxes too narrow to see: their samples are in their parent's count and
//! stay with the parent as its own, so the total is that of the drawing. Sums of boxes are the unit of
//! the stats.

mod boxes;
mod threads;
mod tree;

use crate::interchange::shown;
use crate::{Confidence, ErrorKind, FormatError, ImportOptions, ImportStats, Imported, Importer, Input};
use boxes::{Found, Place};
use zwhy_evidence::Evidence;
use zwhy_profile::{Event, Measure, Unit};

pub(crate) static IMPORTER: Importer = Importer { name: "flamegraph-svg", sniff, read };

fn sniff(head: &[u8]) -> Confidence {
    let start = head.trim_ascii_start();
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let xml =
        start.starts_with(b"<?xml") || start.starts_with(b"<svg") || start.starts_with(b"<!DOCTYPE svg");
    if xml && memchr::memmem::find(head, b"<svg").is_some() { Confidence::Certain } else { Confidence::No }
}

fn read(input: &Input, options: &ImportOptions) -> Result<Imported, FormatError> {
    let text = String::from_utf8_lossy(input.bytes());
    let found = boxes::read(&text);
    if found.boxes.is_empty() {
        let what = match found.untitled {
            0 => "this SVG holds no flame graph boxes".to_owned(),
            n => format!("this SVG has {n} titles, none with a count as flame graphs have"),
        };
        return Err(FormatError::read(ErrorKind::Empty, input.name(), what)
            .hint("drawings of flamegraph.pl and inferno say a name and a count for each box; import the stacks it was made from"));
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
    let (event, measure) = measure(&found);
    if let Some(unit) = found.other_unit() {
        let (unit, name) = (shown(unit), event.name());
        stats.warnings.push(format!(
            "the drawing counts `{unit}`, not samples: kept as {name} in that unit, without intervals"
        ));
    }
    let found = unscaled(found, &mut stats);
    let (depth, plain) = (options.limits.max_depth, threads::is_ours(&text));
    let mut profile = tree::build(found.boxes, event, &measure, depth, plain, &mut stats);
    if threads::are_roots(&text) {
        threads::take(&mut profile);
    }
    profile.set_measure(event, measure);
    let mut evidence = Evidence { profile, ..Evidence::default() };
    evidence.origin(input.name());
    Ok(Imported { evidence, stats })
}

/// What the boxes count, by their unit and the heading.
fn measure(found: &Found) -> (Event, Measure) {
    let Some(unit) = found.other_unit() else { return (Event::Cpu, Measure::default()) };
    let heading = found.heading.to_ascii_lowercase();
    let waits = ["off-cpu", "offcpu", "wait", "i/o time", "sleep"].iter().any(|word| heading.contains(word));
    let event = match unit {
        u if u.contains("byte") => Event::Count,
        _ if waits => Event::Wait,
        _ => Event::Cpu,
    };
    (event, Measure { unit: Unit::from_name(&shown(unit)), counted: false })
}

/// inferno can multiply the counts in its titles by a factor, and rounds them; the widths it writes are the
/// samples.
fn unscaled(mut found: Found, stats: &mut ImportStats) -> Found {
    let widest = found.boxes.iter().filter_map(|b| match b.place {
        Place::Exact { width, .. } => Some((width, b.count)),
        Place::Drawn { .. } => None,
    });
    let Some((width, count)) = widest.max().filter(|(width, count)| *width > 0 && width != count) else {
        return found;
    };
    for b in &mut found.boxes {
        if let Place::Exact { width, .. } = b.place {
            b.count = width;
        }
    }
    stats.warnings.push(format!(
        "the drawing shows {:.3} for each sample: the samples are taken, not what is shown",
        count as f64 / width as f64
    ));
    found
}
