//! What works: real data through a real pool, measured.

use crate::harness::{Test, experiment, options, process};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use zwhy_evidence::CaptureFacts;
use zwhy_lab::{
    ExperimentResult, LabError, Library, NullRecorder, RecordError, RecordedPhase, Recorder, Recording,
    RunOptions, Silent, Size, StepResult, Whom, run, table,
};
use zwhy_profile::Nanos;

pub const TESTS: &[Test] = &[
    ("encryption_is_cold_verified_and_ccm_costs_most", encryption_is_cold_verified_and_ccm_costs_most),
    ("settings_reach_openzfs", settings_reach_openzfs),
    ("repetitions_are_shuffled_and_summarised", repetitions_are_shuffled_and_summarised),
    (
        "recordings_start_before_a_phase_and_carry_its_marks",
        recordings_start_before_a_phase_and_carry_its_marks,
    ),
    ("other_releases_work_too", other_releases_work_too),
];

const MIB: u64 = 1 << 20;

fn measured(axes: &str, bytes: &str, change: impl Fn(&mut RunOptions)) -> Result<ExperimentResult, LabError> {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let mut options = options(&out);
    change(&mut options);
    let result = run(&experiment(axes, bytes), &options, &mut NullRecorder, &mut Silent)?;
    assert!(!out.join("scratch").exists(), "the scratch folder is left");
    let written = std::fs::read_to_string(out.join("result.json")).unwrap();
    let read: ExperimentResult = serde_json::from_str(&written).unwrap();
    assert_eq!(read.answer, result.answer);
    Ok(result)
}

fn step<'a>(result: &'a ExperimentResult, variant: &str, name: &str) -> &'a StepResult {
    let run = result.runs.iter().find(|r| r.variant == variant).unwrap();
    run.step(name).unwrap()
}

fn check_encryption(result: &ExperimentResult) {
    let cost = |variant| step(result, variant, "read").cpu_s_per_gb.unwrap();
    let (ccm, gcm, off) = (cost("aes-256-ccm"), cost("aes-256-gcm"), cost("off"));
    assert!(ccm > gcm && ccm > off, "CPU s/GB: ccm {ccm}, gcm {gcm}, off {off}");
    for variant in ["aes-256-ccm", "aes-256-gcm", "off"] {
        let write = step(result, variant, "write");
        assert!(write.bytes == 128 * MIB && write.device_written_bytes >= write.bytes, "{write:?}");
        let read = step(result, variant, "read");
        assert!(read.bytes == 128 * MIB && read.device_read_bytes >= read.bytes, "not cold: {read:?}");
        assert_eq!(step(result, variant, "verify").bytes, 128 * MIB);
    }
    let read = step(result, "aes-256-ccm", "read");
    assert_eq!(read.threads[0].comm, "z_rd_int", "{:?}", read.threads);
    assert!(read.threads.iter().any(|t| t.comm == "lab-reader"), "{:?}", read.threads);
    // The clock of the process and those of its threads tell the same.
    let (all, threads) = (read.user_s + read.system_s, read.threads.iter().map(|t| t.cpu_s).sum::<f64>());
    assert!((threads / all - 1.0).abs() < 0.2, "process {all} s, threads {threads} s");
}

fn encryption_is_cold_verified_and_ccm_costs_most() {
    let zpool_cache = Path::new("/etc/zfs/zpool.cache");
    let before = std::fs::read(zpool_cache).ok();
    let axes = r#"encryption = ["aes-256-ccm", "aes-256-gcm", "off"]"#;
    let result = measured(axes, "128M", |_| {}).unwrap();
    check_encryption(&result);
    assert_eq!(std::fs::read(zpool_cache).ok(), before, "the host's zpool.cache was changed");
    assert!(result.cures.iter().all(|c| c.applied), "{:?}", result.cures);
    let text = table(&result);
    for word in ["aes-256-ccm", "aes-256-gcm", "z_rd_int", "CPU-s/GB", &result.answer] {
        assert!(text.contains(word), "{word} is not in\n{text}");
    }
}

