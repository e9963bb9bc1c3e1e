//! The knowledge files themselves: they load, are clean, and do what their inline tests say.

use zwhy_diagnose::{Knowledge, lint, run_tests};

#[test]
fn every_file_loads() {
    let knowledge = Knowledge::embedded();
    let problems: Vec<String> = knowledge.problems.iter().map(ToString::to_string).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(!knowledge.causes.is_empty() && knowledge.anatomy.stages().len() > 30);
}

#[test]
fn lint_finds_nothing() {
    let issues: Vec<String> = lint(&Knowledge::embedded())
        .into_iter()
        // A look-alike may be a class that nobody has written down yet.
        .filter(|i| !(i.what.starts_with("look-alike") && i.what.ends_with("is no class")))
        .map(|i| format!("{}: {}", i.file, i.what))
        .collect();
    assert!(issues.is_empty(), "{}", issues.join("\n"));
}

#[test]
fn inline_tests_of_all_causes_pass() {
    let failed: Vec<String> = run_tests(&Knowledge::embedded())
        .into_iter()
        .filter(|t| !t.passed)
        .map(|t| format!("{} / {}: {}", t.class, t.test, t.what))
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
