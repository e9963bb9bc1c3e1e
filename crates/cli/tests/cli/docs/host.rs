//! Commands of the documentation that look at this host: run here as they are written, for a moment instead of minutes.

use super::markdown::{Typed, pages};
use super::{command_of, fixtures, none_wrong};
use crate::manual::words;
use crate::record::may_sample_all;
use crate::support::{Ran, Reaped, run, signal, wait_until, zwhy};
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use tempfile::TempDir;

/// Lines of all pages whose command is `path`, by their words, each once.
fn lines_of(path: &[&str]) -> Vec<(Vec<String>, Typed)> {
    let typed = pages().into_iter().flat_map(|page| page.typed("zwhy"));
    let all = typed.map(|typed| (words(&typed.line), typed)).filter(|(words, _)| command_of(words).0 == path);
    all.collect::<BTreeMap<_, _>>().into_iter().collect()
}

/// The words with another value behind an option that is there.
fn with_value(words: &[String], option: &str, value: &str) -> Vec<String> {
    let mut words = words.to_vec();
    if let Some(at) = words.iter().position(|word| word == option) {
        words[at + 1] = value.to_owned();
    }
    words
}

/// The words without an option and its value.
fn without(words: &[String], option: &str) -> Vec<String> {
    let at = words.iter().position(|word| word == option).unwrap_or(words.len());
    [&words[..at], words.get(at + 2..).unwrap_or_default()].concat()
}

/// `zwhy record …`, over after a moment; one that a command ends stays as it is.
fn ended(words: &[String]) -> Vec<String> {
    let mut words = with_value(words, "-d", "0.2");
    if !words.iter().any(|word| word == "-d" || word == "--") {
        words.extend(["-d", "0.2"].map(str::to_owned));
    }
    words
}

fn wrong(typed: &Typed, words: &[String], ran: &Ran) -> String {
    format!("{}: {}\n{}{}", typed.place, words.join(" "), ran.out, ran.err)
}

#[test]
fn what_the_docs_tell_to_record_is_recorded_and_explained() {
    if !may_sample_all("what_the_docs_tell_to_record_is_recorded_and_explained") {
        return;
    }
    let (mut failed, lines) = (Vec::new(), lines_of(&["record"]));
    assert!(!lines.is_empty());
    for (words, typed) in lines {
        let folder = TempDir::new().expect("a folder");
        let words = ended(&words);
        let ran = run(folder.path(), &words[1..]);
        let made = words.iter().position(|word| word == "-o").and_then(|at| words.get(at + 1));
        let capture = made.map_or("zwhy.zwhy", String::as_str);
        if ran.code != Some(0) || run(folder.path(), ["explain", capture]).code != Some(0) {
            failed.push(wrong(&typed, &words, &ran));
        }
    }
    none_wrong(&failed);
}

#[test]
fn what_the_docs_tell_of_doctor_answers() {
    let (mut failed, lines) = (Vec::new(), lines_of(&["doctor"]));
    assert!(lines.len() > 1, "{lines:?}");
    for (words, typed) in lines {
        let folder = TempDir::new().expect("a folder");
        let ran = run(folder.path(), &words[1..]);
        // 1: something cannot be recorded here. Hints of a host that lacks nothing are none.
        let hints = words.iter().any(|word| word == "--fix-hints");
        if !matches!(ran.code, Some(0 | 1)) || (ran.out.is_empty() && !hints) {
            failed.push(wrong(&typed, &words, &ran));
        }
    }
    none_wrong(&failed);
}

/// Each looks for ten seconds, all at once; as from a program, for which `--once` ends it.
#[test]
fn what_the_docs_tell_of_top_is_printed() {
    let lines = lines_of(&["top"]);
    assert!(lines.len() > 3, "{lines:?}");
    let ran = std::thread::scope(|scope| {
        let started: Vec<_> = lines
            .into_iter()
            .map(|(mut words, typed)| {
                scope.spawn(move || {
                    let folder = TempDir::new().expect("a folder");
                    fixtures::make_inputs(folder.path(), &words);
                    if !words.iter().any(|word| word == "--once") {
                        words.push("--once".to_owned());
                    }
                    let ran = run(folder.path(), &words[1..]);
                    let told = ran.code == Some(0) && !ran.out.is_empty();
                    (!told).then(|| wrong(&typed, &words, &ran))
                })
            })
            .collect();
        started.into_iter().filter_map(|thread| thread.join().expect("no panic")).collect::<Vec<_>>()
    });
    none_wrong(&ran);
}

