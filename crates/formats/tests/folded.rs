//! Folded stacks in every dialect, and back out unchanged.

mod common;

use common::{describe, folded, golden, import_as, import_detected, input, survives_damage};
use proptest::prelude::*;
use zwhy_profile::Event;

#[test]
fn goldens() {
    for name in ["annotations-and-spaces", "decimals", "differential", "dtrace-modules", "missing-counts"] {
        let imported = import_detected("folded", &input(&format!("folded/{name}.folded")));
        golden(&format!("folded/{name}.txt"), &describe(&imported));
    }
}

#[test]
fn nothing_to_keep_is_an_error() {
    for text in ["", "\n\n", "# only a comment\n", ";;; 5\n", " 5\n"] {
        assert!(import_as("folded", text.as_bytes()).is_err(), "{text:?}");
    }
}

#[test]
fn ten_thousand_frames_and_cut_inputs() {
    let deep = format!("{}leaf 3\n", "f;".repeat(20_000));
    let imported = import_as("folded", deep.as_bytes()).unwrap();
    let p = &imported.evidence.profile;
    assert_eq!(p.stacks.depth(p.samples.stack[0]), 16_384);
    assert_eq!(imported.stats.warnings.len(), 1);
    survives_damage("folded", &input("folded/annotations-and-spaces.folded"));
}

/// Such a number is no part of a name, and its line no single sample.
#[test]
fn a_count_of_too_many_digits_is_dropped_and_told() {
    let imported = import_as("folded", b"a;b 99999999999999999999\na;c 3\n").unwrap();
    assert_eq!((imported.stats.read, imported.stats.kept), (2, 1));
    assert_eq!(imported.stats.dropped.get("count too large to be one"), Some(&1));
    assert_eq!(folded(&imported.evidence.profile, Event::Cpu), "a;c 3\n");
}

proptest! {
    /// import(export(p)) == p for names that the format can hold.
    #[test]
    fn what_goes_out_comes_back(
        stacks in prop::collection::vec((prop::collection::vec("[a-zA-Z<>:&(){}~$@ .\u{e9}]{0,8}[a-z>)]", 1..12), 1u32..9), 1..30)
    ) {
        let text: String = stacks.iter().map(|(names, count)| {
            let names: Vec<&str> = names.iter().map(|n| n.trim()).collect();
            format!("{} {count}\n", names.join(";"))
        }).collect();
        let once = import_as("folded", text.as_bytes()).unwrap();
        let out = folded(&once.evidence.profile, Event::Cpu);
        let twice = import_as("folded", out.as_bytes()).unwrap();
        prop_assert_eq!(common::stack_counts(&text), common::stack_counts(&out));
        prop_assert_eq!(out, folded(&twice.evidence.profile, Event::Cpu));
    }
}

/// The thread and the frames of each kept line.
fn rows(text: &str) -> Vec<(String, Vec<String>)> {
    let Ok(imported) = import_as("folded", text.as_bytes()) else { return Vec::new() };
    let profile = &imported.evidence.profile;
    let row = |i: usize| {
        let (thread, stack) = (profile.samples.thread[i], profile.samples.stack[i]);
        let mut frames: Vec<_> =
            profile.stacks.leaf_to_root(stack).map(|f| profile.function_of(f).to_owned()).collect();
        frames.reverse();
        let thread = profile.threads.get(thread);
        (format!("{} {}/{}", profile.strings.get(thread.comm), thread.pid, thread.tid), frames)
    };
    (0..profile.samples.len()).map(row).collect()
}

proptest! {
    /// A reader that goes on where the line before parts from this one reads the same as one that begins anew.
    #[test]
    fn a_line_means_the_same_whatever_stands_before_it(
        lines in prop::collection::vec(
            prop::collection::vec(
                prop::sample::select(vec!["a", "ab", "b", "", "fio-1/2", "kthread", "_start", "zfs`x"]), 1..6),
            1..12),
    ) {
        let lines: Vec<String> = lines.iter().map(|names| format!("{} 1\n", names.join(";"))).collect();
        let alone: Vec<_> = lines.iter().flat_map(|line| rows(line)).collect();
        prop_assert_eq!(rows(&lines.concat()), alone);
    }
}
