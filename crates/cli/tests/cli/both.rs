//! One program seen by `zwhy record` and by `perf record` in the same seconds: what has no name is called the
//! same by both, so a comparison finds no change.

use crate::record::may_sample;
use crate::support::{Reaped, call, skip, zwhy};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

const TEST: &str = "a_capture_and_a_perf_data_of_the_same_seconds_differ_in_nothing";
/// Changes that hold at a false discovery rate of 5 % may be as many by chance.
const FALSE_DISCOVERIES: f64 = 0.05;

/// Compresses and sorts for ever: libraries that keep no frame pointers, whose callers are cut or unknown.
fn worker(folder: &Path) -> Reaped {
    let script = "while :; do head -c 400000 /dev/urandom | gzip -1 | od -An -v -tx1 | sort | gzip -9; done";
    let mut command = Command::new("sh");
    command.args(["-c", script]).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
    Reaped(command.spawn().expect("a shell"))
}

fn real(diff: &Value, rows: &str) -> (Vec<String>, usize) {
    let all = diff[rows].as_array().expect("rows");
    let real = all.iter().filter(|row| row["real"] == true);
    (real.map(|row| row.to_string()).collect(), all.len())
}

#[test]
fn a_capture_and_a_perf_data_of_the_same_seconds_differ_in_nothing() {
    if !may_sample(TEST) {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let worker = worker(folder.path());
    let pid = worker.0.id().to_string();
    let perf = Command::new("perf")
        .args(["record", "-q", "-g", "-F", "499", "-p", &pid, "-o", "seen.data", "--", "sleep", "4"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut perf) = perf else { return skip(TEST, "perf is not installed") };
    let recorded = zwhy(folder.path())
        .args(["record", "-F", "499", "-d", "4", "-p", &pid, "-o", "seen.zwhy"])
        .output()
        .expect("the program runs");
    let seen = perf.wait().is_ok_and(|status| status.success());
    worker.end();
    assert!(recorded.status.success(), "{recorded:?}");
    if !seen || fs::metadata(folder.path().join("seen.data")).is_err() {
        return skip(TEST, "perf may not record here");
    }
    let diff = call(folder.path(), "diff --json seen.zwhy seen.data").json();
    for rows in ["functions", "stages", "threads"] {
        let (real, all) = real(&diff, rows);
        let allowed = (all as f64 * FALSE_DISCOVERIES).ceil() as usize;
        assert!(real.len() <= allowed, "{rows}: {} of {all} are said to differ: {real:#?}", real.len());
    }
    // What has no name is what this is about: both saw some, and call it the same.
    let nameless = |row: &&Value| row["name"].as_str().is_some_and(|name| name.starts_with('['));
    let names: Vec<&Value> = diff["functions"].as_array().expect("rows").iter().filter(nameless).collect();
    assert!(!names.iter().any(|row| row["name"] == "[unknown]"), "{names:?}");
}
