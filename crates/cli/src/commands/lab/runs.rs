//! Running an experiment, and going on with one.

use super::captures::explain_captures;
use super::plan::{Chosen, Wanted};
use super::shown::Shown;
use super::vm;
use crate::failure::usage;
use crate::lab_recorder::LabRecorder;
use crate::{output, stop};
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use zwhy_lab::{
    ChildProgram, Engine, ExperimentResult, LabError, Likeness, NullRecorder, Recorder, RunOptions,
};

#[derive(clap::Args, Debug)]
pub struct RunArgs {
    #[command(flatten)]
    chosen: Chosen,
    #[command(flatten)]
    vm: vm::VmArgs,
    /// Folder for captures and results; new or empty.
    #[arg(short, long, default_value = "zwhy-lab")]
    output: PathBuf,
    /// Folder for the pool, new or empty; emptied afterwards. Default: inside the output folder.
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// The libzpool to run instead of the one that is installed.
    #[arg(long, value_name = "FILE")]
    library: Option<PathBuf>,
    /// Write a sample of the files in this folder instead of made-up data: what compresses, and at what cost, is then
    /// what it is with them. They are only read; the sample is removed at the end.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Seed for the order of the runs, to repeat an experiment exactly.
    #[arg(long)]
    seed: Option<u64>,
    /// Samples a second while recording.
    #[arg(short = 'F', long = "frequency", value_name = "HZ", default_value_t = 499,
          value_parser = clap::value_parser!(u32).range(1..=4999))]
    hz: u32,
    /// Explain this capture in full, such as aes-256-ccm-read, instead of the one with the strongest finding.
    #[arg(long, value_name = "CAPTURE", conflicts_with_all = ["no_record", "json"])]
    explain: Option<String>,
    /// Measure only; record no captures. Where the host forbids sampling, zwhy does this by itself and says so.
    #[arg(long)]
    no_record: bool,
    /// Keep the pool of each run in the output folder (pool/0000 and so on), for lab verify and zdb.
    #[arg(long)]
    keep: bool,
    /// Print the result as JSON instead of tables.
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args, Debug)]
pub struct ResumeArgs {
    /// Output folder of the experiment.
    folder: PathBuf,
    /// As of lab run.
    #[arg(long, value_name = "DIR", hide = true)]
    vm: Option<PathBuf>,
    /// Print the result as JSON instead of tables.
    #[arg(long)]
    json: bool,
}

pub fn run(args: &RunArgs) -> Result<ExitCode> {
    let wanted = args.chosen.wanted(args.library.as_deref())?;
    for sentence in wanted.like.iter().flat_map(Likeness::sentences) {
        output::note(&sentence);
    }
    if wanted.in_vm {
        return run_in_vm(&wanted, args);
    }
    let Wanted { mut experiment, size, size_spec, stop, pool, like, .. } = wanted;
    if args.data.is_some() {
        experiment.write_sample().map_err(|what| usage(format!("--data: {what}")))?;
    }
    zwhy_place::check_name(&args.output, &[], "this writes a folder of captures: name it without an ending")
        .map_err(|e| usage(e.to_string()))?;
    refuse_used(&args.output)?;
    if args.keep && experiment.engine == Engine::Pool {
        return Err(usage("--keep is for the engine user; the engine pool destroys its pool"));
    }
    let mut options = RunOptions::new(&args.output, ChildProgram::this([super::CHILD]));
    options.size = size;
    options.size_spec = Some(size_spec);
    options.stop = stop;
    options.scratch.clone_from(&args.scratch);
    options.library.clone_from(&args.library);
    options.pool = pool;
    options.seed = args.seed;
    options.data.clone_from(&args.data);
    options.keep = args.keep;
    options.like = like;
    options.hz = rate(args)?;
    options.command = std::env::args().collect();
    options.cancel = stop::flag()?;
    let hz = options.hz;
    let result = with_recorder(hz, |recorder, shown| zwhy_lab::run(&experiment, &options, recorder, shown))?;
    tell(result, &args.output, args.explain.as_deref(), args.json)
}

/// How often recordings sample; `None` without recordings, which are left out where this host forbids them.
fn rate(args: &RunArgs) -> Result<Option<u32>> {
    if args.no_record {
        return Ok(None);
    }
    match zwhy_record::try_sampling_own() {
        Ok(()) => Ok(Some(args.hz)),
        Err(error) if args.explain.is_some() => Err(error.into()),
        Err(error) => {
            output::note(&format!(
                "{error}\nthe experiment is measured without captures, as with --no-record"
            ));
            Ok(None)
        }
    }
}

