//! `zwhy explain`: why the CPU is busy, with evidence and remedy.

use crate::load::{ReadArgs, answer, load};
use crate::output;
use anyhow::Result;
use std::path::PathBuf;

#[derive(clap::Args, Debug)]
pub struct Args {
    /// Capture, profile, evidence JSON or pasted text; `-` is standard input.
    input: PathBuf,
    /// Print the whole answer as JSON.
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print Markdown for an issue thread.
    #[arg(long)]
    markdown: bool,
    /// Show every finding with all evidence, all stages and threads.
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    knowledge: super::knowledge::KnowledgeArgs,
}

pub fn run(args: &Args) -> Result<()> {
    let knowledge = args.knowledge.load()?;
    let imported = load(&args.input, &args.read.with_tools(&knowledge))?;
    let answer = answer(&imported, &knowledge, &args.read.name_of(&args.input));
    let text = if args.json {
        zwhy_report::answer_json(&answer)?
    } else if args.markdown {
        zwhy_report::answer_markdown(&answer)
    } else {
        let input = if args.read.redact { "-".to_owned() } else { args.input.display().to_string() };
        zwhy_report::answer_text(&answer, args.verbose, &input, output::style())
    };
    output::print(&text)
}
