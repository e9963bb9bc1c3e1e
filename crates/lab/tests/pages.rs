//! The lists of free pages that stand in for posix_memalign, in a program of their own.

#![cfg(target_env = "gnu")]

use std::path::Path;
use std::process::Command;

#[test]
fn pages_keep_what_is_written_and_are_used_again() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("pages");
    // The compiler that build.rs needs.
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let compiled = Command::new(compiler)
        .args(["-std=gnu11", "-O2", "-Wall", "-Wextra", "-o"])
        .arg(&program)
        .args([here.join("tests/pages.c"), here.join("src/user/shim/pages.c")])
        .arg("-lpthread")
        .status()
        .unwrap();
    assert!(compiled.success());
    let ran = Command::new(&program).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
}
