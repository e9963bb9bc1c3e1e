//! The recipes of docs/FLEET.md, typed as they stand there: curl, and Python with pandas, pyarrow and DuckDB.

use crate::{FLEET, Served, capture, start};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn docs() -> String {
    let docs = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/FLEET.md");
    std::fs::read_to_string(docs).unwrap()
}

/// A server with a host of the last hour beside the others, whose files are merged.
fn served() -> Served {
    let served = start(None);
    let store = served.folder.path().join("store").display().to_string();
    let done = |args: &[&str]| {
        let out = Command::new(FLEET).args(args).args(["--store", &store]).output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    };
    done(&["compact", "--settle", "0s", "--grace", "0s", "--sums-after", "36500d", "--drop-after", "36500d"]);
    done(&["ingest", &capture("sync").display().to_string(), "--host", "db7", "--start", "-20m"]);
    served
}

/// A recipe with the addresses of this server in place of those in the docs.
fn here(recipe: &str, served: &Served) -> String {
    let store = served.folder.path().join("store").display().to_string();
    recipe
        .replace("http://127.0.0.1:9935", &format!("http://{}", served.address))
        .replace("/mnt/fleet", &store)
}

fn text(out: &Output) -> String {
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).into_owned()
}

#[test]
fn curl_is_answered_as_the_docs_tell() {
    let (served, docs) = (served(), docs());
    let typed: Vec<&str> = docs.lines().filter(|line| line.starts_with("    curl -H")).collect();
    assert_eq!(typed.len(), 3);
    let run = |line: &str| {
        let mut command = Command::new("sh");
        let line = format!("{} --fail --silent --show-error", here(line.trim(), &served));
        command.args(["-c", &line]).env("TOKEN", &served.token).current_dir(served.folder.path());
        text(&command.output().unwrap())
    };
    let stages: serde_json::Value = serde_json::from_str(&run(typed[0])).unwrap();
    assert!(stages.as_array().unwrap().len() > 3, "{stages}");
    run(typed[1]);
    run(typed[2]);
    let file = |name: &str| std::fs::read(served.folder.path().join(name)).unwrap();
    assert!(file("fleet.pb.gz").starts_with(&[0x1f, 0x8b]));
    assert!(file("steps.arrow").starts_with(&[0xff, 0xff, 0xff, 0xff]), "a stream of Arrow");
}

/// The Python that `make setup-fleet` made, else that of the system.
fn python() -> PathBuf {
    let made = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.tools/fleet-python/bin/python3");
    if made.is_file() { made } else { PathBuf::from("python3") }
}

/// Runs the recipe that uses a module; `None` where the module is not there, which is said.
fn python_recipe(module: &str, served: &Served) -> Option<String> {
    let docs = docs();
    let blocks: Vec<&str> = docs.split("```").skip(1).step_by(2).collect();
    let mut of_module = blocks.iter().filter_map(|block| block.strip_prefix("python\n"));
    let imports =
        |line: &str| line.starts_with("import ") && line.split([' ', ',', '.']).any(|word| word == module);
    let recipe = of_module.find(|block| block.lines().any(imports)).unwrap();
    let known = Command::new(python()).args(["-c", &format!("import {module}")]).output().unwrap();
    if !known.status.success() {
        let skipped = format!("skipped: no Python module {module}; make setup-fleet installs it\n");
        std::io::Write::write_all(&mut std::io::stderr(), skipped.as_bytes()).unwrap();
        return None;
    }
    let mut command = Command::new(python());
    command.args(["-c", &here(recipe, served)]).env("TOKEN", &served.token);
    Some(text(&command.output().unwrap()))
}

#[test]
fn python_alone_is_answered_as_the_docs_tell() {
    let told = python_recipe("json", &served()).expect("Python has it");
    assert!(told.lines().count() == 3 && told.contains("db7"), "{told}");
}

#[test]
fn pandas_is_answered_as_the_docs_tell() {
    let Some(told) = python_recipe("pandas", &served()) else { return };
    assert!(told.contains("kernel") && told.contains("db7"), "{told}");
}

#[test]
fn pyarrow_is_answered_as_the_docs_tell() {
    let Some(told) = python_recipe("pyarrow", &served()) else { return };
    assert!(told.contains("begin_ms") && told.contains("stage"), "{told}");
}

#[test]
fn duckdb_reads_the_store_as_the_docs_tell() {
    let served = served();
    let Some(told) = python_recipe("duckdb", &served) else { return };
    // Samples of the hosts that are merged, as the server counts them.
    let hosts = served.get("/api/v1/hosts").json();
    let hosts = hosts.as_array().unwrap().iter().filter(|host| host["host"] != "db7");
    let mut want: Vec<(String, u64)> =
        hosts.map(|h| (h["host"].as_str().unwrap().to_owned(), h["samples"].as_u64().unwrap())).collect();
    let mut got: BTreeMap<String, u64> = BTreeMap::new();
    for line in told.lines() {
        let (host, samples) = (line.split('\t').next().unwrap(), line.rsplit('\t').next().unwrap());
        *got.entry(host.to_owned()).or_default() += samples.parse::<u64>().unwrap();
    }
    want.sort();
    assert_eq!((want.len(), got.into_iter().collect::<Vec<_>>()), (2, want.clone()));
}
