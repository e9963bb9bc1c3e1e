//! `zwhy-fleet compact`: many small files into few, and what is old into sums.

use super::{now_ms, span};
use crate::text::print;
use anyhow::Result;
use std::time::Duration;
use zwhy_diagnose::Knowledge;
use zwhy_fleet::{MergeOptions, Store, compact};

#[derive(clap::Args, Debug)]
pub struct Args {
    /// The store: a folder, file:///PATH or s3://BUCKET/PREFIX.
    #[arg(long, value_name = "STORE")]
    store: String,
    /// Merge an hour when it is over for so long.
    #[arg(long, value_name = "TIME", default_value = "15m", value_parser = span)]
    settle: Duration,
    /// Remove what was merged after so long; queries must not last longer.
    #[arg(long, value_name = "TIME", default_value = "2h", value_parser = span)]
    grace: Duration,
    /// Keep hours as sums from this age on.
    #[arg(long, value_name = "TIME", default_value = "14d", value_parser = span)]
    sums_after: Duration,
    /// Drop hours from this age on.
    #[arg(long, value_name = "TIME", default_value = "365d", value_parser = span)]
    drop_after: Duration,
}

pub async fn run(args: &Args) -> Result<()> {
    let options = MergeOptions {
        now_ms: now_ms(),
        settle: args.settle,
        grace: args.grace,
        sums_after: Some(args.sums_after),
        drop_after: Some(args.drop_after),
    };
    let store = Store::open(&args.store)?;
    let done = compact(&store, &options, &Knowledge::embedded()).await?;
    let lost = match done.lost {
        0 => String::new(),
        hours => format!("; {hours} hours were merged by another one meanwhile"),
    };
    let (hours, units, removed) = (done.hours, done.units, done.removed);
    print(&format!(
        "{hours} hours written with {units} new files of hosts, {removed} objects removed{lost}\n"
    ))
}
