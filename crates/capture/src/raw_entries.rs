//! The tables of a packed capture as they lie in it: whole Parquet files, for whoever keeps them elsewhere.

use crate::error::CaptureError;
use crate::pack::{FACTS, spec_of_entry};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

/// Calls `take` with each table's name, the number of its part, and its Parquet file; the facts come last, as `facts` and
/// JSON. Memory is that of one entry.
///
/// # Errors
/// When the file is damaged or no packed capture, or the first error of `take`.
pub fn each_entry<E: From<CaptureError>>(
    path: &Path,
    mut take: impl FnMut(&str, u32, &[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let not_ours = |why: String| CaptureError::NotACapture { path: path.to_owned(), found: why };
    let file = File::open(path).map_err(CaptureError::io("open", path))?;
    let size = file.metadata().map_err(CaptureError::io("open", path))?.len();
    let mut archive = zip::ZipArchive::new(BufReader::new(file)).map_err(|e| not_ours(e.to_string()))?;
    let mut facts = None;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(|e| not_ours(e.to_string()))?;
        let name = entry.name().map_err(|e| not_ours(e.to_string()))?.into_owned();
        let spec = spec_of_entry(&name);
        if spec.is_none() && name != FACTS {
            continue;
        }
        if entry.size() > size {
            return Err(not_ours(format!("{name} claims to be larger than the file")).into());
        }
        let mut bytes = Vec::new();
        // The reader compares the checksum at the end.
        entry.read_to_end(&mut bytes).map_err(CaptureError::io("read", path))?;
        match spec {
            Some(spec) => take(spec.name, part_of(&name), &bytes)?,
            None => facts = Some(bytes),
        }
    }
    facts.map_or(Ok(()), |bytes| take("facts", 0, &bytes))
}

/// The tables and parts that [`each_entry`] would call with, without reading them.
///
/// # Errors
/// When the file cannot be opened or is no packed capture.
pub fn entry_parts(path: &Path) -> Result<Vec<(String, u32)>, CaptureError> {
    let not_ours = |why: String| CaptureError::NotACapture { path: path.to_owned(), found: why };
    let file = File::open(path).map_err(CaptureError::io("open", path))?;
    let mut archive = zip::ZipArchive::new(BufReader::new(file)).map_err(|e| not_ours(e.to_string()))?;
    let mut found = Vec::new();
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).map_err(|e| not_ours(e.to_string()))?;
        let name = entry.name().map_err(|e| not_ours(e.to_string()))?.into_owned();
        match spec_of_entry(&name) {
            Some(spec) => found.push((spec.name.to_owned(), part_of(&name))),
            None if name == FACTS => found.push(("facts".to_owned(), 0)),
            None => {}
        }
    }
    Ok(found)
}

/// 12 of `samples-000012.parquet`.
fn part_of(name: &str) -> u32 {
    let number = name.rsplit_once('-').and_then(|(_, rest)| rest.strip_suffix(".parquet")?.parse().ok());
    number.unwrap_or(0)
}
