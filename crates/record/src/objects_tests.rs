//! Tests of the objects that are kept: how often they are looked through, and what is held.

use super::*;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use zwhy_symbols::ImageKind;

fn image_of(path: &Path) -> Image {
    Image {
        path: path.to_str().unwrap().to_owned(),
        kind: ImageKind::File,
        inode: std::fs::metadata(path).unwrap().ino(),
        pid: std::process::id() as i32,
        start: 0,
        end: 0,
    }
}

fn own_program() -> PathBuf {
    std::env::current_exe().unwrap()
}

/// Offsets in the program where functions are.
fn offsets(count: u64) -> Vec<u64> {
    let symbols = zwhy_symbols::load_elf(&[own_program()], Default::default()).unwrap();
    let named = (0..1 << 20).map(|n| n * 64).filter(|offset| {
        let at = symbols.address_of_offset(*offset);
        at.is_some_and(|at| matches!(symbols.resolve(at), ElfSymbol::Named { .. }))
    });
    named.take(count as usize).collect()
}

#[test]
fn an_object_is_looked_through_once_for_all_addresses_of_a_flush_and_kept_when_asked_again() {
    let (image, id, offsets) = (image_of(&own_program()), ImageId(7), offsets(50));
    let mut objects = Objects::default();
    for (flush, looks, holds) in [(0, 1, false), (1, 2, true), (2, 2, true), (3, 2, true)] {
        let asked = &offsets[flush * 10..flush * 10 + 10];
        assert!(!objects.prepare(id, &image, asked));
        for offset in asked {
            let found = objects.find(id, &image, *offset).unwrap();
            assert!(matches!(found, Some((_, ElfSymbol::Named { .. }))), "{found:?}");
        }
        objects.flushed(|_| true);
        let kept = objects.known[&id].table.is_some();
        assert_eq!((objects.looks, kept), (looks, holds), "flush {flush}");
    }
    objects.flushed(|_| false);
    assert!(objects.known.is_empty());
}

#[test]
fn an_object_that_is_asked_for_now_and_then_is_never_kept() {
    let (image, id, offsets) = (image_of(&own_program()), ImageId(7), offsets(50));
    let mut objects = Objects::default();
    for at in 0..5 {
        objects.prepare(id, &image, &offsets[at * 10..at * 10 + 10]);
        assert!(objects.known[&id].table.is_none());
        (0..20).for_each(|_| objects.flushed(|_| true));
    }
    assert_eq!(objects.looks, 5);
}

#[test]
fn tables_keep_their_budget_and_those_that_save_most_stay() {
    let (image, offsets) = (image_of(&own_program()), offsets(1));
    let mut objects = Objects::default();
    // The same program under many numbers, the last of which is asked for most.
    for flush in 0..18 {
        for id in (0..20).filter(|id| *id == 19 || flush % 8 < 2) {
            objects.prepare(ImageId(id), &image, &offsets);
            let held: usize = objects.known.values().map(Known::memory).sum();
            assert!(held <= 2 * BUDGET, "{held} bytes before the flush ends");
        }
        objects.flushed(|_| true);
        let held: usize = objects.known.values().map(Known::memory).sum();
        assert!(held <= BUDGET, "{held}");
    }
    let kept = objects.known.values().filter(|known| known.table.is_some()).count();
    assert!(kept > 0 && kept < 20, "{kept} of 20: this program has {} bytes of symbols", {
        zwhy_symbols::load_elf(&[own_program()], Default::default()).unwrap().memory()
    });
    assert!(objects.known[&ImageId(19)].table.is_some());
}

#[test]
fn a_file_that_was_written_in_place_is_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("program");
    std::fs::copy(own_program(), &path).unwrap();
    let (image, id, offsets) = (image_of(&path), ImageId(1), offsets(2));
    let mut objects = Objects::default();
    assert!(!objects.prepare(id, &image, &offsets));
    assert!(objects.find(id, &image, offsets[0]).is_ok());
    assert!(!objects.prepare(id, &image, &offsets));
    std::fs::write(&path, "no program any more").unwrap();
    assert!(objects.prepare(id, &image, &offsets));
    assert_eq!(objects.find(id, &image, offsets[0]), Err(Reason::NotElf));
}

#[test]
fn many_objects_are_not_all_open() {
    let (image, offsets) = (image_of(&own_program()), offsets(1));
    let mut objects = Objects::default();
    for id in 0..MOST_OPEN as u32 + 10 {
        objects.prepare(ImageId(id), &image, &offsets);
        if id % 50 == 0 {
            objects.flushed(|_| true);
        }
    }
    objects.flushed(|_| true);
    assert_eq!(objects.known.len(), MOST_OPEN / 2);
    assert!(objects.known.contains_key(&ImageId(MOST_OPEN as u32 + 9)));
}
