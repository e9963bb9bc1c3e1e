//! A capture into the store, under the keys that the agent of its host would have sent it by.
//!
//! Invariants: a unit is seen when its facts are there, and they are put last; a recording that is ingested twice, or was
//! sent by the agent before, is there once, since no host begins two recordings in one millisecond.

use crate::error::FleetError;
use crate::findings::{judge_capture, put_findings};
use crate::layout::{FACTS, LONGEST_MS, Place, UnitKey};
use crate::store::Store;
use ring::digest::{Context, SHA256};
use std::io::Read;
use std::path::Path;
use zwhy_capture::{Capture, each_entry, shipped_key, write_capture};
use zwhy_diagnose::Knowledge;

/// What a capture does not say.
#[derive(Clone, Debug, Default)]
pub struct IngestOptions {
    /// In place of the host that the capture names.
    pub host: Option<String>,
    /// In place of its begin, in milliseconds since 1970.
    pub start_ms: Option<i64>,
}

/// What became of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ingested {
    pub unit: UnitKey,
    /// Rows of the table of samples.
    pub samples: u64,
    /// `false` where the store had it already.
    pub new: bool,
}

/// Puts the capture at `path` into the store, with what the engine finds in it.
///
/// # Errors
/// When it cannot be read, does not say of which host or time it is, is longer than a day, or cannot be written.
pub async fn ingest(
    store: &Store,
    path: &Path,
    options: &IngestOptions,
    knowledge: &Knowledge,
) -> Result<Ingested, FleetError> {
    let mut capture = Capture::open(path)?;
    capture.keep_losses();
    let unit = unit_of(&capture, path, options)?;
    let samples = capture.profile.samples.len() as u64;
    if let Some(known) = known(store, &unit).await? {
        return Ok(Ingested { unit: known, samples, new: false });
    }
    let found = judge_capture(capture.clone(), knowledge);
    put_capture(store, &unit, capture).await?;
    put_findings(store, &unit, &found).await?;
    Ok(Ingested { unit, samples, new: true })
}

/// Of which host and time a capture is.
fn unit_of(capture: &Capture, path: &Path, options: &IngestOptions) -> Result<UnitKey, FleetError> {
    let unfit =
        |found: &str, hint| Err(FleetError::Unfit { path: path.to_owned(), found: found.to_owned(), hint });
    let facts = &capture.facts;
    let named = facts.host.name.clone().filter(|name| !name.is_empty());
    let Some(host) = options.host.clone().or(named) else {
        return unfit("does not say of which host it is", "name it with --host");
    };
    let told = facts.start_unix_s.filter(|s| s.is_finite() && s.abs() < 1e13);
    let Some(start_ms) = options.start_ms.or(told.map(|s| (s * 1e3).round() as i64)) else {
        return unfit("does not say when it was recorded", "give its begin with --start");
    };
    let times = capture.profile.samples.t.iter().copied().chain(capture.series.iter().map(|row| row.t));
    let last_ms = times.map(|t| t.0 / 1_000_000).max().unwrap_or(0);
    let told_s = facts.recorder.duration_s.unwrap_or(0.0);
    if last_ms >= LONGEST_MS || told_s * 1e3 >= LONGEST_MS as f64 {
        return unfit("is longer than a day", "cut it: zwhy agent capture --last 12h");
    }
    Ok(UnitKey { host, start_ms, name: digest(path)? })
}

/// Sixteen hexadecimal digits of a capture: of its file, or of the files of its folder.
fn digest(path: &Path) -> Result<String, FleetError> {
    let mut files = vec![path.to_owned()];
    if path.is_dir() {
        let entries = std::fs::read_dir(path).and_then(|entries| entries.map(|e| Ok(e?.path())).collect());
        files = entries.map_err(FleetError::io("read", path))?;
        files.sort();
    }
    let mut context = Context::new(&SHA256);
    for file in &files {
        add_file(file, &mut context).map_err(FleetError::io("read", file))?;
    }
    Ok(context.finish().as_ref().iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

fn add_file(path: &Path, context: &mut Context) -> std::io::Result<()> {
    let mut file = std::fs::File::open(path)?;
    let mut block = vec![0u8; 1 << 16];
    loop {
        match file.read(&mut block)? {
            0 => return Ok(()),
            read => context.update(&block[..read]),
        }
    }
}

/// The unit of this host and begin that the store has.
async fn known(store: &Store, unit: &UnitKey) -> Result<Option<UnitKey>, FleetError> {
    let facts = shipped_key(FACTS, &unit.host, unit.start_ms, &unit.name, 0);
    let folder = facts.rsplit_once('/').map_or(FACTS, |(folder, _)| folder);
    let found = store.list(folder).await?;
    let mut places = found.iter().filter_map(|object| Place::of(FACTS, object.location.as_ref()));
    Ok(places.next().map(|place| place.unit()))
}

/// Writes the tables of a capture and then its facts. Ids become hashes, whatever they were.
///
/// # Errors
/// When it cannot be written.
pub async fn put_capture(store: &Store, unit: &UnitKey, capture: Capture) -> Result<(), FleetError> {
    let folder = tempfile::tempdir().map_err(FleetError::io("make", Path::new("a temporary folder")))?;
    let packed = write_capture(capture, &folder.path().join("unit.zwhy"))?;
    let mut entries: Vec<(String, Vec<u8>)> = Vec::new();
    each_entry(&packed, |table, part, bytes| -> Result<(), FleetError> {
        entries.push((shipped_key(table, &unit.host, unit.start_ms, &unit.name, part), bytes.to_vec()));
        Ok(())
    })?;
    for (key, bytes) in entries {
        store.put(&key, bytes).await?;
    }
    Ok(())
}
