//! Opening a capture: a packed file, a folder that is still being recorded, or what is left of either.

use crate::FORMAT_VERSION;
use crate::damage::Damage;
use crate::decode::Decoder;
use crate::error::CaptureError;
use crate::marks::Mark;
use crate::pack::{FACTS, MANIFEST, list_segments, spec_of_entry};
use crate::parquet_io::read_table;
use crate::series::Series;
use crate::table::TABLES;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;
use zwhy_evidence::CaptureFacts;
use zwhy_profile::Profile;

/// A capture in memory.
#[derive(Clone, Debug, Default)]
pub struct Capture {
    pub profile: Profile,
    pub series: Series,
    pub marks: Vec<Mark>,
    /// facts.json; empty when it was never written or could not be read.
    pub facts: CaptureFacts,
    pub damage: Damage,
}

impl Capture {
    /// Opens a file or a folder; damage is counted, not fatal, as long as anything can be read.
    ///
    /// # Errors
    /// When the path cannot be read, is no capture, or is of a newer format.
    pub fn open(path: &Path) -> Result<Capture, CaptureError> {
        let meta = fs::metadata(path).map_err(CaptureError::io("open", path))?;
        if meta.is_dir() { open_folder(path) } else { open_file(path) }
    }

    /// As [`Capture::open`], of a packed capture that is in memory already; `name` is used in messages.
    ///
    /// # Errors
    /// When the bytes are no capture, or one of a newer format.
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<Capture, CaptureError> {
        read_packed(Path::new(name), Bytes::from(bytes))
    }

    /// `true` when the bytes look like a packed capture.
    pub fn sniff(head: &[u8]) -> bool {
        head.starts_with(b"PK\x03\x04") && head.get(30..30 + MANIFEST.len()) == Some(MANIFEST.as_bytes())
    }
}

/// Entries of an archive or folder: name and content.
type Entries = BTreeMap<String, Bytes>;

fn open_folder(path: &Path) -> Result<Capture, CaptureError> {
    let mut damage = Damage { unfinished: true, ..Damage::default() };
    let mut entries = Entries::new();
    let facts = path.join(FACTS);
    let files = list_segments(path)?.into_values().flatten().chain(facts.exists().then_some(facts));
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match fs::read(&file) {
            Ok(bytes) => drop(entries.insert(name, Bytes::from(bytes))),
            Err(e) => damage.unreadable(&name, e),
        }
    }
    if entries.is_empty() && damage.is_empty() {
        let found = "a folder without capture segments".to_owned();
        return Err(CaptureError::NotACapture { path: path.to_owned(), found });
    }
    assemble(path, &entries, damage)
}

fn open_file(path: &Path) -> Result<Capture, CaptureError> {
    read_packed(path, Bytes::from(fs::read(path).map_err(CaptureError::io("read", path))?))
}

fn read_packed(path: &Path, bytes: Bytes) -> Result<Capture, CaptureError> {
    if !Capture::sniff(&bytes) {
        let found = if bytes.is_empty() { "an empty file" } else { "another kind of file" }.to_owned();
        return Err(CaptureError::NotACapture { path: path.to_owned(), found });
    }
    let mut damage = Damage::default();
    let entries = match zip::ZipArchive::new(std::io::Cursor::new(bytes.clone())) {
        Ok(archive) => read_archive(archive, bytes.len() as u64, &mut damage),
        Err(_) => {
            damage.unreadable("directory of the file", "the file is cut or damaged at its end");
            scan_local_entries(&bytes, &mut damage)
        }
    };
    assemble(path, &entries, damage)
}

fn read_archive(
    mut archive: zip::ZipArchive<std::io::Cursor<Bytes>>,
    file_size: u64,
    damage: &mut Damage,
) -> Entries {
    let mut entries = Entries::new();
    for index in 0..archive.len() {
        let mut entry = match archive.by_index(index) {
            Ok(entry) => entry,
            Err(e) => {
                damage.unreadable(&format!("entry {index}"), e);
                continue;
            }
        };
        let name = entry.name().map_or_else(|_| format!("entry {index}"), |name| name.into_owned());
        let size = entry.size();
        if entry.compression() != zip::CompressionMethod::Stored || size > file_size {
            damage.unreadable(&name, "is compressed or larger than the file");
            continue;
        }
        let mut bytes = Vec::with_capacity(size as usize);
        match entry.read_to_end(&mut bytes) {
            Ok(_) => drop(entries.insert(name, Bytes::from(bytes))),
            Err(e) => damage.unreadable(&name, e),
        }
    }
    entries
}

