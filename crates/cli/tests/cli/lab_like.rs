//! `zwhy lab … --like CAPTURE`: settings of a recorded host, and what is said of those that are not taken.

use crate::support::{call, skip};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tempfile::TempDir;
use zwhy_capture::{Capture, Series, SeriesKind, write_capture};
use zwhy_evidence::CaptureFacts;
use zwhy_profile::{Event, FrameKind, Nanos, Profile};

/// A small experiment, so that it takes seconds.
const SMALL: &str = r#"
name = "small"
title = "Small"
question = "Does it?"
expectation = "Yes."
engine = "user"
factors = { compression = ["lz4", "off"] }
fixed = { data = "half", arc_max = "64M" }
steps = [{ do = "write" }, { do = "reimport" }, { do = "read" }]
size = { quick = { bytes = "8M", repetitions = 1 }, full = { bytes = "8M", repetitions = 1 } }
compare = { step = "read", measure = "cpu_s_per_gb" }
checks = [{ say = "It reads", measure = "mb_per_s", step = "read", of = "off", at_least = 0.0 }]
"#;

/// A host whose database reads 8 KiB at a time by three threads, as `record` writes it.
fn recorded(path: &Path) {
    let (facts, left_out) = CaptureFacts::from_value(json!({
        "version": 1, "kind": "record", "start_unix_s": 1.7e9,
        "zfs": { "module_loaded": true, "version": "2.1.11-1", "in_use": true },
        "pools": [{ "name": "tank", "vdevs": [{ "name": "mirror-0", "kind": "mirror", "class": "normal",
            "children": [{ "name": "sda", "kind": "disk" }, { "name": "sdb", "kind": "disk" }] }] }],
        "datasets": [
            { "name": "tank/db", "properties": { "recordsize": "16384", "compression": "zstd", "checksum": "sha256",
                "encryption": "off" } },
            { "name": "tank/home", "properties": { "recordsize": "1048576" } },
        ],
        "parameters_changed": { "values": { "zfs_txg_timeout": { "value": "10", "default": "5" } } },
        "recorder": { "hz": 99, "duration_s": 10.0, "samples": 30, "event": "cpu-clock",
            "series": { "objsets": { "tank/objset-0x36": "tank/db" } } },
    }));
    assert!(left_out.is_empty(), "{left_out:?}");
    let mut profile = Profile::new();
    for tid in [11, 12, 13] {
        let frames = ["do_syscall_64", "zfs_read"].map(|name| profile.frame(name, "zfs", FrameKind::Kernel));
        let (thread, stack) = (profile.thread(10, tid, "postgres"), profile.stack(&frames));
        profile.samples.push_counted(thread, stack, Event::Cpu, 10);
    }
    let mut series = Series::default();
    for (second, grown) in [(0, 0), (10, 10)] {
        let t = Nanos(second * 1_000_000_000);
        for (name, each) in [("reads", 1000), ("nread", 8_192_000), ("writes", 10), ("nwritten", 163_840)] {
            series.push(t, "tank/objset-0x36", name, SeriesKind::Counter, grown * each);
        }
    }
    write_capture(Capture { profile, series, facts, ..Capture::default() }, path).expect("a capture");
}

fn folder() -> TempDir {
    let folder = TempDir::new().expect("a folder");
    recorded(&folder.path().join("host.zwhy"));
    fs::write(folder.path().join("small.toml"), SMALL).expect("an experiment");
    folder
}

/// On one line, however wide the terminal.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn what_is_taken_is_shown_with_its_source_before_anything_runs() {
    let folder = folder();
    let shown = flat(&call(folder.path(), "lab show small.toml --like host.zwhy").ok());
    for words in [
        "Settings like those of tank/db in host.zwhy: recordsize=16K (recordsize of tank/db)",
        "io_size=8K (reads of tank/db, 8.0K each on average)",
        "threads=3 (3 threads were sampled in reads of ZFS)",
        "layout=mirror (vdevs of tank), disks=2 (disks of tank)",
        "compression=zstd (compression is what this experiment compares)",
        "the mix (99 % reads) (an experiment reads and writes in steps of its own",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let named =
        flat(&call(folder.path(), "lab show small.toml --like host.zwhy --like-dataset tank/home").ok());
    assert!(named.contains("recordsize=1M (recordsize of tank/home)"), "{named}");
    assert!(named.contains("io_size (the capture counts no reads and writes of tank/home)"), "{named}");
}

