//! Reading `knowledge/causes/*.toml`.

use super::cause::{Busy, Cause, CpuOf, IfFalse, LookAlike, Sign, TestCase, Tests, Weight};
use super::gain::GainEntry;
use super::in_two::in_two;
use super::remedy::RemedyEntry;
use super::{KnowledgeError, SourceText};
use crate::condition::{Condition, QueryBank};
use crate::pattern::Pattern;
use crate::rows::Scope;
use crate::said::Phrase;
use serde::Deserialize;
use serde::de::DeserializeOwned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    title: String,
    why: String,
    #[serde(rename = "do")]
    act: String,
    explanation: String,
    affected: String,
    fixed_in: Option<String>,
    experiment: Option<String>,
    references: Vec<String>,
    #[serde(default)]
    said: Vec<String>,
    #[serde(default)]
    cpu: CpuOf,
    dataset: Option<DatasetWith>,
    signs: Vec<SignEntry>,
    #[serde(default)]
    against: Vec<AgainstEntry>,
    #[serde(default)]
    look_alikes: Vec<LookAlikeEntry>,
    #[serde(default)]
    explains: Vec<String>,
    remedy: RemedyEntry,
    gain: Option<GainEntry>,
    #[serde(default)]
    tests: Vec<TestCase>,
}

/// The end of a file that [`in_two`] parts from the rest.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TestsOfFile {
    #[serde(default)]
    tests: Vec<TestCase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DatasetWith {
    property: Option<String>,
    like: Option<Pattern>,
    busy: Option<Busy>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SignEntry {
    when: String,
    each: Option<Scope>,
    weight: Weight,
    claim: String,
    #[serde(default)]
    if_false: IfFalse,
    shows: Option<Groups>,
    #[serde(default)]
    healthy_too: bool,
    #[serde(default)]
    ask: String,
}

/// One name or several.
#[derive(Deserialize)]
#[serde(untagged)]
enum Groups {
    One(String),
    Several(Vec<String>),
}

impl Groups {
    fn names(self) -> Vec<String> {
        match self {
            Groups::One(name) => vec![name],
            Groups::Several(names) => names,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AgainstEntry {
    when: String,
    each: Option<Scope>,
    weight: Weight,
    claim: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LookAlikeEntry {
    class: String,
    tell: String,
    ruled_out_when: Option<String>,
}

/// A cause file in two parts.
#[derive(Clone, Copy, Debug)]
pub struct CauseText<'a> {
    pub name: &'a str,
    /// For [`read`].
    pub head: &'a str,
    /// The tests at its end, and how many lines are above them.
    pub tests: &'a str,
    pub above: usize,
}

impl<'a> From<&'a SourceText> for CauseText<'a> {
    fn from(file: &'a SourceText) -> CauseText<'a> {
        let (head, tests) = in_two(&file.text);
        CauseText { name: &file.name, head, tests, above: head.lines().count() }
    }
}

/// A file as TOML, or the same as JSON where it was made when zwhy was built; no TOML begins with a brace.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    match text.starts_with('{') {
        true => serde_json::from_str(text).map_err(|e| e.to_string()),
        false => toml::from_str(text).map_err(|e| e.to_string()),
    }
}

/// Compiles all causes; the class is the file's name without `.toml`.
pub fn causes<'a>(
    texts: impl IntoIterator<Item = CauseText<'a>>,
    bank: &mut QueryBank,
    problems: &mut Vec<KnowledgeError>,
) -> Vec<Cause> {
    let mut causes: Vec<Cause> = Vec::new();
    for text in texts {
        match cause(&text, bank) {
            Ok(cause) => match causes.iter_mut().find(|c| c.class == cause.class) {
                Some(same) => *same = cause,
                None => causes.push(cause),
            },
            Err(what) => problems.push(KnowledgeError::new(text.name, what)),
        }
    }
    causes
}

/// Lines of a paragraph joined; paragraphs stay apart by an empty line.
fn paragraphs(text: &str) -> String {
    let joined = text.trim().split("\n\n").map(|p| p.split_whitespace().collect::<Vec<_>>().join(" "));
    joined.collect::<Vec<_>>().join("\n\n")
}

/// The tests that [`in_two`] parted from their file, which has `above` lines before them.
pub fn tests(text: &str, above: usize) -> Result<Vec<TestCase>, String> {
    // What is wrong is told with its line in the file.
    let placed = "\n".repeat(above) + text;
    let read: TestsOfFile = toml::from_str(&placed).map_err(|e| e.to_string().trim_end().to_owned())?;
    Ok(read.tests)
}

fn cause(text: &CauseText, bank: &mut QueryBank) -> Result<Cause, String> {
    let file: File = read(text.head)?;
    let base = text.name.rsplit('/').next().unwrap_or(text.name);
    let class = base.strip_suffix(".toml").unwrap_or(base).to_owned();
    let mut compile = |text: &str| Condition::compile(text, bank).map_err(|e| format!("`{text}`: {e}"));
    let mut signs = Vec::new();
    for sign in file.signs {
        let when = compile(&sign.when)?;
        let SignEntry { each, weight, if_false, claim, ask, shows, healthy_too, .. } = sign;
        signs.push(Sign {
            when,
            each,
            weight,
            if_false,
            shows: shows.map(Groups::names).unwrap_or_default(),
            healthy_too,
            claim,
            ask,
        });
    }
    let mut against = Vec::new();
    for AgainstEntry { when, each, weight, claim } in file.against {
        let (if_false, ask) = (IfFalse::SaysNothing, String::new());
        let (when, shows) = (compile(&when)?, Vec::new());
        against.push(Sign { when, each, weight, if_false, shows, healthy_too: false, claim, ask });
    }
    let mut look_alikes = Vec::new();
    for other in file.look_alikes {
        let ruled_out_when = other.ruled_out_when.as_deref().map(&mut compile).transpose()?;
        look_alikes.push(LookAlike { class: other.class, tell: other.tell, ruled_out_when });
    }
    let remedy = file.remedy.compile(bank)?;
    let gain = file.gain.map(GainEntry::compile).transpose()?;
    Ok(Cause {
        class,
        file: text.name.to_owned(),
        title: file.title,
        why: file.why,
        act: file.act,
        explanation: paragraphs(&file.explanation),
        affected: file.affected,
        fixed_in: file.fixed_in,
        experiment: file.experiment,
        references: file.references,
        said: file.said.iter().map(|text| Phrase::read(text)).collect::<Result<_, _>>()?,
        cpu: file.cpu,
        busy: file.dataset.as_ref().and_then(|d| d.busy),
        dataset: match file.dataset.map(|d| (d.property, d.like)) {
            Some((Some(property), Some(like))) => Some((property, like)),
            None | Some((None, None)) => None,
            Some(_) => return Err("[dataset]: property and like belong together".to_owned()),
        },
        signs,
        against,
        look_alikes,
        explains: file.explains,
        remedy,
        gain,
        tests: match text.tests {
            "" => Tests::Read(file.tests),
            tests => Tests::Text { text: tests.into(), above: text.above },
        },
    })
}
