//! Published flame graphs of real systems, where they are there (`ZWHY_FLAMEGRAPHS`, or a folder
//! `shared/flamegraphs` beside the project).
#![allow(clippy::print_stderr)]

use std::path::{Path, PathBuf};
use zwhy_diagnose::{Answer, Knowledge, Options, explain};
use zwhy_formats::{ImportOptions, import_path};

fn answer(name: &str) -> Option<Answer> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/flamegraphs");
    let file = std::env::var_os("ZWHY_FLAMEGRAPHS").map_or(beside, PathBuf::from).join(name);
    if !file.is_file() {
        eprintln!("SKIPPED: no {name}; set ZWHY_FLAMEGRAPHS to a folder that has it");
        return None;
    }
    let imported = import_path(&file, &ImportOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    Some(explain(&imported.evidence, &Knowledge::embedded(), &Options::default()))
}

/// Share in per mille of each finding that is more likely than not.
fn found(answer: &Answer) -> Vec<(&str, u32)> {
    let likely = answer.findings.iter().filter(|f| f.confidence > 0.5);
    likely.map(|f| (f.class.as_str(), f.share.map_or(0, |s| (s.value * 1000.0).round() as u32))).collect()
}

#[test]
fn cached_reads_name_dbuf_eviction_with_its_share() {
    let Some(answer) = answer("stock-1m-64.svg") else { return };
    assert_eq!(found(&answer).first(), Some(&("dbuf-evict-single-thread", 117)), "{}", answer.why);
    assert!(answer.why.contains("11.7 %"), "{}", answer.why);
    assert_eq!(answer.stages.iter().map(|s| s.samples).sum::<u64>(), 4_751_716);
}

#[test]
fn cached_reads_are_taken_apart_to_the_sample() {
    let Some(answer) = answer("stock-1m-64.svg") else { return };
    let read = &answer.paths[0];
    assert_eq!((read.root.as_str(), read.share.value > 0.856), ("zfs_read", true));
    let steps: Vec<_> = read.steps.iter().map(|s| (s.function.as_str(), s.samples, s.useful)).collect();
    assert_eq!(
        steps[..3],
        [
            ("dmu_buf_hold_array_by_dnode", 2_463_359, false),
            // 1,097,022 in the large box and 487 in a small one beside it.
            ("uiomove", 1_097_509, true),
            ("dmu_buf_rele_array", 476_189, false),
        ]
    );
    let hold = steps_named(&read.steps[0].inside, "dbuf_hold");
    // 706,301 in the large box and 459 below another caller.
    assert_eq!(hold, [706_760]);
    assert_eq!(read.steps.iter().map(|s| s.samples).sum::<u64>() + read.rest, read.samples);
}

fn steps_named(steps: &[zwhy_diagnose::PathStep], name: &str) -> Vec<u64> {
    steps.iter().filter(|s| s.function == name).map(|s| s.samples).collect()
}

#[test]
fn destroying_snapshots_names_both_searches() {
    let Some(answer) = answer("sdimitro_snap_unmount.svg") else { return };
    let mut found = found(&answer);
    found.sort_unstable();
    assert_eq!(found, [("nvlist-linear-uniqueness", 48), ("snapshot-unmount-linear", 37)]);
}

#[test]
fn after_both_fixes_neither_is_named() {
    let Some(answer) = answer("sdimitro_snap_unmount4.svg") else { return };
    assert_eq!(found(&answer), []);
}
