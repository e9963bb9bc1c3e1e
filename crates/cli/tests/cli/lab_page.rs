//! `zwhy lab report`: the page holds the whole result, and nothing of a result is parsed as HTML.
//!
//! The result in `tests/lab` is one of snapshot-destroy with fewer cells, counters and threads, and with names
//! that would be code if they were not escaped. Its data is also what the browser tests of `web/` open.

use crate::support::call;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use serde_json::Value;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const SAMPLE: &str = "../../web/test/sample/lab.json";

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lab").join(name)
}

/// The page of the result, and its data.
fn page() -> (String, Value) {
    let folder = TempDir::new().expect("a folder");
    let out = folder.path().join("out");
    fs::create_dir(&out).expect("a folder");
    for name in ["result.json", "stacks.folded"] {
        fs::copy(file(name), out.join(name)).expect("a file");
    }
    call(folder.path(), "lab report out -o page.html").ok();
    let page = fs::read_to_string(folder.path().join("page.html")).expect("the page");
    let (_, rest) = page.split_once("id=\"lab\">").expect("the block");
    let (block, _) = rest.split_once("</script>").expect("its end");
    let mut text = String::new();
    let packed = STANDARD.decode(block.trim()).expect("base64");
    GzDecoder::new(packed.as_slice()).read_to_string(&mut text).expect("gzip");
    let data = serde_json::from_str(&text).expect("JSON");
    (page, data)
}

/// Every number with its place.
fn numbers(value: &Value, at: String, out: &mut Vec<(String, f64)>) {
    let escaped = |name: &str| name.replace('~', "~0").replace('/', "~1");
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, inner)| numbers(inner, format!("{at}/{}", escaped(name)), out));
        }
        Value::Array(rows) => {
            rows.iter().enumerate().for_each(|(i, inner)| numbers(inner, format!("{at}/{i}"), out));
        }
        Value::Number(number) => out.push((at, number.as_f64().expect("a number"))),
        _ => {}
    }
}

fn result() -> Value {
    serde_json::from_str(&fs::read_to_string(file("result.json")).expect("the result")).expect("JSON")
}

#[test]
fn the_page_of_an_experiment_holds_every_number_of_its_result() {
    let (page, data) = page();
    let mut all = Vec::new();
    numbers(&result(), String::new(), &mut all);
    assert!(all.len() > 500, "{} numbers", all.len());
    for (at, number) in all {
        let held = data["result"].pointer(&at).and_then(Value::as_f64);
        assert_eq!(held, Some(number), "{at}");
    }
    assert!(!page.contains("onerror") && !page.contains("alert(1)"), "names are not parsed");
}

#[test]
fn every_run_is_a_dot_of_the_answering_figure() {
    let (_, data) = page();
    let result = result();
    let figure = &data["figures"][0];
    assert_eq!(
        (&figure["step"], &figure["measure"]),
        (&result["figure"]["step"], &result["figure"]["measure"])
    );
    let cells = figure["cells"].as_array().expect("cells");
    let dots: Vec<&Value> = cells.iter().flat_map(|c| c["runs"].as_array().expect("runs")).collect();
    for run in result["runs"].as_array().expect("runs") {
        let step = run["steps"].as_array().expect("steps").iter().find(|s| s["name"] == "destroy");
        let step = step.expect("the step");
        let cpu = step["user_s"].as_f64().expect("s") + step["system_s"].as_f64().expect("s");
        let each = cpu * 1e3 / step["operations"].as_f64().expect("operations");
        let dot = dots.iter().find(|dot| dot["position"] == run["position"]).expect("its dot");
        let shown = dot["value"].as_f64().expect("a figure");
        assert!((shown / each - 1.0).abs() < 1e-9, "{run}");
    }
    // The stages of a cell add up to what its runs took.
    for bar in data["stages"].as_array().expect("bars") {
        let sum: f64 =
            bar["parts"].as_array().expect("parts").iter().filter_map(|p| p["value"].as_f64()).sum();
        let cell = cells.iter().find(|c| c["cell"] == bar["cell"]).expect("the cell");
        let runs = cell["runs"].as_array().expect("runs");
        let mean = runs.iter().filter_map(|r| r["value"].as_f64()).sum::<f64>() / runs.len() as f64;
        assert!((sum / mean - 1.0).abs() < 1e-9, "{bar}");
    }
    assert_eq!(data["stages"].as_array().map(Vec::len), Some(6));
}

#[test]
fn the_commands_of_the_page_can_be_copied_into_a_shell() {
    let (_, data) = page();
    let command = data["commands"][0]["command"].as_str().expect("a command");
    assert!(command.starts_with("zwhy lab run snapshot-destroy --quick --grow n=20,40,80"), "{command}");
    assert!(command.ends_with(r"-o 'it'\''s here'"), "{command}");
    assert_eq!(data["seed"].as_str(), Some(result()["seed"].to_string().as_str()), "all of its digits");
}

/// `BLESS=1` writes the sample of the browser tests.
#[test]
fn the_browser_tests_open_what_the_program_writes() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join(SAMPLE);
    let got = serde_json::to_string(&page().1).expect("JSON") + "\n";
    if std::env::var_os("BLESS").is_some() {
        fs::write(&sample, &got).expect("the sample");
    }
    let want = fs::read_to_string(&sample).unwrap_or_default();
    assert!(got == want, "{SAMPLE} is old: run the tests with BLESS=1");
}

#[test]
fn a_folder_without_a_result_is_named() {
    let folder = TempDir::new().expect("a folder");
    let line = call(folder.path(), "lab report nosuch -o page.html").failed(1);
    assert!(
        line.contains("no results of an experiment in nosuch") && line.contains("lab run NAME -o nosuch"),
        "{line}"
    );
    assert!(!folder.path().join("page.html").exists());
}
