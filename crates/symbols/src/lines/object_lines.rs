//! The DWARF of one ELF object: address → function, file and line, with inlined functions.
//!
//! Invariant: hostile debug information gives fewer or wrong lines, never a panic; texts are plain
//! data and are escaped where they are shown.

use super::reason::NoLines;
use super::sections::{LaidSection, debug_section, places};
use crate::demangle::demangle;
use addr2line::{Context, Frame};
use gimli::{Dwarf, EndianArcSlice, RunTimeEndian, SectionId};
use object::SectionIndex;
use object::read::{Object, ObjectSymbol, ReadRef};
use std::collections::HashMap;
use std::sync::Arc;

type Reader = EndianArcSlice<RunTimeEndian>;

/// Functions inlined into one another deeper than this are of damaged data.
const DEEPEST: usize = 64;
/// Paths and names longer than this are cut.
const LONGEST_TEXT: usize = 4096;
/// What a lookup by address needs.
const SECTIONS: [&str; 10] = [
    ".debug_abbrev",
    ".debug_addr",
    ".debug_aranges",
    ".debug_info",
    ".debug_line",
    ".debug_line_str",
    ".debug_ranges",
    ".debug_rnglists",
    ".debug_str",
    ".debug_str_offsets",
];

/// One function at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFrame {
    /// Demangled; empty where only the line is known.
    pub function: String,
    /// As the compiler had it, empty where it is not known.
    pub file: String,
    /// Of the instruction, or of the call of what is inlined next; 0 where it is not known.
    pub line: u32,
}

/// Lines of one object.
pub struct ObjectLines {
    context: Context<Reader>,
    places: Vec<LaidSection>,
    /// Section and value of each function of a relocatable object; `None` where a name is used twice.
    functions: HashMap<String, Option<(SectionIndex, u64)>>,
    build_id: Option<Vec<u8>>,
    size: u64,
}

impl std::fmt::Debug for ObjectLines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ObjectLines").field("size", &self.size).finish_non_exhaustive()
    }
}

impl ObjectLines {
    /// Reads the debug information of an ELF object in memory, at most `budget` bytes of it.
    ///
    /// # Errors
    /// When it is no ELF object, or its debug information is not there, too large or damaged; a
    /// path in the reason is empty, as none is known.
    pub fn parse(bytes: &[u8], budget: u64) -> Result<ObjectLines, NoLines> {
        ObjectLines::read(bytes, budget)
    }

    pub(super) fn read<'d, R: ReadRef<'d>>(data: R, budget: u64) -> Result<ObjectLines, NoLines> {
        let damaged = |e: &dyn std::fmt::Display| NoLines::Damaged(e.to_string());
        let file = object::File::parse(data).map_err(|e| damaged(&e))?;
        if !has_dwarf(&file) {
            return Err(NoLines::NoDwarf(Default::default()));
        }
        let places = places(&file);
        let endian = if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
        let mut left = budget;
        let load = |id: SectionId| -> Result<Reader, NoLines> {
            let wanted = SECTIONS.contains(&id.name());
            let bytes =
                if wanted { debug_section(&file, id.name(), &places, &mut left)? } else { Vec::new() };
            Ok(Reader::new(Arc::from(bytes), endian))
        };
        let dwarf = Dwarf::load(load)?;
        let context = Context::from_dwarf(dwarf).map_err(|e| damaged(&e))?;
        let functions = if places.is_empty() { HashMap::new() } else { functions_of(&file) };
        let build_id = file.build_id().ok().flatten().map(<[u8]>::to_vec);
        Ok(ObjectLines { context, places, functions, build_id, size: budget - left })
    }

    pub fn build_id(&self) -> Option<&[u8]> {
        self.build_id.as_deref()
    }

    /// Bytes of debug information held.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The lookup address of a byte of a section of a relocatable object.
    pub fn address_in_section(&self, section: &str, offset: u64) -> Option<u64> {
        let place = self.places.iter().find(|p| p.name == section)?;
        (offset < place.size).then(|| place.base + offset)
    }

    /// The lookup address of a byte of a function of a relocatable object; `None` also where several
    /// functions have the name.
    pub fn address_in_function(&self, function: &str, offset: u64) -> Option<u64> {
        let (section, value) = (*self.functions.get(function)?)?;
        let place = self.places.iter().find(|p| p.index == section)?;
        let offset = value.checked_add(offset).filter(|offset| *offset < place.size)?;
        Some(place.base + offset)
    }

    #[cfg(test)]
    pub(super) fn places_size(&self, section: &str) -> u64 {
        self.places.iter().find(|p| p.name == section).map_or(0, |p| p.size)
    }

    /// What is at an address: the function itself first, then what is inlined, one into the other.
    ///
    /// The address is virtual for a linked object, else one of those above.
    pub fn at(&self, address: u64) -> Vec<SourceFrame> {
        let mut found = Vec::new();
        if address == u64::MAX {
            return found; // no code has it, and a range from it would have no end
        }
        let Ok(mut frames) = self.context.find_frames(address).skip_all_loads() else { return found };
        while let Ok(Some(frame)) = frames.next() {
            found.push(source_frame(&frame));
            if found.len() > DEEPEST {
                return Vec::new();
            }
        }
        found.reverse();
        found
    }
}

fn source_frame(frame: &Frame<'_, Reader>) -> SourceFrame {
    let name = frame.function.as_ref().and_then(|f| Some(cut(&f.raw_name().ok()?)));
    let location = frame.location.as_ref();
    SourceFrame {
        function: name.map(|n| demangle(&n).into_owned()).unwrap_or_default(),
        file: location.and_then(|l| l.file).map(cut).unwrap_or_default(),
        line: location.and_then(|l| l.line).unwrap_or(0),
    }
}

fn cut(text: &str) -> String {
    let mut end = text.len().min(LONGEST_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

/// Debug information that tells functions and lines.
pub(crate) fn has_dwarf<'d, R: ReadRef<'d>>(file: &object::File<'d, R>) -> bool {
    use object::read::ObjectSection;
    let has = |name| file.section_by_name(name).is_some_and(|s| s.size() > 0);
    has(".debug_info") && has(".debug_line")
}

fn functions_of<'d, R: ReadRef<'d>>(
    file: &object::File<'d, R>,
) -> HashMap<String, Option<(SectionIndex, u64)>> {
    let mut functions = HashMap::new();
    for symbol in file.symbols().filter(|s| s.is_definition()) {
        let (Ok(name), Some(section)) = (symbol.name(), symbol.section_index()) else { continue };
        let here = Some((section, symbol.address()));
        functions
            .entry(name.to_owned())
            .and_modify(|known| {
                if *known != here {
                    *known = None
                }
            })
            .or_insert(here);
    }
    functions
}
