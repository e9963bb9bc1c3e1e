//! The author's tool for knowledge files: reads them from disk, so nothing is rebuilt between edits.
//!
//! ```text
//! field_guide lint  [CLASS…]          what is misspelt or missing
//! field_guide test  [CLASS…]          inline tests
//! field_guide case  FILE…             explain evidence files (evidence JSON, profiles, pasted text)
//! field_guide calibration DIR [REPORTS HALF [KNOWLEDGE]]  how often a confidence was right, on documented cases and
//!                               reports; asked with another folder of knowledge, such as that of before they were learnt from
//! field_guide corpus DIR [CLASS…]     score documented cases, as DIR/score.py does
//! ```
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod calibration;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use zwhy_diagnose::{CONFIDENT, Knowledge, Options, SourceText, explain, lint, run_tests};
use zwhy_formats::ImportOptions;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../knowledge");
    let read =
        |root: &Path| Knowledge::from_texts(&texts(&root.join("anatomy")), &texts(&root.join("causes")));
    let knowledge = read(&root);
    let wanted = |list: &[&str], class: &str| list.is_empty() || list.iter().any(|w| class.contains(w));
    let mut bad = 0;
    match arguments.split_first() {
        Some((&"lint", classes)) => {
            for issue in lint(&knowledge).iter().filter(|i| wanted(classes, &i.file)) {
                println!("{}: {}", issue.file, issue.what);
                bad += 1;
            }
        }
        Some((&"test", classes)) => {
            for t in run_tests(&knowledge, &paste).iter().filter(|t| wanted(classes, &t.class)) {
                println!("{} {} / {}: {}", if t.passed { "ok  " } else { "FAIL" }, t.class, t.test, t.what);
                bad += usize::from(!t.passed);
            }
            knowledge.problems.iter().for_each(|p| println!("FAIL {p}"));
        }
        Some((&"case", files)) => files.iter().for_each(|file| show(Path::new(file), &knowledge)),
        Some((&"corpus", [folder, classes @ ..])) => bad = corpus(Path::new(folder), classes, &knowledge),
        Some((&"calibration", [folder])) => calibration::calibration(Path::new(folder), None, &knowledge),
        Some((&"calibration", [folder, reports, half])) => {
            calibration::calibration(Path::new(folder), Some((Path::new(reports), half)), &knowledge);
        }
        Some((&"calibration", [folder, reports, half, before])) => {
            let reports = Some((Path::new(reports), *half));
            calibration::calibration(Path::new(folder), reports, &read(Path::new(before)));
        }
        _ => {
            eprintln!(
                "usage: field_guide lint|test [CLASS…] | case FILE… | corpus DIR [CLASS…] | \
                 calibration DIR [REPORTS HALF [KNOWLEDGE]]"
            );
            return ExitCode::from(2);
        }
    }
    if bad > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// A pasted report, read as the program does.
fn paste(text: &str) -> Result<zwhy_evidence::Evidence, String> {
    let imported =
        zwhy_formats::import_bytes("report.txt", text.as_bytes().to_vec(), &ImportOptions::default());
    imported.map(|i| i.evidence).map_err(|e| e.to_string())
}

fn texts(folder: &Path) -> Vec<SourceText> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    files
        .iter()
        .filter_map(|path| {
            let name = path.file_name()?.to_string_lossy().into_owned();
            Some(SourceText::new(name, std::fs::read_to_string(path).ok()?))
        })
        .collect()
}

fn show(file: &Path, knowledge: &Knowledge) {
    match zwhy_formats::import_path(file, &ImportOptions::default()) {
        Ok(imported) => {
            let options = Options { stats: Some(imported.stats), ..Options::default() };
            let answer = explain(&imported.evidence, knowledge, &options);
            match serde_json::to_string_pretty(&answer) {
                Ok(text) => println!("{text}"),
                Err(e) => eprintln!("{e}"),
            }
        }
        Err(e) => eprintln!("{e}"),
    }
}

/// Scores the cases of a corpus; the number of confidently wrong answers is returned.
fn corpus(folder: &Path, classes: &[&str], knowledge: &Knowledge) -> usize {
    let mut tally: BTreeMap<String, BTreeMap<&str, usize>> = BTreeMap::new();
    for (part, solved) in [("cases", true), ("unresolved", false)] {
        let mut files: Vec<_> = std::fs::read_dir(folder.join(part))
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .collect();
        files.sort();
        for file in files {
            let Some((evidence, class, tier)) = case(&file) else { continue };
            if solved && !classes.is_empty() && !classes.iter().any(|c| class.contains(c)) {
                continue;
            }
            let answer = explain(&evidence, knowledge, &Options::default());
            let found: Vec<String> =
                answer.findings.iter().take(3).map(|f| format!("{} {:.2}", f.class, f.confidence)).collect();
            let top = answer.findings.first();
            let confident = top.is_some_and(|f| f.confidence >= CONFIDENT);
            let hit = top.is_some_and(|f| f.class == class);
            let row = tally.entry(if solved { tier } else { "U".to_owned() }).or_default();
            *row.entry("cases").or_default() += 1;
            *row.entry("top1").or_default() += usize::from(solved && hit);
            let third = answer.findings.iter().take(3).any(|f| f.class == class);
            *row.entry("top3").or_default() += usize::from(solved && third);
            *row.entry("wrong").or_default() += usize::from(confident && !(solved && hit));
            let mark = match (solved, hit, confident) {
                (true, true, _) => "hit  ",
                (true, false, true) | (false, _, true) => "WRONG",
                (true, false, false) => "miss ",
                (false, _, false) => "ok   ",
            };
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            println!("{mark} {name:24} {class:42} {}", found.join(", "));
        }
    }
    for (tier, row) in &tally {
        println!("tier {tier}: {row:?}");
    }
    tally.values().filter_map(|r| r.get("wrong")).sum()
}

/// Kinds of evidence in a case.
const KEPT: [&str; 7] = ["perf_top", "stacks", "threads_cpu", "arcstats", "params", "props", "tables"];

/// Evidence, class and tier of a case file: only what `score.py` hands over.
fn case(file: &Path) -> Option<(zwhy_evidence::Evidence, String, String)> {
    case_of(file, &KEPT)
}

/// As [`case`], with only some kinds of evidence; `None` when the case has none of them.
fn case_of(file: &Path, kept: &[&str]) -> Option<(zwhy_evidence::Evidence, String, String)> {
    let case: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(file).ok()?).ok()?;
    let mut evidence = serde_json::json!({ "zwhy_evidence": 1 });
    let mut any = false;
    for key in kept {
        let value = &case["evidence"][*key];
        let empty = value.as_array().is_none_or(Vec::is_empty)
            && value.as_object().is_none_or(serde_json::Map::is_empty);
        if !empty {
            evidence[*key] = value.clone();
            any = true;
        }
    }
    for key in ["zfs_version", "kernel", "os"] {
        evidence[key] = case[key].clone();
    }
    let text = evidence.to_string();
    let imported =
        zwhy_formats::import_bytes("case.json", text.into_bytes(), &ImportOptions::default()).ok()?;
    let text = |key: &str| case[key].as_str().unwrap_or("").to_owned();
    any.then(|| (imported.evidence, text("root_cause_id"), text("tier")))
}
