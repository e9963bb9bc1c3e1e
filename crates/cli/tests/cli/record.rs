//! `zwhy record`: what is recorded of a command, a process and a host, with and without privileges.

use crate::burner;
use crate::support::{Ran, call, is_root, program, run, skip, zwhy};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Whether this user may sample at all; a kernel or container can forbid it.
pub fn may_sample(test: &str) -> bool {
    let folder = TempDir::new().expect("a folder");
    let ran = call(folder.path(), "record -o probe.zwhy -- true");
    if ran.code != Some(0) {
        skip(test, &format!("sampling is not possible here: {}", ran.err.trim()));
    }
    ran.code == Some(0)
}

/// Whether the whole host may be sampled.
pub fn may_sample_all(test: &str) -> bool {
    let folder = TempDir::new().expect("a folder");
    let ran = call(folder.path(), "record -a -d 0.01 -o probe.zwhy");
    if ran.code != Some(0) {
        skip(test, &format!("the whole host cannot be sampled here: {}", ran.err.trim()));
    }
    ran.code == Some(0)
}

fn answer(folder: &Path, capture: &str) -> Value {
    call(folder, &format!("explain --json {capture}")).json()
}

#[test]
fn a_command_is_recorded_with_its_function_names_and_its_exit_status() {
    if !may_sample("a_command_is_recorded_with_its_function_names_and_its_exit_status") {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let mut command = zwhy(folder.path());
    burner::rounds(
        command.args(["record", "-F", "999", "-o", "run.zwhy", "--"]).args(burner::arguments()),
        40,
    );
    let ran = Ran::of(command.output().expect("the program runs"));
    assert_eq!(ran.code, Some(burner::CODE), "{ran:?}");
    assert!(ran.err.contains("run.zwhy: ") && ran.err.contains(" 0 lost"), "{ran:?}");
    assert!(ran.err.ends_with("Now: zwhy explain run.zwhy\n"), "{ran:?}");
    let listed = call(folder.path(), "top-functions --json run.zwhy").json();
    let rows = listed["functions"].as_array().expect("rows");
    let spin = rows.iter().find(|r| r["function"].as_str().is_some_and(|f| f.contains("spin_the_wheel")));
    let total = spin.and_then(|r| r["total"].as_u64()).unwrap_or_else(|| panic!("{listed}"));
    let samples = listed["samples"].as_u64().expect("samples");
    assert!(total * 2 > samples, "it does little else: {total} of {samples}");
    assert!(!folder.path().join("run.zwhy.part").exists());
}

#[test]
fn the_exit_status_is_that_of_the_command() {
    if !may_sample("the_exit_status_is_that_of_the_command") {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    for (name, script, code) in [("a", "exit 0", 0), ("b", "exit 3", 3), ("c", "kill -9 $$", 137)] {
        let ran = run(folder.path(), ["record", "-o", name, "--", "sh", "-c", script]);
        assert_eq!(ran.code, Some(code), "{ran:?}");
        assert_eq!(ran.out, "", "standard output belongs to the command");
    }
}

#[test]
fn the_whole_host_under_load_loses_nothing() {
    if !may_sample_all("the_whole_host_under_load_loses_nothing") {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let burners = [burner::endless(folder.path()), burner::endless(folder.path())];
    let ran = call(folder.path(), "record -a -d 1 -F 499 -o host.zwhy");
    for burner in burners {
        burner.end();
    }
    assert!(ran.err.contains(", 0 lost; the recorder used ") && ran.err.contains(" % of one CPU"), "{ran:?}");
    ran.ok();
    let answer = answer(folder.path(), "host.zwhy");
    assert_eq!((&answer["source"]["lost"], &answer["quality"]["lost"]), (&Value::from(0), &Value::from(0)));
    assert!(answer["source"]["samples"].as_u64().is_some_and(|n| n > 0), "{answer}");
    recorder_is_set_apart(&folder, &answer);
    let share: f64 = answer["stages"]
        .as_array()
        .expect("stages")
        .iter()
        .filter_map(|s| s["share"]["value"].as_f64())
        .sum();
    assert!((share - 1.0).abs() < 1e-9, "every sample has one stage: {share}");
}

/// The recorder is told in a line of its own and is in no table; what is passed on has its samples.
fn recorder_is_set_apart(folder: &TempDir, answer: &Value) {
    let itself = &answer["itself"];
    assert!(itself["program"] == "zwhy" && itself["cpu_s"].as_f64().is_some_and(|s| s > 0.0), "{answer}");
    let of = |value: &Value| value.as_u64().expect("a number");
    let all = of(&answer["source"]["samples"]) + of(&itself["samples"]);
    assert_eq!(of(&answer["quality"]["kept"]), all, "each sample is in one of the two");
    let text = call(folder.path(), "explain host.zwhy").out;
    assert_eq!(text.matches("zwhy itself: ").count(), 1, "{text}");
    let markdown = call(folder.path(), "explain --markdown host.zwhy").out;
    assert_eq!(markdown.matches("zwhy itself: ").count(), 1, "{markdown}");
    call(folder.path(), "import host.zwhy -o again.zwhy").ok();
    let again = self::answer(folder.path(), "again.zwhy");
    assert_eq!(again["itself"]["samples"], itself["samples"], "importing keeps them");
}

#[test]
fn what_cannot_be_recorded_is_said_and_nothing_is_left() {
    let folder = TempDir::new().expect("a folder");
    let mut gone = Command::new("true").spawn().expect("true");
    gone.wait().expect("it ends");
    let pid = gone.id().to_string();
    let line = run(folder.path(), ["record", "-o", "x.zwhy", "-p", &pid]).failed(1);
    assert!(line.contains(&pid) && line.contains("no such process"), "{line}");
    let line = call(folder.path(), "record -o x.zwhy -- ./nosuch").failed(1);
    assert!(line.contains("./nosuch") && line.contains("check the name"), "{line}");
    let line = call(folder.path(), "record -o nosuch/x.zwhy -- true").failed(1);
    assert!(line.contains("nosuch/x.zwhy"), "{line}");
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0);
}

#[test]
fn an_output_that_exists_is_kept() {
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("old.zwhy"), "precious").expect("a file");
    fs::create_dir(folder.path().join("half.zwhy.part")).expect("a folder");
    for name in ["old.zwhy", "half.zwhy"] {
        let line = run(folder.path(), ["record", "-o", name, "--", "true"]).failed(1);
        assert!(line.contains(name) && line.contains("already exists"), "{line}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("old.zwhy")).expect("the file"), "precious");
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 2);
}

/// Calls as a user without privileges: this one, or nobody where this is root.
fn unprivileged(folder: &Path, args: &[&str]) -> Option<Ran> {
    if !is_root() {
        return Some(run(folder, args));
    }
    // The build may lie where nobody can reach it.
    let copy = folder.join("program");
    if !copy.exists() {
        fs::copy(env!("CARGO_BIN_EXE_zwhy"), &copy).expect("a copy");
        fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).expect("mode");
    }
    let mut command = program(Path::new("setpriv"), folder);
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(copy).args(args);
    Some(Ran::of(command.output().ok()?))
}

#[test]
fn without_privileges_the_kernel_is_left_out_or_the_remedy_is_told() {
    let test = "without_privileges_the_kernel_is_left_out_or_the_remedy_is_told";
    let paranoid = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
    if !matches!(paranoid.trim().parse::<i32>(), Ok(2..)) {
        return skip(test, "this kernel lets everybody sample it");
    }
    let folder = TempDir::new().expect("a folder");
    let work = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
    let args = ["record", "-F", "999", "-o", "mine.zwhy", "--", "sh", "-c", work];
    let Some(mine) = unprivileged(folder.path(), &args) else {
        return skip(test, "there is no `setpriv` command");
    };
    match mine.code {
        Some(0) => {
            assert!(mine.err.contains("no kernel stacks") && mine.err.contains("run as root"), "{mine:?}");
            let answer = answer(folder.path(), "mine.zwhy");
            let told = |w: &Value| w.as_str().is_some_and(|w| w.contains("no kernel stacks"));
            assert!(answer["quality"]["warnings"].as_array().is_some_and(|w| w.iter().any(told)), "{answer}");
        }
        _ => assert!(mine.failed(1).contains("perf_event_paranoid")),
    }
    let all = unprivileged(folder.path(), &["record", "-a", "-d", "0.1", "-o", "all.zwhy"])
        .expect("setpriv is here");
    let line = all.failed(1);
    assert!(line.contains("run as root") && line.contains("perf_event_paranoid"), "{line}");
    let of_root = unprivileged(folder.path(), &["record", "-p", "1", "-d", "0.1", "-o", "one.zwhy"]);
    let line = of_root.expect("setpriv is here").failed(1);
    assert!(line.contains("process 1"), "{line}");
    assert!(!folder.path().join("all.zwhy.part").exists() && !folder.path().join("one.zwhy.part").exists());
}

#[test]
fn a_command_goes_on_after_the_recording_and_that_is_said() {
    if !may_sample("a_command_goes_on_after_the_recording_and_that_is_said") {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let work = "exec >/dev/null 2>&1; echo $$ > pid; while [ ! -e done ]; do sleep 0.05; done; touch ended";
    let ran = run(
        folder.path(),
        ["record", "-d", "0.3", "--interval", "0.1", "-o", "x.zwhy", "--", "sh", "-c", work],
    );
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let pid = fs::read_to_string(folder.path().join("pid")).expect("it started");
    let told = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains(&format!("the command still runs as process {}", pid.trim())), "{ran:?}");
    assert!(told.contains("and at most") && told.contains(" MB"), "{ran:?}");
    fs::write(folder.path().join("done"), "").expect("a file");
    let ended = folder.path().join("ended");
    for _ in 0..1500 {
        if ended.exists() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    panic!("the command did not go on");
}

#[test]
fn off_cpu_tells_what_to_give_instead_of_what_it_does_not_go_with() {
    let folder = TempDir::new().expect("a folder");
    for (with, says) in [("--wait", "--wait costs less; give one"), ("--user-only", "leave one out")] {
        let line = call(folder.path(), &format!("record -a --off-cpu {with} -d 0.1 -o x.zwhy")).failed(2);
        assert!(line.contains(with) && line.contains(says), "{line}");
    }
    assert!(!folder.path().join("x.zwhy").exists());
}

#[test]
fn a_cgroup_is_recorded_or_the_reason_why_not_is_told() {
    let test = "a_cgroup_is_recorded_or_the_reason_why_not_is_told";
    let folder = TempDir::new().expect("a folder");
    let line = call(folder.path(), "record -G no-such-group -d 0.1 -o x.zwhy").failed(1);
    assert!(line.contains("no-such-group") && line.contains("cgroup"), "{line}");
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0);
    let mounts = fs::read_to_string("/proc/self/mountinfo").expect("mounts");
    let v2 = mounts.lines().find(|l| l.contains(" - cgroup2 ")).and_then(|l| l.split(' ').nth(4));
    let (Some(v2), true) = (v2, is_root()) else { return skip(test, "no cgroup v2, or not root") };
    let group = Path::new(v2).join(format!("zwhy-test-{}", std::process::id()));
    if fs::create_dir(&group).is_err() {
        return skip(test, "no group can be made here");
    }
    let mut work = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().expect("it starts");
    let joined = fs::write(group.join("cgroup.procs"), work.id().to_string());
    let name = group.file_name().expect("a name").to_string_lossy().into_owned();
    let ran = call(folder.path(), &format!("record -F 999 -G {name} -d 1 -o x.zwhy"));
    work.kill().expect("it takes the signal");
    work.wait().expect("it ends");
    let _ = fs::remove_dir(&group);
    if joined.is_err() {
        return skip(test, "no process can be moved here");
    }
    if ran.code != Some(0) {
        // A kernel without CONFIG_CGROUP_PERF, or a hierarchy without perf events.
        let line = ran.failed(1);
        assert!(line.contains(&name), "{line}");
        return skip(test, &line);
    }
    let capture = zwhy_capture::Capture::open(&folder.path().join("x.zwhy")).expect("a capture");
    let profile = &capture.profile;
    assert!(!profile.samples.is_empty());
    for thread in &profile.samples.thread {
        let pid = profile.threads.get(*thread).pid;
        assert!(pid == work.id() as i32 || pid == 0, "a sample of process {pid}");
    }
}

#[test]
fn triggers_that_are_none_are_refused_with_the_column() {
    let folder = TempDir::new().expect("a folder");
    let ran = run(folder.path(), ["record", "-a", "--trigger", "arc_evict cpu 50%", "-o", "x.zwhy"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.err.contains("column 15: expected one of > >= < <=, found `50%`"), "{ran:?}");
    let ran = run(folder.path(), ["record", "-a", "--repeat", "-o", "x.zwhy"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0);
}

#[test]
fn a_trigger_writes_the_last_seconds_with_a_mark() {
    if !may_sample_all("a_trigger_writes_the_last_seconds_with_a_mark") {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let work = ["sh", "-c", "while :; do :; done"];
    let mut busy = Command::new(work[0]).args(&work[1..]).spawn().expect("it starts");
    let ran = run(
        folder.path(),
        ["record", "-a", "-d", "60", "--last", "4s", "--interval", "0.2", "--trigger", "host busy > 1%"]
            .into_iter()
            .chain(["--trigger", "kstat nosuch.value > 1", "-o", "x.zwhy"]),
    );
    busy.kill().expect("it takes the signal");
    busy.wait().expect("it ends");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let capture = zwhy_capture::Capture::open(&folder.path().join("x.zwhy")).expect("a capture");
    assert_eq!(capture.marks.len(), 1, "{:?}", capture.marks);
    assert!(capture.marks[0].text.starts_with("host busy > 1%: it was "), "{:?}", capture.marks);
    let seconds = capture.facts.recorder.duration_s.expect("a duration");
    assert!(seconds < 50.0, "it ended by its trigger, not by its time: {seconds}");
    assert!(!capture.profile.samples.is_empty() && !capture.series.is_empty());
    let samples = capture.facts.recorder.samples;
    assert_eq!(samples, Some(capture.profile.total(zwhy_profile::Event::Cpu)));
}
