//! What is mapped where in one process, kept up to date by mmap records.
//!
//! Invariants: mappings never overlap; a new one cuts away what it covers, as the kernel's mmap does. Each
//! costs the logarithm of their number, however hostile the file that tells of them.

use std::collections::BTreeMap;

/// Mappings of a process; `T` names the mapped image (an index, a path, …).
#[derive(Clone, Debug)]
pub struct AddressSpace<T> {
    /// By their first address.
    maps: BTreeMap<u64, Mapping<T>>,
}

/// `len` bytes of `image` from file offset `offset` on, at `start`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewMapping<T> {
    pub start: u64,
    pub len: u64,
    pub offset: u64,
    pub image: T,
}

#[derive(Clone, Copy, Debug)]
pub struct Mapping<T> {
    pub end: u64,
    /// File offset of its first byte.
    pub offset: u64,
    pub image: T,
}

/// What a new mapping means for addresses that had a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// It lies where nothing was.
    None,
    /// What is there already means the same.
    Same,
    /// Some address means something else.
    Other,
}

impl<T> Default for AddressSpace<T> {
    fn default() -> Self {
        AddressSpace { maps: BTreeMap::new() }
    }
}

impl<T: Copy + Eq> AddressSpace<T> {
    pub fn is_empty(&self) -> bool {
        self.maps.is_empty()
    }

    pub fn len(&self) -> usize {
        self.maps.len()
    }

    /// What the mapping would change; one of no bytes, or past the last address, changes nothing.
    pub fn overlap(&self, new: &NewMapping<T>) -> Overlap {
        let Some(end) = new.end() else { return Overlap::Same };
        let mut found = Overlap::None;
        for (at, old) in self.maps.range(..end).rev().take_while(|(_, old)| old.end > new.start) {
            let same =
                old.image == new.image && at.wrapping_sub(old.offset) == new.start.wrapping_sub(new.offset);
            if !same {
                return Overlap::Other;
            }
            let covered = *at <= new.start && old.end >= end;
            found = if covered { Overlap::Same } else { Overlap::Other };
        }
        found
    }

    pub fn map(&mut self, new: NewMapping<T>) {
        let Some(end) = new.end() else { return };
        let hit: Vec<(u64, Mapping<T>)> = self
            .maps
            .range(..end)
            .rev()
            .take_while(|(_, m)| m.end > new.start)
            .map(|(a, m)| (*a, *m))
            .collect();
        for (at, old) in hit {
            self.maps.remove(&at);
            if at < new.start {
                self.maps.insert(at, Mapping { end: new.start, ..old });
            }
            if old.end > end {
                self.maps.insert(end, Mapping { offset: old.offset.wrapping_add(end - at), ..old });
            }
        }
        self.maps.insert(new.start, Mapping { end, offset: new.offset, image: new.image });
    }

    /// First addresses and mappings, in order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, Mapping<T>)> {
        self.maps.iter().map(|(start, map)| (*start, *map))
    }

    /// The image at `address` and the offset in its file.
    pub fn resolve(&self, address: u64) -> Option<(T, u64)> {
        let (start, map) = self.maps.range(..=address).next_back()?;
        (address < map.end).then(|| (map.image, map.offset.wrapping_add(address - start)))
    }
}

impl<T> NewMapping<T> {
    fn end(&self) -> Option<u64> {
        self.start.checked_add(self.len).filter(|end| *end > self.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn put(space: &mut AddressSpace<char>, start: u64, len: u64, offset: u64, image: char) {
        space.map(NewMapping { start, len, offset, image });
    }

    #[test]
    fn a_new_mapping_cuts_what_it_covers() {
        let mut space = AddressSpace::default();
        put(&mut space, 100, 100, 1000, 'a');
        put(&mut space, 140, 20, 0, 'b');
        assert_eq!(space.resolve(99), None);
        assert_eq!(space.resolve(139), Some(('a', 1039)));
        assert_eq!(space.resolve(140), Some(('b', 0)));
        assert_eq!(space.resolve(160), Some(('a', 1060)));
        assert_eq!(space.resolve(200), None);
        put(&mut space, u64::MAX - 5, 100, 0, 'c');
        put(&mut space, 7, 0, 0, 'd');
        assert_eq!(space.len(), 3);
    }

    proptest! {
        /// Against one cell per address.
        #[test]
        fn behaves_as_an_array_of_cells(ops in prop::collection::vec((0u64..60, 1u64..25, 0u64..9, 0usize..3), 0..40)) {
            let mut space = AddressSpace::default();
            let mut cells: Vec<Option<(usize, u64)>> = vec![None; 100];
            for (start, len, offset, image) in ops {
                let new = NewMapping { start, len, offset, image };
                let overlap = space.overlap(&new);
                let before = cells.clone();
                space.map(new);
                for k in 0..len {
                    cells[(start + k) as usize] = Some((image, offset + k));
                }
                let changed = before.iter().zip(&cells).any(|(a, b)| a.is_some() && a != b);
                prop_assert!(overlap == Overlap::Other || !changed);
                prop_assert!(overlap != Overlap::Same || before == cells);
                prop_assert!(overlap != Overlap::None || before != cells);
            }
            for (address, cell) in cells.iter().enumerate() {
                prop_assert_eq!(space.resolve(address as u64), *cell);
            }
            let maps: Vec<_> = space.iter().collect();
            prop_assert!(maps.windows(2).all(|w| w[0].1.end <= w[1].0));
        }
    }
}
