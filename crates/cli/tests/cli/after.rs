//! `zwhy explain BEFORE --after AFTER`: what it says of real and made-up pairs, and of input that is none.

use crate::support::{call, run};
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const CCM: &str = "z_rd_int;zio_decrypt;zio_do_crypt_data;ccm_mode_decrypt_contiguous_blocks";
const COPY: &str = "dd;zfs_read;zfs_uiomove";

/// Folded stacks from before and after a move from CCM.
fn pair(folder: &Path) {
    fs::write(folder.join("before.folded"), format!("{CCM} 1400\n{COPY} 300\n")).expect("a file");
    fs::write(folder.join("after.folded"), format!("{COPY} 900\n")).expect("a file");
}

fn json(folder: &Path, before: &str, after: &str) -> Value {
    run(folder, ["explain", before, "--after", after, "--json"]).json()
}

#[test]
fn the_first_line_is_the_verdict_on_every_face() {
    let folder = TempDir::new().expect("a folder");
    pair(folder.path());
    let text = call(folder.path(), "explain before.folded --after after.folded").ok();
    assert!(text.starts_with("HELPED  It helped: \"AES-CCM"), "{text}");
    assert!(text.contains("gone") && text.contains("82.4 % → 0.0 % *"), "{text}");
    assert!(text.contains("* changed by more than chance"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let markdown = call(folder.path(), "explain --markdown before.folded --after after.folded").ok();
    assert!(markdown.starts_with("**It helped: \"AES-CCM"), "{markdown}");
    assert!(markdown.contains("changed by more than chance"), "{markdown}");
    let answer = json(folder.path(), "before.folded", "after.folded");
    assert_eq!((&answer["outcome"], &answer["findings"][0]["state"]), (&"helped".into(), &"gone".into()));
    assert_eq!(answer["findings"][0]["change"]["real"], true);
    let back = json(folder.path(), "after.folded", "before.folded");
    assert_eq!((&back["outcome"], &back["findings"][0]["state"]), (&"worse".into(), &"came".into()));
}

#[test]
fn a_capture_is_compared_as_its_source_is() {
    let folder = TempDir::new().expect("a folder");
    pair(folder.path());
    for name in ["before", "after"] {
        run(folder.path(), ["import", &format!("{name}.folded"), "-o", &format!("{name}.zwhy")]).ok();
    }
    let answer = json(folder.path(), "before.zwhy", "after.folded");
    assert_eq!(answer["outcome"], "helped", "{answer}");
}

#[test]
fn what_the_load_counted_is_taken_from_beside_the_captures() {
    let folder = TempDir::new().expect("a folder");
    pair(folder.path());
    for (name, bytes) in [("before", 2_000_000_000u64), ("after", 3_000_000_000)] {
        run(folder.path(), ["import", &format!("{name}.folded"), "-o", &format!("{name}.zwhy")]).ok();
        let load = format!("{{\"bytes\": {bytes}, \"operations\": 9, \"seconds\": 10}}");
        fs::write(folder.path().join(format!("{name}.load")), load).expect("a file");
    }
    let answer = json(folder.path(), "before.zwhy", "after.zwhy");
    assert_eq!(answer["work"]["rate"]["before"], 2e8, "{answer}");
    assert_eq!(answer["work"]["rate"]["ratio"], 1.5);
    fs::write(folder.path().join("after.load"), "{\"bytes\": 5}").expect("a file");
    let line = run(folder.path(), ["explain", "before.zwhy", "--after", "after.zwhy"]).failed(1);
    assert!(line.contains("after.load has no \"seconds\" above 0"), "{line}");
    fs::write(folder.path().join("after.load"), "none").expect("a file");
    let line = run(folder.path(), ["explain", "before.zwhy", "--after", "after.zwhy"]).failed(1);
    assert!(line.contains("after.load") && line.contains("lies beside a capture but is not JSON"), "{line}");
}

#[test]
fn what_cannot_be_compared_is_said_and_bad_input_is_an_error() {
    let folder = TempDir::new().expect("a folder");
    pair(folder.path());
    let same = json(folder.path(), "before.folded", "before.folded");
    assert_eq!(same["outcome"], "cannot-tell");
    assert!(same["verdict"].as_str().is_some_and(|v| v.contains("the same recording")), "{same}");
    fs::write(folder.path().join("few.folded"), format!("{COPY} 30\n")).expect("a file");
    let few = json(folder.path(), "before.folded", "few.folded");
    assert!(few["verdict"].as_str().is_some_and(|v| v.contains("AFTER has only 30 samples")), "{few}");
    let line = run(folder.path(), ["explain", "before.folded", "--after", "nosuch.zwhy"]).failed(1);
    assert!(line.contains("nosuch.zwhy") && line.contains("check the name"), "{line}");
    let line = run(folder.path(), ["explain", "-", "--after", "-"]).failed(1);
    assert!(line.contains("standard input"), "{line}");
    run(folder.path(), ["import", "after.folded", "-o", "after.zwhy"]).ok();
    let whole = fs::read(folder.path().join("after.zwhy")).expect("the capture");
    fs::write(folder.path().join("cut.zwhy"), &whole[..whole.len() / 2]).expect("a file");
    let cut = json(folder.path(), "before.folded", "cut.zwhy");
    assert_eq!(cut["outcome"], "cannot-tell", "{cut}");
    let verdict = cut["verdict"].as_str().unwrap_or_default();
    assert!(verdict.starts_with("Whether it helped cannot be told. AFTER has no samples"), "{verdict}");
    assert!(verdict.contains("not read completely") && verdict.contains("cut or damaged"), "{verdict}");
    fs::write(folder.path().join("hostile.folded"), format!("a\u{1b}[31m|`x`;zfs_read {}\n", 900))
        .expect("a file");
    let hostile = call(folder.path(), "explain --markdown before.folded --after hostile.folded").ok();
    assert!(!hostile.contains('\u{1b}'), "{hostile}");
}
