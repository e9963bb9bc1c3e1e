//! Names inside one ELF object: file offset → virtual address → function.
//!
//! Invariants: a symbol covers its stated size and no more; one without a size ends at the next
//! symbol or with its section. Data symbols are never answers.

use crate::unwind_table::FunctionStarts;
use object::read::{Object, ObjectSection, ObjectSegment, ObjectSymbol, ReadRef};
use object::{SectionFlags, SymbolKind};

/// Why an object's symbols could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a readable ELF object: {0}")]
pub struct ElfError(pub String);

/// What [`ElfSymbols::resolve`] finds at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElfSymbol<'a> {
    /// A function; its name as in the symbol table (see [`crate::demangle`]) and first address.
    Named { name: &'a str, start: u64 },
    /// No symbol; the address of the function's first byte where the unwind table has it.
    Unnamed { start: Option<u64> },
}

/// Code further from the last known function start belongs to one that the unwind table leaves out.
const LARGEST_UNNAMED: u64 = 64 << 10;

#[derive(Clone, Copy, Debug)]
struct Segment {
    offset: u64,
    size: u64,
    address: u64,
}

#[derive(Clone, Copy, Debug)]
struct Function {
    start: u64,
    end: u64,
    name: u32,
    name_len: u32,
}

/// All function symbols of one object, `.symtab` and `.dynsym` together.
#[derive(Clone, Debug, Default)]
pub struct ElfSymbols {
    segments: Vec<Segment>,
    functions: Vec<Function>,
    names: String,
    starts: FunctionStarts,
    build_id: Option<Vec<u8>>,
}

/// A function symbol before duplicates are removed.
struct Candidate<'a> {
    start: u64,
    size: u64,
    /// Lower is better: typed, sized, global, plain names first.
    rank: (bool, bool, bool, usize, usize),
    name: &'a str,
    section_end: u64,
}

impl ElfSymbols {
    /// Reads the symbol tables of an ELF file, for example a byte slice; see [`crate::load_elf`] for
    /// a file on disk.
    pub fn parse<'d, R: ReadRef<'d>>(data: R) -> Result<ElfSymbols, ElfError> {
        let file = object::File::parse(data).map_err(|e| ElfError(e.to_string()))?;
        let mut symbols = ElfSymbols {
            segments: file
                .segments()
                .map(|s| {
                    let (offset, size) = s.file_range();
                    Segment { offset, size, address: s.address() }
                })
                .collect(),
            build_id: file.build_id().ok().flatten().map(<[u8]>::to_vec),
            ..ElfSymbols::default()
        };
        symbols.add(candidates(&file));
        // Only stripped code needs them, and large programs have millions.
        if file.symbols().next().is_none() {
            symbols.starts = unwind_starts(&file);
        }
        Ok(symbols)
    }

    /// Takes the function names of `other`, the separate debug file of the same object.
    pub fn take_names(&mut self, other: ElfSymbols) {
        if other.functions.len() > self.functions.len() {
            self.functions = other.functions;
            self.names = other.names;
        }
    }

    pub fn build_id(&self) -> Option<&[u8]> {
        self.build_id.as_deref()
    }

    /// Number of function symbols.
    pub fn len(&self) -> usize {
        self.functions.len()
    }

    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// Bytes held in memory, about.
    pub fn memory(&self) -> usize {
        self.functions.len() * size_of::<Function>() + self.names.len() + self.starts.memory()
    }

    /// Virtual address of a byte of the file, by the program headers.
    pub fn address_of_offset(&self, offset: u64) -> Option<u64> {
        // Mappings are whole pages, so code near a segment's edge can be seen a page outside of it;
        // the segment that truly holds the byte goes first.
        let holds = |s: &&Segment| offset >= s.offset && offset - s.offset < s.size;
        let segment = self.segments.iter().find(holds)?;
        Some(segment.address.wrapping_add(offset - segment.offset))
    }

    /// The function at a virtual address.
    pub fn resolve(&self, address: u64) -> ElfSymbol<'_> {
        let after = self.functions.partition_point(|f| f.start <= address);
        // A symbol may lie inside another (local labels in assembly), so look a few back.
        let covering = self.functions.iter().take(after).rev().take(16).find(|f| address < f.end);
        if let Some(function) = covering {
            let from = function.name as usize;
            let name = self.names.get(from..from + function.name_len as usize).unwrap_or("");
            return ElfSymbol::Named { name, start: function.start };
        }
        let start = self.starts.before(address);
        ElfSymbol::Unnamed { start: start.filter(|start| address - start < LARGEST_UNNAMED) }
    }

    fn add(&mut self, mut found: Vec<Candidate<'_>>) {
        found.sort_by(|a, b| (a.start, a.rank, a.name).cmp(&(b.start, b.rank, b.name)));
        found.dedup_by_key(|c| c.start);
        for (i, candidate) in found.iter().enumerate() {
            let end = match candidate.size {
                0 => found.get(i + 1).map_or(candidate.section_end, |n| n.start.min(candidate.section_end)),
                size => candidate.start.saturating_add(size),
            };
            let (Ok(name), Ok(name_len)) =
                (u32::try_from(self.names.len()), u32::try_from(candidate.name.len()))
            else {
                return;
            };
            self.names.push_str(candidate.name);
            self.functions.push(Function { start: candidate.start, end, name, name_len });
        }
        self.names.shrink_to_fit();
        self.functions.shrink_to_fit();
    }
}

fn candidates<'d, 'f, R: ReadRef<'d>>(file: &'f object::File<'d, R>) -> Vec<Candidate<'f>> {
    // End of each executable section, by section index; 0 for all others.
    let mut code_ends = Vec::new();
    for section in file.sections() {
        let index = section.index().0;
        if code_ends.len() <= index {
            code_ends.resize(index + 1, 0u64);
        }
        if let SectionFlags::Elf { sh_flags, .. } = section.flags()
            && sh_flags.0 & object::elf::SHF_EXECINSTR.0 != 0
        {
            code_ends[index] = section.address().saturating_add(section.size());
        }
    }
    let code_end = |s: &object::read::Symbol<'d, 'f, R>| {
        s.section_index().and_then(|i| code_ends.get(i.0)).copied().unwrap_or(0)
    };
    file.symbols()
        .chain(file.dynamic_symbols())
        .filter_map(|symbol| {
            let section_end = code_end(&symbol);
            let typed = symbol.kind() == SymbolKind::Text;
            // Functions written in assembly often have no type and no size.
            if !(typed || symbol.kind() == SymbolKind::Unknown) || section_end <= symbol.address() {
                return None;
            }
            let name = symbol.name().ok().filter(|n| !n.is_empty() && !n.starts_with(".L"))?;
            if name.starts_with('$') {
                return None; // marks a kind of code on ARM
            }
            let underscores = name.bytes().take_while(|b| *b == b'_').count();
            let mangled = name.starts_with("_Z") || name.starts_with("_R");
            let rank = (
                !typed,
                symbol.size() == 0,
                !symbol.is_global(),
                if mangled { 0 } else { underscores },
                name.len(),
            );
            Some(Candidate { start: symbol.address(), size: symbol.size(), rank, name, section_end })
        })
        .collect()
}

fn unwind_starts<'d, R: ReadRef<'d>>(file: &object::File<'d, R>) -> FunctionStarts {
    let Some(section) = file.section_by_name(".eh_frame_hdr") else { return FunctionStarts::default() };
    let data = section.data().unwrap_or_default();
    FunctionStarts::parse(data, section.address(), file.is_little_endian())
}

#[cfg(test)]
#[path = "elf_tests.rs"]
mod tests;
