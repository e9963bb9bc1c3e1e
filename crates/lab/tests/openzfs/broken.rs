//! What breaks while an experiment runs: each is one clear error, and nothing is left behind.

use crate::harness::{CHILD, PARENT, Test, experiment, options, process};
use std::cell::Cell;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use zwhy_evidence::CaptureFacts;
use zwhy_lab::{
    Bytes, ChildProgram, ExperimentResult, Fault, LabError, NullRecorder, Progress, RecordError, Recorder,
    Recording, RunOptions, Silent, SizeSpec, Step, Whom, run,
};

pub const TESTS: &[Test] = &[
    (
        "a_crash_of_openzfs_is_an_error_with_its_last_words",
        a_crash_of_openzfs_is_an_error_with_its_last_words,
    ),
    ("a_silent_child_is_stopped", a_silent_child_is_stopped),
    ("a_wrong_byte_is_an_error", a_wrong_byte_is_an_error),
    ("a_killed_child_is_an_error", a_killed_child_is_an_error),
    ("a_killed_parent_takes_the_child_with_it", a_killed_parent_takes_the_child_with_it),
    ("cancelling_keeps_the_runs_before", cancelling_keeps_the_runs_before),
    ("a_recorder_that_fails_ends_the_experiment", a_recorder_that_fails_ends_the_experiment),
    ("a_program_that_is_no_child_is_an_error", a_program_that_is_no_child_is_an_error),
    ("a_small_disk_is_refused_before_anything_runs", a_small_disk_is_refused_before_anything_runs),
    ("a_scratch_folder_in_use_is_refused_and_kept", a_scratch_folder_in_use_is_refused_and_kept),
];

