//! `zwhy-fleet executor`: runs parts of queries for a scheduler.

use super::private;
use crate::text::{log_warnings, print};
use anyhow::Result;
use std::net::SocketAddr;
use zwhy_fleet::{ExecutorOptions, Scheduler, Store, execute};

/// Run parts of queries over a store for a scheduler. Ballista, which does it, asks nobody who they are and encrypts nothing.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The store, the same for all executors: a folder, file:///PATH or s3://BUCKET/PREFIX.
    #[arg(long, value_name = "STORE")]
    store: String,
    /// As `zwhy-fleet scheduler` prints it.
    #[arg(long, value_name = "df://HOST:PORT")]
    scheduler: Scheduler,
    /// Where to listen, at this port and the next one; 0 takes two that are free. Beyond this machine only with
    /// --private-network.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// The address is of a network where everybody may read the whole store.
    #[arg(long)]
    private_network: bool,
    /// Tasks at a time; as many as there are CPUs where it is not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    cpus: Option<u16>,
}

pub async fn run(args: &Args) -> Result<()> {
    private(args.listen, args.private_network)?;
    log_warnings();
    let store = Store::open(&args.store)?;
    let cpus = match args.cpus {
        Some(cpus) => usize::from(cpus),
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    let options = ExecutorOptions { listen: args.listen, scheduler: args.scheduler.clone(), cpus };
    let ready = |address: SocketAddr| {
        let _ = print(&format!("{address} runs {cpus} tasks at a time for {}\n", args.scheduler));
    };
    Ok(execute(&store, &options, ready).await?)
}
