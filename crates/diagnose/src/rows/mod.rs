//! What a sign may be about: each dataset, pool, vdev, thread or process of the evidence by itself.
//!
//! A sign with `each = "dataset"` is asked of one row at a time, and all such signs of a cause of the
//! same row, so that one dataset's record size is never paired with another one's cache. Rows that
//! answer alike are evaluated once: the work grows with the number of different answers, not of rows.

mod choose;
mod column;
mod guilty;
mod listed;
mod place;
mod storage;
mod tasks;
#[cfg(test)]
mod tests;
mod vdevs;

pub use choose::{Chosen, choose};
pub use column::Column;
pub use guilty::{Names, answers};
pub use place::place;

use crate::facts::{CpuFacts, Function, Quality, Query, Reading, Value};
use crate::figures::percent;
use crate::knowledge::Busy;
use serde::Deserialize;
use std::sync::{Arc, Mutex, OnceLock};
use storage::Storage;
use tasks::Tasks;
use vdevs::Vdevs;

/// Rows that a finding lists; of the others it says how many there are.
const MOST_ROWS: usize = 5;
use zwhy_evidence::Evidence;
use zwhy_profile::ThreadId;

/// A kind of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    Pool,
    Dataset,
    Vdev,
    Process,
    Thread,
}

/// Index of a row among those of its kind, the busiest first.
pub type RowId = u32;

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Row {
    pub scope: Scope,
    pub id: RowId,
}

impl Scope {
    pub fn word(self) -> &'static str {
        match self {
            Scope::Pool => "pool",
            Scope::Dataset => "dataset",
            Scope::Vdev => "vdev",
            Scope::Process => "process",
            Scope::Thread => "thread",
        }
    }

    /// Several of them.
    pub fn words(self) -> &'static str {
        match self {
            Scope::Pool => "pools",
            Scope::Dataset => "datasets",
            Scope::Vdev => "vdevs",
            Scope::Process => "processes",
            Scope::Thread => "threads",
        }
    }

    /// Rows that do work, not rows that hold data.
    pub fn is_task(self) -> bool {
        matches!(self, Scope::Process | Scope::Thread)
    }

    /// The kind of rows that each of these belongs to.
    fn parent(self) -> Option<Scope> {
        match self {
            Scope::Dataset | Scope::Vdev => Some(Scope::Pool),
            Scope::Thread => Some(Scope::Process),
            Scope::Pool | Scope::Process => None,
        }
    }

    /// Whether rows of this kind are such rows, or belong to one.
    pub fn is_within(self, other: Scope) -> bool {
        self == other || self.parent() == Some(other)
    }

    /// Whether rows of this kind can answer such a question for themselves; others are asked of the host.
    pub fn answers(self, query: &Query) -> bool {
        use Function as F;
        match query.function {
            F::Prop | F::PropNumber => !self.is_task(),
            F::Kstat | F::Rate => {
                matches!(self, Scope::Pool | Scope::Dataset) && query.argument(0).contains('/')
            }
            F::ColumnMax | F::ColumnMin | F::ColumnSum | F::ColumnHas => {
                matches!(self, Scope::Pool | Scope::Vdev)
            }
            F::ThreadCpu | F::ThreadMax | F::ThreadCount | F::ThreadNice | F::ThreadSeen => self.is_task(),
            _ => self.is_task() && is_of_samples(query),
        }
    }
}

/// Whether samples of a thread answer a question.
fn is_of_samples(query: &Query) -> bool {
    use Function as F;
    matches!(
        query.function,
        F::Share
            | F::SelfShare
            | F::Under
            | F::UnderNot
            | F::CalledBy
            | F::PartOf
            | F::Calls
            | F::Seen
            | F::InThread
            | F::ThreadShare
    )
}

/// All rows of some evidence.
pub struct Rows<'a> {
    evidence: &'a Evidence,
    storage: Storage<'a>,
    vdevs: Vdevs,
    cpu: Arc<CpuFacts<'a>>,
    tasks: OnceLock<Tasks>,
    columns: Mutex<Vec<(Scope, String, Arc<Column>)>>,
}

