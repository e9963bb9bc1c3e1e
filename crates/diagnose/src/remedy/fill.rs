//! Names and figures of this host in texts of the knowledge: `{dataset}`, `{pool}`, `{arc_max}`.

use crate::condition::Condition;
use crate::facts::FactBase;
use crate::knowledge::Cause;
use crate::score::Asked;
use std::collections::BTreeMap;

/// What stands for a dataset and a pool whose name is not known: a word to fill in by hand in a
/// command, plain words in a sentence.
pub const COMMAND: [&str; 2] = ["DATASET", "POOL"];
pub const PROSE: [&str; 2] = ["the dataset", "the pool"];

/// What stands for a figure that is not known.
const FIGURE: &str = "BYTES";

/// Words in a command that a person has to replace.
const BLANKS: [&str; 9] =
    ["DATASET", "POOL", "DEVICE", "CACHE_DEVICE", "FILE", "DIRECTORY", "PID", "BYTES", "SIZE"];

/// Fills texts of one cause.
pub struct Filler<'a, 'f> {
    cause: &'a Cause,
    asked: &'a Asked<'f>,
}

impl<'a, 'f> Filler<'a, 'f> {
    pub fn new(cause: &'a Cause, asked: &'a Asked<'f>) -> Filler<'a, 'f> {
        Filler { cause, asked }
    }

    /// A command; what is not known is a word in capitals.
    pub fn command(&self, text: &str) -> String {
        let text = fill_names(text, COMMAND, self.cause.dataset.as_ref(), self.asked.facts);
        self.figures(&text)
    }

    pub fn prose(&self, text: &str) -> String {
        let text = fill_names(text, PROSE, self.cause.dataset.as_ref(), self.asked.facts);
        self.figures(&text)
    }

    fn figures(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, value) in &self.cause.remedy.values {
            let blank = format!("{{{name}}}");
            if text.contains(&blank) {
                // A figure below one byte is none: what it was worked out from is missing.
                let figure = value.number(self.asked).filter(|v| v.is_finite() && *v >= 1.0);
                let shown = figure.map_or_else(|| FIGURE.to_owned(), |v| format!("{v:.0}"));
                text = text.replace(&blank, &shown);
            }
        }
        text
    }
}

/// A text of the knowledge where there is no host.
pub fn general(text: &str, values: &BTreeMap<String, Condition>) -> String {
    let [dataset, pool] = COMMAND;
    let named = text.replace("{dataset}", dataset).replace("{pool}", pool);
    values.keys().fold(named, |text, name| text.replace(&format!("{{{name}}}"), FIGURE))
}

/// Whether a command has a word that a person has to replace.
pub fn has_blank(command: &str) -> bool {
    let words = command.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.into_iter().any(|word| BLANKS.contains(&word))
}

/// Fills `{dataset}` and `{pool}` with names of this host.
pub fn fill_names(
    text: &str,
    unknown: [&str; 2],
    dataset: Option<&(String, crate::pattern::Pattern)>,
    facts: &FactBase<'_>,
) -> String {
    if !text.contains('{') {
        return text.to_owned();
    }
    let of_property = dataset.and_then(|(name, like)| facts.datasets_with(name, like).first().copied());
    let first_pool = || facts.evidence.facts.pools.as_ref()?.first()?.name.as_deref();
    let pool = of_property.map(|d| d.split('/').next().unwrap_or(d)).or_else(first_pool);
    // A name goes into a command line: only what ZFS allows in names may.
    let safe = |name: &&str| is_safe(name);
    let of_property = of_property.filter(safe);
    let pool = pool.filter(safe);
    text.replace("{dataset}", of_property.unwrap_or(unknown[0])).replace("{pool}", pool.unwrap_or(unknown[1]))
}

/// Whether a name means itself in a command line.
pub fn is_safe(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('-')
        && name.chars().all(|c| c.is_alphanumeric() || "_-.:/@".contains(c))
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
