//! `zwhy knowledge`: the causes that zwhy knows, and checks of one's own.

use crate::failure::usage;
use crate::load::{ReadArgs, load_told};
use crate::output;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zwhy_diagnose::{Knowledge, SourceText, coverage, gain_words, lint, run_tests};
use zwhy_evidence::{Evidence, Imported};
use zwhy_paste::Tools;
use zwhy_paste::tool::check_samples;
use zwhy_profile::Event;
use zwhy_report::{Align, Grid, labelled, remedy_text};

/// Where causes come from besides those built in.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct KnowledgeArgs {
    /// Add the cause, anatomy and tool files of this folder (DIR/causes/*.toml, DIR/anatomy/*.toml,
    /// DIR/tools/*.toml).
    #[arg(long = "knowledge", value_name = "DIR", global = true)]
    dir: Option<PathBuf>,
}

impl KnowledgeArgs {
    /// # Errors
    /// When a file of the folder cannot be read or used: a cause that is silently missing would
    /// make answers wrong.
    pub fn load(&self) -> Result<Knowledge> {
        let Some(dir) = &self.dir else { return Ok(Knowledge::embedded()) };
        let knowledge = with(dir)?;
        match knowledge.problems.first() {
            Some(problem) => {
                bail!("{problem}; `zwhy knowledge lint --knowledge {}` lists all", dir.display())
            }
            None => Ok(knowledge),
        }
    }

    /// For a command that answers once and ends: taking the knowledge apart piece by piece would take
    /// more than a tenth of its CPU time.
    ///
    /// # Errors
    /// As [`KnowledgeArgs::load`].
    pub fn load_until_exit(&self) -> Result<&'static Knowledge> {
        Ok(Box::leak(Box::new(self.load()?)))
    }
}

/// What is built in and the files of a folder, with the problems of both.
fn with(dir: &Path) -> Result<Knowledge> {
    let (anatomy, causes) = (texts(&dir.join("anatomy"))?, texts(&dir.join("causes"))?);
    let tools = texts(&dir.join("tools"))?;
    if anatomy.is_empty() && causes.is_empty() && tools.is_empty() {
        bail!(
            "{} has no causes/*.toml, anatomy/*.toml or tools/*.toml; name the folder above them",
            dir.display()
        );
    }
    let knowledge = Knowledge::with(&anatomy, &causes);
    if tools.is_empty() {
        return Ok(knowledge);
    }
    let tools: Vec<(String, String)> = tools.into_iter().map(|t| (t.name, t.text)).collect();
    Ok(knowledge.with_tools(Arc::new(Tools::with(&tools, false))))
}

fn texts(folder: &Path) -> Result<Vec<SourceText>> {
    let mut paths: Vec<PathBuf> = match std::fs::read_dir(folder) {
        Ok(entries) => entries.filter_map(|e| e.ok().map(|e| e.path())).collect(),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(e).with_context(|| format!("cannot read the folder {}", folder.display())),
    };
    paths.retain(|p| p.extension().is_some_and(|e| e == "toml"));
    paths.sort();
    let read = |path: PathBuf| {
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(SourceText::new(path.display().to_string(), text))
    };
    paths.into_iter().map(read).collect()
}

#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    source: KnowledgeArgs,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// List the causes, one a line.
    List,
    /// Show one cause.
    Show { class: String },
    /// Check the knowledge and run the tests inside it.
    Lint,
    /// List the ZFS functions of a capture that belong to no known stage.
    Unknown {
        /// Capture or profile; `-` is standard input.
        input: PathBuf,
        /// How many functions to show.
        #[arg(short = 'n', long, default_value_t = 30)]
        count: usize,
        /// Print JSON.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        read: ReadArgs,
    },
    /// Write the causes as a book for mdBook, one page each.
    Book {
        /// Folder to write; files of the same names are replaced.
        #[arg(short, long, value_name = "DIR")]
        output: PathBuf,
    },
}

pub fn run(args: &Args) -> Result<()> {
    match &args.command {
        Command::List => list(&args.source.load()?),
        Command::Show { class } => show(&args.source.load()?, class),
        Command::Lint => check(&args.source),
        Command::Unknown { input, count, json, read } => {
            unknown(&args.source.load()?, &load_told(input, read)?, *count, *json)
        }
        Command::Book { output } => book(&args.source.load()?, output),
    }
}

fn list(knowledge: &Knowledge) -> Result<()> {
    let mut grid = Grid::new(0, &[Align::Left, Align::Left]);
    for cause in &knowledge.causes {
        grid.row([&cause.class, &cause.title]);
    }
    output::print(&(grid.lines(output::width()).join("\n") + "\n"))
}

