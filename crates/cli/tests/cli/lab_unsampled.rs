//! `zwhy lab` where the kernel or a container forbids sampling.

use crate::lab::{SMALL, libzpool};
use crate::support::{Ran, program, skip};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Starts a program to which perf_event_open is a system call that this kernel does not have, as in an emulated machine.
const WITHOUT_PERF_EVENTS: &str = r#"
import ctypes, os, platform, struct, sys
number = {"x86_64": 298}.get(platform.machine(), 241)
load, equal, ret = 0x20, 0x15, 0x06
code = b"".join(struct.pack("HBBI", *i) for i in
    [(load, 0, 0, 0), (equal, 0, 1, number), (ret, 0, 0, 0x50000 | 38), (ret, 0, 0, 0x7fff0000)])
kept = ctypes.create_string_buffer(code)
program = struct.pack("H6xQ", 4, ctypes.addressof(kept))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program) == 0, ctypes.get_errno()
os.execv(sys.argv[1], sys.argv[1:])
"#;

#[test]
fn an_experiment_is_measured_where_nothing_can_be_sampled() {
    let test = "an_experiment_is_measured_where_nothing_can_be_sampled";
    if libzpool().is_none() {
        return skip(test, "no libzpool is installed");
    }
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("small.toml"), SMALL).expect("a file");
    let lab = |more: &str| {
        let mut command = program(Path::new("python3"), folder.path());
        command.args(["-c", WITHOUT_PERF_EVENTS, env!("CARGO_BIN_EXE_zwhy")]);
        command.args(format!("lab run small.toml --quick -o out {more}").split_whitespace());
        Ran::of(command.output().expect("python3"))
    };
    let line = lab("--explain gzip-9-write").failed(1);
    assert!(line.contains("this kernel has no perf events"), "{line}");
    let ran = lab("");
    assert!(ran.err.contains("no perf events") && ran.err.contains("--no-record"), "{}", ran.err);
    assert!(ran.ok().contains("CPU-s/GB"));
    let captures = fs::read_dir(folder.path().join("out")).expect("a folder").flatten();
    assert_eq!(captures.filter(|e| e.path().extension().is_some_and(|e| e == "zwhy")).count(), 0);
}
