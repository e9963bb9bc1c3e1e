//! From a function's name to where its first byte is in the file: what a probe needs.
//!
//! Invariant: only functions that the object itself defines are answers, with an offset that lies in
//! one of its loaded segments.

use crate::file_reader::FileReader;
use crate::load::debug_file;
use crate::reason::Reason;
use object::elf::STT_GNU_IFUNC;
use object::read::{Object, ObjectSegment, ObjectSymbol};
use object::{SymbolFlags, SymbolKind};
use std::collections::BTreeMap;
use std::path::Path;

/// A function of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionPoint {
    /// As in the symbol table; see [`crate::demangle`].
    pub name: String,
    /// Of its first byte in the file.
    pub offset: u64,
    /// The symbol is a resolver that picks the real function when the program is linked
    /// (`STT_GNU_IFUNC`).
    pub indirect: bool,
}

/// A loaded part of the file: offset, size and virtual address.
type Segment = (u64, u64, u64);

/// All functions of an ELF object by name, with those of its separate debug file.
///
/// # Errors
/// When the file cannot be opened or is no ELF object.
pub fn function_points(path: &Path) -> Result<Vec<FunctionPoint>, Reason> {
    let (reader, _) = FileReader::open(path).ok_or(Reason::Unreadable)?;
    let file = object::File::parse(&reader).map_err(|_| Reason::NotElf)?;
    let segments: Vec<Segment> = file
        .segments()
        .map(|s| {
            let (offset, size) = s.file_range();
            (offset, size, s.address())
        })
        .collect();
    let mut points = BTreeMap::new();
    add(&file, &segments, &mut points);
    if let Some(build_id) = file.build_id().ok().flatten()
        && let Some(debug) = debug_file(build_id)
        && let Some((reader, _)) = FileReader::open(&debug)
        && let Ok(separate) = object::File::parse(&reader)
        && separate.build_id().ok().flatten() == Some(build_id)
    {
        add(&separate, &segments, &mut points);
    }
    Ok(points.into_values().collect())
}

fn add<'d, R: object::ReadRef<'d>>(
    file: &object::File<'d, R>,
    segments: &[Segment],
    points: &mut BTreeMap<(String, u64), FunctionPoint>,
) {
    for symbol in file.symbols().chain(file.dynamic_symbols()) {
        if symbol.is_undefined() || symbol.kind() != SymbolKind::Text {
            continue;
        }
        let (Ok(name), address) = (symbol.name(), symbol.address()) else { continue };
        let holds = |s: &&Segment| address >= s.2 && address - s.2 < s.1;
        let Some((offset, _, start)) = segments.iter().find(holds) else { continue };
        let offset = offset.wrapping_add(address - start);
        let indirect =
            matches!(symbol.flags(), SymbolFlags::Elf { st_info, .. } if st_info.st_type() == STT_GNU_IFUNC);
        let point = FunctionPoint { name: name.to_owned(), offset, indirect };
        points.entry((point.name.clone(), offset)).or_insert(point);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_this_program_have_offsets() {
        let points = function_points(&std::env::current_exe().unwrap()).unwrap();
        let here = points.iter().find(|p| p.name.contains("functions_of_this_program_have_offsets"));
        assert!(here.is_some_and(|p| p.offset > 0 && !p.indirect), "{} functions", points.len());
    }

    #[test]
    fn what_is_no_object_says_so() {
        assert_eq!(function_points(Path::new("/")), Err(Reason::Unreadable));
        assert_eq!(function_points(Path::new("/proc/self/status")), Err(Reason::NotElf));
    }
}
