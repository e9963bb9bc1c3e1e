//! `zwhy top-functions`: functions by self and total samples.

use crate::load::{ReadArgs, draw, load, tell};
use crate::output;
use anyhow::Result;
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
    /// Which samples to count: time on CPU, waiting, or calls; without it CPU where there is any.
    #[arg(long, value_name = "cpu|wait|count", value_parser = crate::drawing::event_name)]
    event: Option<Event>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    read: ReadArgs,
}

pub fn run(args: &Args) -> Result<()> {
    let mut imported = load(&args.input, &args.read)?;
    draw(&mut imported);
    tell(&args.read.name_of(&args.input), &imported);
    let event = crate::drawing::event_of(&imported, args.event)?;
    crate::drawing::tell_left_out(&imported, event, crate::drawing::BY_OPTION);
    let profile = &imported.evidence.profile;
    let mut totals = FunctionTotals::of(profile, event);
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
