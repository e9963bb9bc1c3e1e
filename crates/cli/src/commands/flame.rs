//! `zwhy flame`: a flame graph as SVG or as an interactive page.

use crate::failure::usage;
use crate::load::{ReadArgs, drawn, load, tell};
use crate::output;
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};
use zwhy_diagnose::{Classified, Knowledge, classify};
use zwhy_evidence::Imported;
use zwhy_flame::{FlameTree, Roots, Side, Stages, SvgOptions};
use zwhy_place::Place;
use zwhy_profile::{Event, StackId, ThreadId};

#[derive(clap::Args, Debug)]
pub struct Args {
    /// Capture or profile; `-` is standard input.
    input: PathBuf,
    /// X.svg for a picture, X.html for the interactive page; `-` is the picture on standard output.
    #[arg(short, long)]
    output: PathBuf,
    /// Which samples to draw: time on CPU, waiting, or calls; without it CPU where there is any.
    #[arg(long, value_name = "cpu|wait|count", value_parser = event_name)]
    event: Option<Event>,
    /// Do not group stacks by thread.
    #[arg(long)]
    no_threads: bool,
    #[command(flatten)]
    read: ReadArgs,
}

pub fn run(args: &Args) -> Result<()> {
    let form = Form::of(&args.output)?;
    let knowledge = Knowledge::embedded();
    let roots = if args.no_threads { Roots::Frames } else { Roots::Threads };
    let name = args.read.name_of(&args.input);
    let imported = load(&args.input, &args.read)?;
    let made = drawn(&imported);
    let picture = made.as_ref().unwrap_or(&imported);
    tell(&name, picture);
    let event = event_of(picture, args.event)?;
    match form {
        Form::Svg => {
            tell_left_out(picture, event, BY_OPTION);
            let classified = classify(&picture.evidence.profile, &knowledge.anatomy);
            let title = format!("{name} · {}", event.name());
            let options = SvgOptions { title, ..SvgOptions::default() };
            let picture = zwhy_flame::svg(&tree(picture, &classified, event, roots), &options);
            output::write_result(&args.output, picture.as_bytes())
        }
        Form::Html => super::report::write_page(&imported, &name, &knowledge, roots, &args.output),
    }
}

/// What a flame graph is written as, by the name of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Svg,
    Html,
}

impl Form {
    /// Where no file comes of it, as with a pipe, its name need not tell: then it is the picture.
    pub fn of(path: &Path) -> Result<Form> {
        let ending = zwhy_place::ending(path);
        let form = match ending.as_deref() {
            Some("svg") => Form::Svg,
            Some("html" | "htm") => Form::Html,
            _ if path == Path::new("-") => return Ok(Form::Svg),
            _ => {
                let names = "name it X.svg for a picture or X.html for a page";
                zwhy_place::check_name(path, &[], &format!("this draws a flame graph: {names}"))
                    .map_err(|e| usage(e.to_string()))?;
                if Place::of(path)?.is_stream() {
                    return Ok(Form::Svg);
                }
                return Err(usage(format!("cannot tell what to write to {}: {names}", path.display())));
            }
        };
        Place::of(path)?;
        Ok(form)
    }
}

/// An event by its name.
pub fn event_name(name: &str) -> Result<Event, String> {
    Event::from_name(name).ok_or_else(|| format!("`{name}` is none of cpu, wait and count"))
}

/// The event that was asked for, else the main one.
pub fn event_of(imported: &Imported, asked: Option<Event>) -> Result<Event> {
    asked.map_or_else(|| main_event(imported), |event| asked_event(imported, event))
}

/// The event, if the input has samples of it.
fn asked_event(imported: &Imported, event: Event) -> Result<Event> {
    let profile = &imported.evidence.profile;
    if profile.total(event) > 0 {
        return Ok(event);
    }
    let there: Vec<&str> =
        Event::ALL.into_iter().filter(|e| profile.total(*e) > 0).map(Event::name).collect();
    let has =
        if there.is_empty() { "no samples at all".to_owned() } else { format!("only {}", there.join(", ")) };
    let hint = match event {
        Event::Wait => "; zwhy record --wait records waiting",
        _ => "",
    };
    bail!("there are no samples of {} in the input, {has}{hint}", event.name())
}

/// The event to draw: CPU if there is any, else what there is.
fn main_event(imported: &Imported) -> Result<Event> {
    let profile = &imported.evidence.profile;
    match Event::ALL.into_iter().find(|e| profile.total(*e) > 0) {
        Some(event) => Ok(event),
        None => bail!(
            "there are no samples to draw or write: the input has no stacks and no functions with their share, only other figures; zwhy explain shows what it has"
        ),
    }
}

/// How another event is chosen where there is an option for it.
pub const BY_OPTION: &str = "--event NAME takes them";

/// Says which samples are not in the result, how many they are and, with `how`, how to take them.
pub fn tell_left_out(imported: &Imported, event: Event, how: &str) {
    let profile = &imported.evidence.profile;
    let amount = |event| profile.measure(event).unit.words(profile.total(event));
    let others: Vec<String> = Event::ALL
        .into_iter()
        .filter(|other| *other != event && profile.total(*other) > 0)
        .map(|other| {
            let name = other.name();
            format!("{} of {name} ({})", amount(other), how.replace("NAME", name))
        })
        .collect();
    if !others.is_empty() {
        output::note(&format!(
            "taken: {} of {}; left out: {}",
            amount(event),
            event.name(),
            others.join(", ")
        ));
    }
}

/// The call tree of one event, coloured by stage.
pub fn tree(imported: &Imported, classified: &Classified, event: Event, roots: Roots) -> FlameTree {
    let mut tree = FlameTree::new(event, &classified.stages);
    tree.add(&imported.evidence.profile, Some(&StagesOf(classified)), roots, Side::A);
    tree
}

/// The stages of a profile's samples, as a flame graph asks for them.
pub struct StagesOf<'a>(pub &'a Classified);

impl Stages for StagesOf<'_> {
    fn names(&self) -> &[String] {
        &self.0.stages
    }

    fn kind_of(&self, thread: ThreadId) -> u8 {
        self.0.kind_of(thread)
    }

    fn stage_on(&self, stack: StackId, kind: u8) -> u8 {
        self.0.stage_on(stack, kind)
    }
}
