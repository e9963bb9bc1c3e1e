//! What is asked of the fleet, each answered from one snapshot: hosts, stages, functions, flame graphs, findings, counters.

use crate::columns::{numbers, texts};
use crate::error::FleetError;
use crate::findings::{Lasting, findings};
use crate::groups::{Apart, Group, Placed, groups, place};
use crate::names::Names;
use crate::scope::Scope;
use crate::snapshot::{Contents, Snapshot};
use crate::stages::{HostCpu, StagePoint, StageRow, Staged};
use crate::store::Store;
use datafusion::arrow::datatypes::Int64Type;
use datafusion::functions_aggregate::expr_fn::{count, max, min};
use datafusion::prelude::{DataFrame, col, lit};
use serde::Serialize;
use zwhy_diagnose::{Anatomy, CONFIDENT};
use zwhy_evidence::Evidence;
use zwhy_profile::{Event, FunctionTotals};

/// A host as the store knows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HostRow {
    pub host: String,
    /// Begin of its first unit and end of its last one, of those asked for.
    pub begin_ms: i64,
    pub end_ms: i64,
    pub units: u64,
    pub cpus: Option<u64>,
    pub kernel_release: Option<String>,
    pub zfs_release: Option<String>,
    #[serde(flatten)]
    pub cpu: HostCpu,
    /// Classes of its findings of medium or high confidence, the surest first.
    pub findings: Vec<String>,
}

/// One function of all hosts that are asked for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FunctionRow {
    pub function: String,
    pub module: String,
    /// Samples that end in it, and samples that it is part of.
    #[serde(rename = "self")]
    pub own: u64,
    pub total: u64,
    /// Parts of all samples, 0 to 1.
    pub self_share: f64,
    pub total_share: f64,
}

/// A counter or gauge of one host that the store has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KstatRow {
    pub host: String,
    pub source: String,
    pub name: String,
    pub kind: String,
    pub readings: i64,
    pub begin_ms: i64,
    pub end_ms: i64,
    pub least: i64,
    pub most: i64,
}

/// One reading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KstatPoint {
    pub host: String,
    pub t_ms: i64,
    pub value: i64,
}

/// All samples of a scope, added up, with their names.
pub struct Picture {
    pub snapshot: Snapshot,
    pub groups: Vec<Group>,
    pub placed: Placed,
    /// Rows of the store whose id was that of something else.
    pub refused: u64,
}

impl Picture {
    /// Asks the store.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn take(store: &Store, scope: Scope, apart: Apart) -> Result<Picture, FleetError> {
        let snapshot = Snapshot::take(store, scope).await?;
        let (groups, names) = tokio::try_join!(groups(&snapshot, apart), Names::read(&snapshot))?;
        let placed = place(&groups, &names, &snapshot);
        Ok(Picture { snapshot, groups, placed, refused: names.refused })
    }

    /// Stages of all samples.
    pub fn stages(&self, anatomy: &Anatomy) -> Vec<StageRow> {
        Staged::new(&self.groups, &self.placed, anatomy).table()
    }

    /// Functions, the largest own count first.
    pub fn functions(&self, event: Event) -> Vec<FunctionRow> {
        let profile = &self.placed.profile;
        let totals = FunctionTotals::of(profile, event);
        let share = |n: u64| n as f64 / totals.samples.max(1) as f64;
        let row = |row: &zwhy_profile::FunctionCounts| FunctionRow {
            function: profile.strings.get(row.function).to_owned(),
            module: profile.strings.get(row.module).to_owned(),
            own: row.own,
            total: row.total,
            self_share: share(row.own),
            total_share: share(row.total),
        };
        totals.rows.iter().map(row).collect()
    }

    /// The profile alone, for exporters.
    pub fn evidence(self) -> Evidence {
        Evidence { profile: self.placed.profile, ..Evidence::default() }
    }
}

/// Stages of each host in steps of `step_ms` from the begin of the scope, or from the first unit of it.
///
/// # Errors
/// When the store cannot be read.
pub async fn stages_over_time(
    store: &Store,
    scope: Scope,
    step_ms: i64,
    anatomy: &Anatomy,
) -> Result<Vec<StagePoint>, FleetError> {
    let mut scope = scope.in_seconds();
    if scope.from_ms == i64::MIN {
        let first =
            Contents::list(store, &scope).await?.all_units(&scope).iter().map(|unit| unit.start_ms).min();
        // Whole steps, so that they are the same for all ranges.
        scope.from_ms = first.map_or(0, |first| first - first.rem_euclid(step_ms.max(1)));
    }
    let from_ms = scope.from_ms;
    let picture = Picture::take(store, scope, Apart::Steps { from_ms, step_ms }).await?;
    Ok(Staged::new(&picture.groups, &picture.placed, anatomy).over_time(from_ms, step_ms))
}

