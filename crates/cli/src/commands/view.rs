//! `zwhy view`: the page of each input on the loopback address, and of any two beside each other.
//!
//! Inputs are read once, before the first page is shown. What a browser asks for is the number of an input, or of
//! an input and a part of its data, never the name of a file. A page comes with the answer; its graphs and other large
//! parts of its data follow when the page asks for them.

use crate::load::{ReadArgs, draw, load_with, tell};
use crate::output;
use anyhow::{Context, Result};
use std::collections::HashMap;
use std::fs::Permissions;
use std::io::{IsTerminal, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use tempfile::NamedTempFile;
use zwhy_capture::Redactor;
use zwhy_diagnose::Knowledge;
use zwhy_evidence::Imported;
use zwhy_flame::Roots;
use zwhy_formats::with_drawn;
use zwhy_report::{
    Block, INPUTS_POLICY, INPUTS_STYLE, InputRow, inputs_page, page_in_pieces, page_in_pieces_policy,
};
use zwhy_serve::{Page, Server, Site};

#[derive(clap::Args, Debug)]
pub struct Args {
    /// Captures, profiles, evidence JSON or pasted text; `-` is standard input. Several are shown as a list.
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// Port to listen on; without it a free one.
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Only print the address, open no browser.
    #[arg(long)]
    no_open: bool,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    knowledge: super::knowledge::KnowledgeArgs,
}

pub fn run(args: &Args) -> Result<()> {
    let knowledge = args.knowledge.load()?;
    let stop = crate::stop::flag()?;
    // A port that is taken is told before the work begins.
    let server = Server::bind(args.port)?;
    let pages = Pages::read(args, knowledge)?;
    output::print(&format!("{}\n", server.url()))?;
    output::note("open to this machine only, to who has the whole address; Ctrl-C ends it");
    let opened = if args.no_open { None } else { open_browser(&server.url()) };
    server.run(&pages, &stop)?;
    drop(opened);
    Ok(())
}

/// What can be asked for: each input's page, the list of all, and comparisons, made when first asked for.
struct Pages {
    knowledge: Knowledge,
    policy: String,
    inputs: Vec<Shown>,
    list: String,
    compared: Mutex<HashMap<[usize; 2], String>>,
}

/// An input that was read, with its page.
struct Shown {
    name: String,
    page: String,
    /// The blocks that are not in the page.
    pieces: Vec<Block>,
    imported: Imported,
}

impl Pages {
    fn read(args: &Args, knowledge: Knowledge) -> Result<Pages> {
        let read = args.read.with_tools(&knowledge);
        let mut redactor = Redactor::default();
        let (mut inputs, mut rows) = (Vec::new(), Vec::new());
        for path in &args.inputs {
            let mut imported = load_with(path, &read, &mut redactor)?;
            let name = args.read.name_of(path);
            tell(&name, with_drawn(&imported).as_ref().unwrap_or(&imported));
            let (mut blocks, answer) =
                super::report::blocks_of(&imported, &name, &knowledge, Roots::Threads)?;
            let page = page_in_pieces(&blocks, &(inputs.len() + 1).to_string())?;
            blocks.retain(Block::is_piece);
            rows.push(InputRow::of(&answer));
            draw(&mut imported);
            inputs.push(Shown { name, page, pieces: blocks, imported });
        }
        let compared = Mutex::default();
        Ok(Pages { knowledge, policy: page_in_pieces_policy()?, inputs, list: inputs_page(&rows), compared })
    }

    fn report(&self, html: &str) -> Page {
        Page::html(html, self.policy.as_str())
    }

    /// The input that a number names, counted from 1.
    fn numbered(&self, number: &str) -> Option<usize> {
        (0..self.inputs.len()).find(|i| (i + 1).to_string() == number)
    }

    /// What `NUMBER.ID` names: a block that is not in the page of that input.
    fn piece(&self, name: &str) -> Option<Page> {
        let (number, id) = name.split_once('.')?;
        let block = self.inputs[self.numbered(number)?].pieces.iter().find(|block| block.id == id)?;
        Some(Page::text(block.text()))
    }

    /// The comparison that a query such as `before=1&after=2` asks for.
    fn comparison(&self, query: &str) -> Result<Option<Page>, String> {
        let value = |key: &str| {
            query
                .split('&')
                .filter_map(|part| part.split_once('='))
                .find(|(name, _)| *name == key)
                .map(|(_, v)| v)
        };
        let input = |key| value(key).and_then(|number| self.numbered(number));
        let (Some(before), Some(after)) = (input("before"), input("after")) else { return Ok(None) };
        let mut compared = self.compared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(html) = compared.get(&[before, after]) {
            return Ok(Some(self.report(html)));
        }
        let sides = [before, after].map(|i| &self.inputs[i]);
        let names = sides.map(|side| side.name.clone());
        let html = super::diff::compare_page(sides.map(|side| &side.imported), &names, &self.knowledge)
            .map_err(|error| zwhy_report::plain_lines(&crate::failure::text(&error)) + "\n")?;
        let page = self.report(&html);
        compared.insert([before, after], html);
        Ok(Some(page))
    }
}

impl Site for Pages {
    fn page(&self, name: &str, query: &str) -> Result<Option<Page>, String> {
        Ok(match (name, self.inputs.as_slice()) {
            ("", [only]) => Some(self.report(&only.page)),
            ("", _) => Some(Page::html(self.list.as_str(), INPUTS_POLICY)),
            ("style.css", _) => {
                let policy = "default-src 'none'".to_owned();
                Some(Page { kind: "text/css; charset=utf-8", body: INPUTS_STYLE.into(), policy })
            }
            ("compare", _) => return self.comparison(query),
            (name, inputs) => match self.numbered(name) {
                Some(i) => Some(self.report(&inputs[i].page)),
                None => self.piece(name),
            },
        })
    }
}

/// Opens the address where there are a terminal, a screen and a program to open it with; the file by which it goes
/// to the browser lives as long as what is returned.
///
/// The address is not an argument of that program, as arguments can be read by everybody on the machine: a file that
/// only this user can read leads there.
fn open_browser(url: &str) -> Option<NamedTempFile> {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if !std::io::stdout().is_terminal() || !(is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")) {
        return None;
    }
    let opened = way_in(url).and_then(|file| {
        let mut command = Command::new("xdg-open");
        command.arg(file.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().context("xdg-open")?;
        // It ends when the browser has the address.
        std::thread::spawn(move || child.wait());
        Ok(file)
    });
    opened
        .inspect_err(|error| {
            output::note(&format!("cannot open a browser: {error:#}; open the address above"))
        })
        .ok()
}

/// A file of this user alone that leads to the address.
fn way_in(url: &str) -> Result<NamedTempFile> {
    let folder = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_dir());
    let mut file = tempfile::Builder::new()
        .prefix("zwhy-view-")
        .suffix(".html")
        .permissions(Permissions::from_mode(0o600))
        .tempfile_in(folder.as_deref().unwrap_or(Path::new("/tmp")))?;
    write!(
        file,
        "<!doctype html><meta http-equiv=\"refresh\" content=\"0; url={url}\"><a href=\"{url}\">zwhy view</a>"
    )?;
    file.flush()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_user_can_read_the_way_in() {
        let file = way_in("http://127.0.0.1:1/token/").expect("a file");
        let mode = std::fs::metadata(file.path()).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let text = std::fs::read_to_string(file.path()).expect("readable");
        assert!(text.contains("url=http://127.0.0.1:1/token/\""), "{text}");
    }
}
