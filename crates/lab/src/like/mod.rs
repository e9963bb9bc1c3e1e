//! An experiment with the settings of a recorded host: what a capture tells of one of its datasets takes the place of
//! what the experiment says, as far as that can be.
//!
//! Nothing is left out silently: each setting that the capture tells is either taken or named with the reason.

mod recorded;
#[cfg(test)]
mod tests;

use crate::pool::{self, PoolChoice};
use crate::spec::{Engine, Experiment};
use crate::user;
use crate::user::library::Library;
use recorded::{Asked, Recorded};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use zwhy_evidence::Evidence;

/// What was taken of a recorded host, and what was not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Likeness {
    /// The capture, as it was named.
    pub capture: String,
    /// The dataset whose settings these are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dataset: Option<String>,
    pub taken: Vec<Taken>,
    pub left: Vec<LeftOut>,
}

/// A setting with its value, and what in the capture told it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    pub setting: String,
    pub value: String,
    pub from: String,
}

/// What the capture tells, or should, and why it was not taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    pub what: String,
    pub why: String,
}

impl LeftOut {
    fn new(what: impl Into<String>, why: impl Into<String>) -> LeftOut {
        LeftOut { what: what.into(), why: why.into() }
    }
}

/// Who else has a say in the settings.
pub struct LikeOptions<'a> {
    /// The capture, as it was named.
    pub capture: String,
    /// The dataset to take them from; `None`: the busiest.
    pub dataset: Option<&'a str>,
    /// Settings that the user gave, with the option that gave them: these come first.
    pub own: &'a BTreeMap<String, String>,
    /// The libzpool that will run; `None` where it is not known, or another engine runs.
    pub library: Option<&'a Library>,
    pub pool: &'a PoolChoice,
}

impl Likeness {
    /// Gives `experiment` the settings that `evidence` tells. What it expects it expects of its own settings, so it
    /// expects nothing any more once one was taken.
    ///
    /// # Errors
    /// When the dataset is not in the capture, and when there is nothing in it to take.
    pub fn give(
        experiment: &mut Experiment,
        evidence: &Evidence,
        options: &LikeOptions<'_>,
    ) -> Result<Likeness, String> {
        let Recorded { dataset, told, untold } =
            Recorded::of(evidence, options.dataset, Asked::by(experiment))?;
        if told.is_empty() {
            return Err(nothing(&untold));
        }
        let before = against(experiment, options);
        let mut likeness =
            Likeness { capture: options.capture.clone(), dataset, taken: Vec::new(), left: Vec::new() };
        for group in told {
            match with(experiment, &group, options, &before) {
                Ok(changed) => {
                    *experiment = changed;
                    likeness.taken.extend(group);
                }
                Err(why) => likeness.left.push(LeftOut::new(named(&group), why)),
            }
        }
        likeness.left.extend(untold);
        if !likeness.taken.is_empty() {
            experiment.checks.clear();
        }
        Ok(likeness)
    }

    /// As `--set` takes them.
    pub fn settings(&self) -> impl Iterator<Item = String> {
        self.taken.iter().map(|taken| format!("{}={}", taken.setting, taken.value))
    }

    /// What was taken, and what was not, for a terminal.
    pub fn sentences(&self) -> Vec<String> {
        let of = self.dataset.as_ref().map_or(String::new(), |dataset| format!("{dataset} in "));
        let taken: Vec<String> = self
            .taken
            .iter()
            .map(|taken| format!("{}={} ({})", taken.setting, taken.value, taken.from))
            .collect();
        let left: Vec<String> =
            self.left.iter().map(|left| format!("{} ({})", left.what, left.why)).collect();
        let taken = if taken.is_empty() { "nothing was taken".to_owned() } else { taken.join(", ") };
        let mut sentences = vec![format!("Settings like those of {of}{}: {taken}.", self.capture)];
        if !left.is_empty() {
            sentences.push(format!("Not taken: {}.", left.join("; ")));
        }
        sentences.into_iter().map(|text| text.replace(char::is_control, " ")).collect()
    }
}

fn nothing(untold: &[LeftOut]) -> String {
    let reasons: Vec<String> = untold.iter().map(|left| format!("{} ({})", left.what, left.why)).collect();
    let reasons = reasons.join("; ").replace(char::is_control, " ");
    format!("it tells nothing that an experiment could take: {reasons}")
}

/// `layout=raidz2 disks=6`
fn named(group: &[Taken]) -> String {
    group.iter().map(|taken| format!("{}={}", taken.setting, taken.value)).collect::<Vec<_>>().join(" ")
}

/// The experiment with these settings.
///
/// # Errors
/// Why it cannot have them.
fn with(
    experiment: &Experiment,
    group: &[Taken],
    options: &LikeOptions<'_>,
    before: &[String],
) -> Result<Experiment, String> {
    for Taken { setting, .. } in group {
        if let Some(given) = options.own.get(setting) {
            return Err(format!("{given} comes first"));
        }
        if experiment.factors.contains_key(setting) {
            return Err(format!("{setting} is what this experiment compares"));
        }
    }
    let mut changed = experiment.clone();
    changed.set_all(group.iter().map(|taken| (taken.setting.as_str(), taken.value.as_str())))?;
    match against(&changed, options).into_iter().find(|reason| !before.contains(reason)) {
        Some(reason) => Err(reason),
        None => Ok(changed),
    }
}

/// What the engine has against running it so.
fn against(experiment: &Experiment, options: &LikeOptions<'_>) -> Vec<String> {
    let variants = match experiment.variants() {
        Ok(variants) => variants,
        Err(what) => return vec![what],
    };
    match experiment.engine {
        Engine::User => {
            let of_library = options.library.map(|library| user::limits::unknown(&variants, library));
            let mut reasons = user::limits::refusals(&variants);
            reasons.extend(of_library.unwrap_or_default());
            reasons
        }
        Engine::Pool => pool::limits::refusals(&variants, options.pool),
    }
}
