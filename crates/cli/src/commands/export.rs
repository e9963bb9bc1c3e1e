//! `zwhy export`: any input in a format that another tool reads.

use crate::load::{ReadArgs, load};
use crate::output;
use anyhow::Result;
use std::path::PathBuf;
use zwhy_formats::ExportOptions;

#[derive(clap::Args, Debug)]
pub struct Args {
    /// Capture or profile; `-` is standard input.
    input: PathBuf,
    /// Format to write; an unknown name lists them.
    #[arg(long = "to", short = 't', value_name = "FORMAT", default_value = "folded")]
    to: String,
    /// File to write; `-` is standard output.
    #[arg(short, long, default_value = "-")]
    output: PathBuf,
    #[command(flatten)]
    read: ReadArgs,
}

pub fn run(args: &Args) -> Result<()> {
    let imported = load(&args.input, &args.read)?;
    if imported.stats.kept < imported.stats.read {
        output::note(&zwhy_report::stats_text(&args.input.display().to_string(), &imported.stats));
    }
    let mut bytes = Vec::new();
    let name = args.output.display().to_string();
    zwhy_formats::export(&imported.evidence, &args.to, &ExportOptions::default(), &name, &mut bytes)?;
    output::write_file(&args.output, &bytes)
}
