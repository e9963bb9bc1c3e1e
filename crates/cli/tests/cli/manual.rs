//! What the program says of itself: examples, topics, version, and the first lines on a terminal.

use crate::inputs;
use crate::support::{call, obeyed, run, skip};
use std::path::Path;
use std::process::{Command, Stdio};
use zwhy_cli::{definition, examples_of, topics};

/// A line as a shell splits it, with quotes; what stands behind a redirection or a pipe is another's.
pub fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            (None, '>' | '|' | '#') => break,
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[track_caller]
fn parses(line: &str) {
    if let Err(error) = definition().try_get_matches_from(words(line)) {
        panic!("{line}: {error}");
    }
}

/// Every command with the words that call it.
fn commands() -> Vec<(String, clap::Command)> {
    let mut todo = vec![(String::new(), definition())];
    let mut all = Vec::new();
    while let Some((path, command)) = todo.pop() {
        for sub in command.get_subcommands() {
            todo.push((format!("{path} {}", sub.get_name()).trim_start().to_owned(), sub.clone()));
        }
        if !path.is_empty() {
            all.push((path, command));
        }
    }
    all
}

#[test]
fn every_command_has_examples_and_every_example_parses() {
    let commands = commands();
    assert!(commands.len() > 25, "all levels are seen: {}", commands.len());
    for (path, _) in &commands {
        let examples = examples_of(path);
        assert!(!examples.is_empty(), "zwhy {path} has no example");
        for example in examples {
            assert!(example.line.starts_with(&format!("zwhy {path}")), "{path}: {}", example.line);
            assert!(!example.what.ends_with('.') && example.line.len() <= 76, "{example:?}");
            parses(example.line);
        }
    }
    let wrong = ["zwhy record --nosuch", "zwhy lab run", "zwhy export 'a b' 'c d'"];
    wrong.iter().for_each(|line| assert!(definition().try_get_matches_from(words(line)).is_err(), "{line}"));
}

#[test]
fn help_shows_the_examples_and_is_the_same_by_both_ways() {
    let folder = inputs::bare_folder();
    for (path, command) in commands().iter().filter(|(_, c)| !c.is_hide_set()) {
        let text = call(folder.path(), &format!("{path} --help")).ok();
        for example in examples_of(path) {
            assert!(text.contains(example.line), "{path}: {text}");
        }
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        assert!(!about.is_empty(), "{path} says what it does");
    }
    let ways = ["lab run --help", "help lab run"].map(|way| call(folder.path(), way).ok());
    assert_eq!(ways[0], ways[1]);
    let all = call(folder.path(), "help").ok();
    for topic in topics() {
        assert!(all.contains(topic.name) && all.contains(topic.title()), "{}: {all}", topic.name);
    }
    let error = call(folder.path(), "help nosuch").failed(2);
    assert!(error.contains("privileges") && error.contains("formats"), "{error}");
}

#[test]
fn topics_are_short_and_what_they_name_exists() {
    let folder = inputs::bare_folder();
    let known: Vec<&str> = topics().iter().map(|t| t.name).collect();
    for topic in topics() {
        let text = call(folder.path(), &format!("help {}", topic.name)).ok();
        assert_eq!(text, topic.text());
        assert!(text.lines().count() <= 40 && obeyed(&text).is_empty(), "{}", topic.name);
        assert!(text.lines().all(|l| l.chars().count() <= 80), "{}: {text}", topic.name);
        assert!(!text.contains(['{', '}']), "{}: a place that is not filled", topic.name);
        for line in text.lines().filter_map(|l| l.strip_prefix("  zwhy ")) {
            // Two columns: the command and what it is for.
            parses(&format!("zwhy {}", line.split("   ").next().unwrap_or(line)));
        }
        for named in text.split("zwhy help ").skip(1) {
            let name: String = named.chars().take_while(char::is_ascii_alphanumeric).collect();
            assert!(known.contains(&name.as_str()), "{}: zwhy help {name}", topic.name);
        }
    }
}

fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

#[test]
fn figures_of_overhead_are_those_that_were_measured() {
    let measured = std::fs::read_to_string(repository().join("docs/BENCHMARKS.md")).expect("the figures");
    let topic = topics().iter().find(|t| t.name == "overhead").expect("the topic").text();
    let table: Vec<&str> = topic.lines().filter(|l| l.starts_with("  ")).collect();
    let is_number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
    let trimmed = |text: &str| -> Vec<String> {
        let parts = text.split(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',')));
        parts.map(|p| p.trim_matches(['.', ',']).to_owned()).filter(|p| !p.is_empty()).collect()
    };
    let known = trimmed(&measured);
    let figures: Vec<String> =
        table.iter().flat_map(|l| trimmed(l)).filter(|f| is_number(&f.as_str())).collect();
    assert!(figures.len() > 10, "{figures:?}");
    for figure in figures {
        assert!(known.contains(&figure), "{figure} is not in docs/BENCHMARKS.md");
    }
}

