//! How a recording may end: by Ctrl-C, by a kill, on a full disk. What was recorded stays.

use crate::burner;
use crate::record::may_sample;
use crate::support::{Ran, Reaped, call, is_root, run, signal, skip, wait_until, zwhy};
use rustix::process::Signal;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// Starts to record `target`, and waits until samples are on disk.
fn started(folder: &Path, target: &Reaped) -> Child {
    let mut command = zwhy(folder);
    command.args(["record", "-o", "x.zwhy", "-p", &target.0.id().to_string()]);
    let mut recorder = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let part = folder.join("x.zwhy.part");
    let has_samples = || {
        let names =
            fs::read_dir(&part).into_iter().flatten().filter_map(|e| e.ok()?.file_name().into_string().ok());
        names.into_iter().any(|n| n.starts_with("samples-") && n.ends_with(".parquet"))
    };
    if !wait_until(&mut recorder, has_samples) {
        panic!("the recorder ended early: {:?}", Ran::of(recorder.wait_with_output().expect("its output")));
    }
    recorder
}

fn samples(folder: &Path) -> u64 {
    call(folder, "explain --json x.zwhy").json()["source"]["samples"].as_u64().expect("samples")
}

#[test]
fn ctrl_c_keeps_all_and_is_a_success() {
    if !may_sample("ctrl_c_keeps_all_and_is_a_success") {
        return;
    }
    for end in [Signal::INT, Signal::TERM] {
        let folder = TempDir::new().expect("a folder");
        let target = burner::endless(folder.path());
        let recorder = started(folder.path(), &target);
        signal(&recorder, end);
        let ran = Ran::of(recorder.wait_with_output().expect("it ends"));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.err.contains("Now: zwhy explain x.zwhy"), "{ran:?}");
        assert!(folder.path().join("x.zwhy").is_file() && !folder.path().join("x.zwhy.part").exists());
        assert!(samples(folder.path()) > 0);
    }
}

#[test]
fn a_recording_under_way_and_a_killed_one_can_be_explained() {
    if !may_sample("a_recording_under_way_and_a_killed_one_can_be_explained") {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let target = burner::endless(folder.path());
    let mut recorder = started(folder.path(), &target);
    let under_way = samples(folder.path());
    recorder.kill().expect("it takes the signal");
    recorder.wait().expect("it ends");
    let killed = samples(folder.path());
    assert!(under_way > 0 && killed >= under_way, "{under_way}, then {killed}");
    assert!(folder.path().join("x.zwhy.part").is_dir());
    call(folder.path(), "explain x.zwhy.part").ok();
    let line = run(folder.path(), ["record", "-o", "x.zwhy", "--", "true"]).failed(1);
    assert!(line.contains("x.zwhy.part already exists"), "{line}");
}

#[test]
fn the_end_of_the_process_ends_the_recording() {
    if !may_sample("the_end_of_the_process_ends_the_recording") {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let target = burner::endless(folder.path());
    let recorder = started(folder.path(), &target);
    target.end();
    Ran::of(recorder.wait_with_output().expect("it ends")).ok();
    assert!(samples(folder.path()) > 0);
}

/// A small file system, gone with the test.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(place: &Path) -> Option<SmallDisk> {
        let options = ["-t", "tmpfs", "-o", "size=2m", "tmpfs"];
        let status = Command::new("mount").args(options).arg(place).stderr(Stdio::null()).status();
        status.is_ok_and(|s| s.success()).then(|| SmallDisk(place.to_owned()))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_ends_the_recording_and_the_start_stays_readable() {
    let test = "a_full_disk_ends_the_recording_and_the_start_stays_readable";
    if !is_root() {
        return skip(test, "only root may mount a small disk");
    }
    let folder = TempDir::new().expect("a folder");
    let Some(disk) = SmallDisk::mount(folder.path()) else {
        return skip(test, "a tmpfs cannot be mounted here");
    };
    if !may_sample(test) {
        return;
    }
    let target = burner::endless(Path::new("/"));
    let recorder = started(&disk.0, &target);
    let mut filler = fs::File::create(disk.0.join("filler")).expect("a file");
    while filler.write_all(&[1; 4096]).is_ok() {}
    let line = Ran::of(recorder.wait_with_output().expect("it ends")).failed(1);
    for part in ["x.zwhy", "No space left on device", "free some space", "zwhy explain x.zwhy"] {
        assert!(line.contains(part), "{line}");
    }
    assert_eq!(line.matches("No space left").count(), 1, "{line}");
    assert!(samples(&disk.0) > 0, "what was written before is there");
}

#[test]
fn the_last_seconds_are_written_on_a_signal_again_and_again() {
    if !may_sample("the_last_seconds_are_written_on_a_signal_again_and_again") {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let target = burner::endless(folder.path());
    let mut command = zwhy(folder.path());
    command.args(["record", "-o", "x.zwhy", "--last", "3s", "--repeat", "--interval", "0.1"]);
    command.args(["-F", "999", "-p", &target.0.id().to_string()]);
    let mut recorder = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let seen = |name: &str| folder.path().join(name).exists();
    assert!(wait_until(&mut recorder, || folder.path().join("x.zwhy.part/facts.json").exists()));
    std::thread::sleep(std::time::Duration::from_millis(500));
    signal(&recorder, Signal::USR1);
    assert!(wait_until(&mut recorder, || seen("x.zwhy")));
    std::thread::sleep(std::time::Duration::from_millis(500));
    signal(&recorder, Signal::INT);
    let ran = Ran::of(recorder.wait_with_output().expect("it ends"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.err.contains("Now: zwhy explain x-2.zwhy"), "{ran:?}");
    let of = |name: &str| zwhy_capture::Capture::open(&folder.path().join(name)).expect("a capture");
    for capture in [of("x.zwhy"), of("x-2.zwhy")] {
        let samples = &capture.profile.samples;
        assert!(samples.len() > 10 && capture.damage.is_empty(), "{:?}", capture.facts);
        let duration = capture.facts.recorder.duration_s.expect("a duration");
        let last = samples.t.iter().map(|t| t.0).max().unwrap_or(0);
        assert!(last as f64 / 1e9 <= duration + 0.1, "{last} ns of {duration} s");
        assert_eq!(capture.facts.recorder.samples, Some(samples.len() as u64));
    }
    let (first, second) = (of("x.zwhy"), of("x-2.zwhy"));
    assert!(first.facts.start_unix_s < second.facts.start_unix_s);
}