/// Options that keep an agent of a test to itself: a folder, quick readings, no port, a store that it may write.
fn of_its_own(words: &[String], folder: &Path, spool: &str) -> Vec<String> {
    let store = format!("file://{}", folder.join("fleet").display());
    let mut words = with_value(words, "--ship", &store);
    words.extend(["--spool", spool, "-i", "1", "--listen", "none"].map(str::to_owned));
    words
}

#[test]
fn what_the_docs_tell_of_the_agent_records_and_answers() {
    const NAME: &str = "what_the_docs_tell_of_the_agent_records_and_answers";
    if !may_sample_all(NAME) {
        return;
    }
    let (folder, mut failed) = (TempDir::new().expect("a folder"), Vec::new());
    let agents = lines_of(&["agent"]);
    assert!(agents.len() > 1, "{agents:?}");
    for (number, (words, typed)) in agents.iter().enumerate() {
        let spool = format!("spool-{number}");
        let words = of_its_own(words, folder.path(), &spool);
        let mut command = zwhy(folder.path());
        command.args(&words[1..]).stderr(Stdio::null());
        let mut agent = Reaped(command.spawn().expect("the program starts"));
        let at = folder.path().join(&spool);
        let records = || {
            let parts = std::fs::read_dir(&at).into_iter().flatten().flatten();
            parts.into_iter().any(|part| part.path().join("series-000002.parquet").exists())
        };
        assert!(wait_until(&mut agent.0, records), "{}: {} ended", typed.place, words.join(" "));
        let asked = [&["agent", "status"][..], &["agent", "capture"]].map(lines_of).concat();
        assert!(asked.len() > 2, "{asked:?}");
        for (words, typed) in asked {
            // Six hours ago there was no agent yet.
            let mut words = without(&words, "--before");
            words.extend(["--spool".to_owned(), spool.clone()]);
            let words =
                with_value(&words, "-o", &format!("{number}-{}.zwhy", typed.place.replace(['/', ':'], "-")));
            let ran = run(folder.path(), &words[1..]);
            if ran.code != Some(0) {
                failed.push(wrong(&typed, &words, &ran));
            }
        }
        signal(&agent.0, Signal::TERM);
        assert!(agent.0.wait().expect("the agent ends").success(), "{}", typed.place);
    }
    none_wrong(&failed);
}

/// Commands that no test runs as they are written, and why.
const ONLY_PARSED: [(&[&str], &str); 3] = [
    (&["lab", "resume"], "goes on with a run that was killed: tests of the lab kill runs and resume them"),
    (&["lab", "verify"], "reads the pools that a run of minutes with --keep back has kept"),
    (
        &["count"],
        "counts functions of OpenZFS in a kernel or a program that has them: tests count functions of this host",
    ),
];

#[test]
fn every_command_of_the_docs_is_run_by_a_test_or_says_why_not() {
    let here: [&[&str]; 6] =
        [&["record"], &["doctor"], &["top"], &["agent"], &["agent", "status"], &["agent", "capture"]];
    let (mut unknown, mut seen) = (Vec::new(), 0);
    for typed in pages().iter().flat_map(|page| page.typed("zwhy")) {
        seen += 1;
        let words = words(&typed.line);
        let path = command_of(&words).0;
        let known = here.contains(&&path[..]) || ONLY_PARSED.iter().any(|(parsed, _)| *parsed == &path[..]);
        if !known && super::runnable(&typed.line).is_none() {
            unknown.push(format!("{}: no test runs it: {}", typed.place, typed.line));
        }
    }
    none_wrong(&unknown);
    assert!(seen > 30, "{seen} lines");
    for (path, why) in ONLY_PARSED {
        assert!(!lines_of(path).is_empty(), "{} is in no page any more ({why})", path.join(" "));
    }
}

#[test]
fn values_and_options_of_a_line_are_changed() {
    let line = |text: &str| words(text);
    assert_eq!(with_value(&line("zwhy record -a -d 60"), "-d", "1"), line("zwhy record -a -d 1"));
    assert_eq!(with_value(&line("zwhy record -a"), "-d", "1"), line("zwhy record -a"));
    assert_eq!(ended(&line("zwhy record -o x")), line("zwhy record -o x -d 0.2"));
    assert_eq!(ended(&line("zwhy record -- sh")), line("zwhy record -- sh"));
    assert_eq!(
        without(&line("zwhy agent capture --before 6h -o x"), "--before"),
        line("zwhy agent capture -o x")
    );
    assert_eq!(without(&line("zwhy agent"), "--before"), line("zwhy agent"));
}
