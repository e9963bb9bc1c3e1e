//! `zwhy lab` when its OpenZFS is killed, or itself told to end.

use crate::lab::libzpool;
use crate::support::{Ran, Reaped, signal, skip, wait_until, zwhy};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::process::Stdio;
use tempfile::TempDir;

/// Processes that `parent` started.
fn children(parent: u32) -> Vec<Pid> {
    let text = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|p| Pid::from_raw(p.parse().ok()?)).collect()
}

#[test]
fn a_killed_openzfs_is_an_error_and_leaves_no_pool_behind() {
    if libzpool().is_none() {
        return skip("a_killed_openzfs_is_an_error_and_leaves_no_pool_behind", "no libzpool is installed");
    }
    let folder = TempDir::new().expect("a folder");
    let scratch = folder.path().join("scratch");
    let mut command = zwhy(folder.path());
    command.args("lab run encryption --quick --no-record -o out --scratch scratch".split(' '));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut program = command.spawn().expect("the program starts");
    let id = program.id();
    let vdev_exists = || fs::read_dir(&scratch).is_ok_and(|mut entries| entries.next().is_some());
    assert!(wait_until(&mut program, || vdev_exists() && !children(id).is_empty()), "the lab ended early");
    children(id).into_iter().for_each(|pid| kill_process(pid, Signal::KILL).expect("it is ours"));
    // The runs after it are made.
    let ran = Ran::of(program.wait_with_output().expect("the program ends"));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.err.contains("1 of 3 runs did not end") && ran.err.contains("SIGKILL"), "{}", ran.err);
    assert!(ran.out.contains("Did not end: ") && ran.out.contains("CPU-s/GB"), "{}", ran.out);
    assert!(!scratch.exists(), "the scratch folder was made by the lab");
}

#[test]
fn ctrl_c_ends_the_lab_in_order() {
    if libzpool().is_none() {
        return skip("ctrl_c_ends_the_lab_in_order", "no libzpool is installed");
    }
    let folder = TempDir::new().expect("a folder");
    let mut command = zwhy(folder.path());
    command.args("lab run encryption --quick --no-record -o out".split(' '));
    let mut program = Reaped(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts"));
    let id = program.0.id();
    assert!(wait_until(&mut program.0, || !children(id).is_empty()), "the lab ended early");
    signal(&program.0, Signal::INT);
    assert!(!wait_until(&mut program.0, || false), "it ends by itself");
    assert_eq!(program.0.wait().expect("it ended").code(), Some(1));
    assert!(!folder.path().join("out/scratch").exists());
}
