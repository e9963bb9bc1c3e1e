//! Many small files into few: the units of an hour become one file a table, sorted by host, thread name and stack.
//!
//! Steps: files are written under names of their own, then a manifest that lists them and the units in them is made where
//! none of its number is, and only `sweep` removes anything. Whatever ends a merge, each row is seen once: before the
//! manifest in its unit, from then on in the merged files. Of two that merge one hour at a time one gets the number.

use crate::error::FleetError;
use crate::findings::{found_in, judge, keys_of_findings};
use crate::layout::UnitKey;
use crate::manifest::{Commit, Hour, Manifest, MergedFile, commit, manifest_keys, newest};
use crate::names::believed;
use crate::schema;
use crate::scope::Scope;
use crate::snapshot::{Contents, Snapshot};
use crate::store::Store;
use crate::unit::Unit;
use crate::verdicts::{self, VERDICTS};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::compute::{cast, filter_record_batch};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::{DataFusionError, Result as EngineResult};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::{Compression, Encoding, ZstdLevel};
use datafusion::parquet::file::properties::WriterProperties;
use datafusion::parquet::schema::types::ColumnPath;
use futures::StreamExt;
use ring::rand::{SecureRandom, SystemRandom};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};
use zwhy_diagnose::Knowledge;

/// Every row.
const ROWS: u8 = 1;
/// Sums of an hour.
const SUMS: u8 = 2;
/// Nothing but the names of units, so that one that is sent again is known.
const NAMES: u8 = 3;
const GROUP_ROWS: usize = 262_144;
const PAGE_ROWS: usize = 20_000;
/// A merged file is written once and kept for days: a tenth of its bytes is worth some CPU time.
const LEVEL: i32 = 9;

/// What of a table is kept, and in which order, of every row and as sums of the hour. `samples` has those of one second,
/// host, thread name and stack as one row: `t_ms` is the begin of a second in all rows of a snapshot, so that merged ones
/// answer as those of units do. `sums` has the same samples, added up in steps of five minutes (`SUM_MS` of the manifest),
/// for ranges that are made of such steps, and `totals` has the sums of all hosts together.
const PLANS: [(&str, &str, Option<&str>); 7] = [
    (
        "samples",
        "SELECT host, t_ms, -1 AS pid, -1 AS tid, comm, -1 AS cpu, stack_id, event,
            sum(count) AS count, sum(weight_ns) AS weight_ns, own
        FROM samples GROUP BY host, t_ms, comm, stack_id, event, own
        ORDER BY host, comm, stack_id, event, own, t_ms",
        Some(
            "SELECT host, hour AS t_ms, -1 AS pid, -1 AS tid, comm, -1 AS cpu, stack_id, event,
            sum(count) AS count, sum(weight_ns) AS weight_ns, own
        FROM (SELECT *, t_ms - t_ms % 3600000 AS hour FROM samples)
        GROUP BY host, hour, comm, stack_id, event, own
        ORDER BY host, comm, stack_id, hour, event, own",
        ),
    ),
    (
        "sums",
        "SELECT host, step AS t_ms, comm, stack_id, event, sum(count) AS count, sum(weight_ns) AS weight_ns, own
        FROM (SELECT *, t_ms - (t_ms % 300000 + 300000) % 300000 AS step FROM samples)
        GROUP BY host, step, comm, stack_id, event, own
        ORDER BY step, host, comm, stack_id, event, own",
        None,
    ),
    (
        "totals",
        "SELECT '' AS host, step AS t_ms, comm, stack_id, event, sum(count) AS count, sum(weight_ns) AS weight_ns, own
        FROM (SELECT *, t_ms - (t_ms % 300000 + 300000) % 300000 AS step FROM samples)
        GROUP BY step, comm, stack_id, event, own
        ORDER BY step, comm, stack_id, event, own",
        None,
    ),
    (
        "stacks",
        "SELECT DISTINCT * FROM stacks ORDER BY parent_id, stack_id",
        Some("SELECT DISTINCT * FROM stacks ORDER BY parent_id, stack_id"),
    ),
    (
        "frames",
        "SELECT DISTINCT * FROM frames ORDER BY function, module, frame_id",
        Some("SELECT DISTINCT * FROM frames ORDER BY function, module, frame_id"),
    ),
    (
        "series",
        "SELECT * FROM series ORDER BY host, source, name, t_ms, value",
        Some(
            "SELECT host, newest AS t_ms, source, name, kind, value FROM (
            SELECT host, max(t_ms) AS newest, source, name, kind, last_value(value ORDER BY t_ms, value) AS value
            FROM series GROUP BY host, source, name, kind, t_ms / 60000
        ) ORDER BY host, source, name, newest",
        ),
    ),
    (
        "marks",
        "SELECT * FROM marks ORDER BY host, t_ms, name, text",
        Some("SELECT * FROM marks ORDER BY host, t_ms, name, text"),
    ),
];

