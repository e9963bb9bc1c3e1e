//! The specification of an experiment: a question, what is varied, what is held, what is done and measured,
//! and what is expected.
//!
//! Specifications are TOML (`experiments/*.toml`); the ones that ship are embedded. The cells are the cross
//! product of the factors, in the order of their names; each overrides a setting.

mod accelerator;
mod builtin;
mod check;
mod measure;
pub mod names;
mod offload;
mod setup;
mod step;

pub use accelerator::{Accelerator, Figure as AcceleratorFigure, accelerators};
pub use check::Check;
pub use measure::Measure;
pub use offload::{Offload, Provider, SETTINGS as OFFLOAD_SETTINGS};
pub use setup::{Content, Device, Fsync, Layout, Setup, Way};
pub use step::{Action, Age, Destination, Form, Order, Step, StepSpec, Verb};

use crate::{Bytes, LabError};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// More runs than this are a mistake in the file rather than a wish.
const MAX_RUNS: u64 = 10_000;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    pub name: String,
    pub title: String,
    pub question: String,
    /// What is expected and why, so that a surprise can be seen as one.
    pub expectation: String,
    /// What the outcome means for somebody's pool: which setting to change, how, and what to mind.
    #[serde(default)]
    pub meaning: String,
    pub engine: Engine,
    #[serde(default)]
    pub references: Vec<String>,
    /// Setting → its values.
    #[serde(alias = "axes")]
    pub factors: BTreeMap<String, Vec<toml::Value>>,
    /// Combinations of factors that are left out: those that have all the values of one of these.
    #[serde(default)]
    pub exclude: Vec<BTreeMap<String, toml::Value>>,
    /// What all cells share.
    #[serde(default, alias = "settings")]
    pub fixed: toml::Table,
    #[serde(alias = "phases")]
    pub steps: Vec<StepSpec>,
    pub size: Sizes,
    pub compare: Compare,
    #[serde(default)]
    pub checks: Vec<Check>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// libzpool in a child process.
    User,
    /// A pool of its own on the OpenZFS in this host's kernel.
    Pool,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sizes {
    pub quick: SizeSpec,
    pub full: SizeSpec,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizeSpec {
    /// Data of one run.
    pub bytes: Bytes,
    pub repetitions: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Size {
    Quick,
    #[default]
    Full,
}

/// The figure that answers the question.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compare {
    #[serde(alias = "phase")]
    pub step: String,
    pub measure: Measure,
    /// Labels of cells, the largest figure first, as expected.
    #[serde(default)]
    pub largest_first: Vec<String>,
    /// The cell that does the same work without what is asked about, `off`: what the others take on top of it is
    /// told as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above: Option<String>,
    /// The step that reads the disks themselves: what part of their speed each cell reaches in `step`, and what limits it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// The stage whose part of the CPU is told for each cell: `copy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
}

/// One combination of the factors.
#[derive(Clone, Debug, Serialize)]
pub struct Variant {
    /// The values of the factors: `aes-256-ccm`, `lz4 threads=4`.
    pub label: String,
    pub factors: BTreeMap<String, String>,
    pub setup: Setup,
    pub steps: Vec<Step>,
}

impl Experiment {
    /// An experiment that ships with zwhy.
    pub fn builtin(name: &str) -> Result<Experiment, LabError> {
        let text = builtin::text(name).ok_or_else(|| LabError::NoExperiment {
            name: name.to_owned(),
            known: builtin::names().collect::<Vec<_>>().join(", "),
            meant: names::near(name, builtin::names(), 0.6)
                .map_or_else(|| ".".to_owned(), |known| format!("; did you mean {known}?")),
        })?;
        Experiment::parse(text, name)
    }

    pub fn builtin_names() -> impl Iterator<Item = &'static str> {
        builtin::names()
    }

    pub fn from_file(path: &Path) -> Result<Experiment, LabError> {
        let origin = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|source| LabError::Io {
            doing: "read the experiment",
            path: path.into(),
            source,
        })?;
        Experiment::parse(&text, &origin)
    }

    /// Reads and checks a specification; `origin` names it in errors.
    pub fn parse(text: &str, origin: &str) -> Result<Experiment, LabError> {
        let wrong = |what: String| LabError::Spec { origin: origin.to_owned(), what };
        let experiment: Experiment = toml::from_str(text)
            .map_err(|e| wrong(format!("{}{}", e.to_string().trim_end(), meant(e.message()))))?;
        experiment.check().map_err(wrong)?;
        Ok(experiment)
    }

    /// Sets a factor or a shared setting to other values: `threads`, `1,4`. Several values make it a factor.
    ///
    /// Labels change with the factors, so the expected order and checks that name other cells are left out.
    ///
    /// # Errors
    /// A name that means nothing here, and values that it cannot have.
    pub fn set(&mut self, name: &str, values: &str) -> Result<(), String> {
        self.set_all([(name, values)])
    }

    /// The same with several, which are checked together: in whatever order, `layout=mirror` and `disks=2` fit.
    ///
    /// # Errors
    /// As [`set`](Experiment::set).
    pub fn set_all<'a>(
        &mut self,
        settings: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<(), String> {
        for (name, values) in settings {
            self.put(name, values)?;
        }
        let labels: Vec<String> = self.variants()?.into_iter().map(|v| v.label).collect();
        self.compare.largest_first.retain(|label| labels.contains(label));
        self.compare.above = self.compare.above.take().filter(|label| labels.contains(label));
        let steps = self.step_names();
        self.checks.retain(|check| check.fits(&labels, &steps).is_ok());
        self.check()
    }

    fn put(&mut self, name: &str, values: &str) -> Result<(), String> {
        if names::kind(name).is_none() && !self.factors.contains_key(name) && !self.words().contains(name) {
            return Err(format!("there is no setting {name:?}{}", names::did_you_mean(name)));
        }
        let values: Vec<toml::Value> =
            values.split(',').map(|v| toml::Value::String(v.trim().into())).collect();
        if values.len() == 1 && !self.factors.contains_key(name) {
            self.fixed.insert(name.to_owned(), values[0].clone());
        } else {
            self.factors.insert(name.to_owned(), values);
        }
        Ok(())
    }

    /// Some cell may hand stages to a provider.
    pub fn has_providers(&self) -> bool {
        self.factors.contains_key("provider") || self.fixed.contains_key("provider")
    }

    /// All cells write a sample of the user's own files. What was expected was expected of other data.
    ///
    /// # Errors
    /// When the experiment compares kinds of data, and a sample is none of them.
    pub fn write_sample(&mut self) -> Result<(), String> {
        match self.factors.get("data") {
            None => self.set("data", "sample")?,
            Some(kinds) if kinds.iter().any(|kind| kind.as_str() == Some("sample")) => {}
            Some(_) => return Err("this experiment compares kinds of data itself".into()),
        }
        self.checks.clear();
        Ok(())
    }

    fn check(&self) -> Result<(), String> {
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
        let named = self.compare.largest_first.iter().map(|label| ("largest_first", label));
        for (field, label) in named.chain(self.compare.above.iter().map(|label| ("above", label))) {
            if !labels.contains(label) {
                return Err(format!(
                    "compare.{field}: no cell is called {label:?}; there are {}",
                    labels.join(", ")
                ));
            }
        }
        let steps = self.step_names();
        if let Some(raw) = self.compare.raw.as_ref().filter(|raw| !steps.contains(raw)) {
            return Err(format!("compare.raw: {raw} is not one of the steps: {}", steps.join(", ")));
        }
        self.checks.iter().try_for_each(|check| check.fits(&labels, &steps))
    }

    /// Factors that only steps use.
    fn words(&self) -> BTreeSet<&str> {
        self.steps.iter().flat_map(StepSpec::arguments).filter_map(|(_, word)| word.factor()).collect()
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
        if let Some(twice) = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)) {
            return Err(format!("steps: {} comes twice; give one of them a name", twice.1));
        }
        let written = self.steps.iter().position(|step| step.verb == Verb::Write);
        let needs = |step: &StepSpec| {
            matches!(
                step.verb,
                Verb::Read
                    | Verb::Verify
                    | Verb::Overwrite
                    | Verb::Snapshot
                    | Verb::Destroy
                    | Verb::Rename
                    | Verb::Send
            )
        };
        if let Some(early) = self.steps[..written.unwrap_or(self.steps.len())].iter().find(|step| needs(step))
        {
            return Err(format!("steps: {} comes before anything is written", early.name()));
        }
        let taken = self.steps.iter().position(|step| step.verb == Verb::Snapshot);
        let of_snapshots = |step: &&StepSpec| matches!(step.verb, Verb::Destroy | Verb::Rename | Verb::Send);
        if let Some(early) = self.steps[..taken.unwrap_or(self.steps.len())].iter().find(of_snapshots) {
            return Err(format!("steps: {} comes before any snapshot is taken", early.name()));
        }
        self.check_receive()?;
        if !names.contains(&self.compare.step) {
            return Err(format!(
                "compare.step: {} is not one of the steps: {}",
                self.compare.step,
                names.join(", ")
            ));
        }
        Ok(())
    }

    /// A stream is received once it lies in a file; snapshots are those of the dataset that was sent.
    fn check_receive(&self) -> Result<(), String> {
        let Some(received) = self.steps.iter().position(|step| step.verb == Verb::Receive) else {
            return Ok(());
        };
        let (before, after) = self.steps.split_at(received);
        if !before.iter().any(|step| step.verb == Verb::Send && step.to.is_some()) {
            return Err("steps: receive needs a send before it with to = \"file\"".into());
        }
        let of_sent = |step: &&StepSpec| {
            matches!(step.verb, Verb::Snapshot | Verb::Destroy | Verb::Rename | Verb::Send | Verb::Receive)
        };
        match after[1..].iter().find(of_sent) {
            Some(late) => {
                Err(format!("steps: {} comes after receive; it is of the dataset that was sent", late.name()))
            }
            None => Ok(()),
        }
    }

    pub fn step_names(&self) -> Vec<String> {
        self.steps.iter().map(|step| step.name().to_owned()).collect()
    }

    pub fn size(&self, size: Size) -> SizeSpec {
        match size {
            Size::Quick => self.size.quick,
            Size::Full => self.size.full,
        }
    }

    /// All combinations of the factors that are not excluded; the last factor (by name) varies fastest.
    ///
    /// # Errors
    /// Which setting or step cannot work.
    pub fn variants(&self) -> Result<Vec<Variant>, String> {
        let mut combinations: Vec<Vec<(&str, &toml::Value)>> = vec![Vec::new()];
        for (factor, values) in &self.factors {
            combinations = combinations
                .iter()
                .flat_map(|c| values.iter().map(move |v| [c.as_slice(), &[(factor.as_str(), v)]].concat()))
                .collect();
        }
        let left_out = |c: &[(&str, &toml::Value)]| {
            self.exclude.iter().any(|e| {
                e.iter().all(|(name, value)| {
                    c.iter().any(|(n, v)| n == name && setup::text_of(v) == setup::text_of(value))
                })
            })
        };
        combinations.into_iter().filter(|c| !left_out(c)).map(|c| self.variant(&c)).collect()
    }

    fn variant(&self, chosen: &[(&str, &toml::Value)]) -> Result<Variant, String> {
        let fixed = self.fixed.iter().map(|(name, value)| (name.as_str(), value));
        let setup = Setup::of(fixed.chain(chosen.iter().copied()))?;
        let mut factors = BTreeMap::new();
        for (factor, value) in chosen {
            let text = setup::text_of(value).ok_or_else(|| {
                format!("factors.{factor}: a {} is no value of a setting", value.type_str())
            })?;
            factors.insert((*factor).to_owned(), text);
        }
        let steps: Result<Vec<Step>, String> = self.steps.iter().map(|step| step.resolve(&setup)).collect();
        Ok(Variant { label: label(&factors), factors, setup, steps: steps? })
    }
}

/// `; did you mean write?` of what serde says of a word that it does not know: the word, then those that it does.
fn meant(message: &str) -> String {
    /// Part of the letters that may differ.
    const NEAR: f64 = 0.6;
    let mut quoted = message.split('`').skip(1).step_by(2);
    let word = quoted.next().filter(|_| message.starts_with("unknown "));
    let near = word.and_then(|word| names::near(word, quoted, NEAR));
    near.map_or_else(String::new, |known| format!("; did you mean {known}?"))
}

/// Words speak for themselves; a number is told with what it is.
fn label(factors: &BTreeMap<String, String>) -> String {
    let alone = |value: &str| value.starts_with(|c: char| c.is_ascii_alphabetic());
    let part = |(name, value): (&String, &String)| match alone(value) {
        true => value.clone(),
        false => format!("{name}={value}"),
    };
    factors.iter().map(part).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
