//! The pages: section 1 for each command, section 7 for each topic, and a completion for each shell.
//!
//! Invariant: the same program gives the same bytes, wherever and whenever.

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;
use roff::{Roff, bold, roman};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use zwhy_cli::{Topic, definition, examples_of, topics};

/// Shown at the bottom of a page.
const SOURCE: &str = concat!("zwhy ", env!("CARGO_PKG_VERSION"));

/// Writes `man/` and `completions/` below `folder`; returns the files.
///
/// # Errors
/// When a folder or a file cannot be written.
pub fn write(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let (man, completions) = (folder.join("man"), folder.join("completions"));
    fs::create_dir_all(&man)?;
    fs::create_dir_all(&completions)?;
    let mut files = Vec::new();
    let mut put = |path: PathBuf, bytes: &[u8]| {
        fs::write(&path, bytes)?;
        files.push(path);
        io::Result::Ok(())
    };
    let mut program = definition();
    program.build();
    for (path, command) in with_all_below(&program, "") {
        let name = format!("zwhy {path}").trim_end().replace(' ', "-");
        put(man.join(format!("{name}.1")), &command_page(command, &path)?)?;
    }
    for topic in topics() {
        put(man.join(format!("zwhy-{}.7", topic.name)), &topic_page(topic)?)?;
    }
    for (shell, file) in [(Shell::Bash, "zwhy"), (Shell::Zsh, "_zwhy"), (Shell::Fish, "zwhy.fish")] {
        let mut bytes = Vec::new();
        clap_complete::generate(shell, &mut definition(), "zwhy", &mut bytes);
        put(completions.join(file), &bytes)?;
    }
    Ok(files)
}

/// A command and all below it, each with the words that call it.
fn with_all_below<'a>(command: &'a Command, path: &str) -> Vec<(String, &'a Command)> {
    let mut all = vec![(path.to_owned(), command)];
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        all.extend(with_all_below(sub, format!("{path} {}", sub.get_name()).trim_start()));
    }
    all
}

fn command_page(command: &Command, path: &str) -> io::Result<Vec<u8>> {
    let man = Man::new(command.clone()).source(SOURCE).manual("zwhy").date("");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    man.render_options_section(&mut page)?;
    examples(path).to_writer(&mut page)?;
    see_also(path).to_writer(&mut page)?;
    Ok(page)
}

fn examples(path: &str) -> Roff {
    let mut roff = Roff::new();
    let all = examples_of(path);
    if all.is_empty() {
        return roff;
    }
    roff.control("SH", ["EXAMPLES"]);
    for example in all {
        roff.control("TP", []);
        roff.text([roman(format!("{}:", example.what))]);
        // Spaces of a command are not stretched.
        roff.control("nf", []);
        roff.text([bold(example.line)]);
        roff.control("fi", []);
    }
    roff
}

fn see_also(path: &str) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["SEE ALSO"]);
    let mut names: Vec<String> = topics().iter().map(|t| format!("zwhy-{}(7)", t.name)).collect();
    if !path.is_empty() {
        names.insert(0, "zwhy(1)".to_owned());
    }
    roff.text([roman(names.join(", "))]);
    roff
}

/// The text as it is: its columns mean something.
fn topic_page(topic: &Topic) -> io::Result<Vec<u8>> {
    let name = format!("zwhy-{}", topic.name);
    let mut roff = Roff::new();
    roff.control("TH", [name.as_str(), "7", "", SOURCE, "zwhy"]);
    roff.control("SH", ["NAME"]);
    roff.text([roman(format!("{name} - {}", topic.title()))]);
    roff.control("SH", ["DESCRIPTION"]);
    // 80 columns are all that a terminal has for certain.
    roff.control("in", ["0"]);
    roff.control("nf", []);
    for line in topic.text().lines().skip(1).skip_while(|line| line.is_empty()) {
        match line {
            "" => roff.control("sp", []),
            line => roff.text([roman(line)]),
        };
    }
    roff.control("fi", []);
    let mut page = Vec::new();
    roff.to_writer(&mut page)?;
    page.extend(b".SH SEE ALSO\nzwhy(1)\n");
    Ok(page)
}
