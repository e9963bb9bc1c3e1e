//! Man pages and completions: whole, accepted by the programs that read them, and the same each time.

#[path = "../../examples/manual/pages.rs"]
mod made;

use crate::support::skip;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use zwhy_cli::{examples_of, topics};

struct Written {
    folder: tempfile::TempDir,
    files: Vec<PathBuf>,
}

fn written() -> Written {
    let folder = tempfile::tempdir().expect("a folder");
    let files = made::write(folder.path()).expect("all pages");
    Written { folder, files }
}

fn in_folder(files: &[PathBuf], folder: &str) -> Vec<PathBuf> {
    let is_in = |p: &&PathBuf| p.parent().is_some_and(|f| f.ends_with(folder));
    files.iter().filter(is_in).cloned().collect()
}

/// What a program says, `None` where it is not installed.
fn said(program: &str, args: &[&str], file: &Path) -> Option<Output> {
    let mut command = Command::new(program);
    command.args(args).arg(file).stdin(Stdio::null()).env("LC_ALL", "C.UTF-8").env("MANWIDTH", "80");
    command.output().ok()
}

#[test]
fn there_is_a_page_for_each_command_and_topic_with_its_options_and_examples() {
    let written = written();
    let pages = in_folder(&written.files, "man");
    let text = |name: &str| fs::read_to_string(written.folder.path().join("man").join(name)).expect(name);
    for topic in topics() {
        assert!(text(&format!("zwhy-{}.7", topic.name)).contains("NAME"));
    }
    let plain = |text: &str| text.replace("\\-", "-").replace("\\*(Aq", "'").replace("\\(aq", "'");
    let record = plain(&text("zwhy-record.1"));
    for option in ["--off-cpu", "--trigger", "--frequency", "NAME.zwhy"] {
        assert!(record.contains(option), "{option}: {record}");
    }
    for (path, name) in [("record", "zwhy-record.1"), ("lab run", "zwhy-lab-run.1")] {
        for example in examples_of(path) {
            assert!(plain(&text(name)).contains(example.line), "{}", example.line);
        }
    }
    assert!(text("zwhy.1").contains("SUBCOMMANDS"));
    assert!(pages.len() > 30, "{pages:?}");
}

#[test]
fn pages_render_without_a_warning() {
    let written = written();
    for page in in_folder(&written.files, "man") {
        let Some(output) = said("man", &["--warnings=w", "-l"], &page) else {
            return skip("pages_render_without_a_warning", "there is no man");
        };
        let warned = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && warned.is_empty(), "{}: {warned}", page.display());
        assert!(output.stdout.len() > 200, "{}", page.display());
    }
}

#[test]
fn mandoc_finds_no_error() {
    let written = written();
    for page in in_folder(&written.files, "man") {
        let Some(output) = said("mandoc", &["-Tlint", "-Werror"], &page) else {
            return skip("mandoc_finds_no_error", "there is no mandoc");
        };
        let found = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{}: {found}", page.display());
    }
}

#[test]
fn shells_accept_their_completions() {
    let written = written();
    for (shell, file) in [("bash", "zwhy"), ("zsh", "_zwhy"), ("fish", "zwhy.fish")] {
        let path = written.folder.path().join("completions").join(file);
        let Some(output) = said(shell, &["-n"], &path) else {
            skip("shells_accept_their_completions", &format!("there is no {shell}"));
            continue;
        };
        assert!(output.status.success(), "{shell}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn bash_completes_commands_and_options() {
    let written = written();
    let file = written.folder.path().join("completions/zwhy");
    let complete = |words: &str, current: &str, before: &str| {
        let script = format!(
            "source '{}'; COMP_WORDS=({words}); COMP_CWORD=$(({} - 1)); _zwhy zwhy '{current}' '{before}'; \
             printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            file.display(),
            words.split(' ').count()
        );
        let output = Command::new("bash").args(["-c", &script]).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let Some(commands) = complete("zwhy rec", "rec", "zwhy") else {
        return skip("bash_completes_commands_and_options", "there is no bash");
    };
    assert_eq!(commands, "record\n");
    assert_eq!(complete("zwhy lab res", "res", "lab").as_deref(), Some("resume\nresult\n"));
    assert_eq!(complete("zwhy record --off", "--off", "record").as_deref(), Some("--off-cpu\n"));
}

#[test]
fn the_same_program_gives_the_same_pages() {
    let (a, b) = (written(), written());
    assert_eq!(a.files.len(), b.files.len());
    for (x, y) in a.files.iter().zip(&b.files) {
        assert_eq!(fs::read(x).expect("a page"), fs::read(y).expect("a page"), "{}", x.display());
    }
}
