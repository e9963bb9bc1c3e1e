//! The answers of all rows to one question, each different answer kept once.

use super::RowId;
use crate::facts::Value;
use rustc_hash::FxHashMap;

/// A column of a table whose rows are datasets, pools or vdevs.
#[derive(Clone, Debug, Default)]
pub struct Column {
    /// By row, an index into `values`.
    pub ids: Vec<u32>,
    values: Vec<Option<Value>>,
}

/// What makes two answers the same.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Unknown,
    Number(u64),
    Truth(bool),
    Text(String),
}

impl Column {
    pub fn of(values: impl Iterator<Item = Option<Value>>) -> Column {
        let mut column = Column::default();
        let mut known: FxHashMap<Key, u32> = FxHashMap::default();
        for value in values {
            let key = match &value {
                None => Key::Unknown,
                Some(Value::Number(n)) => Key::Number(n.to_bits()),
                Some(Value::Truth(b)) => Key::Truth(*b),
                Some(Value::Text(t)) => Key::Text(t.clone()),
            };
            let id = *known.entry(key).or_insert_with(|| {
                column.values.push(value);
                column.values.len() as u32 - 1
            });
            column.ids.push(id);
        }
        column
    }

    pub fn value(&self, row: RowId) -> Option<&Value> {
        self.values.get(*self.ids.get(row as usize)? as usize)?.as_ref()
    }

    /// Whether any row has an answer.
    pub fn tells(&self) -> bool {
        self.values.iter().any(Option::is_some)
    }

    /// How many different answers there are.
    #[cfg(test)]
    pub fn different(&self) -> usize {
        self.values.len()
    }

    /// Whether rows answer differently.
    pub fn differs(&self) -> bool {
        self.values.len() > 1
    }

    /// The answers of other rows, each belonging to one of these, or to none.
    pub fn through(&self, rows: impl Iterator<Item = Option<RowId>>) -> Column {
        Column::of(rows.map(|row| self.value(row?).cloned()))
    }
}
