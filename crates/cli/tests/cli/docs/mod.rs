//! The documentation is true: what it tells a reader to type exists, runs, and prints what the page says.
//!
//! Commands that only read, and those of a result or of the program itself, are run on inputs made for them; those that look
//! at this host for a moment (`host`); an experiment as what it would do. What is left is parsed, and `host` says why. Which is
//! which is a rule by command, so that a new line of a page is checked without being listed here.

mod fixtures;
mod host;
mod markdown;

use crate::manual::words;
use crate::support::{Ran, run, zwhy};
use clap::error::ErrorKind;
use markdown::{Page, Transcript, pages, repository};
use std::path::Path;
use tempfile::TempDir;
use zwhy_cli::definition;

/// The innermost command of a line, and the words that call it.
fn command_of(words: &[String]) -> (Vec<&str>, clap::Command) {
    let (mut command, mut path) = (definition(), Vec::new());
    for word in words.iter().skip(1) {
        let Some(sub) = command.find_subcommand(word).cloned() else { break };
        path.push(word.as_str());
        command = sub;
    }
    (path, command)
}

/// Whether the program would take a line.
fn parsed(line: &str) -> Result<(), String> {
    match definition().try_get_matches_from(words(line)) {
        Ok(_) => Ok(()),
        Err(e) if matches!(e.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => Ok(()),
        Err(e) => Err(e.to_string()),
    }
}

/// The same for a line among prose, which may lack arguments or be a synopsis: then its command and options must exist.
fn named(line: &str) -> Result<(), String> {
    let Err(error) = definition().try_get_matches_from(words(line)) else { return Ok(()) };
    let incomplete = [
        ErrorKind::DisplayHelp,
        ErrorKind::DisplayVersion,
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
        ErrorKind::MissingRequiredArgument,
        ErrorKind::MissingSubcommand,
    ];
    if incomplete.contains(&error.kind()) {
        return Ok(());
    }
    let is_place = |w: &str| w.len() > 1 && w.chars().all(|c| c.is_ascii_uppercase());
    // An option without its value is named, too.
    let bare_option = line.split(' ').next_back().is_some_and(|word| word.starts_with('-'));
    let signs =
        bare_option || line.contains(['[', '…']) || line.split(|c: char| !c.is_alphanumeric()).any(is_place);
    if !signs {
        return Err(error.to_string());
    }
    let bare = line.replace(['[', ']', '|', '…'], " ");
    let words: Vec<String> = bare.split_whitespace().map(str::to_owned).collect();
    let (path, command) = command_of(&words);
    if path.is_empty() {
        return Err(format!("no command is called {:?}", words.get(1)));
    }
    let options = words.iter().take_while(|w| *w != "--").filter(|w| w.starts_with('-'));
    for option in options {
        let is = |a: &clap::Arg| {
            a.get_long().is_some_and(|long| option == &format!("--{long}"))
                || a.get_short().is_some_and(|short| option == &format!("-{short}"))
        };
        if !command.get_arguments().any(is) {
            return Err(format!("{} has no option {option}", path.join(" ")));
        }
    }
    Ok(())
}

#[track_caller]
fn none_wrong(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_command_of_the_docs_exists_with_its_options() {
    let (mut wrong, mut blocks, mut spans) = (Vec::new(), 0, 0);
    for page in pages() {
        for typed in page.typed("zwhy") {
            blocks += 1;
            wrong.extend(parsed(&typed.line).err().map(|e| format!("{}: {}\n{e}", typed.place, typed.line)));
        }
        for span in page.spans("zwhy") {
            spans += 1;
            wrong.extend(named(&span.line).err().map(|e| format!("{}: {}\n{e}", span.place, span.line)));
        }
    }
    none_wrong(&wrong);
    assert!(blocks > 30 && spans > 40, "pages are read: {blocks} lines, {spans} spans");
    assert!(parsed("zwhy explain --nosuch x.zwhy").is_err() && parsed("zwhy nosuch").is_err());
    for line in ["zwhy record [--nosuch]", "zwhy nosuch", "zwhy explain --nosuch", "zwhy record --nosuch -F"]
    {
        assert!(named(line).is_err(), "{line}");
    }
    for line in
        ["zwhy record [-F HZ] [-a | -p PID] [-- CMD…]", "zwhy export", "zwhy lab run", "zwhy record -G"]
    {
        assert_eq!(named(line), Ok(()), "{line}");
    }
}

/// A line as it is run here; `None` where it is only parsed.
fn runnable(line: &str) -> Option<Vec<String>> {
    let mut words = words(line);
    let (path, _) = command_of(&words);
    match path[..] {
        ["explain" | "report" | "flame" | "top-functions" | "diff" | "import" | "export" | "help", ..]
        | ["collect"]
        | ["knowledge", "list" | "show" | "book"]
        | ["lab", "list" | "show" | "result" | "check" | "report" | "compare"] => {}
        [] if words.get(1).is_some_and(|w| w == "--version") => {}
        // Nobody can be asked here.
        ["share"] => words.push("--yes".to_owned()),
        // What others left on this host is theirs.
        ["lab", "cleanup"] => words.extend(["--journal", "j"].map(str::to_owned)),
        // What it would run must exist and fit, without hours of it.
        ["lab", "run"] => words = shown(&words),
        _ => return None,
    }
    Some(words)
}

/// `lab run …` as `lab show …`, without the options that only a run has.
fn shown(words: &[String]) -> Vec<String> {
    let (_, show) = command_of(&["zwhy", "lab", "show"].map(str::to_owned));
    let (_, run) = command_of(words);
    let option = |command: &clap::Command, word: &str| {
        let is = |a: &&clap::Arg| {
            a.get_long().is_some_and(|long| word == format!("--{long}"))
                || a.get_short().is_some_and(|short| word == format!("-{short}"))
        };
        command.get_arguments().find(is).map(|a| a.get_action().takes_values())
    };
    let mut kept = ["zwhy", "lab", "show"].map(str::to_owned).to_vec();
    let mut rest = words[3..].iter();
    while let Some(word) = rest.next() {
        let takes = option(&run, word);
        let value = if takes == Some(true) { rest.next() } else { None };
        if takes.is_none() || option(&show, word).is_some() {
            kept.extend([word].into_iter().chain(value).cloned());
        }
    }
    kept
}

/// Whether it did what it is for: `lab check` says by its status what it found.
fn did(words: &[String], ran: &Ran) -> bool {
    let says = words[1..].starts_with(&["lab".to_owned(), "check".to_owned()]);
    (ran.code == Some(0) || (says && ran.code == Some(1))) && !ran.err.contains("panicked")
}

#[test]
fn what_the_docs_tell_to_type_runs() {
    let (mut wrong, mut ran_lines) = (Vec::new(), 0);
    let mut done = std::collections::BTreeSet::new();
    for typed in pages().iter().flat_map(|page| page.typed("zwhy")) {
        let Some(words) = runnable(&typed.line).filter(|words| done.insert(words.clone())) else { continue };
        let folder = TempDir::new().expect("a folder");
        fixtures::make_inputs(folder.path(), &words);
        let ran = run(folder.path(), &words[1..]);
        ran_lines += 1;
        if !did(&words, &ran) {
            wrong.push(format!("{}: {}\n{}{}", typed.place, words.join(" "), ran.out, ran.err));
        }
    }
    none_wrong(&wrong);
    assert!(ran_lines > 20, "{ran_lines} lines were run");
    let shown = runnable("zwhy lab run recordsize --set recordsize=16K --keep -o out").map(|w| w.join(" "));
    assert_eq!(shown.as_deref(), Some("zwhy lab show recordsize --set recordsize=16K"));
    assert_eq!(runnable("zwhy record -a"), None);
}

/// What the page says is printed. `…` at its end stands for the rest.
fn printed(page: &Page, transcript: &Transcript) -> Vec<String> {
    let lines = page.text.lines().skip(transcript.output.start).take(transcript.output.len());
    lines.map(|line| line.trim_end().to_owned()).collect()
}

/// As much of `output` as the page had: all, or as many paragraphs as stood before `…`.
fn as_much(output: &str, had: &[String]) -> Vec<String> {
    let lines: Vec<String> = output.lines().map(|line| line.trim_end().to_owned()).collect();
    if had.last().is_none_or(|last| last != "…") {
        return lines;
    }
    let paragraphs = had.iter().filter(|line| line.is_empty()).count().max(1);
    let mut empty = 0;
    let kept = lines.into_iter().take_while(|line| {
        empty += usize::from(line.is_empty());
        empty < paragraphs
    });
    kept.chain(["".to_owned(), "…".to_owned()]).collect()
}

/// `BLESS=1` writes what is printed into the page.
#[test]
fn transcripts_are_what_the_program_prints() {
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for page in pages() {
        let transcripts = page.transcripts();
        if transcripts.is_empty() {
            continue;
        }
        let folder = fixtures::beside(&page);
        let mut lines: Vec<String> = page.text.lines().map(str::to_owned).collect();
        let mut new = Vec::new();
        for transcript in &transcripts {
            seen += 1;
            let words = words(&transcript.line);
            let mut command = zwhy(folder.path());
            // Figures that this host keeps of itself are not those of the page.
            let ran = command.args(&words[1..]).env("XDG_CACHE_HOME", folder.path().join("cache"));
            let ran = Ran::of(ran.output().expect("the program starts"));
            assert!(did(&words, &ran), "{}: {ran:?}", transcript.place);
            let had = printed(&page, transcript);
            let has = as_much(&ran.out, &had);
            if has != had {
                wrong.push(format!(
                    "{}: {}\n{}\n--- prints\n{}",
                    transcript.place,
                    transcript.line,
                    had.join("\n"),
                    has.join("\n")
                ));
            }
            new.push((transcript.output.clone(), has));
        }
        if std::env::var_os("BLESS").is_some() {
            new.into_iter().rev().for_each(|(range, has)| drop(lines.splice(range, has)));
            std::fs::write(repository().join(&page.path), lines.join("\n") + "\n").expect("the page");
        }
    }
    if std::env::var_os("BLESS").is_none() {
        none_wrong(&wrong);
    }
    assert!(seen > 4, "{seen} transcripts");
}

#[test]
fn links_of_the_docs_lead_to_something() {
    let (pages, mut wrong, mut seen) = (pages(), Vec::new(), 0);
    let root = repository();
    for page in &pages {
        let folder = root.join(&page.path).parent().map(Path::to_owned).expect("a folder");
        for (line, link) in page.links() {
            seen += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { root.join(&page.path) } else { folder.join(file) };
            let Ok(target) = target.canonicalize() else {
                wrong.push(format!("{}:{line}: {link} does not exist", page.path));
                continue;
            };
            let to = pages.iter().find(|p| root.join(&p.path) == target);
            if !anchor.is_empty() && !to.is_some_and(|to| to.anchors().iter().any(|a| a == anchor)) {
                wrong.push(format!("{}:{line}: {link} has no such heading", page.path));
            }
        }
    }
    none_wrong(&wrong);
    assert!(seen > 100, "{seen} links");
}

#[test]
fn every_page_of_the_docs_is_in_the_book() {
    let pages = pages();
    let contents = pages.iter().find(|p| p.path == "docs/SUMMARY.md").expect("the table of contents");
    let listed: Vec<String> = contents.links().into_iter().map(|(_, link)| link).collect();
    for page in pages.iter().filter(|p| p.path != contents.path) {
        let Some(name) = page.path.strip_prefix("docs/").filter(|n| !n.contains('/')) else { continue };
        assert!(listed.iter().any(|l| l == name), "docs/SUMMARY.md does not list {name}");
    }
}

/// A table that is copied can grow old.
#[test]
fn measured_figures_of_the_comparison_are_rows_of_the_benchmarks() {
    let pages = pages();
    let text = |path: &str| &pages.iter().find(|p| p.path == path).expect("a page").text;
    let (_, measured) = text("docs/COMPARE.md").split_once("\n## Measured\n").expect("the section");
    let rows: Vec<&str> = measured.lines().filter(|line| line.starts_with('|')).collect();
    assert!(rows.len() > 12, "{rows:?}");
    for row in rows {
        assert!(text("docs/BENCHMARKS.md").lines().any(|line| line == row), "not in BENCHMARKS.md: {row}");
    }
}

#[test]
fn what_the_docs_tell_to_make_can_be_made() {
    let mut seen = 0;
    for typed in pages().iter().flat_map(|page| [page.typed("make"), page.spans("make")].concat()) {
        let mut words = words(&typed.line).split_off(1);
        let elsewhere = words.iter().position(|word| word == "-C");
        let folder = elsewhere.map(|at| words.drain(at..at + 2).next_back().unwrap_or_default());
        let makefile = repository().join(folder.unwrap_or_default()).join("Makefile");
        let Ok(makefile) = std::fs::read_to_string(&makefile) else {
            panic!("{}: {}: no {}", typed.place, typed.line, makefile.display());
        };
        let targets: Vec<&str> = makefile.lines().filter_map(|line| Some(line.split_once(':')?.0)).collect();
        // `make …` is any of them; a variable is none.
        for target in words.iter().filter(|w| *w != "…" && !w.contains('=')) {
            seen += 1;
            assert!(targets.contains(&target.as_str()), "{}: {}", typed.place, typed.line);
        }
    }
    assert!(seen > 10, "{seen} targets");
}
