//! Examples of every command, for `--help`, the manual and the tests that parse them: the file `help/examples.txt`, a
//! command by its words, below it what an example is for, and the line.

use clap::Command;

/// One line as it is typed, and what it is for.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// Ends without a full stop; a colon follows.
    pub what: &'static str,
    pub line: &'static str,
}

/// The examples of a command, by its words after `zwhy`: `record`, `lab run`; the program's own by the empty text.
pub fn examples_of(path: &str) -> Vec<Example> {
    let mut lines = include_str!("../help/examples.txt").lines().skip_while(|line| *line != path).skip(1);
    std::iter::from_fn(|| {
        let what = lines.next()?.strip_prefix("  ")?;
        Some(Example { what, line: lines.next()?.trim_start() })
    })
    .collect()
}

/// The definition with the examples of each command below its options.
pub fn add(program: Command) -> Command {
    add_below(program, "")
}

fn add_below(command: Command, path: &str) -> Command {
    let command = command.mut_subcommands(|sub| {
        let path = format!("{path} {}", sub.get_name()).trim_start().to_owned();
        add_below(sub, &path)
    });
    match examples_of(path) {
        none if none.is_empty() => command,
        examples => command.after_help(text(&examples)),
    }
}

fn text(examples: &[Example]) -> String {
    let mut text = "Examples:".to_owned();
    for example in examples {
        text.push_str(&format!("\n  {}:\n    {}", example.what, example.line));
    }
    text
}