fn settings_reach_openzfs() {
    let axes = "compression = [\"gzip-9\", \"off\"]\nthreads = [1, 3]";
    let result = measured(axes, "48M", |_| {}).unwrap();
    let cost = |variant| step(&result, variant, "write").cpu_s_per_gb.unwrap();
    assert!(cost("gzip-9 threads=1") > cost("off threads=1"), "{:?}", result.summary);
    let threads = |variant| {
        let read = step(&result, variant, "read");
        read.threads.iter().find(|t| t.comm == "lab-reader").unwrap().threads
    };
    assert_eq!((threads("off threads=1"), threads("off threads=3")), (1, 3));
}

fn repetitions_are_shuffled_and_summarised() {
    let axes = r#"checksum = ["fletcher4", "sha256"]"#;
    let result = measured(axes, "16M", |options| options.size = Size::Full).unwrap();
    let runs: Vec<u32> = result.runs.iter().map(|r| r.repetition).collect();
    assert_eq!(runs, [1, 1, 2, 2]);
    let figure = result.summary[0].step("read").unwrap().cpu_s_per_gb.unwrap();
    assert!(figure.low <= figure.value && figure.value <= figure.high && figure.low > 0.0);
}

/// What a recorder was told.
#[derive(Default)]
struct Log {
    recordings: Vec<(String, String)>,
    marks: BTreeMap<String, Vec<(i64, String)>>,
    properties: Vec<String>,
}

struct Listener(Rc<RefCell<Log>>);

struct Heard {
    log: Rc<RefCell<Log>>,
    name: String,
}

impl Recorder for Listener {
    fn start(
        &mut self,
        whom: Whom,
        out: &Path,
        name: &str,
        facts: &CaptureFacts,
    ) -> Result<Box<dyn Recording>, RecordError> {
        let pid = process(whom);
        let threads = std::fs::read_dir(format!("/proc/{pid}/task"))?.count();
        assert!(threads > 20, "OpenZFS has only {threads} threads before the phase");
        let mut log = self.0.borrow_mut();
        let file = out.file_name().unwrap().to_string_lossy().into_owned();
        log.recordings.push((name.to_owned(), file));
        log.properties
            .push(facts.datasets.as_ref().unwrap()[0].properties.as_ref().unwrap()["encryption"].clone());
        Ok(Box::new(Heard { log: Rc::clone(&self.0), name: name.to_owned() }))
    }
}

impl Recording for Heard {
    fn mark(&mut self, t: Nanos, name: &str, _text: &str) {
        self.log.borrow_mut().marks.entry(self.name.clone()).or_default().push((t.0, name.to_owned()));
    }

    fn stop(self: Box<Self>) -> Result<RecordedPhase, RecordError> {
        Ok(RecordedPhase { path: Some("/elsewhere/x.zwhy".into()), samples: 7, lost: 1 })
    }
}

fn recordings_start_before_a_phase_and_carry_its_marks() {
    let dir = tempfile::tempdir().unwrap();
    let log = Rc::new(RefCell::new(Log::default()));
    let experiment = experiment(r#"encryption = ["aes-256-gcm"]"#, "16M");
    let options = options(dir.path());
    let result = run(&experiment, &options, &mut Listener(Rc::clone(&log)), &mut Silent).unwrap();
    let log = log.borrow();
    let named = |phase: &str| (format!("aes-256-gcm {phase}"), format!("aes-256-gcm-{phase}.zwhy"));
    assert_eq!(log.recordings, [named("write"), named("read")]);
    assert_eq!(log.properties, ["aes-256-gcm", "aes-256-gcm"]);
    let marks = &log.marks["aes-256-gcm write"];
    let names: Vec<&str> = marks.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(names, ["write", "sync", "end"]);
    assert!(marks.is_sorted(), "{marks:?}");
    let captured = step(&result, "aes-256-gcm", "read").capture.as_ref().unwrap();
    assert_eq!((captured.samples, captured.lost), (7, 1));
    assert!(step(&result, "aes-256-gcm", "verify").capture.is_none());
}

/// `ZWHY_TEST_LIBZPOOL` names more libraries, separated by colons.
fn other_releases_work_too() {
    let Some(paths) = std::env::var_os("ZWHY_TEST_LIBZPOOL") else { return };
    for path in std::env::split_paths(&paths) {
        let library = Library::open(&path).unwrap();
        let axes = r#"encryption = ["aes-256-ccm", "aes-256-gcm", "off"]"#;
        let result = measured(axes, "128M", |options| options.library = Some(path.clone())).unwrap();
        assert_eq!(result.library.build_id, library.info.build_id);
        check_encryption(&result);
    }
}
