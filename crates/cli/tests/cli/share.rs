//! `zwhy share`: without names, with the same causes, and only when somebody agreed.

use crate::inputs;
use crate::support::{call, skip};
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use zwhy_capture::{Capture, Mark, Series, SeriesKind, write_capture};
use zwhy_evidence::CaptureFacts;
use zwhy_profile::{Event, FrameKind, Nanos, Profile};

/// A recording of a host whose dataset is encrypted with CCM, as `record` writes it.
fn recorded(path: &Path) {
    let (facts, left_out) = CaptureFacts::from_value(json!({
        "version": 1, "kind": "record", "start_unix_s": 1.7e9,
        "host": { "name": "vault7", "kernel": "6.1.0-42-amd64", "cpus": 2, "cpu_flags": ["aes", "avx", "pclmulqdq"] },
        "zfs": { "module_loaded": true, "version": "2.1.11-1", "in_use": true },
        "parameters": { "zfs_arc_max": "0" },
        "pools": [{ "name": "safe", "health": "ONLINE", "vdevs": [{ "name": "bay3", "kind": "disk", "class": "normal" }] }],
        "datasets": [{ "name": "safe/ledger", "type": "filesystem", "mounted": true, "properties": {
            "encryption": "aes-256-ccm", "recordsize": "131072", "mountpoint": "/srv/ledger", "compression": "off",
            "keylocation": "file:///root/ledger.key",
        } }],
        "recorder": { "hz": 99, "target": "system", "duration_s": 10.0, "samples": 900, "event": "cpu-clock",
            "owners": { "process/20": "container ledgerd" } },
    }));
    assert!(left_out.is_empty(), "{left_out:?}");
    let mut profile = Profile::new();
    for (comm, tid, names, count) in [
        (
            "z_rd_int",
            11,
            &["zio_execute", "zio_decrypt", "ccm_mode_decrypt_contiguous_blocks", "aes_encrypt_block"][..],
            700,
        ),
        ("ledgerd", 20, &["zfs_read", "dmu_read_uio_dbuf"][..], 100),
        ("z_rd_int", 12, &["zio_execute", "zio_checksum_verify", "fletcher_4_avx2_native"][..], 100),
    ] {
        let frames: Vec<_> = names.iter().map(|name| profile.frame(name, "zfs", FrameKind::Kernel)).collect();
        let (thread, stack) = (profile.thread(tid, tid, comm), profile.stack(&frames));
        profile.samples.push_counted(thread, stack, Event::Cpu, count);
    }
    let mut series = Series::default();
    for (second, grown) in [(0, 0), (10, 7)] {
        let t = Nanos(second * 1_000_000_000);
        series.push(t, "thread/11", "cpu_ns", SeriesKind::Counter, grown * 1_000_000_000);
        series.push(t, "safe/objset-0x36", "nread", SeriesKind::Counter, grown * 100_000_000);
        series.push(t, "vdev/safe/bay3", "reads_s", SeriesKind::Gauge, 100);
    }
    let marks = vec![Mark { t: Nanos(1), name: "audit".into(), text: "the ledger of vault7".into() }];
    write_capture(Capture { profile, series, marks, facts, ..Capture::default() }, path).expect("a capture");
}

/// Classes of the findings with their shares and how sure they are.
fn findings(answer: &Value) -> Vec<(String, String, String)> {
    let found = answer["findings"].as_array().expect("findings");
    found
        .iter()
        .map(|f| (f["class"].to_string(), f["share"].to_string(), f["confidence"].to_string()))
        .collect()
}

#[test]
fn what_is_shared_has_no_names_and_the_same_causes() {
    let folder = inputs::bare_folder();
    recorded(&folder.path().join("vault7.zwhy"));
    let told = call(folder.path(), "share vault7.zwhy -o shared.zwhy --yes");
    assert!(
        told.err.contains("Replaced") && told.err.contains("1 host") && told.err.contains("Left out"),
        "{told:?}"
    );
    assert_eq!(told.ok(), "shared.zwhy\nshared.md\n");
    let answers =
        ["vault7.zwhy", "shared.zwhy"].map(|f| call(folder.path(), &format!("explain --json {f}")).json());
    assert!(!findings(&answers[0]).is_empty(), "{}", answers[0]);
    assert_eq!(findings(&answers[0]), findings(&answers[1]));
    assert!(answers[0].to_string().contains("safe/ledger"), "the names are in the answer before");
    let markdown = fs::read_to_string(folder.path().join("shared.md")).expect("the answer");
    assert!(markdown.contains("pool1/fs1"), "{markdown}");
    let facts = call(folder.path(), "explain --json shared.zwhy").ok();
    let bytes = fs::read(folder.path().join("shared.zwhy")).expect("the capture");
    for text in [markdown, facts, String::from_utf8_lossy(&bytes).into_owned()] {
        for name in ["vault7", "ledger", "bay3", "audit", "/srv", "safe/"] {
            assert!(!text.contains(name), "{name} in {text}");
        }
    }
}

