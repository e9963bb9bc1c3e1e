//! `zwhy ask`: what to look at when there is no profile yet, and what the outputs say so far.

use crate::failure::usage;
use crate::load::answer;
use crate::output;
use anyhow::{Context, Result};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::PathBuf;
use zwhy_diagnose::{Checklist, Knowledge, Ranked, Symptom};
use zwhy_evidence::Imported;
use zwhy_formats::{ImportOptions, Input};
use zwhy_report::{labelled, plain, wrap};

const WIDTH: usize = 80;
const SHOWN: usize = 6;

#[derive(clap::Args, Debug)]
pub struct Args {
    /// What is wrong; without it the symptoms are listed to choose from.
    symptom: Option<String>,
    /// Go through every command that can help, not only the most informative ones.
    #[arg(long)]
    all: bool,
    /// Keep what is pasted in this file; `zwhy explain` reads it.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    knowledge: super::knowledge::KnowledgeArgs,
}

pub fn run(args: &Args) -> Result<()> {
    if let Some(path) = &args.output {
        output::check(path, &["md", "markdown"], "this keeps text: name it X.txt")?;
    }
    let list = Checklist::embedded()?;
    let knowledge = args.knowledge.load()?;
    let talk = io::stdin().is_terminal() && io::stdout().is_terminal();
    let symptom = match &args.symptom {
        Some(name) => Some(list.symptom(name).ok_or_else(|| unknown(name, &list))?),
        None if talk => choose(&list)?,
        None => return output::print(&symptoms(&list)),
    };
    let Some(symptom) = symptom else { return Ok(()) };
    let ranked = list.ranked(symptom, &knowledge);
    let shown = if args.all { ranked.len() } else { SHOWN.min(ranked.len()) };
    if talk {
        return go_through(&ranked[..shown], &knowledge, args);
    }
    let mut text = format!("{}\n", output::style().bold(&symptom.title));
    for (number, check) in ranked[..shown].iter().enumerate() {
        text.push_str(&described(number + 1, check));
    }
    if shown < ranked.len() {
        text.push_str(&format!("\n{} more with --all.", ranked.len() - shown));
    }
    output::print(&(text + "\nPut what they print into one file: zwhy explain FILE\n"))
}

fn unknown(name: &str, list: &Checklist) -> anyhow::Error {
    let names: Vec<&str> = list.symptoms.iter().map(|s| s.name.as_str()).collect();
    usage(format!("no symptom is called `{name}`; use one of {}", names.join(", ")))
}

fn symptoms(list: &Checklist) -> String {
    let mut text = format!("{}\n", output::style().bold("What is wrong?"));
    for (number, symptom) in list.symptoms.iter().enumerate() {
        text.push_str(&labelled(&format!("{:>2}", number + 1), 3, &symptom.title, WIDTH));
        text.push_str(&format!("    {}\n", output::style().dim(&format!("zwhy ask {}", symptom.name))));
    }
    text
}

/// `None` when the input ends.
fn choose(list: &Checklist) -> Result<Option<&Symptom>> {
    output::print(&symptoms(list))?;
    loop {
        output::print(&format!("Number (1–{}, q ends): ", list.symptoms.len()))?;
        let Some(line) = read_line()? else {
            output::print("\n")?;
            return Ok(None);
        };
        let word = line.trim();
        if word == "q" {
            return Ok(None);
        }
        let at = word.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
        if let Some(symptom) = at.and_then(|at| list.symptoms.get(at)).or_else(|| list.symptom(word)) {
            return Ok(Some(symptom));
        }
        output::print(&format!("`{}` is no number of the list.\n", plain(word)))?;
    }
}