/// When what is done. All ages are of the end of an hour.
#[derive(Clone, Debug)]
pub struct MergeOptions {
    /// Milliseconds since 1970.
    pub now_ms: i64,
    /// Before an hour is merged: agents send what lies behind them.
    pub settle: Duration,
    /// Between a manifest and the removal of what it replaces: whoever reads has that long.
    pub grace: Duration,
    /// Age from which an hour is kept as sums.
    pub sums_after: Option<Duration>,
    /// Age from which nothing of it is kept.
    pub drop_after: Option<Duration>,
}

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    pub hours: u64,
    pub units: u64,
    /// Hours that somebody else merged meanwhile.
    pub lost: u64,
    /// Objects that were removed.
    pub removed: u64,
}

/// Merges what is due and removes what was replaced long enough ago.
///
/// # Errors
/// When the store cannot be read or written. What was done until then holds; another call goes on.
pub async fn compact(
    store: &Store,
    options: &MergeOptions,
    knowledge: &Knowledge,
) -> Result<Merged, FleetError> {
    // Facts go with the units, so what the engine finds in these is found before.
    judge(store, &Scope::default(), knowledge).await?;
    let contents = Contents::list(store, &Scope::default()).await?;
    let mut hours: BTreeMap<Hour, (Vec<Unit>, Option<Manifest>)> = BTreeMap::new();
    for unit in contents.units {
        hours.entry(Hour::of(unit.start_ms)).or_default().0.push(unit);
    }
    for manifest in contents.manifests {
        let hour = manifest.hour();
        hours.entry(hour).or_default().1 = Some(manifest);
    }
    let mut done = Merged::default();
    for (hour, (units, manifest)) in hours {
        let current = manifest.unwrap_or_else(|| Manifest::none(hour));
        let tier = tier(hour, options).max(current.tier);
        if !is_due(hour, options) || (units.is_empty() && tier == current.tier) {
            continue;
        }
        let count = units.len() as u64;
        match merge_hour(store, &current, units, tier, options).await? {
            Commit::Done => (done.hours, done.units) = (done.hours + 1, done.units + count),
            Commit::Lost => done.lost += 1,
        }
    }
    done.removed = sweep(store, options).await?;
    Ok(done)
}

fn age_ms(hour: Hour, options: &MergeOptions) -> i64 {
    options.now_ms.saturating_sub(hour.end_ms())
}

fn is_due(hour: Hour, options: &MergeOptions) -> bool {
    age_ms(hour, options) >= millis(options.settle)
}

