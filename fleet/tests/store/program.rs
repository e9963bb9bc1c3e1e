//! The program itself: what it prints, and how it fails.

use crate::source::{answer, path};
use std::process::{Command, Output};

fn fleet(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_zwhy-fleet")).args(args).output().unwrap()
}

fn text(args: &[&str]) -> String {
    let out = fleet(args);
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

#[test]
fn a_capture_goes_in_and_answers_come_out() {
    let dir = tempfile::tempdir().unwrap();
    let store = format!("file://{}", dir.path().join("fleet").display());
    let capture = path("gzip").display().to_string();
    let host = "db7\u{1b}[2J";
    let told = text(&["ingest", &capture, "--store", &store, "--host", host]);
    assert!(told.contains("db7?[2J of 2026-11-2") && told.contains("rows of samples"), "{told}");
    assert!(text(&["ingest", &capture, "--store", &store, "--host", host]).contains("in the store already"));

    let hosts = text(&["query", "hosts", "--store", &store]);
    assert!(hosts.contains("db7?[2J") && !hosts.contains('\u{1b}'), "{hosts}");
    let stages = text(&["query", "stages", "--store", &store, "--json"]);
    let stages: serde_json::Value = serde_json::from_str(&stages).unwrap();
    let want = answer("gzip");
    assert_eq!(stages[0]["stage"], want.stages[0].stage);
    assert_eq!(stages[0]["samples"], want.stages[0].samples);
    let folded = text(&["query", "flame", "--store", &store]);
    let sum: u64 = folded.lines().map(|l| l.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum();
    assert_eq!(sum, want.stages.iter().map(|row| row.samples).sum::<u64>());
    let pprof = fleet(&["query", "flame", "--store", &store, "--format", "pprof"]);
    assert!(pprof.status.success() && pprof.stdout.starts_with(&[0x1f, 0x8b]));
    let functions = text(&["query", "functions", "--store", &store, "--most", "3"]);
    assert_eq!(functions.lines().count(), 4, "{functions}");
    let findings = text(&["query", "findings", "--store", &store]);
    assert!(findings.contains(&want.findings[0].class), "{findings}");
    let size = text(&["query", "kstat", "--store", &store, "--source", "arcstats", "--name", "size"]);
    assert!(size.lines().count() > 2, "{size}");
    let none = text(&["query", "stages", "--store", &store, "--from", "2030-01-01", "--json"]);
    assert_eq!(none.trim(), "[]");
    assert_eq!(text(&["judge", "--store", &store]), "0 files were judged\n");
}

#[test]
fn mistakes_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().display().to_string();
    for (args, want) in [
        (vec!["query", "hosts", "--store", "/nonexistent/fleet"], "cannot open the store"),
        (vec!["query", "hosts", "--store", "ftp://x"], "is no store"),
        (vec!["query", "hosts", "--store", &store, "--from", "yesterday"], "is no time"),
        (vec!["ingest", "/nonexistent.zwhy", "--store", &store], "/nonexistent.zwhy"),
        (vec!["query", "stages", "--store", &store, "--step", "0s"], "is no time"),
    ] {
        let out = fleet(&args);
        let told = String::from_utf8_lossy(&out.stderr);
        assert!(!out.status.success() && told.contains(want), "{args:?}: {told}");
    }
}
