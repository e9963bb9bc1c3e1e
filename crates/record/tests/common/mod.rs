//! Helpers of the tests that record real things: children with known functions, captures opened.
#![allow(dead_code)] // each test file uses a part

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;
use zwhy_capture::Capture;
use zwhy_profile::Event;
use zwhy_record::{RecordOptions, Recording, Summary, Target};

/// Names the child's work when this test binary is run again as the recorded command.
pub const ROLE: &str = "ZWHY_TEST_CHILD";

/// Spends CPU time in itself alone: it calls nothing, in a debug build too.
#[inline(never)]
pub fn leaf_of_the_test(seed: u64) -> u64 {
    let (mut x, mut i) = (seed | 1, 0u32);
    while i < 300_000 {
        x = (x << 13) ^ (x >> 7) ^ (x << 17);
        i += 1;
    }
    x
}

/// Spends this much CPU time, however busy the host is.
pub fn burn(time: Duration) {
    let spent = || -> u128 {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
        text.split(' ').next().unwrap().parse().unwrap()
    };
    let until = spent() + time.as_nanos();
    let mut x = 1;
    while spent() < until {
        x = std::hint::black_box(leaf_of_the_test(x));
    }
}

/// The command that runs `role` of this test binary (its test `child`).
pub fn child_command(role: &str) -> Vec<OsString> {
    let me = std::env::current_exe().unwrap();
    let mut words: Vec<OsString> = vec!["env".into(), format!("{ROLE}={role}").into(), me.into()];
    words.extend(["--exact", "child", "--nocapture", "--test-threads=1"].map(OsString::from));
    words
}

pub fn options(target: Target, out: &Path) -> RecordOptions {
    RecordOptions { hz: 999, ask_zfs: false, ..RecordOptions::new(target, out) }
}

/// Records to the end of the target or of the duration.
pub fn record(options: RecordOptions) -> Summary {
    let mut recording = Recording::start(options).unwrap();
    recording.run(&std::sync::atomic::AtomicBool::new(false), &mut ()).unwrap();
    recording.stop().unwrap()
}

/// CPU samples whose stack holds a function of this name, and all of them.
pub fn samples_with(capture: &Capture, name: &str) -> (u64, u64) {
    let profile = &capture.profile;
    let with = profile
        .samples
        .iter()
        .filter(|s| s.event == Event::Cpu)
        .filter(|s| profile.function_names(s.stack).iter().any(|f| f.ends_with(name)))
        .map(|s| u64::from(s.count))
        .sum();
    (with, profile.total(Event::Cpu))
}

pub fn comms(capture: &Capture) -> Vec<String> {
    let profile = &capture.profile;
    profile.threads.iter().map(|(_, t)| profile.strings.get(t.comm).to_owned()).collect()
}

/// Waits until a file is there.
pub fn wait_for(path: &Path) {
    for _ in 0..3000 {
        if path.exists() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{} did not come", path.display());
}

/// This test binary where every user may run it.
pub fn copy_of_me(dir: &Path) -> std::path::PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let to = dir.join("test-binary");
    std::fs::copy(std::env::current_exe().unwrap(), &to).unwrap();
    std::fs::set_permissions(&to, std::fs::Permissions::from_mode(0o755)).unwrap();
    to
}

pub fn is_root() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    status.lines().any(|l| l.starts_with("Uid:\t0\t0"))
}
