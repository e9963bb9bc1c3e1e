//! Files that the perf of this machine writes, compared with what linux-perf-data reads of them.
//!
//! Without perf, or without permission to use it, there is nothing to compare and the tests pass.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use zwhy_formats::{ErrorKind, ImportOptions, Imported, import_path};
use zwhy_profile::{Event, Profile};

const WORK: [&str; 5] = ["dd", "if=/dev/urandom", "of=/dev/null", "bs=64k", "count=600"];

/// Records `WORK` with perf into `dir`; `None` where perf cannot.
fn record(dir: &Path, options: &[&str]) -> Option<PathBuf> {
    let path = dir.join("perf.data");
    let status = Command::new("perf")
        .args(["record", "-F", "1999", "-o"])
        .arg(&path)
        .args(options)
        .arg("--")
        .args(WORK)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .ok()?;
    (status.success() && path.exists()).then_some(path)
}

fn read(path: &Path) -> Imported {
    let imported = import_path(path, &ImportOptions::default()).expect("perf's own file");
    assert!(imported.stats.balanced(), "{:?}", imported.stats);
    assert_eq!(imported.stats.lost_bytes, 0, "{:?}", imported.stats);
    imported
}

/// Samples by (pid, tid), and frames in all, as linux-perf-data has them.
fn oracle(path: &Path) -> (BTreeMap<(i32, i32), u64>, u64) {
    use linux_perf_data::linux_perf_event_reader::EventRecord;
    use linux_perf_data::{PerfFileReader, PerfFileRecord};
    let file = std::io::BufReader::new(std::fs::File::open(path).expect("open"));
    let PerfFileReader { mut perf_file, mut record_iter } = PerfFileReader::parse_file(file).expect("oracle");
    let (mut threads, mut frames) = (BTreeMap::new(), 0);
    while let Some(record) = record_iter.next_record(&mut perf_file).expect("oracle") {
        let PerfFileRecord::EventRecord { record, .. } = record else { continue };
        if let EventRecord::Sample(sample) = record.parse().expect("oracle") {
            *threads.entry((sample.pid.unwrap_or(-1), sample.tid.unwrap_or(-1))).or_default() += 1;
            let chain = sample.callchain.iter().flat_map(|c| (0..c.len()).filter_map(|i| c.get(i)));
            frames += (chain.filter(|a| *a < -4095i64 as u64).count() as u64).max(1);
        }
    }
    (threads, frames)
}

fn ours(profile: &Profile) -> (BTreeMap<(i32, i32), u64>, u64) {
    let (mut threads, mut frames) = (BTreeMap::new(), 0);
    for sample in profile.samples.iter() {
        let thread = profile.threads.get(sample.thread);
        *threads.entry((thread.pid, thread.tid)).or_default() += 1;
        frames += u64::from(profile.stacks.depth(sample.stack));
    }
    (threads, frames)
}

fn is_named(profile: &Profile, function: &str) -> bool {
    profile.frames.iter().any(|(id, _)| profile.function_of(id) == function)
}

#[test]
fn every_sample_thread_and_frame_is_there() {
    for options in [
        &["-g"][..],
        &["-g", "-a"],
        &[],
        &["-g", "-a", "-e", "cpu-clock,page-faults"],
        &["-g", "--buildid-mmap"],
    ] {
        let dir = tempfile::tempdir().expect("temp dir");
        let Some(path) = record(dir.path(), options) else { continue };
        let imported = read(&path);
        let ((threads, frames), (their_threads, their_frames)) =
            (ours(&imported.evidence.profile), oracle(&path));
        assert_eq!(threads, their_threads, "{options:?}");
        // Chains are cut before callers that cannot be code, and the reader says so.
        let cut = imported.stats.warnings.iter().any(|w| w.contains("cannot be code"));
        assert_eq!(frames < their_frames, cut, "{options:?} {frames} of {their_frames} frames");
        // How many are cut is up to the programs of this host; the leaf stays, whatever it is.
        let samples: u64 = threads.values().sum();
        assert!((samples..=their_frames).contains(&frames), "{frames} of {their_frames}, {samples} samples");
        assert!(imported.evidence.profile.samples.t.is_sorted());
    }
}