#[test]
fn what_is_set_comes_first_and_is_said() {
    let folder = folder();
    let shown =
        call(folder.path(), "lab show small.toml --like host.zwhy --set recordsize=1M --grow threads=1,2,4");
    let shown = flat(&shown.ok());
    assert!(shown.contains("recordsize=16K (--set recordsize=1M comes first)"), "{shown}");
    assert!(shown.contains("threads=3 (--grow threads=1,2,4 comes first)"), "{shown}");
}

#[test]
fn what_is_no_capture_or_tells_nothing_is_an_error_that_names_it() {
    let folder = folder();
    let fails = |args: &str, code: i32, says: &str| {
        let line = call(folder.path(), &format!("lab show small.toml {args}")).failed(code);
        assert!(line.contains(says), "{args}: {line}");
    };
    fails("--like nosuch.zwhy", 1, "nosuch.zwhy");
    fails("--like small.toml", 1, "--like small.toml: this is no capture of zwhy");
    fails("--like .", 1, "this is a folder");
    fails("--like host.zwhy --like-dataset tank/bd", 2, "did you mean tank/db?");
    fails("--like-dataset tank/db", 2, "--like");
    write_capture(Capture::default(), &folder.path().join("empty.zwhy")).expect("a capture");
    fails("--like empty.zwhy", 2, "--like empty.zwhy: it tells nothing that an experiment could take");
    let whole = fs::read(folder.path().join("host.zwhy")).expect("the capture");
    for part in 1..10 {
        fs::write(folder.path().join("cut.zwhy"), &whole[..whole.len() * part / 10]).expect("a file");
        let ran = call(folder.path(), "lab show small.toml --like cut.zwhy");
        // What is still there is taken, and the loss told; without it, that is the error.
        let told = if ran.code == Some(0) {
            ran.err.contains("lost") || ran.err.contains("read")
        } else {
            ran.err.contains("cut.zwhy")
        };
        assert!(told, "{part} tenths: {ran:?}");
    }
}

#[test]
fn a_run_keeps_what_it_took_and_can_be_repeated_without_the_capture() {
    let folder = folder();
    let ran = call(folder.path(), "lab run small.toml --like host.zwhy --no-record --seed 7 -o out");
    if ran.err.contains("OpenZFS is not installed here") {
        return skip(
            "a_run_keeps_what_it_took_and_can_be_repeated_without_the_capture",
            "no libzpool is installed",
        );
    }
    assert!(flat(&ran.err).contains("Settings like those of tank/db in host.zwhy"), "{ran:?}");
    let printed = flat(&ran.ok());
    assert!(printed.contains("Settings like those of tank/db"), "{printed}");
    let result: Value =
        serde_json::from_slice(&fs::read(folder.path().join("out/result.json")).expect("a result"))
            .expect("JSON");
    assert_eq!(result["like"]["dataset"], "tank/db");
    let setup = &result["runs"][0]["setup"];
    assert_eq!((&setup["io_size"], &setup["threads"], &setup["disks"]), (&json!("8K"), &json!(3), &json!(2)));
    assert_eq!(setup["properties"]["recordsize"], "16K");
    let taken = result["like"]["taken"].as_array().expect("what was taken");
    let parameter = taken.iter().any(|t| t["setting"] == "zfs_txg_timeout");
    assert_eq!(setup["parameters"]["zfs_txg_timeout"] == 10, parameter, "{result}");
    assert!(
        result["expected"].as_array().is_some_and(Vec::is_empty),
        "nothing is expected of other settings"
    );

    fs::remove_file(folder.path().join("host.zwhy")).expect("the capture");
    let settings: Vec<String> = taken
        .iter()
        .map(|t| {
            format!(
                "--set {}={}",
                t["setting"].as_str().expect("a name"),
                t["value"].as_str().expect("a value")
            )
        })
        .collect();
    let again = format!("lab run small.toml --no-record --seed 7 {} -o again", settings.join(" "));
    call(folder.path(), &again).ok();
    let repeated: Value =
        serde_json::from_slice(&fs::read(folder.path().join("again/result.json")).expect("a result"))
            .expect("JSON");
    assert_eq!(repeated["runs"][0]["setup"], *setup, "the same settings");
    call(folder.path(), "lab report out -o page.html").ok();
}
