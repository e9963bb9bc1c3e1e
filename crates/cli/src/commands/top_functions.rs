//! `zwhy top-functions`: functions by self and total samples.

use crate::load::{ReadArgs, load};
use crate::output;
use anyhow::{Result, bail};
use std::path::PathBuf;
use zwhy_profile::{Event, FunctionTotals};

#[derive(clap::Args, Debug)]
pub struct Args {
    /// Capture or profile; `-` is standard input.
    input: PathBuf,
    /// How many functions to show.
    #[arg(short = 'n', long, default_value_t = 30)]
    count: usize,
    /// Sort by total (with callees) instead of self samples.
    #[arg(long)]
    total: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    read: ReadArgs,
}

pub fn run(args: &Args) -> Result<()> {
    let imported = load(&args.input, &args.read)?;
    let profile = &imported.evidence.profile;
    if profile.total(Event::Cpu) == 0 {
        bail!("{} has no CPU samples with stacks; zwhy explain shows what it has", args.input.display());
    }
    let mut totals = FunctionTotals::of(profile, Event::Cpu);
    if args.total {
        totals.rows.sort_by_key(|r| std::cmp::Reverse((r.total, r.own)));
    }
    totals.rows.truncate(args.count);
    let text = if args.json {
        zwhy_report::functions_json(profile, &totals)?
    } else {
        zwhy_report::functions_text(profile, &totals, output::width(), output::style())
    };
    output::print(&text)
}
