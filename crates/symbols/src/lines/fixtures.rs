//! Objects for the tests of this folder: a small C file, compiled as a kernel module is.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Functions inlined into one another, some in two places.
const SOURCE: &str = "\
static int seen[64];
static inline __attribute__((always_inline)) int low(int x) { return seen[x & 63] + 3; }
static inline __attribute__((always_inline)) int mid(int x)
{
	int r = low(x);
	seen[r & 63] ^= x;
	return r * 7;
}
int entry(int x)
{
	int a = mid(x);
	if (x & 1)
		a += low(a + 1);
	return a;
}
int other(int *p)
{
	*p = 5;
	return mid(*p + seen[3]);
}
";

/// Runs a tool of the compiler's packages, which the set-up installs.
pub fn run(dir: &Path, program: &str, args: &[&str]) {
    let done = Command::new(program).current_dir(dir).args(args).output();
    let done = done.unwrap_or_else(|e| panic!("{program}: {e}; run `make setup`"));
    assert!(done.status.success(), "{program} {args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// `toy.o`: each function in a section of its own, all of them at address 0.
pub fn toy_object(dir: &Path, more: &[&str]) -> PathBuf {
    std::fs::write(dir.join("toy.c"), SOURCE).unwrap();
    let args = ["-g", "-O2", "-c", "-fno-pie", "-ffunction-sections", "toy.c", "-o", "toy.o"];
    run(dir, "gcc", &[&args[..], more].concat());
    dir.join("toy.o")
}

/// `toy.ko`, as [`toy_object`] and with a build-id.
pub fn toy_module(dir: &Path) -> PathBuf {
    toy_object(dir, &[]);
    run(dir, "ld", &["-r", "--build-id", "toy.o", "-o", "toy.ko"]);
    dir.join("toy.ko")
}
