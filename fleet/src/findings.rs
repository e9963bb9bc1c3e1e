//! What the engine finds in a unit, kept beside it: `findings/knowledge=DIGEST/host=NAME/day=DATE/start_ms=MS/FILE-000000.parquet`,
//! and in one file an hour when the unit is merged.
//!
//! New knowledge has another digest, so old units are judged again beside what was found before, and no sample is written.

use crate::columns::{numbers, texts};
use crate::error::FleetError;
use crate::layout::{FACTS, Place, TABLES, UnitKey};
use crate::scope::Scope;
use crate::snapshot::Contents;
use crate::store::Store;
use crate::unit::{Unit, folders};
use crate::verdicts::{self, Verdicts};
use datafusion::arrow::array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, Float64Type, Schema};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use futures::{StreamExt, TryStreamExt};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use zwhy_capture::{Capture, shipped_key};
use zwhy_diagnose::{KNOWLEDGE_DIGEST, Knowledge, Options, explain};

const WHAT: &str = "findings";
/// Names of what a finding is about, the busiest first.
const MOST_NAMES: usize = 8;
/// Files that are read at a time.
const AT_ONCE: usize = 16;

/// A cause that was found in one unit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    pub class: String,
    pub title: String,
    /// What it is about, as `dataset tank/home`, one a line; empty where it is the host.
    pub scope: String,
    pub confidence: f64,
    /// Part of all CPU samples; absent where it is no matter of CPU time.
    pub share: Option<f64>,
}

/// A cause that one host had, over all units that show it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lasting {
    pub host: String,
    pub class: String,
    pub title: String,
    /// What it is about in the newest unit with it.
    pub scope: Vec<String>,
    /// Begin of the first unit with it, and end of the last one.
    pub begin_ms: i64,
    pub end_ms: i64,
    /// Units with it, and units that were judged.
    pub units: u64,
    pub of_units: u64,
    /// Highest of any unit.
    pub confidence: f64,
    /// Highest part of all CPU samples in any unit.
    pub share: Option<f64>,
}

/// What the engine finds in a capture.
pub fn judge_capture(capture: Capture, knowledge: &Knowledge) -> Vec<Found> {
    let mut imported = capture.into_imported("capture");
    imported.evidence.set_recorder_aside();
    let options = Options { stats: Some(imported.stats), ..Options::default() };
    let answer = explain(&imported.evidence, knowledge, &options);
    let found = answer.findings.iter().map(|finding| {
        let rows = finding.rows.iter().take(MOST_NAMES);
        let scope: Vec<String> = rows.map(|row| format!("{} {}", row.kind, row.name)).collect();
        Found {
            class: finding.class.clone(),
            title: finding.title.clone(),
            scope: scope.join("\n"),
            confidence: finding.confidence,
            share: finding.share.map(|share| share.value),
        }
    });
    found.collect()
}

fn folder() -> String {
    format!("{WHAT}/knowledge={KNOWLEDGE_DIGEST}")
}

fn key(unit: &UnitKey) -> String {
    let of_table = shipped_key(WHAT, &unit.host, unit.start_ms, &unit.name, 0);
    format!("{}{}", folder(), of_table.strip_prefix(WHAT).unwrap_or_default())
}

/// Keeps what was found in a unit; a unit without findings has a file without rows.
///
/// # Errors
/// When it cannot be written.
pub async fn put_findings(store: &Store, unit: &UnitKey, found: &[Found]) -> Result<(), FleetError> {
    store.put(&key(unit), encode(found).map_err(FleetError::encode(WHAT))?).await
}

fn encode(found: &[Found]) -> datafusion::parquet::errors::Result<Vec<u8>> {
    let text = |of: fn(&Found) -> &str| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(found.iter().map(of)))
    };
    let field = |name: &str, kind, absent| Field::new(name, kind, absent);
    let schema = Arc::new(Schema::new(vec![
        field("class", DataType::Utf8, false),
        field("title", DataType::Utf8, false),
        field("scope", DataType::Utf8, false),
        field("confidence", DataType::Float64, false),
        field("share", DataType::Float64, true),
    ]));
    let columns: Vec<ArrayRef> = vec![
        text(|f| &f.class),
        text(|f| &f.title),
        text(|f| &f.scope),
        Arc::new(Float64Array::from_iter_values(found.iter().map(|f| f.confidence))),
        Arc::new(Float64Array::from_iter(found.iter().map(|f| f.share))),
    ];
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns)?;
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, schema, None)?;
    writer.write(&batch)?;
    writer.close()?;
    Ok(bytes)
}

