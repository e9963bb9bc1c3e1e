//! What a spool remembers of files that are gone: how many rows were dropped, and why.
//!
//! It is kept in slots, so that a disk without room does not keep old files from being dropped. A file is dropped after it
//! was counted: after a crash between the two it is known by its number and not counted again.

use super::slots::{self, Slotted};
use crate::error::AgentError;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use zwhy_capture::{Mark, Series};
use zwhy_profile::Samples;

/// Why rows are not in the spool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Older than what is kept.
    Age,
    /// More than what is kept.
    Bytes,
    /// The disk was full, or refused.
    NotWritten,
}

impl Reason {
    pub const ALL: [Reason; 3] = [Reason::Age, Reason::Bytes, Reason::NotWritten];

    pub fn name(self) -> &'static str {
        match self {
            Reason::Age => "age",
            Reason::Bytes => "bytes",
            Reason::NotWritten => "not_written",
        }
    }
}

/// Rows of what was observed; those of names are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rows {
    pub samples: u64,
    pub series: u64,
    pub marks: u64,
}

impl Rows {
    /// Of the tables of a capture.
    pub fn of(tables: &BTreeMap<String, u64>) -> Rows {
        let rows = |table: &str| tables.get(table).copied().unwrap_or(0);
        Rows { samples: rows("samples"), series: rows("series"), marks: rows("marks") }
    }

    /// Of samples, readings and marks.
    pub(crate) fn held(samples: &Samples, series: &Series, marks: &[Mark]) -> Rows {
        let [samples, series, marks] = [samples.len(), series.len(), marks.len()].map(|rows| rows as u64);
        Rows { samples, series, marks }
    }

    pub fn total(&self) -> u64 {
        self.samples + self.series + self.marks
    }

    pub fn add(&mut self, more: Rows) {
        self.samples += more.samples;
        self.series += more.series;
        self.marks += more.marks;
    }
}

/// What was dropped for one reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Dropped {
    pub files: u64,
    /// Files of which nobody could tell the rows.
    pub unreadable: u64,
    #[serde(flatten)]
    pub rows: Rows,
}

impl Dropped {
    /// A file more; its rows, where they can be told.
    pub(crate) fn add_file(&mut self, rows: Option<Rows>) {
        self.files += 1;
        match rows {
            Some(rows) => self.rows.add(rows),
            None => self.unreadable += 1,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    pub generation: u64,
    /// Number of the oldest file that is kept: all before were dropped and are counted.
    pub first: u64,
    /// Number of the next file.
    pub next: u64,
    pub dropped: BTreeMap<Reason, Dropped>,
    /// Number below which all files were sent to the store or are among those that were passed.
    pub sent: u64,
    /// Files in the spool that could not be read, so that they were not sent; they are counted as unsent when they are
    /// dropped.
    pub passed: BTreeSet<u64>,
    /// Of what was dropped for age or bytes: what had not been sent, where files are sent.
    pub unsent: Dropped,
    /// Times that nothing was recorded for a while.
    pub gaps: u64,
    /// The generation again: what was written to its end.
    pub whole: u64,
}

impl Slotted for State {
    const SLOTS: [&'static str; 2] = ["spool-a.json", "spool-b.json"];

    fn generations(&mut self) -> (&mut u64, &mut u64) {
        (&mut self.generation, &mut self.whole)
    }
}

impl State {
    /// The newest state that is whole; the empty one of a new folder.
    pub fn load(folder: &Path) -> State {
        slots::load(folder)
    }

    /// Writes it beside the one before.
    pub(crate) fn save(&mut self, folder: &Path) -> Result<(), AgentError> {
        slots::save(self, folder)
    }

    pub(crate) fn drop_rows(&mut self, reason: Reason, rows: Rows) {
        self.dropped.entry(reason).or_default().rows.add(rows);
    }

    /// Rows that were dropped, for whatever reason.
    pub fn dropped_rows(&self) -> Rows {
        let mut all = Rows::default();
        self.dropped.values().for_each(|dropped| all.add(dropped.rows));
        all
    }
}
