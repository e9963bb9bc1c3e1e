//! `zwhy limits`: what one CPU of this machine can do, measured once and kept.

use crate::{output, progress};
use anyhow::Result;
use std::path::Path;
use std::process::ExitCode;
use zwhy_evidence::MeasuredLimits;
use zwhy_limits::{Limits, Pace, cache_file, load, measure, store};
use zwhy_report::{Align, Grid, labelled, plain};

#[derive(clap::Args, Debug)]
pub struct Args {
    /// Measure again even where figures of this machine are kept.
    #[arg(long)]
    fresh: bool,
    /// Print the figures as JSON.
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let file = cache_file();
    let kept = file.as_deref().filter(|_| !args.fresh).and_then(load);
    let limits = kept.unwrap_or_else(|| measured(file.as_deref()));
    let text = if args.json { serde_json::to_string_pretty(&limits)? + "\n" } else { text(&limits) };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The figures that are kept of this machine, as a fact of a capture. Never measures: that would
/// disturb what is recorded.
pub fn fact() -> Option<MeasuredLimits> {
    serde_json::from_value(serde_json::to_value(load(&cache_file()?)?).ok()?).ok()
}

fn measured(file: Option<&Path>) -> Limits {
    let bar = progress::bar(0, "measuring {bar:30} {msg}");
    let limits = measure(Pace::default(), |i, of, work| {
        bar.set_length(of as u64);
        bar.set_position(i as u64);
        bar.set_message(work.to_owned());
    });
    bar.finish_and_clear();
    // Figures that cannot be kept are still figures.
    match file.map(|file| store(file, &limits)) {
        Some(Ok(())) => {}
        Some(Err(error)) => output::note(&format!("note: {}", plain(&error.to_string()))),
        None => output::note("note: the figures are not kept: neither XDG_CACHE_HOME nor HOME is set"),
    }
    limits
}

fn text(limits: &Limits) -> String {
    let machine = &limits.machine;
    let mut out = format!("{}, kernel {}\n", plain(&machine.cpu_model), plain(&machine.kernel));
    out.push_str(&labelled(
        "",
        0,
        &format!(
            "One CPU, MB (10^6 bytes) per second of CPU time; records of {} KiB, {} rounds.",
            limits.record_bytes >> 10,
            limits.rounds
        ),
        80,
    ));
    if !limits.optimized {
        out.push_str("This build is not optimised: the figures are of the build, not of the machine.\n");
    }
    let mut grid = Grid::new(2, &[Align::Left, Align::Right, Align::Right, Align::Left]);
    grid.header(["Work", "MB/s", "slowest–fastest", "with"]);
    for row in &limits.rows {
        let spread = format!("{:.0}–{:.0}", row.low, row.high);
        grid.row([row.work.as_str(), &format!("{:.0}", row.mb_s), &spread, &row.with]);
    }
    out.push('\n');
    out.push_str(&(grid.lines(80).join("\n") + "\n\n"));
    out.push_str(&labelled(
        "",
        0,
        "What these libraries reach is known to be possible; other code may be faster. Captures made \
         from now on carry these figures.",
        80,
    ));
    out
}
