//! `zwhy-fleet scheduler`: plans the queries of a cluster.

use super::private;
use crate::text::{log_warnings, print};
use anyhow::{Context, Result};
use std::net::SocketAddr;
use zwhy_fleet::schedule;

/// Plan queries for executors, which run them. Ballista, which does it, asks nobody who they are and encrypts nothing.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Where to listen; beyond this machine only with --private-network.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:50050")]
    listen: SocketAddr,
    /// What executors call this machine, where that is not the address it listens at.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The address is of a network where everybody may read the whole store.
    #[arg(long)]
    private_network: bool,
}

pub async fn run(args: &Args) -> Result<()> {
    private(args.listen, args.private_network)?;
    log_warnings();
    let listener = tokio::net::TcpListener::bind(args.listen).await;
    let listener = listener.with_context(|| format!("cannot listen at {}", args.listen))?;
    let address = listener.local_addr()?;
    let name = match &args.name {
        Some(name) => name.clone(),
        None if address.ip().is_unspecified() => {
            anyhow::bail!("{} is no address that executors can ask; give --name, too", address.ip())
        }
        None => address.ip().to_string(),
    };
    print(&format!("df://{name}:{}\n", address.port()))?;
    tokio::select! {
        ended = schedule(listener, &name) => Ok(ended?),
        _ = tokio::signal::ctrl_c() => Ok(()),
    }
}
