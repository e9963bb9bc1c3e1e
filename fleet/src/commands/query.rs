//! `zwhy-fleet query`: one question to a store, answered for people, programs or other tools.

use super::ScopeArgs;
use crate::text::{grid, percent, plain, print, print_json};
use anyhow::{Result, bail};
use clap::{Subcommand, ValueEnum};
use std::io::Write;
use zwhy_diagnose::Knowledge;
use zwhy_fleet::{
    Apart, Picture, Scheduler, Store, findings, hosts, kstat_points, kstats, moment_text, span_ms,
    stages_over_time,
};
use zwhy_formats::ExportOptions;
use zwhy_profile::Event;

#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    ask: Ask,
}

#[derive(clap::Args, Debug)]
struct Of {
    /// The store: a folder, file:///PATH or s3://BUCKET/PREFIX.
    #[arg(long, value_name = "STORE")]
    store: String,
    /// Let the executors of this scheduler run the query; see `zwhy-fleet scheduler`.
    #[arg(long, value_name = "df://HOST:PORT")]
    scheduler: Option<Scheduler>,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Of {
    fn open(&self) -> Result<Store> {
        super::open(&self.store, self.scheduler.as_ref())
    }
}

#[derive(Subcommand, Debug)]
enum Ask {
    /// Hosts, those with most kernel time first.
    Hosts(Of),
    /// CPU time by stage of ZFS's work.
    Stages {
        #[command(flatten)]
        of: Of,
        /// Stages of each host in steps of time: 10s, 5m, 1h.
        #[arg(long, value_name = "TIME", value_parser = step)]
        step: Option<i64>,
    },
    /// Functions, the largest own count first.
    Functions {
        #[command(flatten)]
        of: Of,
        #[command(flatten)]
        which: Which,
        /// How many are shown.
        #[arg(long, value_name = "N", default_value_t = 30)]
        most: usize,
    },
    /// All stacks: folded lines for flamegraph.pl, or pprof.
    Flame {
        #[command(flatten)]
        of: Of,
        #[command(flatten)]
        which: Which,
        /// What is written: folded lines, or pprof (gzip).
        #[arg(long, value_enum, default_value_t = Form::Folded)]
        format: Form,
    },
    /// What the engine found, the surest first.
    Findings(Of),
    /// Counters and gauges, and the readings of one where --source and --name choose it.
    Kstat {
        #[command(flatten)]
        of: Of,
        /// As the recorder calls it: arcstats, tank/iostats.
        #[arg(long)]
        source: Option<String>,
        #[arg(long)]
        name: Option<String>,
    },
}

#[derive(clap::Args, Debug)]
struct Which {
    /// Which samples: time on CPU, waiting, or calls.
    #[arg(long, value_name = "cpu|wait|count", default_value = "cpu", value_parser = event)]
    event: Event,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    Folded,
    Pprof,
}

fn event(name: &str) -> Result<Event, String> {
    Event::from_name(name).ok_or_else(|| format!("`{name}` is none of cpu, wait and count"))
}

fn step(text: &str) -> Result<i64, String> {
    let hint = || format!("`{text}` is no time; write 10s, 5m or 1h");
    span_ms(text).filter(|ms| *ms > 0).ok_or_else(hint)
}

pub async fn run(args: &Args) -> Result<()> {
    match &args.ask {
        Ask::Hosts(of) => print_hosts(of).await,
        Ask::Stages { of, step: Some(step) } => print_steps(of, *step).await,
        Ask::Stages { of, step: None } => print_stages(of).await,
        Ask::Functions { of, which, most } => print_functions(of, which.event, *most).await,
        Ask::Flame { of, which, format } => write_flame(of, which.event, *format).await,
        Ask::Findings(of) => print_findings(of).await,
        Ask::Kstat { of, source: Some(source), name: Some(name) } => print_points(of, source, name).await,
        Ask::Kstat { of, source, name } => print_kstats(of, source.as_deref(), name.as_deref()).await,
    }
}

async fn print_hosts(of: &Of) -> Result<()> {
    let rows = hosts(&of.open()?, of.scope.scope(), &Knowledge::embedded().anatomy).await?;
    if of.json {
        return print_json(&rows);
    }
    let heading = ["host", "kernel", "ZFS", "idle", "most", "samples", "from", "to", "findings"];
    let row = |r: &zwhy_fleet::HostRow| {
        vec![
            r.host.clone(),
            percent(r.cpu.kernel),
            percent(r.cpu.zfs),
            percent(r.cpu.idle),
            r.cpu.most.clone().unwrap_or_default(),
            r.cpu.samples.to_string(),
            moment_text(r.begin_ms),
            moment_text(r.end_ms),
            r.findings.join(", "),
        ]
    };
    print(&grid(&heading, &[1, 2, 3, 5], &rows.iter().map(row).collect::<Vec<_>>()))
}

async fn print_stages(of: &Of) -> Result<()> {
    let picture = picture(of).await?;
    let rows = picture.stages(&Knowledge::embedded().anatomy);
    if of.json {
        return print_json(&rows);
    }
    let row = |r: &zwhy_fleet::StageRow| vec![percent(r.share), r.samples.to_string(), r.stage.clone()];
    print(&grid(&["share", "samples", "stage"], &[0, 1], &rows.iter().map(row).collect::<Vec<_>>()))
}

async fn print_steps(of: &Of, step_ms: i64) -> Result<()> {
    let (store, knowledge) = (of.open()?, Knowledge::embedded());
    let points = stages_over_time(&store, of.scope.scope(), step_ms, &knowledge.anatomy).await?;
    if of.json {
        return print_json(&points);
    }
    let row = |p: &zwhy_fleet::StagePoint| {
        vec![p.host.clone(), moment_text(p.begin_ms), p.samples.to_string(), p.stage.clone()]
    };
    print(&grid(&["host", "time", "samples", "stage"], &[2], &points.iter().map(row).collect::<Vec<_>>()))
}

async fn print_functions(of: &Of, event: Event, most: usize) -> Result<()> {
    let mut rows = picture(of).await?.functions(event);
    rows.truncate(most);
    if of.json {
        return print_json(&rows);
    }
    let row = |r: &zwhy_fleet::FunctionRow| {
        let function =
            if r.module.is_empty() { r.function.clone() } else { format!("{} [{}]", r.function, r.module) };
        vec![percent(r.self_share), percent(r.total_share), r.own.to_string(), function]
    };
    print(&grid(
        &["self", "total", "samples", "function"],
        &[0, 1, 2],
        &rows.iter().map(row).collect::<Vec<_>>(),
    ))
}

async fn write_flame(of: &Of, event: Event, format: Form) -> Result<()> {
    if of.json {
        bail!("flame has no JSON; --format folded and --format pprof are read by other tools");
    }
    let format = match format {
        Form::Folded => "folded",
        Form::Pprof => "pprof",
    };
    let evidence = picture(of).await?.evidence();
    let options = ExportOptions { event, ..ExportOptions::default() };
    let mut out = std::io::stdout().lock();
    zwhy_formats::export(&evidence, format, &options, "standard output", &mut out)?;
    out.flush()?;
    Ok(())
}

async fn print_findings(of: &Of) -> Result<()> {
    let rows = findings(&of.open()?, &of.scope.scope()).await?;
    if of.json {
        return print_json(&rows);
    }
    let heading = ["host", "confidence", "share", "in", "from", "to", "class", "about"];
    let row = |r: &zwhy_fleet::Lasting| {
        vec![
            r.host.clone(),
            percent(r.confidence),
            r.share.map(percent).unwrap_or_default(),
            format!("{} of {}", r.units, r.of_units),
            moment_text(r.begin_ms),
            moment_text(r.end_ms),
            r.class.clone(),
            r.scope.join(", "),
        ]
    };
    print(&grid(&heading, &[1, 2], &rows.iter().map(row).collect::<Vec<_>>()))
}

async fn print_kstats(of: &Of, source: Option<&str>, name: Option<&str>) -> Result<()> {
    let rows = kstats(&of.open()?, of.scope.scope(), source, name).await?;
    if of.json {
        return print_json(&rows);
    }
    let row = |r: &zwhy_fleet::KstatRow| {
        let numbers = [r.readings, r.least, r.most].map(|n| n.to_string());
        [vec![r.host.clone(), r.source.clone(), r.name.clone(), r.kind.clone()], numbers.to_vec()].concat()
    };
    let heading = ["host", "source", "name", "kind", "readings", "least", "most"];
    print(&grid(&heading, &[4, 5, 6], &rows.iter().map(row).collect::<Vec<_>>()))
}

async fn print_points(of: &Of, source: &str, name: &str) -> Result<()> {
    let points = kstat_points(&of.open()?, of.scope.scope(), source, name).await?;
    if of.json {
        return print_json(&points);
    }
    let row = |p: &zwhy_fleet::KstatPoint| vec![p.host.clone(), moment_text(p.t_ms), p.value.to_string()];
    print(&grid(&["host", "time", "value"], &[2], &points.iter().map(row).collect::<Vec<_>>()))
}

/// All samples of the scope; rows that were not believed are told.
async fn picture(of: &Of) -> Result<Picture> {
    let picture = Picture::take(&of.open()?, of.scope.scope(), Apart::Nothing).await?;
    if picture.refused > 0 {
        let refused = picture.refused;
        let told = format!("note: {refused} rows of names are left out: their ids are those of other names");
        let _ = writeln!(std::io::stderr(), "{}", plain(&told));
    }
    Ok(picture)
}
