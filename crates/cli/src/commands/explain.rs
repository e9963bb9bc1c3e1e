//! `zwhy explain`: why the CPU is busy, with evidence and remedy.

use crate::failure::usage;
use crate::load::{ReadArgs, answer, answer_of, load, load_with};
use crate::output;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use zwhy_capture::Redactor;
use zwhy_diagnose::{Answer, Classified, Done, Knowledge, Side, classify, did_it_help, offloaded};
use zwhy_evidence::Imported;

#[derive(clap::Args, Debug)]
pub struct Args {
    /// Capture, profile, evidence JSON or pasted text; `-` is standard input.
    input: PathBuf,
    /// Say whether a change helped: INPUT is from before it, AFTER from after it. Where NAME.load lies beside
    /// NAME.zwhy on both sides ({"bytes": …, "operations": …, "seconds": …}), it tells how much the load did.
    #[arg(long, value_name = "AFTER")]
    after: Option<PathBuf>,
    /// Print the whole answer as JSON.
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print Markdown for an issue thread.
    #[arg(long)]
    markdown: bool,
    /// Show every finding with all evidence, all stages and threads.
    #[arg(short, long)]
    verbose: bool,
    /// Also say what a device could bring at most (Amdahl's bound): offload=compress, or several of compress,
    /// decompress, checksum and raidz, as offload=compress,checksum.
    #[arg(long, value_name = "offload=STAGES", conflicts_with_all = ["json", "markdown", "after"])]
    what_if: Option<String>,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    knowledge: super::knowledge::KnowledgeArgs,
}

pub fn run(args: &Args) -> Result<()> {
    let knowledge = args.knowledge.load_until_exit()?;
    if let Some(after) = &args.after {
        return compare(args, after, knowledge);
    }
    let imported = load(&args.input, &args.read.with_tools(knowledge))?;
    let answer = answer(&imported, knowledge, &args.read.name_of(&args.input));
    let text = if args.json {
        zwhy_report::answer_json(&answer)?
    } else if args.markdown {
        zwhy_report::answer_markdown(&answer)
    } else {
        let input = if args.read.redact { "-".to_owned() } else { args.input.display().to_string() };
        zwhy_report::answer_text(&answer, args.verbose, &input, output::style()) + &what_if(args, &answer)?
    };
    output::print(&text)
}

/// What is asked by `--what-if`; nothing without it.
fn what_if(args: &Args, answer: &Answer) -> Result<String> {
    let Some(asked) = &args.what_if else { return Ok(String::new()) };
    let stages = asked
        .strip_prefix("offload=")
        .ok_or_else(|| usage(format!("--what-if {asked}: write offload=STAGES, as offload=compress")))?;
    let offloaded = offloaded(answer, stages).map_err(|what| usage(format!("--what-if {asked}: {what}")))?;
    Ok(zwhy_report::offloaded_text(&offloaded, answer, output::style()))
}

/// Two inputs: did what was changed between them help?
fn compare(args: &Args, after: &Path, knowledge: &Knowledge) -> Result<()> {
    let (paths, read) = ([&args.input, after], args.read.with_tools(knowledge));
    if paths.iter().all(|path| *path == Path::new("-")) {
        bail!("only one of the two can be standard input; name a file for the other");
    }
    let mut redactor = Redactor::default();
    let imported = [load_with(paths[0], &read, &mut redactor)?, load_with(paths[1], &read, &mut redactor)?];
    let classified = [&imported[0], &imported[1]].map(|i| classify(&i.evidence.profile, &knowledge.anatomy));
    let side = |at: usize| side(paths[at], &read, &imported[at], &classified[at], knowledge);
    let answer = did_it_help(&side(0)?, &side(1)?, knowledge);
    let text = if args.json {
        zwhy_report::after_json(&answer)?
    } else if args.markdown {
        zwhy_report::after_markdown(&answer)
    } else {
        zwhy_report::after_text(&answer, args.verbose, output::style())
    };
    output::print(&text)
}

fn side<'a>(
    path: &Path,
    read: &ReadArgs,
    imported: &'a Imported,
    classified: &'a Classified,
    knowledge: &Knowledge,
) -> Result<Side<'a>> {
    let (evidence, stats) = (&imported.evidence, imported.stats.clone());
    let answer = answer_of(evidence, classified, stats, knowledge, &read.name_of(path));
    Ok(Side { evidence, classified, answer, done: done(path)? })
}

/// What a file of a load looks like.
const LOAD: &str = "{\"bytes\": 1000000000, \"seconds\": 20}";

/// What the load counted, from the file beside a capture.
fn done(path: &Path) -> Result<Option<Done>> {
    let beside = path.with_extension("load");
    if path.extension().is_none_or(|e| e != "zwhy") || !beside.is_file() {
        return Ok(None);
    }
    let text = std::fs::read_to_string(&beside).map_err(|e| output::file_error("read", &beside, &e))?;
    if text.trim().is_empty() {
        return Ok(None);
    }
    let value: serde_json::Value = serde_json::from_str(&text).with_context(|| {
        format!("{} lies beside a capture but is not JSON; write {LOAD}, or move it away", beside.display())
    })?;
    let number = |name: &str| value[name].as_f64().filter(|n| n.is_finite() && *n >= 0.0);
    let Some(seconds) = number("seconds").filter(|s| *s > 0.0) else {
        bail!(
            "{} has no \"seconds\" above 0, the time in which the load did what it counts; write {LOAD}, or move \
             it away",
            beside.display()
        );
    };
    let of = |name: &str| number(name).unwrap_or(0.0);
    Ok(Some(Done { bytes: of("bytes"), operations: of("operations"), seconds }))
}
