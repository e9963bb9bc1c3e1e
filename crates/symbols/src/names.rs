//! Symbol names by reference: read from the file when asked for, or from a copy.

use crate::at::read_exact_at;
use std::fs::File;
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
    file: Option<File>,
    /// Parts of the file; without one, of `copy`.
    tables: [Range<u64>; 2],
    copy: Vec<u8>,
}

impl Names {
    pub(crate) fn in_file(file: File, tables: [Range<u64>; 2]) -> Names {
        Names { file: Some(file), tables, copy: Vec::new() }
    }

    /// Copies the tables out of a whole object.
    pub(crate) fn copied(object: &[u8], tables: [Range<u64>; 2]) -> Names {
        let mut copy = Vec::new();
        let tables = tables.map(|range| {
            let part = usize::try_from(range.start).ok().zip(usize::try_from(range.end).ok());
            let bytes = part.and_then(|(start, end)| object.get(start..end)).unwrap_or_default();
            let from = copy.len() as u64;
            copy.extend_from_slice(bytes);
            from..copy.len() as u64
        });
        Names { file: None, tables, copy }
    }

    pub(crate) fn memory(&self) -> usize {
        self.copy.len()
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
        match &self.file {
            Some(file) => {
                let mut bytes = vec![0; len];
                read_exact_at(file, &mut bytes, start).ok()?;
                Some(bytes)
            }
            None => {
                let start = usize::try_from(start).ok()?;
                Some(self.copy.get(start..start.checked_add(len)?)?.to_vec())
            }
        }
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
        let names = Names::copied(object.as_bytes(), tables);
        let get = |table, offset| names.get(NameRef { table, offset });
        assert_eq!(get(0, 0).as_deref(), Some("one"));
        assert_eq!(get(0, 1).as_deref(), Some("ne"));
        assert_eq!(get(0, 4), Some(long));
        assert_eq!(get(1, 0).as_deref(), Some("two"));
        assert_eq!((get(1, 4), get(1, u32::MAX), get(2, 0)), (None, None, None));
    }
}
