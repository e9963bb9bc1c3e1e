//! `zwhy count` as people call it: figures, a capture, Ctrl-C, wrong calls.

use crate::burner;
use crate::support::{Ran, call, is_root, run, signal, skip, wait_until, zwhy};
use rustix::process::Signal;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The test binary's own work, which a burner calls once a round.
const FUNCTION: &str = "*spin_the_wheel*";

fn may_probe(test: &str) -> bool {
    let can = is_root() && Path::new("/sys/bus/event_source/devices/uprobe").exists();
    if !can {
        skip(test, "it needs root and uprobes");
    }
    can
}

#[test]
fn a_command_is_counted_and_its_exit_code_kept() {
    if !may_probe("a_command_is_counted_and_its_exit_code_kept") {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let mut command: Command = zwhy(folder.path());
    burner::rounds(&mut command, 23);
    command.args(["count", FUNCTION, "-o", "x.zwhy", "--json", "--"]).args(burner::arguments());
    let ran = Ran::of(command.output().expect("it runs"));
    assert_eq!(ran.code, Some(burner::CODE), "{ran:?}");
    // The harness of the burner prints before.
    let at = ran.out.find("{\n").expect("JSON");
    let json: serde_json::Value = serde_json::from_str(&ran.out[at..]).expect("JSON");
    assert_eq!((json["calls"].as_u64(), json["lost"].as_u64()), (Some(23), Some(0)), "{json}");
    call(folder.path(), "flame x.zwhy -o x.svg").ok();
    let picture = std::fs::read_to_string(folder.path().join("x.svg")).expect("a picture");
    assert!(picture.contains("count") && picture.contains("spin_the_wheel"));
    let folded = call(folder.path(), "export x.zwhy").ok();
    let calls: u64 = folded.lines().filter_map(|l| l.rsplit(' ').next()?.parse::<u64>().ok()).sum();
    assert_eq!(calls, 23, "{folded}");
}

#[test]
fn ctrl_c_ends_counting_with_its_result() {
    if !may_probe("ctrl_c_ends_counting_with_its_result") {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let target = burner::endless(folder.path());
    let mut command = zwhy(folder.path());
    command.args(["count", FUNCTION, "-o", "x.zwhy", "-p", &target.0.id().to_string()]);
    let mut counter = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let part = folder.path().join("x.zwhy.part");
    let counts = || part.read_dir().is_ok_and(|mut names| names.next().is_some());
    assert!(wait_until(&mut counter, counts), "it ended early");
    signal(&counter, Signal::INT);
    let ran = Ran::of(counter.wait_with_output().expect("it ends"));
    let out = ran.ok();
    assert!(out.contains("spin_the_wheel") && out.contains(" calls in "), "{out}");
    assert!(folder.path().join("x.zwhy").is_file());
}

#[test]
fn wrong_calls_say_what_is_wrong() {
    let folder = TempDir::new().expect("a folder");
    let call = |args: &[&str]| run(folder.path(), args.iter().copied());
    let unknown = call(&["count", "no_such_function_anywhere", "--", "true"]).failed(2);
    assert!(unknown.contains("LIBRARY:FUNCTION"), "{unknown}");
    let object = call(&["count", "libnowhere:f", "-d", "1"]).failed(1);
    assert!(object.contains("give its path"), "{object}");
    let percent = call(&["count", "f", "--max-overhead", "-3%"]);
    assert_eq!(percent.code, Some(2), "{percent:?}");
    let empty = call(&["count", ":", "-d", "1"]).failed(2);
    assert!(empty.contains("names no function"), "{empty}");
}
