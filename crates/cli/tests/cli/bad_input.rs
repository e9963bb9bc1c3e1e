//! Inputs that cannot be read: one line that names the thing and what to try, nothing written.

use crate::inputs;
use crate::support::{call, obeyed, run};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

const READERS: [&str; 7] = [
    "explain IN",
    "explain --json IN",
    "top-functions IN",
    "report IN -o written",
    "flame IN -o written.svg",
    "export IN -o written",
    "import IN -o written",
];

/// Every reading command fails with a line that has `says` and the input's name.
fn refused(folder: &Path, input: &str, says: &str) {
    for reader in READERS {
        let line = call(folder, &reader.replace("IN", input)).failed(1);
        assert!(line.contains(input) && line.contains(says), "{reader}: {line}");
    }
    for (a, b) in [(input, "ccm.folded"), ("ccm.folded", input)] {
        let line = run(folder, ["diff", a, b]).failed(1);
        assert!(line.contains(input) && line.contains(says), "{line}");
    }
    assert!(!folder.join("written").exists() && !folder.join("written.svg").exists());
}

#[test]
fn a_file_that_is_not_there() {
    let folder = inputs::bare_folder();
    refused(folder.path(), "nosuch.zwhy", "No such file");
}

#[test]
fn an_empty_file() {
    let folder = inputs::bare_folder();
    fs::write(folder.path().join("empty"), "").expect("a file");
    refused(folder.path(), "empty", "it is empty");
    refused(folder.path(), "/dev/null", "it is empty");
}

#[test]
fn a_directory() {
    let folder = inputs::bare_folder();
    fs::create_dir(folder.path().join("folder")).expect("a folder");
    refused(folder.path(), "folder", "name one file in it");
}

#[test]
fn a_program() {
    let folder = inputs::bare_folder();
    refused(
        folder.path(),
        "/bin/sh",
        "it is a program or library (ELF); to see where a program spends its time: zwhy record",
    );
}

#[test]
fn a_text_without_anything_of_interest() {
    let folder = inputs::bare_folder();
    fs::write(folder.path().join("prose"), "To whom it may concern:\nnothing is here.\n").expect("a file");
    refused(folder.path(), "prose", "none of its 2 lines");
    // Lines that end in a colon, as headers of samples do.
    fs::write(folder.path().join("list"), "pool:\n  name: tank\n  vdevs:\ncache:\n").expect("a file");
    refused(folder.path(), "list", "none of its 4 lines");
}

#[test]
fn a_file_that_may_not_be_read() {
    if crate::support::is_root() {
        return crate::support::skip("a_file_that_may_not_be_read", "root may read everything");
    }
    use std::os::unix::fs::PermissionsExt;
    let folder = inputs::bare_folder();
    let path = folder.path().join("ccm.folded");
    fs::copy(&path, folder.path().join("secret")).expect("a copy");
    fs::set_permissions(folder.path().join("secret"), fs::Permissions::from_mode(0o000)).expect("mode");
    refused(folder.path(), "secret", "Permission denied");
}

#[test]
fn the_name_of_a_file_is_hostile_text_too() {
    let folder = inputs::bare_folder();
    let name = std::ffi::OsStr::from_bytes(b"a\x1b[2J\x07\xff\xe2\x80\xae.zwhy");
    for args in [vec!["explain"], vec!["top-functions"], vec!["import", "-o", "x.zwhy"]] {
        let ran = run(folder.path(), args.iter().map(std::ffi::OsStr::new).chain([name]));
        assert_eq!(obeyed(&ran.failed(1)), []);
    }
    fs::copy(folder.path().join("ccm.folded"), folder.path().join(name)).expect("a copy");
    for args in [vec!["explain"], vec!["explain", "--markdown"], vec!["import", "-o", "x.zwhy"]] {
        let ran = run(folder.path(), args.iter().map(std::ffi::OsStr::new).chain([name]));
        assert_eq!((obeyed(&ran.out), obeyed(&ran.err)), (vec![], vec![]), "{ran:?}");
        ran.ok();
    }
}

#[test]
fn figures_without_functions_are_for_explain_only() {
    let folder = inputs::bare_folder();
    let arcstats = "name                            type data\nhits                            4    1234\nmisses                          4    99\nc_max                           4    8589934592\n";
    fs::write(folder.path().join("arc.txt"), arcstats).expect("a file");
    for reader in ["top-functions IN", "export IN -o written", "flame IN -o written.svg"] {
        let line = call(folder.path(), &reader.replace("IN", "arc.txt")).failed(1);
        assert!(line.contains("no stacks and no functions"), "{reader}: {line}");
        // Shares of functions are as good as stacks of one frame.
        for input in ["pasted.txt", "evidence.json"] {
            let ran = call(folder.path(), &reader.replace("IN", input).replace("written", "made"));
            assert!(ran.err.contains("percentages and no counted samples"), "{reader} {input}: {ran:?}");
            ran.ok();
        }
    }
    let line = run(folder.path(), ["diff", "ccm.folded", "arc.txt"]).failed(1);
    assert!(line.contains("arc.txt"), "{line}");
    call(folder.path(), "explain arc.txt").ok();
    assert!(!folder.path().join("written").exists());
}

#[test]
fn a_cut_capture_gives_what_is_left_and_says_what_is_lost() {
    let folder = inputs::folder();
    let answer = call(folder.path(), "explain --json cut.zwhy").json();
    let warnings = answer["quality"]["warnings"].as_array().expect("warnings");
    assert!(
        warnings.iter().any(|w| w.as_str().is_some_and(|w| w.contains("cut or damaged"))),
        "{warnings:?}"
    );
    let whole = call(folder.path(), "explain --json ccm.zwhy").json();
    let samples = |answer: &serde_json::Value| answer["source"]["samples"].as_u64().expect("samples");
    let lost = answer["quality"]["lost"].as_u64().expect("lost");
    assert!(samples(&answer) == samples(&whole) || lost > 0, "{answer}");
    assert!(call(folder.path(), "explain cut.zwhy").ok().contains("Data quality"));
}

#[test]
fn what_a_forced_format_cannot_read_fails() {
    let folder = inputs::bare_folder();
    let line = call(folder.path(), "explain --format perf.data ccm.folded").failed(1);
    assert!(line.contains("ccm.folded"), "{line}");
}
