//! Names and figures of this host in texts of the knowledge: `{dataset}`, `{pool}`, `{vdev}`, `{arc_max}`.
//!
//! The names are those of the rows that the finding is about. A command is repeated for each of them;
//! one that sets a property of datasets goes to the dataset that sets it now.

use crate::asked::Asked;
use crate::condition::Condition;
use crate::knowledge::Cause;
use crate::rows::{Chosen, Names, Scope, place};
use std::collections::BTreeMap;

/// What stands for a dataset, pool and vdev whose name is not known: a word to fill in by hand in a
/// command, plain words in a sentence.
const COMMAND: [&str; 3] = ["DATASET", "POOL", "VDEV"];
const PROSE: [&str; 3] = ["the dataset", "the pool", "the vdev"];

/// What stands for a figure that is not known.
const FIGURE: &str = "BYTES";

/// Words in a command that a person has to replace.
const BLANKS: [&str; 10] =
    ["DATASET", "POOL", "VDEV", "DEVICE", "CACHE_DEVICE", "FILE", "DIRECTORY", "PID", "BYTES", "SIZE"];

/// Fills texts of one cause.
pub struct Filler<'a, 'f> {
    cause: &'a Cause,
    asked: &'a Asked<'f>,
    rows: Option<&'a Chosen>,
    names: &'a Names,
}

/// Commands for the rows of a finding.
#[derive(Default)]
pub struct Commands {
    pub commands: Vec<String>,
    /// Which datasets they are for, where that is not plain to see.
    pub notes: Vec<String>,
}

impl<'a, 'f> Filler<'a, 'f> {
    pub fn new(
        cause: &'a Cause,
        asked: &'a Asked<'f>,
        rows: Option<&'a Chosen>,
        names: &'a Names,
    ) -> Filler<'a, 'f> {
        Filler { cause, asked, rows, names }
    }

    /// A command that looks, for the first of the rows; what is not known is a word in capitals.
    pub fn look(&self, text: &str) -> String {
        self.figures(&fill_command(text, self.names))
    }

    pub fn prose(&self, text: &str) -> String {
        self.figures(&fill_prose(text, self.names))
    }

    /// Commands that change something, for each of the rows. `below_root`: not for the root of a pool.
    pub fn commands(&self, texts: &[String], below_root: bool) -> Commands {
        let mut out = Commands::default();
        let of_datasets = |text: &&String| text.contains("{dataset}");
        if texts.iter().filter(of_datasets).all(|text| property_set(text).is_some()) {
            texts.iter().for_each(|text| self.each_place(text, &mut out));
        } else {
            self.each_dataset(texts, below_root, &mut out);
        }
        out
    }

    /// A command for each dataset where a property is set, or each pool or vdev that it names.
    fn each_place(&self, text: &str, out: &mut Commands) {
        let rows = self.rows.filter(|rows| rows.scope == Scope::Dataset && !rows.guilty.is_empty());
        let placed = property_set(text).zip(rows).map(|(property, rows)| {
            let placed = place(self.asked.facts.rows(), rows, property);
            if placed.more > 0 {
                out.note(format!("{} more datasets need the same command.", placed.more));
            }
            placed.notes.iter().for_each(|note| out.note(note.clone()));
            placed.targets
        });
        let targets = placed.filter(|targets| !targets.is_empty());
        match (targets, text) {
            (Some(targets), _) => targets.iter().for_each(|name| out.push(self.filled(text, Some(name)))),
            (None, text) if text.contains("{dataset}") => {
                let names = &self.names.datasets;
                out.push(self.filled(text, names.first()));
                names.iter().skip(1).for_each(|name| out.push(self.filled(text, Some(name))));
            }
            (None, text) => {
                let kinds = [("{vdev}", &self.names.vdevs), ("{pool}", &self.names.pools)];
                match kinds.iter().find(|(blank, names)| text.contains(blank) && !names.is_empty()) {
                    Some((blank, names)) => {
                        names.iter().for_each(|name| out.push(self.filled(&text.replace(blank, name), None)));
                    }
                    None => out.push(self.filled(text, None)),
                }
            }
        }
    }

