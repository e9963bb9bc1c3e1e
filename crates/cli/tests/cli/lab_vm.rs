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
    assert!(refused.contains("It cannot run like this: an idle step"), "{refused}");
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
    assert!(folder.path().join("out/vm-plan.json").exists(), "another machine may");

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
    let folder = machine(
        "echo last word; echo 'error: the VM ended after 3 s: QEMU was killed (signal 9)' >&2; exit 1",
    );
    let line = run_in(&folder, &["encryption", "--quick"]).failed(1);
    let said = "failed in the VM: the VM ended after 3 s: QEMU was killed (signal 9). Its console ended with:\n  last word";
    assert!(line.contains(said) && !line.contains("exit status"), "{line}");
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
    assert!(ran.err.contains("did not end; zwhy lab resume out tries these again. "), "{ran:?}");
    assert!(ran.out.contains("newest-first"), "the others are told");
}

/// A plan of an experiment and its first run, beside a result of one run.
fn begun(folder: &Path) {
    sample(folder, false);
    let read = |name: &str| -> serde_json::Value {
        serde_json::from_slice(&fs::read(folder.join(name)).expect("a file")).expect("JSON")
    };
    let result = read("sample.json");
    let plan = serde_json::json!({
        "schema": result["schema"], "experiment": zwhy_lab::Experiment::builtin("snapshot-destroy").expect("it ships"),
        "size": "quick", "size_spec": { "bytes": "16M", "repetitions": 1 }, "seed": 7, "started_s": 0, "command": [],
        "scratch": "/tmp/scratch", "library": "/zfs.ko", "build_id": null, "hz": null,
    });
    let mut cell = result["runs"][0].clone();
    cell["position"] = 0.into();
    fs::write(folder.join("plan.json"), plan.to_string()).expect("a file");
    fs::write(folder.join("0000.json"), cell.to_string()).expect("a file");
}

