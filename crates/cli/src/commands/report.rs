//! `zwhy report`: the answer, stages, threads and flame graph as one offline page, of one input or of several.

use crate::load::{ReadArgs, answer_of, drawn, load, tell};
use crate::output;
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};
use zwhy_diagnose::{Answer, Knowledge, classify};
use zwhy_evidence::{Evidence, Imported};
use zwhy_flame::{Roots, encode_block, encode_samples};
use zwhy_profile::Event;
use zwhy_report::{Block, Input, Timeline, fact_tables, page_of_all};

#[derive(clap::Args, Debug)]
pub struct Args {
    /// Captures, profiles, evidence JSON or pasted text; `-` is standard input. Of several the page shows one at a time.
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// Page to write, X.html; `-` is standard output.
    #[arg(short, long)]
    output: PathBuf,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    knowledge: super::knowledge::KnowledgeArgs,
}

pub fn run(args: &Args) -> Result<()> {
    output::check(&args.output, &["html", "htm"], "this writes a page: name it X.html")?;
    let knowledge = args.knowledge.load()?;
    let read = args.read.with_tools(&knowledge);
    if args.inputs.iter().filter(|path| *path == Path::new("-")).count() > 1 {
        bail!("standard input (-) is named twice, and can be read once: name it once");
    }
    let mut inputs = Vec::new();
    for path in &args.inputs {
        let imported = load(path, &read)?;
        let name = args.read.name_of(path);
        tell(&name, drawn(&imported).as_ref().unwrap_or(&imported));
        let (blocks, answer) = blocks_of(&imported, &name, &knowledge, Roots::Threads)?;
        inputs.push(Input { name, why: answer.why, blocks });
    }
    output::write_result(&args.output, page_of_all(&inputs)?.as_bytes())
}

pub fn write_page(
    imported: &Imported,
    name: &str,
    knowledge: &Knowledge,
    roots: Roots,
    path: &Path,
) -> Result<()> {
    let (page, _) = page_of(imported, name, knowledge, roots)?;
    output::write_result(path, page.as_bytes())
}

/// The page of one input, with the answer that it shows.
pub fn page_of(
    imported: &Imported,
    name: &str,
    knowledge: &Knowledge,
    roots: Roots,
) -> Result<(String, Answer)> {
    let (blocks, answer) = blocks_of(imported, name, knowledge, roots)?;
    Ok((zwhy_report::page(&blocks)?, answer))
}

/// The data of the page of one input, with the answer that it shows.
fn blocks_of(
    imported: &Imported,
    name: &str,
    knowledge: &Knowledge,
    roots: Roots,
) -> Result<(Vec<Block>, Answer)> {
    // The answer rests on what was read; only the drawings need samples of everything.
    let made = drawn(imported);
    let shown = made.as_ref().unwrap_or(imported);
    let stages = |imported: &Imported| classify(&imported.evidence.profile, &knowledge.anatomy);
    let classified = stages(imported);
    let of_shown = made.as_ref().map(stages);
    let of_shown = of_shown.as_ref().unwrap_or(&classified);
    let answer = answer_of(&imported.evidence, &classified, shown.stats.clone(), knowledge, name);
    let mut blocks = vec![Block::json("answer", &answer)?];
    for (event, id) in [(Event::Cpu, "flame"), (Event::Wait, "flame-wait"), (Event::Count, "flame-count")] {
        if shown.evidence.profile.total(event) > 0 {
            let tree = crate::drawing::tree_with_rows(shown, of_shown, event, roots);
            blocks.push(Block { id, gzip: encode_block(&tree)? });
            if event == Event::Cpu
                && let Some(gzip) = encode_samples(&tree, &shown.evidence.profile)?
            {
                blocks.push(Block { id: "samples", gzip });
            }
        }
    }
    blocks.extend(surroundings(&imported.evidence)?);
    Ok((blocks, answer))
}

/// What was read beside the samples: counters over time, and what the host is like.
fn surroundings(evidence: &Evidence) -> Result<Vec<Block>> {
    let (timeline, facts) = (Timeline::of(evidence), fact_tables(evidence));
    let mut blocks = Vec::new();
    if !timeline.is_empty() {
        blocks.push(Block::json("timeline", &timeline)?);
    }
    if !facts.is_empty() {
        blocks.push(Block::json("facts", &facts)?);
    }
    Ok(blocks)
}
