//! Tests of the ELF reader on the running test binary, a stripped libzpool and damaged bytes.

use super::*;
use crate::{FileId, Reason, load_elf, parse_maps};
use object::read::{Object, ObjectSymbol};
use proptest::prelude::*;
use std::path::PathBuf;

#[inline(never)]
fn a_function_with_a_known_name(x: u64) -> u64 {
    std::hint::black_box(x).wrapping_mul(3)
}

/// File offset of an address of this process.
fn offset_of(address: u64) -> (PathBuf, u64) {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let map = parse_maps(&maps).find(|m| (m.start..m.end).contains(&address)).unwrap();
    (PathBuf::from(map.path.as_ref()), map.offset + address - map.start)
}

#[test]
fn a_function_of_this_binary_is_found_by_its_address() {
    let address = a_function_with_a_known_name as fn(u64) -> u64 as usize as u64;
    assert_eq!(a_function_with_a_known_name(2), 6);
    let (path, offset) = offset_of(address);
    let symbols = load_elf(&[path], FileId::default()).unwrap();
    let at = symbols.address_of_offset(offset).unwrap();
    let ElfSymbol::Named { name, start } = symbols.resolve(at) else { panic!("no name at {at:#x}") };
    assert!(crate::demangle(&name).ends_with("a_function_with_a_known_name"), "{name}");
    assert_eq!(start, at);
    assert!(symbols.len() > 100);
}

#[test]
fn another_file_under_the_path_is_refused() {
    let me = std::env::current_exe().unwrap();
    let id = FileId { inode: Some(1), build_id: None };
    assert_eq!(load_elf(std::slice::from_ref(&me), id).unwrap_err(), Reason::Replaced);
    let id = FileId { inode: None, build_id: Some(b"no such id") };
    assert_eq!(load_elf(&[me], id).unwrap_err(), Reason::Replaced);
    let none = [PathBuf::from("/nonexistent")];
    assert_eq!(load_elf(&none, FileId::default()).unwrap_err(), Reason::Unreadable);
    let text = [PathBuf::from("/nonexistent"), PathBuf::from("/proc/self/comm")];
    assert_eq!(load_elf(&text, FileId::default()).unwrap_err(), Reason::NotElf);
}

#[test]
fn damaged_objects_are_survived() {
    let mut bytes = std::fs::read("/proc/self/exe").unwrap();
    bytes.truncate(4096);
    let _ = ElfSymbols::parse(&bytes);
    assert!(ElfSymbols::parse(b"\x7fELF").is_err());
}

/// What all symbols of an object and those near some addresses say of these.
fn both_agree(object: &ElfObject, addresses: &[u64]) {
    let (all, near) = (object.symbols(), object.symbols_near(addresses));
    assert!(near.len() <= all.len());
    for at in addresses {
        assert_eq!(near.resolve(*at), all.resolve(*at), "{at:#x}");
    }
}

#[test]
fn symbols_near_some_addresses_name_them_as_all_symbols_do() {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let files: std::collections::BTreeSet<PathBuf> = parse_maps(&maps)
        .filter(|m| m.executable && m.path.starts_with('/'))
        .map(|m| m.path.as_ref().into())
        .collect();
    assert!(files.len() >= 2, "this program and libc");
    for file in files {
        let object = crate::open_elf(&[file], FileId::default()).unwrap();
        let all = object.symbols();
        let (first, last) = (all.functions.first().unwrap().start, all.functions.last().unwrap().end());
        // One alone, a few, and so many that whole gaps have no function.
        for count in [1, 2, 7, 100, 300] {
            let step = ((last - first) / count).max(1);
            let spread: Vec<u64> = (0..count).map(|n| first + n * step + n % 5).collect();
            both_agree(&object, &spread);
            let close: Vec<u64> = (0..count).rev().map(|n| first + (last - first) / 2 + n * 3).collect();
            both_agree(&object, &close);
        }
        both_agree(&object, &[0, first, last, u64::MAX]);
        let few = object.symbols_near(&[first.midpoint(last)]);
        assert!(few.len() <= 4 * 2 * LOOK_BACK, "{} of {}", few.len(), all.len());
    }
}

