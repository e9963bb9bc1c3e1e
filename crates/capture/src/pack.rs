//! A folder of segments into one file: a zip archive of stored entries.
//!
//! The manifest with the row counts comes first and each entry is complete in itself, so of a file
//! that is cut anywhere the entries before the cut are read and the rows after it are counted.

use crate::FORMAT_VERSION;
use crate::column::{Column, TextColumn};
use crate::damage::Damage;
use crate::distinct::Plan;
use crate::error::CaptureError;
use crate::parquet_io::{read_table, write_table};
use crate::table::{TABLES, Table, TableSpec};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use zip::write::{SimpleFileOptions, ZipWriter};
use zwhy_place::Place;

/// A part of a table is closed when it has at least this many rows: small enough that a cut file
/// loses little, large enough that encoding pays.
pub(crate) const PART_ROWS: usize = 65_536;

pub const MANIFEST: &str = "manifest.json";
pub const FACTS: &str = "facts.json";

/// Packs `folder` into `out` and removes it. Segments that cannot be read are left out; then the
/// folder stays, and the returned damage names them.
///
/// Memory is that of one part of one table and of what [`Plan`] needs, whatever the size of the folder.
pub fn pack_folder(folder: &Path, out: &Path) -> Result<Damage, CaptureError> {
    let segments = list_segments(folder)?;
    let paths = |spec: &TableSpec| segments.get(spec.name).map_or(&[][..], Vec::as_slice);
    let plans: Vec<Plan> = TABLES.iter().map(|spec| Plan::of(spec, paths(spec))).collect();
    let rows: BTreeMap<&str, u64> =
        TABLES.iter().zip(&plans).map(|(spec, plan)| (spec.name, plan.rows)).collect();
    let manifest = serde_json::json!({ "zwhy_capture": FORMAT_VERSION, "rows": rows });
    let mut damage = Damage::default();
    Place::of(out)?.write_seekable(|file| {
        let mut archive = Archive::new(out, file);
        archive.put(MANIFEST, manifest.to_string().as_bytes())?;
        let facts = folder.join(FACTS);
        match fs::read(&facts) {
            Ok(bytes) => archive.put(FACTS, &bytes)?,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            Err(e) => return Err(CaptureError::io("read", &facts)(e)),
        }
        for (spec, plan) in TABLES.iter().zip(&plans) {
            pack_table(spec, paths(spec), plan, &mut archive, &mut damage)?;
        }
        archive.finish()
    })?;
    if damage.is_empty() {
        fs::remove_dir_all(folder).map_err(CaptureError::io("remove", folder))?;
    }
    Ok(damage)
}

/// Paths of segment files by table name, in the order in which they were written.
pub fn list_segments(folder: &Path) -> Result<BTreeMap<&'static str, Vec<PathBuf>>, CaptureError> {
    let mut found: BTreeMap<&'static str, Vec<PathBuf>> = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(CaptureError::io("read the folder", folder))? {
        let path = entry.map_err(CaptureError::io("read the folder", folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if let Some(spec) = spec_of_entry(&name) {
            found.entry(spec.name).or_default().push(path.clone());
        }
    }
    found.values_mut().for_each(|paths| paths.sort());
    Ok(found)
}

/// The table that an entry named `samples-000012.parquet` belongs to.
pub fn spec_of_entry(name: &str) -> Option<&'static TableSpec> {
    let (table, number) = name.strip_suffix(".parquet")?.split_once('-')?;
    if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    TABLES.into_iter().find(|spec| spec.name == table)
}

/// Writes one table into the archive, in parts.
fn pack_table(
    spec: &'static TableSpec,
    segments: &[PathBuf],
    plan: &Plan,
    archive: &mut Archive<'_>,
    damage: &mut Damage,
) -> Result<(), CaptureError> {
    let mut open = Table::new(spec);
    let mut number = 0u32;
    let mut close = |table: &mut Table| -> Result<(), CaptureError> {
        let mut bytes = Vec::new();
        write_table(table, &mut bytes)?;
        archive.put(&format!("{}-{number:06}.parquet", spec.name), &bytes)?;
        number += 1;
        *table = Table::new(spec);
        Ok(())
    };
    for (at, path) in segments.iter().enumerate() {
        let bytes = fs::read(path).map_err(CaptureError::io("read", path))?;
        match read_table(spec, Bytes::from(bytes)) {
            Ok(mut table) => {
                if let Some(keep) = plan.keep(at, table.rows()) {
                    table.retain(&keep);
                }
                append(&mut open, &table);
            }
            Err(why) => {
                damage.unreadable(&path.display().to_string(), why);
                continue;
            }
        }
        if open.rows() >= PART_ROWS {
            close(&mut open)?;
        }
    }
    if open.rows() > 0 {
        close(&mut open)?;
    }
    Ok(())
}

fn append(to: &mut Table, from: &Table) {
    for (to, from) in to.columns.iter_mut().zip(&from.columns) {
        match (to, from) {
            (Column::I32(to), Column::I32(from)) => to.extend_from_slice(from),
            (Column::I64(to), Column::I64(from)) => to.extend_from_slice(from),
            (Column::Text(to), Column::Text(from)) => append_text(to, from),
            _ => {} // both tables have the same spec
        }
    }
}

fn append_text(to: &mut TextColumn, from: &TextColumn) {
    let map: Vec<_> = from.strings.iter().map(|(_, text)| to.strings.intern(text)).collect();
    to.ids.extend(from.ids.iter().map(|id| map[id.index()]));
}

/// The packed file being written.
pub(crate) struct Archive<'a> {
    path: &'a Path,
    zip: ZipWriter<&'a mut File>,
}

impl<'a> Archive<'a> {
    pub(crate) fn new(path: &'a Path, file: &'a mut File) -> Archive<'a> {
        Archive { path, zip: ZipWriter::new(file) }
    }

    pub(crate) fn put(&mut self, name: &str, bytes: &[u8]) -> Result<(), CaptureError> {
        let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        let options = options.large_file(bytes.len() as u64 >= u64::from(u32::MAX));
        let started = self.zip.start_file(name, options).map_err(std::io::Error::from);
        started.and_then(|()| self.zip.write_all(bytes)).map_err(CaptureError::io("write", self.path))
    }

    pub(crate) fn finish(self) -> Result<(), CaptureError> {
        let file = self.zip.finish().map_err(std::io::Error::from);
        file.map(|_| ()).map_err(CaptureError::io("write", self.path))
    }
}
