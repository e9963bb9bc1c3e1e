//! Documented cases of real hosts, where the corpus is there (`ZWHY_CORPUS`, or a folder
//! `shared/corpus` beside the project).
#![allow(clippy::print_stderr)]

use serde_json::Value;
use std::path::{Path, PathBuf};
use zwhy_diagnose::{Answer, CONFIDENT, Knowledge, Options, explain};
use zwhy_formats::{ImportOptions, import_bytes};

const KEPT: [&str; 7] = ["perf_top", "stacks", "threads_cpu", "arcstats", "params", "props", "tables"];

fn folder() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let folder = std::env::var_os("ZWHY_CORPUS").map_or(beside, PathBuf::from);
    folder.join("cases").is_dir().then_some(folder)
}

/// Name, documented class and answer of each case that has evidence.
fn answers(folder: &Path, knowledge: &Knowledge) -> Vec<(String, String, Answer)> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder of cases").map(|e| e.expect("an entry").path()).collect();
    files.sort();
    let mut out = Vec::new();
    for file in files.iter().filter(|f| f.extension().is_some_and(|e| e == "json")) {
        let text = std::fs::read_to_string(file).expect("a case");
        let case: Value = serde_json::from_str(&text).expect("JSON");
        let empty = |v: &Value| match v {
            Value::Array(list) => list.is_empty(),
            Value::Object(map) => map.is_empty(),
            _ => true,
        };
        if KEPT.iter().all(|key| empty(&case["evidence"][key])) {
            continue;
        }
        let mut evidence = serde_json::json!({ "zwhy_evidence": 1 });
        for key in ["zfs_version", "kernel", "os"] {
            evidence[key] = case[key].clone();
        }
        for key in KEPT {
            evidence[key] = case["evidence"][key].clone();
        }
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let imported = import_bytes(&name, evidence.to_string().into_bytes(), &ImportOptions::default());
        let imported = imported.unwrap_or_else(|e| panic!("{name}: {e}"));
        let class = case["root_cause_id"].as_str().unwrap_or("").to_owned();
        out.push((name, class, explain(&imported.evidence, knowledge, &Options::default())));
    }
    out
}

#[test]
fn documented_cases_are_named_and_never_wrongly_with_confidence() {
    let Some(folder) = folder() else {
        eprintln!("SKIPPED: no corpus; set ZWHY_CORPUS to a folder with cases/ and unresolved/");
        return;
    };
    let knowledge = Knowledge::embedded();
    let (mut known, mut hits, mut wrong) = (0, 0, Vec::new());
    for (name, class, answer) in answers(&folder.join("cases"), &knowledge) {
        let top = answer.findings.first();
        let hit = top.is_some_and(|f| f.class == class);
        known += usize::from(knowledge.cause(&class).is_some());
        hits += usize::from(hit);
        if let Some(top) = top.filter(|f| !hit && f.confidence >= CONFIDENT) {
            wrong.push(format!("{name}: {} {} instead of {class}", top.class, top.confidence));
        }
    }
    for (name, _, answer) in answers(&folder.join("unresolved"), &knowledge) {
        if let Some(top) = answer.findings.first().filter(|f| f.confidence >= CONFIDENT) {
            wrong.push(format!("{name}: {} {} though nobody knows", top.class, top.confidence));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(hits * 4 >= known * 3, "{hits} of {known} cases of known classes are named first");
}
