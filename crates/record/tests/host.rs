//! Recording the whole host, without privileges, with the recorder killed and with a full disk.
//!
//! As another user than root the tests check that the refusals are clear instead.

mod common;

use common::{ROLE, burn, copy_of_me, is_root, options, record, samples_with, wait_for};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use zwhy_capture::Capture;
use zwhy_record::{Background, RecordError, Recording, Target};

const OUT: &str = "ZWHY_TEST_OUT";

/// Not a test of its own: what the children of these tests do.
#[test]
fn child() {
    let out = || PathBuf::from(std::env::var(OUT).unwrap());
    match std::env::var(ROLE).unwrap_or_default().as_str() {
        "busy" => burn(Duration::from_millis(600)),
        "record host" => {
            let mut recording = Recording::start(options(Target::System, &out())).unwrap();
            recording.run(&AtomicBool::new(false), &mut ()).unwrap();
        }
        "threads" => {
            let work = || {
                while !out().exists() {
                    burn(Duration::from_millis(4));
                    std::thread::sleep(Duration::from_millis(200));
                }
            };
            std::thread::scope(|scope| {
                for _ in 0..60 {
                    scope.spawn(work);
                }
                std::fs::write(out().with_extension("ready"), "").unwrap();
            });
        }
        "record with tools" => {
            let mut options = options(Target::System, &out());
            (options.ask_zfs, options.duration) = (true, Some(Duration::from_secs(2)));
            record(options);
        }
        "record a process" => {
            let pid = std::env::var("ZWHY_TEST_PID").unwrap().parse().unwrap();
            let mut options = options(Target::Pid(vec![pid]), &out());
            options.duration = Some(Duration::from_secs(2));
            record(options);
        }
        "record until full" => {
            let mut options = options(Target::System, &out());
            options.interval = Duration::from_millis(20);
            let mut recording = Recording::start(options).unwrap();
            let error = recording.run(&AtomicBool::new(false), &mut ()).unwrap_err();
            assert!(matches!(&error, RecordError::Capture(e) if e.is_disk_full()), "{error}");
            assert!(error.to_string().contains("free some space"), "{error}");
            drop(recording);
            let part = zwhy_capture_part(&out());
            assert!(!Capture::open(&part).unwrap().profile.samples.is_empty());
        }
        "record as nobody" => {
            let Err(error) = Recording::start(options(Target::System, &out())) else {
                panic!("the host was recorded without privileges")
            };
            assert!(matches!(error, RecordError::Permission { .. }), "{error}");
            assert!(error.to_string().contains("cap_perfmon"), "{error}");
            let me = std::env::current_exe().unwrap();
            let role = format!("{ROLE}=busy").into();
            let words = vec!["env".into(), role, me.into(), "--exact".into(), "child".into()];
            record(options(Target::Command(words), &out()));
        }
        _ => {}
    }
}

fn zwhy_capture_part(out: &Path) -> PathBuf {
    PathBuf::from(format!("{}.part", out.display()))
}

/// Runs a role of this binary under `wrapper`.
fn run_child(wrapper: &[&str], binary: &Path, role: &str, out: &Path) -> Command {
    let mut words: Vec<&std::ffi::OsStr> = wrapper.iter().map(|w| w.as_ref()).collect();
    words.push(binary.as_os_str());
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).args(["--exact", "child", "--nocapture"]);
    command.env(ROLE, role).env(OUT, out).stdout(Stdio::null());
    command
}

