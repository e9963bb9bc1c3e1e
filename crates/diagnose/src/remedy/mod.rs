//! The remedy of a finding with the names and figures of this host, and the way back.
//!
//! Invariants: a command is given only where this release knows it; what is filled in comes from the
//! evidence and is safe in a shell; an undo says what was recorded, never what is usual.

mod fill;
mod rewrite;
mod undo;

pub use fill::{fill_command, fill_prose};
pub(crate) use undo::is_derived;

use self::fill::Filler;
use self::undo::{Undone, undone};

use crate::answer::{ChoiceAnswer, RemedyAnswer};
use crate::asked::Asked;
use crate::facts::FactBase;
use crate::knowledge::{Cause, Change};
use crate::rows::{Chosen, Names};

/// The remedy of a cause for the rows of the evidence that it is about.
pub fn remedy(cause: &Cause, asked: &Asked<'_>, rows: Option<&Chosen>, names: &Names) -> RemedyAnswer {
    let filler = Filler::new(cause, asked, rows, names);
    let facts = asked.facts;
    let known = &cause.remedy;
    let mut notes = Notes::default();
    let (commands, undo) = ways(&known.change, known.below_root, &filler, facts, &mut notes);
    let choices: Vec<ChoiceAnswer> = known
        .choices
        .iter()
        .filter(|choice| applies(&choice.change, facts))
        .map(|choice| {
            let (commands, undo) = ways(&choice.change, false, &filler, facts, &mut notes);
            ChoiceAnswer { text: filler.prose(&choice.text), commands, undo }
        })
        .collect();
    let mut undo_note = filler.prose(&known.undo_note);
    for note in notes.undo {
        if !undo_note.contains(&note) {
            undo_note = format!("{undo_note} {note}").trim().to_owned();
        }
    }
    let rewrite = rewrite::rewrite(&commands, &choices, facts);
    RemedyAnswer {
        text: filler.prose(&known.text),
        look: known.look.iter().map(|c| filler.look(c)).collect(),
        complete: !commands.is_empty() && commands.iter().all(|c| !fill::has_blank(c)),
        commands,
        place: notes.place,
        undo,
        choices,
        advice: known.advice.iter().map(|a| filler.prose(a)).collect(),
        undo_note,
        rewrite,
        risk: known.risk.clone(),
    }
}

/// The remedy without a host: words in capitals stand for its names and figures.
pub fn general_remedy(cause: &Cause) -> RemedyAnswer {
    let known = &cause.remedy;
    let fill = |text: &String| fill::general(text, &known.values);
    let all = |texts: &[String]| texts.iter().map(|t| fill(t).trim().to_owned()).collect::<Vec<_>>();
    let mut undo_note = fill(&known.undo_note);
    if known.changes().any(|c| c.undo.is_empty() && c.commands.iter().any(|c| is_derived(c))) {
        undo_note =
            format!("Write the former value back; the answer for a capture has the command. {undo_note}");
    }
    RemedyAnswer {
        text: fill(&known.text),
        look: all(&known.look),
        commands: all(&known.change.commands),
        undo: all(&known.change.undo),
        choices: known
            .choices
            .iter()
            .map(|c| ChoiceAnswer {
                text: fill(&c.text),
                commands: all(&c.change.commands),
                undo: all(&c.change.undo),
            })
            .collect(),
        advice: all(&known.advice),
        undo_note: undo_note.trim().to_owned(),
        risk: known.risk.clone(),
        ..RemedyAnswer::default()
    }
}

/// Whether the release of the host knows the commands; unknown releases are given them.
fn applies(change: &Change, facts: &FactBase<'_>) -> bool {
    let release = facts.evidence.host.zfs_version.as_deref();
    let held = change.zfs.as_ref().zip(release).and_then(|(needed, release)| needed.holds(release));
    held.unwrap_or(true)
}

/// What is to be known beside the commands.
#[derive(Default)]
struct Notes {
    /// Which datasets they are for.
    place: Vec<String>,
    /// What cannot be told of the way back.
    undo: Vec<String>,
}

/// Commands, and those that take them back.
fn ways(
    change: &Change,
    below_root: bool,
    filler: &Filler<'_, '_>,
    facts: &FactBase<'_>,
    notes: &mut Notes,
) -> (Vec<String>, Vec<String>) {
    if !applies(change, facts) {
        return (Vec::new(), Vec::new());
    }
    let filled = filler.commands(&change.commands, below_root);
    let more = filled.notes.into_iter().filter(|note| !notes.place.contains(note)).collect::<Vec<_>>();
    notes.place.extend(more);
    let commands = filled.commands;
    if !change.undo.is_empty() {
        return (commands, filler.commands(&change.undo, below_root).commands);
    }
    let mut undo = Vec::new();
    for command in commands.iter().rev() {
        match undone(command, facts.evidence) {
            Undone::By(back) => undo.push(back),
            Undone::Note(note) if !notes.undo.contains(&note) => notes.undo.push(note),
            Undone::Note(_) | Undone::Nothing => {}
        }
    }
    (commands, undo)
}
