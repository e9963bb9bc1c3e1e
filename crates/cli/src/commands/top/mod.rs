//! `zwhy top`: what the host does this second, and why.

use crate::failure::usage;
use crate::{output, stop};
use anyhow::{Context, Result, anyhow};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use zwhy_capture::{Capture, CaptureError};
use zwhy_diagnose::CONFIDENT;
use zwhy_host::thread_cpu;
use zwhy_live::{Csv, Fed, Feed, Latencies, LatencyWatch, Model, Next, Pace, Replay, VERDICT_SPAN};
use zwhy_record::{Priority, RecordOptions, Target};

mod screen;

/// After which a single look may end.
const CLEAR_SPAN: Duration = Duration::from_secs(5);

#[derive(clap::Args, Debug)]
pub struct Args {
    /// Play this capture again instead of watching the host.
    capture: Option<PathBuf>,
    /// Look for ten seconds, or five where the cause is clear by then (a capture: to its end), print that and end.
    #[arg(long)]
    once: bool,
    /// Print a line of JSON for each interval.
    #[arg(long)]
    json: bool,
    /// Print a row of CSV for each interval: figures of the host and CPU by stage.
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Tell how long requests of pools and vdevs take as well, as `zpool iostat -w`; in a terminal w shows it.
    #[arg(long, conflicts_with = "csv")]
    latency: bool,
    /// Seconds of an interval, 0.1 to 60; of a capture at least those between two readings of its counters.
    #[arg(short, long, value_name = "SECONDS", default_value = "1", value_parser = interval)]
    interval: Duration,
    /// Samples a second on each CPU, 1 to 4999.
    #[arg(short = 'F', long = "frequency", value_name = "HZ", default_value_t = 99,
          value_parser = clap::value_parser!(u32).range(1..=4999))]
    hz: u32,
    #[command(flatten)]
    knowledge: super::knowledge::KnowledgeArgs,
}

fn interval(text: &str) -> Result<Duration, String> {
    super::record::interval(text, 0.1)
}

pub fn run(args: &Args) -> Result<()> {
    if args.capture.is_none() {
        // Who looks because the CPUs are full must not wait for one: the verdict is due within seconds.
        Priority::raise();
    }
    let model = Model::new(args.knowledge.load()?);
    let stop = stop::flag()?;
    let mut seen = Seen { model, pace: Pace::default() };
    let on_screen = is_on_screen(args);
    match &args.capture {
        Some(path) => {
            let replay = opened(path, args.interval)?;
            seen.model.set_facts(replay.facts().clone());
            if on_screen {
                screen::replay(args, seen, replay, &stop)
            } else {
                play(args, replay, seen, &stop)
            }
        }
        None => {
            let feed = Feed::start(options(args))?;
            seen.model.missing.clone_from(&feed.missing);
            if on_screen { screen::watch(args, seen, &feed, &stop) } else { watch(args, &feed, seen, &stop) }
        }
    }
}

/// Somebody looks at it, and can press keys.
fn is_on_screen(args: &Args) -> bool {
    let dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    let text = args.once || args.json || args.csv || dumb;
    !text && io::stdout().is_terminal() && io::stdin().is_terminal()
}

/// What was seen, and when the next verdict is due.
struct Seen {
    model: Model,
    pace: Pace,
}

impl Seen {
    /// Takes in what the recorder saw; returns when the interval ended.
    fn take(&mut self, fed: Fed) -> Duration {
        if let Some(facts) = fed.facts {
            self.model.set_facts(*facts);
        }
        let now = fed.slice.to;
        self.model.push(fed.slice);
        now
    }

    /// Makes a verdict where one is due, seldom where that takes long.
    fn decide_if_due(&mut self, now: Duration) {
        if self.pace.due(now) {
            let before = thread_cpu();
            self.model.decide();
            self.pace.made(now, thread_cpu().saturating_sub(before));
        }
    }

    /// The same by the capture's time alone, so that the same capture always gives the same lines.
    fn decide_if_due_in_replay(&mut self, now: Duration) {
        if self.pace.due(now) {
            self.decide(now);
        }
    }

    fn decide(&mut self, now: Duration) {
        self.model.decide();
        self.pace.made(now, Duration::ZERO);
    }

    /// Makes a verdict; returns the confidence of its first cause, 0 where it has none.
    fn confidence(&mut self) -> f64 {
        let first = self.model.decide().and_then(|verdict| verdict.answer.findings.first());
        first.map_or(0.0, |finding| finding.confidence)
    }
}

/// A single look, `--once`: ten seconds, or five where more would hardly change the verdict. A verdict may take long on a
/// busy host, so that there are two at most.
#[derive(Default)]
struct Glance {
    was_unclear: bool,
}

impl Glance {
    /// Whether it ends at `now`; `decide` makes a verdict and returns its confidence.
    fn is_over(&mut self, now: Duration, decide: impl FnOnce() -> f64) -> bool {
        if now >= VERDICT_SPAN {
            decide();
            return true;
        }
        if now < CLEAR_SPAN || self.was_unclear {
            return false;
        }
        self.was_unclear = decide() < CONFIDENT;
        !self.was_unclear
    }
}