#[test]
fn a_busy_host_is_recorded_without_loss() {
    let dir = tempfile::tempdir().unwrap();
    let mut options = options(Target::System, &dir.path().join("a.zwhy"));
    options.hz = 99;
    if !is_root() {
        assert!(matches!(Recording::start(options), Err(RecordError::Permission { .. })));
        return;
    }
    let mut recording = Recording::start(options).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let load = std::thread::spawn({
        let stop = stop.clone();
        move || {
            burn(Duration::from_secs(2));
            stop.store(true, Ordering::Relaxed);
        }
    });
    recording.run(&stop, &mut ()).unwrap();
    let summary = recording.stop().unwrap();
    load.join().unwrap();
    let capture = Capture::open(&summary.path).unwrap();
    assert_eq!((summary.lost, capture.facts.recorder.lost), (0, Some(0)));
    let profile = &capture.profile;
    let (with, all) = samples_with(&capture, "leaf_of_the_test");
    assert!(with > 100 && all > 190, "{with} of {all}");
    let cpus: std::collections::BTreeSet<_> = profile.samples.cpu.iter().collect();
    assert_eq!(cpus.len(), std::thread::available_parallelism().unwrap().get());
    let kernel = profile.frames.iter().filter(|(_, f)| profile.strings.get(f.module) == "kernel").count();
    assert!(kernel > 10, "{kernel} kernel functions");
    assert!(capture.series.iter().any(|r| r.source == "cpu/0" && r.name == "sys_ns"));
    let facts = capture.facts.to_value();
    for key in ["host", "zfs", "recorder", "cpu_time"] {
        assert!(facts[key].is_object(), "no {key} in {facts}");
    }
    assert!(capture.facts.zfs.in_use.is_some());
}

#[test]
fn what_the_recorder_asks_of_zfs_is_no_load_of_the_host() {
    if !is_root() {
        return; // the whole host is not for them
    }
    let dir = tempfile::tempdir().unwrap();
    // A `zfs` that is busy itself and by a child of its own.
    let tool = dir.path().join("zfs");
    let busy = "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done";
    std::fs::write(&tool, format!("#!/bin/sh\n{busy}\nsh -c '{busy}'\necho zfs-2.3.0\n")).unwrap();
    std::fs::set_permissions(&tool, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let out = dir.path().join("a.zwhy");
    let path = format!("{}:{}", dir.path().display(), std::env::var("PATH").unwrap());
    let me = std::env::current_exe().unwrap();
    let status = run_child(&[], &me, "record with tools", &out).env("PATH", path).status().unwrap();
    assert!(status.success());
    let capture = Capture::open(&out).unwrap();
    let left_out = capture.facts.recorder.own_samples_excluded.unwrap();
    assert!(left_out > 10, "{left_out} samples of the recorder's own command");
    let profile = &capture.profile;
    let comms: Vec<&str> = profile.threads.iter().map(|(_, t)| profile.strings.get(t.comm)).collect();
    assert!(!comms.contains(&"zfs") && comms.len() > 10, "{} names", comms.len());
}

#[test]
fn a_target_of_too_many_threads_is_recorded_by_way_of_all_cpus() {
    if !is_root() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let me = std::env::current_exe().unwrap();
    let done = dir.path().join("done");
    let mut target = run_child(&["env"], &me, "threads", &done).spawn().unwrap();
    wait_for(&dir.path().join("done.ready"));
    let out = dir.path().join("m.zwhy");
    let few_descriptors = ["sh", "-c", "ulimit -n 50 && exec \"$@\"", "sh"];
    let pid = target.id();
    let status = run_child(&few_descriptors, &me, "record a process", &out)
        .env("ZWHY_TEST_PID", pid.to_string())
        .status()
        .unwrap();
    std::fs::write(&done, "").unwrap();
    target.wait().unwrap();
    assert!(status.success());
    let capture = Capture::open(&out).unwrap();
    let profile = &capture.profile;
    let pids: std::collections::BTreeSet<i32> =
        profile.samples.thread.iter().map(|t| profile.threads.get(*t).pid).collect();
    assert_eq!(pids.into_iter().collect::<Vec<_>>(), [pid as i32]);
    let (with, all) = samples_with(&capture, "leaf_of_the_test");
    assert!(with * 2 > all && all > 20, "{with} of {all}");
    assert!(format!("{:?}", capture.facts.recorder.limits).contains("too many threads"));
}

#[test]
fn a_user_without_privileges_gets_user_stacks_and_is_told_what_is_missing() {
    if !is_root() {
        return; // the other tests ran without privileges already
    }
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(dir.path(), open).unwrap();
    let (binary, out) = (copy_of_me(dir.path()), dir.path().join("n.zwhy"));
    let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"];
    let status = run_child(&nobody, &binary, "record as nobody", &out).status().unwrap();
    assert!(status.success());
    let capture = Capture::open(&out).unwrap();
    let (with, all) = samples_with(&capture, "leaf_of_the_test");
    assert!(with * 2 > all && all > 50, "{with} of {all}");
    let paranoid: i32 =
        std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap().trim().parse().unwrap();
    let user_only = paranoid >= 2;
    assert_eq!(capture.facts.recorder.user_only, Some(user_only));
    let limits = format!("{:?}", capture.facts.recorder.limits);
    assert_eq!(limits.contains("no kernel stacks"), user_only, "{limits}");
}

#[test]
fn the_kernel_can_be_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let words = common::child_command("busy");
    let mut options = options(Target::Command(words), &dir.path().join("u.zwhy"));
    options.user_only = true;
    let capture = Capture::open(&record(options).path).unwrap();
    let profile = &capture.profile;
    assert!(!profile.frames.iter().any(|(_, f)| profile.strings.get(f.module) == "kernel"));
    assert!(samples_with(&capture, "leaf_of_the_test").0 > 50);
}

