//! Recording real processes of this host: names, threads, forks, odd names, early ends.

mod common;

use common::{ROLE, burn, child_command, comms, is_root, options, record, samples_with, wait_for};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use zwhy_capture::Capture;
use zwhy_profile::Event;
use zwhy_record::{RecordError, Recording, Target};

/// Not a test of its own: what the recorded children do.
#[test]
fn child() {
    match std::env::var(ROLE).unwrap_or_default().as_str() {
        "busy" => {
            // The recorder's own thread goes first; what it started does not.
            assert_eq!(nice_of("self"), nice_of(&std::os::unix::process::parent_id().to_string()));
            burn(Duration::from_millis(600));
        }
        "sleeps" => {
            burn(Duration::from_millis(200));
            for _ in 0..5 {
                std::thread::sleep(Duration::from_millis(100));
            }
            burn(Duration::from_millis(200));
        }
        "threads" => {
            let ready = PathBuf::from(std::env::var("ZWHY_TEST_READY").unwrap());
            let until = ready.with_file_name("done");
            let work = |until: PathBuf| {
                while !until.exists() {
                    burn(Duration::from_millis(4));
                    std::thread::sleep(Duration::from_millis(800));
                }
            };
            let threads: Vec<_> = (0..200)
                .map(|_| {
                    let until = until.clone();
                    std::thread::spawn(move || work(until))
                })
                .collect();
            std::fs::write(ready, "").unwrap();
            threads.into_iter().for_each(|t| t.join().unwrap());
        }
        "odd name" => {
            std::fs::write("/proc/self/comm", "a\nb\x1b[31m\u{fffd}").unwrap();
            std::fs::write(format!("/proc/self/task/{}/comm", own_tid()), "x;y\nz\x07").unwrap();
            burn(Duration::from_millis(400));
        }
        "family" => {
            for _ in 0..3 {
                let words = child_command("busy");
                std::process::Command::new(&words[0]).args(&words[1..]).output().unwrap();
            }
        }
        _ => {}
    }
}

/// The nice value of the first thread of a process.
fn nice_of(pid: &str) -> i32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat[stat.rfind(')').unwrap() + 1..].split_whitespace().nth(16).unwrap().parse().unwrap()
}

fn own_tid() -> String {
    let link = std::fs::read_link("/proc/thread-self").unwrap();
    link.file_name().unwrap().to_string_lossy().into_owned()
}

#[test]
fn a_busy_command_is_named_by_function() {
    let dir = tempfile::tempdir().unwrap();
    let summary = record(options(Target::Command(child_command("busy")), &dir.path().join("a.zwhy")));
    assert!(summary.exit_status.unwrap().success());
    let capture = Capture::open(&summary.path).unwrap();
    let (with, all) = samples_with(&capture, "leaf_of_the_test");
    assert_eq!((all, capture.facts.recorder.lost), (summary.samples, Some(0)));
    assert!(with > 50 && with * 2 > all, "{with} of {all}");
    let nice = capture.facts.recorder.nice;
    assert!(!is_root() || nice == Some(-19) || nice > Some(0), "{nice:?}");
    // The thread that burned the time has a clock that says so.
    let burned = capture.series.iter().filter(|r| r.name == "cpu_ns" && r.source.starts_with("thread/"));
    let clock = burned.map(|r| r.value).max().unwrap();
    let sampled: i64 = capture.profile.samples.weight.iter().map(|w| w.0).sum();
    assert!(clock * 2 > sampled && clock < sampled * 2, "{clock} ns by the clock, {sampled} by samples");
}

