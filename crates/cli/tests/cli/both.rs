//! One program seen by `zwhy record` and by `perf record` in the same seconds: what has no name is called the
//! same by both, so a comparison finds no change.

use crate::record::may_sample;
use crate::support::{Reaped, call, skip, zwhy};
use serde_json::Value;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

const TEST: &str = "a_capture_and_a_perf_data_of_the_same_seconds_differ_in_nothing";
/// Changes that hold at a false discovery rate of 5 % may be as many by chance.
const FALSE_DISCOVERIES: f64 = 0.05;
const RECORDINGS: usize = 3;

/// Compresses for ever: a program without symbols and frame pointers, whose callers are cut or unknown.
fn worker() -> Option<Reaped> {
    let noise = File::open("/dev/urandom").ok()?;
    let mut command = Command::new("gzip");
    command.args(["-9", "-c"]).stdin(noise).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().ok().map(Reaped)
}

fn real(diff: &Value, rows: &str) -> (Vec<String>, usize) {
    let all = diff[rows].as_array().expect("rows");
    let real = all.iter().filter(|row| row["real"] == true);
    (real.map(|row| row.to_string()).collect(), all.len())
}

/// What a recording of the same seconds by both showed, or `None` where perf may not record.
fn recorded_by_both(folder: &Path, pid: &str) -> Option<Value> {
    let perf = Command::new("perf")
        .args(["record", "-q", "-g", "-F", "499", "-p", pid, "-o", "seen.data", "--", "sleep", "4"])
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut perf = perf.ok()?;
    let recorded = zwhy(folder)
        .args(["record", "-F", "499", "-d", "4", "-p", pid, "-o", "seen.zwhy"])
        .output()
        .expect("the program runs");
    let seen = perf.wait().is_ok_and(|status| status.success());
    assert!(recorded.status.success(), "{recorded:?}");
    if !seen || fs::metadata(folder.join("seen.data")).is_err() {
        return None;
    }
    Some(call(folder, "diff --json seen.zwhy seen.data").json())
}

/// The first rows of which more are said to differ than chance allows.
fn differs(diff: &Value) -> Option<String> {
    ["functions", "stages", "threads"].into_iter().find_map(|rows| {
        let (real, all) = real(diff, rows);
        let allowed = (all as f64 * FALSE_DISCOVERIES).ceil() as usize;
        (real.len() > allowed)
            .then(|| format!("{rows}: {} of {all} are said to differ: {real:#?}", real.len()))
    })
}

/// On a machine that is busy with other things the two start apart, or sample in step with the scheduler, and then they
/// did not see the same seconds. A name that only one of them gives shows in each recording.
#[test]
fn a_capture_and_a_perf_data_of_the_same_seconds_differ_in_nothing() {
    if !may_sample(TEST) {
        return;
    }
    let Some(worker) = worker() else { return skip(TEST, "gzip is not installed") };
    let pid = worker.0.id().to_string();
    let mut said = Vec::new();
    for _ in 0..RECORDINGS {
        let folder = TempDir::new().expect("a folder");
        let Some(diff) = recorded_by_both(folder.path(), &pid) else {
            return skip(TEST, "perf is not installed or may not record here");
        };
        has_the_same_names(&diff);
        match differs(&diff) {
            None => return,
            Some(what) => said.push(what),
        }
    }
    panic!("{}", said.join("\n"));
}

/// What has no name is what this is about: both saw the same of it.
fn has_the_same_names(diff: &Value) {
    let all = diff["functions"].as_array().expect("rows");
    let of_gzip = |row: &&Value| row["name"].as_str().is_some_and(|name| name.starts_with("gzip+0x"));
    let seen_by_both =
        |row: &&Value| row["samples"][0].as_u64() > Some(0) && row["samples"][1].as_u64() > Some(0);
    assert!(
        all.iter().filter(of_gzip).any(|row| seen_by_both(&row)) || !all.iter().any(|row| of_gzip(&row)),
        "{diff}"
    );
    assert!(!all.iter().any(|row| row["name"] == "[unknown]"), "{diff}");
}
