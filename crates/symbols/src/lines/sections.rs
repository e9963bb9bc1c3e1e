//! The `.debug_*` sections of an ELF object: unpacked, and relocated where the object is not linked.
//!
//! In a relocatable object, as a kernel module is, every section begins at address 0. Here each gets
//! a place of its own, and references from the debug information are made to point there, so that one
//! number names one instruction.
//!
//! Invariant: no more bytes are unpacked than the budget allows, whatever a header claims.

use super::reason::NoLines;
use object::elf::SHF_ALLOC;
use object::read::{Object, ObjectSection, ObjectSymbol, ReadRef, RelocationTarget};
use object::{CompressionFormat, ObjectKind, RelocationKind, SectionFlags, SectionIndex};
use std::borrow::Cow;
use std::io::Read;

/// Far from 0, which debug information uses for code that was left out.
const FIRST_PLACE: u64 = 1 << 20;
const GAP: u64 = 1 << 12;

/// A section of code or data in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LaidSection {
    pub name: String,
    pub index: SectionIndex,
    pub size: u64,
    /// Address of its first byte as used in lookups.
    pub base: u64,
}

/// Places for the sections of a relocatable object; empty for a linked one, which has addresses.
pub(super) fn places<'d, R: ReadRef<'d>>(file: &object::File<'d, R>) -> Vec<LaidSection> {
    if file.kind() != ObjectKind::Relocatable {
        return Vec::new();
    }
    let mut next = FIRST_PLACE;
    let mut places = Vec::new();
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags, .. } = section.flags() else { continue };
        if sh_flags.0 & SHF_ALLOC.0 == 0 {
            continue;
        }
        let (size, base) = (section.size(), next);
        // Sizes that no memory holds are of a damaged header.
        let Some(end) = base.checked_add(size).filter(|end| *end < 1 << 48) else { continue };
        next = (end / GAP + 2) * GAP;
        places.push(LaidSection {
            name: section.name().unwrap_or_default().to_owned(),
            index: section.index(),
            size,
            base,
        });
    }
    places
}

fn base_of(places: &[LaidSection], index: Option<SectionIndex>) -> u64 {
    index.and_then(|index| places.iter().find(|p| p.index == index)).map_or(0, |p| p.base)
}

/// The bytes of a debug section; none where the object has no such section.
///
/// `left` is what may still be read, and is made less by what was.
pub(super) fn debug_section<'d, R: ReadRef<'d>>(
    file: &object::File<'d, R>,
    name: &str,
    places: &[LaidSection],
    left: &mut u64,
) -> Result<Vec<u8>, NoLines> {
    let Some(section) = file.section_by_name(name) else { return Ok(Vec::new()) };
    let damaged = |why: &str| NoLines::Damaged(format!("{name}: {why}"));
    let packed = section.compressed_data().map_err(|e| damaged(&e.to_string()))?;
    let size = packed.uncompressed_size.max(packed.data.len() as u64);
    *left = left.checked_sub(size).ok_or(NoLines::TooLarge)?;
    let mut bytes = match packed.format {
        CompressionFormat::None => Cow::Borrowed(packed.data),
        CompressionFormat::Zlib => unpack(flate2::read::ZlibDecoder::new(packed.data), size),
        CompressionFormat::Zstandard => match zstd::stream::read::Decoder::new(packed.data) {
            Ok(decoder) => unpack(decoder, size),
            Err(e) => return Err(damaged(&e.to_string())),
        },
        _ => return Err(damaged("it is packed in an unknown way")),
    }
    .into_owned();
    if file.kind() == ObjectKind::Relocatable {
        relocate(file, &section, places, &mut bytes);
    }
    Ok(bytes)
}

/// What can be unpacked, at most `size` bytes: readers of DWARF notice an early end.
fn unpack(reader: impl Read, size: u64) -> Cow<'static, [u8]> {
    let mut bytes = Vec::new();
    let _ = reader.take(size).read_to_end(&mut bytes);
    Cow::Owned(bytes)
}

/// Puts into `bytes` the addresses and offsets that a linker would.
///
/// Debug sections hold absolute references only (`R_X86_64_64`, `R_X86_64_32`, `R_AARCH64_ABS64`,
/// `R_AARCH64_ABS32`; psABI of each). Others concern thread-local variables and are left alone.
fn relocate<'d, R: ReadRef<'d>>(
    file: &object::File<'d, R>,
    section: &object::Section<'d, '_, R>,
    places: &[LaidSection],
    bytes: &mut [u8],
) {
    let little = file.is_little_endian();
    for (offset, relocation) in section.relocations() {
        if relocation.kind() != RelocationKind::Absolute {
            continue;
        }
        let target = match relocation.target() {
            RelocationTarget::Symbol(index) => {
                let Ok(symbol) = file.symbol_by_index(index) else { continue };
                symbol.address().wrapping_add(base_of(places, symbol.section_index()))
            }
            RelocationTarget::Section(index) => base_of(places, Some(index)),
            _ => 0,
        };
        let length = usize::from(relocation.size() / 8);
        let end = usize::try_from(offset).ok().and_then(|at| Some((at, at.checked_add(length)?)));
        let Some(field) = end.and_then(|(at, end)| bytes.get_mut(at..end)) else { continue };
        let mut value = target.wrapping_add(relocation.addend().cast_unsigned());
        if relocation.has_implicit_addend() {
            value = value.wrapping_add(read(field, little));
        }
        write(field, value, little);
    }
}

fn read(field: &[u8], little: bool) -> u64 {
    let add = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
    if little { field.iter().rev().fold(0, add) } else { field.iter().fold(0, add) }
}

fn write(field: &mut [u8], value: u64, little: bool) {
    let bytes = value.to_le_bytes();
    let length = field.len();
    for (i, byte) in field.iter_mut().enumerate() {
        let at = if little { i } else { length - 1 - i };
        *byte = bytes.get(at).copied().unwrap_or(0);
    }
}

#[cfg(test)]
#[path = "sections_tests.rs"]
mod tests;
