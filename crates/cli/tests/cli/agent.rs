//! `zwhy agent`: what it records is told by `status` and opened by every other command.

use crate::support::{Reaped, call, run, signal, wait_until, zwhy};
use rustix::process::Signal;
use std::process::Stdio;
use zwhy_capture::Capture;

#[test]
fn the_host_is_recorded_until_a_signal_and_explained_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let spool = folder.path().join("spool");
    let mut command = zwhy(folder.path());
    command.args(["agent", "--spool", "spool", "-i", "1"]).stderr(Stdio::null());
    let mut agent = Reaped(command.spawn().unwrap());
    assert!(wait_until(&mut agent.0, || spool.join("status.json").exists()), "it runs until it is ended");
    let look = run(folder.path(), ["agent", "status", "--json", "--spool", "spool"]).json();
    assert_eq!(look["running"], agent.0.id().to_string());
    let error = call(folder.path(), "agent --spool spool").failed(1);
    assert!(error.contains("belongs to an agent that runs"), "{error}");
    // The growing file is on disk after a few seconds.
    let in_part = || {
        std::fs::read_dir(&spool).unwrap().flatten().any(|f| f.path().join("series-000002.parquet").exists())
    };
    assert!(wait_until(&mut agent.0, in_part));
    call(folder.path(), "agent capture --spool spool -o now.zwhy").ok();
    signal(&agent.0, Signal::TERM);
    assert!(agent.0.wait().unwrap().success());
    let look = run(folder.path(), ["agent", "status", "--json", "--spool", "spool"]).json();
    assert_eq!((&look["running"], &look["files"]), (&serde_json::Value::Null, &1.into()), "{look}");
    let text = call(folder.path(), "agent status --spool spool").ok();
    assert!(text.starts_with("AGENT    does not run") && text.contains("SPOOL"), "{text}");
    let out = call(folder.path(), "agent capture --last 1h --spool spool -o all.zwhy").ok();
    assert_eq!(out, "all.zwhy\n");
    let capture = Capture::open(&folder.path().join("all.zwhy")).unwrap();
    assert!(capture.damage.is_empty() && capture.series.len() > 10);
    let written = &look["agent"]["written"];
    assert_eq!(
        (written["samples"].as_u64(), written["series"].as_u64()),
        (Some(capture.profile.samples.len() as u64), Some(capture.series.len() as u64)),
        "all that was written is in it"
    );
    let answer = run(folder.path(), ["explain", "--json", "all.zwhy"]).json();
    assert!(answer["why"].as_str().is_some_and(|why| !why.is_empty()), "{answer}");
    let lines = call(folder.path(), "top --json now.zwhy").ok();
    assert!(lines.lines().count() >= 5, "{lines}");
}

#[test]
fn what_is_no_spool_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let error = call(folder.path(), "agent status --spool missing").failed(1);
    assert!(error.contains("missing") && error.contains("--spool"), "{error}");
    let error = call(folder.path(), "agent capture --spool . -o x.zwhy").failed(1);
    assert!(error.contains("holds nothing that was recorded"), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
    call(folder.path(), "agent --spool . --keep 1y").failed(2);
    call(folder.path(), "agent --spool . --max-bytes 1M").failed(2);
}
