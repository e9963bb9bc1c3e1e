//! What zwhy may do in a kernel that is locked down, first for integrity and then for confidentiality.
//!
//! `make kernel-test` runs this; it is ignored elsewhere because it boots a machine.

use std::path::Path;
use std::sync::OnceLock;
use zwhy_kernel_tests::{Boot, Machine};
use zwhy_profile::Event;

const LEVELS: [&str; 2] = ["integrity", "confidentiality"];

fn boot() -> &'static Boot {
    static BOOT: OnceLock<Boot> = OnceLock::new();
    BOOT.get_or_init(|| {
        let machine = Machine {
            disks: 1,
            disk_mib: 512,
            special_disks: &[],
            limit: 600,
            kernel: "",
            debug: false,
            files: &["tests/kernel/guest/lib.sh".into()],
        };
        Boot::run("lockdown", Path::new("tests/kernel/guest/lockdown.sh"), &[], &machine)
    })
}

#[track_caller]
fn ended(name: &str, with: &str) {
    assert_eq!(boot().text(&format!("{name}.exit")), with, "{}", boot().text(&format!("{name}.log")));
}

/// What `zwhy doctor` says of one thing: its state and what was found.
fn doctor(level: &str, wanted: &str) -> (String, String) {
    let doctor = boot().json(&format!("doctor-{level}.json"));
    let checks = doctor["checks"].as_array().cloned().unwrap_or_default();
    let check = checks.into_iter().find(|check| check["name"] == wanted).unwrap_or_default();
    let text = |key: &str| check[key].as_str().unwrap_or_default().to_owned();
    (text("state"), text("found"))
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn the_kernel_is_locked_down() {
    for level in LEVELS {
        assert!(boot().text(level).contains(&format!("[{level}]")), "{}", boot().text(level));
    }
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn recordings_are_as_without_it_and_name_the_cause() {
    for level in LEVELS {
        ended(&format!("host-{level}"), "0");
        let host = boot().capture(&format!("host-{level}.zwhy"));
        assert!(host.samples("deflate*", "") > 0, "{level}: gzip is not among the functions");
        assert!(host.rate("arcstats", "access_skip").is_some(), "{level}: no counters");
        let answer = boot().json(&format!("explain-{level}.json"));
        assert_eq!(answer["findings"][0]["class"], "compression-gzip-cpu", "{level}");
        ended(&format!("command-{level}"), "0");
        ended(&format!("waits-{level}"), "0");
        let waits = boot().capture(&format!("waits-{level}.zwhy"));
        assert!(!waits.through(Event::Wait, &[]).is_empty(), "{level}: no time off the CPU");
        assert_eq!(doctor(level, "CPU samples").0, "ready");
    }
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn calls_of_kernel_functions_are_counted_only_without_confidentiality() {
    ended("count-integrity", "0");
    assert_eq!(doctor("integrity", "call counts").0, "ready");
    ended("count-confidentiality", "1");
    let log = boot().text("count-confidentiality.log");
    assert!(log.contains("locked down for confidentiality"), "{log}");
    let (state, found) = doctor("confidentiality", "call counts");
    assert!(state == "missing" && found.contains("locked down for confidentiality"), "{state}: {found}");
}
