//! One boot of the kernel VM, and what zwhy recorded of the real OpenZFS module in it.
//!
//! `make kernel-test` runs this; it is ignored elsewhere because it boots a machine.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::OnceLock;
use zwhy_kernel_tests::{Boot, Machine, Recorded};
use zwhy_profile::{Event, FrameKind};

fn boot() -> &'static Boot {
    static BOOT: OnceLock<Boot> = OnceLock::new();
    BOOT.get_or_init(|| {
        let machine = Machine {
            disks: 3,
            disk_mib: 512,
            special_disks: &[],
            limit: 600,
            kernel: "",
            debug: true,
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

/// Since 2.3 all of OpenZFS is one module, and Direct I/O is part of it.
fn since_2_3() -> bool {
    boot().version != "2.1"
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn functions_of_the_module_have_names() {
    let ccm = recorded("ccm");
    assert!(ccm.samples("zio_do_crypt_data", "zfs") > 0 || !since_2_3(), "no zio_do_crypt_data");
    let module = if since_2_3() { "zfs" } else { "icp" };
    for function in ["aes_*", "ccm_*"] {
        assert!(ccm.samples(function, module) > 0, "no {function} in {module}");
    }
    assert!(ccm.samples("zfs_read", "zfs") > 0);
    if since_2_3() {
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
    // Queues have kstats since 2.3. Before it the table of busy ones is looked at now and then, and in
    // a reading of one recording all may be idle.
    let busy = ["off", "gcm", "writes", "wait", "off-cpu", "ccm"].into_iter().filter(|name| {
        let queues = recorded(name);
        let mut queues = queues.evidence().kstats.iter().filter(|k| k.source.starts_with("taskq/"));
        queues.any(|k| k.name == "tasks_pending")
    });
    assert!(busy.count() > 0, "no task queue in any recording");
    if since_2_3() {
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
fn time_off_the_cpu_is_by_stack_and_adds_up_to_the_time_that_passed() {
    let recorded = recorded("off-cpu");
    let wait = recorded.fact("/recorder/wait");
    assert_eq!(
        (wait["method"].as_str(), wait["lost"].as_u64()),
        (Some("sched:sched_switch"), Some(0)),
        "{wait}"
    );
    let spa_sync = recorded.through(Event::Wait, &["txg_sync_thread", "spa_sync", "zio_wait"]);
    assert!(spa_sync.iter().all(|sample| recorded.comm(sample) == "txg_sync"));
    let waited: f64 = spa_sync.iter().map(|sample| sample.weight.as_secs_f64()).sum();
    assert!(waited > 0.1, "txg_sync waited {waited} s for its writes");
    let zil = recorded.through(Event::Wait, &["zfs_fsync", "cv_wait_common"]);
    assert!(zil.iter().any(|sample| recorded.comm(sample) == "zwhy-load"), "fsync waits for the log");
    // On the CPU there is nothing of it.
    assert_eq!(recorded.samples("[sleeping]", "") + recorded.samples("[uninterruptible]", ""), 0);

    // The pool's txg_sync is on a CPU or off it, all the time from its first switch on.
    let seconds = recorded.fact("/recorder/duration_s").as_f64().unwrap_or_default();
    let (off, on) = (recorded.waited("txg_sync"), recorded.on_cpu("txg_sync", seconds));
    let shorter = wait["short"]["seconds"].as_f64().unwrap_or_default();
    assert!(off + on <= seconds * 1.05, "{off} s off and {on} s on a CPU in {seconds} s");
    assert!(off + on + shorter >= seconds * 0.8, "{off} + {on} + {shorter} of {seconds} s");
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn time_off_the_cpu_can_be_of_one_group_and_of_the_last_seconds() {
    let recorded = recorded("off-cpu-group");
    let seconds = recorded.fact("/recorder/duration_s").as_f64().unwrap_or_default();
    assert!((3.0..7.0).contains(&seconds), "the last 4 s are kept, and {seconds} s are in the capture");
    let waits = recorded.through(Event::Wait, &[]);
    assert!(waits.iter().all(|sample| recorded.comm(sample) == "zwhy-load"), "others wait, too");
    assert!(waits.iter().all(|sample| sample.t.0 >= 0 && sample.weight <= sample.t), "not before the window");
    let off = recorded.waited("zwhy-load");
    assert!(off > seconds * 0.2 && off <= seconds * 1.05, "{off} s off the CPU in {seconds} s");
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn functions_of_the_module_have_source_lines_and_inlined_functions() {
    let lines = recorded("lines");
    let with = lines.fact("/recorder/lines/modules").as_array().cloned().unwrap_or_default();
    assert!(with.contains(&json!("zfs")), "{}", lines.fact("/recorder/lines"));
    // Debug information is read before the rings fill.
    assert_eq!(lines.fact("/recorder/lost"), 0, "{}", boot().text("lines.log"));
    let profile = &lines.evidence().profile;
    let text = |id| profile.strings.get(id);
    let mut used = BTreeSet::new();
    for sample in profile.samples.iter() {
        let mut stack = sample.stack;
        while let Some(frame) = profile.stacks.frame(stack) {
            used.insert(frame);
            stack = profile.stacks.parent(stack);
        }
    }
    let of_zfs = || used.iter().map(|id| profile.frames.get(*id)).filter(|f| text(f.module) == "zfs");
    let named = of_zfs().filter(|f| f.kind == FrameKind::Kernel).count();
    let placed = of_zfs().filter(|f| f.kind == FrameKind::Kernel && f.line > 0).count();
    assert!(named > 50 && placed * 100 >= named * 95, "{placed} of {named} frames have lines");
    // A section that was put in the wrong place would give functions the lines of others.
    let mut seen = 0;
    for frame in of_zfs().filter(|f| f.kind == FrameKind::Kernel && f.line > 0) {
        let file = match text(frame.function) {
            "zfs_read" => "module/zfs/zfs_vnops.c",
            "arc_read" | "arc_read_done" | "arc_hdr_destroy" => "module/zfs/arc.c",
            "dmu_read_uio_dnode" | "dmu_buf_hold_array_by_dnode" => "module/zfs/dmu.c",
            "zio_execute" | "zio_wait" | "zio_done" | "zio_create" => "module/zfs/zio.c",
            "dbuf_read" | "dbuf_hold_impl" | "dbuf_rele_and_unlock" => "module/zfs/dbuf.c",
            "vdev_queue_io" | "vdev_queue_io_done" => "module/zfs/vdev_queue.c",
            _ => continue,
        };
        seen += 1;
        assert!(text(frame.file).ends_with(file), "{} is in {}", text(frame.function), text(frame.file));
    }
    assert!(seen >= 5, "{seen} of the functions of a read");
    let inlined = of_zfs().filter(|f| f.kind == FrameKind::Inlined && f.line > 0).count();
    assert!(inlined > 5, "{inlined} inlined functions");
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn nice_values_snapshots_and_disks_are_facts() {
    let writes = recorded("writes");
    let nice = |comm: &str| -> Vec<i32> {
        let threads = writes.evidence().threads.iter().filter(|t| t.comm.starts_with(comm));
        threads.filter_map(|t| t.nice).collect()
    };
    let load = nice("zwhy-load");
    assert!(!load.is_empty() && load.iter().all(|n| *n == 10), "started by nice -n 10: {load:?}");
    assert!(nice("txg_sync").contains(&0), "{:?}", nice("txg_sync"));
    // tank, its two encrypted datasets and the plain one.
    assert_eq!(writes.fact("/snapshots"), json!(4));
    let vdevs = writes.fact("/pools/0/vdevs").as_array().cloned().unwrap_or_default();
    let names: Vec<&str> = vdevs.iter().filter_map(|vdev| vdev["name"].as_str()).collect();
    assert_eq!(names, ["nvme0n1p1", "nvme1n1p1"], "{vdevs:?}");
    assert!(vdevs.iter().all(|vdev| vdev.get("children").is_none()), "a disk is a leaf: {vdevs:?}");
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

/// One line of what `zwhy doctor` found.
fn doctor_check(name: &str, wanted: &str) -> Value {
    let doctor = boot().json(&format!("{name}.json"));
    let checks = doctor["checks"].as_array().cloned().unwrap_or_default();
    checks.into_iter().find(|check| check["name"] == wanted).unwrap_or_default()
}

/// What `zwhy doctor` must find whatever the pools do.
fn doctor_finds_all(name: &str) {
    let exit = boot().text(&format!("{name}.exit"));
    assert!(
        exit == "0" || exit == "1",
        "{name} ended with {exit:?}: {}",
        boot().text(&format!("{name}.log"))
    );
    for wanted in ["kernel names", "wait stacks", "call counts", "ZFS module"] {
        let check = doctor_check(name, wanted);
        assert_eq!(check["state"], "ready", "{name}: {wanted}: {check}");
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
fn a_pool_may_go_away_while_recording() {
    assert_eq!(boot().text("export.exit"), "0");
    let exported = recorded("exported");
    assert!(
        exported.rate("arcstats", "size").is_none()
            && exported.evidence().kstat("arcstats", "size").is_some()
    );
    assert!(exported.evidence().kstats.iter().any(|k| k.source.starts_with("other/")));
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn a_module_that_comes_back_has_its_names_and_its_absence_is_marked() {
    assert_eq!(boot().text("rmmod.exit"), "0");
    let reloaded = recorded("reloaded");
    let marked = |text: &str| reloaded.marks.iter().position(|(_, mark)| mark == text);
    let (gone, back) = (marked("module: zfs was unloaded"), marked("module: zfs was loaded"));
    assert!(gone.is_some() && gone < back, "{:?}", reloaded.marks);
    let back = reloaded.marks[back.unwrap_or_default()].0;
    let reads = reloaded.through(Event::Cpu, &["zfs_read"]);
    assert!(reads.iter().any(|sample| sample.t > back), "no zfs_read after {back:?}: {:?}", reloaded.marks);
    assert!(reads.iter().all(|sample| sample.t > back), "nothing was read before");
    let unnamed = reloaded.through(Event::Cpu, &[]).len() as u64;
    let changed = reloaded.fact("/recorder/unresolved")["module changed"].clone();
    assert!(changed.as_u64().unwrap_or(0) * 10 < unnamed, "{changed} of {unnamed} samples");
    assert!(reloaded.evidence().kstats.iter().any(|k| k.source == "arcstats"));
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn a_clock_that_is_set_is_marked_and_moves_no_sample() {
    let reloaded = recorded("reloaded");
    let of_clock: Vec<&str> = reloaded
        .marks
        .iter()
        .filter_map(|(_, mark)| mark.strip_prefix("clock: the clock was set "))
        .collect();
    let about_an_hour = |text: Option<&str>| {
        let seconds = text.and_then(|t| t.strip_suffix(" s")).and_then(|t| t.parse::<f64>().ok());
        seconds.is_some_and(|seconds| (seconds - 3600.0).abs() < 60.0)
    };
    assert_eq!(of_clock.len(), 2, "{:?}", reloaded.marks);
    assert!(about_an_hour(of_clock[0].strip_prefix("forward by ")), "{of_clock:?}");
    assert!(about_an_hour(of_clock[1].strip_prefix("back by ")), "{of_clock:?}");
    let seconds = reloaded.fact("/recorder/duration_s").as_f64().unwrap_or_default();
    assert!(seconds > 1.0 && seconds < 600.0, "{seconds}");
    let last = reloaded.through(Event::Cpu, &[]).iter().map(|sample| sample.t).max();
    assert!(last.is_some_and(|t| t.as_secs_f64() <= seconds + 1.0), "{last:?} of {seconds} s");
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn a_suspended_pool_hangs_neither_the_recorder_nor_doctor() {
    assert_eq!(boot().text("lost.state"), "SUSPENDED");
    let suspended = recorded("suspended");
    assert!(suspended.imported.stats.kept > 0);
    // Both wait some ten seconds for tools that never answer. A machine with much else to do may need
    // as long again; `try` in the VM gives up after 120.
    let after = boot().seconds("suspended").saturating_sub(3);
    assert!(after <= 40, "the recorder ended {after} s late");
    doctor_finds_all("doctor-suspended");
    let took = boot().seconds("doctor-suspended");
    assert!(took <= 40, "doctor took {took} s");
}
