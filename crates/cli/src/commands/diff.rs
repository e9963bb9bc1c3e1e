//! `zwhy diff`: what really changed between two profiles.

use super::flame::Form;
use crate::drawing::StagesOf;
use crate::load::{ReadArgs, answer_of, draw, load_with, tell};
use crate::output;
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};
use zwhy_capture::Redactor;
use zwhy_diagnose::{Classified, Knowledge, Side as Whose, classify, did_it_help};
use zwhy_evidence::Imported;
use zwhy_flame::{FlameTree, Roots, Side, SvgOptions};
use zwhy_profile::Event;
use zwhy_report::{Block, DiffReport, DiffSide};

/// What to do with samples that are not compared.
const OTHERS: &str = "only CPU samples are compared; zwhy flame --event NAME draws these";

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
    /// Write a differential flame graph (X.svg or X.html) too; `-` writes only the picture.
    #[arg(short, long)]
    output: Option<PathBuf>,
    #[command(flatten)]
    read: ReadArgs,
}

pub fn run(args: &Args) -> Result<()> {
    let form = args.output.as_deref().map(Form::of).transpose()?;
    let mut redactor = Redactor::default();
    let mut a = load_with(&args.a, &args.read, &mut redactor)?;
    let mut b = load_with(&args.b, &args.read, &mut redactor)?;
    draw(&mut a);
    draw(&mut b);
    for (path, imported) in [(&args.a, &a), (&args.b, &b)] {
        tell(&args.read.name_of(path), imported);
        crate::drawing::tell_left_out(imported, Event::Cpu, OTHERS);
        if imported.evidence.profile.total(Event::Cpu) == 0 {
            bail!("nothing to compare: {} has no CPU samples with stacks", path.display());
        }
    }
    let knowledge = Knowledge::embedded();
    let classified = [&a, &b].map(|i| classify(&i.evidence.profile, &knowledge.anatomy));
    let [before, after] = [(&a, &classified[0]), (&b, &classified[1])];
    let report = DiffReport::new(side(before), side(after));
    if let (Some(path), Some(form)) = (&args.output, form) {
        write_graph(path, form, args, [before, after], &report, &knowledge)?;
        if output::is_stdout(path) {
            return Ok(());
        }
    }
    let text = match args.json {
        true => report.json()?,
        false => report.text(args.count, output::width(), output::style()),
    };
    output::print(&text)
}

fn side<'a>((imported, classified): (&'a Imported, &'a Classified)) -> DiffSide<'a> {
    DiffSide { profile: &imported.evidence.profile, classified }
}

/// A side as the question whether a change helped takes it; what the load did is not known here.
fn whole_side<'a>(
    (imported, classified): (&'a Imported, &'a Classified),
    knowledge: &Knowledge,
    name: &str,
) -> Whose<'a> {
    let answer = answer_of(&imported.evidence, classified, imported.stats.clone(), knowledge, name);
    Whose { evidence: &imported.evidence, classified, answer, done: None }
}

fn write_graph(
    path: &Path,
    form: Form,
    args: &Args,
    sides: [(&Imported, &Classified); 2],
    report: &DiffReport,
    knowledge: &Knowledge,
) -> Result<()> {
    let [(before, _), (after, classified)] = sides;
    let mut tree = FlameTree::new(Event::Cpu, &classified.stages);
    for ((imported, classified), side) in sides.into_iter().zip([Side::A, Side::B]) {
        tree.add(&imported.evidence.profile, Some(&StagesOf(classified)), Roots::Threads, side);
    }
    let title = format!("{} → {}", args.read.name_of(&args.a), args.read.name_of(&args.b));
    if form == Form::Svg {
        let picture = zwhy_flame::svg(&tree, &SvgOptions { title, ..SvgOptions::default() });
        return output::write_file(path, picture.as_bytes());
    }
    let mut stats = after.stats.clone();
    let notes = zwhy_report::stats_notes(&before.stats);
    stats.warnings.extend(notes.iter().map(|note| format!("{}: {note}", args.read.name_of(&args.a))));
    let answer = answer_of(&after.evidence, classified, stats, knowledge, &title);
    let (a, b) = (args.read.name_of(&args.a), args.read.name_of(&args.b));
    let helped =
        did_it_help(&whole_side(sides[0], knowledge, &a), &whole_side(sides[1], knowledge, &b), knowledge);
    let blocks = [
        Block::json("answer", &answer)?,
        Block::json("compare", &report.page(&helped)?)?,
        Block { id: "flame", gzip: zwhy_flame::encode_block(&tree)? },
    ];
    output::write_file(path, zwhy_report::page(&blocks)?.as_bytes())
}
