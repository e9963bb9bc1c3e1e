//! Bundles: packed here, read as if elsewhere; and what damage to them costs.

#[path = "support/perf_data_writer.rs"]
mod writer;

use std::path::Path;
use std::process::{Command, Stdio};
use writer::{KERNEL_MARK, TEXT, usual};
use zwhy_formats::{ErrorKind, ImportOptions, Imported, import_bytes, import_path, pack_perf_data};
use zwhy_profile::{Event, FoldedStacks};

fn elsewhere() -> ImportOptions {
    ImportOptions { host_symbols: false, ..ImportOptions::default() }
}

fn folded(imported: &Imported) -> String {
    FoldedStacks::text(&imported.evidence.profile, Event::Cpu)
}

/// A recording, the kallsyms of its boot, and the bundle of both.
fn packed(dir: &Path) -> Vec<u8> {
    let mut w = usual(false, 9);
    w.sample(20, 20, 9_000_000, 0, &[KERNEL_MARK, TEXT + 0x24]);
    let (data, kallsyms) = (dir.join("perf.data"), dir.join("kallsyms"));
    std::fs::write(&data, w.file().bytes).expect("write");
    let lines = [(0, "_text"), (0, "_stext"), (0x20, "zio_execute"), (0x1000, "_etext")];
    let text: String = lines.iter().map(|(at, name)| format!("{:016x} T {name}\n", TEXT + at)).collect();
    std::fs::write(&kallsyms, text).expect("write");
    let out = dir.join("x.bundle");
    let options = ImportOptions { kallsyms: Some(kallsyms), ..elsewhere() };
    let stats = pack_perf_data(&data, &out, &options).expect("packs");
    assert_eq!((stats.kept, stats.lost), (10, 0));
    assert!(!out.with_extension("part").exists());
    std::fs::read(out).expect("read")
}

#[test]
fn kernel_names_come_with_the_bundle() {
    let dir = tempfile::tempdir().expect("temp dir");
    let imported = import_bytes("x", packed(dir.path()), &elsewhere()).expect("readable");
    assert_eq!((imported.stats.format.as_str(), imported.stats.kept), ("perf-bundle", 10));
    assert!(folded(&imported).contains("zio_execute 1\n"), "{}", folded(&imported));
}

#[test]
fn user_names_of_a_real_recording_come_with_the_bundle() {
    let dir = tempfile::tempdir().expect("temp dir");
    let data = dir.path().join("perf.data");
    let recorded = Command::new("perf")
        .args(["record", "-F", "1999", "-g", "-o"])
        .arg(&data)
        .args(["--", "gzip", "-c"])
        .arg(std::env::current_exe().expect("this test"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !recorded.is_ok_and(|s| s.success()) {
        return; // no perf, or not permitted
    }
    let out = dir.path().join("x.bundle");
    pack_perf_data(&data, &out, &ImportOptions::default()).expect("packs");
    let here = import_path(&data, &ImportOptions::default()).expect("readable");
    let there = import_path(&out, &elsewhere()).expect("readable");
    assert_eq!(folded(&here), folded(&there));
    let alone = import_path(&data, &elsewhere()).expect("readable");
    assert_ne!(folded(&here), folded(&alone));
}

#[test]
fn only_recordings_are_packed() {
    let dir = tempfile::tempdir().expect("temp dir");
    let path = dir.path().join("a.folded");
    std::fs::write(&path, "a;b 1\n").expect("write");
    let error = pack_perf_data(&path, &dir.path().join("x"), &elsewhere()).expect_err("not perf.data");
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(!dir.path().join("x").exists());
}

#[test]
fn a_damaged_bundle_is_an_error_or_balances() {
    let dir = tempfile::tempdir().expect("temp dir");
    let bytes = packed(dir.path());
    for at in (0..bytes.len()).step_by(3) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 0x10;
        if let Ok(imported) = import_bytes("x", flipped, &elsewhere()) {
            assert!(imported.stats.balanced());
        }
        if at % 7 == 0
            && let Ok(imported) = import_bytes("x", bytes[..at].to_vec(), &elsewhere())
        {
            assert!(imported.stats.balanced());
        }
    }
    let mut limited = elsewhere();
    limited.limits.max_decompressed = 1_000;
    let error = import_bytes("x", bytes, &limited).expect_err("too large");
    assert!(error.to_string().contains("more than the limit"), "{error}");
}
