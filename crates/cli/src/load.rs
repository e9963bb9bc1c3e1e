//! Any input as evidence: a capture, a recording under way, or a file of any known format.

use crate::failure::usage_about;
use crate::output;
use anyhow::{Context, Result};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zwhy_capture::{Capture, Redactor, part_folder};
use zwhy_diagnose::{Answer, Classified, Knowledge, Options, classify, explain_classified};
use zwhy_evidence::{Evidence, ImportStats, Imported};
use zwhy_formats::{ImportOptions, Input, WEIGHED};
use zwhy_paste::Tools;
use zwhy_profile::{Event, Measure, Nanos, Unit};

/// How inputs are read; the same options on every command that reads.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct ReadArgs {
    /// Read the input as this format instead of detecting the format.
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<String>,
    /// Name kernel addresses of a perf.data with this copy of /proc/kallsyms.
    #[arg(long, value_name = "FILE")]
    pub kallsyms: Option<PathBuf>,
    /// Add source lines and inlined functions to a perf.data where this host has the debug information
    /// of the recorded programs.
    #[arg(long)]
    pub lines: bool,
    /// Weight samples by the period they were recorded with, as `perf report` does, or count each once.
    #[arg(long, value_name = "samples|period", default_value = "period", value_parser = Weight::parse)]
    pub weight: Weight,
    /// Replace the names of hosts, pools, datasets, paths and processes, always by the same placeholder.
    #[arg(long)]
    pub redact: bool,
    /// How the output of tools is read; set by [`ReadArgs::with_tools`].
    #[arg(skip)]
    pub tools: Option<Arc<Tools>>,
}

/// What shares follow where samples carry uneven periods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weight {
    Samples,
    #[default]
    Period,
}

impl Weight {
    pub fn parse(name: &str) -> Result<Weight, String> {
        match name {
            "samples" => Ok(Weight::Samples),
            "period" => Ok(Weight::Period),
            _ => Err(format!("`{name}` is none of samples and period")),
        }
    }
}

impl ReadArgs {
    /// The same with the descriptions of tools that `--knowledge` adds.
    pub fn with_tools(&self, knowledge: &Knowledge) -> ReadArgs {
        ReadArgs { tools: Some(knowledge.tools.clone()), ..self.clone() }
    }

    /// Before anything is read: a name that no importer has.
    fn check(&self) -> Result<()> {
        let names = || zwhy_formats::importers().iter().map(|i| i.name);
        match &self.format {
            Some(format) if !names().any(|name| name == format) => {
                let all = names().collect::<Vec<_>>().join(", ");
                Err(usage_about("formats", format!("no format is called `{format}`; use one of {all}")))
            }
            _ => Ok(()),
        }
    }

    pub fn options(&self) -> ImportOptions {
        ImportOptions {
            format: self.format.clone(),
            kallsyms: self.kallsyms.clone(),
            lines: self.lines,
            by_samples: self.weight == Weight::Samples,
            tools: self.tools.clone(),
            ..ImportOptions::default()
        }
    }

    /// How an input is called in answers; file names tell of hosts, too.
    pub fn name_of(&self, path: &Path) -> String {
        if self.redact { "redacted".to_owned() } else { display_name(path) }
    }
}