/// The host, until the user ends it.
fn watch(args: &Args, feed: &Feed, mut seen: Seen, stop: &AtomicBool) -> Result<()> {
    let mut lines = Lines::new(args, &seen.model);
    let mut glance = args.once.then(Glance::default);
    let latency = LatencyWatch::new(args.interval);
    let mut latency = if args.once { latency.in_a_glance() } else { latency };
    while !stop.load(Ordering::Relaxed) {
        latency.keep(args.latency, &mut seen.model.latency);
        let fed = match feed.next(Duration::from_millis(100)) {
            Next::Interval(fed) => fed,
            Next::Waiting => continue,
            Next::Over => break,
        };
        let now = seen.take(*fed);
        let last = glance.as_mut().is_some_and(|glance| glance.is_over(now, || seen.confidence()));
        if glance.is_none() {
            seen.decide_if_due(now);
        }
        let read = args.once && !last || lines.show(&seen.model)?;
        if last || !read {
            break;
        }
        if !args.once {
            seen.model.latency.tell();
        }
    }
    Ok(())
}

/// What is recorded: the whole host, and what waits where that may be seen.
fn options(args: &Args) -> RecordOptions {
    let mut options = RecordOptions::without_file(Target::System);
    options.hz = args.hz;
    options.interval = args.interval;
    options.wait_hz = Some(*zwhy_record::WAIT_HZ.start());
    options.facts.limits = super::limits::fact();
    options
}

/// A capture, from its beginning to its end.
fn play(args: &Args, mut replay: Replay, mut seen: Seen, stop: &AtomicBool) -> Result<()> {
    let mut lines = Lines::new(args, &seen.model);
    if args.latency {
        seen.model.latency = Latencies::of_capture();
    }
    let mut next = replay.next();
    while let Some(slice) = next.filter(|_| !stop.load(Ordering::Relaxed)) {
        next = replay.next();
        let now = slice.to;
        seen.model.push(slice);
        if next.is_none() {
            seen.decide(now);
        } else if !args.once {
            seen.decide_if_due_in_replay(now);
        }
        if (!args.once || next.is_none()) && !lines.show(&seen.model)? {
            break;
        }
    }
    Ok(())
}

fn opened(path: &Path, every: Duration) -> Result<Replay> {
    let capture = Capture::open(path).map_err(|error| match &error {
        // Notes, folded stacks and outputs of tools have no time that could be played.
        CaptureError::NotACapture { .. } => {
            anyhow!("{error}; top plays captures only, `zwhy explain {}` reads the rest", path.display())
        }
        _ => error.into(),
    })?;
    if capture.series.is_empty() && capture.profile.samples.is_empty() {
        return Err(usage(format!("{} holds nothing that was recorded over time", path.display())));
    }
    Ok(Replay::new(capture, every))
}

/// How intervals are printed.
enum Lines {
    Json,
    Csv { csv: Csv, headed: bool },
    Text { gap: &'static str },
}

impl Lines {
    fn new(args: &Args, model: &Model) -> Lines {
        match (args.json, args.csv) {
            (true, _) => Lines::Json,
            (_, true) => Lines::Csv { csv: Csv::new(model), headed: false },
            _ => Lines::Text { gap: if args.once { "" } else { "\n" } },
        }
    }

    /// Prints the newest interval; `false` when nobody reads any more.
    fn show(&mut self, model: &Model) -> Result<bool> {
        let text = match self {
            Lines::Json => {
                let Some(line) = model.line() else { return Ok(true) };
                serde_json::to_string(&line)? + "\n"
            }
            Lines::Csv { csv, headed } => {
                let Some(figures) = model.history().back() else { return Ok(true) };
                let header = if std::mem::replace(headed, true) { String::new() } else { csv.header() };
                header + &csv.row(figures)
            }
            Lines::Text { gap } => zwhy_live::text(model, output::style()) + gap,
        };
        // A program gets names as the host gave them, a terminal harmless ones.
        let data = !matches!(self, Lines::Text { .. });
        let text =
            if data && io::stdout().is_terminal() { zwhy_report::plain_lines(&text) + "\n" } else { text };
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(false),
            other => other.map(|()| true).context("cannot write to standard output"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clear_case_takes_half_the_time_and_no_other_more_than_two_verdicts() {
        for (confidence, end_s, verdicts) in [(CONFIDENT, 5, 1), (CONFIDENT - 0.01, 10, 2), (0.0, 10, 2)] {
            let (mut glance, mut made) = (Glance::default(), 0);
            let mut decide = || {
                made += 1;
                confidence
            };
            let end = (1..60).find(|s| glance.is_over(Duration::from_secs(*s), &mut decide));
            assert_eq!((end, made), (Some(end_s), verdicts), "{confidence}");
        }
    }
}
