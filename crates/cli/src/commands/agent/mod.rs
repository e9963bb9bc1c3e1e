//! `zwhy agent`: record all the time, into a folder that keeps the last hours.

mod capture;
mod status;

use crate::failure::usage;
use crate::{output, stop};
use anyhow::Result;
use clap::Subcommand;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use zwhy_agent::{Agent, AgentOptions, StoreAt};
use zwhy_record::{RecordOptions, Target};

#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Folder for the recorded hours: by default $STATE_DIRECTORY, else /var/lib/zwhy.
    #[arg(long, value_name = "DIR", global = true)]
    spool: Option<PathBuf>,
    #[command(flatten)]
    run: RunArgs,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Say whether the agent runs, what the spool holds, and what was found.
    Status(status::Args),
    /// Write a part of the spool as one capture.
    Capture(capture::Args),
}

#[derive(clap::Args, Debug)]
struct RunArgs {
    /// Keep this much recorded time: 90m, 24h, 7d.
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = span)]
    keep: Duration,
    /// Keep this much of it as it was recorded; what is older is kept as sums, in about a sixth of the bytes: samples of ten
    /// seconds by stack and name of thread, counters of a minute.
    #[arg(long, value_name = "TIME", default_value = "2h", value_parser = span)]
    detail: Duration,
    /// Keep at most this many bytes: 500M, 2G.
    #[arg(long, value_name = "BYTES", default_value = "1G", value_parser = bytes)]
    max_bytes: u64,
    /// Samples a second on each CPU, 1 to 4999.
    #[arg(short = 'F', long = "frequency", value_name = "HZ", default_value_t = 49,
          value_parser = clap::value_parser!(u32).range(1..=4999))]
    hz: u32,
    /// Seconds between two readings of the counters, 1 to 60.
    #[arg(short, long, value_name = "SECONDS", default_value = "5", value_parser = interval)]
    interval: Duration,
    /// Serve metrics for Prometheus at http://ADDRESS/metrics; `none` serves nothing. Whoever reaches the address may read
    /// them: names of pools and datasets, and figures.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9934", value_parser = listen)]
    listen: Listen,
    /// Send finished files to this store: a folder (file:///mnt/fleet) or a bucket (s3://BUCKET/PREFIX, whose keys and
    /// address are in variables, see `zwhy help environment`). While it is away all stays in the spool.
    #[arg(long, value_name = "STORE", value_parser = store)]
    ship: Option<StoreAt>,
    /// Also record what ZFS threads and blocked tasks wait for, ten times a second (CAP_SYS_ADMIN).
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    knowledge: crate::commands::knowledge::KnowledgeArgs,
}

pub fn run(args: &Args) -> Result<()> {
    let spool = spool(args.spool.as_ref());
    match &args.command {
        Some(Command::Status(of)) => status::run(of, &spool),
        Some(Command::Capture(of)) => capture::run(of, &spool),
        None => record(&args.run, spool),
    }
}

fn spool(named: Option<&PathBuf>) -> PathBuf {
    // systemd gives all folders of a unit, with colons between them.
    let given = std::env::var("STATE_DIRECTORY").ok();
    let given = given.and_then(|folders| folders.split(':').next().map(PathBuf::from));
    named.cloned().or(given).unwrap_or_else(|| PathBuf::from("/var/lib/zwhy"))
}

fn record(args: &RunArgs, spool: PathBuf) -> Result<()> {
    let mut record = RecordOptions::without_file(Target::System);
    record.hz = args.hz;
    record.interval = args.interval;
    record.wait_hz = args.wait.then(|| *zwhy_record::WAIT_HZ.start());
    record.facts.limits = super::limits::fact();
    let mut options = AgentOptions::new(spool, record);
    (options.limits.age, options.limits.bytes) = (args.keep, args.max_bytes);
    options.limits.detail = args.detail;
    if options.limits.bytes < MOST_OF_A_FILE {
        return Err(usage("--max-bytes is too little for a few minutes; give 16M or more"));
    }
    let knowledge = args.knowledge.load()?;
    let stop = stop::flag()?;
    options.listen = args.listen.0;
    options.store.clone_from(&args.ship);
    let mut agent = Agent::start(options, knowledge)?;
    for sentence in agent.missing() {
        output::note(&format!("missing: {}", zwhy_report::plain(sentence)));
    }
    let folder = zwhy_report::plain(&agent.spool().display().to_string()).into_owned();
    if let Some(url) = agent.listens() {
        output::note(&format!("metrics are at {url}"));
    }
    output::note(&format!("recording into {folder}; Ctrl-C or SIGTERM ends it"));
    let ended = agent.run(&stop);
    output::note(&format!("ended; {folder} holds what was recorded"));
    Ok(ended?)
}

fn store(text: &str) -> Result<StoreAt, String> {
    StoreAt::at(text, &|name| std::env::var(name).ok())
}

/// Where metrics are served, if anywhere.
#[derive(Clone, Copy, Debug)]
struct Listen(Option<SocketAddr>);

fn listen(text: &str) -> Result<Listen, String> {
    if text == "none" {
        return Ok(Listen(None));
    }
    let odd = |_| format!("`{text}` is no address and port; write 127.0.0.1:9934, [::1]:9934 or none");
    text.parse().map(|address| Listen(Some(address))).map_err(odd)
}

/// What five minutes of a large host may take.
const MOST_OF_A_FILE: u64 = 16 << 20;

fn interval(text: &str) -> Result<Duration, String> {
    super::record::interval(text, 1.0)
}

/// A number and what its unit stands for; 1 without one.
fn with_unit<'t>(text: &'t str, units: &[(char, u64)]) -> (&'t str, u64) {
    let found = units.iter().find_map(|(letter, unit)| Some((text.strip_suffix(*letter)?, *unit)));
    found.unwrap_or((text, 1))
}

/// `90`, `90s`, `10m`, `24h` or `7d`.
fn span(text: &str) -> Result<Duration, String> {
    let (number, unit) = with_unit(text, &[('s', 1), ('m', 60), ('h', 3600), ('d', 86_400)]);
    let value: f64 = number.parse().map_err(|_| format!("`{text}` is no time; write 90s, 10m, 24h or 7d"))?;
    let seconds = value * unit as f64;
    match (1.0..=3.2e8).contains(&seconds) {
        true => Ok(Duration::from_secs_f64(seconds)),
        false => Err(format!("{text} is out of range; give a second to ten years")),
    }
}

/// `1000000`, `500M`, `2G`: in powers of 1024.
fn bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = with_unit(text, &[('K', 1 << 10), ('M', 1 << 20), ('G', 1 << 30), ('T', 1 << 40)]);
    let bytes = number.parse().ok().and_then(|number: u64| number.checked_mul(unit));
    bytes.ok_or_else(|| format!("`{text}` is no number of bytes; write 500M or 2G"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_bytes_as_people_write_them() {
        let s = Duration::from_secs;
        assert_eq!(
            ["90", "90s", "10m", "1.5h", "7d"].map(span),
            [s(90), s(90), s(600), s(5400), s(604_800)].map(Ok)
        );
        for odd in ["", "m", "-1h", "0", "9y", "1000000d", "é"] {
            assert!(span(odd).is_err(), "{odd}");
        }
        assert_eq!(["7", "1K", "500M", "2G"].map(bytes), [7, 1 << 10, 500 << 20, 2 << 30].map(Ok));
        for odd in ["", "G", "-1", "1.5G", "99999999T", "1é"] {
            assert!(bytes(odd).is_err(), "{odd}");
        }
    }
}
