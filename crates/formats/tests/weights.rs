//! Samples with uneven periods: shares must be those of `perf report`, from perf.data and from text.

#![allow(clippy::print_stderr)] // a skipped test says so

#[path = "support/perf_data_writer.rs"]
mod writer;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use writer::{Attr, KERNEL_MARK, TEXT, Writer};
use zwhy_formats::{ImportOptions, Imported, import_bytes};
use zwhy_profile::{Event, FoldedStacks, Profile, Unit};

const NAMES: [&str; 4] = ["zio_execute", "arc_read", "memcpy_orig", "fletcher_4"];

/// Cycles at a frequency, as a CPU gives them whose clock changes: periods grow from 1 to some millions.
fn uneven(attr: Attr, samples: u64) -> Writer {
    let mut w = Writer::new(false);
    w.attrs = vec![attr];
    w.feature_string(3, "db7").feature_string(4, "6.1.0-test").feature_string(6, "x86_64");
    w.kernel();
    for (pid, comm) in [(10, "app"), (20, "z_rd_int"), (30, "z_wr_iss")] {
        w.comm(pid, pid, 0, comm.as_bytes(), false);
    }
    for i in 0..samples {
        w.period = if i < 3 {
            1
        } else {
            10_000 + (i * i * 977) % 9_000_000 + if i % 3 == 0 { 20_000_000 } else { 0 }
        };
        let pid = [10, 20, 30][(i % 3) as usize];
        let leaf = TEXT + 0x100 * (1 + i % 4) + 8;
        w.sample(pid, pid, 1_000_000 + i * 1_000_000, 0, &[KERNEL_MARK, leaf, TEXT + 0x608]);
    }
    w
}

fn kallsyms() -> String {
    let line = |offset: u64, name: &str| format!("{:016x} T {name}\n", TEXT + offset);
    let mut out = line(0, "_text") + &line(0, "_stext");
    for (i, name) in NAMES.iter().enumerate() {
        out += &line(0x100 * (1 + i as u64), name);
    }
    out + &line(0x600, "do_idle") + &line(0x700, "_etext")
}

fn read(bytes: &[u8], kallsyms: Option<&Path>, by_samples: bool) -> Imported {
    let options = ImportOptions {
        host_symbols: false,
        kallsyms: kallsyms.map(Path::to_owned),
        by_samples,
        ..ImportOptions::default()
    };
    let imported = import_bytes("test", bytes.to_vec(), &options).expect("readable");
    assert!(imported.stats.balanced(), "{:?}", imported.stats);
    imported
}

/// Percent of all by thread name and function.
fn percents(p: &Profile) -> BTreeMap<(String, String), f64> {
    let all = p.total(Event::Cpu) as f64;
    let mut out = BTreeMap::new();
    for (row, s) in p.samples.iter().enumerate().filter(|(_, s)| s.event == Event::Cpu) {
        let comm = p.strings.get(p.threads.get(s.thread).comm).to_owned();
        let leaf = p.function_names(s.stack).last().copied().unwrap_or("").to_owned();
        *out.entry((comm, leaf)).or_default() += 100.0 * p.amounts().of(row) as f64 / all;
    }
    out
}

fn assert_same(ours: &BTreeMap<(String, String), f64>, other: &BTreeMap<(String, String), f64>, within: f64) {
    assert_eq!(ours.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    for (key, share) in ours {
        assert!((share - other[key]).abs() <= within, "{key:?}: {share} and {}", other[key]);
    }
}

/// `perf` in a folder, if it is there and takes the file.
fn perf(dir: &Path, args: &[&str]) -> Option<String> {
    let out = Command::new("perf").args(args).current_dir(dir).output().ok()?;
    out.status.success().then(|| String::from_utf8_lossy(&out.stdout).into_owned())
}

/// Rows `12.34%  comm  [k] symbol`.
fn report_rows(text: &str) -> BTreeMap<(String, String), f64> {
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let share: f64 = words.first()?.strip_suffix('%')?.parse().ok()?;
        Some(((words.get(1)?.to_string(), words.last()?.to_string()), share))
    };
    text.lines().filter(|l| !l.starts_with('#')).filter_map(row).collect()
}

