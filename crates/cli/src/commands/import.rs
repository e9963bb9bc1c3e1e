//! `zwhy import`: files of any format become one capture.

use crate::failure::usage;
use crate::load::{ReadArgs, load_with};
use crate::output;
use anyhow::Result;
use std::path::PathBuf;
use zwhy_capture::Redactor;
use zwhy_evidence::Imported;

#[derive(clap::Args, Debug)]
pub struct Args {
    /// Files to read together; `-` is standard input.
    #[arg(required = true)]
    inputs: Vec<PathBuf>,
    /// Capture to write, NAME.zwhy.
    #[arg(short, long)]
    output: PathBuf,
    /// Pack one perf.data with the names of this host instead, for reading it on another machine;
    /// run it on the recorded host, as root, before it reboots.
    #[arg(long)]
    bundle: bool,
    #[command(flatten)]
    read: ReadArgs,
}

pub fn run(args: &Args) -> Result<()> {
    if args.bundle {
        return bundle(args);
    }
    let mut all = Imported::default();
    let mut redactor = Redactor::default();
    for input in &args.inputs {
        let imported = load_with(input, &args.read, &mut redactor)?;
        output::note(&zwhy_report::stats_text(&args.read.name_of(input), &imported.stats));
        all.evidence.merge(imported.evidence);
        all.stats.add(imported.stats);
    }
    let path = zwhy_capture::write_imported(all, &args.output)?;
    output::print(&format!("{}\n", zwhy_report::plain(&path.display().to_string())))
}

fn bundle(args: &Args) -> Result<()> {
    let [input] = &args.inputs[..] else { return Err(usage("--bundle packs one perf.data at a time")) };
    let stats = zwhy_formats::pack_perf_data(input, &args.output, &args.read.options())?;
    output::note(&zwhy_report::stats_text(&input.display().to_string(), &stats));
    output::print(&format!("{}\n", args.output.display()))
}