#[test]
fn topics_name_every_format_and_experiment_and_only_variables_that_are_read() {
    let text = |name: &str| topics().iter().find(|t| t.name == name).expect("the topic").text();
    let formats = text("formats").replace('\n', " ");
    let importers = zwhy_formats::importers().iter().map(|i| i.name);
    for name in importers.chain(zwhy_formats::exporters().iter().map(|e| e.name)) {
        assert!(formats.contains(&format!(" {name}")), "{name}: {formats}");
    }
    for name in zwhy_lab::Experiment::builtin_names() {
        assert!(text("lab").contains(name), "{name}");
    }
    let sources: String = ["cli/src/output.rs", "formats/src/input/spill.rs", "lab/src/user/library.rs"]
        .into_iter()
        .chain(["limits/src/cache.rs", "agent/src/ship/s3/mod.rs"])
        .map(|path| std::fs::read_to_string(repository().join("crates").join(path)).expect("a source"))
        .collect();
    let of_store =
        ["ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN", "REGION", "ENDPOINT_URL", "CA_BUNDLE"];
    let of_store = of_store.map(|name| format!("AWS_{name}"));
    let of_host = ["NO_COLOR", "TERM", "TMPDIR", "ZWHY_LIBZPOOL", "XDG_CACHE_HOME"];
    for variable in of_host.into_iter().chain(of_store.iter().map(String::as_str)) {
        assert!(text("environment").contains(variable) && sources.contains(variable), "{variable}");
    }
}

#[test]
fn the_version_names_the_build_and_the_knowledge() {
    let folder = inputs::bare_folder();
    let texts = ["--version", "-V", "record --version"].map(|args| call(folder.path(), args).ok());
    let text = &texts[0];
    assert!(texts.iter().all(|t| t == text), "{texts:?}");
    let first = text.lines().next().unwrap_or_default();
    assert_eq!(first, concat!("zwhy ", env!("CARGO_PKG_VERSION")));
    assert!(text.contains(std::env::consts::ARCH) && text.contains("format 1"), "{text}");
    let knowledge = zwhy_diagnose::Knowledge::embedded().causes.len();
    let digest = text.lines().find_map(|l| l.strip_prefix(&format!("knowledge  {knowledge} causes, ")));
    let digest = digest.unwrap_or_else(|| panic!("{text}"));
    assert!(digest.len() == 16 && digest.chars().all(|c| c.is_ascii_hexdigit()), "{digest}");
    let at = std::env::current_dir().expect("a folder");
    assert!(!text.contains(&*at.to_string_lossy()), "no folder of the machine that built it");
}

#[test]
fn alone_on_a_terminal_it_says_in_eight_lines_what_to_type() {
    let folder = inputs::bare_folder();
    let call = format!("stty cols 80; exec '{}'", env!("CARGO_BIN_EXE_zwhy"));
    let mut command = Command::new("script");
    command.args(["-qec", &call, "/dev/null"]).current_dir(folder.path()).stdin(Stdio::null());
    let Ok(output) = command.output() else {
        return skip("alone_on_a_terminal_it_says_in_eight_lines", "there is no `script` command");
    };
    let text = String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n");
    assert!(output.status.success(), "{text}");
    assert_eq!(text.lines().count(), 8, "{text}");
    assert!(text.contains("This host") && text.contains("zwhy record -a"), "{text}");
}

#[test]
fn errors_name_the_topic_that_says_more() {
    let folder = inputs::bare_folder();
    std::fs::write(folder.path().join("noise"), [0u8, 159, 146, 150, 0, 1, 2]).expect("a file");
    for (args, topic) in [
        ("explain noise", "formats"),
        ("explain --format nosuch ccm.folded", "formats"),
        ("export --format nosuch ccm.folded", "formats"),
        ("export --pid --format pprof ccm.folded -o x.pb.gz", "formats"),
        ("share ccm.folded -o x.zwhy", "sharing"),
        ("lab run nosuch", "lab"),
        ("lab run encryption --set nosuch=1 -o out", "lab"),
    ] {
        let ran = run(folder.path(), args.split(' '));
        assert!(ran.err.ends_with(&format!("\nMore: zwhy help {topic}\n")), "{args}: {ran:?}");
    }
    let plain = call(folder.path(), "explain missing.zwhy");
    assert!(!plain.err.contains("zwhy help"), "{plain:?}");
}