/// A program built with frame pointers, so that callers are seen, and its path.
fn program_with_callers(dir: &Path) -> OsString {
    let source = dir.join("callers.rs");
    std::fs::write(
        &source,
        r#"
        #[inline(never)] #[unsafe(no_mangle)]
        fn callee_here(mut x: u64) -> u64 {
            let mut i = 0u32;
            while i < 3_000_000 { x = (x << 13) ^ (x >> 7) ^ (x << 17); i += 1; }
            std::hint::black_box(x)
        }
        #[inline(never)] #[unsafe(no_mangle)]
        fn caller_here(x: u64) -> u64 { callee_here(x) ^ 1 }
        fn main() {
            let start = std::time::Instant::now();
            let mut x = 1;
            while start.elapsed().as_millis() < 600 { x = std::hint::black_box(caller_here(x)); }
        }"#,
    )
    .unwrap();
    let program = dir.join("callers");
    let rustc = std::process::Command::new("rustc")
        .args(["--edition=2024", "-Cforce-frame-pointers=yes", "-o"])
        .args([&program, &source])
        .status()
        .unwrap();
    assert!(rustc.success());
    program.into()
}

#[test]
fn stacks_run_from_the_root_to_the_leaf() {
    let dir = tempfile::tempdir().unwrap();
    let target = Target::Command(vec![program_with_callers(dir.path())]);
    let capture = Capture::open(&record(options(target, &dir.path().join("c.zwhy"))).path).unwrap();
    let profile = &capture.profile;
    let chains = profile.samples.iter().map(|s| profile.function_names(s.stack));
    let tail =
        |names: Vec<&str>| names.len() > 3 && names[names.len() - 2..] == ["caller_here", "callee_here"];
    let right = chains.filter(|names| tail(names.clone())).count();
    assert!(right * 2 > profile.samples.len(), "{right} of {}", profile.samples.len());
}

/// Of the thread that used most CPU time: that time by samples at 999 Hz, and the time off the CPU in stacks below `root`.
fn on_and_off(capture: &Capture, root: &str) -> (i64, i64) {
    let profile = &capture.profile;
    let mut on = BTreeMap::new();
    profile.samples.iter().filter(|s| s.event == Event::Cpu).for_each(|s| {
        *on.entry(profile.threads.get(s.thread).tid).or_insert(0) += i64::from(s.count) * 1_000_000_000 / 999;
    });
    let (tid, on) = on.into_iter().max_by_key(|(_, ns)| *ns).unwrap();
    let waits = profile.samples.iter().filter(|s| s.event == Event::Wait);
    let of_thread = waits.filter(|s| profile.threads.get(s.thread).tid == tid);
    let below = of_thread.filter(|s| profile.function_names(s.stack)[0] == root);
    (on, below.map(|s| s.weight.0).sum())
}

#[test]
fn time_off_the_cpu_is_that_of_sleeping_not_of_spinning() {
    let dir = tempfile::tempdir().unwrap();
    let run = |role: &str| {
        let out = dir.path().join(format!("{role}.zwhy"));
        let mut options = options(Target::Command(child_command(role)), &out);
        options.off_cpu = true;
        Recording::start(options)
    };
    let finish = |mut recording: Recording| {
        recording.run(&AtomicBool::new(false), &mut ()).unwrap();
        let summary = recording.stop().unwrap();
        (Capture::open(&summary.path).unwrap(), summary.duration.as_nanos() as i64)
    };
    let sleeps = match run("sleeps") {
        Ok(recording) => recording,
        // Not every host lets every user see context switches; the error says what to do then.
        Err(error) => {
            assert!(matches!(error, RecordError::Permission { .. }), "{error}");
            let text = error.to_string();
            assert!(text.contains("--off-cpu") || !common::is_root(), "{text}");
            assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
            return;
        }
    };
    let (capture, duration) = finish(sleeps);
    let (_, slept) = on_and_off(&capture, "[sleeping]");
    let facts = capture.facts.recorder.wait.as_ref().unwrap();
    assert_eq!(facts.method.as_deref(), Some("sched:sched_switch"), "{facts:?}");
    // Where records were lost waits are missing, and the facts say so.
    assert!(
        (slept >= 500_000_000 || facts.lost != Some(0)) && slept <= duration,
        "{slept} of {duration}: {facts:?}"
    );
    let (capture, _) = finish(run("busy").unwrap());
    let (on, slept) = on_and_off(&capture, "[sleeping]");
    assert!(slept * 2 < on, "a spinning thread slept {slept} ns beside {on} ns on the CPU");
}

