//! `zwhy lab`: experiments on real OpenZFS.

mod accelerators;
mod captures;
mod cleanup;
mod functions;
mod kept;
mod like;
mod line;
mod page;
mod plan;
mod runs;
mod show;
mod shown;
mod verdict;
mod vm;

use anyhow::Result;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::ExitCode;

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
    /// Say in words what an experiment does, and the time, disk and memory it will take.
    Show(show::ShowArgs),
    /// Run an experiment, record its steps and say what the captures show.
    Run(runs::RunArgs),
    /// Go on with an experiment that was cut off; finished runs stay as they are.
    Resume(runs::ResumeArgs),
    /// Print the result of an experiment again.
    Result(verdict::ResultArgs),
    /// Say whether an experiment showed what it was expected to show; exit status 1 when not.
    Check(FolderArgs),
    /// Read the pools back that lab run --keep kept, and compare every byte; exit status 1 when one is wrong.
    Verify(kept::VerifyArgs),
    /// Compare two results of the same experiment, cell by cell.
    Compare(verdict::CompareArgs),
    /// Write the result as one offline page: the answer, every run, CPU by stage, order, noise and commands.
    Report(page::ReportArgs),
    /// Take away what killed experiments with --engine pool left on this host.
    Cleanup(cleanup::CleanupArgs),
}

#[derive(clap::Args, Debug)]
struct FolderArgs {
    /// Output folder of an experiment.
    folder: PathBuf,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

/// Runs OpenZFS and returns when this process was started for that; before arguments are parsed,
/// so that nothing else of the program runs beside it.
pub fn child() -> Option<ExitCode> {
    let is_child = std::env::args_os().nth(1).is_some_and(|word| word == OsStr::new(CHILD));
    is_child.then(|| ExitCode::from(u8::try_from(zwhy_lab::child_main()).unwrap_or(1)))
}

/// Prints lines that hold names of a specification or a result, which may be of strangers.
fn print_text(text: &str) -> Result<()> {
    crate::output::print(&(zwhy_report::plain_lines(text) + "\n"))
}

pub fn run(args: &Args) -> Result<ExitCode> {
    match &args.command {
        Command::List => show::list(),
        Command::Show(args) => show::show(args),
        Command::Run(args) => runs::run(args),
        Command::Resume(args) => runs::resume(args),
        Command::Result(args) => verdict::result(args),
        Command::Check(args) => verdict::check(args),
        Command::Verify(args) => kept::verify(args),
        Command::Compare(args) => verdict::compare(args),
        Command::Report(args) => page::report(args),
        Command::Cleanup(args) => cleanup::run(args),
    }
}
