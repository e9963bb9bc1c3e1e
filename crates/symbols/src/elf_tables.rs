//! The symbol tables of an ELF object, without the names.

use crate::names::NameRef;
use object::elf::{SHF_EXECINSTR, STB_LOCAL, STT_FUNC, STT_GNU_IFUNC, STT_NOTYPE};
use object::read::elf::{ElfFile, FileHeader, SectionHeader, Sym, SymbolTable};
use object::read::{ReadRef, SectionIndex};
use std::ops::Range;

/// A function symbol.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Function {
    pub start: u64,
    size: u32,
    pub name: NameRef,
    /// 4 for no type, 2 for no size, 1 for local: the fewer, the better the name.
    pub flaws: u8,
}

impl Function {
    pub(crate) fn end(&self) -> u64 {
        self.start.saturating_add(u64::from(self.size))
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
    let mut functions = Vec::with_capacity(tables.iter().map(|t| t.len()).sum());
    for (table, symbols) in (0u8..).zip(tables) {
        add_table(file, symbols, table, &mut functions);
    }
    functions.sort_unstable_by_key(|f: &(Function, u64)| f.0.start);
    end_unsized(&mut functions);
    let strings = tables.map(|symbols| names_of(file, symbols));
    (functions.into_iter().map(|(f, _)| f).collect(), strings)
}

/// Appends the functions of one table, each with the end of its section.
fn add_table<'d, Elf: FileHeader, R: ReadRef<'d>>(
    file: &ElfFile<'d, Elf, R>,
    symbols: &SymbolTable<'d, Elf, R>,
    table: u8,
    functions: &mut Vec<(Function, u64)>,
) {
    let endian = file.endian();
    for (index, symbol) in symbols.enumerate() {
        let kind = symbol.st_type();
        // Functions written in assembly often have no type and no size.
        if ![STT_FUNC, STT_GNU_IFUNC, STT_NOTYPE].contains(&kind) {
            continue;
        }
        let section = symbols.symbol_section(endian, symbol, index).ok().flatten();
        let start: u64 = symbol.st_value(endian).into();
        let section_end = section.map_or(0, |section| code_end(file, section));
        if section_end <= start {
            continue;
        }
        let size: u64 = symbol.st_size(endian).into();
        let flaws = u8::from(kind == STT_NOTYPE) * 4
            + u8::from(size == 0) * 2
            + u8::from(symbol.st_bind() == STB_LOCAL);
        let size = u32::try_from(size).unwrap_or(u32::MAX);
        let name = NameRef { table, offset: symbol.st_name(endian) };
        functions.push((Function { start, size, name, flaws }, section_end));
    }
}

/// End of an executable section; 0 for all others.
fn code_end<'d, Elf: FileHeader, R: ReadRef<'d>>(file: &ElfFile<'d, Elf, R>, section: SectionIndex) -> u64 {
    let endian = file.endian();
    let Ok(section) = file.elf_section_table().section(section) else { return 0 };
    let flags: u64 = section.sh_flags(endian).0;
    if flags & SHF_EXECINSTR.0 == 0 {
        return 0;
    }
    let (start, size): (u64, u64) = (section.sh_addr(endian).into(), section.sh_size(endian).into());
    start.saturating_add(size)
}

/// Symbols without a size reach to the next address that has a symbol, or to the end of the section.
fn end_unsized(functions: &mut [(Function, u64)]) {
    let mut next = u64::MAX;
    let mut current = u64::MAX;
    for (function, section_end) in functions.iter_mut().rev() {
        if function.start != current {
            next = current;
            current = function.start;
        }
        if function.size == 0 {
            let size = next.min(*section_end).saturating_sub(function.start);
            function.size = u32::try_from(size).unwrap_or(u32::MAX);
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
