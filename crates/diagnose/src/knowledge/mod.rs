//! What zwhy knows of OpenZFS: the anatomy and the causes, embedded and loadable from text.
//!
//! A broken file never stops the others: it is reported, and the rest is used.

mod cause;
mod commands;
mod fixture;
mod gain;
mod in_two;
mod lint;
mod load;
mod remedy;
mod shell;
mod tables;
mod traps;

pub use cause::{Busy, Cause, CpuOf, IfFalse, LookAlike, Sign, TestCase, Weight};
pub use fixture::{Expectation, Fixture};
pub use gain::GainRule;
pub use lint::{Paste, TestOutcome, lint, run_tests};
pub use remedy::{Change, Choice, Remedy};

use crate::anatomy::Anatomy;
pub(crate) use load::read;

use crate::condition::QueryBank;
use load::CauseText;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::sync::Arc;
use zwhy_paste::Tools;

pub(crate) mod embedded {
    use super::load::CauseText;
    include!(concat!(env!("OUT_DIR"), "/knowledge.rs"));
}

/// The version of the embedded knowledge: the same 16 hexadecimal digits only for the same files.
pub const DIGEST: &str = embedded::DIGEST;

/// The entries of a file that is a list of tables, whatever the list is called.
pub(crate) fn entries<T: DeserializeOwned>(text: &str) -> Result<Vec<T>, String> {
    let lists: BTreeMap<String, Vec<T>> = read(text)?;
    Ok(lists.into_values().flatten().collect())
}

/// A knowledge file as text; `name` is used in messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    pub name: String,
    pub text: String,
}

impl SourceText {
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> SourceText {
        SourceText { name: name.into(), text: text.into() }
    }
}

/// What is wrong in a knowledge file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {what}")]
pub struct KnowledgeError {
    pub file: String,
    pub what: String,
}

impl KnowledgeError {
    pub fn new(file: &str, what: impl Into<String>) -> KnowledgeError {
        KnowledgeError { file: file.to_owned(), what: what.into().trim_end().to_owned() }
    }
}

/// All knowledge, ready to explain with.
#[derive(Clone, Debug)]
pub struct Knowledge {
    pub anatomy: Anatomy,
    pub causes: Vec<Cause>,
    pub bank: QueryBank,
    /// How the output of tools is read, which says what tables there can be.
    pub tools: Arc<Tools>,
    /// Files or parts of files that could not be used.
    pub problems: Vec<KnowledgeError>,
}

impl Knowledge {
    /// The knowledge that comes with zwhy.
    pub fn embedded() -> Knowledge {
        Knowledge::with(&[], &[])
    }

    /// The embedded knowledge and more files; a cause of the same class replaces the embedded one.
    pub fn with(more_anatomy: &[SourceText], more_causes: &[SourceText]) -> Knowledge {
        let own = embedded::ANATOMY.iter().map(|(name, text)| SourceText::new(*name, *text));
        let anatomy: Vec<SourceText> = own.chain(more_anatomy.iter().cloned()).collect();
        let own = embedded::CAUSES.iter().copied();
        Knowledge::of(&anatomy, own.chain(more_causes.iter().map(CauseText::from)))
    }

    /// Only the given files.
    pub fn from_texts(anatomy: &[SourceText], causes: &[SourceText]) -> Knowledge {
        Knowledge::of(anatomy, causes.iter().map(CauseText::from))
    }

    fn of<'a>(anatomy: &[SourceText], causes: impl Iterator<Item = CauseText<'a>>) -> Knowledge {
        let mut problems = Vec::new();
        let anatomy = Anatomy::load(anatomy, &mut problems);
        let mut bank = QueryBank::default();
        let causes = load::causes(causes, &mut bank, &mut problems);
        Knowledge { anatomy, causes, bank, tools: Tools::embedded(), problems }
    }

    /// The same with other descriptions of tools; what is wrong with those is a problem here.
    pub fn with_tools(mut self, tools: Arc<Tools>) -> Knowledge {
        self.problems.extend(tools.problems.iter().map(|p| KnowledgeError::new(&p.file, &p.what)));
        self.tools = tools;
        self
    }

    pub fn cause(&self, class: &str) -> Option<&Cause> {
        self.causes.iter().find(|c| c.class == class)
    }
}
