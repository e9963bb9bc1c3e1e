//! What an ELF object says of its parts: segments, code, and where its tables are.
//!
//! Invariant: it holds a few hundred bytes, however large the object is.

use crate::elf::ElfError;
use crate::object_bytes::ObjectBytes;
use object::elf::{
    FileHeader32, FileHeader64, NT_GNU_BUILD_ID, PT_GNU_EH_FRAME, SHF_EXECINSTR, SHT_DYNSYM, SHT_PROGBITS,
    SHT_SYMTAB,
};
use object::read::elf::{FileHeader, NoteIterator, ProgramHeader, SectionHeader, SectionTable};
use object::{Endianness, FileKind, ReadRef};
use std::ops::Range;

/// Names of sections are some hundred bytes.
const MOST_SECTION_NAMES: u64 = 1 << 20;
const ELF_NOTE_GNU: &[u8] = b"GNU";

#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub offset: u64,
    pub size: u64,
    pub address: u64,
}

/// A symbol table: its symbols and their names, as parts of the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub symbols: Range<u64>,
    pub names: Range<u64>,
}

#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub segments: Vec<Segment>,
    /// Addresses of each section that holds code, by index.
    pub code: Vec<Option<Range<u64>>>,
    /// `.symtab` and `.dynsym`.
    pub tables: [Table; 2],
    /// 64 bits.
    pub wide: bool,
    pub endian: Endianness,
    pub build_id: Option<Vec<u8>>,
    /// `.eh_frame_hdr`: where it is, and its address.
    pub unwind: Option<(Range<u64>, u64)>,
    /// `.gnu_debugdata` of an object without `.symtab`.
    pub packed: Option<Range<u64>>,
}

impl Head {
    pub(crate) fn parse<'d, R: ReadRef<'d>>(data: R, bytes: &ObjectBytes) -> Result<Head, ElfError> {
        let head = match FileKind::parse(data) {
            Ok(FileKind::Elf32) => Head::of::<FileHeader32<Endianness>, R>(data, bytes),
            Ok(FileKind::Elf64) => Head::of::<FileHeader64<Endianness>, R>(data, bytes),
            Ok(_) => return Err(ElfError("another kind of object".to_owned())),
            Err(error) => Err(error),
        };
        head.map_err(|e| ElfError(e.to_string()))
    }

    fn of<'d, Elf: FileHeader<Endian = Endianness>, R: ReadRef<'d>>(
        data: R,
        bytes: &ObjectBytes,
    ) -> object::Result<Head> {
        let header = Elf::parse(data)?;
        let endian = header.endian()?;
        let programs = header.program_headers(endian, data)?;
        let sections = header.sections(endian, data)?;
        let segments = programs.iter().filter(|p| p.p_type(endian) == object::elf::PT_LOAD).map(|p| {
            let (offset, size) = p.file_range(endian);
            Segment { offset, size, address: p.p_vaddr(endian).into() }
        });
        let code = sections.iter().map(|section| {
            let flags: u64 = section.sh_flags(endian).0;
            let (start, size): (u64, u64) = (section.sh_addr(endian).into(), section.sh_size(endian).into());
            (flags & SHF_EXECINSTR.0 != 0).then(|| start..start.saturating_add(size))
        });
        let unwind = programs.iter().find(|p| p.p_type(endian) == PT_GNU_EH_FRAME);
        let tables = [SHT_SYMTAB, SHT_DYNSYM].map(|kind| table(&sections, endian, kind));
        let stripped = tables[0].symbols.is_empty();
        Ok(Head {
            segments: segments.collect(),
            code: code.collect(),
            wide: header.is_type_64(),
            endian,
            build_id: build_id(programs, &sections, endian, data),
            unwind: unwind.map(|p| (range_of(p.file_range(endian)), p.p_vaddr(endian).into())),
            packed: stripped.then(|| packed(header, &sections, endian, data, bytes)).flatten(),
            tables,
        })
    }

    /// Symbols of both tables, of data included.
    pub(crate) fn symbols(&self) -> u64 {
        let size = if self.wide { 24 } else { 16 };
        self.tables.iter().map(|table| (table.symbols.end - table.symbols.start) / size).sum()
    }

    /// Nothing but what other objects link with has a name.
    pub(crate) fn is_stripped(&self) -> bool {
        self.tables[0].symbols.is_empty()
    }

    pub(crate) fn names(&self) -> [Range<u64>; 2] {
        self.tables.each_ref().map(|table| table.names.clone())
    }

    /// Virtual address of a byte of the file, by the program headers.
    pub(crate) fn address_of_offset(&self, offset: u64) -> Option<u64> {
        address_of(&self.segments, offset)
    }
}

pub(crate) fn address_of(segments: &[Segment], offset: u64) -> Option<u64> {
    let holds = |s: &&Segment| offset >= s.offset && offset - s.offset < s.size;
    let segment = segments.iter().find(holds)?;
    Some(segment.address.wrapping_add(offset - segment.offset))
}

fn range_of((offset, size): (u64, u64)) -> Range<u64> {
    offset..offset.saturating_add(size)
}

fn table<'d, Elf: FileHeader<Endian = Endianness>, R: ReadRef<'d>>(
    sections: &SectionTable<'d, Elf, R>,
    endian: Endianness,
    kind: object::elf::SectionType,
) -> Table {
    let Some(section) = sections.iter().find(|s| s.sh_type(endian) == kind) else { return Table::default() };
    let range = |section: &Elf::SectionHeader| section.file_range(endian).map_or(0..0, range_of);
    let names = sections.section(section.link(endian)).map_or(0..0, range);
    Table { symbols: range(section), names }
}

fn build_id<'d, Elf: FileHeader<Endian = Endianness>, R: ReadRef<'d>>(
    programs: &[Elf::ProgramHeader],
    sections: &SectionTable<'d, Elf, R>,
    endian: Endianness,
    data: R,
) -> Option<Vec<u8>> {
    let of_sections = sections.iter().filter_map(|section| section.notes(endian, data).ok().flatten());
    let of_segments = programs.iter().filter_map(|program| program.notes(endian, data).ok().flatten());
    of_sections.chain(of_segments).find_map(|notes| gnu_build_id(endian, notes))
}

pub(crate) fn gnu_build_id<Elf: FileHeader<Endian = Endianness>>(
    endian: Endianness,
    mut notes: NoteIterator<'_, Elf>,
) -> Option<Vec<u8>> {
    while let Ok(Some(note)) = notes.next() {
        if note.name() == ELF_NOTE_GNU && note.n_type(endian) == NT_GNU_BUILD_ID {
            return Some(note.desc().to_vec());
        }
    }
    None
}

/// Where the section of packed symbols is; of those that the file holds it alone is known by its name only.
fn packed<'d, Elf: FileHeader<Endian = Endianness>, R: ReadRef<'d>>(
    header: &Elf,
    sections: &SectionTable<'d, Elf, R>,
    endian: Endianness,
    data: R,
    bytes: &ObjectBytes,
) -> Option<Range<u64>> {
    let strings = sections.section(header.section_strings_index(endian, data).ok()?).ok()?;
    let names = bytes.part(range_of(strings.file_range(endian)?), MOST_SECTION_NAMES)?;
    let is_it = |section: &&Elf::SectionHeader| {
        let name = names.get(section.sh_name(endian) as usize..);
        section.sh_type(endian) == SHT_PROGBITS
            && name.is_some_and(|name| name.starts_with(b".gnu_debugdata\0"))
    };
    sections.iter().find(is_it)?.file_range(endian).map(range_of)
}