/// Walks the local file headers from the start, as the directory at the end is gone.
/// Layout: PKWARE APPNOTE.TXT 6.3.10, section 4.3.7.
fn scan_local_entries(bytes: &Bytes, damage: &mut Damage) -> Entries {
    const HEADER: usize = 30;
    let mut entries = Entries::new();
    let mut at = 0usize;
    while let Some(header) = bytes.get(at..at + HEADER) {
        if !header.starts_with(b"PK\x03\x04") {
            break;
        }
        let u16_at = |i: usize| usize::from(u16::from_le_bytes([header[i], header[i + 1]]));
        let u32_at = |i: usize| u32::from_le_bytes([header[i], header[i + 1], header[i + 2], header[i + 3]]);
        let (method, crc, size) = (u16_at(8), u32_at(14), u32_at(18) as usize);
        let (name_len, extra_len) = (u16_at(26), u16_at(28));
        let start = at + HEADER + name_len + extra_len;
        let name = bytes.get(at + HEADER..at + HEADER + name_len).unwrap_or_default();
        let name = String::from_utf8_lossy(name).into_owned();
        match bytes.get(start..start.saturating_add(size)) {
            Some(_) if method != 0 => damage.unreadable(&name, "is compressed"),
            Some(data) if crc32fast::hash(data) == crc => {
                entries.insert(name, bytes.slice(start..start + size));
            }
            Some(_) => damage.unreadable(&name, "its checksum does not match"),
            None => damage.unreadable(&name, "the file ends within it"),
        }
        at = start.saturating_add(size);
    }
    entries
}

fn assemble(path: &Path, entries: &Entries, mut damage: Damage) -> Result<Capture, CaptureError> {
    let expected = manifest_rows(path, entries, &mut damage)?;
    let mut decoder = Decoder::default();
    for spec in TABLES {
        let mut rows = 0u64;
        for (name, bytes) in entries {
            if spec_of_entry(name) != Some(spec) {
                continue;
            }
            match read_table(spec, bytes.clone()) {
                Ok(table) => {
                    rows += table.rows() as u64;
                    decoder.add(&table, &mut damage);
                }
                Err(why) => damage.unreadable(name, why),
            }
        }
        damage.lost(spec.name, expected.get(spec.name).copied().unwrap_or(0).saturating_sub(rows));
    }
    let facts = match entries.get(FACTS).map(|bytes| CaptureFacts::from_slice(bytes)) {
        Some(Ok((facts, left_out))) => {
            let odd = |name| damage.unreadable(&format!("{FACTS}: {name}"), "its value is of another type");
            left_out.iter().for_each(odd);
            facts
        }
        Some(Err(e)) => {
            damage.unreadable(FACTS, e);
            CaptureFacts::default()
        }
        None => CaptureFacts::default(),
    };
    let Decoder { profile, series, marks, .. } = decoder;
    Ok(Capture { profile, series, marks, facts, damage })
}

/// Row counts by table from the manifest; empty for a folder, which has none.
fn manifest_rows(
    path: &Path,
    entries: &Entries,
    damage: &mut Damage,
) -> Result<BTreeMap<String, u64>, CaptureError> {
    let Some(bytes) = entries.get(MANIFEST) else { return Ok(BTreeMap::new()) };
    let manifest: serde_json::Value = match serde_json::from_slice(bytes) {
        Ok(manifest) => manifest,
        Err(e) => {
            damage.unreadable(MANIFEST, e);
            return Ok(BTreeMap::new());
        }
    };
    let found = manifest["zwhy_capture"].as_u64().unwrap_or(0);
    if found > u64::from(FORMAT_VERSION) {
        return Err(CaptureError::Newer { path: path.to_owned(), found, known: FORMAT_VERSION });
    }
    let rows = manifest["rows"].as_object().into_iter().flatten();
    Ok(rows.filter_map(|(name, n)| Some((name.clone(), n.as_u64()?))).collect())
}
