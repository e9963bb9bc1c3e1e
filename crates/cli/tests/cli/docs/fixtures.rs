//! Files that commands of the documentation read, made where they are missing, each by the ending of its name.

use super::markdown::{Page, repository};
use crate::inputs;
use std::fs;
use std::path::Path;
use tempfile::TempDir;
use zwhy_cli::definition;

#[path = "../../../../formats/tests/support/perf_data_writer.rs"]
mod perf_data;

/// Names of files that a line reads: what has no option before it, the other side of a comparison, and a host to be like.
fn read_by(words: &[String]) -> Vec<String> {
    let mut command = definition();
    let Ok(mut matches) = command.clone().try_get_matches_from(words) else { return Vec::new() };
    while let Some((name, sub)) = matches.remove_subcommand() {
        command = command.find_subcommand(&name).cloned().expect("it was parsed");
        matches = sub;
    }
    let is_input = |a: &&clap::Arg| a.is_positional() || a.get_id() == "after" || a.get_id() == "like";
    let ids = command.get_arguments().filter(is_input).map(|a| a.get_id().as_str().to_owned());
    let ids: Vec<String> = ids.filter(|id| id != "experiment" && id != "class" && id != "words").collect();
    let values = ids.iter().filter_map(|id| matches.try_get_raw(id).ok().flatten()).flatten();
    values.map(|value| value.to_string_lossy().into_owned()).collect()
}

/// Makes what a line reads.
pub fn make_inputs(folder: &Path, words: &[String]) {
    let is_lab = words.get(1).is_some_and(|word| word == "lab");
    for name in read_by(words) {
        let path = folder.join(&name);
        if path.exists() || name == "-" {
            continue;
        }
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        if is_lab && path.extension().is_none() {
            lab_result(&path);
        } else {
            make(&path);
        }
    }
}

fn make(path: &Path) {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("data") => fs::write(path, perf_data::usual(false, 40).file().bytes).expect("a file"),
        Some("txt" | "md" | "log") => fs::write(path, inputs::PASTED).expect("a file"),
        Some("folded") => fs::write(path, inputs::CCM).expect("a file"),
        _ => capture(path),
    }
}

/// One of the first hour: of a real host, with waits and counters.
fn capture(path: &Path) {
    fs::copy(repository().join("docs/first-hour/sync.zwhy"), path).expect("a capture");
}

/// The folder of an experiment that was run.
fn lab_result(path: &Path) {
    fs::create_dir_all(path).expect("a folder");
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lab");
    for name in ["result.json", "stacks.folded"] {
        fs::copy(from.join(name), path.join(name)).expect("a file");
    }
}

/// A copy of the folder that is called as the page, where its captures are: those of `docs/FIRST-HOUR.md` are in
/// `docs/first-hour`.
pub fn beside(page: &Page) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    let from = repository().join(page.path.to_lowercase().trim_end_matches(".md"));
    for entry in fs::read_dir(from).into_iter().flatten().flatten() {
        fs::copy(entry.path(), folder.path().join(entry.file_name())).expect("a file");
    }
    folder
}
