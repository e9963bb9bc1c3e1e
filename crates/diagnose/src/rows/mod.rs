//! What a sign may be about: each dataset, pool or vdev of the evidence by itself.
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
#[cfg(test)]
mod tests;
mod vdevs;

pub use choose::{Chosen, choose};
pub use column::Column;
pub use guilty::{Names, answers};
pub use place::place;

use crate::facts::{Function, Query, Reading};
use serde::Deserialize;
use std::sync::{Arc, Mutex};
use storage::Storage;
use vdevs::Vdevs;
use zwhy_evidence::Evidence;

/// A kind of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    Pool,
    Dataset,
    Vdev,
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
        }
    }

    /// Whether rows of this kind answer such a question for themselves; others are asked of the host.
    pub fn answers(self, query: &Query) -> bool {
        use Function as F;
        match query.function {
            F::Prop | F::PropNumber => true,
            F::Kstat | F::Rate => self != Scope::Vdev && query.argument(0).contains('/'),
            F::ColumnMax | F::ColumnMin | F::ColumnSum | F::ColumnHas => self != Scope::Dataset,
            _ => false,
        }
    }
}

/// All rows of some evidence.
pub struct Rows<'a> {
    evidence: &'a Evidence,
    storage: Storage<'a>,
    vdevs: Vdevs,
    columns: Mutex<Vec<(Scope, String, Arc<Column>)>>,
}

impl<'a> Rows<'a> {
    pub fn new(evidence: &'a Evidence) -> Rows<'a> {
        let storage = Storage::new(evidence);
        let vdevs = Vdevs::new(evidence);
        Rows { evidence, storage, vdevs, columns: Mutex::default() }
    }

    pub fn len(&self, scope: Scope) -> usize {
        match scope {
            Scope::Pool => self.storage.pools.len(),
            Scope::Dataset => self.storage.datasets.len(),
            Scope::Vdev => self.vdevs.all.len(),
        }
    }

    /// The name; `None` where the evidence does not say whose its values are.
    pub fn name(&self, row: Row) -> Option<&str> {
        let at = row.id as usize;
        match row.scope {
            Scope::Pool => self.storage.name(*self.storage.pools.get(at)?),
            Scope::Dataset => self.storage.name(*self.storage.datasets.get(at)?),
            Scope::Vdev => Some(self.vdevs.all.get(at)?.name.as_str()),
        }
    }

    /// The pool that a row belongs to.
    pub fn pool_of(&self, row: Row) -> Option<Row> {
        let at = row.id as usize;
        let id = match row.scope {
            Scope::Pool => row.id,
            Scope::Dataset => self.storage.pool_row(*self.storage.datasets.get(at)?)?,
            Scope::Vdev => self.storage.pool_named(&self.vdevs.all.get(at)?.pool)?,
        };
        Some(Row { scope: Scope::Pool, id })
    }

    /// The row of another kind that a row belongs to; itself where the kind is its own.
    pub fn above(&self, row: Row, scope: Scope) -> Option<Row> {
        match scope {
            scope if scope == row.scope => Some(row),
            Scope::Pool => self.pool_of(row),
            _ => None,
        }
    }

    /// Bytes read and written a second; `None` where no counter tells.
    pub fn traffic(&self, row: Row) -> Option<[f64; 2]> {
        match row.scope {
            Scope::Pool => self.storage.traffic(*self.storage.pools.get(row.id as usize)?),
            Scope::Dataset => self.storage.traffic(*self.storage.datasets.get(row.id as usize)?),
            Scope::Vdev => None,
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
            (scope, _) => listed::column(self, scope, query),
        }
    }

    /// The answer of one row.
    pub fn reading(&self, row: Row, query: &Query) -> Option<Reading> {
        let column = self.column(row.scope, query);
        let value = column.value(row.id)?.clone();
        let quality = match query.function {
            Function::Prop | Function::PropNumber => crate::facts::Quality::Configured,
            _ => crate::facts::Quality::Figure,
        };
        let (said, origin) = self.told(row, query, &value);
        Some(Reading { said: Some(said), ..Reading::new(value, quality, origin) })
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
