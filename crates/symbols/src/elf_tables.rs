//! The symbol tables of an ELF object, without the names.

use crate::names::NameRef;
use object::elf::{SHF_EXECINSTR, STB_LOCAL, STT_FUNC, STT_GNU_IFUNC, STT_NOTYPE};
use object::read::ReadRef;
use object::read::elf::{ElfFile, FileHeader, SectionHeader, Sym, SymbolTable};
use std::ops::Range;

/// A function symbol.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Function {
    pub start: u64,
    name: u32,
    /// 28 bits of size, the table of the name, 3 bits of flaws.
    packed: u32,
}

// A program may have a million of them.
const _: () = assert!(size_of::<Function>() == 16);

/// No function is longer.
const LONGEST: u64 = (1 << 28) - 1;

impl Function {
    fn new(start: u64, size: u64, name: NameRef, flaws: u8) -> Function {
        let packed = size.min(LONGEST) as u32 | u32::from(name.table & 1) << 28 | u32::from(flaws & 7) << 29;
        Function { start, name: name.offset, packed }
    }

    fn size(&self) -> u64 {
        u64::from(self.packed) & LONGEST
    }

    pub(crate) fn end(&self) -> u64 {
        self.start.saturating_add(self.size())
    }

    pub(crate) fn name(&self) -> NameRef {
        NameRef { table: (self.packed >> 28 & 1) as u8, offset: self.name }
    }

    /// 4 for no type, 2 for no size, 1 for local: the fewer, the better the name.
    pub(crate) fn flaws(&self) -> u8 {
        (self.packed >> 29) as u8
    }
}

/// Function symbols of both tables sorted by start, and where in the file their names are.
pub(crate) fn function_symbols<'d, R: ReadRef<'d>>(
    file: &object::File<'d, R>,
) -> (Vec<Function>, [Range<u64>; 2]) {
    match file {
        object::File::Elf32(file) => both_tables(file),
        object::File::Elf64(file) => both_tables(file),
        _ => Default::default(),
    }
}

fn both_tables<'d, Elf: FileHeader, R: ReadRef<'d>>(
    file: &ElfFile<'d, Elf, R>,
) -> (Vec<Function>, [Range<u64>; 2]) {
    let tables = [file.elf_symbol_table(), file.elf_dynamic_symbol_table()];
    let code = code_sections(file);
    // Counted first: room for symbols of data, and room to grow, would be held for good.
    let count = tables.iter().map(|symbols| functions_of(file, symbols, 0, &code).count()).sum();
    let mut functions = Vec::with_capacity(count);
    for (table, symbols) in (0u8..).zip(tables) {
        functions.extend(functions_of(file, symbols, table, &code));
    }
    functions.sort_unstable_by_key(|f: &Function| f.start);
    end_unsized(&mut functions, &code);
    (functions, tables.map(|symbols| names_of(file, symbols)))
}

/// The functions of one table.
fn functions_of<'a, 'd, Elf: FileHeader, R: ReadRef<'d>>(
    file: &'a ElfFile<'d, Elf, R>,
    symbols: &'a SymbolTable<'d, Elf, R>,
    table: u8,
    code: &'a [Option<Range<u64>>],
) -> impl Iterator<Item = Function> + use<'a, 'd, Elf, R> {
    let endian = file.endian();
    symbols.enumerate().filter_map(move |(index, symbol)| {
        let kind = symbol.st_type();
        // Functions written in assembly often have no type and no size.
        if ![STT_FUNC, STT_GNU_IFUNC, STT_NOTYPE].contains(&kind) {
            return None;
        }
        let section = symbols.symbol_section(endian, symbol, index).ok().flatten()?;
        let start: u64 = symbol.st_value(endian).into();
        code.get(section.0)?.as_ref().filter(|section| start < section.end)?;
        let size: u64 = symbol.st_size(endian).into();
        let flaws = u8::from(kind == STT_NOTYPE) * 4
            + u8::from(size == 0) * 2
            + u8::from(symbol.st_bind() == STB_LOCAL);
        Some(Function::new(start, size, NameRef { table, offset: symbol.st_name(endian) }, flaws))
    })
}

/// Addresses of each section that holds code, by index.
fn code_sections<'d, Elf: FileHeader, R: ReadRef<'d>>(file: &ElfFile<'d, Elf, R>) -> Vec<Option<Range<u64>>> {
    let endian = file.endian();
    let range = |section: &Elf::SectionHeader| {
        let flags: u64 = section.sh_flags(endian).0;
        let (start, size): (u64, u64) = (section.sh_addr(endian).into(), section.sh_size(endian).into());
        (flags & SHF_EXECINSTR.0 != 0).then(|| start..start.saturating_add(size))
    };
    file.elf_section_table().iter().map(range).collect()
}

/// Symbols without a size reach to the next address that has a symbol, or to the end of the section.
fn end_unsized(functions: &mut [Function], code: &[Option<Range<u64>>]) {
    let mut next = u64::MAX;
    let mut current = u64::MAX;
    for function in functions.iter_mut().rev() {
        if function.start != current {
            next = current;
            current = function.start;
        }
        if function.size() == 0 {
            let section = code.iter().flatten().find(|section| section.contains(&function.start));
            let end = section.map_or(function.start, |section| section.end);
            let size = next.min(end).saturating_sub(function.start);
            *function = Function::new(function.start, size, function.name(), function.flaws());
        }
    }
}

/// The part of the file that holds a table's names.
fn names_of<'d, Elf: FileHeader, R: ReadRef<'d>>(
    file: &ElfFile<'d, Elf, R>,
    symbols: &SymbolTable<'d, Elf, R>,
) -> Range<u64> {
    let section = file.elf_section_table().section(symbols.string_section()).ok();
    let range = section.and_then(|s| s.file_range(file.endian()));
    range.map_or(0..0, |(offset, size)| offset..offset.saturating_add(size))
}
