//! `zwhy limits`: measured once, then kept for this machine.

use crate::support::{Ran, zwhy};
use std::path::Path;

fn limits(folder: &Path, args: &[&str]) -> Ran {
    let mut command = zwhy(folder);
    command.arg("limits").args(args).env("XDG_CACHE_HOME", folder);
    Ran::of(command.output().expect("the program runs"))
}

#[test]
fn figures_are_measured_once_and_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = limits(folder.path(), &["--json"]).json();
    let rows = first["rows"].as_array().expect("rows");
    let named = |name: &str| rows.iter().find(|r| r["work"] == name);
    for name in ["aes-256-ccm", "aes-256-gcm", "zstd-19 compress", "memory copy"] {
        let row = named(name).unwrap_or_else(|| panic!("{name}: {first}"));
        assert!(row["mb_s"].as_f64().is_some_and(|v| v > 0.0), "{row}");
    }
    assert_eq!(limits(folder.path(), &["--json"]).json(), first, "two measurements are never equal");
    let text = limits(folder.path(), &[]).ok();
    assert!(text.contains("aes-256-gcm") && text.lines().all(|l| l.chars().count() <= 80), "{text}");
    assert_ne!(limits(folder.path(), &["--fresh", "--json"]).json(), first);
}

#[test]
fn figures_are_shown_where_they_cannot_be_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = zwhy(folder.path());
    command.args(["limits", "--json"]).env("XDG_CACHE_HOME", "/proc/nowhere");
    let ran = Ran::of(command.output().expect("the program runs"));
    assert!(ran.err.contains("note: cannot keep the figures"), "{}", ran.err);
    assert!(ran.json()["rows"].is_array());
}
