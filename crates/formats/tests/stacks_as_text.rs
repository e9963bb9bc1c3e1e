//! Stacks that tracers and kernels print: DTrace, bcc, bpftrace, /proc/PID/stack, hung tasks, lockups.

mod common;

use common::{describe, folded, golden, import_as, import_detected, input, survives_damage};
use proptest::prelude::*;
use zwhy_profile::Event;

const INPUTS: [(&str, &str); 11] = [
    ("dtrace", "dtrace/aggregation"),
    ("dtrace", "dtrace/bcc-profile"),
    ("dtrace", "dtrace/profile-action"),
    ("dtrace", "dtrace/strcmp-calls"),
    ("bpftrace", "bpftrace/kprobe-calls"),
    ("bpftrace", "bpftrace/kstack"),
    ("bpftrace", "bpftrace/time-by-stack"),
    ("kernel-stacks", "kernel_stacks/crash-bt"),
    ("kernel-stacks", "kernel_stacks/hung-task"),
    ("kernel-stacks", "kernel_stacks/proc-stack"),
    ("kernel-stacks", "kernel_stacks/soft-lockup"),
];

#[test]
fn goldens() {
    for (format, name) in INPUTS {
        let imported = import_detected(format, &input(&format!("{name}.txt")));
        golden(&format!("{name}.txt"), &describe(&imported));
    }
}

#[test]
fn cut_and_flipped_text_does_no_harm() {
    for (format, name) in INPUTS {
        survives_damage(format, &input(&format!("{name}.txt")));
    }
    for format in ["dtrace", "bpftrace", "kernel-stacks"] {
        for text in ["", "\n", "prose about nothing\n", "@[\n@[\n", "        5\n", "\u{0}"] {
            assert!(import_as(format, text.as_bytes()).is_err(), "{format} {text:?}");
        }
    }
}

proptest! {
    /// A DTrace aggregation and a bpftrace map of the same stacks are the same profile.
    #[test]
    fn lists_and_maps_are_read_whole(
        stacks in prop::collection::vec((prop::collection::vec("[a-z_]{1,9}", 1..9), 1u32..100_000), 1..20)
    ) {
        let (mut dtrace, mut bpftrace, mut want) = (String::from("\n\n"), String::from("Attaching 1 probe...\n"), vec![]);
        for (frames, count) in &stacks {
            for frame in frames.iter().rev() {
                dtrace += &format!("              zfs`{frame}+0x1f\n");
            }
            dtrace += &format!("            {count}\n\n");
            bpftrace += &format!("@[\n{}]: {count}\n", frames.iter().rev().map(|f| format!("    {f}+31\n")).collect::<String>());
            want.push(format!("{} {count}", frames.join(";")));
        }
        let want = common::stack_counts(&want.join("\n"));
        for (format, text) in [("dtrace", dtrace), ("bpftrace", bpftrace)] {
            let imported = import_detected(format, text.as_bytes());
            prop_assert_eq!(&common::stack_counts(&folded(&imported.evidence.profile, Event::Cpu)), &want);
        }
    }
}
