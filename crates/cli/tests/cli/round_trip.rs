//! Every input of the tests through every format that is written and read back: totals and stacks are equal.
//!
//! What a format cannot carry is listed here with its reason; nothing else may differ.

use crate::support::call;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Formats that are read back. CSV is not one: it holds functions and no stacks.
const FORMATS: [&str; 6] = ["folded", "pprof", "speedscope", "firefox", "perf-script", "svg"];

/// Inputs without samples, stacks or shares of functions: there is nothing to write.
const NO_STACKS: [&str; 8] = [
    "pasted/arc.txt",
    "pasted/bench.txt",
    "pasted/freebsd-top.txt",
    "pasted/host.txt",
    "pasted/only-prose.txt",
    "pasted/pool.txt",
    "pasted/prose.txt",
    "pasted/scans.txt",
];

fn fixtures() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../formats/tests/inputs");
    let mut found = vec![(
        "kernel-vm.folded".to_owned(),
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../diagnose/tests/data/kernel-vm.folded"),
    )];
    for format in fs::read_dir(&root).expect("the inputs") {
        let format = format.expect("a folder");
        for file in fs::read_dir(format.path()).expect("a folder") {
            let path = file.expect("a file").path();
            let name = path.strip_prefix(&root).expect("below").display().to_string();
            found.push((name, path));
        }
    }
    found.sort();
    found
}

/// Stacks with their amounts; equal stacks must be one line.
fn stacks(folded: &str) -> BTreeMap<String, u64> {
    let mut stacks = BTreeMap::new();
    for line in folded.lines() {
        let (stack, count) = line.rsplit_once(' ').expect("a folded line");
        let twice = stacks.insert(stack.to_owned(), count.parse().expect("a count"));
        assert_eq!(twice, None, "two lines of {stack}");
    }
    stacks
}

fn total(stacks: &BTreeMap<String, u64>) -> u64 {
    stacks.values().sum()
}

/// What `format` cannot tell of `stack`, taken out of it.
fn without_what_is_not_carried(stack: &str, format: &str) -> String {
    match format {
        // The text has an address and no name for a frame without a symbol.
        "perf-script" => {
            let frames = stack.split(';').map(|f| {
                let unnamed = f.starts_with("0x") || (f.starts_with('[') && f.contains("+0x"));
                if unnamed { "[unknown]" } else { f }
            });
            frames.collect::<Vec<_>>().join(";")
        }
        // Threads are drawn as groups: a number at the end of a name is not.
        "svg" => {
            let (command, frames) = stack.split_once(';').unwrap_or((stack, ""));
            let command = command.trim_start_matches('[').trim_end_matches(']');
            format!("{};{frames}", zwhy_zfs::thread_base(command))
        }
        _ => stack.to_owned(),
    }
}

/// Boxes too narrow to see are not drawn: their samples are told with what called them.
fn drawn(stacks: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    const LEAST: f64 = 0.1 / 1180.0;
    let all = total(stacks);
    let mut whole: BTreeMap<&str, u64> = BTreeMap::new();
    for (stack, count) in stacks {
        let ends = stack.match_indices(';').map(|(at, _)| at).chain([stack.len()]);
        ends.for_each(|end| *whole.entry(&stack[..end]).or_default() += count);
    }
    let mut out: BTreeMap<String, u64> = BTreeMap::new();
    for (stack, count) in stacks {
        let mut end = stack.len();
        while whole[&stack[..end]] as f64 / (all as f64) < LEAST {
            end = stack[..end].rfind(';').unwrap_or(0);
        }
        *out.entry(stack[..end].to_owned()).or_default() += count;
    }
    out
}

fn comparable(stacks: &BTreeMap<String, u64>, format: &str) -> BTreeMap<String, u64> {
    let mut out: BTreeMap<String, u64> = BTreeMap::new();
    for (stack, count) in stacks {
        *out.entry(without_what_is_not_carried(stack, format)).or_default() += count;
    }
    out
}

