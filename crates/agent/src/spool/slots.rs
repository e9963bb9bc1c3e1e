//! A small record that survives whatever ends the agent: in two files that are written in turn and in place, so that one of
//! them is whole at any moment, and a disk without room does not keep it from being written.

use crate::error::AgentError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

/// Bytes of a file: a page, written at once.
const SLOT: usize = 4096;

pub(crate) trait Slotted: Clone + Default + Serialize + DeserializeOwned {
    /// Names of the two files.
    const SLOTS: [&'static str; 2];

    /// The number of this version, which is the first field, and the same again, which is the last: what was written to
    /// its end has both.
    fn generations(&mut self) -> (&mut u64, &mut u64);
}

/// The newest version that is whole; the default where there is none.
pub(crate) fn load<T: Slotted>(folder: &Path) -> T {
    let read = |slot: &&str| -> Option<(u64, T)> {
        let mut record: T = serde_json::from_slice(&fs::read(folder.join(slot)).ok()?).ok()?;
        let (generation, whole) = record.generations();
        let (generation, whole) = (*generation, *whole);
        (whole == generation).then_some((generation, record))
    };
    let newest = T::SLOTS.iter().filter_map(read).max_by_key(|(generation, _)| *generation);
    newest.map_or_else(T::default, |(_, record)| record)
}

/// Writes the next version beside the one before; on disk when this returns.
pub(crate) fn save<T: Slotted>(record: &mut T, folder: &Path) -> Result<(), AgentError> {
    let mut next = record.clone();
    let (first, last) = next.generations();
    let generation = *first + 1;
    (*first, *last) = (generation, generation);
    let path = folder.join(T::SLOTS[(generation % 2) as usize]);
    write(&next, &path).map_err(AgentError::io("write", &path))?;
    *record = next;
    Ok(())
}

fn write(record: &impl Serialize, path: &Path) -> std::io::Result<()> {
    let mut text = serde_json::to_vec(record).map_err(std::io::Error::other)?;
    text.resize(text.len().next_multiple_of(SLOT), b' ');
    let mut file: File = File::options().write(true).create(true).truncate(false).open(path)?;
    file.write_all(&text)?;
    // The version that was here before may have been longer.
    file.set_len(text.len() as u64)?;
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spool::{Reason, Rows, State};

    #[test]
    fn a_record_that_was_cut_gives_way_to_the_one_before() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(State::load(dir.path()), State::default());
        let mut state = State { next: 7, ..State::default() };
        state.save(dir.path()).unwrap();
        state.drop_rows(Reason::Age, Rows { samples: 3, ..Rows::default() });
        state.save(dir.path()).unwrap();
        assert_eq!(State::load(dir.path()), state);
        assert_eq!((state.generation, state.dropped_rows().total()), (2, 3));
        let newest = dir.path().join(State::SLOTS[0]);
        let text = fs::read(&newest).unwrap();
        assert_eq!(text.len(), SLOT, "written at once");
        fs::write(&newest, &text[..40]).unwrap();
        let before = State::load(dir.path());
        assert_eq!((before.generation, before.next, before.dropped_rows().total()), (1, 7, 0));
    }
}
