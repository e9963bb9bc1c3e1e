//! The file that is being sent, on disk before its first byte leaves: whatever ends the agent, the next one knows which keys
//! may be in the store, and takes them out again when the file was dropped meanwhile and is counted as not sent.

use crate::error::AgentError;
use crate::spool::slots::{self, Slotted};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use zwhy_capture::{entry_parts, shipped_key};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct UnderWay {
    generation: u64,
    pub number: u64,
    /// All of it is in the store, or nothing of it: nothing has to be taken out again.
    pub settled: bool,
    /// Number below which all files were sent.
    sent: u64,
    host: String,
    start_ms: i64,
    /// Parts of each table.
    parts: BTreeMap<String, Vec<u32>>,
    whole: u64,
}

impl Slotted for UnderWay {
    const SLOTS: [&'static str; 2] = ["sending-a.json", "sending-b.json"];

    fn generations(&mut self) -> (&mut u64, &mut u64) {
        (&mut self.generation, &mut self.whole)
    }
}

impl UnderWay {
    /// What the last agent was at; settled where it was at nothing.
    pub(crate) fn load(folder: &Path) -> UnderWay {
        let found: UnderWay = slots::load(folder);
        UnderWay { settled: found.settled || found.parts.is_empty(), ..found }
    }

    /// Begins with the file `path`; what was there before has to be settled.
    pub(crate) fn begin(
        &mut self,
        folder: &Path,
        number: u64,
        path: &Path,
        (host, start_ms): (&str, i64),
    ) -> Result<(), AgentError> {
        let mut parts: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for (table, part) in entry_parts(path)? {
            parts.entry(table).or_default().push(part);
        }
        let UnderWay { generation, sent, whole, .. } = *self;
        let host = host.to_owned();
        let mut next = UnderWay { generation, number, settled: false, sent, host, start_ms, parts, whole };
        slots::save(&mut next, folder)?;
        *self = next;
        Ok(())
    }

    /// All of it is in the store (`sent`), or nothing. Where the disk does not take this down, the next agent sends it, or
    /// takes it out, once more.
    pub(crate) fn settle(&mut self, sent: bool, folder: &Path) {
        self.settled = true;
        if sent {
            self.sent = self.number + 1;
        }
        let _ = slots::save(self, folder);
    }

    pub(crate) fn key(&self, table: &str, part: u32) -> String {
        shipped_key(table, &self.host, self.start_ms, &format!("{:08}", self.number), part)
    }

    /// The next key that has to be taken out of the store; the facts first, so that nobody takes the rest for whole.
    pub(crate) fn first_key(&self) -> Option<String> {
        let (table, parts) = self.parts.iter().find(|(_, parts)| !parts.is_empty())?;
        parts.last().map(|part| self.key(table, *part))
    }

    /// That one is out of the store.
    pub(crate) fn pop_first_key(&mut self) {
        if let Some(parts) = self.parts.values_mut().find(|parts| !parts.is_empty()) {
            parts.pop();
        }
    }
}

/// Number below which all files were sent, as far as the last agent noted it.
pub(crate) fn sent_up_to(folder: &Path) -> u64 {
    UnderWay::load(folder).sent
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_facts_are_taken_out_first() {
        let parts = [("facts", vec![0]), ("samples", vec![0, 1])];
        let mut under_way = UnderWay {
            number: 7,
            host: "db7".to_owned(),
            parts: parts.map(|(table, parts)| (table.to_owned(), parts)).into(),
            ..UnderWay::default()
        };
        let mut keys = Vec::new();
        while let Some(key) = under_way.first_key() {
            under_way.pop_first_key();
            keys.push(key);
        }
        let of = |table, part| shipped_key(table, "db7", 0, "00000007", part);
        assert_eq!(keys, [of("facts", 0), of("samples", 1), of("samples", 0)]);
    }

    #[test]
    fn a_folder_without_one_has_nothing_to_take_out() {
        let dir = tempfile::tempdir().unwrap();
        assert!(UnderWay::load(dir.path()).settled);
        assert_eq!(sent_up_to(dir.path()), 0);
        let mut under_way = UnderWay { number: 41, ..UnderWay::default() };
        under_way.settle(true, dir.path());
        assert_eq!(sent_up_to(dir.path()), 42);
        under_way.number = 42;
        under_way.settle(false, dir.path());
        assert_eq!(sent_up_to(dir.path()), 42);
    }
}
