//! `zwhy diff`: what really changed between two profiles.

use super::flame::Form;
use crate::load::{ReadArgs, answer_of, draw, load_with, tell};
use crate::output;
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};
use zwhy_capture::Redactor;
use zwhy_diagnose::{Classified, Knowledge, Side as Whose, classify, did_it_help};
use zwhy_evidence::Imported;
use zwhy_flame::{FlameTree, Roots, Side, SvgOptions};
use zwhy_profile::Event;
use zwhy_report::{Block, DiffReport, DiffSide, StagesOf};

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
    let names = [args.read.name_of(&args.a), args.read.name_of(&args.b)];
    if form == Form::Svg {
        let options = SvgOptions { title: title(&names), ..SvgOptions::default() };
        return output::write_file(path, zwhy_flame::svg(&tree_of(sides), &options).as_bytes());
    }
    output::write_file(path, page_of_two(sides, &names, report, knowledge)?.as_bytes())
}

fn title([before, after]: &[String; 2]) -> String {
    format!("{before} → {after}")
}

/// Both sides in one tree.
fn tree_of(sides: [(&Imported, &Classified); 2]) -> FlameTree {
    let mut tree = FlameTree::new(Event::Cpu, &sides[1].1.stages);
    for ((imported, classified), side) in sides.into_iter().zip([Side::A, Side::B]) {
        tree.add(&imported.evidence.profile, Some(&StagesOf(classified)), Roots::Threads, side);
    }
    tree
}

/// The page that compares two inputs, before and after.
pub fn compare_page(sides: [&Imported; 2], names: &[String; 2], knowledge: &Knowledge) -> Result<String> {
    for (imported, name) in sides.into_iter().zip(names) {
        if imported.evidence.profile.total(Event::Cpu) == 0 {
            bail!("nothing to compare: {name} has no CPU samples with stacks");
        }
    }
    let classified = sides.map(|i| classify(&i.evidence.profile, &knowledge.anatomy));
    let [before, after] = [(sides[0], &classified[0]), (sides[1], &classified[1])];
    page_of_two([before, after], names, &DiffReport::new(side(before), side(after)), knowledge)
}

fn page_of_two(
    sides: [(&Imported, &Classified); 2],
    names: &[String; 2],
    report: &DiffReport,
    knowledge: &Knowledge,
) -> Result<String> {
    let [(before, _), (after, classified)] = sides;
    let mut stats = after.stats.clone();
    let notes = zwhy_report::stats_notes(&before.stats);
    stats.warnings.extend(notes.iter().map(|note| format!("{}: {note}", names[0])));
    let answer = answer_of(&after.evidence, classified, stats, knowledge, &title(names));
    let [a, b] = [0, 1].map(|i| whole_side(sides[i], knowledge, &names[i]));
    let tree = tree_of(sides);
    let blocks = [
        Block::json("answer", &answer)?,
        Block::json("compare", &report.page(&did_it_help(&a, &b, knowledge))?)?,
        Block { id: "flame", gzip: zwhy_flame::encode_block(&tree, &tree.nodes())? },
    ];
    Ok(zwhy_report::page(&blocks)?)
}