/// All hosts of a scope, those with most kernel time first.
///
/// # Errors
/// When the store cannot be read.
pub async fn hosts(store: &Store, scope: Scope, anatomy: &Anatomy) -> Result<Vec<HostRow>, FleetError> {
    let found = findings(store, &scope).await?;
    let picture = Picture::take(store, scope, Apart::Hosts).await?;
    let mut cpu = Staged::new(&picture.groups, &picture.placed, anatomy).hosts();
    let units = &picture.snapshot.units;
    let mut rows: Vec<HostRow> = units
        .chunk_by(|a, b| a.host == b.host)
        .filter_map(|units| {
            let (first, last) = (units.first()?, units.last()?);
            let of_host = |lasting: &&Lasting| lasting.host == first.host && lasting.confidence >= CONFIDENT;
            Some(HostRow {
                host: first.host.clone(),
                begin_ms: first.start_ms,
                end_ms: units.iter().map(|unit| unit.end_ms).max()?,
                units: units.len() as u64,
                cpus: last.cpus,
                kernel_release: last.kernel.clone(),
                zfs_release: last.zfs.clone(),
                cpu: cpu.remove(first.host.as_str()).unwrap_or_default(),
                findings: found.iter().filter(of_host).map(|lasting| lasting.class.clone()).collect(),
            })
        })
        .collect();
    rows.sort_by(|a, b| b.cpu.kernel.total_cmp(&a.cpu.kernel).then_with(|| a.host.cmp(&b.host)));
    Ok(rows)
}

/// The counters that the store has, with their bounds; `source` and `name` choose.
///
/// # Errors
/// When the store cannot be read.
pub async fn kstats(
    store: &Store,
    scope: Scope,
    source: Option<&str>,
    name: Option<&str>,
) -> Result<Vec<KstatRow>, FleetError> {
    let (snapshot, rows) = series(store, scope, source, name).await?;
    let by = ["host", "source", "name", "kind"].map(col).to_vec();
    let of = vec![
        count(col("value")).alias("readings"),
        min(col("t_ms")).alias("begin_ms"),
        max(col("t_ms")).alias("end_ms"),
        min(col("value")).alias("least"),
        max(col("value")).alias("most"),
    ];
    let sorted = ["host", "source", "name"].map(|name| col(name).sort(true, false)).to_vec();
    let mut out = Vec::new();
    for batch in snapshot.collect(rows.aggregate(by, of)?.sort(sorted)?).await? {
        let text = |name| texts(&batch, name);
        let (hosts, sources, names, kinds) = (text("host")?, text("source")?, text("name")?, text("kind")?);
        let number = |name| numbers::<Int64Type>(&batch, name);
        let (readings, begins, ends) = (number("readings")?, number("begin_ms")?, number("end_ms")?);
        let (least, most) = (number("least")?, number("most")?);
        out.extend((0..batch.num_rows()).map(|row| KstatRow {
            host: hosts.value(row).to_owned(),
            source: sources.value(row).to_owned(),
            name: names.value(row).to_owned(),
            kind: kinds.value(row).to_owned(),
            readings: readings.value(row),
            begin_ms: begins.value(row),
            end_ms: ends.value(row),
            least: least.value(row),
            most: most.value(row),
        }));
    }
    Ok(out)
}

/// The readings of one counter, by host and time.
///
/// # Errors
/// When the store cannot be read.
pub async fn kstat_points(
    store: &Store,
    scope: Scope,
    source: &str,
    name: &str,
) -> Result<Vec<KstatPoint>, FleetError> {
    let (snapshot, rows) = series(store, scope, Some(source), Some(name)).await?;
    let sorted = ["host", "t_ms", "value"].map(|name| col(name).sort(true, false)).to_vec();
    let mut out = Vec::new();
    for batch in snapshot.collect(rows.sort(sorted)?).await? {
        let hosts = texts(&batch, "host")?;
        let (times, values) = (numbers::<Int64Type>(&batch, "t_ms")?, numbers::<Int64Type>(&batch, "value")?);
        out.extend((0..batch.num_rows()).map(|row| KstatPoint {
            host: hosts.value(row).to_owned(),
            t_ms: times.value(row),
            value: values.value(row),
        }));
    }
    Ok(out)
}

async fn series(
    store: &Store,
    scope: Scope,
    source: Option<&str>,
    name: Option<&str>,
) -> Result<(Snapshot, DataFrame), FleetError> {
    let snapshot = Snapshot::take(store, scope).await?;
    let mut rows = snapshot.rows("series").await?;
    for (column, wanted) in [("source", source), ("name", name)] {
        if let Some(wanted) = wanted {
            rows = rows.filter(col(column).eq(lit(wanted)))?;
        }
    }
    Ok((snapshot, rows))
}
