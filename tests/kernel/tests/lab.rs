//! The lab's engine `pool` on the real module in the kernel VM: its figures, what it refuses, and that the host
//! is as it was after a run, after a kill at any line of the journal, and after going on.
//!
//! `make kernel-test` runs this; it is ignored elsewhere because it boots a machine.

use serde_json::Value;
use std::path::Path;
use std::sync::OnceLock;
use zwhy_kernel_tests::{Boot, Machine, capture_of};

fn boot() -> &'static Boot {
    static BOOT: OnceLock<Boot> = OnceLock::new();
    BOOT.get_or_init(|| {
        let machine = Machine {
            disks: 2,
            disk_mib: 1024,
            special_disks: &[],
            limit: 1200,
            kernel: "",
            debug: false,
            files: &["tests/kernel/guest/lib.sh".into()],
        };
        Boot::run("lab", Path::new("tests/kernel/guest/lab.sh"), &[], &machine)
    })
}

#[track_caller]
fn ended_well(name: &str) {
    assert_eq!(boot().text(&format!("{name}.exit")), "0", "{name}: {}", boot().text(&format!("{name}.log")));
}

fn step<'a>(result: &'a Value, cell: &str, name: &str) -> &'a Value {
    let named = |list: &'a Value, key: &str, wanted: &str| {
        let found = list.as_array().and_then(|all| all.iter().find(|one| one[key] == wanted));
        found.unwrap_or_else(|| panic!("no {wanted} in {list}"))
    };
    named(&named(&result["runs"], "variant", cell)["steps"], "name", name)
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn the_experiment_shows_on_the_kernel_what_it_should() {
    ended_well("files");
    ended_well("check");
    let result = boot().json("files/result.json");
    assert_eq!(result["engine"], "pool");
    let ccm = step(&result, "aes-256-ccm", "read");
    assert!(ccm["counters"]["arcstats.demand_data_misses"].as_i64() > Some(0), "{ccm}");
    // A thread that ends between two looks takes what it read with it.
    let read = ccm["device_read_bytes"].as_u64().unwrap_or(0);
    assert!((22 << 20..26 << 20).contains(&read), "{ccm}");
    let threads = ccm["threads"].to_string();
    assert!(threads.contains("z_rd_int") && threads.contains("lab-reader"), "{threads}");
    let capture = boot().folder().join("files/aes-256-ccm-read.zwhy");
    let recorded = capture_of(&capture, "aes-256-ccm-read");
    assert!(recorded.samples("zio_do_crypt_data", "") > 0, "the recording is of the kernel");
    assert_eq!(recorded.fact("/kind"), "lab");
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn a_device_is_measured_and_given_back_blank() {
    ended_well("device");
    let result = boot().json("device/result.json");
    let (lz4, off) = (step(&result, "lz4", "write"), step(&result, "off", "write"));
    let written = |step: &Value| step["device_written_bytes"].as_u64().unwrap_or(0);
    assert!(written(off) >= 24 << 20 && written(lz4) < written(off) * 8 / 10, "{lz4} {off}");
    let prefetched = &step(&result, "off", "read")["counters"]["zfetchstats.hits"];
    assert!(prefetched.is_null(), "prefetch was switched off: {prefetched}");
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn what_others_use_is_refused_and_named() {
    for (name, says) in [
        ("refused-nvme1n1p1", "open for itself"),
        ("refused-nvme0n1", "whole disk"),
        ("refused-nvme9n1p1", "not there"),
        ("refused-zero", "no block device"),
        ("refused-twice", "same device"),
        ("refused-parameter", "--allow-parameters"),
        ("refused-signature", "swap space"),
    ] {
        let log = boot().text(&format!("{name}.log"));
        assert_eq!(boot().text(&format!("{name}.exit")), "1", "{name}: {log}");
        assert!(log.contains(says), "{name}: {log}");
    }
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn the_host_is_as_it_was_after_every_run_and_every_kill() {
    let before = boot().text("before");
    assert!(before.contains("bystander") && before.contains("zfs_arc_max:"), "{before}");
    let kills = ["1", "2", "3", "4", "5", "6", "write", "reimport", "read"];
    let mut with_a_pool = 0;
    for name in kills {
        ended_well(&format!("cleanup-{name}"));
        with_a_pool += u32::from(boot().text(&format!("killed-{name}.when")).ends_with("1 pools"));
    }
    assert!(with_a_pool >= 2, "{with_a_pool} kills found the pool there");
    let after_kills = kills.map(|name| format!("after-killed-{name}"));
    let others = ["after-files", "after-device", "after-refused", "after-resume"].map(str::to_owned);
    for name in others.iter().chain(&after_kills) {
        // A scratch folder that a killed run made is the user's to keep or to resume; it is empty.
        assert_eq!(boot().text(name), before, "{name}");
    }
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn a_run_that_was_killed_goes_on() {
    ended_well("resume");
    let result = boot().json("resumed.json");
    assert_eq!(result["runs"].as_array().map(Vec::len), Some(3), "{}", result["failed"]);
}
