//! Tests of relocation on objects built byte by byte.

use super::*;

const TEXT_SIZE: u64 = 0x40;

/// Writes numbers of a width in an order of bytes.
struct Bytes {
    out: Vec<u8>,
    little: bool,
}

impl Bytes {
    fn put(&mut self, value: u64, width: usize) {
        let bytes = value.to_le_bytes();
        let bytes = bytes[..width].iter();
        if self.little { self.out.extend(bytes) } else { self.out.extend(bytes.rev()) }
    }
}

/// A relocatable 64-bit object: two sections of code, a debug section of 16 bytes `ff`, and one
/// relocation for each of `(offset, type, addend)` against a function at 0x10 of the second.
fn object(machine: u64, little: bool, relocations: &[(u64, u64, i64)]) -> Vec<u8> {
    let mut b = Bytes { out: Vec::new(), little };
    let names = b"\0.text\0.text.b\0.debug_info\0.rela.debug_info\0.symtab\0.strtab\0";
    let at = |name: &str| names.windows(name.len()).position(|w| w == name.as_bytes()).unwrap() as u64;
    b.out.extend(b"\x7fELF\x02");
    b.out.extend([if little { 1 } else { 2 }, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    for (value, width) in [(1, 2), (machine, 2), (1, 4), (0, 8), (0, 8), (64, 8), (0, 4), (64, 2)] {
        b.put(value, width);
    }
    for value in [0, 0, 64, 7, 6] {
        b.put(value, 2);
    }
    let data = 64 + 7 * 64;
    let rela = data + 16;
    let symtab = rela + 24 * relocations.len() as u64;
    let strtab = symtab + 48;
    let sections = [
        [0; 10],
        [at(".text\0"), 1, 6, 0, 0, TEXT_SIZE, 0, 0, 1, 0],
        [at(".text.b\0"), 1, 6, 0, 0, TEXT_SIZE, 0, 0, 1, 0],
        [at(".debug_info\0"), 1, 0, 0, data, 16, 0, 0, 1, 0],
        [at(".rela.debug_info\0"), 4, 0, 0, rela, symtab - rela, 5, 3, 8, 24],
        [at(".symtab\0"), 2, 0, 0, symtab, 48, 6, 1, 8, 24],
        [at(".strtab\0"), 3, 0, 0, strtab, names.len() as u64, 0, 0, 1, 0],
    ];
    for section in sections {
        for (value, width) in section.into_iter().zip([4, 4, 8, 8, 8, 8, 4, 4, 8, 8]) {
            b.put(value, width);
        }
    }
    b.out.extend([0xff; 16]);
    for (offset, kind, addend) in relocations {
        b.put(*offset, 8);
        b.put(1 << 32 | kind, 8);
        b.put(addend.cast_unsigned(), 8);
    }
    b.put(0, 8);
    b.put(0, 8);
    b.put(0, 8);
    for (value, width) in [(0, 4), (0x12, 1), (0, 1), (2, 2), (0x10, 8), (0, 8)] {
        b.put(value, width);
    }
    b.out.extend(names);
    b.out
}

fn relocated(machine: u64, little: bool, relocations: &[(u64, u64, i64)]) -> (Vec<LaidSection>, Vec<u8>) {
    let bytes = object(machine, little, relocations);
    let file = object::File::parse(bytes.as_slice()).unwrap();
    let places = places(&file);
    let mut left = 100;
    let section = debug_section(&file, ".debug_info", &places, &mut left).unwrap();
    assert_eq!(left, 100 - 16);
    (places, section)
}

#[test]
fn absolute_references_point_into_the_place_of_their_section() {
    const X86_64: u64 = 62;
    const AARCH64: u64 = 183;
    for (machine, little, abs64, abs32) in
        [(X86_64, true, 1, 10), (AARCH64, true, 257, 258), (AARCH64, false, 257, 258)]
    {
        let (places, bytes) = relocated(machine, little, &[(0, abs64, 4), (8, abs32, -1)]);
        let names: Vec<&str> = places.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, [".text", ".text.b"]);
        assert!(places[1].base >= places[0].base + TEXT_SIZE);
        assert_eq!(read(&bytes[..8], little), places[1].base + 0x14);
        assert_eq!(read(&bytes[8..12], little), places[1].base + 0xf);
        assert_eq!(bytes[12..], [0xff; 4], "no other byte is touched");
    }
}

#[test]
fn references_outside_of_the_section_or_of_other_kinds_are_left() {
    let (_, bytes) = relocated(62, true, &[(12, 1, 0), (u64::MAX, 1, 0), (4, 2, 0), (0, 255, 0)]);
    assert_eq!(bytes, [0xff; 16]);
}

#[test]
fn a_section_larger_than_the_budget_is_refused() {
    let bytes = object(62, true, &[]);
    let file = object::File::parse(bytes.as_slice()).unwrap();
    assert_eq!(debug_section(&file, ".debug_info", &[], &mut 15), Err(NoLines::TooLarge));
    assert_eq!(debug_section(&file, ".debug_line", &[], &mut 0), Ok(Vec::new()));
}
