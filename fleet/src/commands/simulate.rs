//! `zwhy-fleet simulate`: a store of hosts made of recordings, to try and to measure with.

use super::moment;
use crate::text::print;
use anyhow::Result;
use std::path::PathBuf;
use zwhy_capture::Capture;
use zwhy_fleet::{Simulation, Store, simulate};

#[derive(clap::Args, Debug)]
pub struct Args {
    /// Recordings that hosts take their load from.
    #[arg(required = true)]
    captures: Vec<PathBuf>,
    /// The store: a folder, made where it is not there, file:///PATH or s3://BUCKET/PREFIX.
    #[arg(long, value_name = "STORE")]
    store: String,
    #[arg(long, value_name = "N", default_value_t = 3)]
    hosts: u32,
    #[arg(long, value_name = "N", default_value_t = 1)]
    hours: u32,
    /// When all hosts begin; -2h is two hours ago.
    #[arg(long, value_name = "TIME", default_value = "-1h", value_parser = moment, allow_hyphen_values = true)]
    start: i64,
    /// Samples a second of each host; without it as many as its recording has.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rate: Option<u32>,
    /// Seconds between two readings of a counter, as near as its recording allows.
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=300))]
    interval: u32,
    /// The same number makes the same hosts.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

pub async fn run(args: &Args) -> Result<()> {
    let store = Store::create(&args.store)?;
    let recordings = args.captures.iter().map(|path| Capture::open(path)).collect::<Result<Vec<_>, _>>()?;
    let &Args { hosts, hours, start, rate, interval, seed, .. } = args;
    let simulation = Simulation {
        hosts,
        seconds: u64::from(hours) * 3600,
        start_ms: start,
        unit_s: 300,
        rate,
        interval_s: interval,
        seed,
    };
    let made = simulate(&store, &simulation, &recordings).await?;
    print(&format!(
        "{hosts} hosts, {hours} hours: {} files of hosts, {} rows of samples, {} readings of counters\n",
        made.units, made.samples, made.readings
    ))
}