/// How an input is called in answers.
pub fn display_name(path: &Path) -> String {
    if path == Path::new("-") {
        return "standard input".to_owned();
    }
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// The answer to one input.
pub fn answer(imported: &Imported, knowledge: &Knowledge, name: &str) -> Answer {
    let classified = classify(&imported.evidence.profile, &knowledge.anatomy);
    answer_of(&imported.evidence, &classified, imported.stats.clone(), knowledge, name)
}

/// As [`answer`], of a profile that is classified already, with an account that may say more than that of the
/// one input.
pub fn answer_of(
    evidence: &Evidence,
    classified: &Classified,
    stats: ImportStats,
    knowledge: &Knowledge,
    name: &str,
) -> Answer {
    let options = Options { name: name.to_owned(), stats: Some(stats), ..Options::default() };
    explain_classified(evidence, classified, knowledge, &options)
}

/// Reads `path`, without what its recorder did itself; `-` is standard input.
pub fn load(path: &Path, args: &ReadArgs) -> Result<Imported> {
    load_with(path, args, &mut Redactor::default())
}

/// As [`load`], and says on standard error what was lost, left out or scaled: for commands whose result has
/// no place for it.
pub fn load_told(path: &Path, args: &ReadArgs) -> Result<Imported> {
    let imported = load(path, args)?;
    tell(&args.name_of(path), &imported);
    Ok(imported)
}

/// Adds samples made of percentages and printed stacks where there are no real ones, and says so in the stats.
pub fn draw(imported: &mut Imported) {
    let made = zwhy_formats::drawn(&imported.evidence);
    imported.evidence.profile.merge(&made.profile);
    imported.stats.warnings.extend(made.notes);
}

/// The account of an input on standard error, if it says anything.
pub fn tell(name: &str, imported: &Imported) {
    if !zwhy_report::stats_notes(&imported.stats).is_empty() {
        output::note(&zwhy_report::stats_text(name, &imported.stats));
    }
    if let Some(itself) = imported.evidence.itself.as_ref().filter(|i| i.samples > 0) {
        output::note(&zwhy_report::itself_text(itself));
    }
}

/// As [`load`], for one of several inputs whose names must stay the same.
pub fn load_with(path: &Path, args: &ReadArgs, redactor: &mut Redactor) -> Result<Imported> {
    load_prepared(path, args, redactor, Evidence::set_recorder_aside)
}

/// As [`load_with`], with all that was recorded, for passing it on.
pub fn load_whole(path: &Path, args: &ReadArgs, redactor: &mut Redactor) -> Result<Imported> {
    load_prepared(path, args, redactor, |_| ())
}

fn load_prepared(
    path: &Path,
    args: &ReadArgs,
    redactor: &mut Redactor,
    prepare: impl Fn(&mut Evidence),
) -> Result<Imported> {
    args.check()?;
    let mut imported = read(path, args)?;
    if args.weight == Weight::Samples {
        count_alike(&mut imported);
    }
    prepare(&mut imported.evidence);
    if args.redact {
        redactor.redact(&mut imported);
        // Words of whoever set them.
        imported.evidence.timeline.marks.clear();
    }
    Ok(imported)
}

/// A capture remembers that its samples are weighed by their periods; this undoes it.
fn count_alike(imported: &mut Imported) {
    let warnings = &mut imported.stats.warnings;
    let before = warnings.len();
    warnings.retain(|w| !w.starts_with(WEIGHED));
    if warnings.len() == before {
        return;
    }
    warnings
        .push("all samples count alike, though their periods differ, as --weight samples asks".to_owned());
    let profile = &mut imported.evidence.profile;
    for event in Event::ALL {
        let measure = profile.measure(event).clone();
        if measure.unit != Unit::Samples && measure.unit != Unit::Nanos {
            // What is no time must not be taken for it.
            let samples = &mut profile.samples;
            let rows = samples.event.iter().zip(&mut samples.weight).filter(|(e, _)| **e == event);
            rows.for_each(|(_, weight)| *weight = Nanos(0));
        }
        profile.set_measure(event, Measure { unit: Unit::Samples, ..measure });
    }
}

fn read(path: &Path, args: &ReadArgs) -> Result<Imported> {
    if path == Path::new("-") {
        let options = args.options();
        let input = Input::from_reader("standard input", std::io::stdin().lock(), &options.limits)?;
        return Ok(zwhy_formats::import(input, &options)?);
    }
    match capture_path(path)? {
        Some(capture) => Ok(Capture::open(&capture)?.into_imported(&display_name(path))),
        None => Ok(zwhy_formats::import_path(path, &args.options())?),
    }
}

/// The capture that `path` names, if it is one: a packed file, its folder while it is recorded.
pub fn capture_path(path: &Path) -> Result<Option<PathBuf>> {
    if path == Path::new("-") {
        return Ok(None);
    }
    let part = part_folder(path);
    if !path.exists() && part.is_dir() {
        return Ok(Some(part));
    }
    if path.is_dir() {
        let is_part = path.extension().is_some_and(|e| e == "part");
        return Ok(is_part.then(|| path.to_owned()));
    }
    let mut head = [0u8; 64];
    let mut file = std::fs::File::open(path).map_err(|e| output::file_error("open", path, &e))?;
    // A pipe must not be read twice; captures are regular files.
    if !file.metadata().is_ok_and(|m| m.is_file()) {
        return Ok(None);
    }
    let read = file.read(&mut head).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(Capture::sniff(&head[..read]).then(|| path.to_owned()))
}
