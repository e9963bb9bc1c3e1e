//! `zwhy lab run --engine vm`, with a shell script in the place of the machine: what is refused, what the machine is given,
//! how its results come home, and that it ends with the program. `make kernel-test` boots a real one.

use crate::support::{Ran, Reaped, call, run, signal, wait_until, zwhy};
use rustix::process::Signal;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A folder with a machine: `run` is told as `arguments`, with the folder of -o in `$out`.
fn machine(does: &str) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    let script = format!(
        "#!/bin/bash\nprintf '%s\\n' \"$@\" >\"$HERE/arguments\"\n\
         while [[ $1 != -o ]]; do shift; done\nout=$2\n{does}\n"
    );
    fs::create_dir(folder.path().join("vm")).expect("a folder");
    executable(&folder.path().join("vm/run"), &script);
    folder
}

fn executable(path: &Path, text: &str) {
    fs::write(path, text).expect("a script");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a script");
}

/// A result, of which one run failed or none.
fn sample(folder: &Path, failed: bool) {
    let text =
        fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lab/result.json")).expect("a result");
    let mut result: serde_json::Value = serde_json::from_slice(&text).expect("a result");
    assert_eq!(result["failed"].as_array().map(Vec::len), Some(1));
    if !failed {
        result["failed"] = serde_json::json!([]);
    }
    fs::write(folder.join("sample.json"), result.to_string()).expect("a file");
}