fn run_in_vm(wanted: &Wanted, args: &RunArgs) -> Result<ExitCode> {
    if args.keep || args.data.is_some() || args.scratch.is_some() || args.library.is_some() {
        return Err(usage(
            "--keep, --data, --scratch and --library are for engines on this host, not for the VM",
        ));
    }
    refuse_used(&args.output)?;
    let call = vm::Call { chosen: &args.chosen, seed: args.seed, hz: (!args.no_record).then_some(args.hz) };
    let mut shown = Shown::new();
    let result = vm::run(wanted, &args.vm, &call, &args.output, &mut shown);
    shown.bar.finish_and_clear();
    let mut result = result?;
    if let Some(like) = &wanted.like {
        vm::note_likeness(&mut result, like);
        result.write(&args.output)?;
    }
    tell(result, &args.output, args.explain.as_deref(), args.json)
}

pub fn resume(args: &ResumeArgs) -> Result<ExitCode> {
    if vm::has_begun(&args.folder) {
        let mut shown = Shown::new();
        let result = vm::resume(&args.folder, args.vm.as_deref(), &mut shown);
        shown.bar.finish_and_clear();
        return tell(result?, &args.folder, None, args.json);
    }
    let mut options = RunOptions::new(&args.folder, ChildProgram::this([super::CHILD]));
    options.cancel = stop::flag()?;
    let hz = zwhy_lab::planned_hz(&args.folder)?;
    let result = with_recorder(hz, |recorder, shown| zwhy_lab::resume(&options, recorder, shown))?;
    tell(result, &args.folder, None, args.json)
}

/// Runs with the recorder that the plan wants, and a progress bar.
fn with_recorder(
    hz: Option<u32>,
    work: impl FnOnce(&mut dyn Recorder, &mut Shown) -> Result<ExperimentResult, LabError>,
) -> Result<ExperimentResult> {
    let mut shown = Shown::new();
    let result = match hz {
        Some(hz) => work(&mut LabRecorder::new(hz), &mut shown),
        None => work(&mut NullRecorder, &mut shown),
    };
    shown.bar.finish_and_clear();
    Ok(result?)
}

/// Prints the result; a run that failed is an error after it.
fn tell(mut result: ExperimentResult, folder: &Path, explain: Option<&str>, json: bool) -> Result<ExitCode> {
    super::functions::add_functions(&mut result, folder)?;
    let result = &result;
    if json {
        output::print(&(serde_json::to_string_pretty(result)? + "\n"))?;
    } else {
        super::print_text(&zwhy_lab::table(result))?;
        explain_captures(result, folder, explain)?;
        output::print(&page_hint(folder))?;
    }
    let Some(first) = result.failed.first() else { return Ok(ExitCode::SUCCESS) };
    let again = match folder.join("plan.json").exists() || vm::has_begun(folder) {
        true => format!("zwhy lab resume {} tries these again", folder.display()),
        false => "what a VM began cannot be resumed".to_owned(),
    };
    bail!(
        "{} of {} runs did not end; {again}. {}",
        result.failed.len(),
        result.failed.len() + result.runs.len(),
        first.error
    )
}

/// How to see every run.
fn page_hint(folder: &Path) -> String {
    let folder = folder.display().to_string();
    let page = format!("{}.html", folder.trim_end_matches('/'));
    format!(
        "\nEvery run on one page: zwhy lab report {} -o {}\n",
        zwhy_report::shell_word(&folder),
        zwhy_report::shell_word(&page)
    )
}

/// Captures of two experiments in one folder could not be told apart.
fn refuse_used(folder: &Path) -> Result<()> {
    match std::fs::read_dir(folder).ok().and_then(|mut entries| entries.next()) {
        Some(Ok(_)) if folder.join("plan.json").exists() || vm::has_begun(folder) => bail!(
            "the output folder {0} holds an experiment already; name a new one with -o, or go on with it: \
             zwhy lab resume {0}",
            folder.display()
        ),
        Some(Ok(entry)) => bail!(
            "the output folder {} is not empty ({}); name a new one with -o, or empty it",
            folder.display(),
            entry.file_name().display()
        ),
        _ => Ok(()),
    }
}
