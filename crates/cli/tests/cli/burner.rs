//! A process with known function names that burns CPU: this test binary, started again.

use crate::support::{Reaped, program};
use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};

const ROUNDS: &str = "ZWHY_TEST_ROUNDS";
/// What the burner exits with.
pub const CODE: i32 = 7;

/// The command that burns for some rounds of a few milliseconds each, then exits with [`CODE`].
pub fn arguments() -> [String; 5] {
    let exe = std::env::current_exe().expect("this binary").display().to_string();
    [exe, "--exact".into(), "burner::burns_cpu".into(), "--ignored".into(), "--nocapture".into()]
}

/// Lets `command` burn for so many rounds.
pub fn rounds(command: &mut Command, rounds: u64) {
    command.env(ROUNDS, rounds.to_string());
}

/// A burner that runs until it is ended.
pub fn endless(folder: &Path) -> Reaped {
    let [exe, args @ ..] = arguments();
    let mut command = program(Path::new(&exe), folder);
    rounds(command.args(args), u64::MAX);
    Reaped(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the burner starts"))
}

#[test]
#[ignore = "started by the tests of recording"]
fn burns_cpu() {
    let rounds = std::env::var(ROUNDS).ok().and_then(|r| r.parse().ok()).unwrap_or(1u64);
    let mut sum = 0;
    for round in 0..rounds {
        sum ^= spin_the_wheel(round);
    }
    black_box(sum);
    std::process::exit(CODE);
}

#[inline(never)]
fn spin_the_wheel(seed: u64) -> u64 {
    let mut x = seed | 1;
    let mut turns = 0;
    // Not over a range, which calls functions of its own in a build without optimisation.
    while turns < 1_000_000 {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        turns += 1;
    }
    black_box(x)
}
