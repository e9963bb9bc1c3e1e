//! What to look at when there is no profile yet: the most informative commands for a symptom.
//!
//! Symptoms and commands are data (`knowledge/checklist`); their order is computed from the signs
//! of the causes, so a new cause changes it without anybody editing a list.

use crate::condition::QueryBank;
use crate::facts::Query;
use crate::knowledge::{Cause, Knowledge, KnowledgeError, entries};
use crate::pattern::Pattern;
use serde::Deserialize;

const SYMPTOMS: &str = include_str!("../knowledge/checklist/symptoms.toml");
const CHECKS: &str = include_str!("../knowledge/checklist/checks.toml");

/// Typing a command and reading its output takes people about this long, in seconds.
const EFFORT: f64 = 20.0;

/// Something people notice.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Symptom {
    pub name: String,
    pub title: String,
    classes: Pattern,
}

/// A command and what to look for in its output.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    pub name: String,
    pub command: String,
    /// What the command itself takes.
    pub seconds: u32,
    pub root: bool,
    pub look_for: String,
    answers: Vec<String>,
}

/// A check in its place in the list.
#[derive(Clone, Debug)]
pub struct Ranked<'a> {
    pub check: &'a Check,
    /// Classes with a sign that this check answers and none before it did.
    pub tells_of: Vec<&'a str>,
}

/// All symptoms and checks.
#[derive(Clone, Debug)]
pub struct Checklist {
    pub symptoms: Vec<Symptom>,
    pub checks: Vec<Check>,
}

impl Checklist {
    /// # Errors
    /// When a file that comes with zwhy is not as this build expects it.
    pub fn embedded() -> Result<Checklist, KnowledgeError> {
        let wrong = |file: &str, e: String| KnowledgeError::new(file, e);
        Ok(Checklist {
            symptoms: entries(SYMPTOMS).map_err(|e| wrong("symptoms.toml", e))?,
            checks: entries(CHECKS).map_err(|e| wrong("checks.toml", e))?,
        })
    }

    pub fn symptom(&self, name: &str) -> Option<&Symptom> {
        self.symptoms.iter().find(|s| s.name == name)
    }

    /// The checks that can tell something of the symptom's causes, the most telling for its time first.
    ///
    /// Greedy: each check is valued by the signs that those before it leave open.
    pub fn ranked<'a>(&'a self, symptom: &Symptom, knowledge: &'a Knowledge) -> Vec<Ranked<'a>> {
        let mut open = open_signs(symptom, knowledge);
        let mut left: Vec<&Check> = self.checks.iter().collect();
        let mut ranked = Vec::new();
        while let Some(at) = best(&left, &open, &knowledge.bank) {
            let check = left.remove(at);
            let answered = |sign: &OpenSign<'_>| check.answers_one_of(sign.queries, &knowledge.bank);
            let mut tells_of: Vec<&str> =
                open.iter().filter(|s| answered(s)).map(|s| s.cause.class.as_str()).collect();
            tells_of.dedup();
            open.retain(|sign| !answered(sign));
            ranked.push(Ranked { check, tells_of });
        }
        ranked
    }
}

/// A sign that no chosen check answers yet.
struct OpenSign<'a> {
    cause: &'a Cause,
    queries: &'a [usize],
    weight: f64,
}

fn open_signs<'a>(symptom: &Symptom, knowledge: &'a Knowledge) -> Vec<OpenSign<'a>> {
    let behind = knowledge.causes.iter().filter(|c| symptom.classes.matches(&c.class));
    behind
        .flat_map(|cause| {
            cause.signs.iter().map(move |sign| OpenSign {
                cause,
                queries: &sign.when.queries,
                weight: sign.weight.when_true(),
            })
        })
        .collect()
}

/// The check that answers most for its time; `None` when no one answers anything that is open.
fn best(checks: &[&Check], open: &[OpenSign<'_>], bank: &QueryBank) -> Option<usize> {
    let value = |check: &Check| {
        let told = open.iter().filter(|s| check.answers_one_of(s.queries, bank)).map(|s| s.weight);
        told.sum::<f64>() / (EFFORT + f64::from(check.seconds))
    };
    let values: Vec<f64> = checks.iter().map(|c| value(c)).collect();
    let at = (0..values.len()).max_by(|&a, &b| values[a].total_cmp(&values[b]).then(b.cmp(&a)))?;
    (values[at] > 0.0).then_some(at)
}

impl Check {
    fn answers_one_of(&self, queries: &[usize], bank: &QueryBank) -> bool {
        queries.iter().filter_map(|&id| bank.get(id)).any(|query| self.answers(query))
    }

    fn answers(&self, query: &Query) -> bool {
        self.answers.iter().any(|entry| {
            let (name, about) = entry.split_once(':').unwrap_or((entry, "*"));
            let asked = query.argument(0);
            query.signature().name == name
                && (Pattern::new(about).matches(asked)
                    || query.patterns.first().is_some_and(|p| p.matches(&about.replace('*', ""))))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loaded() -> (Checklist, Knowledge) {
        (Checklist::embedded().expect("the files that come with zwhy"), Knowledge::embedded())
    }

    #[test]
    fn every_cause_is_behind_a_symptom_and_every_pattern_means_some() {
        let (list, knowledge) = loaded();
        for cause in &knowledge.causes {
            assert!(list.symptoms.iter().any(|s| s.classes.matches(&cause.class)), "{}", cause.class);
        }
        for symptom in &list.symptoms {
            for one in &symptom.classes.globs {
                let some = knowledge.causes.iter().any(|c| one.matches(&c.class));
                assert!(some, "`{one}` of {} means no cause", symptom.name);
            }
        }
    }

    #[test]
    fn every_cause_has_a_sign_that_some_check_answers() {
        let (list, knowledge) = loaded();
        for cause in &knowledge.causes {
            let told = cause
                .signs
                .iter()
                .any(|s| list.checks.iter().any(|c| c.answers_one_of(&s.when.queries, &knowledge.bank)));
            assert!(told, "no check tells of {}", cause.class);
        }
    }

    #[test]
    fn checks_answer_functions_that_there_are() {
        let (list, _) = loaded();
        for entry in list.checks.iter().flat_map(|c| &c.answers) {
            let name = entry.split(':').next().unwrap_or_default();
            assert!(crate::facts::CATALOGUE.iter().any(|s| s.name == name), "{entry}");
        }
    }

    #[test]
    fn the_order_follows_the_symptom() {
        let (list, knowledge) = loaded();
        let first = |name: &str| {
            let symptom = list.symptom(name).expect("a symptom");
            list.ranked(symptom, &knowledge).iter().map(|r| r.check.name.clone()).collect::<Vec<_>>()
        };
        let place = |list: &[String], name: &str| list.iter().position(|n| n == name);
        let memory = first("memory");
        let administration = first("administration");
        assert!(place(&memory, "arcstats") < place(&memory, "profile").max(Some(3)), "{memory:?}");
        assert!(place(&memory, "arcstats").is_some() && memory != administration);
        for ranked in list.ranked(list.symptom("memory").expect("a symptom"), &knowledge) {
            assert!(!ranked.tells_of.is_empty(), "{}", ranked.check.name);
        }
    }
}