fn in_machine(folder: &TempDir, args: &[&str]) -> Command {
    let mut command = zwhy(folder.path());
    command.args(["lab", "run"]).args(args).args(["--engine", "vm", "--vm", "vm", "-o", "out"]);
    command.env("HERE", folder.path()).env("ZWHY_VM_DIR", folder.path().join("cache"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run_in(folder: &TempDir, args: &[&str]) -> Ran {
    Ran::of(in_machine(folder, args).output().expect("the program starts"))
}

/// Makes results as the lab in a machine leaves them.
const LEAVES_RESULTS: &str = "mkdir -p $out/lab/cells; cp $HERE/sample.json $out/lab/result.json; echo {} >$out/lab/plan.json; \
                              echo 0 >$out/.exit";

#[test]
fn what_a_vm_cannot_do_is_refused_before_anything_is_made() {
    let folder = TempDir::new().expect("a folder");
    for (args, code, says) in [
        ("encryption --device /dev/sda1", 2, "a VM has disks"),
        ("encryption --allow-parameters", 2, "a VM has disks and parameters of its own"),
        ("encryption --keep", 2, "not for the VM"),
        ("encryption --data .", 2, "not for the VM"),
        ("encryption --library /lib/x.so", 2, "not for the VM"),
        ("encryption --vm .", 2, "has no program run"),
        ("encryption --vm-zfs 2.2", 2, "2.1"),
        ("idle-arc-pressure", 1, "the engine vm cannot run this: an idle step"),
        ("offload", 1, "provider: stages of the kernel"),
    ] {
        let args = format!("lab run {args} --engine vm -o out");
        let ran = run(folder.path(), args.split(' '));
        assert!(ran.code == Some(code) && ran.err.contains(says), "{args}: {ran:?}");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0, "nothing was made");
}

#[test]
fn a_vm_is_shown_with_its_cost_and_with_what_it_does_not_touch() {
    let folder = TempDir::new().expect("a folder");
    let quick = call(folder.path(), "lab show encryption --quick --engine vm").ok();
    for says in ["write 64M", "where the machine is emulated", "root is not needed", "for temporary files"] {
        assert!(quick.contains(says), "{says}: {quick}");
    }
    assert!(!quick.contains("it needs root") && !quick.contains("scratch folder"), "{quick}");
    let large = call(folder.path(), "lab show encryption --quick --engine vm --bytes 96M").ok();
    assert!(large.contains("write 96M"), "{large}");
    let refused = call(folder.path(), "lab show idle-arc-pressure --engine vm").ok();
    assert!(refused.contains("It cannot run so: an idle step"), "{refused}");
}

#[test]
fn the_machine_is_given_the_experiment_word_by_word_and_its_results_come_home() {
    let folder = machine(LEAVES_RESULTS);
    sample(folder.path(), false);
    let own = "question's own.toml";
    let text =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/direct-io.toml"));
    fs::write(folder.path().join(own), text.expect("an experiment")).expect("a file");
    let args = [own, "--quick", "--set", "recordsize=128K, 1M", "--repeats", "2", "--seed", "7", "--json"];
    let result = run_in(&folder, &args).json();
    assert_eq!(result["experiment"], "snapshot-destroy", "what the machine left");
    assert!(result["distortions"][0].as_str().is_some_and(|what| what.contains("VM")), "{result}");
    assert_eq!(result["command"][2], "run");
    assert!(result["command"].to_string().contains("vm"), "it is the command of this host");
    assert!(folder.path().join("out/cells").is_dir() && !folder.path().join("out/lab").exists());
    assert!(!folder.path().join("out/plan.json").exists(), "nobody goes on with it on this host");

    let given = fs::read_to_string(folder.path().join("arguments")).expect("what it was given");
    let words: Vec<&str> = given.lines().collect();
    let program = fs::canonicalize(env!("CARGO_BIN_EXE_zwhy")).expect("the program");
    let spec = folder.path().join(own);
    for pair in [
        ["-f", program.to_str().expect("a name")],
        ["-f", spec.to_str().expect("a name")],
        ["-n", "4"],
        ["lab", "run"],
        ["run", "/job/question's own.toml"],
        ["--set", "recordsize=128K, 1M"],
        ["--repeats", "2"],
        ["--bytes", "64M"],
        ["--seed", "7"],
        ["--device", "/dev/nvme3n1p1"],
        ["--engine", "pool"],
    ] {
        assert!(words.windows(2).any(|two| two == pair), "{pair:?} is not in {given}");
    }
    assert!(words.contains(&"-w") && words.contains(&"ZWHY_LAB_LINES=1"), "{given}");
}

#[test]
fn a_folder_in_use_and_a_machine_that_fails_are_told() {
    let folder = machine("echo 'vm: Linux 6.1'; printf '\\033[2Jfirst\\nlast word\\n'; echo why >&2; exit 3");
    let line = run_in(&folder, &["encryption", "--quick"]).failed(1);
    assert!(line.contains("failed in the VM") && line.contains("\n  last word"), "{line}");
    assert!(line.contains("\n  why") && !line.contains('\u{1b}'), "{line}");
    let folder = machine("exit 124");
    let line = run_in(&folder, &["encryption", "--quick"]).failed(1);
    assert!(line.contains("it had not ended after 1800 s"), "{line}");
    fs::create_dir(folder.path().join("out")).expect("a folder");
    fs::write(folder.path().join("out/mine"), "precious").expect("a file");
    let line = run_in(&folder, &["encryption", "--quick"]).failed(1);
    assert!(line.contains("not empty"), "{line}");
}

#[test]
fn runs_that_failed_in_the_machine_do_not_take_the_others_with_them() {
    let folder = machine(&format!("{LEAVES_RESULTS}; exit 1"));
    sample(folder.path(), true);
    let ran = run_in(&folder, &["snapshot-destroy", "--quick", "--json"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.err.contains("did not end; what a VM began cannot be resumed. "), "{ran:?}");
    assert!(ran.out.contains("newest-first"), "the others are told");
}

/// A machine that runs for ever, says so, and tidies up when its standard input ends.
const FOR_EVER: &str =
    "echo booted >\"$HERE/booted\"; while read -r _; do :; done; echo tidy >\"$HERE/ended\"; exit 143";

fn appears(path: &Path) {
    let begin = Instant::now();
    while !path.exists() {
        assert!(begin.elapsed() < Duration::from_secs(60), "no {}", path.display());
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn ctrl_c_ends_the_machine_first() {
    let folder = machine(FOR_EVER);
    let mut program = in_machine(&folder, &["encryption", "--quick"]).spawn().expect("the program starts");
    assert!(wait_until(&mut program, || folder.path().join("booted").exists()), "it ended early");
    signal(&program, Signal::INT);
    let ran = Ran::of(program.wait_with_output().expect("it ends"));
    assert!(ran.failed(1).contains("cancelled"));
    assert!(folder.path().join("ended").exists(), "the program waited for the machine");
    assert!(!folder.path().join("out").exists());
}

#[test]
fn a_killed_program_takes_its_machine_with_it() {
    let folder = machine(FOR_EVER);
    let mut program = Reaped(in_machine(&folder, &["encryption", "--quick"]).spawn().expect("it starts"));
    assert!(wait_until(&mut program.0, || folder.path().join("booted").exists()), "it ended early");
    program.end();
    appears(&folder.path().join("ended"));
}

#[test]
fn a_system_without_qemu_is_told_what_to_install() {
    let folder = TempDir::new().expect("a folder");
    let bin = folder.path().join("bin");
    fs::create_dir(&bin).expect("a folder");
    for tool in ["bash", "env", "dirname", "uname", "find", "sort", "tail", "grep", "cut", "xargs", "echo"] {
        let found = ["/usr/bin", "/bin"].map(|at| Path::new(at).join(tool)).into_iter().find(|p| p.exists());
        symlink(found.expect("every system has it"), bin.join(tool)).expect("a link");
    }
    let mut command = zwhy(folder.path());
    command.args("lab run encryption --quick --engine vm -o out".split(' '));
    command.env("PATH", &bin).env("ZWHY_VM_DIR", folder.path().join("cache"));
    let line = Ran::of(command.output().expect("the program starts")).failed(1);
    // Another system is told that it cannot have it.
    let told = line.contains("apt-get install") && line.contains("qemu-system-x86");
    assert!(told || line.contains("cannot run here: "), "{line}");
    assert!(!folder.path().join("out").exists());
}
