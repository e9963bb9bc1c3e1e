//! Tests of the ELF reader on the running test binary, a stripped libzpool and damaged bytes.

use super::*;
use crate::{FileId, Reason, load_elf, parse_maps};
use object::read::ObjectSymbol;
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
    assert!(symbols.build_id().is_some() || symbols.len() > 100);
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

proptest! {
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
    assert!(matches!(symbols.resolve(0), ElfSymbol::Unnamed { start: None }));
}
