//! A root-cause class as data: how to recognise it, what to tell people, how to test it.

use super::fixture::{Expectation, Fixture};
use super::gain::GainRule;
use super::remedy::Remedy;
use crate::condition::Condition;
use crate::pattern::Pattern;
use crate::rows::Scope;
use crate::said::Phrase;
use serde::Deserialize;

/// How much a sign says for its cause, in log-odds; when it is false, against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weight {
    /// Almost only this cause looks so.
    Decisive,
    /// Few other causes look so.
    Strong,
    /// Fits this cause, and some others.
    Moderate,
    /// Makes it a little likelier.
    Weak,
}

impl Weight {
    pub fn when_true(self) -> f64 {
        match self {
            Weight::Decisive => 4.5,
            Weight::Strong => 2.5,
            Weight::Moderate => 1.5,
            Weight::Weak => 0.6,
        }
    }

    pub fn when_false(self) -> f64 {
        match self {
            Weight::Decisive => -3.0,
            Weight::Strong => -1.5,
            Weight::Moderate => -0.6,
            Weight::Weak => -0.2,
        }
    }
}

/// What it means that a sign is known to be false.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IfFalse {
    /// As much as its weight says.
    #[default]
    Weakens,
    /// Nothing: other ways to have this cause do not show it.
    SaysNothing,
    /// The cause cannot be.
    RulesOut,
}

/// One weighted condition.
#[derive(Clone, Debug)]
pub struct Sign {
    pub when: Condition,
    /// Of what it speaks, one at a time; of the whole host where there is none.
    pub each: Option<Scope>,
    pub weight: Weight,
    pub if_false: IfFalse,
    /// What it shows that other signs of the cause show, too: of each group the strongest counts.
    pub shows: Vec<String>,
    /// Whether a healthy host shows it as well: what it does when asked to, or how it is set up.
    pub healthy_too: bool,
    /// What it shows, in words.
    pub claim: String,
    /// How to get the evidence when it is missing; the questions' own way when empty.
    pub ask: String,
}

/// The traffic of a dataset that a cause is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Busy {
    Reads,
    Writes,
}

/// Which CPU samples a cause accounts for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CpuOf {
    pub functions: Option<Pattern>,
    pub within: Option<Pattern>,
    pub threads: Option<Pattern>,
    pub stage: Option<String>,
}

impl CpuOf {
    pub fn is_empty(&self) -> bool {
        self.functions.is_none() && self.threads.is_none() && self.stage.is_none()
    }
}

/// Another cause that looks similar.
#[derive(Clone, Debug)]
pub struct LookAlike {
    pub class: String,
    /// How to tell the two apart.
    pub tell: String,
    /// When this holds, the other one is ruled out in favour of this cause.
    pub ruled_out_when: Option<Condition>,
}

/// Evidence and what explaining it must give for this cause.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestCase {
    pub name: String,
    pub expect: Expectation,
    pub evidence: Fixture,
}

/// The tests of a cause, as text until somebody runs them.
#[derive(Clone, Debug)]
pub(super) enum Tests {
    /// What follows `above` lines of the file.
    Text {
        text: Box<str>,
        above: usize,
    },
    Read(Vec<TestCase>),
}

/// One class.
#[derive(Clone, Debug)]
pub struct Cause {
    pub class: String,
    pub file: String,
    pub title: String,
    /// Sentence with `{share}`.
    pub why: String,
    /// The remedy in one sentence.
    pub act: String,
    pub explanation: String,
    pub affected: String,
    pub fixed_in: Option<String>,
    pub experiment: Option<String>,
    pub references: Vec<String>,
    /// What people say of it who have measured nothing.
    pub said: Vec<Phrase>,
    pub cpu: CpuOf,
    /// Property and value that the datasets concerned have: fills `{dataset}`.
    pub dataset: Option<(String, Pattern)>,
    /// What of their traffic is this cause's work; all of it where that is not said.
    pub busy: Option<Busy>,
    pub signs: Vec<Sign>,
    /// What speaks against it: shown when true, and lowers the confidence by its weight.
    pub against: Vec<Sign>,
    pub look_alikes: Vec<LookAlike>,
    /// Classes that hold beside it because of it, or are its general form: it is told before them.
    pub explains: Vec<String>,
    pub remedy: Remedy,
    /// What the remedy gains; every cause with commands says so.
    pub gain: Option<GainRule>,
    pub(super) tests: Tests,
}

impl Cause {
    /// Its inline tests.
    ///
    /// # Errors
    /// What is wrong with their text.
    pub fn tests(&self) -> Result<Vec<TestCase>, String> {
        match &self.tests {
            Tests::Text { text, above } => super::load::tests(text, *above),
            Tests::Read(cases) => Ok(cases.clone()),
        }
    }
}
