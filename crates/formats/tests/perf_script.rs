//! `perf script` text: every field set, every sample, whatever the names look like.

#![allow(clippy::print_stderr)] // a skipped test says so

mod common;

use common::{describe, golden, import_as, import_detected, input, stack_counts, survives_damage};
use inferno::collapse::Collapse;
use inferno::collapse::perf::{Folder, Options};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::process::Command;
use zwhy_profile::{Event, FunctionTotals, Profile};

const INPUTS: [&str; 6] = [
    "callgraph-all-fields",
    "events-and-records",
    "inline-srcline",
    "no-header-fields",
    "one-line",
    "windows-line-ends",
];

#[test]
fn goldens() {
    for name in INPUTS {
        let imported = import_detected("perf-script", &input(&format!("perf_script/{name}.txt")));
        let mut text = describe(&imported);
        for s in imported.evidence.profile.samples.iter() {
            text += &format!("t {} cpu {} event {} weight {}\n", s.t.0, s.cpu, s.event.name(), s.weight.0);
        }
        golden(&format!("perf_script/{name}.txt"), &text);
    }
}

#[test]
fn cut_and_flipped_text_does_no_harm() {
    for name in INPUTS {
        survives_damage("perf-script", &input(&format!("perf_script/{name}.txt")));
    }
    for text in ["", "\n\n", "prose\n", "\u{0}\n"] {
        assert!(import_as("perf-script", text.as_bytes()).is_err(), "{text:?}");
    }
}

#[test]
fn deep_stacks_are_cut_at_the_root() {
    let mut text = "a 1/1 1.000000: cycles: \n".to_owned();
    for i in 0..20_000 {
        text += &format!("\t{:16x} f{i}+0x1 (/x)\n", 4096 + i);
    }
    let imported = import_as("perf-script", text.as_bytes()).unwrap();
    let p = &imported.evidence.profile;
    let names = p.function_names(p.samples.stack[0]);
    assert_eq!((names.len(), names.last().copied()), (16_384, Some("f0")));
    assert_eq!(imported.stats.warnings.len(), 1);
}

#[derive(Clone, Debug)]
struct Written {
    comm: String,
    tid: i32,
    micros: u64,
    frames: Vec<(u64, String, String)>,
}

/// What perf writes with `-F comm,pid,tid,cpu,time,period,event,ip,sym,symoff,dso`.
fn write(samples: &[Written]) -> String {
    let mut text = String::new();
    for s in samples {
        text += &format!(
            "{} {:5}/{:<5} [{:03}] {:5}.{:06}: {:10} cpu-clock:ppp: \n",
            s.comm,
            s.tid,
            s.tid,
            s.tid % 4,
            s.micros / 1_000_000,
            s.micros % 1_000_000,
            1_000_000
        );
        for (address, symbol, module) in s.frames.iter().rev() {
            text += &format!("\t{address:16x} {symbol}+0x1f ({module})\n");
        }
        text += "\n";
    }
    text
}

fn sample() -> impl Strategy<Value = Written> {
    let symbol = prop_oneof![
        "[a-z_]{1,12}",
        "[a-z]{1,4}::[a-z]{1,4}<[A-Z]>\\(int \\(\\*\\)\\(char\\), [a-z]\\)",
        "<[A-Z] as core::[A-Z][a-z]>::[a-z]{1,5}",
        "operator(\\+|new|\\(\\))",
    ];
    let module = prop_oneof![
        "\\[kernel\\.kallsyms\\]",
        "\\[[a-z]{2,5}\\]",
        "/[a-z ]{1,9}\\.so",
        "/[a-z]{1,5} \\(deleted\\)"
    ];
    let frame = (0x1000u64.., symbol, module);
    ("[a-z][a-zA-Z:/ ]{0,12}[a-z]", 0i32..70_000, 0u64..10_000_000_000, prop::collection::vec(frame, 1..8))
        .prop_map(|(comm, tid, micros, frames)| Written { comm, tid, micros, frames })
}

proptest! {
    #[test]
    fn what_perf_would_write_is_read_whole(samples in prop::collection::vec(sample(), 1..20)) {
        // Every sample twice: the second reading takes the remembered stack.
        let text = write(&samples) + &write(&samples);
        let imported = import_as("perf-script", text.as_bytes()).unwrap();
        let p = &imported.evidence.profile;
        prop_assert_eq!(imported.stats.kept as usize, samples.len() * 2);
        for (i, s) in p.samples.iter().enumerate() {
            let want = &samples[i % samples.len()];
            let names: Vec<&str> = want.frames.iter().map(|(_, symbol, _)| symbol.as_str()).collect();
            prop_assert_eq!(p.function_names(s.stack), names);
            let thread = p.threads.get(s.thread);
            prop_assert_eq!(p.strings.get(thread.comm), want.comm.as_str());
            prop_assert_eq!((thread.pid, thread.tid), (want.tid, want.tid));
        }
    }
}

/// perf at work, where it is allowed to be; the sum must be inferno's, name by name.
/// Samples by leaf, of leaves with a name like a kernel function's: how others are written depends on
/// which fields are there.
fn kernel_leaves(p: &Profile) -> BTreeMap<String, u64> {
    let plain = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let rows = FunctionTotals::of(p, Event::Cpu).rows.into_iter();
    let mut leaves = BTreeMap::new();
    for row in rows.filter(|r| r.own > 0 && plain(p.strings.get(r.function))) {
        *leaves.entry(p.strings.get(row.function).to_owned()).or_default() += row.own;
    }
    leaves
}

#[test]
fn real_perf_output_matches_inferno() {
    let dir = tempfile::tempdir().unwrap();
    let perf = |args: &[&str]| Command::new("perf").args(args).current_dir(dir.path()).output();
    let load = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; ls -R /usr/include >/dev/null; true";
    let recorded =
        perf(&["record", "-q", "-F", "999", "-g", "-e", "cpu-clock", "-o", "d", "--", "sh", "-c", load]);
    if !recorded.is_ok_and(|out| out.status.success()) {
        eprintln!("skipped: perf cannot record here");
        return;
    }
    let text = perf(&["script", "-i", "d"]).unwrap().stdout;
    let imported = import_detected("perf-script", &text);
    let mut out = Vec::new();
    Folder::from(Options::default()).collapse(&text[..], &mut out).unwrap();
    let oracle = stack_counts(std::str::from_utf8(&out).unwrap());
    let ours = imported.evidence.profile.total(Event::Cpu);
    // inferno adds up periods, which are the same for all samples of a clock.
    let period = imported.evidence.profile.samples.weight[0].0 as u64;
    assert_eq!(ours * period, oracle.values().sum::<u64>());
    assert!(ours > 5, "too few samples to say anything: {ours}");
    let leaves = kernel_leaves(&imported.evidence.profile);
    // The same samples in every other field set.
    for fields in [
        "comm,tid,ip,sym,dso",
        "comm,pid,tid,time,event,ip,sym,symoff,dso",
        "ip,sym",
        "comm,tid,time,event,ip,sym,srcline",
    ] {
        let text = perf(&["script", "-i", "d", "-F", fields]).unwrap().stdout;
        let imported = import_detected("perf-script", &text);
        let p = &imported.evidence.profile;
        assert_eq!(p.total(Event::Cpu), ours, "{fields}");
        assert_eq!(kernel_leaves(p), leaves, "{fields}");
    }
}
