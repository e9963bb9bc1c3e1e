//! What a terminal gets: colours only there, and lines that fit.

use crate::inputs;
use crate::support::{call, skip};
use std::path::Path;
use std::process::{Command, Stdio};

/// Output of a call on a terminal of 80 columns, through `script` of util-linux.
fn on_terminal(folder: &Path, args: &str, variables: &[(&str, &str)]) -> Option<String> {
    let call = format!("stty cols 80; exec '{}' {args}", env!("CARGO_BIN_EXE_zwhy"));
    let mut command = Command::new("script");
    command.args(["-qec", &call, "/dev/null"]).current_dir(folder).stdin(Stdio::null());
    command.env_remove("NO_COLOR").env("TERM", "xterm-256color").envs(variables.iter().copied());
    let output = command.output().ok()?;
    assert!(output.status.success(), "{output:?}");
    Some(String::from_utf8(output.stdout).expect("UTF-8").replace("\r\n", "\n"))
}

#[test]
fn asking_survives_junk_and_the_end_of_the_input_and_counts_what_it_took() {
    let folder = inputs::bare_folder();
    let call = format!("stty -echo; exec '{}' ask", env!("CARGO_BIN_EXE_zwhy"));
    let mut command = Command::new("script");
    command.args(["-qec", &call, "/dev/null"]).current_dir(folder.path());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else {
        return skip("asking_survives_junk_and_the_end_of_the_input", "there is no `script` command");
    };
    let mut keys = child.stdin.take().expect("a pipe");
    let perf =
        "10.00%  z_wr_iss  [kernel.kallsyms]  [k] lz4_compress\n5.00%  z_wr_iss  [zfs]  [k] zio_execute\n";
    let text = format!("junk\n\u{1b}[2J99\n1\n\u{fffd}\u{7f}nothing known\n.\n{perf}.\n\u{4}");
    // A program that ends early closes the terminal.
    let _ = std::io::Write::write_all(&mut keys, text.as_bytes());
    drop(keys);
    let output = child.wait_with_output().expect("it ends");
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{shown}");
    assert!(shown.contains("`junk` is no number of the list"), "{shown}");
    assert!(shown.contains("WHY") || shown.contains("Nothing was taken in"), "{shown}");
    assert!(!shown.contains("\u{1b}[2J"), "{shown}");
}

const ESCAPE: char = '\u{1b}';

#[test]
fn colours_are_for_terminals_that_want_them() {
    let folder = inputs::bare_folder();
    let Some(coloured) = on_terminal(folder.path(), "explain ccm.folded", &[]) else {
        return skip("colours_are_for_terminals_that_want_them", "there is no `script` command");
    };
    assert!(coloured.contains(ESCAPE), "{coloured}");
    for refused in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let plain = on_terminal(folder.path(), "explain ccm.folded", &[refused]).expect("`script` is here");
        assert!(!plain.contains(ESCAPE) && plain.contains("WHY"), "{refused:?}: {plain}");
    }
    let empty =
        on_terminal(folder.path(), "explain ccm.folded", &[("NO_COLOR", "")]).expect("`script` is here");
    assert!(empty.contains(ESCAPE), "an empty NO_COLOR refuses nothing");
    for args in ["explain ccm.folded", "explain -v ccm.folded", "top-functions ccm.folded", "knowledge list"]
    {
        assert!(!call(folder.path(), args).ok().contains(ESCAPE), "{args}");
    }
}

#[test]
fn the_text_is_the_same_with_and_without_colour() {
    let folder = inputs::bare_folder();
    let Some(coloured) = on_terminal(folder.path(), "explain -v ccm.folded", &[]) else {
        return skip("the_text_is_the_same_with_and_without_colour", "there is no `script` command");
    };
    // The mark of a stage is its colour: without colour its place is blank.
    let text = without_colour(&coloured).replace('■', " ");
    assert_eq!(text, call(folder.path(), "explain -v ccm.folded").ok());
}

/// `text` without sequences from an escape to an `m`.
fn without_colour(text: &str) -> String {
    let mut parts = text.split(ESCAPE);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.filter_map(|part| part.split_once('m')).fold(first, |text, (_, rest)| text + rest)
}

#[test]
fn tables_fit_the_terminal_and_are_whole_in_a_pipe() {
    let folder = inputs::bare_folder();
    let long = "very_long_name_of_a_function_".repeat(8);
    std::fs::write(folder.path().join("long.folded"), format!("dd;{long} 5\n")).expect("a file");
    for args in ["top-functions long.folded", "diff long.folded ccm.folded", "knowledge list"] {
        let Some(text) = on_terminal(folder.path(), args, &[]) else {
            return skip("tables_fit_the_terminal_and_are_whole_in_a_pipe", "there is no `script` command");
        };
        let widest = without_colour(&text).lines().map(|l| l.chars().count()).max();
        assert!(widest.is_some_and(|w| w <= 80), "{args}: {widest:?} {text}");
    }
    assert!(call(folder.path(), "top-functions long.folded").ok().contains(&long));
    assert!(call(folder.path(), "diff long.folded ccm.folded").ok().contains(&long));
}

#[test]
fn data_for_other_tools_is_made_harmless_on_a_terminal() {
    let folder = inputs::bare_folder();
    let Some(text) = on_terminal(folder.path(), "export hostile.folded", &[]) else {
        return skip("data_for_other_tools_is_made_harmless_on_a_terminal", "there is no `script` command");
    };
    assert_eq!(crate::support::obeyed(&text), [], "{text:?}");
}

#[test]
fn an_answer_is_at_most_80_columns_wide() {
    let folder = inputs::bare_folder();
    for input in ["ccm.folded", "plain.folded", "evidence.json", "pasted.txt", "hostile.folded"] {
        for form in ["", "-v "] {
            let text = call(folder.path(), &format!("explain {form}{input}")).ok();
            // An address cannot be broken.
            let wide = text.lines().find(|l| l.chars().count() > 80 && !l.contains("https://"));
            assert_eq!(wide, None, "explain {form}{input}");
        }
    }
}