#[test]
fn a_killed_recorder_leaves_what_it_wrote() {
    if !is_root() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("k.zwhy");
    let me = std::env::current_exe().unwrap();
    let mut recorder = run_child(&["env"], &me, "record host", &out).spawn().unwrap();
    let part = zwhy_capture_part(&out);
    wait_for(&part.join("facts.json"));
    let written = || {
        let entries = std::fs::read_dir(&part).into_iter().flatten().flatten();
        entries.filter(|e| e.file_name().to_string_lossy().starts_with("samples-")).count()
    };
    while written() < 2 {
        assert!(recorder.try_wait().unwrap().is_none(), "the recorder ended");
        std::thread::sleep(Duration::from_millis(20));
    }
    recorder.kill().unwrap();
    recorder.wait().unwrap();
    let capture = Capture::open(&part).unwrap();
    assert!(capture.profile.samples.len() > 100);
    assert_eq!(capture.facts.recorder.target.as_deref(), Some("system"));
}

#[test]
fn a_full_disk_stops_the_recording_and_keeps_what_is_there() {
    if !is_root() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let me = std::env::current_exe().unwrap();
    let Some(disk) = SmallDisk::mount(dir.path()) else { return };
    let status = run_child(&["env"], &me, "record until full", &disk.0.join("f.zwhy")).status().unwrap();
    assert!(status.success());
}

/// A file system of one megabyte, gone at the end of the test. `None` where nothing may be mounted.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: &Path) -> Option<SmallDisk> {
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "none"]).arg(at).status();
        let mounted = mount.is_ok_and(|s| s.success());
        #[allow(clippy::print_stderr)] // a skipped test must be seen
        if !mounted {
            eprintln!("skipped: a tmpfs cannot be mounted here");
        }
        mounted.then(|| SmallDisk(at.to_owned()))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

#[test]
fn marks_of_a_background_recording_have_their_time() {
    let dir = tempfile::tempdir().unwrap();
    let me = Target::Pid(vec![std::process::id() as i32]);
    let background = Background::start(options(me, &dir.path().join("b.zwhy"))).unwrap();
    background.mark("first", "");
    burn(Duration::from_millis(300));
    background.mark("second", "a note");
    let summary = background.stop().unwrap();
    let capture = Capture::open(&summary.path).unwrap();
    let [first, second] = &capture.marks[..] else { panic!("{:?}", capture.marks) };
    assert_eq!((first.name.as_str(), second.text.as_str()), ("first", "a note"));
    assert!(second.t.0 - first.t.0 >= 300_000_000);
    assert!(samples_with(&capture, "leaf_of_the_test").0 > 50);
}
