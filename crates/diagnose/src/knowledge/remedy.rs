//! What to do about a cause, as data: what to look at, what to change, how to take it back.

use crate::condition::{Condition, QueryBank};
use crate::facts::Requirement;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Commands of one kind of change; `{dataset}`, `{pool}` and the names of values are filled in.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// Run as they stand, in this order.
    pub commands: Vec<String>,
    /// Takes the commands back, in this order; empty where it follows from what was recorded.
    pub undo: Vec<String>,
    /// Releases that know these commands; `None`: all that are supported.
    pub zfs: Option<Requirement>,
}

/// One of several ways; the user picks.
#[derive(Clone, Debug)]
pub struct Choice {
    pub text: String,
    pub change: Change,
}

#[derive(Clone, Debug, Default)]
pub struct Remedy {
    /// The remedy in a sentence or two.
    pub text: String,
    /// Commands that show whether it is so; they change nothing.
    pub look: Vec<String>,
    pub change: Change,
    pub choices: Vec<Choice>,
    /// What no command does: an upgrade, other hardware, another habit.
    pub advice: Vec<String>,
    /// What to know of the way back, in words.
    pub undo_note: String,
    pub risk: String,
    /// The commands are for a dataset below the root of its pool, which cannot be renamed.
    pub below_root: bool,
    /// Figures of this host for the commands: name and expression.
    pub values: BTreeMap<String, Condition>,
}

impl Remedy {
    /// The change and those of all choices.
    pub fn changes(&self) -> impl Iterator<Item = &Change> {
        std::iter::once(&self.change).chain(self.choices.iter().map(|c| &c.change))
    }
}

/// `[remedy]` of a cause file.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RemedyEntry {
    text: String,
    look: Vec<String>,
    commands: Vec<String>,
    undo: Vec<String>,
    zfs: Option<String>,
    choices: Vec<ChoiceEntry>,
    advice: Vec<String>,
    undo_note: String,
    risk: String,
    needs: Option<Needs>,
    values: BTreeMap<String, String>,
}

/// What the commands need of the dataset.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Needs {
    Child,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChoiceEntry {
    text: String,
    commands: Vec<String>,
    #[serde(default)]
    undo: Vec<String>,
    zfs: Option<String>,
}

impl RemedyEntry {
    /// # Errors
    /// A sentence that says which part is wrong.
    pub(super) fn compile(self, bank: &mut QueryBank) -> Result<Remedy, String> {
        let mut values = BTreeMap::new();
        for (name, text) in self.values {
            let value = Condition::compile(&text, bank)
                .map_err(|e| format!("remedy.values.{name}: `{text}`: {e}"))?;
            values.insert(name, value);
        }
        let choice = |entry: ChoiceEntry| {
            Ok(Choice { text: entry.text, change: change(entry.commands, entry.undo, entry.zfs)? })
        };
        Ok(Remedy {
            text: self.text,
            look: self.look,
            change: change(self.commands, self.undo, self.zfs)?,
            choices: self.choices.into_iter().map(choice).collect::<Result<_, String>>()?,
            advice: self.advice,
            undo_note: self.undo_note,
            risk: self.risk,
            below_root: matches!(self.needs, Some(Needs::Child)),
            values,
        })
    }
}

fn change(commands: Vec<String>, undo: Vec<String>, zfs: Option<String>) -> Result<Change, String> {
    let parse = |text: String| {
        Requirement::parse(&text)
            .ok_or_else(|| format!("remedy: zfs = `{text}` is not a version requirement such as <2.2"))
    };
    Ok(Change { commands, undo, zfs: zfs.map(parse).transpose()? })
}