fn decode(bytes: Vec<u8>) -> Result<Vec<Found>, FleetError> {
    let unreadable = |why: String| FleetError::Encode { what: "what was read of findings", why };
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes));
    let reader = reader.and_then(|builder| builder.build()).map_err(|e| unreadable(e.to_string()))?;
    let mut out = Vec::new();
    for batch in reader {
        let batch = batch.map_err(|e| unreadable(e.to_string()))?;
        let (classes, titles) = (texts(&batch, "class")?, texts(&batch, "title")?);
        let scopes = texts(&batch, "scope")?;
        let confidences = numbers::<Float64Type>(&batch, "confidence")?;
        let shares = numbers::<Float64Type>(&batch, "share")?;
        let row = |row: usize| Found {
            class: classes.value(row).to_owned(),
            title: titles.value(row).to_owned(),
            scope: scopes.value(row).to_owned(),
            confidence: confidences.value(row),
            share: shares.iter().nth(row).flatten(),
        };
        out.extend((0..batch.num_rows()).map(row));
    }
    Ok(out)
}

/// Judges the units of `scope` that nobody has judged with this knowledge yet; returns how many.
///
/// # Errors
/// When the store cannot be read or written. A unit that cannot be opened is left out.
pub async fn judge(store: &Store, scope: &Scope, knowledge: &Knowledge) -> Result<u64, FleetError> {
    let done = judged(store, scope).await?;
    let mut count = 0;
    for unit in
        Contents::list(store, scope).await?.units.iter().map(Unit::key).filter(|unit| !done.contains(unit))
    {
        if let Some(capture) = capture_of(store, &unit).await? {
            put_findings(store, &unit, &judge_capture(capture, knowledge)).await?;
            count += 1;
        }
    }
    Ok(count)
}

/// A unit of the store as a capture; `None` where it cannot be opened.
///
/// # Errors
/// When the store cannot be read.
pub async fn capture_of(store: &Store, unit: &UnitKey) -> Result<Option<Capture>, FleetError> {
    let folder = tempfile::tempdir().map_err(FleetError::io("make", Path::new("a temporary folder")))?;
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).map_err(FleetError::io("write", &path))
    };
    for table in TABLES {
        let first = shipped_key(table, &unit.host, unit.start_ms, &unit.name, 0);
        let place = first.rsplit_once('/').map_or(table, |(folder, _)| folder);
        for object in store.list(place).await? {
            let key = object.location.to_string();
            let Some(part) = Place::of(table, &key).filter(|p| p.unit() == *unit) else { continue };
            if let Some(bytes) = store.get(&key).await? {
                write(&format!("{table}-{:06}.parquet", part.part), &bytes)?;
            }
        }
    }
    let facts = shipped_key(FACTS, &unit.host, unit.start_ms, &unit.name, 0);
    if let Some(bytes) = store.get(&facts).await? {
        write("facts.json", &bytes)?;
    }
    let Ok(mut capture) = Capture::open(folder.path()) else { return Ok(None) };
    // A folder is what is being recorded; this one is whole.
    capture.damage.unfinished = false;
    Ok(Some(capture))
}

/// Units that were judged with this knowledge.
async fn judged(store: &Store, scope: &Scope) -> Result<BTreeSet<UnitKey>, FleetError> {
    let root = folder();
    let mut out = BTreeSet::new();
    for table in folders(&root, scope) {
        let objects = store.list(&table).await?;
        out.extend(
            objects.iter().filter_map(|o| Place::of(&root, o.location.as_ref())).map(|place| place.unit()),
        );
    }
    Ok(out)
}

/// The findings of each unit: of this knowledge, else the newest ones of any other.
async fn newest(store: &Store, scope: &Scope) -> Result<BTreeMap<UnitKey, String>, FleetError> {
    let mut best: BTreeMap<UnitKey, ((bool, i64), String)> = BTreeMap::new();
    for root in store.folders(WHAT).await? {
        for table in folders(&root, scope) {
            for object in store.list_lately(&table).await?.iter() {
                let key = object.location.to_string();
                let Some(place) = Place::of(&root, &key) else { continue };
                let rank = (root == folder(), object.last_modified.timestamp_millis());
                let known = best.entry(place.unit()).or_insert((rank, key.clone()));
                if rank > known.0 {
                    *known = (rank, key);
                }
            }
        }
    }
    Ok(best.into_iter().map(|(unit, (_, key))| (unit, key)).collect())
}

