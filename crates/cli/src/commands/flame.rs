//! `zwhy flame`: a flame graph as SVG or as an interactive page.

use crate::drawing::{BY_OPTION, event_name, event_of, tell_left_out};
use crate::failure::usage;
use crate::load::{ReadArgs, load, tell};
use crate::output;
use anyhow::Result;
use std::path::{Path, PathBuf};
use zwhy_diagnose::{Knowledge, classify};
use zwhy_flame::{Roots, SvgOptions};
use zwhy_formats::with_drawn;
use zwhy_place::Place;
use zwhy_profile::Event;

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
    let made = with_drawn(&imported);
    let picture = made.as_ref().unwrap_or(&imported);
    tell(&name, picture);
    let event = event_of(picture, args.event)?;
    match form {
        Form::Svg => {
            tell_left_out(picture, event, BY_OPTION);
            let classified = classify(&picture.evidence.profile, &knowledge.anatomy);
            let title = format!("{name} · {}", event.name());
            let options = SvgOptions { title, ..SvgOptions::default() };
            let picture = zwhy_flame::svg(&zwhy_report::tree(picture, &classified, event, roots), &options);
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
