//! Symbol names by reference: read from the file when asked for, or from a copy.

use crate::object_bytes::ObjectBytes;
use std::ops::Range;

/// Longer names are cut; C++ templates can reach this.
const LONGEST: usize = 4096;
/// Most names are shorter, so one read does.
const USUAL: usize = 192;

/// Where a name begins: in the table of `.symtab` (0) or of `.dynsym` (1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NameRef {
    pub table: u8,
    pub offset: u32,
}

/// The name tables of one object.
#[derive(Debug, Default)]
pub(crate) struct Names {
    bytes: ObjectBytes,
    tables: [Range<u64>; 2],
}

impl Names {
    /// Of an object that is in memory the names are copied.
    pub(crate) fn new(object: &ObjectBytes, tables: [Range<u64>; 2]) -> Names {
        let (bytes, tables) = object.only(tables);
        Names { bytes, tables }
    }

    pub(crate) fn memory(&self) -> usize {
        self.bytes.memory()
    }

    /// The name, or `None` when it lies outside of its table or is no text.
    pub(crate) fn get(&self, name: NameRef) -> Option<String> {
        let table = self.tables.get(usize::from(name.table))?;
        let start = table.start.checked_add(u64::from(name.offset)).filter(|start| *start < table.end)?;
        let room = usize::try_from(table.end - start).unwrap_or(LONGEST).min(LONGEST);
        let mut bytes = self.read(start, room.min(USUAL))?;
        if !bytes.contains(&0) && room > USUAL {
            bytes = self.read(start, room)?;
        }
        let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
        bytes.truncate(end);
        String::from_utf8(bytes).ok()
    }

    fn read(&self, start: u64, len: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; len];
        self.bytes.read(start, &mut bytes)?;
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_at_their_zero_and_stay_in_their_table() {
        let long = "x".repeat(USUAL + 5);
        let object = format!("##one\0{long}\0##two\0");
        let end = object.len() as u64;
        let tables = [2..end - 6, end - 4..end];
        let names = Names::new(&ObjectBytes::Memory(object.as_bytes().into()), tables);
        let get = |table, offset| names.get(NameRef { table, offset });
        assert_eq!(get(0, 0).as_deref(), Some("one"));
        assert_eq!(get(0, 1).as_deref(), Some("ne"));
        assert_eq!(get(0, 4), Some(long));
        assert_eq!(get(1, 0).as_deref(), Some("two"));
        assert_eq!((get(1, 4), get(1, u32::MAX), get(2, 0)), (None, None, None));
    }
}