/// The command with what to look for and how many causes it tells of.
fn described(number: usize, ranked: &Ranked<'_>) -> String {
    let check = ranked.check;
    let (causes, root) = (ranked.tells_of.len(), if check.root { ", as root" } else { "" });
    let causes = if causes == 1 { "1 cause".to_owned() } else { format!("{causes} causes") };
    let head = format!("{number}. {} ({} s{root}; tells of {causes})", check.name, check.seconds);
    let mut text = format!("\n{}\n", output::style().bold(&head));
    // Commands are for copying: never broken.
    text.push_str(&format!("   {}\n", check.command));
    for line in wrap(&check.look_for, WIDTH - 3) {
        text.push_str(&format!("   {}\n", output::style().dim(&line)));
    }
    text
}

/// Shows each command, reads what it printed, and says what it all means so far.
fn go_through(checks: &[Ranked<'_>], knowledge: &Knowledge, args: &Args) -> Result<()> {
    let mut keep = args.output.as_ref().map(append_to).transpose()?;
    let mut pasted = String::new();
    for (number, check) in checks.iter().enumerate() {
        output::print(&described(number + 1, check))?;
        output::print("Paste what it prints, then a line with only a full stop (Enter: skip, q: end)\n> ")?;
        let Some(text) = read_block()? else { break };
        if text.trim().is_empty() {
            continue;
        }
        let block = format!("$ {}\n{text}\n", check.check.command);
        // What cannot be read is not kept either; the next command may tell more.
        match read(&block, knowledge) {
            Ok(imported) => output::note(&zwhy_report::stats_text("taken", &imported.stats)),
            Err(error) => {
                let why = crate::failure::text(&error);
                let told = format!("Nothing of that could be used, and it is left out: {why}");
                output::note(zwhy_report::labelled("", 0, &plain(&told), WIDTH).trim_end());
                continue;
            }
        }
        if let Some(file) = &mut keep {
            file.write_all(block.as_bytes()).context("cannot keep what was pasted")?;
        }
        pasted.push_str(&block);
        let answer = answer(&read(&pasted, knowledge)?, knowledge, "what was pasted");
        output::print(&labelled("So far", 7, &plain(&answer.why), WIDTH))?;
    }
    if pasted.is_empty() {
        return output::print("\nNothing was taken in.\n");
    }
    let all = read(&pasted, knowledge)?;
    output::print("\n")?;
    output::note(&zwhy_report::stats_text("all that was pasted", &all.stats));
    let answer = answer(&all, knowledge, "what was pasted");
    output::print(&format!("\n{}", zwhy_report::answer_text(&answer, false, "-", output::style())))?;
    match &args.output {
        Some(path) => output::print(&format!("\nKept in {}\n", plain(&path.display().to_string()))),
        None => Ok(()),
    }
}

fn append_to(path: &PathBuf) -> Result<File> {
    let file = OpenOptions::new().create(true).append(true).open(path);
    file.with_context(|| format!("cannot write {}", path.display()))
}

fn read(pasted: &str, knowledge: &Knowledge) -> Result<Imported> {
    let options = ImportOptions {
        format: Some("pasted".to_owned()),
        tools: Some(knowledge.tools.clone()),
        ..ImportOptions::default()
    };
    let input = Input::from_reader("what was pasted", pasted.as_bytes(), &options.limits)?;
    Ok(zwhy_formats::import(input, &options)?)
}

fn read_line() -> Result<Option<String>> {
    let mut line = Vec::new();
    let read = io::stdin().lock().read_until(b'\n', &mut line).context("cannot read the terminal")?;
    Ok((read > 0).then(|| String::from_utf8_lossy(&line).into_owned()))
}

/// Lines up to one with only a full stop; `None` for `q` or the end of the input at the start.
fn read_block() -> Result<Option<String>> {
    let mut text = String::new();
    loop {
        let Some(line) = read_line()? else { return Ok((!text.is_empty()).then_some(text)) };
        match line.trim_end() {
            "q" if text.is_empty() => return Ok(None),
            "" if text.is_empty() => return Ok(Some(text)),
            "." => return Ok(Some(text)),
            _ => text.push_str(&line),
        }
    }
}