#[test]
fn every_sample_of_a_compressed_file_is_there() {
    let dir = tempfile::tempdir().expect("temp dir");
    let Some(path) = record(dir.path(), &["-g", "-z"]) else { return };
    let imported = read(&path);
    // linux-perf-data is built without zstd here; perf's own list of samples takes its place.
    let script =
        Command::new("perf").args(["script", "-F", "tid", "-i"]).arg(&path).output().expect("perf script");
    let samples = script.stdout.split(|b| *b == b'\n').filter(|line| !line.is_empty()).count();
    assert_eq!(imported.stats.kept, samples as u64);
    assert!(samples > 0 && imported.evidence.profile.stacks.len() > 10);
}

#[test]
fn a_stream_from_a_pipe_is_read() {
    let dir = tempfile::tempdir().expect("temp dir");
    for options in [&["-g"][..], &["-g", "-z"]] {
        let path = dir.path().join("stream");
        let out = std::fs::File::create(&path).expect("create");
        let status = Command::new("perf")
            .args(["record", "-F", "1999", "-o", "-"])
            .args(options)
            .arg("--")
            .args(WORK)
            .stdout(out)
            .stderr(Stdio::null())
            .status();
        if !status.is_ok_and(|s| s.success()) {
            return;
        }
        let imported = read(&path);
        assert!(imported.stats.kept > 0 && imported.stats.lost == 0, "{options:?} {:?}", imported.stats);
        let comms: Vec<&str> = imported
            .evidence
            .profile
            .threads
            .iter()
            .map(|(_, t)| imported.evidence.profile.strings.get(t.comm))
            .collect();
        assert!(comms.contains(&"dd"), "{comms:?}");
    }
}

#[test]
fn dwarf_call_graphs_keep_kernel_frames_and_the_innermost_user_frame() {
    let dir = tempfile::tempdir().expect("temp dir");
    let Some(path) = record(dir.path(), &["--call-graph", "dwarf,4096"]) else { return };
    let imported = read(&path);
    let (threads, _) = oracle(&path);
    assert_eq!(ours(&imported.evidence.profile).0, threads);
    assert!(imported.stats.warnings.iter().any(|w| w.contains("--call-graph dwarf")), "{:?}", imported.stats);
}

#[test]
fn names_are_those_of_the_running_kernel_and_of_the_objects() {
    let dir = tempfile::tempdir().expect("temp dir");
    let Some(path) = record(dir.path(), &["-g"]) else { return };
    let profile = read(&path).evidence.profile;
    // Without the right to see kernel addresses there is a reason instead of a name.
    if std::fs::read_to_string("/proc/kallsyms").is_ok_and(|k| !k.starts_with("0000000000000000")) {
        assert!(is_named(&profile, "do_syscall_64") || !cfg!(target_arch = "x86_64"));
    }
    let unexplained = profile.frames.iter().filter(|(id, f)| {
        profile.function_of(*id).contains("+0x") && profile.strings.get(f.reason).is_empty()
    });
    assert_eq!(unexplained.count(), 0);
}

#[test]
fn the_file_of_a_killed_recorder_gives_its_samples() {
    let dir = tempfile::tempdir().expect("temp dir");
    let path = dir.path().join("perf.data");
    let spawned = Command::new("perf")
        .args(["record", "-F", "1999", "-g", "-a", "-o"])
        .arg(&path)
        .args(["--", "sleep", "60"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut perf) = spawned else { return };
    // perf writes a buffer when it is half full; wait for data rather than for a time.
    let mut tries = 0;
    while std::fs::metadata(&path).map_or(0, |m| m.len()) < 300_000 && tries < 300 {
        let _ = Command::new("dd").args(&WORK[1..]).stderr(Stdio::null()).status();
        tries += 1;
        if perf.try_wait().is_ok_and(|ended| ended.is_some()) {
            return; // not permitted
        }
    }
    perf.kill().expect("kill");
    perf.wait().expect("wait");
    let imported = import_path(&path, &ImportOptions::default()).expect("salvage");
    assert!(imported.stats.balanced() && imported.stats.kept > 0, "{:?}", imported.stats);
    assert!(imported.stats.warnings.iter().any(|w| w.contains("ended before it closed")));
    assert_eq!(imported.evidence.profile.total(Event::Cpu), imported.stats.kept);
}

#[test]
fn a_directory_is_refused_with_what_to_do() {
    let dir = tempfile::tempdir().expect("temp dir");
    let Some(path) = record(dir.path(), &["-a", "--threads"]) else { return };
    for path in [path.clone(), path.join("data")] {
        let error = import_path(&path, &ImportOptions::default()).expect_err("a directory");
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("perf script -i"), "{error}");
    }
}
