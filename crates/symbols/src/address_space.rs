//! What is mapped where in one process, kept up to date by mmap records.
//!
//! Invariant: mappings are sorted by start and never overlap; a new one cuts away what it covers,
//! as the kernel's mmap does.

/// Mappings of a process; `T` names the mapped image (an index, a path, …).
#[derive(Clone, Debug)]
pub struct AddressSpace<T> {
    maps: Vec<Mapping<T>>,
}

#[derive(Clone, Copy, Debug)]
struct Mapping<T> {
    start: u64,
    end: u64,
    /// File offset of `start`.
    offset: u64,
    image: T,
}

impl<T> Default for AddressSpace<T> {
    fn default() -> Self {
        AddressSpace { maps: Vec::new() }
    }
}

impl<T: Copy> AddressSpace<T> {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn is_empty(&self) -> bool {
        self.maps.is_empty()
    }

    pub fn len(&self) -> usize {
        self.maps.len()
    }

    /// Maps `len` bytes of `image` from file offset `offset` at `start`.
    pub fn map(&mut self, start: u64, len: u64, offset: u64, image: T) {
        let Some(end) = start.checked_add(len).filter(|end| *end > start) else { return };
        let first = self.maps.partition_point(|m| m.end <= start);
        let past = self.maps.partition_point(|m| m.start < end);
        let mut replacement = Vec::with_capacity(3);
        if let Some(left) = self.maps.get(first).filter(|m| first < past && m.start < start) {
            replacement.push(Mapping { end: start, ..*left });
        }
        replacement.push(Mapping { start, end, offset, image });
        if let Some(right) =
            past.checked_sub(1).and_then(|i| self.maps.get(i)).filter(|m| first < past && m.end > end)
        {
            let cut = end - right.start;
            replacement.push(Mapping { start: end, offset: right.offset.wrapping_add(cut), ..*right });
        }
        self.maps.splice(first..past, replacement);
    }

    /// The image of every mapping.
    pub fn images(&self) -> impl Iterator<Item = T> {
        self.maps.iter().map(|m| m.image)
    }

    /// Forgets everything, as exec does.
    pub fn clear(&mut self) {
        self.maps.clear();
    }

    /// The image at `address` and the offset in its file.
    pub fn resolve(&self, address: u64) -> Option<(T, u64)> {
        let after = self.maps.partition_point(|m| m.start <= address);
        let map = self.maps.get(after.checked_sub(1)?)?;
        (address < map.end).then(|| (map.image, map.offset.wrapping_add(address - map.start)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_new_mapping_cuts_what_it_covers() {
        let mut space = AddressSpace::new();
        space.map(100, 100, 1000, 'a');
        space.map(140, 20, 0, 'b');
        assert_eq!(space.resolve(99), None);
        assert_eq!(space.resolve(139), Some(('a', 1039)));
        assert_eq!(space.resolve(140), Some(('b', 0)));
        assert_eq!(space.resolve(160), Some(('a', 1060)));
        assert_eq!(space.resolve(200), None);
        space.map(u64::MAX - 5, 100, 0, 'c');
        space.map(7, 0, 0, 'd');
        assert_eq!(space.len(), 3);
    }

    proptest! {
        /// Against one cell per address.
        #[test]
        fn behaves_as_an_array_of_cells(ops in prop::collection::vec((0u64..60, 1u64..25, 0u64..100), 0..40)) {
            let mut space = AddressSpace::new();
            let mut cells: Vec<Option<(usize, u64)>> = vec![None; 100];
            for (i, (start, len, offset)) in ops.iter().enumerate() {
                space.map(*start, *len, *offset, i);
                for k in 0..*len {
                    cells[(start + k) as usize] = Some((i, offset + k));
                }
            }
            for (address, cell) in cells.iter().enumerate() {
                prop_assert_eq!(space.resolve(address as u64), *cell);
            }
            prop_assert!(space.maps.windows(2).all(|w| w[0].end <= w[1].start));
        }
    }
}
