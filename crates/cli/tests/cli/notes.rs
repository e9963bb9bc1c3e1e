//! What was lost, left out or scaled is told by every command that reads, also when all was kept.

use crate::support::{Ran, call};
use flate2::{Compression, write::GzEncoder};
use std::fs;
use std::io::Write;
use std::path::Path;
use tempfile::TempDir;

const STACK: &str = "z_wr_iss;zio_execute;zfs_unheard_of_function";

/// Inputs that lose, leave out or scale something, each with words that its note must have.
fn inputs(folder: &Path) -> Vec<(&'static str, Vec<&'static str>)> {
    let stacks: String = (0..20_000u32)
        .map(|i| format!("{STACK};f{} {}\n", i.wrapping_mul(2_654_435_761), i % 7 + 1))
        .collect();
    let mut gz = GzEncoder::new(Vec::new(), Compression::fast());
    gz.write_all(stacks.as_bytes()).expect("compresses");
    let whole = gz.finish().expect("compresses");
    let cut = &whole[..whole.len() / 3];
    let sample = |event: &str| {
        format!(
            "z_wr_iss 7/7 [000] 1.000000: {event}:\n\tffffffff81000001 zfs_unheard_of_function ([zfs])\n\n"
        )
    };
    let events = sample("cycles") + &sample("page-faults").repeat(3);
    let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\"><g><title>all (5 samples, 100%)</title>\
               <rect x=\"0\" y=\"32\" width=\"10\" height=\"15\"/></g><g><title>zfs_unheard_of_function (5 samples, 100%)</title>\
               <rect x=\"0\" y=\"16\" width=\"10\" height=\"15\"/></g>\n";
    let counted = format!("{STACK} 5\n");
    let files: [(&'static str, Vec<u8>, Vec<&'static str>); 6] = [
        ("cut.folded.gz", cut.to_vec(), vec!["lost", "cut at byte", "the gzip stream breaks"]),
        ("decimals.folded", format!("{STACK} 1.125\n{STACK};g 2\n").into_bytes(), vec!["multiplied by 1000"]),
        (
            "uncounted.folded",
            format!("{}{STACK};g\n", counted.repeat(20)).into_bytes(),
            vec!["have no count"],
        ),
        (
            "empty-stack.folded",
            format!("{}3\n", counted.repeat(20)).into_bytes(),
            vec!["count without a stack"],
        ),
        ("events.perf", events.into_bytes(), vec!["3 samples of event `page-faults`"]),
        ("cut.svg", svg.as_bytes().to_vec(), vec!["the SVG breaks"]),
    ];
    files
        .into_iter()
        .map(|(name, bytes, words)| {
            fs::write(folder.join(name), bytes).expect("a file");
            (name, words)
        })
        .collect()
}

/// All that a call said, on one line: answers break lines where the screen ends.
fn said(ran: Ran) -> String {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    format!("{} {}", ran.err, ran.out).split_whitespace().filter(|w| *w != "!").collect::<Vec<_>>().join(" ")
}

#[test]
fn every_command_tells_what_was_lost_left_out_or_scaled() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path();
    fs::write(path.join("whole.folded"), format!("{STACK} 9\n")).expect("a file");
    for (input, words) in inputs(path) {
        let commands = [
            format!("explain {input}"),
            format!("explain --json {input}"),
            format!("explain --markdown {input}"),
            format!("report {input} -o {input}.html"),
            format!("flame {input} -o {input}.flame.svg"),
            format!("flame {input} -o {input}.flame.html"),
            format!("top-functions {input}"),
            format!("top-functions --json {input}"),
            format!("diff {input} whole.folded"),
            format!("diff whole.folded {input}"),
            format!("diff --json whole.folded {input}"),
            format!("export {input}"),
            format!("export -f speedscope {input}"),
            format!("export -f svg {input}"),
            format!("knowledge unknown {input}"),
            format!("import {input} -o {input}.zwhy"),
            // What was imported remembers it.
            format!("explain {input}.zwhy"),
            format!("export {input}.zwhy"),
        ];
        for command in commands {
            let told = said(call(path, &command)).replace('\\', "");
            for word in &words {
                // JSON has the byte as a figure of its own.
                let word = if command.contains("explain --json") && *word == "cut at byte" {
                    "\"cut_at\": "
                } else {
                    word
                };
                assert!(told.contains(word), "`{command}` does not say `{word}`: {told:.2000}");
            }
        }
    }
    for command in ["export whole.folded", "top-functions whole.folded", "flame whole.folded -o w.svg"] {
        assert_eq!(call(path, command).err, "", "{command}: nothing to tell");
    }
}

#[test]
fn a_cut_stream_never_lost_zero() {
    let folder = TempDir::new().expect("a folder");
    inputs(folder.path());
    let head = call(folder.path(), "explain cut.folded.gz").ok();
    let head = head.lines().next().unwrap_or_default();
    assert!(head.contains("unknown number lost (cut at byte "), "{head}");
    let json = call(folder.path(), "explain --json cut.folded.gz").json();
    assert!(
        json["source"]["lost"].is_null() && json["quality"]["cut_at"].as_u64() > Some(0),
        "{}",
        json["quality"]
    );
}

#[test]
fn samples_of_other_events_are_named_with_their_number_and_the_way_to_them() {
    let folder = TempDir::new().expect("a folder");
    inputs(folder.path());
    for command in ["export events.perf", "flame events.perf -o e.svg", "top-functions events.perf"] {
        let told = call(folder.path(), command).err;
        let want = "taken: 1 samples of cpu; left out: 3 samples of count (--event count takes them)";
        assert!(told.contains(want), "{command}: {told}");
        let other = call(folder.path(), &format!("{command} --event count"));
        assert!(other.err.contains("taken: 3 samples of count; left out: 1 samples of cpu"), "{other:?}");
        other.ok();
    }
}
