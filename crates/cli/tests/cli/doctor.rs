//! `zwhy doctor`: an answer on any host, in every form.

use crate::inputs;
use crate::support::{call, obeyed, run};

#[test]
fn the_exit_code_says_whether_something_is_missing() {
    let folder = inputs::bare_folder();
    let ran = run(folder.path(), ["doctor", "--json"]);
    let answer: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    let missing = answer["checks"].as_array().expect("checks").iter().any(|c| c["state"] == "missing");
    assert_eq!(answer["ready"], !missing, "{answer}");
    assert_eq!(ran.code, Some(i32::from(missing)));
    let text = run(folder.path(), ["doctor"]).out;
    assert!(text.contains("CPU samples") && obeyed(&text).is_empty(), "{text}");
    for line in text.lines().filter(|l| !l.starts_with("      ")) {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn advice_of_another_distribution_can_be_asked_for() {
    let folder = inputs::bare_folder();
    let ran = run(folder.path(), ["doctor", "--json", "--distro", "nixos"]);
    let answer: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(answer["distro"], "nixos");
    let line = call(folder.path(), "doctor --distro plan9").failed(2);
    assert!(line.contains("plan9") && line.contains("truenas"), "{line}");
}
