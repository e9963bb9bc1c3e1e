//! One boot of the kernel VM, and what zwhy recorded of the real OpenZFS module in it.
//!
//! `make kernel-test` runs this; it is ignored elsewhere because it boots a machine.

use serde_json::json;
use std::path::Path;
use std::sync::OnceLock;
use zwhy_kernel_tests::{Boot, Machine, Recorded};
use zwhy_profile::Event;

fn boot() -> &'static Boot {
    static BOOT: OnceLock<Boot> = OnceLock::new();
    BOOT.get_or_init(|| {
        let machine = Machine {
            disks: 3,
            disk_mib: 512,
            limit: 600,
            kernel: "",
            files: &["tests/kernel/guest/lib.sh".into()],
        };
        Boot::run("module", Path::new("tests/kernel/guest/module.sh"), &[], &machine)
    })
}

/// A recording that ended well.
fn recorded(name: &str) -> Recorded {
    assert_eq!(boot().text(&format!("{name}.exit")), "0", "{}", boot().text(&format!("{name}.log")));
    boot().capture(&format!("{name}.zwhy"))
}

fn is_2_3() -> bool {
    boot().version == "2.3"
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn functions_of_the_module_have_names() {
    let ccm = recorded("ccm");
    assert!(ccm.samples("zio_do_crypt_data", "zfs") > 0 || !is_2_3(), "no zio_do_crypt_data");
    let module = if is_2_3() { "zfs" } else { "icp" };
    for function in ["aes_*", "ccm_*"] {
        assert!(ccm.samples(function, module) > 0, "no {function} in {module}");
    }
    assert!(ccm.samples("zfs_read", "zfs") > 0);
    if is_2_3() {
        assert!(ccm.samples("kfpu_end", "zfs") > 0, "CCM saves the FPU state for each block");
    }
    let off = recorded("off");
    assert_eq!(off.samples("aes_*", ""), 0);
    assert!(
        off.samples("fletcher_4_*", "") + off.samples("abd_fletcher_4_*", "") > 0,
        "checksums are verified"
    );
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn threads_and_datasets_are_known() {
    let writes = recorded("writes");
    let threads = writes.threads();
    for wanted in ["txg_sync", "z_wr_iss", "arc_evict", "dbuf_evict"] {
        assert!(threads.iter().any(|t| t.starts_with(wanted)), "no {wanted} among {threads:?}");
    }
    let datasets = writes.fact("/datasets").as_array().cloned().unwrap_or_default();
    let cipher = |name: &str| {
        let found = datasets.iter().find(|d| d["name"] == name).expect(name);
        found["properties"]["encryption"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(cipher("tank/ccm"), "aes-256-ccm");
    assert_eq!(cipher("tank/gcm"), "aes-256-gcm");
    assert_eq!(cipher("tank/off"), "off");
    assert_eq!(writes.fact("/zfs/in_use"), true);
    assert!(writes.fact("/zfs/version").as_str().is_some_and(|v| v.starts_with(&boot().version)));
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn counters_move_with_input_and_output() {
    let off = recorded("off");
    let objset_reads = |of: &Recorded| -> f64 {
        let rows = of.evidence().kstats.iter().filter(|k| k.source.contains("/objset-") && k.name == "nread");
        rows.filter_map(|k| k.rate).sum()
    };
    assert!(off.rate("arcstats", "demand_data_misses") > Some(1.0), "cold reads miss the ARC");
    assert!(objset_reads(&off) > 1e6, "{} bytes a second were read", objset_reads(&off));
    let writes = recorded("writes");
    assert!(writes.rate("dmu_tx", "dmu_tx_assigned") > Some(1.0), "writes are transactions");
    if is_2_3() {
        let direct = recorded("direct");
        assert!(direct.rate("tank/iostats", "direct_read_count") > Some(1.0));
        assert!(direct.rate("tank/iostats", "direct_read_bytes") > Some(1e5));
        assert_eq!(off.rate("tank/iostats", "direct_read_count"), Some(0.0));
    }
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn txg_sync_waits_in_zio_wait() {
    let recorded = recorded("wait");
    let waits = recorded.samples_through(Event::Wait, &["txg_sync_thread", "spa_sync", "zio_wait"]);
    assert!(waits > 0, "{}", boot().text("wait.log"));
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn calls_are_counted_below_a_caller_and_per_call() {
    let exit = |name: &str| boot().text(&format!("{name}.exit"));
    let log = |name: &str| boot().text(&format!("{name}.log"));
    assert_eq!(exit("count-per"), "0", "{}", log("count-per"));
    let per = boot().json("count-per.json");
    assert_eq!((&per["per"]["caller_calls"], &per["lost"]), (&json!(5), &json!(0)), "{per}");
    assert!(boot().capture("count-per.zwhy").samples_through(Event::Count, &["zfs_fsync", "zil_commit"]) > 0);

    assert_eq!(exit("count-under"), "0", "{}", log("count-under"));
    let under = boot().json("count-under.json");
    assert!(under["under"]["calls"].as_u64() > Some(0), "{under}");
    let stacks = under["stacks"].as_array().cloned().unwrap_or_default();
    let below = stacks.iter().filter(|stack| stack["under"] == true);
    let mut functions = below.map(|stack| stack["frames"].as_array().cloned().unwrap_or_default());
    assert!(
        functions.any(|frames| {
            let at = |wanted: &str| {
                frames.iter().position(|f| f["function"].as_str().is_some_and(|f| f.starts_with(wanted)))
            };
            at("dmu_buf_hold_array").is_some_and(|caller| at("arc_read").is_some_and(|leaf| caller < leaf))
        }),
        "{under}"
    );

    for (name, says) in [("count-unknown", "did you mean zio_read"), ("count-many", "be more specific")] {
        assert!(exit(name) != "0" && log(name).contains(says), "{name}: {}", log(name));
    }
}

/// What `zwhy doctor` must find whatever the pools do.
fn doctor_finds_all(name: &str) {
    let exit = boot().text(&format!("{name}.exit"));
    assert!(
        exit == "0" || exit == "1",
        "{name} ended with {exit:?}: {}",
        boot().text(&format!("{name}.log"))
    );
    let doctor = boot().json(&format!("{name}.json"));
    let checks = doctor["checks"].as_array().cloned().unwrap_or_default();
    for wanted in ["kernel names", "wait stacks", "call counts", "ZFS module"] {
        let check = checks.iter().find(|check| check["name"] == wanted);
        assert!(check.is_some_and(|check| check["state"] == "ready"), "{name}: {wanted}: {check:?}");
    }
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn doctor_finds_names_wait_stacks_and_kprobes() {
    doctor_finds_all("doctor");
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn ccm_is_named_and_nothing_of_encryption_elsewhere() {
    let knowledge = zwhy_diagnose::Knowledge::embedded();
    let answer = recorded("ccm").explain(&knowledge);
    let top = answer.findings.first().map(|f| (f.class.as_str(), f.confidence));
    assert!(matches!(top, Some(("crypto-ccm-not-accelerated", c)) if c > 0.7), "{top:?}: {}", answer.why);
    for name in ["gcm", "off", "writes"] {
        let answer = recorded(name).explain(&knowledge);
        let claimed: Vec<_> = answer.findings.iter().filter(|f| f.confidence > 0.5).collect();
        assert!(claimed.is_empty(), "{name}: {claimed:#?}");
    }
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn a_killed_recorder_leaves_what_it_had() {
    assert!(!boot().has("killed.zwhy"), "it was killed before it ended");
    let killed = boot().capture("killed.zwhy.part");
    assert!(killed.samples("zfs_read", "zfs") > 0);
    assert!(killed.imported.stats.warnings.iter().any(|w| w.contains("did not end")));
    assert!(killed.rate("arcstats", "demand_data_misses").is_some());
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn a_full_disk_is_an_error_and_keeps_what_was_written() {
    assert_eq!(boot().text("full.exit"), "1");
    let log = boot().text("full.log");
    assert!(log.contains("error:") && log.contains("No space left"), "{log}");
    assert!(boot().capture("full.zwhy.part").samples("zfs_read", "zfs") > 0);
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn a_pool_and_the_module_may_go_away_while_recording() {
    assert_eq!((boot().text("export.exit"), boot().text("rmmod.exit")), ("0".into(), "0".into()));
    let exported = recorded("exported");
    assert!(
        exported.rate("arcstats", "size").is_none()
            && exported.evidence().kstat("arcstats", "size").is_some()
    );
    assert!(exported.evidence().kstats.iter().any(|k| k.source.starts_with("other/")));
    let unloaded = recorded("unloaded");
    assert!(unloaded.evidence().kstats.iter().any(|k| k.source == "arcstats"));
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn a_suspended_pool_hangs_neither_the_recorder_nor_doctor() {
    assert_eq!(boot().text("lost.state"), "SUSPENDED");
    let suspended = recorded("suspended");
    assert!(suspended.imported.stats.kept > 0);
    let after = boot().seconds("suspended").saturating_sub(3);
    assert!(after <= 15, "the recorder ended {after} s late");
    doctor_finds_all("doctor-suspended");
    let took = boot().seconds("doctor-suspended");
    assert!(took <= 15, "doctor took {took} s");
}
