//! `zwhy diff`: what really changed between two profiles.

use crate::load::{ReadArgs, answer, load};
use crate::output;
use anyhow::Result;
use std::path::PathBuf;
use zwhy_diagnose::{Knowledge, classify};
use zwhy_evidence::Imported;
use zwhy_flame::{FlameTree, Roots, Side, StageOf, SvgOptions};
use zwhy_profile::Event;
use zwhy_report::{Block, DiffReport};

#[derive(clap::Args, Debug)]
pub struct Args {
    /// Before.
    a: PathBuf,
    /// After.
    b: PathBuf,
    /// Rows of each table.
    #[arg(short = 'n', long, default_value_t = 20)]
    count: usize,
    /// Print JSON.
    #[arg(long, conflicts_with = "output")]
    json: bool,
    /// Write a differential flame graph (X.svg or X.html) too.
    #[arg(short, long)]
    output: Option<PathBuf>,
    #[command(flatten)]
    read: ReadArgs,
}

pub fn run(args: &Args) -> Result<()> {
    let (a, b) = (load(&args.a, &args.read)?, load(&args.b, &args.read)?);
    let knowledge = Knowledge::embedded();
    let report = DiffReport::new(&a.evidence.profile, &b.evidence.profile, &knowledge);
    if let Some(path) = &args.output {
        write_graph(path, args, [&a, &b], &knowledge)?;
    }
    let text = if args.json { report.json()? } else { report.text(args.count, output::style()) };
    output::print(&text)
}

fn write_graph(
    path: &std::path::Path,
    args: &Args,
    sides: [&Imported; 2],
    knowledge: &Knowledge,
) -> Result<()> {
    let classified = sides.map(|i| classify(&i.evidence.profile, &knowledge.anatomy));
    let mut tree = FlameTree::new(Event::Cpu, &classified[0].stages);
    for ((imported, stages), side) in sides.iter().zip(&classified).zip([Side::A, Side::B]) {
        let stage_of = StageOf { names: &stages.stages, by_stack: &stages.node_stage };
        tree.add(&imported.evidence.profile, Some(stage_of), Roots::Threads, side);
    }
    let title = format!("{} → {}", args.a.display(), args.b.display());
    if path.extension().is_some_and(|e| e == "svg") {
        let picture = zwhy_flame::svg(&tree, &SvgOptions { title, ..SvgOptions::default() });
        return output::write_file(path, picture.as_bytes());
    }
    let answer = answer(sides[1], knowledge, &title);
    let blocks =
        [Block::json("answer", &answer)?, Block { id: "flame", gzip: zwhy_flame::encode_block(&tree)? }];
    output::write_file(path, zwhy_report::page(&blocks)?.as_bytes())
}
