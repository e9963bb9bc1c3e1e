//! `zwhy-fleet ingest`: captures that exist into a store.

use super::moment;
use crate::text::{plain, print};
use anyhow::Result;
use std::path::PathBuf;
use zwhy_diagnose::Knowledge;
use zwhy_fleet::{IngestOptions, Store, ingest, moment_text};

#[derive(clap::Args, Debug)]
pub struct Args {
    /// Captures, packed or still being recorded.
    #[arg(required = true)]
    captures: Vec<PathBuf>,
    /// The store: a folder, made where it is not there, file:///PATH or s3://BUCKET/PREFIX.
    #[arg(long, value_name = "STORE")]
    store: String,
    /// In place of the host that a capture names.
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// In place of the time at which a capture begins.
    #[arg(long, value_name = "TIME", value_parser = moment, allow_hyphen_values = true)]
    start: Option<i64>,
}

pub async fn run(args: &Args) -> Result<()> {
    let store = Store::create(&args.store)?;
    let options = IngestOptions { host: args.host.clone(), start_ms: args.start };
    let knowledge = Knowledge::embedded();
    for path in &args.captures {
        let ingested = ingest(&store, path, &options, &knowledge).await?;
        let of = format!("{} of {}", plain(&ingested.unit.host), moment_text(ingested.unit.start_ms));
        let name = plain(&path.display().to_string());
        print(&match ingested.new {
            true => format!("{name}: {of}, {} rows of samples\n", ingested.samples),
            false => format!("{name}: {of} is in the store already\n"),
        })?;
    }
    Ok(())
}
