//! What finished experiments come to.

use super::FolderArgs;
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
        false => output::print(&zwhy_lab::table(&result))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Exit status 1 when an expectation fails, was not measured, or a run failed.
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
        output::print(&(lines.join("\n") + "\n"))?;
    }
    let good = checks.iter().all(|check| check.outcome == Outcome::Holds) && result.failed.is_empty();
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

pub fn compare(args: &CompareArgs) -> Result<ExitCode> {
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
    output::print(&format!("{head}\n{}\n", grid.lines(output::width()).join("\n")))?;
    Ok(ExitCode::SUCCESS)
}