#[test]
fn shares_are_those_of_perf_report() {
    for (name, attr) in [("cycles", Attr::cycles(100)), ("cpu-clock", Attr::cpu_clock())] {
        let dir = tempfile::tempdir().expect("temp dir");
        let symbols = dir.path().join("kallsyms");
        std::fs::write(&symbols, kallsyms()).expect("write");
        let bytes = uneven(attr, 500).file().bytes;
        std::fs::write(dir.path().join("d"), &bytes).expect("write");
        let imported = read(&bytes, Some(&symbols), false);
        let profile = &imported.evidence.profile;
        assert_eq!(profile.measure(Event::Cpu).unit, Unit::Nanos, "{name}");
        assert_eq!(profile.samples.total(Event::Cpu), 500);
        assert!(imported.stats.warnings.iter().any(|w| w.starts_with(zwhy_formats::WEIGHED)));
        let ours = percents(profile);
        let alike = percents(&read(&bytes, Some(&symbols), true).evidence.profile);
        assert!(ours.iter().any(|(key, share)| (share - alike[key]).abs() > 5.0), "periods matter here");
        let options = ["-i", "d", "-f", "--kallsyms", "kallsyms"];
        let report = ["report", "--stdio", "--no-children", "-g", "none", "--sort", "comm,sym"];
        let Some(report) = perf(dir.path(), &[&report[..], &options].concat()) else {
            eprintln!("skipped: there is no perf here");
            return;
        };
        assert_same(&ours, &report_rows(&report), 0.0101);
        let text = perf(
            dir.path(),
            &[&["script"][..], &options, &["-F", "comm,pid,tid,time,period,event,ip,sym,dso"]].concat(),
        );
        let text = text.expect("perf script reads what perf report does");
        let from_text = read(text.as_bytes(), None, false);
        assert_same(&ours, &percents(&from_text.evidence.profile), 1e-4);
        let alike_text = read(text.as_bytes(), None, true);
        assert_same(&alike, &percents(&alike_text.evidence.profile), 1e-9);
    }
}

#[test]
fn text_with_uneven_periods_is_weighed_and_says_so() {
    let text = "a 1 [000] 1.000000: 100 cycles:P: \n\tffffffff81000010 f ([kernel.kallsyms])\n\n\
                a 1 [000] 1.001000: 300 cycles:P: \n\tffffffff81000020 g ([kernel.kallsyms])\n\n";
    let imported = read(text.as_bytes(), None, false);
    let p = &imported.evidence.profile;
    assert_eq!((p.measure(Event::Cpu).unit.name(), p.samples.total(Event::Cpu)), ("cycles", 2));
    assert_eq!(FoldedStacks::text(p, Event::Cpu), "f 100\ng 300\n");
    let said = &imported.stats.warnings;
    assert!(
        said.iter().any(|w| w.contains("`cycles:P` (100 to 300 a sample), as perf report does")),
        "{said:?}"
    );
    let alike = read(text.as_bytes(), None, true);
    assert_eq!(FoldedStacks::text(&alike.evidence.profile, Event::Cpu), "f 1\ng 1\n");
    assert!(alike.stats.warnings.iter().any(|w| w.contains("count alike")), "{:?}", alike.stats.warnings);
    // Some samples without a period cannot be added to the others.
    let partly = read(text.replace("300 cycles", "cycles").as_bytes(), None, false);
    assert_eq!(partly.evidence.profile.measure(Event::Cpu).unit, Unit::Samples);
}

#[test]
fn even_periods_change_nothing() {
    let mut w = uneven(Attr::cycles(100), 0);
    for i in 0..10 {
        w.sample(10, 10, 1000 + i, 0, &[KERNEL_MARK, TEXT + 0x108]);
    }
    let imported = read(&w.file().bytes, None, false);
    assert_eq!(imported.evidence.profile.measure(Event::Cpu).unit, Unit::Samples);
    assert!(!imported.stats.warnings.iter().any(|w| w.contains("period")));
    assert_eq!(imported.evidence.profile.samples.weight[0].0, 1_000_000, "of 1,000 samples a second");
}

#[test]
fn counted_events_are_weighed_by_what_they_count() {
    let mut w = uneven(Attr::cpu_clock(), 0);
    w.attrs.push(Attr { kind: 1, config: 2, id: 101, ..Attr::cpu_clock() });
    w.sample(10, 10, 1000, 0, &[KERNEL_MARK, TEXT + 0x108]);
    for (i, faults) in [1, 7, 30].into_iter().enumerate() {
        w.period = faults;
        w.sample_of(1, 10, 10, 1001 + i as u64, 0, &[KERNEL_MARK, TEXT + 0x108], &[]);
    }
    let imported = read(&w.file().bytes, None, false);
    let p = &imported.evidence.profile;
    assert_eq!(
        (p.measure(Event::Cpu).unit.name(), p.measure(Event::Count).unit.name()),
        ("samples", "events")
    );
    assert_eq!((p.samples.total(Event::Count), p.total(Event::Count)), (3, 38));
}
