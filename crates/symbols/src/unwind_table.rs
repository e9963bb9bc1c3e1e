//! Function starts from .eh_frame_hdr: present even in stripped objects, so unnamed code can at
//! least be told apart by function.
//!
//! Layout: LSB Core Specification 5.0, "The .eh_frame_hdr section". Only the form that linkers
//! write is read (4-byte signed values relative to the section).

const COUNT_UDATA4: u8 = 0x03;
const TABLE_DATAREL_SDATA4: u8 = 0x3b;
const POINTER_PCREL_SDATA4: u8 = 0x1b;

/// Where functions begin, as distances from the section, which is how the table stores them.
#[derive(Clone, Debug, Default)]
pub(crate) struct FunctionStarts {
    section: u64,
    distances: Vec<i32>,
}

impl FunctionStarts {
    /// Reads the section at virtual address `address`; empty when it has another form.
    pub(crate) fn parse(section: &[u8], address: u64, little_endian: bool) -> FunctionStarts {
        let word = |at: usize| -> Option<u32> {
            let bytes: [u8; 4] = section.get(at..at + 4)?.try_into().ok()?;
            Some(if little_endian { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
        };
        let mut starts = FunctionStarts { section: address, distances: Vec::new() };
        if section.get(..4) != Some(&[1, POINTER_PCREL_SDATA4, COUNT_UDATA4, TABLE_DATAREL_SDATA4]) {
            return starts;
        }
        let count = word(8).unwrap_or(0) as usize;
        let room = section.len().saturating_sub(12) / 8;
        let count = count.min(room);
        starts.distances.reserve_exact(count);
        starts.distances.extend((0..count).filter_map(|i| Some(word(12 + i * 8)? as i32)));
        // The linker sorts the table, but this may be anybody's file.
        starts.distances.sort_unstable();
        starts
    }

    /// Only those that [`FunctionStarts::before`] gives for one of `addresses`, which are sorted.
    pub(crate) fn near(self, addresses: &[u64]) -> FunctionStarts {
        let found = |address: &u64| {
            let start = self.before(*address)?;
            Some(start.wrapping_sub(self.section) as i64 as i32)
        };
        FunctionStarts { section: self.section, distances: addresses.iter().filter_map(found).collect() }
    }

    /// The last function start at or before an address.
    pub(crate) fn before(&self, address: u64) -> Option<u64> {
        let at = |distance: i32| self.section.wrapping_add_signed(i64::from(distance));
        let after = self.distances.partition_point(|d| at(*d) <= address);
        self.distances.get(after.checked_sub(1)?).map(|d| at(*d))
    }

    pub(crate) fn memory(&self) -> usize {
        self.distances.capacity() * size_of::<i32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_table_gives_starts_relative_to_the_section() {
        let mut section = vec![1, 0x1b, 0x03, 0x3b, 0, 0, 0, 0, 2, 0, 0, 0];
        for value in [-0x800i32, 0, 0x100, 0] {
            section.extend(value.to_le_bytes());
        }
        let starts = FunctionStarts::parse(&section, 0x2000, true);
        let found = [0x17ff, 0x1800, 0x20ff, 0x2100, 0x9000].map(|a| starts.before(a));
        assert_eq!(found, [None, Some(0x1800), Some(0x1800), Some(0x2100), Some(0x2100)]);
        section[3] = 0x1b;
        assert_eq!(FunctionStarts::parse(&section, 0x2000, true).memory(), 0);
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(mut bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            for (b, v) in bytes.iter_mut().zip([1u8, 0x1b, 0x03, 0x3b]) { *b = v; }
            let _ = FunctionStarts::parse(&bytes, 0, true).before(0x1000);
        }
    }
}