impl<'a> Rows<'a> {
    pub fn new(evidence: &'a Evidence, cpu: Arc<CpuFacts<'a>>) -> Rows<'a> {
        let storage = Storage::new(evidence);
        let vdevs = Vdevs::new(evidence);
        Rows { evidence, storage, vdevs, cpu, tasks: OnceLock::new(), columns: Mutex::default() }
    }

    fn tasks(&self) -> &Tasks {
        self.tasks.get_or_init(|| Tasks::new(self.evidence, &self.cpu))
    }

    /// Whether rows of a kind answer a question for themselves: of functions only where there are samples.
    pub fn answers(&self, scope: Scope, query: &Query) -> bool {
        scope.answers(query) && (self.cpu.busy > 0 || !is_of_samples(query))
    }

    pub fn len(&self, scope: Scope) -> usize {
        match scope {
            Scope::Pool => self.storage.pools.len(),
            Scope::Dataset => self.storage.datasets.len(),
            Scope::Vdev => self.vdevs.all.len(),
            Scope::Process | Scope::Thread => self.tasks().rows(scope).len(),
        }
    }

    /// The name; `None` where the evidence does not say whose its values are.
    pub fn name(&self, row: Row) -> Option<&str> {
        let at = row.id as usize;
        match row.scope {
            Scope::Pool => self.storage.name(*self.storage.pools.get(at)?),
            Scope::Dataset => self.storage.name(*self.storage.datasets.get(at)?),
            Scope::Vdev => Some(self.vdevs.all.get(at)?.name.as_str()),
            Scope::Process | Scope::Thread => Some(self.tasks().rows(row.scope).get(at)?.name.as_str()),
        }
    }

    /// The pool that a row belongs to.
    pub fn pool_of(&self, row: Row) -> Option<Row> {
        let at = row.id as usize;
        let id = match row.scope {
            Scope::Pool => row.id,
            Scope::Dataset => self.storage.pool_row(*self.storage.datasets.get(at)?)?,
            Scope::Vdev => self.storage.pool_named(&self.vdevs.all.get(at)?.pool)?,
            Scope::Process | Scope::Thread => return None,
        };
        Some(Row { scope: Scope::Pool, id })
    }

    /// The row of another kind that a row belongs to; itself where the kind is its own.
    pub fn above(&self, row: Row, scope: Scope) -> Option<Row> {
        match scope {
            scope if scope == row.scope => Some(row),
            Scope::Pool => self.pool_of(row),
            Scope::Process if row.scope == Scope::Thread => {
                Some(Row { scope, id: self.tasks().process_of(row.id)? })
            }
            _ => None,
        }
    }

    /// CPUs' worth of time that a thread or process took, where that is known.
    pub fn cpu(&self, row: Row) -> Option<f64> {
        self.tasks().rows(row.scope).get(row.id as usize)?.cpu
    }

    /// How much a row does, to find the busiest of its kind: bytes a second, or time on the CPU.
    pub fn activity(&self, row: Row, busy: Option<Busy>) -> Option<f64> {
        if row.scope.is_task() {
            let task = self.tasks().rows(row.scope).get(row.id as usize)?;
            return task.cpu.or((task.samples > 0).then_some(task.samples as f64));
        }
        let [read, written] = self.traffic(row)?;
        Some(match busy {
            Some(Busy::Reads) => read,
            Some(Busy::Writes) => written,
            None => read + written,
        })
    }

    /// The threads of the profile that are of some rows, by their ids; `None` where these have no threads.
    pub fn threads_of(&self, scope: Scope, rows: &[RowId]) -> Option<Vec<bool>> {
        if !scope.is_task() {
            return None;
        }
        let mut of: Vec<bool> = vec![false; self.evidence.profile.threads.len()];
        for ThreadId(thread) in self.tasks().sampled(scope, rows) {
            if let Some(slot) = of.get_mut(thread as usize) {
                *slot = true;
            }
        }
        Some(of)
    }

    /// Bytes read and written a second; `None` where no counter tells.
    pub fn traffic(&self, row: Row) -> Option<[f64; 2]> {
        match row.scope {
            Scope::Pool => self.storage.traffic(*self.storage.pools.get(row.id as usize)?),
            Scope::Dataset => self.storage.traffic(*self.storage.datasets.get(row.id as usize)?),
            Scope::Vdev | Scope::Process | Scope::Thread => None,
        }
    }

    /// The answers of all rows of a kind to a question.
    pub fn column(&self, scope: Scope, query: &Query) -> Arc<Column> {
        let text = query.text();
        let known = |columns: &Vec<(Scope, String, Arc<Column>)>| {
            columns.iter().find(|(s, t, _)| *s == scope && *t == text).map(|(.., c)| c.clone())
        };
        // Nothing panics while it is held, so it is never poisoned.
        if let Some(column) = self.columns.lock().ok().and_then(|columns| known(&columns)) {
            return column;
        }
        let column = Arc::new(self.make_column(scope, query));
        if let Ok(mut columns) = self.columns.lock() {
            columns.push((scope, text, column.clone()));
        }
        column
    }

    fn make_column(&self, scope: Scope, query: &Query) -> Column {
        use Function as F;
        let storage = &self.storage;
        match (scope, query.function) {
            (Scope::Vdev, F::Prop | F::PropNumber) => self.vdevs.column(query),
            (Scope::Dataset, F::Prop | F::PropNumber) => storage.property_column(&storage.datasets, query),
            (Scope::Pool, F::Prop | F::PropNumber) => storage.property_column(&storage.pools, query),
            (Scope::Dataset | Scope::Pool, F::Kstat | F::Rate) => storage.kstat_column(scope, query),
            (Scope::Thread | Scope::Process, _) => {
                let answers = self.tasks().answers(scope, query, &self.cpu);
                Column::of(answers.into_iter().map(|reading| reading.map(|r| r.value)))
            }
            (scope, _) => listed::column(self, scope, query),
        }
    }

    /// The answer of one row.
    pub fn reading(&self, row: Row, query: &Query) -> Option<Reading> {
        if row.scope.is_task() {
            return self.task_reading(row, query);
        }
        let column = self.column(row.scope, query);
        let value = column.value(row.id)?.clone();
        let quality = match query.function {
            // What a vdev counted is no setting of it.
            Function::PropNumber if row.scope == Scope::Vdev => Quality::Figure,
            Function::Prop | Function::PropNumber => Quality::Configured,
            _ => Quality::Figure,
        };
        let (said, origin) = self.told(row, query, &value);
        Some(Reading { said: Some(said), ..Reading::new(value, quality, origin) })
    }

    /// As [`Rows::reading`], of a thread or process.
    fn task_reading(&self, row: Row, query: &Query) -> Option<Reading> {
        let tasks = self.tasks();
        let mut reading = tasks.answers(row.scope, query, &self.cpu).into_iter().nth(row.id as usize)??;
        let task = tasks.rows(row.scope).get(row.id as usize)?;
        if reading.origin.is_empty() {
            let listed = task.origin().filter(|_| reading.quality != Quality::Counted);
            reading.origin = listed.map_or("samples", |origin| self.evidence.origin_name(origin)).to_owned();
        }
        match (query.function, &reading.value) {
            (Function::ThreadCpu | Function::ThreadMax, Value::Number(cpus)) => {
                reading.said = Some(format!("{}: {} of one CPU", task.name, percent(*cpus, false)));
            }
            _ => reading.task = Some(task.name.clone()),
        }
        Some(reading)
    }

    /// Of datasets, where each has a property from: `local`, `inherited from tank`; empty is not known.
    pub fn source(&self, dataset: RowId, property: &str) -> Option<&'a str> {
        self.storage.source(*self.storage.datasets.get(dataset as usize)?, property)
    }
}

impl std::fmt::Debug for Rows<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} datasets, {} pools", self.storage.datasets.len(), self.storage.pools.len())
    }
}
