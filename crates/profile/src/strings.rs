//! Interned strings: one copy of each name, ids that compare as integers.
//!
//! Invariant: id 0 is the empty string, and no string is stored twice.

use rustc_hash::FxHasher;
use std::hash::Hasher;

/// Index into a [`StringTable`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StringId(pub u32);

impl StringId {
    pub const EMPTY: StringId = StringId(0);

    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// All strings of a profile in one buffer; `ends[i]` closes string `i`.
#[derive(Clone, Debug)]
pub struct StringTable {
    bytes: String,
    ends: Vec<u32>,
    /// Open-addressing table of ids + 1; 0 is a free slot.
    slots: Vec<u32>,
}

impl Default for StringTable {
    fn default() -> Self {
        let mut table = StringTable { bytes: String::new(), ends: Vec::new(), slots: vec![0; 64] };
        table.intern("");
        table
    }
}

impl StringTable {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        false // the empty string is always there
    }

    /// Bytes held in memory, about.
    pub fn memory(&self) -> usize {
        self.bytes.capacity() + (self.ends.capacity() + self.slots.capacity()) * size_of::<u32>()
    }

    /// The string of an id; the empty string for an id of another table that is out of range.
    pub fn get(&self, id: StringId) -> &str {
        let Some(&end) = self.ends.get(id.index()) else { return "" };
        let start = if id.0 == 0 { 0 } else { self.ends[id.index() - 1] };
        &self.bytes[start as usize..end as usize]
    }

    /// The id of `text`, adding it when it is new.
    ///
    /// The table holds at most 4 GiB of text; beyond that every new string becomes the empty one,
    /// so a hostile file cannot make it panic.
    pub fn intern(&mut self, text: &str) -> StringId {
        let mask = self.slots.len() - 1;
        let mut slot = hash(text) & mask;
        while self.slots[slot] != 0 {
            let id = StringId(self.slots[slot] - 1);
            if self.get(id) == text {
                return id;
            }
            slot = (slot + 1) & mask;
        }
        let Ok(end) = u32::try_from(self.bytes.len() + text.len()) else { return StringId::EMPTY };
        let id = StringId(self.ends.len() as u32);
        self.bytes.push_str(text);
        self.ends.push(end);
        self.slots[slot] = id.0 + 1;
        if self.ends.len() * 2 > self.slots.len() {
            self.grow();
        }
        id
    }

    /// The id of `text` if it is there.
    pub fn find(&self, text: &str) -> Option<StringId> {
        let mask = self.slots.len() - 1;
        let mut slot = hash(text) & mask;
        while self.slots[slot] != 0 {
            let id = StringId(self.slots[slot] - 1);
            if self.get(id) == text {
                return Some(id);
            }
            slot = (slot + 1) & mask;
        }
        None
    }

    pub fn iter(&self) -> impl Iterator<Item = (StringId, &str)> {
        (0..self.ends.len() as u32).map(|i| (StringId(i), self.get(StringId(i))))
    }

    fn grow(&mut self) {
        let size = self.slots.len() * 2;
        let mut slots = vec![0u32; size];
        for id in 0..self.ends.len() as u32 {
            let mut slot = hash(self.get(StringId(id))) & (size - 1);
            while slots[slot] != 0 {
                slot = (slot + 1) & (size - 1);
            }
            slots[slot] = id + 1;
        }
        self.slots = slots;
    }
}

fn hash(text: &str) -> usize {
    let mut hasher = FxHasher::default();
    hasher.write(text.as_bytes());
    let h = hasher.finish();
    (h ^ (h >> 32)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn id_zero_is_the_empty_string() {
        let table = StringTable::default();
        assert_eq!(table.get(StringId(0)), "");
        assert_eq!(table.get(StringId(99)), "");
        assert_eq!(table.find("absent"), None);
    }

    proptest! {
        #[test]
        fn interning_is_injective_and_stable(words in prop::collection::vec(".{0,12}", 0..300)) {
            let mut table = StringTable::default();
            let ids: Vec<StringId> = words.iter().map(|w| table.intern(w)).collect();
            for (word, id) in words.iter().zip(&ids) {
                prop_assert_eq!(table.get(*id), word.as_str());
                prop_assert_eq!(table.intern(word), *id);
                prop_assert_eq!(table.find(word), Some(*id));
            }
            let distinct: std::collections::BTreeSet<&str> = words.iter().map(String::as_str).chain([""]).collect();
            prop_assert_eq!(table.len(), distinct.len());
        }
    }
}
