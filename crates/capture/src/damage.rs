//! What could not be read from a capture, counted.

use serde::Serialize;
use std::collections::BTreeMap;

/// Empty for a whole capture.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Damage {
    /// Rows known to have been written but not readable, by table.
    pub lost_rows: BTreeMap<String, u64>,
    /// Files or entries that could not be read: name and why.
    pub unreadable: Vec<(String, String)>,
    /// Rows whose stack, frame or thread is missing, by table; samples among them are kept with
    /// an unknown stack or thread.
    pub dangling: BTreeMap<String, u64>,
    /// The recorder did not end: the folder was opened as it is.
    pub unfinished: bool,
}

impl Damage {
    pub fn is_empty(&self) -> bool {
        self.lost_rows.is_empty() && self.unreadable.is_empty() && self.dangling.is_empty()
    }

    /// What is not there, in sentences; `unreadable` says it of files and entries.
    pub(crate) fn sentences(&self, unreadable: impl IntoIterator<Item = String>) -> Vec<String> {
        let unfinished = "the recorder did not end; what it wrote until then is shown".to_owned();
        let mut out = Vec::from_iter(self.unfinished.then_some(unfinished));
        out.extend(unreadable);
        out.extend(
            self.lost_rows.iter().map(|(table, rows)| format!("{rows} rows of table {table} are lost")),
        );
        out.extend(self.dangling.iter().map(|(table, rows)| {
            format!("{rows} rows of table {table} refer to lost rows and are shown as unknown")
        }));
        out
    }

    pub(crate) fn lost(&mut self, table: &str, rows: u64) {
        if rows > 0 {
            *self.lost_rows.entry(table.to_owned()).or_default() += rows;
        }
    }

    pub(crate) fn dangle(&mut self, table: &str, rows: u64) {
        if rows > 0 {
            *self.dangling.entry(table.to_owned()).or_default() += rows;
        }
    }

    pub(crate) fn unreadable(&mut self, name: &str, why: impl ToString) {
        self.unreadable.push((name.to_owned(), why.to_string()));
    }
}