/// An object with these symbols in its one section of code, at 0x1000.
fn object_of(symbols: &[(u16, u16, u8)]) -> Vec<u8> {
    let (code, names) = (0x1000u64, b"\0first\0.Llocal\0$x\0second\0");
    let mut table = vec![0; 24];
    for (at, size, kind) in symbols {
        let name = [1u32, 7, 15, 18][usize::from(kind % 4)];
        table.extend(name.to_le_bytes());
        table.extend([if kind & 4 == 0 { 2 } else { 0x10 }, 0]);
        table.extend(1u16.to_le_bytes());
        table.extend((code + u64::from(at % 0x400)).to_le_bytes());
        table.extend(u64::from(size % 0x80).to_le_bytes());
    }
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0\x01\0\0\0".to_vec();
    let (table_at, names_at) = (64, 64 + table.len() as u64);
    let sections_at = (names_at + names.len() as u64).next_multiple_of(8);
    [0, 0, sections_at].iter().for_each(|word| file.extend(word.to_le_bytes()));
    file.extend([0; 4]);
    [64u16, 56, 0, 64, 4, 3].iter().for_each(|word| file.extend(word.to_le_bytes()));
    file.extend(&table);
    file.extend(names);
    file.resize(sections_at as usize, 0);
    let mut section = |kind: u32, flags: u64, at: u64, offset: u64, size: usize, link: u32| {
        file.extend(0u32.to_le_bytes());
        file.extend(kind.to_le_bytes());
        [flags, at, offset, size as u64].iter().for_each(|word| file.extend(word.to_le_bytes()));
        file.extend(link.to_le_bytes());
        file.extend(1u32.to_le_bytes());
        [8u64, 24].iter().for_each(|word| file.extend(word.to_le_bytes()));
    };
    section(0, 0, 0, 0, 0, 0);
    section(1, 6, code, 0, 0x400, 0);
    section(2, 0, 0, table_at, table.len(), 3);
    section(3, 0, 0, names_at, names.len(), 0);
    file
}

proptest! {
    /// Symbols in any order, within each other, at one address, without a size, with names of no function.
    #[test]
    fn any_table_gives_the_same_names_in_one_pass(
        symbols in prop::collection::vec(any::<(u16, u16, u8)>(), 0..200),
        addresses in prop::collection::vec(0xff0u64..0x1410, 1..4),
    ) {
        let object = ElfObject::parse(&object_of(&symbols)).unwrap();
        let all = object.symbols();
        prop_assert_eq!(all.len(), symbols.len());
        // At most 24 symbols are looked at; which of those at one address is not said.
        let mut starts: Vec<u64> = all.functions.iter().map(|f| f.start).collect();
        starts.dedup();
        prop_assume!(all.len() - starts.len() < 12);
        let mut sorted = addresses.clone();
        sorted.sort_unstable();
        sorted.dedup();
        let near = object.read(Some(&sorted));
        for at in addresses {
            prop_assert_eq!(near.resolve(at), all.resolve(at), "{:#x}", at);
        }
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut elf = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0".to_vec();
        elf.extend(bytes);
        if let Ok(symbols) = ElfSymbols::parse(&elf) {
            let _ = (symbols.resolve(0x1000), symbols.address_of_offset(64));
        }
    }
}

