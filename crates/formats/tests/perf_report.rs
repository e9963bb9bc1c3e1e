//! `perf report` and `perf top` text: rows, trees of both directions, absolute percentages.

#![allow(clippy::print_stderr)] // a skipped test says so

mod common;

use common::{describe, golden, import_as, import_detected, input, survives_damage};
use std::process::Command;
use zwhy_evidence::PctKind;

const INPUTS: [&str; 12] = [
    "children-caller",
    "children-fractal",
    "flat",
    "folded",
    "old-relative",
    "perf-top-german",
    "samples",
    "screen-arc-prune",
    "self-callee",
    "self-callee-fractal",
    "self-caller",
    "two-events",
];

#[test]
fn goldens() {
    for name in INPUTS {
        let imported = import_detected("perf-report", &input(&format!("perf_report/{name}.txt")));
        golden(&format!("perf_report/{name}.txt"), &describe(&imported));
    }
}

/// Sorted by symbol, perf leaves out the first function of each tree: with callers below a row that is the row's own.
#[test]
fn drawings_by_symbol_have_the_direction_of_the_others() {
    let stacks = |name: &str| {
        let e = import_as("perf-report", &input(&format!("perf_report/{name}.txt"))).unwrap().evidence;
        e.trees.into_iter().map(|t| (t.frames.join(";"), t.pct.unwrap())).collect::<Vec<_>>()
    };
    let want = [("__libc_start_call_main;main;top_loop;mid_read;leaf_hash".to_owned(), 74.93)];
    assert_eq!(stacks("symbol-callee")[..1], want);
    assert_eq!(stacks("symbol-callee"), stacks("symbol-callee-full"));
    // Root first, it is the root that is left out.
    assert_eq!(stacks("symbol-caller")[0], ("main;top_loop;mid_read;leaf_hash".to_owned(), 74.93));
    let e = import_as("perf-report", &input("perf_report/symbol-children.txt")).unwrap().evidence;
    let down = e.trees.iter().find(|t| t.frames.join(";") == "top_loop;mid_read;leaf_hash");
    assert_eq!(down.and_then(|t| t.pct), Some(74.93), "{:?}", e.trees);
}

/// However one recording is printed, the stacks that end in a function add up to its self time.
#[test]
fn all_drawings_of_one_recording_agree() {
    let own = |name: &str| {
        let e = import_as("perf-report", &input(&format!("perf_report/{name}.txt"))).unwrap().evidence;
        let mut stacks: Vec<(String, f64)> = (e.trees.iter())
            .filter(|t| t.kind == PctKind::Own)
            .map(|t| (t.frames.join(";"), t.pct.unwrap()))
            .collect();
        stacks.sort_by(|a, b| a.0.cmp(&b.0));
        (stacks, e.flat)
    };
    let (want, flat) = own("self-callee");
    assert!(
        want.iter().any(|(s, pct)| s == "__libc_start_call_main;main;leaf1" && *pct == 56.55),
        "{want:?}"
    );
    assert_eq!(flat[0].symbol, "leaf1");
    for name in
        ["self-caller", "self-callee-fractal", "folded", "flat", "children-caller", "children-fractal"]
    {
        let (got, _) = own(name);
        assert_eq!(got.len(), want.len(), "{name}: {got:#?}");
        for ((a, x), (b, y)) in got.iter().zip(&want) {
            assert!(a == b && (x - y).abs() <= 0.02, "{name}: {a} {x}, {b} {y}");
        }
    }
}

#[test]
fn cut_and_flipped_text_does_no_harm() {
    for name in INPUTS {
        survives_damage("perf-report", &input(&format!("perf_report/{name}.txt")));
    }
    let mut deep = "  50.00%  a  [zfs]  [k] f\n".to_owned();
    for i in 0..3_000 {
        deep += &format!("{}|--50.00%--f{i}\n", " ".repeat(10 + i));
    }
    import_as("perf-report", deep.as_bytes()).unwrap();
    assert!(import_as("perf-report", b"# Overhead\nnothing else\n").is_err());
}

/// perf at work, where it is allowed to be.
#[test]
fn real_perf_report_rows_add_up() {
    let dir = tempfile::tempdir().unwrap();
    let perf = |args: &[&str]| Command::new("perf").args(args).current_dir(dir.path()).output();
    let load = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; ls -R /usr/include >/dev/null; true";
    let recorded =
        perf(&["record", "-q", "-F", "999", "-g", "-e", "cpu-clock", "-o", "d", "--", "sh", "-c", load]);
    if !recorded.is_ok_and(|out| out.status.success()) {
        eprintln!("skipped: perf cannot record here");
        return;
    }
    for args in
        [&["--no-children"][..], &["--children"], &["--no-children", "-g", "none"], &["-G", "--no-children"]]
    {
        let mut all = vec!["report", "-i", "d", "--stdio"];
        all.extend(args);
        let text = perf(&all).unwrap().stdout;
        let imported = import_detected("perf-report", &text);
        let own: f64 = imported.evidence.flat.iter().filter_map(|r| r.pct).sum();
        assert!((90.0..101.0).contains(&own), "{args:?}: {own}");
        let kept_out = imported.stats.dropped.get("line not recognised");
        assert_eq!(kept_out, None, "{args:?}\n{}", String::from_utf8_lossy(&text));
    }
}
