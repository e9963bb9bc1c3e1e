//! Flame graphs of published investigations: the figures their authors read by hand.
//!
//! The pictures are not part of the project; they are looked for in `../shared/flamegraphs` beside it.

use crate::support::{call, run, skip};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn pictures(test: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/flamegraphs");
    if !folder.join("stock-1m-64.svg").is_file() {
        skip(test, "the published flame graphs are not beside the project");
        return None;
    }
    Some(folder)
}

fn findings(folder: &Path, picture: &str) -> Vec<Value> {
    let answer = call(folder, &format!("explain --json {picture}")).json();
    answer["findings"].as_array().cloned().expect("findings")
}

fn classes(folder: &Path, picture: &str) -> Vec<String> {
    let class = |f: &Value| f["class"].as_str().expect("a class").to_owned();
    findings(folder, picture).iter().map(class).collect()
}

#[test]
fn destroying_snapshots_became_cheaper() {
    let Some(folder) = pictures("destroying_snapshots_became_cheaper") else { return };
    let pair = ["sdimitro_snap_unmount.svg", "sdimitro_snap_unmount4.svg"];
    let deltas = run(&folder, ["diff", "--json", pair[0], pair[1]]).json();
    let rows = deltas["functions"].as_array().expect("rows");
    let destroy = rows.iter().find(|r| r["name"] == "zfs_ioc_destroy_snaps").expect("the function");
    assert_eq!(destroy["samples"], serde_json::json!([3756, 269]));
    assert_eq!(destroy["real"], true);
    let verdict = run(&folder, ["diff", pair[0], pair[1]]).ok();
    assert!(
        verdict.split("\n\n").next().is_some_and(|v| v.contains("zfs_ioc_destroy_snaps (3,756 → 269")),
        "{verdict}"
    );
}

#[test]
fn cached_reads_show_the_eviction_of_dbufs() {
    let Some(folder) = pictures("cached_reads_show_the_eviction_of_dbufs") else { return };
    let findings = findings(&folder, "stock-1m-64.svg");
    let evict = findings.iter().find(|f| f["class"] == "dbuf-evict-single-thread").expect("the finding");
    let share = evict["share"]["value"].as_f64().expect("a share");
    assert_eq!(format!("{:.1}", share * 100.0), "11.7");
}

#[test]
fn unmounting_snapshots_is_named_before_the_fix_only() {
    let Some(folder) = pictures("unmounting_snapshots_is_named_before_the_fix_only") else { return };
    let causes = ["snapshot-unmount-linear", "nvlist-linear-uniqueness"];
    let before = classes(&folder, "sdimitro_snap_unmount.svg");
    assert!(causes.iter().all(|c| before.iter().any(|b| b == c)), "{before:?}");
    let after = classes(&folder, "sdimitro_snap_unmount4.svg");
    assert!(causes.iter().all(|c| after.iter().all(|a| a != c)), "{after:?}");
}