/// Runs one small variant that goes wrong; the scratch folder must be gone after it.
fn fails(
    change: impl Fn(&mut RunOptions),
    recorder: &mut dyn Recorder,
    progress: &mut dyn Progress,
) -> LabError {
    let dir = tempfile::tempdir().unwrap();
    let mut options = options(dir.path());
    change(&mut options);
    let error = run(&experiment(r#"encryption = ["off"]"#, "16M"), &options, recorder, progress).unwrap_err();
    assert!(!dir.path().join("scratch").exists(), "the scratch folder is left after: {error}");
    error
}

fn fails_with(change: impl Fn(&mut RunOptions)) -> LabError {
    fails(change, &mut NullRecorder, &mut Silent)
}

fn a_crash_of_openzfs_is_an_error_with_its_last_words() {
    let error = fails_with(|options| options.fault = Some(Fault::Crash));
    assert!(matches!(error, LabError::Crashed { .. }), "{error}");
    let text = error.to_string();
    for word in ["off, read", "SIGABRT", "told to crash OpenZFS here", "libzpool"] {
        assert!(text.contains(word), "{word} is not in {text}");
    }
}

fn a_silent_child_is_stopped() {
    let error = fails_with(|options| {
        options.fault = Some(Fault::Hang);
        options.silence = Duration::from_secs(3);
    });
    assert!(matches!(error, LabError::Hung { .. }), "{error}");
    assert!(error.to_string().contains("nothing for 3 s in off, read"), "{error}");
}

fn a_wrong_byte_is_an_error() {
    let error = fails_with(|options| options.fault = Some(Fault::WrongByte));
    let LabError::OpenZfs { failure, .. } = &error else { panic!("{error}") };
    assert!(failure.to_string().contains("wrong data"), "{error}");
    assert!(error.to_string().contains("byte 0 of object"), "{error}");
}

/// Remembers the child from the recorder and kills it while it reads.
struct Killer(Rc<Cell<u32>>);

impl Recorder for Killer {
    fn start(
        &mut self,
        whom: Whom,
        out: &Path,
        name: &str,
        facts: &CaptureFacts,
    ) -> Result<Box<dyn Recording>, RecordError> {
        self.0.set(process(whom));
        NullRecorder.start(whom, out, name, facts)
    }
}

impl Progress for Killer {
    fn step(&mut self, step: &Step<'_>) {
        if step.phase == "verify" {
            let status = Command::new("kill").args(["-9", &self.0.get().to_string()]).status().unwrap();
            assert!(status.success());
        }
    }

    fn bytes(&mut self, _done: u64, _total: u64) {}
}

fn a_killed_child_is_an_error() {
    let pid = Rc::new(Cell::new(0));
    let error = fails(|_| {}, &mut Killer(Rc::clone(&pid)), &mut Killer(pid));
    assert!(matches!(error, LabError::Crashed { .. }), "{error}");
    assert!(error.to_string().contains("SIGKILL"), "{error}");
}

/// Says the id of the child that it waits for.
struct Teller;

impl Recorder for Teller {
    fn start(
        &mut self,
        whom: Whom,
        out: &Path,
        name: &str,
        facts: &CaptureFacts,
    ) -> Result<Box<dyn Recording>, RecordError> {
        if name.ends_with("read") {
            writeln!(std::io::stdout(), "{}", process(whom))?;
        }
        NullRecorder.start(whom, out, name, facts)
    }
}

/// The process that [`a_killed_parent_takes_the_child_with_it`] kills.
pub fn parent_to_be_killed(out: &Path) -> ExitCode {
    let mut options = options(out);
    options.fault = Some(Fault::Hang);
    let _ = run(&experiment(r#"encryption = ["off"]"#, "16M"), &options, &mut Teller, &mut Silent);
    ExitCode::FAILURE
}

fn a_killed_parent_takes_the_child_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut parent = Command::new(std::env::current_exe().unwrap())
        .arg(PARENT)
        .arg(dir.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(parent.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let child: u32 = line.trim().parse().expect("the id of the child");
    parent.kill().unwrap();
    parent.wait().unwrap();
    assert!((0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        !runs(child)
    }));
}

/// False for a process that has ended, also when nobody has collected it yet.
fn runs(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|s| s != 'Z' && s != 'X')
}

/// Cancels when the second run begins.
struct Canceller<'a>(&'a RunOptions);

impl Progress for Canceller<'_> {
    fn step(&mut self, step: &Step<'_>) {
        if step.run == 2 {
            self.0.cancel.store(true, Ordering::Relaxed);
        }
    }

    fn bytes(&mut self, _done: u64, _total: u64) {}
}

fn cancelling_keeps_the_runs_before() {
    let dir = tempfile::tempdir().unwrap();
    let options = options(dir.path());
    let experiment = experiment(r#"encryption = ["off", "aes-256-gcm"]"#, "16M");
    let error = run(&experiment, &options, &mut NullRecorder, &mut Canceller(&options)).unwrap_err();
    assert!(matches!(error, LabError::Cancelled), "{error}");
    let kept = std::fs::read_to_string(dir.path().join("result.json")).unwrap();
    let kept: ExperimentResult = serde_json::from_str(&kept).unwrap();
    assert_eq!(kept.runs.len(), 1);
    assert!(!dir.path().join("scratch").exists());
}

struct NoPermission;

impl Recorder for NoPermission {
    fn start(
        &mut self,
        _: Whom,
        _: &Path,
        _: &str,
        _: &CaptureFacts,
    ) -> Result<Box<dyn Recording>, RecordError> {
        Err("perf_event_open: not permitted".into())
    }
}

fn a_recorder_that_fails_ends_the_experiment() {
    let error = fails(|_| {}, &mut NoPermission, &mut Silent);
    assert!(matches!(error, LabError::Record { .. }), "{error}");
    assert!(error.to_string().contains("off, write: perf_event_open: not permitted"), "{error}");
}

fn a_program_that_is_no_child_is_an_error() {
    let program = |name: &str, args: &[&str]| ChildProgram {
        program: name.into(),
        args: args.iter().map(Into::into).collect(),
    };
    let error = fails_with(|options| options.child = program("/nonexistent/zwhy", &[CHILD]));
    assert!(matches!(error, LabError::Spawn { .. }), "{error}");
    let error = fails_with(|options| options.child = program("/bin/sh", &["-c", "echo what; sleep 9"]));
    assert!(matches!(error, LabError::Protocol { .. }) && error.to_string().contains("what"), "{error}");
    let error = fails_with(|options| options.child = program("/bin/sh", &["-c", "echo oops >&2; exit 3"]));
    assert!(matches!(error, LabError::Crashed { .. }), "{error}");
    assert!(error.to_string().contains("ended with code 3") && error.to_string().contains("oops"), "{error}");
}

fn a_small_disk_is_refused_before_anything_runs() {
    let dir = tempfile::tempdir().unwrap();
    let small = dir.path().join("small");
    std::fs::create_dir(&small).unwrap();
    let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=64m", "none"]).arg(&small).output();
    let mounted = mount.is_ok_and(|o| o.status.success());
    let mut options = options(&dir.path().join("out"));
    options.scratch = Some(small.clone());
    if !mounted {
        // Without the right to mount, no disk is large enough.
        options.size_spec = Some(SizeSpec { bytes: Bytes(1 << 60), repetitions: 1 });
    }
    let experiment = experiment(r#"encryption = ["off"]"#, "16M");
    let result = run(&experiment, &options, &mut NullRecorder, &mut Silent);
    if mounted {
        assert!(Command::new("umount").arg(&small).status().unwrap().success());
    }
    let error = result.unwrap_err();
    assert!(matches!(error, LabError::Space { .. }), "{error}");
    assert!(error.to_string().contains(small.to_str().unwrap()), "{error}");
}

fn a_scratch_folder_in_use_is_refused_and_kept() {
    let dir = tempfile::tempdir().unwrap();
    let used = dir.path().join("used");
    std::fs::create_dir(&used).unwrap();
    std::fs::write(used.join("vdev0"), "somebody's pool").unwrap();
    let mut options = options(&dir.path().join("out"));
    options.scratch = Some(used.clone());
    let experiment = experiment(r#"encryption = ["off"]"#, "16M");
    let error = run(&experiment, &options, &mut NullRecorder, &mut Silent).unwrap_err();
    assert!(
        matches!(error, LabError::ScratchNotEmpty { .. }) && error.to_string().contains("vdev0"),
        "{error}"
    );
    assert_eq!(std::fs::read_to_string(used.join("vdev0")).unwrap(), "somebody's pool");
}