#[test]
fn every_input_comes_back_from_every_format() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path();
    for (name, file) in fixtures() {
        let ran = call(path, &format!("export {}", file.display()));
        if NO_STACKS.contains(&name.as_str()) {
            let why = ran.failed(1);
            assert!(why.contains("no stacks") || why.contains("none of its"), "{name}: {why}");
            continue;
        }
        let want = stacks(&ran.ok());
        assert!(total(&want) > 0, "{name}");
        for format in FORMATS {
            let written = call(path, &format!("export -f {format} {} -o out", file.display()));
            let values = format == "perf-script" && written.err.contains("does not come back from it");
            written.ok();
            let back = call(path, "export out").ok();
            let got = stacks(&back);
            if values {
                // The text is a list of samples; the exporter said that it does not carry values.
                let keys = |s: &BTreeMap<String, u64>| comparable(s, format).into_keys().collect::<Vec<_>>();
                assert_eq!(keys(&got), keys(&want), "{name} as {format}");
                continue;
            }
            assert_eq!(total(&got), total(&want), "{name} as {format}: {back:.2000}");
            let want = if format == "svg" { drawn(&want) } else { want.clone() };
            assert_eq!(comparable(&got, format), comparable(&want, format), "{name} as {format}");
        }
    }
}

#[test]
fn ids_behind_commands_come_back() {
    let folder = TempDir::new().expect("a folder");
    let sample = |comm: &str, ids: &str| {
        format!("{comm} {ids} [000] 1.0: cycles:\n\tffffffff81000001 zfs_read ([zfs])\n\n")
    };
    let text = sample("fio", "98/99") + &sample("fio", "98/100").repeat(2) + &sample("dd", "7/7");
    fs::write(folder.path().join("x.perf"), text).expect("a file");
    let plain = call(folder.path(), "export x.perf").ok();
    assert_eq!(plain, "dd;zfs_read 1\nfio;zfs_read 3\n");
    assert_eq!(call(folder.path(), "export --pid x.perf").ok(), "dd-7;zfs_read 1\nfio-98;zfs_read 3\n");
    let ids = "dd-7/7;zfs_read 1\nfio-98/100;zfs_read 2\nfio-98/99;zfs_read 1\n";
    assert_eq!(call(folder.path(), "export --tid x.perf").ok(), ids);
    fs::write(folder.path().join("x.folded"), ids).expect("a file");
    assert_eq!(call(folder.path(), "export x.folded").ok(), ids);
    let threads = call(folder.path(), "explain --json x.folded").json()["threads"].to_string();
    assert!(threads.contains("\"fio\""), "{threads}");
}

#[test]
fn the_ground_of_a_drawing_keeps_its_own_samples() {
    let folder = TempDir::new().expect("a folder");
    let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\"><g><title>all (478,608 samples, 100%)</title>\
        <rect x=\"10\" y=\"32\" width=\"1000\" height=\"15\"/></g><g><title>zfs_read (366,955 samples, 76.7%)</title>\
        <rect x=\"10\" y=\"16\" width=\"766.7\" height=\"15\"/></g></svg>\n";
    fs::write(folder.path().join("x.svg"), svg).expect("a file");
    let out = call(folder.path(), "export x.svg -o x.folded");
    out.ok();
    assert_eq!(total(&stacks(&call(folder.path(), "export x.folded").ok())), 478_608);
}

#[test]
fn percentages_and_printed_stacks_are_written_and_drawn_like_samples() {
    let folder = TempDir::new().expect("a folder");
    let inputs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../formats/tests/inputs");
    let call = |args: &str, file: &str| {
        call(folder.path(), &args.replace("IN", &inputs.join(file).display().to_string()))
    };
    let report = call("export IN", "perf_report/children-caller.txt");
    assert!(report.err.contains("one sample is made of each 0.01 %, 100.00 % in all"), "{report:?}");
    let want = "w;__libc_start_call_main;main;leaf1 5655\n";
    assert!(report.out.contains(want), "{report:?}");
    assert_eq!(total(&stacks(&report.ok())), 10_000);
    for file in ["perf_report/flat.txt", "kernel_stacks/hung-task.txt", "kernel_stacks/proc-stack.txt"] {
        for command in ["flame IN -o x.svg", "flame IN -o x.html", "report IN -o x.html", "top-functions IN"]
        {
            let ran = call(command, file);
            assert!(ran.err.contains("one sample"), "{command} {file}: {ran:?}");
            ran.ok();
        }
    }
    // The answer rests on the figures as they were.
    assert_eq!(call("explain --json IN", "perf_report/flat.txt").json()["source"]["samples"], 0);
}
