//! `zwhy lab run --engine vm`: the published cases on the real module, each in a VM that the program boots itself.
//!
//! `make kernel-test` runs this; it is ignored elsewhere because it boots machines.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};
use std::{env, fs};
use tempfile::TempDir;
use zwhy_kernel_tests::{capture_of, root};

/// With --quick each takes no longer, emulated on two cores that do nothing else.
const LIMIT: Duration = Duration::from_secs(600);

struct Ran {
    _folder: TempDir,
    out: PathBuf,
    took: Duration,
}

fn zwhy() -> Command {
    let program = env::var_os("ZWHY_STATIC").expect("ZWHY_STATIC names the built zwhy; use make kernel-test");
    let mut command = Command::new(program);
    // What vm/build.sh has made is not made again.
    let cache = env::var_os("ZWHY_VM_DIR").map_or_else(|| root().join("target/vm"), PathBuf::from);
    command.env("ZWHY_VM_DIR", cache);
    command
}

#[track_caller]
fn ended_well(what: &str, output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{what}: {}\n{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// Runs it with these words more, and lets `lab check` say whether it showed what it should.
#[track_caller]
fn shown_by(experiment: &str, more: &[&str]) -> Ran {
    let version = env::var("ZWHY_KERNEL_VERSION").unwrap_or_else(|_| "2.3".to_owned());
    let folder = tempfile::tempdir().expect("a folder");
    let out = match env::var_os("ZWHY_KERNEL_OUT") {
        Some(kept) => PathBuf::from(kept).join(format!("lab-vm-{experiment}-{version}")),
        None => folder.path().join("out"),
    };
    // Of an earlier run; zwhy writes into no folder that holds something.
    let _ = fs::remove_dir_all(&out);
    let begin = Instant::now();
    let mut command = zwhy();
    command
        .args(["lab", "run", experiment, "--engine", "vm", "--quick", "--vm-zfs", &version, "-o"])
        .arg(&out)
        .args(more);
    // Looked at afterwards.
    let temporary = folder.path().join("tmp");
    fs::create_dir(&temporary).expect("a folder");
    let output = command.env("TMPDIR", &temporary).output().expect("zwhy is there");
    ended_well(experiment, &output);
    let took = begin.elapsed();
    assert_eq!(fs::read_dir(&temporary).expect("the folder").count(), 0, "nothing of the VM is left");
    // One run of each cell leaves some intervals too wide; that is said, and is no failure.
    let checked = zwhy().args(["lab", "check"]).arg(&out).output().expect("zwhy is there");
    let checked = String::from_utf8_lossy(&checked.stdout).into_owned();
    let lines = checked.lines().filter(|line| !line.is_empty() && !line.starts_with(' '));
    assert!(checked.contains("ok "), "{checked}");
    for line in lines {
        assert!(line.starts_with("ok ") || line.contains("too wide to tell"), "{experiment}: {checked}");
    }
    Ran { _folder: folder, out, took }
}

impl Ran {
    fn result(&self) -> Value {
        let text = fs::read_to_string(self.out.join("result.json")).expect("the result");
        serde_json::from_str(&text).expect("JSON")
    }

    /// Samples of a function in a capture.
    fn samples(&self, capture: &str, function: &str) -> u64 {
        capture_of(&self.out.join(format!("{capture}.zwhy")), capture).samples(function, "")
    }
}

fn distorted(result: &Value) -> bool {
    result["distortions"].to_string().contains("the machine is a VM")
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn encryption_is_shown_in_a_vm() {
    let ran = shown_by("encryption", &[]);
    let result = ran.result();
    assert!(result["engine"] == "pool" && distorted(&result), "{result}");
    assert!(!ran.out.join("plan.json").exists());
    assert!(ran.samples("aes-256-ccm-read", "zio_do_crypt_data") > 0);
    assert!(ran.took < LIMIT, "{:?}", ran.took);
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn reads_that_the_arc_serves_are_shown_in_a_vm() {
    let ran = shown_by("arc-cached-read", &[]);
    // Called so since 2.3 and before it.
    let names = ["zfs_lz4_decompress*", "lz4_decompress*"];
    let decompresses: u64 = names.iter().map(|name| ran.samples("arc_max-256M-lz4-pass-2", name)).sum();
    assert!(decompresses > 0, "each pass decompresses");
    assert!(ran.took < LIMIT, "{:?}", ran.took);
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn direct_io_is_shown_in_a_vm() {
    if env::var("ZWHY_KERNEL_VERSION").is_ok_and(|version| version == "2.1") {
        return;
    }
    // What little a stripe and 64 MiB take is lost in the noise of one pair of runs.
    let ran = shown_by("direct-io", &["--set", "layout=stripe,raidz1", "--bytes", "256M"]);
    let result = ran.result();
    let version = env::var("ZWHY_KERNEL_VERSION").unwrap_or_else(|_| "2.3".to_owned());
    assert!(result["library"].to_string().contains(&version), "{}", result["library"]);
    assert!(ran.took < LIMIT, "{:?}", ran.took);
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn what_direct_io_does_with_each_call_is_shown_in_a_vm() {
    if env::var("ZWHY_KERNEL_VERSION").is_ok_and(|version| version == "2.1") {
        return;
    }
    let ran = shown_by("direct-io-semantics", &["--no-record"]);
    let result = ran.result();
    let outcomes = result.to_string();
    // What is not aligned is an error before 2.4.
    let refused =
        (!env::var("ZWHY_KERNEL_VERSION").is_ok_and(|version| version == "2.4")).then_some("EINVAL");
    for outcome in ["direct", "direct in part", "buffered", "EIO"].into_iter().chain(refused) {
        assert!(outcomes.contains(&format!("\"outcome\":\"{outcome}\"")), "no call ended as {outcome}");
    }
    assert!(ran.took < LIMIT, "{:?}", ran.took);
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn destroying_snapshots_is_shown_in_a_vm() {
    // The law that is checked is one of sizes.
    let ran = shown_by("snapshot-destroy", &["--grow", "n=100,200,400,800"]);
    let checked = ran.result()["checks"].to_string();
    assert!(checked.contains("dsl_deadlist_merge") && checked.contains("grows as n (exponent"), "{checked}");
    assert!(ran.samples("n-800-newest-first-destroy", "dsl_deadlist_merge") > 0);
    assert!(ran.took < LIMIT, "{:?}", ran.took);
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn a_program_that_is_killed_takes_the_vm_with_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = zwhy();
    command.args(["lab", "run", "encryption", "--engine", "vm", "--quick", "-o", "out"]);
    command.current_dir(folder.path()).env("TMPDIR", folder.path());
    let mut program = command.spawn().expect("zwhy is there");
    let console = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|e| fs::read_to_string(e.path().join("console")).unwrap_or_default()).collect::<String>()
    };
    let patience = Instant::now();
    while !console(folder.path()).contains("vm: OpenZFS") {
        assert!(patience.elapsed() < LIMIT, "it did not boot");
        std::thread::sleep(Duration::from_millis(100));
    }
    program.kill().expect("it is ours");
    program.wait().expect("it ended");
    let end = Instant::now();
    // What was finished is in the folder of the results; nothing was.
    while fs::read_dir(folder.path()).expect("the folder").count() > 0 {
        assert!(end.elapsed() < Duration::from_secs(30), "the VM and its files are still there");
        std::thread::sleep(Duration::from_millis(100));
    }
}
