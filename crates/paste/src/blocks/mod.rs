//! Text made of blocks: each recogniser takes the lines it knows, every line is accounted for.
//!
//! Invariant: a recogniser looks a bounded number of lines ahead before it takes any, so reading is
//! linear; taken lines are kept or dropped with a reason, all others are dropped as not recognised.

mod clean;
mod said;

use crate::readers::statements::Statement;
pub use clean::{clean_lines, command};
pub use said::{MOST as MOST_SAID, fold};
use std::borrow::Cow;
use zwhy_evidence::{Evidence, ImportStats, Imported, OriginId};
use zwhy_profile::Profile;

/// Reason of lines that no recogniser took.
pub const NOT_RECOGNISED: &str = "line not recognised";

/// One line without quotes, prompts and colours.
#[derive(Clone, Debug)]
pub struct Line<'a> {
    /// From 1.
    pub number: usize,
    pub text: Cow<'a, str>,
}

impl Line<'_> {
    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }
}

/// What a recogniser did with the lines at its start.
#[derive(Clone, Debug, Default)]
pub struct Taken {
    pub kept: usize,
    /// Reason and lines.
    pub dropped: Vec<(Cow<'static, str>, usize)>,
}

impl Taken {
    pub fn kept(lines: usize) -> Option<Taken> {
        (lines > 0).then(|| Taken { kept: lines, dropped: Vec::new() })
    }

    pub fn drop(&mut self, reason: impl Into<Cow<'static, str>>, lines: usize) {
        if lines > 0 {
            self.dropped.push((reason.into(), lines));
        }
    }

    /// Lines that are accounted for.
    pub fn used(&self) -> usize {
        self.kept + self.dropped.iter().map(|(_, n)| n).sum::<usize>()
    }
}

/// Recognises one kind of block.
pub trait Block: Sync {
    /// Takes lines from the start of `lines`, which is not empty, or returns `None`.
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken>;

    /// Whether it reads what a person wrote, and no output of a tool.
    fn of_a_person(&self) -> bool {
        false
    }
}

/// Where recognised blocks go.
pub struct Sink {
    name: String,
    pub evidence: Evidence,
    /// What stands in sentences; it fills what `evidence` lacks when all lines are read.
    pub said: Evidence,
    pub stats: ImportStats,
    pub max_depth: usize,
    /// The last command line seen; it says what follows.
    pub command: Option<String>,
    /// The statement of a sentence that was read last.
    pub(crate) statement: Statement,
}

impl Sink {
    fn new(name: &str, stats: ImportStats, max_depth: usize) -> Sink {
        Sink {
            name: name.to_owned(),
            evidence: Evidence::default(),
            said: Evidence::default(),
            stats,
            max_depth,
            command: None,
            statement: Statement::default(),
        }
    }

    /// The origin of a block: what it is and which lines it has.
    pub fn origin(&mut self, what: &str, lines: &[Line]) -> OriginId {
        let place = self.place(lines);
        self.evidence.origin(format!("{place}: {what}"))
    }

    /// The file and lines of a block.
    pub fn place(&self, lines: &[Line]) -> String {
        let (first, last) = (lines.first().map_or(0, |l| l.number), lines.last().map_or(0, |l| l.number));
        if first == last {
            format!("{}, line {first}", self.name)
        } else {
            format!("{}, lines {first}-{last}", self.name)
        }
    }

    pub fn profile(&mut self) -> &mut Profile {
        &mut self.evidence.profile
    }

    /// Adds a warning once.
    pub fn warn(&mut self, warning: impl Into<String>) {
        const MOST: usize = 50;
        let warning = warning.into();
        if self.stats.warnings.len() < MOST && !self.stats.warnings.contains(&warning) {
            self.stats.warnings.push(warning);
        }
    }
}

/// The first line of what a script of `zwhy collect` prints: from there on tools speak, and no person does.
const COLLECTED: &str = "# collected by zwhy collect: ";

/// Reads a whole text with the given recognisers, the first that takes something wins; `name` is the
/// file's name in origins.
pub fn read(format: &str, name: &str, text: &[u8], blocks: &[&dyn Block], max_depth: usize) -> Imported {
    let lines = clean_lines(text);
    let mut sink = Sink::new(name, ImportStats::new(format, "lines"), max_depth);
    let mut at = 0;
    let mut collected = false;
    while at < lines.len() {
        let (used, of_a_person) = step(&lines[at..], blocks, &mut sink);
        for line in &lines[at..at + used] {
            collected |= line.text.starts_with(COLLECTED);
            let Evidence { text, said, .. } = &mut sink.evidence;
            if !collected && text.len() + line.text.len() < Evidence::MOST_TEXT {
                for kept in std::iter::once(text).chain(of_a_person.then_some(said)) {
                    kept.push_str(&line.text);
                    kept.push('\n');
                }
            }
        }
        at += used;
    }
    sink.stats.read = lines.len() as u64;
    said::one_sitting(&mut sink.evidence);
    said::fold(&mut sink.evidence, sink.said);
    Imported { evidence: sink.evidence, stats: sink.stats }
}

/// Lets one recogniser take lines; returns how many are done, and whether a person may have written them.
fn step(lines: &[Line], blocks: &[&dyn Block], sink: &mut Sink) -> (usize, bool) {
    if lines[0].is_blank() {
        sink.stats.drop("blank line", 1);
        return (1, true);
    }
    for block in blocks {
        let Some(taken) = block.take(lines, sink) else { continue };
        let used = taken.used();
        debug_assert!(0 < used && used <= lines.len());
        if used == 0 || used > lines.len() {
            continue;
        }
        sink.stats.kept += taken.kept as u64;
        for (reason, count) in taken.dropped {
            sink.stats.drop(&reason, count as u64);
        }
        return (used, block.of_a_person());
    }
    sink.stats.drop(NOT_RECOGNISED, 1);
    (1, true)
}

/// Share of the non-blank lines of a head that the recognisers take, and how many they take.
pub fn recognised(head: &[u8], blocks: &[&dyn Block]) -> (f64, u64) {
    const LOOK_AT: usize = 400;
    let mut lines = clean_lines(head);
    lines.truncate(LOOK_AT);
    let mut sink = Sink::new("", ImportStats::default(), usize::MAX);
    let mut at = 0;
    while at < lines.len() {
        at += step(&lines[at..], blocks, &mut sink).0;
    }
    let unknown = sink.stats.dropped.get(NOT_RECOGNISED).copied().unwrap_or(0);
    let known = sink.stats.kept + sink.stats.dropped_total()
        - unknown
        - sink.stats.dropped.get("blank line").copied().unwrap_or(0);
    (known as f64 / (known + unknown).max(1) as f64, sink.stats.kept)
}
