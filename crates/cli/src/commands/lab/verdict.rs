//! What finished experiments come to.

use super::{FolderArgs, print_text};
use crate::failure::usage;
use crate::output;
use anyhow::Result;
use std::collections::BTreeMap;
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

#[derive(clap::Args, Debug)]
pub struct ResultArgs {
    #[command(flatten)]
    folder: FolderArgs,
    #[command(flatten)]
    at: AtArgs,
}

/// Sizes to predict the cost at.
#[derive(clap::Args, Debug)]
pub struct AtArgs {
    /// Say what the laws of --grow predict at this size: n=10000. Where two factors grew, once for each.
    #[arg(long = "at", value_name = "FACTOR=N", conflicts_with = "json")]
    at: Vec<String>,
}

impl AtArgs {
    /// # Errors
    /// A size that is none.
    fn sizes(&self) -> Result<BTreeMap<String, f64>> {
        let size = |text: &String| {
            let (name, size) = text.split_once('=')?;
            let size = size.trim().parse::<f64>().ok().filter(|size| size.is_finite() && *size > 0.0)?;
            Some((name.trim().to_owned(), size))
        };
        let wrong = |text: &String| {
            usage(format!("--at {text}: write FACTOR=N with a number above 0, as in n=10000"))
        };
        self.at.iter().map(|text| size(text).ok_or_else(|| wrong(text))).collect()
    }
}

/// What the laws of a result predict, after an empty line; nothing where no sizes are asked for.
fn predicted(result: &ExperimentResult, at: &BTreeMap<String, f64>) -> Result<String> {
    if at.is_empty() {
        return Ok(String::new());
    }
    let told = zwhy_lab::predict(result, at).map_err(|what| usage(format!("--at: {what}")))?;
    Ok(format!("\n{}\n", told.join("\n")))
}

pub fn result(args: &ResultArgs) -> Result<ExitCode> {
    let sizes = args.at.sizes()?;
    let ResultArgs { folder: args, .. } = args;
    let result = ExperimentResult::read(&args.folder)?;
    let predicted = predicted(&result, &sizes)?;
    if args.json {
        output::print(&(serde_json::to_string_pretty(&result)? + "\n"))?;
    } else {
        print_text(&(zwhy_lab::table(&result) + &predicted))?;
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