    /// All commands for one dataset after the other; those below another one go with it.
    fn each_dataset(&self, texts: &[String], below_root: bool, out: &mut Commands) {
        let names = self.names.topmost();
        if names.is_empty() {
            texts.iter().for_each(|text| out.push(self.filled(text, None)));
        }
        for name in names.iter().filter(|name| !below_root || name.contains('/')) {
            texts.iter().for_each(|text| out.push(self.filled(text, Some(name))));
        }
        if self.names.more > 0 {
            out.note(format!("{} more datasets need the same commands.", self.names.more));
        }
    }

    fn filled(&self, text: &str, dataset: Option<&String>) -> String {
        let text = text.trim();
        match dataset {
            Some(name) => {
                let pool = name.split('/').next().unwrap_or(name);
                self.figures(&text.replace("{dataset}", name).replace("{pool}", pool))
            }
            None => self.look(text),
        }
    }

    fn figures(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, value) in &self.cause.remedy.values {
            let blank = format!("{{{name}}}");
            if text.contains(&blank) {
                let asked = self.asked.for_rows(&value.queries, self.rows);
                // A figure below one byte is none: what it was worked out from is missing.
                let figure = value.number(&*asked).filter(|v| v.is_finite() && *v >= 1.0);
                let shown = figure.map_or_else(|| FIGURE.to_owned(), |v| format!("{v:.0}"));
                text = text.replace(&blank, &shown);
            }
        }
        text
    }
}

impl Commands {
    fn push(&mut self, command: String) {
        if !self.commands.contains(&command) {
            self.commands.push(command);
        }
    }

    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// The property that a command sets on `{dataset}`, the first where it sets several.
fn property_set(command: &str) -> Option<&str> {
    let assignments = command.trim().strip_prefix("zfs set ")?.strip_suffix(" {dataset}")?;
    let (name, _) = assignments.split_whitespace().next()?.split_once('=')?;
    Some(name)
}

/// A text of the knowledge where there is no host.
pub fn general(text: &str, values: &BTreeMap<String, Condition>) -> String {
    let named = fill_command(text, &Names::default());
    values.keys().fold(named, |text, name| text.replace(&format!("{{{name}}}"), FIGURE))
}

/// A command with the first name of each kind.
pub fn fill_command(text: &str, names: &Names) -> String {
    let first = |names: &[String], unknown: &str| names.first().map_or(unknown, String::as_str).to_owned();
    let [dataset, pool, vdev] = COMMAND;
    text.replace("{dataset}", &first(&names.datasets, dataset))
        .replace("{pool}", &first(&names.pools, pool))
        .replace("{vdev}", &first(&names.vdevs, vdev))
}

/// A sentence with all names.
pub fn fill_prose(text: &str, names: &Names) -> String {
    if !text.contains('{') {
        return text.to_owned();
    }
    let [dataset, pool, vdev] = PROSE;
    text.replace("{dataset}", &names.in_words(Scope::Dataset, dataset))
        .replace("{pool}", &names.in_words(Scope::Pool, pool))
        .replace("{vdev}", &names.in_words(Scope::Vdev, vdev))
}

/// Whether a command has a word that a person has to replace.
pub fn has_blank(command: &str) -> bool {
    let words = command.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.into_iter().any(|word| BLANKS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::has_blank;

    #[test]
    fn words_to_replace_are_found_and_names_in_capitals_are_not() {
        for (command, blank) in [
            ("zfs set compression=lz4 DATASET", true),
            ("zpool add tank log DEVICE", true),
            ("echo BYTES > /sys/module/zfs/parameters/zfs_arc_max", true),
            ("zfs set compression=lz4 tank/DATASETS", false),
            ("zfs set atime=off tank", false),
        ] {
            assert_eq!(has_blank(command), blank, "{command}");
        }
    }
}
