//! Function starts from .eh_frame_hdr: present even in stripped objects, so unnamed code can at
//! least be told apart by function.
//!
//! Layout: LSB Core Specification 5.0, "The .eh_frame_hdr section". Only the form that linkers
//! write is read (4-byte signed values relative to the section).

const COUNT_UDATA4: u8 = 0x03;
const TABLE_DATAREL_SDATA4: u8 = 0x3b;
const POINTER_PCREL_SDATA4: u8 = 0x1b;

/// Sorted virtual addresses at which functions begin; empty when there is no table or another form.
///
/// `address` is the virtual address of the section.
pub fn function_starts(section: &[u8], address: u64, little_endian: bool) -> Vec<u64> {
    let word = |at: usize| -> Option<u32> {
        let bytes: [u8; 4] = section.get(at..at + 4)?.try_into().ok()?;
        Some(if little_endian { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    };
    if section.get(..4) != Some(&[1, POINTER_PCREL_SDATA4, COUNT_UDATA4, TABLE_DATAREL_SDATA4]) {
        return Vec::new();
    }
    let count = word(8).unwrap_or(0) as usize;
    let room = section.len().saturating_sub(12) / 8;
    let mut starts: Vec<u64> = (0..count.min(room))
        .filter_map(|i| Some(address.wrapping_add_signed(i64::from(word(12 + i * 8)? as i32))))
        .collect();
    starts.sort_unstable();
    starts
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
        assert_eq!(function_starts(&section, 0x2000, true), [0x1800, 0x2100]);
        section[3] = 0x1b;
        assert!(function_starts(&section, 0x2000, true).is_empty());
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(mut bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            for (b, v) in bytes.iter_mut().zip([1u8, 0x1b, 0x03, 0x3b]) { *b = v; }
            let _ = function_starts(&bytes, 0, true);
        }
    }
}
