//! `zwhy`: why is ZFS eating my CPU?
//!
//! The program as a library: [`run`] is all of it, [`definition`] what its manual is made from.

mod commands;
mod drawing;
mod examples;
mod failure;
mod lab_recorder;
mod load;
mod output;
mod progress;
mod stop;
mod topics;
mod version;
mod welcome;

pub use examples::{Example, examples_of};
pub use topics::{Topic, topics};

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::io::IsTerminal;
use std::process::ExitCode;

/// Records what an OpenZFS host does, names the root cause of a performance problem with its
/// evidence, and proves the remedy on real OpenZFS.
#[derive(Parser, Debug)]
#[command(
    name = "zwhy",
    version,
    propagate_version = true,
    disable_help_subcommand = true,
    max_term_width = 100
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}
#[derive(Subcommand, Debug)]
enum Command {
    /// Record what runs on the CPUs of this host, of a process or of a command.
    Record(commands::record::Args),
    /// Watch the host: verdict, CPU by stage, datasets, disks, ARC, second by second.
    Top(commands::top::Args),
    /// Record all the time into a folder that keeps the last hours, and say what is found.
    Agent(commands::agent::Args),
    /// Count calls of a function by caller.
    Count(commands::count::Args),
    /// Say why the CPU is busy: cause, evidence, remedy.
    Explain(commands::explain::Args),
    /// Write answer and flame graph as one offline page.
    Report(commands::report::Args),
    /// Show the page of one or several inputs in the browser, from this machine to this machine.
    View(commands::view::Args),
    /// Draw a flame graph.
    Flame(commands::flame::Args),
    /// List functions by self and total samples.
    TopFunctions(commands::top_functions::Args),
    /// Show what really changed between two profiles.
    Diff(commands::diff::Args),
    /// Read files of other tools into a capture.
    Import(commands::import::Args),
    /// Write a capture or profile in another tool's format.
    Export(commands::export::Args),
    /// Write a capture without names and its answer, for showing to strangers.
    Share(commands::share::Args),
    /// Run an experiment on real OpenZFS.
    Lab(commands::lab::Args),
    /// Measure what one CPU of this machine can do; kept for later captures.
    Limits(commands::limits::Args),
    /// Go through the most informative commands when there is no profile yet.
    Ask(commands::ask::Args),
    /// Print a script that collects what zwhy explains, for hosts without zwhy.
    Collect(commands::collect::Args),
    /// Say what can be recorded on this host, and how to fix what is missing.
    Doctor(commands::doctor::Args),
    /// List, show and check the causes that zwhy knows.
    Knowledge(commands::knowledge::Args),
    /// Explain a command or a topic.
    Help(commands::help::Args),
}

/// All commands and options, with examples.
pub fn definition() -> clap::Command {
    examples::add(Cli::command()).after_help(topics::named())
}

/// Runs the program with the arguments of this process.
pub fn run() -> ExitCode {
    if let Some(code) = commands::lab::child() {
        return code;
    }
    if std::env::args_os().len() == 1 && std::io::stdout().is_terminal() {
        return ended(welcome::run());
    }
    match parsed(std::env::args_os()) {
        Ok(cli) => ended(carried_out(&cli.command)),
        Err(error) if error.kind() == ErrorKind::DisplayVersion => {
            ended(output::print(&version::text()).map(|()| ExitCode::SUCCESS))
        }
        Err(error) => {
            // When nobody reads it there is nobody left to tell.
            let _ = error.print();
            ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
        }
    }
}

fn parsed(args: impl Iterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let matches = definition().try_get_matches_from(args)?;
    Cli::from_arg_matches(&matches)
}

fn carried_out(command: &Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Record(args) => commands::record::run(args),
        Command::Top(args) => commands::top::run(args).map(|()| ExitCode::SUCCESS),
        Command::Agent(args) => commands::agent::run(args).map(|()| ExitCode::SUCCESS),
        Command::Count(args) => commands::count::run(args),
        Command::Explain(args) => commands::explain::run(args).map(|()| ExitCode::SUCCESS),
        Command::Report(args) => commands::report::run(args).map(|()| ExitCode::SUCCESS),
        Command::View(args) => commands::view::run(args).map(|()| ExitCode::SUCCESS),
        Command::Flame(args) => commands::flame::run(args).map(|()| ExitCode::SUCCESS),
        Command::TopFunctions(args) => commands::top_functions::run(args).map(|()| ExitCode::SUCCESS),
        Command::Diff(args) => commands::diff::run(args).map(|()| ExitCode::SUCCESS),
        Command::Import(args) => commands::import::run(args).map(|()| ExitCode::SUCCESS),
        Command::Export(args) => commands::export::run(args).map(|()| ExitCode::SUCCESS),
        Command::Share(args) => commands::share::run(args).map(|()| ExitCode::SUCCESS),
        Command::Lab(args) => commands::lab::run(args),
        Command::Limits(args) => commands::limits::run(args),
        Command::Ask(args) => commands::ask::run(args).map(|()| ExitCode::SUCCESS),
        Command::Collect(args) => commands::collect::run(args).map(|()| ExitCode::SUCCESS),
        Command::Doctor(args) => commands::doctor::run(args),
        Command::Knowledge(args) => commands::knowledge::run(args).map(|()| ExitCode::SUCCESS),
        Command::Help(args) => commands::help::run(args).map(|()| ExitCode::SUCCESS),
    }
}

fn ended(result: anyhow::Result<ExitCode>) -> ExitCode {
    result.unwrap_or_else(|error| {
        // Error texts quote file names and tool output, which may hold anything.
        output::note(&format!("error: {}", zwhy_report::plain_lines(&failure::text(&error))));
        if let Some(topic) = failure::topic(&error) {
            output::note(&format!("More: zwhy help {topic}"));
        }
        failure::exit_code(&error)
    })
}
