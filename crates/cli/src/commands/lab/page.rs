//! `zwhy lab report`: the result of an experiment as one offline page.

use crate::load::{ReadArgs, answer, display_name, load};
use crate::output;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use zwhy_diagnose::Knowledge;
use zwhy_flame::stage_colour;
use zwhy_lab::{ExperimentResult, LabPage, Likeness, PageCapture, PageCommand, StageShare};
use zwhy_report::shell_word;

#[derive(clap::Args, Debug)]
pub struct ReportArgs {
    /// Output folder of an experiment.
    folder: PathBuf,
    /// Page to write, X.html; `-` is standard output.
    #[arg(short, long)]
    output: PathBuf,
}

/// CPU time in which nobody ran.
pub const IDLE: &str = "idle";

pub fn report(args: &ReportArgs) -> Result<ExitCode> {
    output::check(&args.output, &["html", "htm"], "this writes a page: name it X.html")?;
    let result = ExperimentResult::read(&args.folder)?;
    let knowledge = Knowledge::embedded();
    let mut gone: Vec<String> = Vec::new();
    let mut page = LabPage::of(&result, |capture| {
        let path = args.folder.join(&capture.path);
        if !path.exists() {
            gone.push(display_name(&path));
            return Ok(None);
        }
        stages(&path, &knowledge).map(Some)
    })?;
    if !gone.is_empty() {
        output::note(&format!(
            "CPU by stage is without {}: no such capture in {}",
            gone.join(", "),
            args.folder.display()
        ));
    }
    page.commands = commands(&result, &args.folder);
    page.captures = captures(&result, &args.folder);
    output::write_result(&args.output, zwhy_report::lab_page(&page)?.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// The stages of one capture; idle time is no cost.
fn stages(path: &Path, knowledge: &Knowledge) -> Result<Vec<StageShare>> {
    let imported =
        load(path, &ReadArgs::default()).with_context(|| format!("cannot read {}", path.display()))?;
    let answer = answer(&imported, knowledge, &display_name(path));
    let busy = answer.stages.into_iter().filter(|row| row.stage != IDLE);
    let share = |row: zwhy_diagnose::StageRow| StageShare {
        colour: stage_colour(&row.stage).to_owned(),
        share: row.share.value,
        stage: row.stage,
    };
    Ok(busy.map(share).collect())
}

/// How it was run, and how to run, check and compare it again.
fn commands(result: &ExperimentResult, folder: &Path) -> Vec<PageCommand> {
    let named = |what: &str, command: String| PageCommand { what: what.to_owned(), command };
    let mut commands = Vec::new();
    if let Some((_, words)) = result.command.split_first() {
        let words: Vec<String> = words.iter().map(|word| argument(word)).collect();
        commands.push(named("As it was run", format!("zwhy {}", words.join(" "))));
        // What went on with an interrupted experiment names no experiment.
        if words.get(1).is_some_and(|verb| verb == "run") && !has_seed(&result.command) {
            let again = format!("zwhy {} --seed {}", words.join(" "), result.seed);
            commands.push(named("In the same order again (into another folder)", again));
        }
        if let Some(like) = &result.like {
            let words: Vec<String> =
                without_capture(&result.command, like).iter().map(|w| argument(w)).collect();
            let again = format!("zwhy {}", words.join(" "));
            commands.push(named(&format!("With these settings, without {}", like.capture), again));
        }
    }
    let folder = shell_word(&folder.display().to_string());
    commands.push(named("Whether the expected signature is there", format!("zwhy lab check {folder}")));
    commands.push(named("Beside another result, cell by cell", format!("zwhy lab compare {folder} OTHER")));
    commands
}

/// The words of a command with the settings of a capture in its place; without the program.
fn without_capture(command: &[String], like: &Likeness) -> Vec<String> {
    const OF_CAPTURES: [&str; 2] = ["--like", "--like-dataset"];
    let mut words = Vec::new();
    let mut given = command.iter().skip(1);
    while let Some(word) = given.next() {
        if OF_CAPTURES.contains(&word.as_str()) {
            given.next();
        } else if !OF_CAPTURES.iter().any(|option| word.starts_with(&format!("{option}="))) {
            words.push(word.clone());
        }
    }
    words.extend(like.settings().flat_map(|setting| ["--set".to_owned(), setting]));
    words
}

/// An option keeps its hyphens: only names are protected from being taken for one.
fn argument(word: &str) -> String {
    let name = word.trim_start_matches('-');
    if name.is_empty() {
        shell_word(word)
    } else {
        format!("{}{}", &word[..word.len() - name.len()], shell_word(name))
    }
}

fn has_seed(command: &[String]) -> bool {
    command.iter().any(|word| word == "--seed" || word.starts_with("--seed="))
}

fn captures(result: &ExperimentResult, folder: &Path) -> Vec<PageCapture> {
    let of_run = |run: &zwhy_lab::RunResult| {
        let captures = run.steps.iter().filter_map(|step| {
            let file = folder.join(&step.capture.as_ref()?.path);
            Some(PageCapture {
                cell: run.variant.clone(),
                step: step.name.clone(),
                repetition: run.repetition,
                file: shell_word(&file.display().to_string()),
            })
        });
        captures.collect::<Vec<_>>()
    };
    result.runs.iter().flat_map(of_run).collect()
}