/// What was found in the units that are wanted: of merged ones as it was then, of others by the newest judgement.
///
/// # Errors
/// When the store cannot be read.
pub async fn found_in(
    store: &Store,
    scope: &Scope,
    contents: &Contents,
    is_wanted: impl Fn(&UnitKey) -> bool,
) -> Result<Verdicts, FleetError> {
    let mut all = Verdicts::new();
    for manifest in &contents.manifests {
        let merged = verdicts::read(store, manifest).await?.unwrap_or_default();
        all.extend(merged.into_iter().filter(|(unit, _)| is_wanted(unit)));
    }
    let mut alone: Vec<(UnitKey, String)> = newest(store, scope).await?.into_iter().collect();
    alone.retain(|(unit, _)| is_wanted(unit) && !all.contains_key(unit));
    let read = |(unit, key): (UnitKey, String)| async move {
        let bytes = store.get(&key).await?;
        Ok::<_, FleetError>((unit, bytes.map(decode).transpose()?))
    };
    let read: Vec<(UnitKey, Option<Vec<Found>>)> =
        futures::stream::iter(alone).map(read).buffered(AT_ONCE).try_collect().await?;
    // One that is gone was merged meanwhile.
    all.extend(read.into_iter().filter_map(|(unit, found)| Some((unit, found?))));
    Ok(all)
}

/// Keys of all findings beside units, with the unit of each.
///
/// # Errors
/// When the store cannot be listed.
pub async fn keys_of_findings(store: &Store) -> Result<Vec<(UnitKey, String)>, FleetError> {
    let mut out = Vec::new();
    for root in store.folders(WHAT).await? {
        let objects = store.list(&root).await?;
        let keys = objects.into_iter().map(|object| object.location.to_string());
        out.extend(keys.filter_map(|key| Some((Place::of(&root, &key)?.unit(), key))));
    }
    Ok(out)
}

/// What was found on the hosts of `scope`, the surest first.
///
/// # Errors
/// When the store cannot be read.
pub async fn findings(store: &Store, scope: &Scope) -> Result<Vec<Lasting>, FleetError> {
    let contents = Contents::list(store, scope).await?;
    let known: BTreeMap<UnitKey, Unit> =
        contents.all_units(scope).into_iter().map(|unit| (unit.key(), unit)).collect();
    let found: Vec<(UnitKey, Vec<Found>)> =
        found_in(store, scope, &contents, |unit| known.contains_key(unit)).await?.into_iter().collect();
    let mut out: Vec<Lasting> = Vec::new();
    for host in found.chunk_by(|a, b| a.0.host == b.0.host) {
        let first = out.len();
        for (key, rows) in host {
            let Some(unit) = known.get(key) else { continue };
            rows.iter().for_each(|row| lasts(&mut out, first, row, unit));
        }
        out[first..].iter_mut().for_each(|lasting| lasting.of_units = host.len() as u64);
    }
    out.sort_by(|a, b| {
        b.confidence.total_cmp(&a.confidence).then_with(|| (&a.host, &a.class).cmp(&(&b.host, &b.class)))
    });
    Ok(out)
}

/// Adds what was found in one unit to what `out` has of its host from `first` on.
fn lasts(out: &mut Vec<Lasting>, first: usize, found: &Found, unit: &Unit) {
    let scope = || found.scope.lines().map(str::to_owned).collect::<Vec<_>>();
    let Some(lasting) = out[first..].iter_mut().find(|lasting| lasting.class == found.class) else {
        out.push(Lasting {
            host: unit.host.clone(),
            class: found.class.clone(),
            title: found.title.clone(),
            scope: scope(),
            begin_ms: unit.start_ms,
            end_ms: unit.end_ms,
            units: 1,
            of_units: 0,
            confidence: found.confidence,
            share: found.share,
        });
        return;
    };
    lasting.title.clone_from(&found.title);
    lasting.scope = scope();
    lasting.end_ms = lasting.end_ms.max(unit.end_ms);
    lasting.units += 1;
    lasting.confidence = lasting.confidence.max(found.confidence);
    lasting.share = lasting.share.into_iter().chain(found.share).reduce(f64::max);
}
