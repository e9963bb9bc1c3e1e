//! Tests of lines against `addr2line` of binutils, and on damaged objects.

use super::fixtures::toy_object;
use super::*;
use proptest::prelude::*;
use std::io::Write;
use std::process::{Command, Stdio};

const ALL: u64 = u64::MAX;

/// Function, file and line as binutils tell them, innermost first, for each offset of a section.
fn by_binutils(object: &Path, section: &str, offsets: u64) -> Option<Vec<Vec<(String, String)>>> {
    let mut child = Command::new("addr2line")
        .args(["-a", "-i", "-f", "-j", section, "-e"])
        .arg(object)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let asked: String = (0..offsets).map(|o| format!("{o:#x}\n")).collect();
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(asked.as_bytes()));
    let told = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let mut answers: Vec<Vec<(String, String)>> = Vec::new();
    let text = String::from_utf8(told.stdout).unwrap();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("0x") {
            answers.push(Vec::new());
        } else if let (Some(answer), Some(place)) = (answers.last_mut(), lines.next()) {
            let place = place.split(" (discriminator").next().unwrap();
            answer.push((line.to_owned(), place.to_owned()));
        }
    }
    Some(answers)
}

#[allow(clippy::print_stderr)] // a skipped test must be seen
fn compare(object: &Path) {
    let lines = ObjectLines::parse(&std::fs::read(object).unwrap(), ALL).unwrap();
    let mut deepest = 0;
    for function in ["entry", "other"] {
        let section = format!(".text.{function}");
        let size = lines.places_size(&section);
        assert!(size > 30, "{section} has {size} bytes");
        let Some(expected) = by_binutils(object, &section, size) else {
            eprintln!("skipped: addr2line of binutils is not installed");
            return;
        };
        assert_eq!(expected.len() as u64, size);
        for (offset, expected) in (0..size).zip(expected) {
            let at = lines.address_in_section(&section, offset).unwrap();
            assert_eq!(lines.address_in_function(function, offset), Some(at));
            let found = lines.at(at);
            assert_eq!(found[0].function, function);
            deepest = deepest.max(found.len());
            let found: Vec<_> =
                found.into_iter().rev().map(|f| (f.function, format!("{}:{}", f.file, f.line))).collect();
            assert_eq!(found, expected, "{section}+{offset:#x}");
        }
        assert_eq!(lines.address_in_section(&section, size), None);
        assert_eq!(lines.address_in_function(function, size), None);
    }
    assert_eq!(deepest, 3, "low in mid in entry");
}

#[test]
fn lines_and_inlined_functions_are_those_of_binutils() {
    let dir = tempfile::tempdir().unwrap();
    compare(&toy_object(dir.path(), &[]));
    compare(&toy_object(dir.path(), &["-gz=zlib"]));
    compare(&toy_object(dir.path(), &["-gdwarf-4"]));
}

#[test]
fn a_linked_object_is_asked_by_address() {
    let dir = tempfile::tempdir().unwrap();
    toy_object(dir.path(), &["-fPIC"]);
    super::fixtures::run(
        dir.path(),
        "gcc",
        &["-shared", "-Wl,--build-id", "toy.o", "-o", "toy.so", "-nostdlib"],
    );
    let path = dir.path().join("toy.so");
    let bytes = std::fs::read(&path).unwrap();
    let entry = {
        use object::read::{Object, ObjectSymbol};
        let file = object::File::parse(bytes.as_slice()).unwrap();
        file.symbols().find(|s| s.name() == Ok("entry")).unwrap().address()
    };
    let mut lines = Lines::of_running_kernel(Path::new("/"));
    let files = || (vec![path.clone()], FileId::default());
    let found = lines.user(1, entry, files);
    assert_eq!(found[0].function, "entry");
    assert!(found[0].file.ends_with("/toy.c") && found[0].line > 8, "{found:?}");
    assert_eq!(lines.objects(), (1, 0));
    assert_eq!(lines.user(1, entry, || unreachable!("it is known")), found);
    let other = FileId { inode: None, build_id: Some(b"another") };
    assert_eq!(lines.user(2, entry, || (vec![path.clone()], other)), []);
    assert_eq!(lines.objects(), (1, 1));
}

#[test]
fn what_has_no_lines_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = std::fs::read(toy_object(dir.path(), &[])).unwrap();
    assert_eq!(ObjectLines::parse(&bytes, 100).unwrap_err(), NoLines::TooLarge);
    assert!(matches!(ObjectLines::parse(b"text", ALL), Err(NoLines::Damaged(_))));
    let bare = std::fs::read(toy_object(dir.path(), &["-g0"])).unwrap();
    assert!(matches!(ObjectLines::parse(&bare, ALL), Err(NoLines::NoDwarf(_))));
}

/// Asks for every byte of every section, and for addresses that are nowhere.
fn ask_all(bytes: &[u8]) {
    let Ok(lines) = ObjectLines::parse(bytes, 1 << 20) else { return };
    for section in [".text", ".text.entry", ".text.other"] {
        for offset in 0..lines.places_size(section).min(200) {
            lines.address_in_section(section, offset).map(|at| lines.at(at));
        }
    }
    for address in [0, 1, 1 << 20, u64::MAX] {
        lines.at(address);
    }
}

#[test]
fn an_object_cut_anywhere_is_survived() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = std::fs::read(toy_object(dir.path(), &[])).unwrap();
    for cut in (0..bytes.len()).step_by(7) {
        ask_all(&bytes[..cut]);
    }
}

#[test]
fn flipped_bytes_are_survived() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = std::fs::read(toy_object(dir.path(), &[])).unwrap();
    let flips = prop::collection::vec((0..bytes.len(), any::<u8>()), 1..6);
    proptest!(ProptestConfig::with_cases(400), |(flips in flips)| {
        let mut bytes = bytes.clone();
        for (at, byte) in flips {
            bytes[at] = byte;
        }
        ask_all(&bytes);
    });
}