fn tier(hour: Hour, options: &MergeOptions) -> u8 {
    let older = |than: Option<Duration>| than.is_some_and(|than| age_ms(hour, options) >= millis(than));
    match (older(options.drop_after), older(options.sums_after)) {
        (true, _) => NAMES,
        (false, true) => SUMS,
        (false, false) => ROWS,
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// Writes the next manifest of an hour, and before it the files that it names.
async fn merge_hour(
    store: &Store,
    current: &Manifest,
    units: Vec<Unit>,
    tier: u8,
    options: &MergeOptions,
) -> Result<Commit, FleetError> {
    let begun = Instant::now();
    let contents = Contents { units, manifests: vec![current.clone()] };
    let mut next = Manifest { version: current.version + 1, tier, files: Vec::new(), ..current.clone() };
    next.units.extend(contents.units.iter().cloned());
    next.units.sort_by_key(Unit::key);
    if tier < NAMES {
        let snapshot = Snapshot::of(store, Scope::default(), &contents).await?;
        let name = random_name()?;
        for (table, rows, sums) in PLANS {
            let Some(plan) = (if tier == SUMS { sums } else { Some(rows) }) else { continue };
            let Some(bytes) = write(&snapshot, table, plan).await? else { continue };
            let key = current.file_key(table, tier, &name);
            next.files.push(MergedFile {
                table: table.to_owned(),
                key: key.clone(),
                bytes: bytes.len() as u64,
            });
            store.put(&key, bytes).await?;
        }
        let wanted: BTreeSet<UnitKey> = next.units.iter().map(Unit::key).collect();
        let found = found_in(store, &Scope::default(), &contents, |unit| wanted.contains(unit)).await?;
        let bytes = verdicts::encode(&found).map_err(FleetError::encode(VERDICTS))?;
        let key = current.file_key(VERDICTS, tier, &name);
        next.files.push(MergedFile {
            table: VERDICTS.to_owned(),
            key: key.clone(),
            bytes: bytes.len() as u64,
        });
        store.put(&key, bytes).await?;
    }
    // From the end of the grace on, files without a manifest may be removed at any time.
    if !options.grace.is_zero() && begun.elapsed() > options.grace / 2 {
        let why = "it took more than half of the grace; give a longer one".to_owned();
        return Err(FleetError::Encode { what: "a manifest", why });
    }
    let committed = commit(store, &next).await?;
    if committed == Commit::Lost {
        for file in &next.files {
            store.remove(&file.key).await?;
        }
    }
    Ok(committed)
}

fn random_name() -> Result<String, FleetError> {
    let mut bytes = [0u8; 8];
    SystemRandom::new().fill(&mut bytes).map_err(FleetError::encode("a name of a file"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The rows of a plan as one Parquet file; `None` where there are none.
async fn write(snapshot: &Snapshot, table: &str, plan: &str) -> Result<Option<Vec<u8>>, FleetError> {
    let schema = schema::of_merged_file(table);
    let temporary = tempfile::tempfile().map_err(FleetError::io("make", Path::new("a temporary file")))?;
    let mut again = temporary.try_clone().map_err(FleetError::io("use", Path::new("a temporary file")))?;
    let encode = |e: datafusion::parquet::errors::ParquetError| FleetError::encode("merged rows")(e);
    let mut writer =
        ArrowWriter::try_new(temporary, schema.clone(), Some(properties(table))).map_err(encode)?;
    let mut stream = snapshot.sql(plan).await?.execute_stream().await?;
    let mut rows = 0;
    while let Some(batch) = stream.next().await {
        let mut batch = in_schema(&batch?, &schema)?;
        if let Some(keep) = believed(table, &batch)? {
            batch = filter_record_batch(&batch, &keep).map_err(DataFusionError::from)?;
        }
        rows += batch.num_rows();
        writer.write(&batch).map_err(encode)?;
    }
    writer.close().map_err(encode)?;
    let mut bytes = Vec::new();
    let read =
        std::io::Seek::rewind(&mut again).and_then(|()| std::io::Read::read_to_end(&mut again, &mut bytes));
    read.map_err(FleetError::io("read", Path::new("a temporary file")))?;
    Ok((rows > 0).then_some(bytes))
}

/// The columns of a schema, in its order and types.
fn in_schema(batch: &RecordBatch, schema: &SchemaRef) -> EngineResult<RecordBatch> {
    let column = |field: &datafusion::arrow::datatypes::FieldRef| {
        let at = batch.schema().index_of(field.name())?;
        Ok(cast(batch.column(at), field.data_type())?)
    };
    let columns = schema.fields().iter().map(column).collect::<EngineResult<Vec<_>>>()?;
    Ok(RecordBatch::try_new(schema.clone(), columns)?)
}

fn properties(table: &str) -> WriterProperties {
    let level = ZstdLevel::try_new(LEVEL).unwrap_or_default();
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_data_page_row_count_limit(PAGE_ROWS);
    for (column, encoding) in encodings(table) {
        properties = properties
            .set_column_dictionary_enabled(ColumnPath::from(*column), false)
            .set_column_encoding(ColumnPath::from(*column), *encoding);
    }
    properties.build()
}

/// Columns that a dictionary makes larger: in the order of the plan neighbours differ by little, or no value comes twice.
fn encodings(table: &str) -> &'static [(&'static str, Encoding)] {
    use Encoding::{DELTA_BINARY_PACKED, DELTA_BYTE_ARRAY, PLAIN};
    match table {
        "samples" => &[("t_ms", DELTA_BINARY_PACKED)],
        "series" => &[("t_ms", DELTA_BINARY_PACKED), ("value", DELTA_BINARY_PACKED)],
        "stacks" => &[("stack_id", PLAIN), ("parent_id", DELTA_BINARY_PACKED)],
        "frames" => &[("frame_id", PLAIN), ("function", DELTA_BYTE_ARRAY)],
        _ => &[],
    }
}

/// Removes what manifests older than the grace replaced: units, older manifests, and files that none names.
///
/// # Errors
/// When the store cannot be read or written, or a file that holds is missing: then nothing of its hour is removed.
async fn sweep(store: &Store, options: &MergeOptions) -> Result<u64, FleetError> {
    let mut settled = BTreeMap::new();
    let mut stale = Vec::new();
    let limit_ms = options.now_ms.saturating_sub(millis(options.grace));
    let ages: BTreeMap<String, i64> = modified(store, crate::manifest::MANIFESTS).await?;
    for (hour, versions) in manifest_keys(store).await? {
        let Some(manifest) = newest(store, hour, &versions).await? else { continue };
        if ages.get(&manifest.key()).is_none_or(|age| *age > limit_ms) {
            continue;
        }
        stale.extend(versions.into_iter().filter(|(n, _)| *n < manifest.version).map(|(_, key)| key));
        settled.insert(hour, manifest);
    }
    let files = modified_sizes(store, crate::manifest::MERGED).await?;
    let mut removed = 0;
    for (hour, manifest) in &settled {
        let missing =
            manifest.files.iter().find(|file| files.get(&file.key).map(|f| f.1) != Some(file.bytes));
        if let Some(file) = missing {
            let why = format!("{} is not as the manifest of its hour ({}) says", file.key, hour.0);
            return Err(FleetError::Encode { what: "to a damaged store", why });
        }
    }
    // Manifests last: until then a unit of theirs is known to be merged.
    let live: BTreeSet<&str> =
        settled.values().flat_map(|m| &m.files).map(|file| file.key.as_str()).collect();
    let open: Vec<String> = open_folders(store, &settled).await?;
    for (key, (modified_ms, _)) in &files {
        let in_open = open.iter().any(|folder| key.contains(folder.as_str()));
        if !live.contains(key.as_str()) && *modified_ms <= limit_ms && !in_open {
            store.remove(key).await?;
            removed += 1;
        }
    }
    removed += sweep_findings(store, &settled).await? + sweep_units(store, &settled).await?;
    for key in stale {
        store.remove(&key).await?;
        removed += 1;
    }
    Ok(removed)
}

/// Folders of hours whose newest manifest may have readers of what it replaced.
async fn open_folders(store: &Store, settled: &BTreeMap<Hour, Manifest>) -> Result<Vec<String>, FleetError> {
    let hours = manifest_keys(store).await?.into_keys().filter(|hour| !settled.contains_key(hour));
    Ok(hours.map(|hour| format!("/{}/", hour.folder())).collect())
}

/// Removes what was found in units whose findings are merged, or dropped with them.
async fn sweep_findings(store: &Store, settled: &BTreeMap<Hour, Manifest>) -> Result<u64, FleetError> {
    let has = |manifest: &&Manifest| {
        manifest.tier == NAMES || manifest.files.iter().any(|file| file.table == VERDICTS)
    };
    let units: BTreeSet<UnitKey> =
        settled.values().filter(has).flat_map(|manifest| manifest.units.iter().map(Unit::key)).collect();
    let mut removed = 0;
    for (unit, key) in keys_of_findings(store).await? {
        if units.contains(&unit) {
            store.remove(&key).await?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// Removes the objects of units that are merged.
async fn sweep_units(store: &Store, settled: &BTreeMap<Hour, Manifest>) -> Result<u64, FleetError> {
    let units: BTreeSet<UnitKey> =
        settled.values().flat_map(|manifest| manifest.units.iter().map(Unit::key)).collect();
    let mut removed = 0;
    let tables = std::iter::once(crate::layout::FACTS).chain(crate::layout::TABLES);
    for table in tables {
        for object in store.list(table).await? {
            let key = object.location.to_string();
            let merged = crate::layout::Place::of(table, &key).is_some_and(|p| units.contains(&p.unit()));
            if merged {
                store.remove(&key).await?;
                removed += 1;
            }
        }
    }
    Ok(removed)
}

async fn modified(store: &Store, folder: &str) -> Result<BTreeMap<String, i64>, FleetError> {
    let files = modified_sizes(store, folder).await?;
    Ok(files.into_iter().map(|(key, (modified_ms, _))| (key, modified_ms)).collect())
}

async fn modified_sizes(store: &Store, folder: &str) -> Result<BTreeMap<String, (i64, u64)>, FleetError> {
    let objects = store.list(folder).await?.into_iter();
    Ok(objects.map(|o| (o.location.to_string(), (o.last_modified.timestamp_millis(), o.size))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{MERGED_TABLES, SUM_MS};

    #[test]
    fn an_hour_is_rows_then_sums_then_names() {
        let hour = Hour::of(0);
        let day = Duration::from_secs(86_400);
        let options = |now_ms| MergeOptions {
            now_ms,
            settle: Duration::from_secs(900),
            grace: Duration::ZERO,
            sums_after: Some(day * 14),
            drop_after: Some(day * 365),
        };
        for (days, want) in [(0, ROWS), (14, ROWS), (15, SUMS), (365, SUMS), (366, NAMES)] {
            assert_eq!(tier(hour, &options(days * 86_400_000)), want, "{days}");
        }
        assert!(!is_due(hour, &options(3_600_000 + 899_999)) && is_due(hour, &options(3_600_000 + 900_000)));
        assert_eq!(PLANS.map(|(table, ..)| table), MERGED_TABLES);
        let step = format!("% {SUM_MS} AS step");
        let in_steps = PLANS.iter().filter(|(_, rows, _)| rows.contains(&step)).map(|(table, ..)| *table);
        assert_eq!(in_steps.collect::<Vec<_>>(), ["sums", "totals"]);
    }
}
