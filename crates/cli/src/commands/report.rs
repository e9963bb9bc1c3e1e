//! `zwhy report`: the answer, stages, threads and flame graph as one offline page, of one input or of several.

use crate::load::{ReadArgs, load, tell};
use crate::output;
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};
use zwhy_diagnose::{Answer, Knowledge};
use zwhy_evidence::Imported;
use zwhy_flame::Roots;
use zwhy_formats::with_drawn;
use zwhy_report::{Block, Input, page_data, page_of_all};

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
    let knowledge = args.knowledge.load_until_exit()?;
    let read = args.read.with_tools(knowledge);
    if args.inputs.iter().filter(|path| *path == Path::new("-")).count() > 1 {
        bail!("standard input (-) is named twice, and can be read once: name it once");
    }
    let mut inputs = Vec::new();
    for path in &args.inputs {
        let imported = load(path, &read)?;
        let name = args.read.name_of(path);
        tell(&name, with_drawn(&imported).as_ref().unwrap_or(&imported));
        let (blocks, answer) = blocks_of(&imported, &name, knowledge, Roots::Threads)?;
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
    let (blocks, _) = blocks_of(imported, name, knowledge, roots)?;
    output::write_result(path, zwhy_report::page(&blocks)?.as_bytes())
}

/// The data of the page of one input, with the answer that it shows.
pub fn blocks_of(
    imported: &Imported,
    name: &str,
    knowledge: &Knowledge,
    roots: Roots,
) -> Result<(Vec<Block>, Answer)> {
    Ok(page_data(imported, with_drawn(imported).as_ref(), name, knowledge, roots)?)
}
