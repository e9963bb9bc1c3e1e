//! What a spool remembers of files that are gone: how many rows were dropped, and why.
//!
//! It is kept in two files that are written in turn and in place, so that one of them is whole at any moment, and a disk
//! without room does not keep old files from being dropped. A file is dropped after it was counted: after a crash
//! between the two it is known by its number and not counted again.

use crate::error::AgentError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Bytes of a file of it: a page, written at once.
const SLOT: usize = 4096;
const SLOTS: [&str; 2] = ["spool-a.json", "spool-b.json"];

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
    /// Number below which all files were sent to the store.
    pub sent: u64,
    /// Of what was dropped for age or bytes: what had not been sent, where files are sent.
    pub unsent: Dropped,
    /// Times that nothing was recorded for a while.
    pub gaps: u64,
    /// The generation again: what was written to its end.
    pub whole: u64,
}

impl State {
    /// The newest state that is whole; the empty one of a new folder.
    pub fn load(folder: &Path) -> State {
        let read = |slot: &&str| -> Option<State> {
            let state: State = serde_json::from_slice(&fs::read(folder.join(slot)).ok()?).ok()?;
            (state.whole == state.generation).then_some(state)
        };
        SLOTS.iter().filter_map(read).max_by_key(|state| state.generation).unwrap_or_default()
    }

    /// Writes it beside the one before.
    pub(crate) fn save(&mut self, folder: &Path) -> Result<(), AgentError> {
        let generation = self.generation + 1;
        let path = folder.join(SLOTS[(generation % 2) as usize]);
        let next = State { generation, whole: generation, ..self.clone() };
        next.write(&path).map_err(AgentError::io("write", &path))?;
        *self = next;
        Ok(())
    }

    fn write(&self, path: &PathBuf) -> std::io::Result<()> {
        let mut text = serde_json::to_vec(self).map_err(std::io::Error::other)?;
        text.resize(text.len().next_multiple_of(SLOT), b' ');
        let mut file: File = File::options().write(true).create(true).truncate(false).open(path)?;
        file.write_all(&text)?;
        file.sync_data()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_that_was_cut_gives_way_to_the_one_before() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(State::load(dir.path()), State::default());
        let mut state = State { next: 7, ..State::default() };
        state.save(dir.path()).unwrap();
        state.drop_rows(Reason::Age, Rows { samples: 3, ..Rows::default() });
        state.save(dir.path()).unwrap();
        assert_eq!(State::load(dir.path()), state);
        assert_eq!((state.generation, state.dropped_rows().total()), (2, 3));
        let newest = dir.path().join(SLOTS[0]);
        let text = fs::read(&newest).unwrap();
        assert_eq!(text.len(), SLOT, "written at once");
        fs::write(&newest, &text[..40]).unwrap();
        let before = State::load(dir.path());
        assert_eq!((before.generation, before.next, before.dropped_rows().total()), (1, 7, 0));
    }
}
