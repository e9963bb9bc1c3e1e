//! `zwhy record`: sample the CPUs of a host, a process or a command into a capture.

use crate::failure::usage;
use crate::{output, progress, stop};
use anyhow::{Context, Result};
use indicatif::ProgressBar;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};
use std::time::Duration;
use zwhy_record::{KeepLast, RecordOptions, Recording, Status, Summary, Target, Trigger};

#[derive(clap::Args, Debug)]
pub struct Args {
    /// Samples a second on each CPU, 1 to 4999.
    #[arg(short = 'F', long = "frequency", value_name = "HZ", default_value_t = 99,
          value_parser = clap::value_parser!(u32).range(1..=4999))]
    hz: u32,
    /// Record every CPU of the host.
    #[arg(short, long, conflicts_with_all = ["pid", "command", "cgroup"])]
    all: bool,
    /// Record these processes with all their threads.
    #[arg(short, long, value_name = "PID", value_delimiter = ',', conflicts_with_all = ["command", "cgroup"],
          value_parser = clap::value_parser!(i32).range(1..))]
    pid: Vec<i32>,
    /// Record all processes of this control group, by path or by name.
    #[arg(short = 'G', long, value_name = "CGROUP", conflicts_with = "command")]
    cgroup: Option<PathBuf>,
    /// Also record what ZFS threads and blocked tasks wait for, sampled this many times a second, 10 to 50.
    #[arg(long, value_name = "HZ", num_args = 0..=1, default_missing_value = "20", require_equals = true,
          value_parser = clap::value_parser!(u32).range(10..=50))]
    wait: Option<u32>,
    /// Also record how long threads were off the CPU and why, by kernel stack, from context switches
    /// (root and tracefs); waits under 1 ms are only counted. Not together with --wait.
    #[arg(long)]
    off_cpu: bool,
    /// Seconds between two readings of the counters.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    interval: Duration,
    /// Stop after this many seconds; a recorded command keeps running.
    #[arg(short, long, value_name = "SECONDS", value_parser = seconds)]
    duration: Option<Duration>,
    /// Keep only the most recent part (60s, 5m), in memory; it is written on SIGUSR1, on Ctrl-C or
    /// SIGTERM, and by --trigger.
    #[arg(long, value_name = "TIME", value_parser = span)]
    last: Option<Duration>,
    /// Write the part kept in memory (60s without --last) when this holds: 'arc_evict cpu > 50%',
    /// 'host sys > 80% for 5s', 'kstat arcstats.size < 4G', 'rate(arcstats.hits) > 1M/s'.
    #[arg(long, value_name = "CONDITION")]
    trigger: Vec<Trigger>,
    /// Continue after writing, into NAME-2.zwhy, NAME-3.zwhy and so on.
    #[arg(long)]
    repeat: bool,
    /// Capture to write; it must not exist yet.
    #[arg(short, long, default_value = "zwhy.zwhy", value_name = "NAME.zwhy")]
    output: PathBuf,
    /// Record user code only, not the kernel.
    #[arg(long)]
    user_only: bool,
    /// Add source lines and inlined functions of ZFS, the kernel and programs where debug information is
    /// installed. For ZFS and the kernel it is read before recording begins, which takes seconds.
    #[arg(long)]
    lines: bool,
    /// Run and record this command.
    #[arg(last = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// A time of at least a millisecond and at most ten years.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let value: f64 = text.parse().map_err(|_| format!("`{text}` is not a number of seconds"))?;
    if (0.001..=3.2e8).contains(&value) {
        Ok(Duration::from_secs_f64(value))
    } else {
        Err(format!("{text} is out of range; give 0.001 or more seconds"))
    }
}

/// A time between two looks, of at least so many seconds and at most a minute.
pub fn interval(text: &str, least: f64) -> Result<Duration, String> {
    let value = seconds(text)?;
    let range = Duration::from_secs_f64(least)..=Duration::from_secs(60);
    let wrong = || format!("{text} is out of range; give {least} to 60 seconds");
    range.contains(&value).then_some(value).ok_or_else(wrong)
}

/// `60`, `60s` or `5m`.
fn span(text: &str) -> Result<Duration, String> {
    match text.strip_suffix('m') {
        Some(minutes) => Ok(seconds(minutes)? * 60),
        None => seconds(text.strip_suffix('s').unwrap_or(text)),
    }
}