#[test]
fn a_machine_that_dies_leaves_what_was_finished_and_another_goes_on() {
    let folder = machine(
        "mkdir -p $out/lab/cells; cp $HERE/sample.json $out/lab/result.json; cp $HERE/plan.json $out/lab/
         cp $HERE/0000.json $out/lab/cells/; echo 'Kernel panic - not syncing'; exit 1",
    );
    begun(folder.path());
    let ran = run_in(&folder, &["snapshot-destroy", "--quick", "--json"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.err.contains("5 of 6 runs did not end; zwhy lab resume out tries these again"), "{ran:?}");
    let result: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(result["runs"].as_array().map(Vec::len), Some(1));
    let missing = result["failed"].as_array().expect("a list");
    let names: std::collections::BTreeSet<&str> =
        missing.iter().filter_map(|f| f["variant"].as_str()).collect();
    assert!(names.len() == 5 && missing[0]["error"].to_string().contains("Kernel panic"), "{missing:?}");
    let again = run_in(&folder, &["snapshot-destroy", "--quick"]).failed(1);
    assert!(again.contains("zwhy lab resume out"), "{again}");

    let goes_on = format!(
        "#!/bin/bash\nfor word; do [[ $word != */begun.tar ]] || tar -t -f \"$word\" >\"$HERE/given\"; done\n\
         while [[ $1 != -o ]]; do shift; done\nout=$2\necho \"$*\" >\"$HERE/words\"\n{LEAVES_RESULTS}\n"
    );
    executable(&folder.path().join("vm/run"), &goes_on);
    let mut command = zwhy(folder.path());
    command.args("lab resume out --vm vm --json".split(' '));
    command.env("HERE", folder.path()).env("ZWHY_VM_DIR", folder.path().join("cache"));
    let result = Ran::of(command.output().expect("the program starts")).json();
    assert_eq!(result["failed"], serde_json::json!([]));
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("what it was given");
    for file in ["lab/plan.json", "lab/result.json", "lab/cells/0000.json"] {
        assert!(read("given").lines().any(|line| line == file), "{file}: {}", read("given"));
    }
    assert!(read("words").contains("lab resume /out/lab --json"), "{}", read("words"));
    assert!(folder.path().join("out/cells/0000.json").is_file());
    let told = result["distortions"].as_array().expect("a list");
    let of_a_vm = told.iter().filter(|one| one.as_str().is_some_and(|what| what.contains("a VM of two")));
    assert_eq!(of_a_vm.count(), 1, "{told:?}");
    assert_eq!(result["command"][2], "run", "it is told how it was run, not how it was resumed");

    // With nothing missing no machine is booted, and nothing of the result is lost.
    let out = folder.path().join("out");
    fs::copy(folder.path().join("plan.json"), out.join("vm-plan.json")).expect("a plan");
    let cell = fs::read_to_string(out.join("cells/0000.json")).expect("a cell");
    let mut cell: serde_json::Value = serde_json::from_str(&cell).expect("JSON");
    for position in 1..6 {
        cell["position"] = position.into();
        fs::write(out.join(format!("cells/000{position}.json")), cell.to_string()).expect("a file");
    }
    fs::remove_file(folder.path().join("words")).expect("a file");
    let before = fs::read(out.join("result.json")).expect("a result");
    let again = Ran::of(command.output().expect("the program starts")).json();
    assert_eq!(again["distortions"], result["distortions"]);
    assert_eq!(fs::read(out.join("result.json")).expect("a result"), before);
    assert!(!folder.path().join("words").exists(), "a machine was booted for nothing");
}

/// QEMU, of which KVM dies as it does on hosts that are guests themselves.
const DYING_KVM: &str = "#!/bin/bash
while (($#)); do
    case $1 in
    -accel) accel=${2%%,*} ;;
    -drive) [[ $2 != *id=results,* ]] || { results=${2#file=}; results=${results%%,*}; } ;;
    esac
    shift
done
echo $accel >>$HERE/starts
echo 'vm: Linux 6.1'
if [[ $accel == kvm ]]; then echo 'KVM internal error. Suberror: 1' >&2; exec sleep 90; fi
out=$HERE/left
mkdir -p $out/lab
cp $HERE/sample.json $out/lab/result.json
echo 0 >$out/.exit
tar -c -f $results -C $out .
";

#[test]
fn a_kvm_that_dies_is_left_for_emulation() {
    let folder = TempDir::new().expect("a folder");
    sample(folder.path(), false);
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vm");
    for name in ["vm", "bin"] {
        fs::create_dir(folder.path().join(name)).expect("a folder");
    }
    for script in ["run", "keep", "accel.sh", "disks.sh"] {
        fs::copy(sources.join(script), folder.path().join("vm").join(script)).expect("a script");
    }
    let build = "#!/bin/sh\nmkdir -p $ZWHY_VM_DIR/$1 && : >$ZWHY_VM_DIR/$1/vmlinuz && : >$ZWHY_VM_DIR/$1/base.cpio.gz\n";
    executable(&folder.path().join("vm/build.sh"), build);
    executable(&folder.path().join("bin/qemu-system-x86_64"), DYING_KVM);
    fs::write(folder.path().join("kvm"), "").expect("a file");
    let mut command = in_machine(&folder, &["encryption", "--quick", "--json"]);
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", folder.path().join("bin").display()));
    command
        .env("ZWHY_VM_KVM", folder.path().join("kvm"))
        .env("ZWHY_VM_ACCEL", "")
        .env("TMPDIR", folder.path());
    let ran = Ran::of(command.output().expect("the program starts"));
    assert!(ran.code == Some(0) && ran.err.contains("KVM does not work here"), "{ran:?}");
    assert!(ran.err.contains("KVM internal error") && ran.err.contains("software emulation"), "{ran:?}");
    let starts = fs::read_to_string(folder.path().join("starts")).expect("it was started");
    assert_eq!(starts, "kvm\ntcg\n");
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
