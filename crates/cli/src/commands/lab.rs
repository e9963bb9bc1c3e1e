//! `zwhy lab`: experiments on real OpenZFS.

use crate::failure::usage;
use crate::lab_recorder::LabRecorder;
use crate::load::{ReadArgs, answer, display_name, load};
use crate::{output, progress, stop};
use anyhow::{Context, Result, bail};
use indicatif::ProgressBar;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use zwhy_diagnose::{Answer, Knowledge};
use zwhy_lab::{ChildProgram, Experiment, ExperimentResult, RunOptions, Size, Step};
use zwhy_report::{Align, Grid};

/// The word that makes this program the process in which OpenZFS runs.
const CHILD: &str = "lab-child";

#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// List the experiments that are built in.
    List,
    /// Run an experiment, record each of its phases and say what the captures show.
    Run(RunArgs),
}

#[derive(clap::Args, Debug)]
struct RunArgs {
    /// Name of a built-in experiment, or a specification file (X.toml).
    experiment: String,
    /// Less data and one repetition: about a minute.
    #[arg(long)]
    quick: bool,
    /// Folder for captures and result.json; new or empty.
    #[arg(short, long, default_value = "zwhy-lab")]
    output: PathBuf,
    /// Folder for the pool, new or empty; emptied afterwards. Default: inside the output folder.
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// The libzpool to run instead of the one that is installed.
    #[arg(long, value_name = "FILE")]
    library: Option<PathBuf>,
    /// Seed for the order of the runs, to repeat an experiment exactly.
    #[arg(long)]
    seed: Option<u64>,
    /// Samples a second while recording.
    #[arg(short = 'F', long = "frequency", value_name = "HZ", default_value_t = 499,
          value_parser = clap::value_parser!(u32).range(1..=4999))]
    hz: u32,
    /// Explain this capture in full, such as aes-256-ccm-read, instead of the one with the strongest finding.
    #[arg(long, value_name = "CAPTURE", conflicts_with_all = ["no_record", "json"])]
    explain: Option<String>,
    /// Measure only; record no captures.
    #[arg(long)]
    no_record: bool,
    /// Print the result as JSON instead of tables.
    #[arg(long)]
    json: bool,
}

/// Runs OpenZFS and returns when this process was started for that; before arguments are parsed,
/// so that nothing else of the program runs beside it.
pub fn child() -> Option<ExitCode> {
    let is_child = std::env::args_os().nth(1).is_some_and(|word| word == OsStr::new(CHILD));
    is_child.then(|| ExitCode::from(u8::try_from(zwhy_lab::child_main()).unwrap_or(1)))
}

pub fn run(args: &Args) -> Result<()> {
    match &args.command {
        Command::List => list(),
        Command::Run(args) => run_experiment(args),
    }
}

fn list() -> Result<()> {
    let mut grid = Grid::new(0, &[Align::Left, Align::Left]);
    for name in Experiment::builtin_names() {
        grid.row([name, &Experiment::builtin(name)?.question]);
    }
    output::print(&(grid.lines(output::width()).join("\n") + "\n"))
}

fn run_experiment(args: &RunArgs) -> Result<()> {
    let experiment = if args.experiment.ends_with(".toml") {
        Experiment::from_file(Path::new(&args.experiment))?
    } else {
        Experiment::builtin(&args.experiment)?
    };
    zwhy_place::check_name(&args.output, &[], "this writes a folder of captures: name it without an ending")
        .map_err(|e| usage(e.to_string()))?;
    refuse_used(&args.output)?;
    let mut options = RunOptions::new(&args.output, ChildProgram::this([CHILD]));
    options.size = if args.quick { Size::Quick } else { Size::Full };
    options.scratch.clone_from(&args.scratch);
    options.library.clone_from(&args.library);
    options.seed = args.seed;
    options.command = std::env::args().collect();
    options.cancel = stop::flag()?;
    let mut shown = Shown { bar: progress::bar(0, "{msg} {bar:20} {bytes}/{total_bytes}") };
    let result = if args.no_record {
        zwhy_lab::run(&experiment, &options, &mut zwhy_lab::NullRecorder, &mut shown)
    } else {
        zwhy_lab::run(&experiment, &options, &mut LabRecorder::new(args.hz), &mut shown)
    };
    shown.bar.finish_and_clear();
    let result = result?;
    if args.json {
        return output::print(&(serde_json::to_string_pretty(&result)? + "\n"));
    }
    output::print(&zwhy_lab::table(&result))?;
    explain_captures(&result, args)
}

/// Captures of two experiments in one folder could not be told apart.
fn refuse_used(folder: &Path) -> Result<()> {
    match std::fs::read_dir(folder).ok().and_then(|mut entries| entries.next()) {
        Some(Ok(entry)) => bail!(
            "the output folder {} is not empty ({}); name a new one with -o, or empty it",
            folder.display(),
            entry.file_name().display()
        ),
        _ => Ok(()),
    }
}

/// What each capture shows in a line, and in full the one whose finding weighs most.
fn explain_captures(result: &ExperimentResult, args: &RunArgs) -> Result<()> {
    let knowledge = Knowledge::embedded();
    let mut grid = Grid::new(2, &[Align::Left, Align::Left, Align::Right, Align::Left]);
    let first = result.runs.iter().map(|r| r.repetition).min();
    let mut weightiest: Option<(f64, Answer, PathBuf)> = None;
    for run in result.runs.iter().filter(|r| Some(r.repetition) == first) {
        for phase in &run.phases {
            let Some(capture) = &phase.capture else { continue };
            let path = args.output.join(&capture.path);
            let imported = load(&path, &ReadArgs::default())
                .with_context(|| format!("cannot explain {}", path.display()))?;
            let answer = answer(&imported, &knowledge, &display_name(&path));
            let top = answer.findings.first();
            let share = top.and_then(|f| f.share).map_or(0.0, |s| s.value);
            grid.row([
                run.variant.as_str(),
                phase.phase.name(),
                &if share > 0.0 { format!("{:.0} %", share * 100.0) } else { String::new() },
                top.map_or("no known cause", |f| f.title.as_str()),
            ]);
            let weight = match &args.explain {
                Some(name) if path.file_stem().is_some_and(|stem| stem == name.as_str()) => f64::INFINITY,
                Some(_) => 0.0,
                None => top.map_or(0.0, |f| f.confidence * share),
            };
            if weight > weightiest.as_ref().map_or(0.0, |(w, ..)| *w) {
                weightiest = Some((weight, answer, path));
            }
        }
    }
    if grid.is_empty() {
        return Ok(());
    }
    let style = output::style();
    let mut text = format!("\n{}\n{}\n", style.bold("What the captures show"), grid.lines(80).join("\n"));
    if let (Some(name), None) = (&args.explain, &weightiest) {
        let folder = args.output.display();
        output::note(&format!("no capture is called {name}; those of {folder} can be given to zwhy explain"));
    }
    if let Some((_, answer, path)) = weightiest {
        text.push('\n');
        text.push_str(&zwhy_report::answer_text(&answer, false, &path.display().to_string(), style));
    }
    output::print(&text)
}

/// The current phase on a progress bar.
struct Shown {
    bar: ProgressBar,
}

impl zwhy_lab::Progress for Shown {
    fn step(&mut self, step: &Step<'_>) {
        self.bar.set_message(format!("run {}/{} {} {}", step.run, step.runs, step.variant, step.phase));
        self.bar.set_position(0);
    }

    fn bytes(&mut self, done: u64, total: u64) {
        self.bar.set_length(total);
        self.bar.set_position(done);
    }
}
