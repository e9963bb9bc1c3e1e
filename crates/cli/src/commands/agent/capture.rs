//! `zwhy agent capture`: a part of the spool as one capture, for explain, report, view and top.

use super::span;
use crate::output;
use anyhow::Result;
use std::path::{Path, PathBuf};
use std::time::Duration;
use zwhy_agent::{choose, merge};

#[derive(clap::Args, Debug)]
pub struct Args {
    /// How much: 10m, 2h.
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = span)]
    last: Duration,
    /// End it this long before the newest that was recorded: 6h.
    #[arg(long, value_name = "TIME", value_parser = span)]
    before: Option<Duration>,
    /// Capture to write; it must not exist yet.
    #[arg(short, long, value_name = "NAME.zwhy", default_value = "zwhy.zwhy")]
    output: PathBuf,
}

pub fn run(args: &Args, spool: &Path) -> Result<()> {
    output::check_capture(&args.output)?;
    let chosen = choose(spool, args.last, args.before.unwrap_or_default())?;
    let merged = merge(&chosen, spool, &args.output)?;
    for why in &merged.left_out {
        output::note(&format!("left out: {}", zwhy_report::plain(why)));
    }
    let (start, end) = (merged.start_unix_s, merged.start_unix_s + merged.seconds);
    let gaps = match merged.gaps_s {
        gaps if gaps > 0.0 => format!(", {gaps:.0} s of it not recorded"),
        _ => String::new(),
    };
    let (from, to) = (zwhy_live::moment(start), zwhy_live::moment(end));
    output::note(&format!("{from} to {to}: {:.0} s{gaps}", merged.seconds));
    output::print(&format!("{}\n", zwhy_report::plain(&merged.path.display().to_string())))
}
