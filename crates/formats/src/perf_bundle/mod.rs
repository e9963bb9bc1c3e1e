//! A bundle: a perf.data with the names it needs, so that it can be read on any machine.
//!
//! A zip archive of stored entries: `zwhy-bundle.json` first, then `perf.data.zst`, `kallsyms.zst`,
//! `modules.zst` and `names.json.zst`. Of user code it holds the names of the functions that the
//! recording hits, not the objects.
//!
//! Invariant: entries are read by name, and all of them together within the decompression limit.

mod names;
mod pack;

use crate::perf_data::{self, Known};
use crate::{Confidence, Importer};
use crate::{ErrorKind, FormatError, ImportOptions, Imported, Input};
use std::io::{Cursor, Read};
use zip::ZipArchive;

pub use pack::pack_perf_data;

const MANIFEST: &str = "zwhy-bundle.json";
const DATA: &str = "perf.data.zst";
const KALLSYMS: &str = "kallsyms.zst";
const MODULES: &str = "modules.zst";
const NAMES: &str = "names.json.zst";
const VERSION: u64 = 1;

pub(crate) static IMPORTER: Importer = Importer { name: "perf-bundle", sniff, read };

fn sniff(head: &[u8]) -> Confidence {
    // A zip whose first entry is the manifest.
    let first = head.get(30..30 + MANIFEST.len());
    let is = head.starts_with(b"PK\x03\x04") && first == Some(MANIFEST.as_bytes());
    if is { Confidence::Certain } else { Confidence::No }
}

fn read(input: &Input, options: &ImportOptions) -> Result<Imported, FormatError> {
    let damaged = |found: String| {
        FormatError::read(ErrorKind::Damaged, input.name(), found)
            .hint("copy the bundle again, or pack it again on the recorded host")
    };
    let mut archive = ZipArchive::new(Cursor::new(input.bytes()))
        .map_err(|e| damaged(format!("its archive is broken: {e}")))?;
    let mut left = options.limits.max_decompressed;
    let manifest = entry(&mut archive, MANIFEST, &mut left).map_err(|e| damaged(e.describe(MANIFEST)))?;
    let version =
        serde_json::from_slice(&manifest).ok().and_then(|m: serde_json::Value| m["zwhy_bundle"].as_u64());
    if version.is_none_or(|v| v > VERSION) {
        let found = format!("it is a bundle of version {}, known is {VERSION}", version.unwrap_or(0));
        return Err(FormatError::read(ErrorKind::Unsupported, input.name(), found).hint("use a newer zwhy"));
    }
    let data = entry(&mut archive, DATA, &mut left).map_err(|e| damaged(e.describe(DATA)))?;
    let mut warnings = Vec::new();
    let mut optional = |name: &str| match entry(&mut archive, name, &mut left) {
        Ok(bytes) => Some(bytes),
        Err(Failure::Absent) => None,
        Err(failure) => {
            warnings.push(format!("{}: names from it are missing", failure.describe(name)));
            None
        }
    };
    let (kallsyms, modules) = (optional(KALLSYMS), optional(MODULES));
    let objects = optional(NAMES).map(|json| names::decode(&json)).unwrap_or_default();
    let known = Known { kallsyms, modules, objects };
    let data = Input::from_bytes(input.name(), data);
    let (mut imported, _) = perf_data::read(&data, options, known, false)?;
    imported.stats.format = "perf-bundle".to_owned();
    imported.stats.warnings.splice(0..0, warnings);
    Ok(imported)
}

/// Why an entry cannot be had.
enum Failure {
    Absent,
    Broken(String),
    TooLarge,
}

impl Failure {
    fn describe(&self, name: &str) -> String {
        match self {
            Failure::Absent => format!("its entry {name} is missing"),
            Failure::Broken(why) => format!("its entry {name} is broken: {why}"),
            Failure::TooLarge => format!("its entry {name} decompresses to more than the limit"),
        }
    }
}

/// An entry, decompressed if its name says so.
fn entry(archive: &mut ZipArchive<Cursor<&[u8]>>, name: &str, left: &mut u64) -> Result<Vec<u8>, Failure> {
    let file = archive.by_name(name).map_err(|e| match e {
        zip::result::ZipError::FileNotFound => Failure::Absent,
        e => Failure::Broken(e.to_string()),
    })?;
    let mut bytes = Vec::new();
    let limit = left.saturating_add(1);
    let read = if name.ends_with(".zst") {
        zstd::stream::read::Decoder::new(file).and_then(|d| d.take(limit).read_to_end(&mut bytes))
    } else {
        file.take(limit).read_to_end(&mut bytes)
    };
    read.map_err(|e| Failure::Broken(e.to_string()))?;
    *left = left.checked_sub(bytes.len() as u64).ok_or(Failure::TooLarge)?;
    Ok(bytes)
}
