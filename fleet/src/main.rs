//! `zwhy-fleet`: the program; one file a command.

mod commands;
mod text;

use clap::{Parser, Subcommand};
use std::io::Write;
use std::process::ExitCode;

/// Why ZFS takes the CPU of many hosts: a store that agents ship to, and what is asked of it.
#[derive(Parser, Debug)]
#[command(version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Put captures into a store, with what the engine finds in them.
    Ingest(commands::ingest::Args),
    /// Judge what agents shipped, with the knowledge of this version.
    Judge(commands::judge::Args),
    /// Merge the files of past hours, make sums of old ones, drop the oldest.
    Compact(commands::compact::Args),
    /// Make a store of hosts out of recordings, to try and to measure with.
    Simulate(commands::simulate::Args),
    /// Ask a store: hosts, stages, functions, flame graphs, findings, counters.
    Query(commands::query::Args),
    /// Serve a page and an API of a store, to this machine unless told otherwise.
    Serve(commands::serve::Args),
    /// Plan queries for executors on this or other machines.
    Scheduler(commands::scheduler::Args),
    /// Run parts of queries for a scheduler.
    Executor(commands::executor::Args),
    /// Make a token for `serve`: printed once, kept as its hash.
    Token(commands::token::Args),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(anyhow::Error::from);
    let result = result.and_then(|runtime| {
        runtime.block_on(async {
            match &cli.command {
                Command::Ingest(args) => commands::ingest::run(args).await,
                Command::Judge(args) => commands::judge::run(args).await,
                Command::Compact(args) => commands::compact::run(args).await,
                Command::Simulate(args) => commands::simulate::run(args).await,
                Command::Query(args) => commands::query::run(args).await,
                Command::Serve(args) => commands::serve::run(args).await,
                Command::Scheduler(args) => commands::scheduler::run(args).await,
                Command::Executor(args) => commands::executor::run(args).await,
                Command::Token(args) => commands::token::run(args),
            }
        })
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if text::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {}", text::plain(&format!("{error:#}")));
            ExitCode::FAILURE
        }
    }
}
