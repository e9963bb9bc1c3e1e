//! One state of the store, as tables that SQL asks: `samples`, `sums`, `totals`, `stacks`, `frames`, `series`, `marks`. The
//! rows of `sums` are those of `samples` that are asked for, or sums of five minutes of them, which are fewer; those of
//! `totals` may also be of all hosts together, and have no host then.
//!
//! Invariants: a unit is seen when its facts are there, in merged files where a manifest has it and by itself where none
//! does; a sample is in `sums` once, and in `totals`; the files of a snapshot are fixed when it is taken; every query of the fleet is a plan over these tables,
//! whatever engine runs it.

use crate::engine::Engine;
use crate::error::FleetError;
use crate::layout::{Place, TABLES, UnitKey};
use crate::manifest::{MERGED_TABLES, Manifest, manifests, merged_units};
use crate::scope::Scope;
use crate::store::Store;
use crate::sums::register_sums;
use crate::table::{FileOf, FilesTable, Form};
use crate::unit::{Unit, folders, unit_keys, units_of};
use datafusion::arrow::array::RecordBatch;
use datafusion::object_store::ObjectMeta;
use datafusion::prelude::{DataFrame, Expr, SessionContext, col, lit};
use rustc_hash::FxHashMap;

/// Rows of units with the time of each and the thread that it is of. Whatever a unit says twice of a thread, a sample is
/// one row, and its time is the second in which it was taken: merged rows have no other. Threads stand first: what stands
/// there is kept in memory while the samples go by.
const UNIT_ROWS: &str = "
    SELECT s.host AS host, s.t_ms - (s.t_ms % 1000 + 1000) % 1000 AS t_ms,
        coalesce(t.pid, -1) AS pid, coalesce(t.tid, -1) AS tid, coalesce(t.comm, 'unknown') AS comm,
        s.cpu AS cpu, s.stack_id AS stack_id, s.event AS event,
        CAST(s.count AS BIGINT UNSIGNED) AS count, s.weight_ns AS weight_ns,
        coalesce(s.recorder > 0 AND t.pid = s.recorder, false) AS own
    FROM (
        SELECT unit, thread_id, min(pid) AS pid, min(tid) AS tid, min(comm) AS comm
        FROM unit_threads GROUP BY unit, thread_id
    ) t RIGHT JOIN (
        SELECT *, start_ms + t_ns / 1000000 AS t_ms FROM unit_samples
    ) s ON s.unit = t.unit AND s.thread_id = t.thread_id";
/// Tables, and what each has of units and of merged files.
const VIEWS: [(&str, &str, &str); 5] = [
    (
        "samples",
        "SELECT host, t_ms, pid, tid, comm, cpu, stack_id, event, count, weight_ns, own FROM unit_rows",
        "SELECT host, t_ms, pid, tid, comm, cpu, stack_id, event, count, weight_ns, own FROM merged_samples",
    ),
    (
        "stacks",
        "SELECT stack_id, parent_id, frame_id FROM unit_stacks",
        "SELECT stack_id, parent_id, frame_id FROM merged_stacks",
    ),
    (
        "frames",
        "SELECT frame_id, function, module, kind, file, line, reason FROM unit_frames",
        "SELECT frame_id, function, module, kind, file, line, reason FROM merged_frames",
    ),
    (
        "series",
        "SELECT host, start_ms + t_ns / 1000000 AS t_ms, source, name, kind, value FROM unit_series",
        "SELECT host, t_ms, source, name, kind, value FROM merged_series",
    ),
    (
        "marks",
        "SELECT host, start_ms + t_ns / 1000000 AS t_ms, name, text FROM unit_marks",
        "SELECT host, t_ms, name, text FROM merged_marks",
    ),
];

/// Units and merged files, each row in one of the two.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// Units that are read by themselves, by host and time.
    pub units: Vec<Unit>,
    pub manifests: Vec<Manifest>,
}

impl Contents {
    /// What the store has of `scope`.
    ///
    /// # Errors
    /// When the store cannot be listed or read.
    pub async fn list(store: &Store, scope: &Scope) -> Result<Contents, FleetError> {
        // In this order: what is merged in between is seen in its manifest.
        let mut keys = unit_keys(store, scope).await?;
        let manifests = manifests(store, scope).await?;
        let merged = merged_units(&manifests);
        keys.retain(|key| !merged.contains(key));
        Ok(Contents { units: units_of(store, scope, keys).await?, manifests })
    }

    /// All units, merged or not, by host and time.
    pub fn all_units(&self, scope: &Scope) -> Vec<Unit> {
        let merged = self.manifests.iter().flat_map(|manifest| &manifest.units);
        let wanted = |unit: &&Unit| unit.overlaps(scope) && scope.has_host(&unit.host);
        let mut all: Vec<Unit> = self.units.iter().chain(merged).filter(wanted).cloned().collect();
        all.sort_by_key(Unit::key);
        all
    }
}

/// What there is of what was asked for.
pub struct Snapshot {
    pub scope: Scope,
    /// Whole units, merged or not, by host and time.
    pub units: Vec<Unit>,
    /// Whether some units are read by themselves.
    has_units: bool,
    manifests: usize,
    context: SessionContext,
    engine: Engine,
}

impl Snapshot {
    /// Lists what the store has of `scope`, in whole seconds, now.
    ///
    /// # Errors
    /// When the store cannot be listed or read.
    pub async fn take(store: &Store, scope: Scope) -> Result<Snapshot, FleetError> {
        let scope = scope.in_seconds();
        let contents = Contents::list(store, &scope).await?;
        Snapshot::of(store, scope, &contents).await
    }

