//! Canonical facts: one name and one unit for a quantity that several sources tell (`knowledge/facts.toml`), and
//! groups of names that stand together in many conditions (`knowledge/groups.toml`).
//!
//! `fact('memory.total')` in a condition stands for the sources of that fact, in order: the first that is known
//! answers. All that is told of the answer (where it comes from, how good it is) is that of the source.

use crate::knowledge::{embedded, entries};
use rustc_hash::FxHashMap;
use serde::Deserialize;
use std::sync::LazyLock;

/// What the figures of a fact are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FactUnit {
    Text,
    Truth,
    Bytes,
    /// 0 to 100.
    Percent,
    /// 0 to 1.
    Share,
    Count,
}

impl FactUnit {
    /// Figures that it may be compared with.
    pub fn range(self) -> Option<std::ops::RangeInclusive<f64>> {
        match self {
            // Some limits may be passed: dnodes of their limit.
            FactUnit::Percent => Some(0.0..=1000.0),
            FactUnit::Share => Some(0.0..=1.0),
            FactUnit::Bytes | FactUnit::Count => Some(0.0..=f64::MAX),
            FactUnit::Text | FactUnit::Truth => None,
        }
    }
}

/// An entry of the table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CanonicalFact {
    pub name: String,
    pub unit: FactUnit,
    /// What it is, in words.
    pub what: String,
    /// Questions, or arithmetic over them, in the language of conditions.
    pub sources: Vec<String>,
}

/// Names that a pattern asks for by `@name`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    name: String,
    what: String,
    names: Vec<String>,
}

/// Both tables, with what is wrong with them.
pub struct Canon {
    pub facts: Vec<CanonicalFact>,
    /// Patterns by name.
    groups: FxHashMap<String, String>,
    by_name: FxHashMap<String, usize>,
    pub problems: Vec<String>,
}

static CANON: LazyLock<Canon> = LazyLock::new(|| Canon::parse(embedded::FACTS, embedded::GROUPS));

impl Canon {
    /// The table that comes with zwhy.
    pub fn embedded() -> &'static Canon {
        &CANON
    }

    fn parse(facts: &str, groups: &str) -> Canon {
        let mut problems = Vec::new();
        let facts: Vec<CanonicalFact> =
            entries(facts).unwrap_or_else(|error| told(&error, "facts.toml", &mut problems));
        let groups: Vec<Group> =
            entries(groups).unwrap_or_else(|error| told(&error, "groups.toml", &mut problems));
        let mut by_group = FxHashMap::default();
        for Group { name, what, names } in groups {
            if what.trim().is_empty() || names.is_empty() {
                problems.push(format!("`@{name}` does not say what it is, or has no names"));
            }
            if by_group.insert(name.clone(), names.join("|")).is_some() {
                problems.push(format!("`@{name}` is there twice"));
            }
        }
        let mut by_name = FxHashMap::default();
        for (at, fact) in facts.iter().enumerate() {
            let CanonicalFact { name, what, sources, .. } = fact;
            if by_name.insert(name.clone(), at).is_some() {
                problems.push(format!("`{name}` is there twice"));
            }
            let plain = |part: &str| {
                !part.is_empty()
                    && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
            };
            if !name.split_once('.').is_some_and(|(of, what)| plain(of) && plain(what)) {
                problems.push(format!("`{name}` is no name such as memory.total"));
            }
            if what.trim().is_empty() || sources.is_empty() {
                problems.push(format!("`{name}` does not say what it is, or has no source"));
            }
        }
        Canon { facts, groups: by_group, by_name, problems }
    }

    pub fn get(&self, name: &str) -> Option<&CanonicalFact> {
        self.by_name.get(name).map(|at| &self.facts[*at])
    }

    /// A pattern with the names of its groups in place of `@name`.
    ///
    /// # Errors
    /// A sentence that names the group that is not there.
    pub fn expanded(&self, pattern: &str) -> Result<String, String> {
        if !pattern.contains('@') {
            return Ok(pattern.to_owned());
        }
        let part = |part: &str| match part.trim().strip_prefix('@') {
            Some(name) => self.groups.get(name).cloned().ok_or_else(|| {
                format!("no group of names is called `@{name}`: knowledge/groups.toml has them")
            }),
            None => Ok(part.to_owned()),
        };
        Ok(pattern.split('|').map(part).collect::<Result<Vec<_>, _>>()?.join("|"))
    }
}

/// Notes what is wrong with a file, of which nothing is used then.
fn told<T: Default>(error: &str, file: &str, problems: &mut Vec<String>) -> T {
    problems.push(format!("{file}: {error}"));
    T::default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::condition::{Condition, QueryBank};

    #[test]
    fn every_fact_of_the_table_can_be_asked_and_has_its_unit() {
        let canon = Canon::embedded();
        assert_eq!(canon.problems, [""; 0]);
        assert!(canon.facts.len() > 15);
        for CanonicalFact { name, unit, .. } in &canon.facts {
            let asks = match unit {
                FactUnit::Text => format!("fact('{name}') == 'x'"),
                FactUnit::Truth => format!("fact('{name}') == true"),
                _ => format!("fact('{name}') > 0.5"),
            };
            let mut bank = QueryBank::default();
            let condition = Condition::compile(&asks, &mut bank).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert!(condition.is_well_typed(&bank) || *unit == FactUnit::Text, "{name}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_table_is_told() {
        let fact = |name: &str, sources: &str| {
            format!("[[facts]]\nname = '{name}'\nunit = 'bytes'\nwhat = 'x'\nsources = {sources}\n")
        };
        let table = fact("a.b", "[\"kstat('a', 'b')\"]") + &fact("a.b", "[]") + &fact("Big", "['1']");
        let problems = |facts: &str| Canon::parse(facts, embedded::GROUPS).problems;
        assert_eq!(problems(&table).len(), 3, "{:?}", problems(&table));
        assert!(!problems("facts = 1").is_empty());
        assert!(!problems(&fact("a.b", "['1']").replace("bytes", "furlong")).is_empty());
        let groups = "[[groups]]\nname = 'a'\nwhat = 'x'\nnames = []\n";
        assert_eq!(Canon::parse("facts = []", groups).problems.len(), 1);
    }

    #[test]
    fn groups_stand_for_their_names() {
        let canon = Canon::embedded();
        let pattern = canon.expanded("dd_lock|@device_clocks|atomic_*").unwrap();
        assert!(pattern.starts_with("dd_lock|read_hpet|") && pattern.ends_with("|atomic_*"), "{pattern}");
        assert!(canon.expanded("@nothing").unwrap_err().contains("@nothing"));
        assert_eq!(canon.expanded("a|b").as_deref(), Ok("a|b"));
    }
}
