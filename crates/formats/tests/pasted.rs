//! Issue threads and terminal copies: what is recognised, and that every line is accounted for.

mod common;

use common::{Random, describe, golden, import_as, import_detected, input, survives_damage};
use proptest::prelude::*;
use zwhy_formats::ErrorKind;

const INPUTS: [&str; 14] = [
    "issue-arc-prune",
    "tables",
    "pool",
    "host",
    "arc",
    "bench",
    "prose",
    "shapes",
    "freebsd-top",
    "retyped",
    "sentences",
    "excerpts",
    "folded-first",
    "scans",
];

#[test]
fn goldens() {
    for name in INPUTS {
        let imported = import_detected("pasted", &input(&format!("pasted/{name}.txt")));
        golden(&format!("pasted/{name}.txt"), &describe(&imported));
    }
}

/// A table of figures is no profile: what looks like an address and a name is a row of another tool.
#[test]
fn tables_of_figures_are_not_taken_for_samples() {
    for name in ["freebsd-top", "shapes"] {
        let imported = import_detected("pasted", &input(&format!("pasted/{name}.txt")));
        assert!(imported.evidence.profile.samples.is_empty(), "{name}");
    }
    let rows = b"31601060 200767729900000  C  3597824  83968  5695488  6  901  2576229000  1608  1920669000  3201070000\n";
    assert_eq!(import_detected("pasted", rows).evidence.tables[0].tool, "txgs");
}

/// Long pastes make several tables; what counts as kept is there.
#[test]
fn rows_that_count_as_kept_are_in_a_table() {
    for (line, tool) in [
        ("1602182800   spa.c:1:spa_load(): LOADED\n", "dbgmsg"),
        ("lseek(3, 0, SEEK_DATA) = 0 <0.000010>\n", "strace"),
    ] {
        let imported = import_as("pasted", line.repeat(5003).as_bytes()).unwrap();
        let tables = imported.evidence.tables.iter().filter(|t| t.tool == tool);
        assert_eq!(tables.map(|t| t.rows.len()).sum::<usize>(), 5003, "{tool}");
    }
}

#[test]
fn prose_alone_is_an_error_that_says_what_to_paste() {
    let error = import_as("pasted", &input("pasted/only-prose.txt")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Empty);
    assert!(error.to_string().contains("paste output of"), "{error}");
}

/// All blocks of all text formats one after the other are still told apart.
#[test]
fn files_of_other_formats_are_recognised_inside_a_thread() {
    let thread = |names: &[&str]| {
        let mut text = Vec::new();
        for name in names {
            text.extend_from_slice(b"\nHere is what I see:\n\n```\n");
            text.extend(input(&format!("{name}.txt")));
            text.extend_from_slice(b"```\n");
        }
        import_as("pasted", &text).unwrap().evidence
    };
    let e = thread(&["kernel_stacks/hung-task", "bpftrace/kstack", "dtrace/aggregation"]);
    assert_eq!(e.trees.iter().filter(|t| t.waiting).count(), 2);
    assert_eq!(e.profile.total(zwhy_profile::Event::Cpu), 3 + 4 + 5 + 12 + 3 + 4000);

    // Beside a list of all that ran, a few stacks say what was called, not how much of the CPU it took.
    let beside = thread(&[
        "perf_report/self-callee",
        "kernel_stacks/hung-task",
        "bpftrace/kstack",
        "dtrace/aggregation",
    ]);
    assert_eq!(beside.flat.len(), 5);
    assert_eq!(beside.trees.iter().filter(|t| t.waiting).count(), 2);
    assert_eq!(beside.profile.total(zwhy_profile::Event::Cpu), 0);
    assert!(beside.trees.len() >= e.trees.len() + e.profile.samples.iter().count());
}

#[test]
fn cut_flipped_and_shuffled_text_does_no_harm() {
    for name in INPUTS {
        survives_damage("pasted", &input(&format!("pasted/{name}.txt")));
    }
    let text = INPUTS.map(|n| String::from_utf8(input(&format!("pasted/{n}.txt"))).unwrap()).join("\n");
    let lines: Vec<&str> = text.lines().collect();
    let mut random = Random(7);
    for _ in 0..200 {
        let shuffled: Vec<&str> = (0..80).map(|_| lines[random.below(lines.len())]).collect();
        let _ = import_as("pasted", shuffled.join("\n").as_bytes());
    }
}

proptest! {
    #[test]
    fn any_text_is_accounted_for(text in "([ -~]{0,60}\n|[a-z_ 0-9:%.\\[\\]|+-]{0,80}\n){0,40}") {
        let _ = import_as("pasted", text.as_bytes());
    }
}

/// Beginnings that lead nowhere, again and again: each is passed over once, not from every line anew.
#[test]
fn long_runs_of_beginnings_are_accounted_for() {
    for line in [
        "  zfs`dmu_read+0x1",
        "    word",
        "@[",
        " key",
        "time read miss miss% arcsz",
        "ARC status:  x\n",
        "NAME PROPERTY VALUE SOURCE",
        "PID USER %CPU COMMAND",
        "# Samples: 1 of event 'x'",
        "Attaching 1 probe...",
        "CPU ID FUNCTION:NAME",
        "x = 1",
        "j: (g=0): rw=read, bs=4K-4K",
        "Metaslabs:",
        "NAME SIZE ALLOC FREE",
        "  pool: x\n state: ONLINE",
        "time hit% arcsz",
        "12:00:01 CPU %usr %sys",
        "capacity operations bandwidth\npool alloc free read write read write",
        "tank total_wait disk_wait\nlatency read write read write",
        "Performance counter stats for 'x'",
        "@us:",
        "==> /sys/module/zfs/parameters/zfs_x <==",
        "read: IOPS=1, BW=1MiB/s",
        "INFO: task a:1 blocked for more than 120 seconds.",
    ] {
        let text = format!("{line}\n").repeat(4_000) + "zfs_arc_max=1\n";
        let imported = import_as("pasted", text.as_bytes()).unwrap();
        assert_eq!(imported.evidence.param("zfs_arc_max"), Some("1"), "{line}");
    }
}