    /// Tables of these units and merged files alone.
    ///
    /// # Errors
    /// When the store cannot be listed.
    pub async fn of(store: &Store, scope: Scope, contents: &Contents) -> Result<Snapshot, FleetError> {
        let context = store.engine().session(store.runtime()?)?;
        if !contents.units.is_empty() {
            register_units(&context, store, &scope, &contents.units).await?;
        }
        for table in MERGED_TABLES {
            let files = merged(table, &contents.manifests.iter().collect::<Vec<_>>())?;
            files.register(&context, &format!("merged_{table}"))?;
        }
        register_sums(&context, "sums", &scope, contents, merged).await?;
        if scope.hosts.is_empty() {
            register_sums(&context, "totals", &scope, contents, merged).await?;
        }
        let units = contents.all_units(&scope);
        let engine = store.engine().clone();
        let (has_units, manifests) = (!contents.units.is_empty(), contents.manifests.len());
        Ok(Snapshot { scope, units, has_units, manifests, context, engine })
    }

    /// A table as a plan.
    ///
    /// # Errors
    /// When there is no such table.
    pub async fn table(&self, name: &str) -> Result<DataFrame, FleetError> {
        Ok(match VIEWS.iter().find(|(view, ..)| *view == name) {
            Some((_, of_units, of_merged)) => self.context.sql(&self.query(of_units, of_merged)).await?,
            None => self.context.table(name).await?,
        })
    }

    /// A side that has no files is left out before anybody plans it: most snapshots have one.
    fn query(&self, of_units: &str, of_merged: &str) -> String {
        match (self.has_units, self.manifests > 0) {
            (true, true) => format!("{of_units} UNION ALL {of_merged}"),
            (true, false) => of_units.to_owned(),
            (false, _) => of_merged.to_owned(),
        }
    }

    /// Whether `stacks` and `frames` have each row once, as one merged file has.
    pub fn has_names_once(&self) -> bool {
        !self.has_units && self.manifests <= 1
    }

    /// A query over all rows of the tables.
    ///
    /// # Errors
    /// When it is no query.
    pub(crate) async fn sql(&self, query: &str) -> Result<DataFrame, FleetError> {
        for (name, ..) in VIEWS {
            if !self.context.table_exist(name)? {
                self.context.register_table(name, self.table(name).await?.into_view())?;
            }
        }
        Ok(self.context.sql(query).await?)
    }

    /// Runs a query of this snapshot to its end.
    ///
    /// # Errors
    /// When it fails, or the cluster that runs it cannot be asked.
    pub async fn collect(&self, rows: DataFrame) -> Result<Vec<RecordBatch>, FleetError> {
        self.engine.collect(rows).await
    }

    /// The rows of a table with a time that are asked for.
    ///
    /// # Errors
    /// As [`Snapshot::table`].
    pub async fn rows(&self, table: &str) -> Result<DataFrame, FleetError> {
        let mut rows = self.table(table).await?;
        let scope = &self.scope;
        if scope.from_ms > i64::MIN {
            rows = rows.filter(col("t_ms").gt_eq(lit(scope.from_ms)))?;
        }
        if scope.to_ms < i64::MAX {
            rows = rows.filter(col("t_ms").lt(lit(scope.to_ms)))?;
        }
        if !scope.hosts.is_empty() {
            let hosts: Vec<Expr> = scope.hosts.iter().map(lit).collect();
            rows = rows.filter(col("host").in_list(hosts, false))?;
        }
        Ok(rows)
    }
}

/// The files of units that are read by themselves, as tables.
async fn register_units(
    context: &SessionContext,
    store: &Store,
    scope: &Scope,
    units: &[Unit],
) -> Result<(), FleetError> {
    let number: FxHashMap<UnitKey, u32> =
        units.iter().zip(0u32..).map(|(unit, number)| (unit.key(), number)).collect();
    for table in TABLES {
        let mut files = FilesTable::new(Form::Unit, table);
        for object in objects(store, table, scope).await? {
            let place = Place::of(table, object.location.as_ref());
            let number = place.and_then(|place| number.get(&place.unit()).copied());
            let Some((number, unit)) = number.and_then(|n| Some((n, units.get(n as usize)?))) else {
                continue;
            };
            files.add(object.location.as_ref(), object.size, Some(file_of(unit, number)))?;
        }
        files.register(context, &format!("unit_{table}"))?;
    }
    let rows = context.sql(UNIT_ROWS).await?.into_view();
    context.register_table("unit_rows", rows)?;
    Ok(())
}

/// The merged files of a table, of some manifests.
fn merged(table: &str, of: &[&Manifest]) -> Result<FilesTable, FleetError> {
    let mut files = FilesTable::new(Form::Merged, table);
    for file in of.iter().flat_map(|manifest| &manifest.files).filter(|file| file.table == table) {
        files.add(&file.key, file.bytes, None)?;
    }
    Ok(files)
}

/// Files of a table that may be of `scope`.
async fn objects(store: &Store, table: &str, scope: &Scope) -> Result<Vec<ObjectMeta>, FleetError> {
    let mut all = Vec::new();
    for folder in folders(table, scope) {
        all.extend(store.list(&folder).await?);
    }
    Ok(all)
}

fn file_of(unit: &Unit, number: u32) -> FileOf {
    FileOf { host: unit.host.clone(), start_ms: unit.start_ms, unit: number, recorder: unit.recorder }
}