#[test]
fn a_running_process_is_attached_with_all_its_threads() {
    let dir = tempfile::tempdir().unwrap();
    let words = child_command("threads");
    let ready = dir.path().join("ready");
    let mut child = std::process::Command::new(&words[0])
        .args(&words[1..])
        .env("ZWHY_TEST_READY", &ready)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    wait_for(&ready);
    let mut options = options(Target::Pid(vec![child.id() as i32]), &dir.path().join("t.zwhy"));
    options.duration = Some(Duration::from_secs(3));
    let summary = record(options);
    std::fs::write(dir.path().join("done"), "").unwrap();
    child.wait().unwrap();
    let capture = Capture::open(&summary.path).unwrap();
    let (with, all) = samples_with(&capture, "leaf_of_the_test");
    let threads: std::collections::BTreeSet<_> = capture.profile.samples.thread.iter().collect();
    assert!(with * 2 > all && threads.len() > 150, "{with} of {all} in {} threads", threads.len());
    assert_eq!(summary.lost, 0);
}

#[test]
fn children_that_fork_and_exec_are_followed() {
    let dir = tempfile::tempdir().unwrap();
    let summary = record(options(Target::Command(child_command("family")), &dir.path().join("f.zwhy")));
    let capture = Capture::open(&summary.path).unwrap();
    let pids: std::collections::BTreeSet<i32> =
        capture.profile.samples.thread.iter().map(|t| capture.profile.threads.get(*t).pid).collect();
    let (with, all) = samples_with(&capture, "leaf_of_the_test");
    assert!(pids.len() >= 4 && with * 2 > all, "{with} of {all} in {pids:?}");
}

#[test]
fn names_with_line_feeds_and_escapes_are_kept_as_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let summary = record(options(Target::Command(child_command("odd name")), &dir.path().join("n.zwhy")));
    let capture = Capture::open(&summary.path).unwrap();
    assert!(comms(&capture).iter().any(|c| c == "x;y\nz\x07"), "{:?}", comms(&capture));
    let profile = &capture.profile;
    let odd = profile.samples.thread.iter().filter(|t| {
        let comm = profile.strings.get(profile.threads.get(**t).comm);
        comm == "x;y\nz\x07"
    });
    assert!(odd.count() > 50);
}

#[test]
fn a_command_that_ends_at_once_leaves_a_capture() {
    let dir = tempfile::tempdir().unwrap();
    let summary = record(options(Target::Command(vec!["true".into()]), &dir.path().join("d.zwhy")));
    assert!(summary.exit_status.unwrap().success());
    let capture = Capture::open(&summary.path).unwrap();
    assert_eq!(capture.facts.recorder.target.as_deref(), Some("command true"));
    let summary = record(options(
        Target::Command(["sh", "-c", "exit 7"].map(Into::into).to_vec()),
        &dir.path().join("e.zwhy"),
    ));
    assert_eq!(summary.exit_status.unwrap().code(), Some(7));
}

#[test]
fn what_cannot_be_started_is_an_error_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("x.zwhy");
    let none = Recording::start(options(Target::Command(vec!["/no/such/command".into()]), &out));
    assert!(matches!(none, Err(RecordError::Command { .. })));
    let none = Recording::start(options(Target::Pid(vec![i32::MAX]), &out));
    assert!(matches!(none, Err(RecordError::NoSuchProcess(i32::MAX))));
    let mut wrong = options(Target::System, &out);
    wrong.hz = 0;
    assert!(Recording::start(wrong).err().is_some_and(|e| e.is_usage()));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}