fn show(knowledge: &Knowledge, class: &str) -> Result<()> {
    let Some(cause) = knowledge.cause(class) else {
        return Err(usage(format!("no cause is called {class}; `zwhy knowledge list` names them all")));
    };
    let mut text = format!("{}\n\n", output::style().bold(&cause.title));
    // Names are those of the host in an answer.
    let general = |text: &str| text.replace("{dataset}", "DATASET").replace("{pool}", "POOL");
    let part = |label: &str, text: &str| labelled(label, 9, &general(text), 80);
    text.push_str(&part("What", &cause.explanation));
    text.push_str(&remedy_text(cause, output::style()));
    if let Some(rule) = &cause.gain {
        text.push_str(&part("Gain", &gain_words(rule)));
    }
    text.push_str(&part("Affects", &cause.affected));
    for reference in &cause.references {
        text.push_str(&labelled("See", 9, reference, 80));
    }
    output::print(&text)
}

fn book(knowledge: &Knowledge, folder: &Path) -> Result<()> {
    let source = folder.join("src");
    std::fs::create_dir_all(&source).with_context(|| format!("cannot create {}", source.display()))?;
    let pages = zwhy_report::field_guide(knowledge);
    for page in &pages {
        let path = folder.join(&page.path);
        output::write_file(&path, page.text.as_bytes())?;
    }
    output::note(&format!(
        "{} pages in {}; read them there or run `mdbook build`",
        pages.len(),
        folder.display()
    ));
    Ok(())
}

fn unknown(knowledge: &Knowledge, imported: &Imported, count: usize, json: bool) -> Result<()> {
    crate::drawing::tell_left_out(imported, Event::Cpu, "only CPU samples have stages");
    let mut found = coverage(&imported.evidence.profile, &knowledge.anatomy);
    if found.zfs == 0 {
        bail!("no CPU sample of it is ZFS's; record while ZFS works: zwhy record -a -d 60 -o host.zwhy");
    }
    let more = found.unknown.len().saturating_sub(count);
    found.unknown.truncate(count);
    if json {
        return output::print(&(serde_json::to_string_pretty(&found)? + "\n"));
    }
    let percent = |samples: u64| format!("{:.1} %", 100.0 * samples as f64 / found.zfs as f64);
    let mut text = format!(
        "{} of {} CPU samples of ZFS are in a named stage: {}\n",
        found.named,
        found.zfs,
        percent(found.named)
    );
    if found.unknown.is_empty() {
        return output::print(&(text + "Every function has an entry.\n"));
    }
    let mut grid = Grid::new(0, &[Align::Left, Align::Left, Align::Right, Align::Right, Align::Left]);
    grid.row(["function", "module", "samples", "of ZFS", "counted as"]);
    for row in &found.unknown {
        let (samples, share) = (row.samples.to_string(), percent(row.samples));
        grid.row([&row.function, &row.module, &samples, &share, &row.counted_as]);
    }
    text.push_str("\nWithout an entry in knowledge/anatomy; their callers decide\n");
    text.push_str(&(grid.lines(output::width()).join("\n") + "\n"));
    if more > 0 {
        text.push_str(&format!("and {more} more (-n)\n"));
    }
    output::print(&text)
}

/// A pasted report of an inline test, read as any other.
fn paste(text: &str) -> Result<Evidence, String> {
    let imported = zwhy_formats::import_bytes(
        "report.txt",
        text.as_bytes().to_vec(),
        &zwhy_formats::ImportOptions::default(),
    );
    imported.map(|i| i.evidence).map_err(|e| e.to_string())
}

fn check(source: &KnowledgeArgs) -> Result<()> {
    let knowledge = match &source.dir {
        // Read anew, and every pattern of them: what cannot be used is left out without a word elsewhere.
        None => Knowledge::embedded().with_tools(Arc::new(Tools::with(&[], true))),
        Some(dir) => with(dir)?,
    };
    let mut lines: Vec<String> =
        lint(&knowledge).into_iter().map(|i| format!("{}: {}", i.file, i.what)).collect();
    // Tests mean nothing while a file is left out.
    let outcomes = if knowledge.problems.is_empty() { run_tests(&knowledge, &paste) } else { Vec::new() };
    let tests = outcomes.len();
    lines.extend(
        outcomes
            .into_iter()
            .filter(|o| !o.passed)
            .map(|o| format!("{}: test `{}`: {}", o.class, o.test, o.what)),
    );
    let samples = check_samples(&knowledge.tools);
    let read = samples.len();
    let wrong = samples.into_iter().flat_map(|o| {
        o.wrong.into_iter().map(move |what| format!("{}: sample {}: {what}", o.file, o.sample))
    });
    lines.extend(wrong);
    if lines.is_empty() {
        let (causes, tools) = (knowledge.causes.len(), knowledge.tools.samples.len());
        let all = format!("{causes} causes, {tests} tests; {tools} tools, {read} samples: all good\n");
        return output::print(&all);
    }
    output::print(&(zwhy_report::plain_lines(&lines.join("\n")) + "\n"))?;
    let things = if lines.len() == 1 { "thing" } else { "things" };
    bail!("{} {things} to repair in the knowledge", lines.len())
}
