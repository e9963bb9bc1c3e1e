//! What finished experiments come to.

use super::{FolderArgs, print_text};
use crate::failure::usage;
use crate::output;
use anyhow::Result;
use std::path::PathBuf;
use std::process::ExitCode;
use zwhy_lab::{ExperimentResult, Outcome};
use zwhy_report::{Align, Grid};

#[derive(clap::Args, Debug)]
pub struct CompareArgs {
    /// Output folder of the first experiment.
    first: PathBuf,
    /// Output folder of the second one.
    second: PathBuf,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

pub fn result(args: &FolderArgs) -> Result<ExitCode> {
    let result = ExperimentResult::read(&args.folder)?;
    match args.json {
        true => output::print(&(serde_json::to_string_pretty(&result)? + "\n"))?,
        false => print_text(&zwhy_lab::table(&result))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Exit status 1 when an expectation fails, was not measured, or a run failed or is still to come.
pub fn check(args: &FolderArgs) -> Result<ExitCode> {
    let result = ExperimentResult::read(&args.folder)?;
    let checks = zwhy_lab::check(&result);
    if args.json {
        output::print(&(serde_json::to_string_pretty(&checks)? + "\n"))?;
    } else {
        let mut grid = Grid::new(0, &[Align::Left, Align::Left]);
        for check in &checks {
            let word = match check.outcome {
                Outcome::Holds => "ok",
                Outcome::Fails => "FAIL",
                Outcome::NotMeasured => "?",
            };
            grid.row([word, &format!("{}: {}", check.say, check.found)]);
        }
        let mut lines = grid.lines(output::width());
        lines.extend(result.failed.iter().map(|f| format!("FAIL {} ended early: {}", f.variant, f.error)));
        if checks.is_empty() {
            lines.push("This experiment expects nothing that could be checked.".into());
        }
        print_text(&lines.join("\n"))?;
    }
    let missing = zwhy_lab::runs_to_come(&args.folder)?;
    if missing > 0 {
        output::note(&format!(
            "unfinished: {missing} more runs were planned; zwhy lab resume {} goes on with them",
            zwhy_report::shell_word(&args.folder.display().to_string())
        ));
    }
    let good = checks.iter().all(|check| check.outcome == Outcome::Holds);
    let good = good && result.failed.is_empty() && missing == 0;
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

pub fn compare(args: &CompareArgs) -> Result<ExitCode> {
    let same = std::fs::canonicalize(&args.first).ok();
    if same.is_some() && same == std::fs::canonicalize(&args.second).ok() {
        return Err(usage(format!("both are the folder {}; name two results", args.first.display())));
    }
    let (first, second) = (ExperimentResult::read(&args.first)?, ExperimentResult::read(&args.second)?);
    let compared = zwhy_lab::compare(&first, &second).map_err(usage)?;
    if args.json {
        output::print(&(serde_json::to_string_pretty(&compared)? + "\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut grid = Grid::new(0, &[Align::Left, Align::Left]);
    for cell in &compared {
        grid.row([cell.variant.as_str(), &cell.verdict]);
    }
    let head = format!(
        "{} in {}, the second result over the first:",
        first.figure.measure.unit(),
        first.figure.step
    );
    print_text(&format!("{head}\n{}", grid.lines(output::width()).join("\n")))?;
    Ok(ExitCode::SUCCESS)
}