/// What is kept in memory until something asks for it, if that is wanted.
fn keep_last(args: &Args) -> Result<Option<KeepLast>> {
    if args.last.is_none() && args.trigger.is_empty() {
        return match args.repeat {
            true => Err(usage("--repeat goes with --last or --trigger")),
            false => Ok(None),
        };
    }
    Ok(Some(KeepLast {
        span: args.last.unwrap_or(Duration::from_secs(60)),
        triggers: args.trigger.clone(),
        repeat: args.repeat,
        write_now: stop::write_now()?,
    }))
}

/// Exits as the recorded command did.
pub fn run(args: &Args) -> Result<ExitCode> {
    let target = target(args)?;
    output::check_capture(&args.output)?;
    let mut options = RecordOptions::new(target, &args.output);
    options.hz = args.hz;
    options.duration = args.duration;
    options.user_only = args.user_only;
    options.lines = args.lines;
    options.wait_hz = args.wait;
    options.off_cpu = args.off_cpu;
    options.interval = args.interval;
    options.facts.limits = super::limits::fact();
    options.keep_last = keep_last(args)?;
    let stop = stop::flag()?;
    let mut recording = Recording::start(options)?;
    let mut shown = Shown { bar: progress::over("recording", args.duration) };
    let ran = recording.run(&stop, &mut shown);
    shown.bar.finish_and_clear();
    // Whatever ended the run, what was recorded is kept before the error is told.
    let summary = recording.stop().with_context(|| kept(&args.output))?;
    output::note(&summary_text(&summary));
    ran?;
    Ok(summary.exit_status.map_or(ExitCode::SUCCESS, exit_code))
}

/// What to say when the end of a recording could not be written.
fn kept(output: &Path) -> String {
    let name = zwhy_report::shell_word(&output.display().to_string());
    format!("the recording ended early; what was written before is kept: zwhy explain {name}")
}

/// The command's own code; 128 + the signal that ended it, as shells have it.
pub fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| status.signal().map(|s| 128 + s)).unwrap_or(1);
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

fn target(args: &Args) -> Result<Target> {
    if let Some(group) = &args.cgroup {
        return Ok(Target::Cgroup(group.clone()));
    }
    match (args.all, args.pid.is_empty(), args.command.is_empty()) {
        (true, _, _) => Ok(Target::System),
        (_, false, _) => Ok(Target::Pid(args.pid.clone())),
        (_, _, false) => Ok(Target::Command(args.command.clone())),
        _ => Err(usage("nothing to record: give -a for the whole host, -p PID, -G CGROUP, or -- CMD")),
    }
}

fn summary_text(s: &Summary) -> String {
    let mut text = format!(
        "{}: {} samples in {:.1} s, {} lost; the recorder used {}",
        zwhy_report::plain(&s.path.display().to_string()),
        s.samples,
        s.duration.as_secs_f64(),
        s.lost,
        own_cost(s),
    );
    if let Some(bytes) = s.peak_rss {
        text.push_str(&format!(" and at most {:.0} MB", bytes as f64 / 1e6));
    }
    let mut notes: Vec<&str> = s.warnings.iter().map(String::as_str).collect();
    if s.samples == 0 {
        notes.insert(0, "nothing was on a CPU when it was looked at; sample more often (-F 999) or longer");
    }
    text.push('\n');
    for note in notes {
        text.push_str(&zwhy_report::labelled("  note:", 8, note, 80));
    }
    text.push_str(&format!("Now: zwhy explain {}", zwhy_report::shell_word(&s.path.display().to_string())));
    text
}

/// A share means little where starting takes longer than recording.
fn own_cost(s: &Summary) -> String {
    if s.duration < Duration::from_secs(1) {
        format!("{:.2} CPU s", s.cpu.as_secs_f64())
    } else {
        format!("{:.2} % of one CPU", s.cpu_share * 100.0)
    }
}

/// Elapsed time, samples and losses while recording.
struct Shown {
    bar: ProgressBar,
}

impl zwhy_record::Progress for Shown {
    fn update(&mut self, status: Status) {
        self.bar.set_position(status.elapsed.as_millis() as u64);
        self.bar.set_message(format!("{} samples, {} lost", status.samples, status.lost));
    }

    fn saved(&mut self, path: &Path) {
        let path = path.display().to_string();
        self.bar.suspend(|| {
            output::note(&format!("{} written; recording goes on", zwhy_report::plain(&path)));
        });
    }
}