/// A stripped library that has names in its dynamic table only, as libzpool has.
#[test]
fn a_stripped_library_is_named_from_its_dynamic_table() {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let libc = parse_maps(&maps)
        .find(|m| m.path.contains("libc.so"))
        .expect("the tests link libc")
        .path
        .into_owned();
    let bytes = std::fs::read(libc).unwrap();
    let file = object::File::parse(bytes.as_slice()).unwrap();
    let getpid = file.dynamic_symbols().find(|s| s.name() == Ok("getpid")).unwrap().address();
    let symbols = ElfSymbols::parse(&bytes).unwrap();
    let ElfSymbol::Named { name, start } = symbols.resolve(getpid + 1) else { panic!("getpid has no name") };
    assert!(name.ends_with("getpid"), "{name}");
    assert_eq!(start, getpid);
    assert!(symbols.starts.memory() > 4000, "libc is stripped and has an unwind table");
    assert!(matches!(symbols.resolve(0), ElfSymbol::Unnamed { start: None, .. }));
}

#[test]
fn a_function_without_a_name_lies_between_two_that_have_one() {
    let dir = tempfile::tempdir().unwrap();
    let source = "int first(int x) { return x + 1; }\n\
                  __attribute__((noinline)) static int hidden(int x) { return x * 3 + 1; }\n\
                  int last(int x) { return hidden(x) + hidden(x + 1); }\n";
    std::fs::write(dir.path().join("a.c"), source).unwrap();
    let args = ["-O1", "-fno-toplevel-reorder", "-s", "-shared", "-fPIC", "a.c", "-o", "a.so"];
    assert!(std::process::Command::new("gcc").current_dir(dir.path()).args(args).status().unwrap().success());
    let symbols = ElfSymbols::parse(&std::fs::read(dir.path().join("a.so")).unwrap()).unwrap();
    let neighbours = Some(("first".to_owned(), "last".to_owned()));
    assert!((0..0x4000).any(|at| matches!(
        symbols.resolve(at),
        ElfSymbol::Unnamed { start: Some(start), between } if start == at && between == neighbours
    )));
}

/// A library stripped as Fedora does: static functions are only in `.gnu_debugdata`.
#[test]
fn functions_packed_into_a_stripped_object_are_named() {
    use std::io::Write;
    let dir = tempfile::tempdir().unwrap();
    let run = |program: &str, args: &[&str]| {
        let done = std::process::Command::new(program).current_dir(dir.path()).args(args).output().unwrap();
        assert!(done.status.success(), "{program}: {}", String::from_utf8_lossy(&done.stderr));
    };
    let source = "__attribute__((noinline)) static int hidden(int x) { return x * 3 + 1; }\n\
                  int shown(int x) { return hidden(x) + hidden(x + 1); }\n";
    std::fs::write(dir.path().join("a.c"), source).unwrap();
    run("gcc", &["-O1", "-shared", "-fPIC", "a.c", "-o", "a.so"]);
    run("objcopy", &["--only-keep-debug", "a.so", "mini"]);
    let full = ElfSymbols::parse(&std::fs::read(dir.path().join("a.so")).unwrap()).unwrap();
    let hidden = |symbols: &ElfSymbols| {
        (0..0x4000)
            .find(|at| matches!(symbols.resolve(*at), ElfSymbol::Named { name, .. } if name == "hidden"))
    };
    let at = hidden(&full).unwrap();
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 6);
    xz.write_all(&std::fs::read(dir.path().join("mini")).unwrap()).unwrap();
    let xz = xz.finish().unwrap();
    for (packed, found) in [(&xz[..], Some(at)), (&xz[..xz.len() / 2], None), (b"text", None)] {
        std::fs::write(dir.path().join("mini.xz"), packed).unwrap();
        run("objcopy", &["--strip-all", "--add-section", ".gnu_debugdata=mini.xz", "a.so", "b.so"]);
        let path = dir.path().join("b.so");
        let from_file = load_elf(std::slice::from_ref(&path), FileId::default()).unwrap();
        let from_bytes = ElfSymbols::parse(&std::fs::read(path).unwrap()).unwrap();
        for symbols in [from_file, from_bytes] {
            assert_eq!(hidden(&symbols), found);
            assert!((0..0x4000).any(|at| matches!(
                symbols.resolve(at),
                ElfSymbol::Named { name, .. } if name == "shown"
            )));
        }
    }
}
