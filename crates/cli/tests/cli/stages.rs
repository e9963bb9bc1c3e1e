//! A sample has one stage: the table, the conditions of causes, the flame graph, the comparison and the page say
//! the same of every capture, to the sample.
//!
//! The tests that run the lab ask it of their captures, too. `ZWHY_CAPTURES=FOLDER` adds everything in a folder
//! and the folders in it, as the captures of the kernel tests (`make kernel-test KEEP=FOLDER`).

use crate::inputs;
use crate::support::run;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use zwhy_capture::Capture;
use zwhy_diagnose::{Knowledge, Options, SourceText, explain};
use zwhy_evidence::Evidence;
use zwhy_formats::{ImportOptions, import_path};
use zwhy_profile::Event;

/// Samples by stage; stages without any are left out.
type Stages = BTreeMap<String, u64>;

/// Threads that tell what their stacks do not: a cut stack, one between two pieces of work, one that an
/// interrupt is on top of, a function of ZFS that nobody has placed, each beside the same on other threads.
const THREADS: &str = "\
z_vdev_file_1;start_thread;pwrite64 31
fio;start_thread;pwrite64 7
z_rd_int_0;ret_from_fork;kthread;schedule_stuff 11
z_rd_int_1;ret_from_fork;kthread;schedule_stuff 3
kworker/0:1;ret_from_fork;kthread;schedule_stuff 2
dbuf_evict;something 5
txg_sync;ret_from_fork;kthread;zfs`nobody_knows_this 13
fio;zfs`nobody_knows_this 17
txg_sync;ret_from_fork;kthread;asm_sysvec_apic_timer_interrupt;tick 4
z_wr_iss_3;ret_from_fork;kthread;taskq_thread;zio_execute;zio_write_compress;lz4_compress 40
z_wr_iss_3;ret_from_fork;kthread;_raw_spin_lock_irqsave 6
swapper/1;do_idle;intel_idle 300
";

/// The stacks as perf script prints them, a sample at a time.
fn script() -> String {
    let mut out = String::new();
    for (at, line) in THREADS.lines().enumerate() {
        let (stack, count) = line.rsplit_once(' ').expect("a count");
        let (comm, frames) = stack.split_once(';').expect("a thread");
        let frames: Vec<String> = frames
            .rsplit(';')
            .map(|frame| {
                let (module, function) = frame.split_once('`').unwrap_or(("[kernel.kallsyms]", frame));
                format!("\tffffffff81000000 {function}+0x1 ([{}])\n", module.trim_matches(['[', ']']))
            })
            .collect();
        for sample in 0..count.parse::<usize>().expect("a count") {
            out += &format!("{comm} {at} [000] {at}.{sample:06}: cpu-clock:\n{}\n", frames.concat());
        }
    }
    out
}

#[test]
fn all_faces_count_the_same_samples_for_a_stage() {
    let folder = inputs::folder();
    fs::write(folder.path().join("threads.txt"), script()).expect("a file");
    for file in ["threads.txt", "ccm.folded", "ccm.zwhy", "plain.folded", "hostile.folded"] {
        assert!(agree(folder.path(), file), "{file} has samples");
    }
    // The threads did tell something.
    let stages = table(folder.path(), "threads.txt");
    assert_eq!(
        ["device", "taskq", "dbuf evict", "sync"].map(|s| stages.get(s)),
        [Some(&31), Some(&20), Some(&5), Some(&13)]
    );
    let Some(more) = std::env::var_os("ZWHY_CAPTURES").map(PathBuf::from) else { return };
    let captures = files(&more);
    let agreed = captures.iter().filter(|file| agree(folder.path(), &file.display().to_string())).count();
    assert!(agreed > 0, "{} has no capture with CPU samples", more.display());
}

/// Compares what all faces say of a file; `false` where it has no samples of the CPU.
#[track_caller]
pub fn agree(folder: &Path, file: &str) -> bool {
    let knowledge = Knowledge::embedded();
    let evidence = evidence(&folder.join(file));
    let all = evidence.profile.total(Event::Cpu);
    if all == 0 {
        return false;
    }
    let stages = table(folder, file);
    assert_eq!(stages.values().sum::<u64>(), all, "{file}: every sample has a stage");
    let graph = folder.join("graph.html");
    for more in [&["report"][..], &["flame"], &["flame", "--no-threads"]] {
        let graph = graph.display().to_string();
        run(folder, more.iter().copied().chain([file, "-o", &graph])).ok();
        assert_eq!(of_page(&graph), stages, "{file}: {more:?}");
    }
    let deltas = run(folder, ["diff", "--json", file, file]).json();
    let rows = deltas["stages"].as_array().expect("rows").iter();
    let side = |at: usize| rows.clone().map(move |row| (&row["name"], &row["samples"][at]));
    for at in [0, 1] {
        let found = side(at).map(|(name, n)| (name.as_str().unwrap().to_owned(), n.as_u64().unwrap()));
        assert_eq!(found.collect::<Stages>(), stages, "{file}: side {at} of a comparison");
    }
    legend_agrees(folder, file, &stages, all);
    let answers = conditions(&stages);
    let knowledge = Knowledge { anatomy: knowledge.anatomy, ..Knowledge::from_texts(&[], &[answers]) };
    let found = explain(&evidence, &knowledge, &Options { least_confidence: 0.0, ..Options::default() });
    let holds = found.findings.first().map_or(0, |finding| finding.evidence.len());
    assert_eq!(holds, stages.keys().filter(|name| *name != "idle").count(), "{file}: {:?}", found.findings);
    true
}

