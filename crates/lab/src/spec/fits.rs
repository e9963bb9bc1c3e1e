//! Whether all of a specification fits together, told in words where it does not.

use super::Verb::{
    Cache, Call, Destroy, Overwrite, Raw, Read, Receive, Rename, Send, Snapshot, Verify, Write,
};
use super::{Experiment, StepSpec, names, near};

/// Sizes from which on a law can be told.
pub const SIZES: usize = 3;
/// More runs than this are a mistake in the file rather than a wish.
const MAX_RUNS: u64 = 10_000;
/// Part of the letters of a name that may differ.
const NEAR: f64 = 0.5;

impl Experiment {
    pub(super) fn check(&self) -> Result<(), String> {
        let name_ok = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if self.name.is_empty() || !self.name.chars().all(name_ok) {
            return Err(format!("name is {:?}; use lower case letters, digits and hyphens", self.name));
        }
        if self.factors.is_empty() || self.factors.values().any(Vec::is_empty) {
            return Err("factors: at least one factor with at least one value is needed".into());
        }
        self.check_names()?;
        let variants = self.variants()?;
        if variants.is_empty() {
            return Err("exclude: no combination of the factors is left".into());
        }
        for size in [self.size.quick, self.size.full] {
            let runs = variants.len() as u64 * u64::from(size.repetitions);
            if runs == 0 || runs > MAX_RUNS {
                return Err(format!(
                    "factors and repetitions make {runs} runs; 1 to {MAX_RUNS} are possible"
                ));
            }
            if size.bytes.0 < 1 << 20 {
                return Err(format!("size: {} of data is too little; use at least 1M", size.bytes));
            }
        }
        self.check_steps()?;
        let labels: Vec<String> = variants.into_iter().map(|v| v.label).collect();
        if let Some(twice) = first_twice(&labels) {
            return Err(format!("factors: two cells are called {twice:?}; give each value once"));
        }
        let named = self.compare.largest_first.iter().map(|label| ("largest_first", label));
        for (field, label) in named.chain(self.compare.above.iter().map(|label| ("above", label))) {
            if !labels.contains(label) {
                return Err(format!(
                    "compare.{field}: no cell is called {label:?}; there are {}",
                    labels.join(", ")
                ));
            }
        }
        self.check_grow()?;
        if let Some(stop) = &self.stop {
            stop.check()?;
            if labels.len() < 2 {
                return Err("stop: there is one cell only, and no ratio that could be known".into());
            }
        }
        self.check_compare()?;
        self.checks.iter().try_for_each(|check| check.fits(&labels, &self.step_names()))
    }

    /// A law needs sizes.
    fn check_grow(&self) -> Result<(), String> {
        if self.grow.len() > 2 {
            return Err("grow: at most two factors can grow together".into());
        }
        for (at, name) in self.grow.iter().enumerate() {
            let Some(values) = self.factors.get(name).filter(|_| !self.grow[..at].contains(name)) else {
                return Err(format!("grow: {name} must be a factor with several sizes, named once"));
            };
            let texts = || values.iter().filter_map(super::setup::text_of);
            let size = |text: &String| text.parse::<f64>().is_ok_and(|size| size.is_finite() && size > 0.0);
            if let Some(other) = texts().find(|text| !size(text)) {
                return Err(format!(
                    "grow: {name} has {other:?}, which is no number above 0; write bytes as a number, 131072 for 128K"
                ));
            }
            if texts().count() < SIZES {
                return Err(format!(
                    "grow: {name} has too few sizes, {}; a law needs {SIZES} or more",
                    texts().count()
                ));
            }
        }
        Ok(())
    }

    /// Every setting must be one that is known, or a word that a step uses.
    fn check_names(&self) -> Result<(), String> {
        let words = self.words();
        for name in self.factors.keys().chain(self.fixed.keys()) {
            if names::kind(name).is_none() && !words.contains(name.as_str()) {
                return Err(format!("there is no setting {name:?}{}", names::did_you_mean(name)));
            }
        }
        Ok(())
    }

    fn check_steps(&self) -> Result<(), String> {
        let names = self.step_names();
        if let Some(twice) = first_twice(&names) {
            return Err(format!("steps: {twice} comes twice; give one of them a name"));
        }
        let written = self.steps.iter().position(|step| step.verb == Write);
        let needs = |step: &StepSpec| {
            matches!(step.verb, Read | Verify | Raw | Cache | Overwrite | Snapshot | Destroy | Rename | Send)
        };
        if let Some(early) = self.steps[..written.unwrap_or(self.steps.len())].iter().find(|step| needs(step))
        {
            return Err(format!("steps: {} comes before anything is written", early.name()));
        }
        let taken = self.steps.iter().position(|step| step.verb == Snapshot);
        let of_snapshots = |step: &&StepSpec| matches!(step.verb, Destroy | Rename | Send);
        if let Some(early) = self.steps[..taken.unwrap_or(self.steps.len())].iter().find(of_snapshots) {
            return Err(format!("steps: {} comes before any snapshot is taken", early.name()));
        }
        self.check_receive()?;
        self.check_calls()
    }

    /// The file on which calls are made is there once it was made.
    fn check_calls(&self) -> Result<(), String> {
        match self.steps.iter().find(|step| step.verb == Call) {
            Some(first) if !first.makes_file() => {
                Err(format!("steps: {} comes before a call with call = \"make\"", first.name()))
            }
            _ => Ok(()),
        }
    }

    /// What is compared must be there: a name that nothing has would be told as nothing of it.
    fn check_compare(&self) -> Result<(), String> {
        let steps = self.step_names();
        let no_step = |field: &str, name: &str, steps: &[String]| {
            let meant = near::meant(name, steps.iter().map(String::as_str), NEAR);
            format!("compare.{field}: {name} is not one of the steps: {}{meant}", steps.join(", "))
        };
        if !steps.contains(&self.compare.step) {
            return Err(no_step("step", &self.compare.step, &steps));
        }
        if let Some(raw) = &self.compare.raw {
            match self.steps.iter().find(|step| step.name() == raw) {
                None => return Err(no_step("raw", raw, &steps)),
                Some(step) if step.verb != Raw => {
                    return Err(format!(
                        "compare.raw: {raw} does not read the disks themselves, past OpenZFS; name a step with do = \"raw\""
                    ));
                }
                Some(_) => {}
            }
        }
        let Some(stage) = self.compare.stage.as_ref().filter(|stage| !names::stages().contains(stage)) else {
            return Ok(());
        };
        let known = names::stages();
        let meant = near::meant(stage, known.iter().map(String::as_str), NEAR);
        Err(format!("compare.stage: there is no stage {stage:?}; there are {}{meant}", known.join(", ")))
    }

    /// A stream is received once it lies in a file; snapshots are those of the dataset that was sent.
    fn check_receive(&self) -> Result<(), String> {
        let Some(received) = self.steps.iter().position(|step| step.verb == Receive) else {
            return Ok(());
        };
        let (before, after) = self.steps.split_at(received);
        if !before.iter().any(|step| step.verb == Send && step.to.is_some()) {
            return Err("steps: receive needs a send before it with to = \"file\"".into());
        }
        let of_sent = |step: &&StepSpec| matches!(step.verb, Snapshot | Destroy | Rename | Send | Receive);
        match after[1..].iter().find(of_sent) {
            Some(late) => {
                Err(format!("steps: {} comes after receive; it is of the dataset that was sent", late.name()))
            }
            None => Ok(()),
        }
    }
}

fn first_twice(names: &[String]) -> Option<&String> {
    names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)).map(|(_, name)| name)
}
