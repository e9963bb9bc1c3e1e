//! `zwhy count`: how often a function is called, and by whom.

use crate::commands::record::{exit_code, seconds};
use crate::{output, progress, stop};
use anyhow::Result;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use zwhy_record::{CountOptions, Counted, Counting, Target};
use zwhy_report::{CountPer, CountReport, CountRow};

/// FUNCTION is looked for in the kernel first, then in the process or the program of the command.
/// MODULE:FUNCTION names a kernel module, LIBRARY:FUNCTION or PATH:FUNCTION an object of user space;
/// `*` stands for any characters (at most 64 functions).
#[derive(clap::Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// FUNCTION, MODULE:FUNCTION or LIBRARY:FUNCTION, as in zio_read, zfs:dmu_*, libzpool:dmu_read.
    function: String,
    /// Count calls with CALLER in their stack apart, and show only those by caller.
    #[arg(long, value_name = "CALLER")]
    under: Option<String>,
    /// Count CALLER too, and show the calls below each call of it.
    #[arg(long, value_name = "CALLER")]
    per: Option<String>,
    /// Count in these processes with all their threads.
    #[arg(short, long, value_name = "PID", value_delimiter = ',', conflicts_with = "command",
          value_parser = clap::value_parser!(i32).range(1..))]
    pid: Vec<i32>,
    /// Stop after this many seconds.
    #[arg(short, long, value_name = "SECONDS", value_parser = seconds)]
    duration: Option<Duration>,
    /// CPU time that counting may take, of all CPUs together. When calls come faster, only one in some
    /// is sampled, and when that is not enough, counting stops; `none` removes the limit.
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = percent)]
    max_overhead: Limit,
    /// Write a capture too, for zwhy flame, report and export; it must not exist yet.
    #[arg(short, long, value_name = "NAME.zwhy")]
    output: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Count while this command runs, in it and what it starts.
    #[arg(last = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// A share above 0, or none.
#[derive(Clone, Copy, Debug)]
struct Limit(Option<f64>);

fn percent(text: &str) -> Result<Limit, String> {
    if text == "none" {
        return Ok(Limit(None));
    }
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    match number.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 100.0 => Ok(Limit(Some(value / 100.0))),
        _ => Err(format!("`{text}` is no percentage; give one above 0, as in 5%, or none")),
    }
}

/// Exits as the command did.
pub fn run(args: &Args) -> Result<ExitCode> {
    let target = match (args.pid.is_empty(), args.command.is_empty()) {
        (false, _) => Target::Pid(args.pid.clone()),
        (_, false) => Target::Command(args.command.clone()),
        _ => Target::System,
    };
    args.output.as_deref().map(output::check_capture).transpose()?;
    let mut options = CountOptions::new(&args.function, target);
    options.under.clone_from(&args.under);
    options.per.clone_from(&args.per);
    options.duration = args.duration;
    options.max_overhead = args.max_overhead.0;
    options.out.clone_from(&args.output);
    let stop = stop::flag()?;
    let mut counting = Counting::start(options)?;
    let bar = progress::over("counting", args.duration);
    let ran = counting.run(&stop, |elapsed, calls| {
        bar.set_position(elapsed.as_millis() as u64);
        bar.set_message(format!("{calls} calls"));
    });
    bar.finish_and_clear();
    let counted = counting.stop()?;
    ran?;
    show(&counted, args.json)?;
    if let Some(path) = &counted.path {
        let name = zwhy_report::shell_word(&path.display().to_string());
        output::note(&format!("Now: zwhy flame {name} -o count.svg"));
    }
    Ok(counted.exit_status.map_or(ExitCode::SUCCESS, exit_code))
}

fn show(counted: &Counted, json: bool) -> Result<()> {
    let row = |f: &zwhy_record::CountedFunction| CountRow {
        function: f.function.clone(),
        module: f.module.clone(),
        calls: f.calls,
    };
    let report = CountReport {
        functions: counted.functions.iter().map(row).collect(),
        profile: &counted.profile,
        stacks: &counted.stacks,
        under: counted.under.clone(),
        per: counted.per.as_ref().map(|p| CountPer {
            caller: p.caller.clone(),
            caller_calls: p.caller_calls,
            calls: p.calls,
            each: p.each.clone(),
        }),
        seconds: counted.duration.as_secs_f64(),
        lost: counted.lost,
        one_in: counted.one_in,
        call_cost_ns: counted.call_cost_ns,
        overhead: counted.overhead,
        notes: &counted.notes,
    };
    let text = if json { report.json()? } else { report.text(output::width(), output::style()) };
    output::print(&text)
}