#[track_caller]
fn evidence(path: &Path) -> Evidence {
    if path.extension().is_some_and(|e| e == "zwhy") {
        return Capture::open(path).expect("a capture").into_imported("").evidence;
    }
    import_path(path, &ImportOptions::default()).expect("a profile").evidence
}

/// What `zwhy explain` prints as its table.
fn table(folder: &Path, file: &str) -> Stages {
    let answer = run(folder, ["explain", "--json", file]).json();
    let rows = answer["stages"].as_array().expect("stages").iter();
    rows.map(|row| (row["stage"].as_str().unwrap().to_owned(), row["samples"].as_u64().unwrap())).collect()
}

/// A cause with a sign for each stage, which holds where `stage('x')` is that many of all busy samples.
fn conditions(stages: &Stages) -> SourceText {
    let busy: u64 = stages.iter().filter(|(name, _)| *name != "idle").map(|(_, n)| n).sum();
    let signs = stages.iter().filter(|(name, _)| *name != "idle").map(|(name, n)| {
        let (low, high) = ((*n as f64 - 0.5) / busy as f64, (*n as f64 + 0.5) / busy as f64);
        format!(
            "[[signs]]\nwhen = \"stage('{name}') > {low:.15} && stage('{name}') < {high:.15}\"\n\
             weight = \"strong\"\nclaim = \"{name}\"\n"
        )
    });
    let head =
        "title = \"t\"\nwhy = \"w\"\ndo = \"d\"\nexplanation = \"e\"\naffected = \"a\"\nreferences = []\n";
    let tail = "[remedy]\ntext = \"r\"\n[[tests]]\nname = \"n\"\nexpect = \"absent\"\n[tests.evidence]\n";
    SourceText::new("all.toml", format!("{head}{}{tail}", signs.collect::<String>()))
}

/// The largest stages stand above the picture with their shares.
#[track_caller]
fn legend_agrees(folder: &Path, file: &str, stages: &Stages, all: u64) {
    let picture = run(folder, ["flame", file, "-o", "-"]).ok();
    let legend: Vec<&str> = picture
        .lines()
        .filter(|line| line.contains("y=\"46\""))
        .filter_map(|line| line.rsplit_once("\">")?.1.strip_suffix("</text>"))
        .collect();
    assert!(!legend.is_empty(), "{file}: the picture has a legend");
    for text in legend {
        let (name, share) = text.rsplit_once(' ').expect("a name and a share");
        let expected = stages.get(name).map(|n| format!("{:.1}%", 100.0 * *n as f64 / all as f64));
        assert_eq!(Some(share), expected.as_deref(), "{file}: {name} in the picture");
    }
}

/// Samples that end in boxes of each stage in the flame graph of a page.
fn of_page(page: &str) -> Stages {
    let page = fs::read_to_string(page).expect("the page");
    let block = page.split_once("id=\"flame\">").and_then(|(_, rest)| rest.split_once("</script>"));
    let packed = STANDARD.decode(block.expect("a flame graph").0).expect("base64");
    let mut raw = Vec::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut raw).expect("gzip");
    let length = u32::from_le_bytes(raw[4..8].try_into().unwrap()) as usize;
    let header: serde_json::Value = serde_json::from_slice(&raw[8..8 + length]).expect("a header");
    let nodes = header["nodes"].as_u64().unwrap() as usize;
    let mut rest = &raw[8 + length..];
    let level = numbers(&mut rest, nodes);
    let value = numbers(&mut rest, nodes);
    // Kinds of boxes: their labels, their stages, and which lie below each.
    let kinds = numbers(&mut rest, 1)[0];
    let _labels = numbers(&mut rest, kinds);
    let (stage_of, mut rest) = rest.split_at(kinds);
    let counts = numbers(&mut rest, kinds);
    let below: Vec<Vec<usize>> = counts.into_iter().map(|count| numbers(&mut rest, count)).collect();
    let place = numbers(&mut rest, nodes - 1);
    // What is below a box is not its own.
    let mut own = value.clone();
    let mut kind = vec![0; nodes];
    let mut above: Vec<usize> = Vec::new();
    for at in 0..nodes {
        above.truncate(level[at]);
        if let Some(&parent) = above.last() {
            own[parent] -= value[at];
            kind[at] = below[kind[parent]][place[at - 1]];
        }
        above.push(at);
    }
    let mut stages = Stages::new();
    for (own, kind) in own.into_iter().zip(kind).filter(|(own, _)| *own > 0) {
        let stage = header["stages"][usize::from(stage_of[kind])].as_str().expect("a stage");
        *stages.entry(stage.to_owned()).or_default() += own as u64;
    }
    stages
}

fn numbers(bytes: &mut &[u8], count: usize) -> Vec<usize> {
    (0..count).map(|_| varint(bytes) as usize).collect()
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let (byte, rest) = bytes.split_first().expect("a number");
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    value
}

/// Captures in a folder and the folders in it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut found: Vec<PathBuf> = Vec::new();
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.extension().is_some_and(|e| e == "zwhy") {
            found.push(path);
        } else if path.is_dir() {
            found.extend(files(&path));
        }
    }
    found.sort();
    found
}

/// All captures that a command left in a folder agree.
#[track_caller]
pub fn captures_agree(folder: &Path) {
    let captures = files(folder);
    assert!(!captures.is_empty(), "{} has captures", folder.display());
    for capture in captures {
        agree(folder, &capture.display().to_string());
    }
}
