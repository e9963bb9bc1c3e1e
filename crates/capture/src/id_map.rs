//! From ids of rows to their places in the model, in one probe of memory each.
//!
//! Invariant: ids are hashes of content, but files are written by strangers: the table mixes them with a number of its
//! own, so that nobody can choose ids that all fall into one slot.

use std::hash::{BuildHasher, Hasher, RandomState};

/// A hash table with 64-bit keys; the last value that was inserted for a key counts.
pub struct IdMap {
    /// Key, and the value plus one; 0 is a free slot.
    slots: Vec<(u64, u32)>,
    used: usize,
    seed: u64,
}

impl Default for IdMap {
    fn default() -> IdMap {
        let seed = RandomState::new().build_hasher().finish();
        IdMap { slots: vec![(0, 0); 64], used: 0, seed }
    }
}

impl IdMap {
    pub fn get(&self, id: u64) -> Option<u32> {
        let (_, value) = self.slots[self.slot(id)];
        value.checked_sub(1)
    }

    /// Makes room for more keys.
    pub fn reserve(&mut self, more: usize) {
        let slots = (self.used + more) * 2;
        if slots > self.slots.len() {
            self.grow_to(slots);
        }
    }

    /// `value` is below `u32::MAX`.
    pub fn insert(&mut self, id: u64, value: u32) {
        if (self.used + 1) * 2 > self.slots.len() {
            self.grow_to(self.slots.len() + 1);
        }
        let slot = self.slot(id);
        self.used += usize::from(self.slots[slot].1 == 0);
        self.slots[slot] = (id, value.saturating_add(1));
    }

    /// Where a key is, or would be.
    fn slot(&self, id: u64) -> usize {
        let mask = self.slots.len() - 1;
        let product = u128::from(id ^ self.seed) * 0x9e37_79b9_7f4a_7c15;
        let mut slot = (product as u64 ^ (product >> 64) as u64) as usize & mask;
        while self.slots[slot].1 != 0 && self.slots[slot].0 != id {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow_to(&mut self, least: usize) {
        let size = least.next_power_of_two();
        let slots = std::mem::replace(&mut self.slots, vec![(0, 0); size]);
        for (id, value) in slots.into_iter().filter(|(_, value)| *value != 0) {
            let slot = self.slot(id);
            self.slots[slot] = (id, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn it_holds_what_a_map_of_the_library_holds(
            rows in prop::collection::vec((prop_oneof![0u64..300, any::<u64>()], 0u32..1000), 0..600),
        ) {
            let mut map = IdMap::default();
            let mut known: HashMap<u64, u32> = HashMap::new();
            map.reserve(rows.len() / 2);
            for (id, value) in &rows {
                map.insert(*id, *value);
                known.insert(*id, *value);
            }
            for id in rows.iter().map(|(id, _)| *id).chain(0..300) {
                prop_assert_eq!(map.get(id), known.get(&id).copied());
            }
        }
    }
}
