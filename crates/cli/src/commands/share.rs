//! `zwhy share`: a capture without names and its answer, for showing to strangers.

use crate::failure::{usage, usage_about};
use crate::load::{ReadArgs, answer, load_whole};
use crate::output;
use anyhow::{Context, Result};
use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};
use zwhy_capture::{Capture, Redactor};
use zwhy_diagnose::Knowledge;
use zwhy_evidence::Imported;
use zwhy_profile::Event;
use zwhy_report::{grouped, labelled, plain};

#[derive(clap::Args, Debug)]
pub struct Args {
    /// Capture, or a profile of another tool; `-` is standard input.
    input: PathBuf,
    /// Capture to write, X.zwhy; the answer goes beside it, X.md.
    #[arg(short, long, value_name = "X.zwhy")]
    output: PathBuf,
    /// Write without asking.
    #[arg(short, long)]
    yes: bool,
}

/// How the input is called in the answer: file names tell of hosts, too.
const NAME: &str = "redacted";

/// Says what is in it before it writes, and asks on a terminal.
pub fn run(args: &Args) -> Result<()> {
    let markdown = check(args)?;
    let mut redactor = Redactor::default();
    let shared = Shared::of(&args.input, &mut redactor)?;
    output::note(&told(&args.output, &markdown, &shared.account(), &redactor));
    if !args.yes && !std::io::stdin().is_terminal() {
        return Err(usage_about("sharing", "nobody can be asked here whether to write it; give --yes"));
    }
    if !args.yes && !agreed()? {
        output::note("nothing was written");
        return Ok(());
    }
    let text = shared.write(&args.output)?;
    output::write_file(&markdown, text.as_bytes())?;
    for path in [&args.output, &markdown] {
        output::print(&format!("{}\n", plain(&path.display().to_string())))?;
    }
    Ok(())
}

/// Before anything is read: where both files go, neither of which may be there.
fn check(args: &Args) -> Result<PathBuf> {
    if output::is_stdout(&args.output) {
        return Err(usage_about(
            "sharing",
            "two files are written, so they cannot go to standard output; name one with -o",
        ));
    }
    output::check(&args.output, &output::CAPTURE, "this writes a capture: name it X.zwhy")?;
    // Strangers get the file: they, and what they open it with, know it by its name only.
    if !zwhy_place::ending(&args.output).is_some_and(|e| output::CAPTURE.contains(&e.as_str())) {
        let name = args.output.with_extension("zwhy");
        let said =
            format!("{} is not the name of a capture; name it {}", args.output.display(), name.display());
        return Err(usage_about("sharing", said));
    }
    let markdown = args.output.with_extension("md");
    for path in [&args.output, &markdown] {
        if path.exists() {
            return Err(usage(format!("{} is there already; name another file", path.display())));
        }
    }
    Ok(markdown)
}

/// What will be written, without names.
enum Shared {
    Capture(Box<Capture>),
    /// The file of another tool.
    Imported(Box<Imported>),
}

impl Shared {
    fn of(path: &Path, redactor: &mut Redactor) -> Result<Shared> {
        if let Some(path) = crate::load::capture_path(path)? {
            let mut capture = Capture::open(&path)?;
            redactor.redact_capture(&mut capture);
            capture.keep_losses();
            return Ok(Shared::Capture(Box::new(capture)));
        }
        let read = ReadArgs { redact: true, ..ReadArgs::default() };
        Ok(Shared::Imported(Box::new(load_whole(path, &read, redactor)?)))
    }

    /// Samples that the recorder or damage to the file took.
    fn lost(&self) -> u64 {
        match self {
            Shared::Capture(capture) => capture.facts.recorder.lost.unwrap_or(0),
            Shared::Imported(imported) => imported.stats.lost,
        }
    }

    /// What is in it, in a line.
    fn account(&self) -> String {
        let (profile, readings) = match self {
            Shared::Capture(capture) => (&capture.profile, capture.series.len()),
            Shared::Imported(imported) => (&imported.evidence.profile, 0),
        };
        let samples: u64 = Event::ALL.into_iter().map(|event| profile.samples.total(event)).sum();
        let lost = match self.lost() {
            0 => String::new(),
            n => format!(" ({} are lost)", grouped(n)),
        };
        format!(
            "{} samples{lost} of {} threads, {} functions, {} readings of counters, facts of the host and of OpenZFS",
            grouped(samples),
            grouped(profile.threads.len() as u64),
            grouped(profile.frames.len() as u64),
            grouped(readings as u64)
        )
    }

    /// Writes the capture; returns the answer to it, in Markdown.
    fn write(self, path: &Path) -> Result<String> {
        match self {
            Shared::Capture(capture) => zwhy_capture::write_capture(*capture, path)?,
            Shared::Imported(imported) => zwhy_capture::write_imported(*imported, path)?,
        };
        // The answer is that of the file as it is now, so it can say nothing that is not in it.
        let mut imported = Capture::open(path)?.into_imported(NAME);
        imported.evidence.set_recorder_aside();
        Ok(zwhy_report::answer_markdown(&answer(&imported, &Knowledge::embedded(), NAME)))
    }
}

/// What is written, what was replaced and what stays.
fn told(capture: &Path, markdown: &Path, account: &str, redactor: &Redactor) -> String {
    let of = |(kind, count): (&'static str, usize)| {
        let kind = match kind {
            "fs" => "dataset",
            "snap" => "snapshot",
            "path" => "part of a path",
            kind => kind,
        };
        match (count, kind) {
            (1, kind) => format!("1 {kind}"),
            (n, "part of a path") => format!("{n} parts of paths"),
            (n, "process") => format!("{n} processes"),
            (n, "address") => format!("{n} addresses"),
            (n, kind) => format!("{n} {kind}s"),
        }
    };
    let replaced: Vec<String> = redactor.replaced().into_iter().map(of).collect();
    let replaced = if replaced.is_empty() { "no name was found".to_owned() } else { replaced.join(", ") };
    let left_out = match redactor.left_out() {
        0 => "nothing".to_owned(),
        n => format!("{n} properties, notes and facts that may hold anything"),
    };
    let files =
        format!("{} and {}", plain(&capture.display().to_string()), plain(&markdown.display().to_string()));
    let rows = [
        ("Writes", files.as_str()),
        ("Holds", account),
        ("Replaced", replaced.as_str()),
        ("Left out", left_out.as_str()),
        (
            "Stays",
            "functions and modules, also of your own programs; threads of ZFS and of the kernel; parameters, \
             properties of OpenZFS, versions, CPU, times, figures",
        ),
    ];
    let lines: String = rows.iter().map(|(label, text)| labelled(label, 10, text, 80)).collect();
    lines.trim_end().to_owned()
}

fn agreed() -> Result<bool> {
    output::print("Write it? [y/N] ")?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).context("cannot read the answer")?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}
