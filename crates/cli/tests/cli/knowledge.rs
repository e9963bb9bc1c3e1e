//! `zwhy knowledge`: what is built in, and checks of one's own causes.

use crate::inputs;
use crate::support::{call, run};
use std::fs;

#[test]
fn causes_are_listed_and_shown() {
    let folder = inputs::bare_folder();
    let list = call(folder.path(), "knowledge list").ok();
    let classes: Vec<&str> = list.lines().filter_map(|l| l.split_whitespace().next()).collect();
    assert!(classes.len() > 5 && classes.contains(&"crypto-ccm-not-accelerated"), "{list}");
    for class in classes.into_iter().step_by(25) {
        let text = call(folder.path(), &format!("knowledge show {class}")).ok();
        assert!(text.contains("What ") && text.contains("Remedy "), "{text}");
        assert!(!text.contains("{dataset}") && !text.contains("{pool}"), "{text}");
    }
    let text = call(folder.path(), "knowledge show crypto-ccm-not-accelerated").ok();
    assert!(text.contains("zfs send"), "the commands of the remedy are shown: {text}");
    assert!(text.contains("\nGain     For the same work "), "{text}");
}

#[test]
fn causes_of_ones_own_are_checked() {
    let folder = inputs::bare_folder();
    let causes = folder.path().join("mine/causes");
    fs::create_dir_all(&causes).expect("a folder");
    fs::write(causes.join("broken.toml"), "class = [\u{1b}\n").expect("a file");
    let lint = run(folder.path(), ["knowledge", "--knowledge", "mine", "lint"]);
    assert_eq!(lint.code, Some(1), "{lint:?}");
    assert!(lint.out.contains("broken.toml") && lint.err.contains("to repair"), "{lint:?}");
    assert_eq!(crate::support::obeyed(&lint.out), []);
    let line = run(folder.path(), ["explain", "--knowledge", "mine", "ccm.folded"]).failed(1);
    let (_, command) = line.split_once("`zwhy ").expect("a command to run");
    let (command, _) = command.split_once('`').expect("the end of it");
    let lint = call(folder.path(), command);
    assert!(line.contains("broken.toml") && lint.out.contains("broken.toml"), "{line} {lint:?}");
}

#[test]
fn a_folder_without_causes_is_refused() {
    let folder = inputs::bare_folder();
    fs::create_dir(folder.path().join("mine")).expect("a folder");
    for args in ["explain --knowledge mine ccm.folded", "knowledge lint --knowledge mine"] {
        let line = call(folder.path(), args).failed(1);
        assert!(line.contains("mine") && line.contains("causes/*.toml"), "{line}");
    }
}

#[test]
fn ask_lists_symptoms_and_the_commands_for_one() {
    let folder = inputs::bare_folder();
    let symptoms = call(folder.path(), "ask").ok();
    let names: Vec<&str> =
        symptoms.lines().filter_map(|l| l.trim_start().strip_prefix("zwhy ask ")).collect();
    assert!(names.len() >= 8, "{symptoms}");
    let firsts: Vec<String> = names
        .iter()
        .map(|name| {
            let list = call(folder.path(), &format!("ask --all {name}")).ok();
            assert!(list.contains("1. ") && list.contains("zwhy explain FILE"), "{list}");
            list
        })
        .collect();
    let mut different = firsts.clone();
    different.dedup();
    assert_eq!(different.len(), firsts.len(), "each symptom has a list of its own");
    let line = run(folder.path(), ["ask", "nonsense"]).failed(2);
    assert!(line.contains("nonsense") && names.iter().all(|n| line.contains(n)), "{line}");
}

#[test]
fn functions_without_a_stage_are_listed() {
    let folder = inputs::bare_folder();
    let stacks = "z_wr_iss;zio_execute_[k];zio_write_compress_[k] 90\nz_wr_iss;[zfs]`never_heard_of 10\next4;ext4_write 7\n";
    fs::write(folder.path().join("new.folded"), stacks).expect("a file");
    let text = call(folder.path(), "knowledge unknown new.folded").ok();
    assert!(text.contains("90 of 100 CPU samples of ZFS") && text.contains("never_heard_of"), "{text}");
    let json = call(folder.path(), "knowledge unknown --json new.folded").ok();
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(
        (&json["zfs"], &json["named"], &json["unknown"][0]["samples"]),
        (&100.into(), &90.into(), &10.into())
    );
    fs::write(folder.path().join("none.folded"), "ext4;ext4_write 7\n").expect("a file");
    assert!(run(folder.path(), ["knowledge", "unknown", "none.folded"]).failed(1).contains("zwhy record"));
}

/// `BLESS=1` writes the book again.
#[test]
fn the_book_in_docs_is_of_these_causes() {
    let book = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/field-guide");
    let folder = inputs::bare_folder();
    call(folder.path(), "knowledge book -o book").ok();
    let source = folder.path().join("book/src");
    if std::env::var_os("BLESS").is_some() {
        // Pages of causes that are gone must go, too.
        let _ = fs::remove_dir_all(&book);
        run(folder.path(), ["knowledge", "book", "-o", &book.display().to_string()]).ok();
    }
    let pages = |folder: &std::path::Path| -> std::collections::BTreeSet<std::ffi::OsString> {
        fs::read_dir(folder).expect("the book").filter_map(|e| Some(e.ok()?.file_name())).collect()
    };
    assert_eq!(pages(&source), pages(&book.join("src")), "run the tests with BLESS=1");
    for page in pages(&source) {
        let text = |folder: &std::path::Path| fs::read_to_string(folder.join(&page)).expect("a page");
        assert!(text(&source) == text(&book.join("src")), "{page:?} is old; run the tests with BLESS=1");
    }
}
