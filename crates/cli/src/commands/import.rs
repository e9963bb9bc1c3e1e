//! `zwhy import`: files of any format become one capture.

use crate::failure::usage;
use crate::load::{ReadArgs, load_whole};
use crate::output;
use anyhow::{Context, Result};
use std::fs::File;
use std::path::{Path, PathBuf};
use zwhy_capture::Redactor;
use zwhy_evidence::Imported;
use zwhy_place::Place;

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
    output::check(&args.output, &output::CAPTURE, "this writes a capture: name it X.zwhy")?;
    let mut all = Imported::default();
    let mut redactor = Redactor::default();
    for input in &args.inputs {
        let imported = load_whole(input, &args.read, &mut redactor)?;
        output::note(&zwhy_report::stats_text(&args.read.name_of(input), &imported.stats));
        let same_units = all.evidence.merge(imported.evidence);
        all.stats.add(imported.stats);
        if !same_units {
            let found = "the files measure samples in different units: each counts by its number of samples";
            all.stats.warnings.push(found.to_owned());
            output::note(&format!("  note: {found}"));
        }
    }
    if output::is_stdout(&args.output) || Place::of(&args.output)?.is_stream() {
        return pass_on(all, &args.output);
    }
    let path = zwhy_capture::write_imported(all, &args.output)?;
    output::print(&format!("{}\n", zwhy_report::plain(&path.display().to_string())))
}

/// Writes a capture to what takes bytes only one after the other; it is built up in a folder.
fn pass_on(imported: Imported, stream: &Path) -> Result<()> {
    let folder =
        tempfile::tempdir().context("cannot make a temporary folder; name another place with TMPDIR")?;
    let whole = zwhy_capture::write_imported(imported, &folder.path().join("capture.zwhy"))?;
    let mut whole = File::open(&whole).with_context(|| format!("cannot read {}", whole.display()))?;
    output::write_pieces(stream, |out| Ok(std::io::copy(&mut whole, out).map(|_| ())?))
}

fn bundle(args: &Args) -> Result<()> {
    let [input] = &args.inputs[..] else { return Err(usage("--bundle packs one perf.data at a time")) };
    if output::is_stdout(&args.output) {
        return Err(usage("a bundle cannot go to standard output; name a file with -o"));
    }
    output::check(&args.output, &["zip", "zwhy"], "this writes a bundle: name it X.bundle or X.zip")?;
    let stats = zwhy_formats::pack_perf_data(input, &args.output, &args.read.options())?;
    output::note(&zwhy_report::stats_text(&input.display().to_string(), &stats));
    output::print(&format!("{}\n", zwhy_report::plain(&args.output.display().to_string())))
}