#[test]
fn what_a_cut_capture_has_lost_is_told_and_kept() {
    let folder = inputs::bare_folder();
    recorded(&folder.path().join("host.zwhy"));
    let whole = fs::read(folder.path().join("host.zwhy")).expect("the capture");
    let before = |cut: usize| {
        fs::write(folder.path().join("cut.zwhy"), &whole[..cut]).expect("a cut file");
        call(folder.path(), "explain --json cut.zwhy")
    };
    let lost = |answer: &Value| answer["source"]["lost"].as_u64().unwrap_or(0);
    // As much of the file as leaves a capture that has lost samples.
    let cut = (1..20).map(|part| whole.len() * part / 20).find(|cut| {
        let told = before(*cut);
        told.code == Some(0) && lost(&told.json()) > 0
    });
    let want = lost(&before(cut.expect("a cut that loses samples")).json());
    let shared = call(folder.path(), "share cut.zwhy -o x.zwhy --yes");
    assert!(shared.err.contains(&format!("({want} are lost)")), "{shared:?}");
    assert_eq!(lost(&call(folder.path(), "explain --json x.zwhy").json()), want);
}

#[test]
fn files_of_other_tools_can_be_shared_too() {
    let folder = inputs::bare_folder();
    call(folder.path(), "share ccm.folded -o ccm.zwhy --yes").ok();
    let classes = |file: &str| findings(&call(folder.path(), &format!("explain --json {file}")).json());
    assert_eq!(classes("ccm.folded"), classes("ccm.zwhy"));
}

#[test]
fn nothing_is_written_over_and_nothing_without_consent() {
    let folder = inputs::bare_folder();
    let before = fs::read_dir(folder.path()).expect("the folder").count();
    for args in [
        "share ccm.folded -o x.zwhy",
        "share ccm.folded -o x.html --yes",
        "share ccm.folded -o x.txt --yes",
        "share ccm.folded -o x --yes",
        "share ccm.folded -o - --yes",
        "share ccm.folded",
    ] {
        let ran = call(folder.path(), args);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{args}: {ran:?}");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), before);
    let unasked = call(folder.path(), "share ccm.folded -o x.zwhy").err;
    assert!(unasked.contains("Holds") && unasked.contains("give --yes"), "what it would write: {unasked}");
    let error = call(folder.path(), "share ccm.folded -o vault7.txt --yes").failed(2);
    assert!(error.contains("name it vault7.zwhy") && error.contains("zwhy help sharing"), "{error}");
    fs::write(folder.path().join("x.md"), "mine").expect("a file");
    let error = call(folder.path(), "share ccm.folded -o x.zwhy --yes").failed(2);
    assert!(error.contains("x.md is there already"), "{error}");
    assert_eq!(fs::read_to_string(folder.path().join("x.md")).expect("the file"), "mine");
}

#[test]
fn on_a_terminal_it_asks_first() {
    let folder = inputs::bare_folder();
    for (key, written) in [("n", false), ("y", true)] {
        let call = format!("exec '{}' share ccm.folded -o asked.zwhy", env!("CARGO_BIN_EXE_zwhy"));
        let mut command = Command::new("script");
        command.args(["-qec", &call, "/dev/null"]).current_dir(folder.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let Ok(mut child) = command.spawn() else {
            return skip("on_a_terminal_it_asks_first", "there is no `script` command");
        };
        let mut keys = child.stdin.take().expect("a pipe");
        // A program that ends early closes the terminal.
        let _ = keys.write_all(format!("{key}\n").as_bytes());
        let output = child.wait_with_output().expect("it ends");
        let shown = String::from_utf8_lossy(&output.stdout);
        assert!(shown.contains("Replaced") && shown.contains("[y/N]"), "{shown}");
        assert_eq!(folder.path().join("asked.zwhy").exists(), written, "{shown}");
        assert_eq!(folder.path().join("asked.md").exists(), written, "{shown}");
        drop(keys);
    }
}
