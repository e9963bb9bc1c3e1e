//! `zwhy export`: any input in a format that another tool reads.

use crate::failure::usage_about;
use crate::load::{ReadArgs, Weight, draw, load_whole, tell};
use crate::output;
use anyhow::Result;
use std::path::{Path, PathBuf};
use zwhy_capture::Redactor;
use zwhy_diagnose::{Knowledge, classify};
use zwhy_flame::{Roots, SvgOptions};
use zwhy_formats::{ExportOptions, Ids};
use zwhy_profile::{Event, Unit};

/// Drawn by zwhy itself; all others are formats of other tools.
pub const SVG: &str = "svg";

#[derive(clap::Args, Debug)]
pub struct Args {
    /// Capture or profile; `-` is standard input.
    input: PathBuf,
    /// Format to write; an unknown name lists them.
    #[arg(short, long, value_name = "FORMAT", default_value = "folded")]
    format: String,
    /// File to write; `-` is standard output.
    #[arg(short, long, default_value = "-")]
    output: PathBuf,
    /// Which samples to write: time on CPU, waiting, or calls.
    #[arg(long, value_name = "cpu|wait|count", value_parser = crate::drawing::event_name)]
    event: Option<Event>,
    /// Folded: put the process id behind each command, `fio-12`.
    #[arg(long, conflicts_with = "tid")]
    pid: bool,
    /// Folded: put process and thread id behind each command, `fio-12/13`.
    #[arg(long)]
    tid: bool,
    /// Read the input as this format instead of detecting the format.
    #[arg(long, value_name = "FORMAT")]
    input_format: Option<String>,
    /// Name kernel addresses of a perf.data with this copy of /proc/kallsyms.
    #[arg(long, value_name = "FILE")]
    kallsyms: Option<PathBuf>,
    /// Add source lines and inlined functions to a perf.data where this host has the debug information
    /// of the recorded programs.
    #[arg(long)]
    lines: bool,
    /// Count each sample once, or weight samples by the period they were recorded with. stackcollapse-perf.pl
    /// counts samples, so this does too unless asked.
    #[arg(long, value_name = "samples|period", default_value = "samples", value_parser = Weight::parse)]
    weight: Weight,
    /// Replace the names of hosts, pools, datasets, paths and processes, always by the same placeholder.
    #[arg(long)]
    redact: bool,
}

pub fn run(args: &Args) -> Result<()> {
    check_format(&args.format)?;
    check_output(&args.output, &args.format)?;
    let read = ReadArgs {
        format: args.input_format.clone(),
        kallsyms: args.kallsyms.clone(),
        lines: args.lines,
        weight: args.weight,
        redact: args.redact,
        tools: None,
    };
    if args.format != "folded" && (args.pid || args.tid) {
        return Err(usage_about(
            "formats",
            "--pid and --tid are for the format folded; the others carry ids",
        ));
    }
    let mut imported = load_whole(&args.input, &read, &mut Redactor::default())?;
    draw(&mut imported);
    tell(&read.name_of(&args.input), &imported);
    let event = crate::drawing::event_of(&imported, args.event)?;
    crate::drawing::tell_left_out(&imported, event, crate::drawing::BY_OPTION);
    if args.format == SVG {
        let classified = classify(&imported.evidence.profile, &Knowledge::embedded().anatomy);
        let tree = zwhy_report::tree(&imported, &classified, event, Roots::Threads);
        let title = read.name_of(&args.input);
        let picture = zwhy_flame::svg(
            &tree,
            &SvgOptions { title, min_width: 0.1, max_bytes: usize::MAX, ..SvgOptions::default() },
        );
        return output::write_file(&args.output, picture.as_bytes());
    }
    let measure = imported.evidence.profile.measure(event);
    if args.format == "perf-script" && measure.unit != Unit::Samples {
        output::note(&format!(
            "perf script text is a list of samples: what they amount to, {}, does not come back from it; folded, pprof, speedscope and firefox carry it",
            measure.unit.words(imported.evidence.profile.total(event))
        ));
    }
    let ids = match (args.pid, args.tid) {
        (true, _) => Ids::Process,
        (_, true) => Ids::Thread,
        _ => Ids::None,
    };
    let name = args.output.display().to_string();
    output::write_pieces(&args.output, |out| {
        let options = ExportOptions { event, ids };
        zwhy_formats::export(&imported.evidence, &args.format, &options, &name, out)?;
        Ok(())
    })
}

/// Refuses a name that says another format than the one that is written.
fn check_output(path: &Path, format: &str) -> Result<()> {
    let exporters = zwhy_formats::exporters();
    let endings_of = |name: &'static str| match exporters.iter().find(|e| e.name == name) {
        // `x.pb.gz` ends in `gz`, and `x.pb` is read just as well.
        Some(exporter) => exporter.extension.split('.').collect(),
        None => vec![name],
    };
    let mut formats = exporters.iter().map(|e| e.name).chain([SVG]);
    let Some(own) = formats.clone().find(|name| *name == format) else { return Ok(()) };
    let mut endings = endings_of(own);
    endings.extend([own, if own == "folded" { "collapsed" } else { own }]);
    let usual = exporters.iter().find(|e| e.name == own).map_or(SVG, |e| e.extension);
    let mut writes = format!("this writes the format {own}: name it X.{usual}");
    let ending = zwhy_place::ending(path);
    if let Some(other) = formats.find(|name| ending.as_deref().is_some_and(|e| endings_of(name).contains(&e)))
    {
        writes.push_str(&format!(", or give --format {other}"));
    }
    output::check(path, &endings, &writes)
}

/// Before anything is read: a large input takes a while.
fn check_format(format: &str) -> Result<()> {
    let mut names: Vec<&str> = zwhy_formats::exporters().iter().map(|e| e.name).collect();
    names.push(SVG);
    if names.contains(&format) {
        return Ok(());
    }
    Err(usage_about("formats", format!("no format is called `{format}`; use one of {}", names.join(", "))))
}
