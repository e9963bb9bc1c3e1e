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
fn may_sample_all(test: &str) -> bool {
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
    let share: f64 = answer["stages"]
        .as_array()
        .expect("stages")
        .iter()
        .filter_map(|s| s["share"]["value"].as_f64())
        .sum();
    assert!((share - 1.0).abs() < 1e-9, "every sample has one stage: {share}");
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
