//! How many rows a capture has, without reading them.

use crate::error::CaptureError;
use crate::pack::{MANIFEST, list_segments};
use crate::parquet_io::count_rows;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::Path;

/// A manifest is a few hundred bytes.
const MOST_MANIFEST: u64 = 1 << 20;

/// Rows by table (`samples`, `series`, `marks` …) of a file, by its manifest, or of a folder that is recorded into.
/// Rows of names that a folder has twice are counted twice.
///
/// # Errors
/// When it cannot be read or is no capture.
pub fn row_counts(path: &Path) -> Result<BTreeMap<String, u64>, CaptureError> {
    let meta = fs::metadata(path).map_err(CaptureError::io("open", path))?;
    if meta.is_dir() { of_folder(path) } else { of_file(path) }
}

/// As [`row_counts`], but of a file of sums ([`crate::write_sums`]) the rows that it stands for.
///
/// # Errors
/// As [`row_counts`].
pub fn recorded_rows(path: &Path) -> Result<BTreeMap<String, u64>, CaptureError> {
    let meta = fs::metadata(path).map_err(CaptureError::io("open", path))?;
    if meta.is_dir() {
        return of_folder(path);
    }
    let manifest = manifest(path)?;
    let stands_for = rows_of(&manifest["stands_for"]);
    Ok(if stands_for.is_empty() { rows_of(&manifest["rows"]) } else { stands_for })
}

fn of_folder(path: &Path) -> Result<BTreeMap<String, u64>, CaptureError> {
    let mut rows = BTreeMap::new();
    for (table, segments) in list_segments(path)? {
        for segment in segments {
            let bytes = fs::read(&segment).map_err(CaptureError::io("read", &segment))?;
            // What cannot be read has no rows for anybody.
            *rows.entry(table.to_owned()).or_default() += count_rows(Bytes::from(bytes)).unwrap_or(0);
        }
    }
    Ok(rows)
}

fn of_file(path: &Path) -> Result<BTreeMap<String, u64>, CaptureError> {
    Ok(rows_of(&manifest(path)?["rows"]))
}

fn manifest(path: &Path) -> Result<serde_json::Value, CaptureError> {
    let not_ours = |found: &str| CaptureError::NotACapture { path: path.to_owned(), found: found.to_owned() };
    let file = File::open(path).map_err(CaptureError::io("open", path))?;
    let mut archive =
        zip::ZipArchive::new(BufReader::new(file)).map_err(|_| not_ours("a cut or other kind of file"))?;
    let manifest = archive.by_name(MANIFEST).map_err(|_| not_ours("an archive without a manifest"))?;
    let mut text = Vec::new();
    manifest.take(MOST_MANIFEST).read_to_end(&mut text).map_err(CaptureError::io("read", path))?;
    serde_json::from_slice(&text).map_err(|_| not_ours("an archive with a damaged manifest"))
}

fn rows_of(of: &serde_json::Value) -> BTreeMap<String, u64> {
    let rows = of.as_object().into_iter().flatten();
    rows.filter_map(|(table, n)| Some((table.clone(), n.as_u64()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Series, SeriesKind, Writer};
    use zwhy_profile::{Event, Nanos, Profile, StackId, ThreadId};

    #[test]
    fn a_folder_and_the_file_that_it_becomes_have_the_same_rows() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("a.zwhy");
        let mut writer = Writer::create(&out).unwrap().durable();
        let (mut profile, mut series) = (Profile::new(), Series::default());
        for n in 0..3 {
            profile.samples.push_counted(ThreadId(0), StackId::ROOT, Event::Cpu, 1);
            series.push(Nanos(n), "arcstats", "hits", SeriesKind::Counter, n);
            writer.flush(&mut profile).unwrap();
            writer.append_series(&series).unwrap();
        }
        let count = |path: &Path| row_counts(path).map(|rows| (rows["samples"], rows["series"]));
        assert_eq!(count(writer.folder()).unwrap(), (3, 6));
        assert_eq!(count(&writer.finish().unwrap()).unwrap(), (3, 6));
        let whole = fs::read(&out).unwrap();
        fs::write(&out, &whole[..whole.len() / 2]).unwrap();
        assert!(count(&out).is_err(), "a cut file says nothing");
    }
}
