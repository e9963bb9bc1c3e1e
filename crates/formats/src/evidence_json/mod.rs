//! Evidence JSON: figures of a host written down by hand or by a script, every part optional.
//!
//! The root is an object with `"zwhy_evidence": 1` and any of `zfs_version`, `kernel`, `os` (text),
//! `perf_top`, `stacks`, `threads_cpu`, `tables` (lists of objects), `arcstats`, `params`, `props`
//! (objects). A part that is missing, null or of the wrong type never fails the rest: one list entry,
//! one value of an object or one unknown key is one item of the stats.

mod counters;
mod printed;
mod rows;
mod scalar;
mod settings;

use crate::{Confidence, ErrorKind, FormatError, ImportOptions, Imported, Importer, Input, Position};
use rows::Reader;
use serde_json::Value;

/// Larger files are refused: JSON values take many times their text in memory.
const MAX_BYTES: usize = 64 << 20;

/// The newest version of the format that is fully understood.
const VERSION: u64 = 1;

pub(crate) static IMPORTER: Importer = Importer { name: "evidence-json", sniff, read };

fn sniff(head: &[u8]) -> Confidence {
    let is_object = head.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'{');
    if is_object && memchr::memmem::find(head, b"\"zwhy_evidence\"").is_some() {
        Confidence::Certain
    } else {
        Confidence::No
    }
}

fn read(input: &Input, _options: &ImportOptions) -> Result<Imported, FormatError> {
    let bytes = input.bytes();
    if bytes.len() > MAX_BYTES {
        let found = format!("{} bytes of evidence JSON, at most {MAX_BYTES} are read", bytes.len());
        return Err(FormatError::read(ErrorKind::TooLarge, input.name(), found)
            .hint("keep only the figures, and import profiles as files of their own"));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let root: Value = serde_json::from_slice(bytes).map_err(|e| {
        FormatError::read(ErrorKind::Damaged, input.name(), format!("not valid JSON: {e}"))
            .at(Position::Line(e.line() as u64))
            .hint("check that it was copied whole")
    })?;
    let Value::Object(root) = root else {
        return Err(FormatError::read(ErrorKind::Damaged, input.name(), "the JSON is not an object")
            .hint("evidence JSON starts with {\"zwhy_evidence\": 1, …"));
    };
    let mut reader = Reader::new(input.name());
    reader.check_version(root.get("zwhy_evidence"));
    for (key, value) in &root {
        reader.part(key, value);
    }
    Ok(reader.finish())
}

#[cfg(test)]
mod tests;
