//! The specification of an experiment: a question, what is varied, what is held, what is done and measured,
//! and what is expected.
//!
//! Specifications are TOML (`experiments/*.toml`); the ones that ship are embedded. The cells are the cross
//! product of the factors, in the order of their names; each overrides a setting.

mod accelerator;
mod builtin;
mod call;
mod check;
mod fits;
mod measure;
pub mod names;
pub mod near;
mod offload;
mod setup;
mod step;
mod stop;
mod values;

pub use accelerator::{Accelerator, Figure as AcceleratorFigure, accelerators};
pub use call::{Call, CallKind, Called, Direction, RECORDS, TAIL};
pub use check::Check;
pub use fits::SIZES;
pub use measure::Measure;
pub use offload::{Offload, Provider};
pub use setup::{Content, Device, Fsync, Layout, Setup, Way};
pub use step::{Action, Age, Destination, Form, Order, State, Step, StepSpec, Verb};
pub use stop::Stop;

use crate::{Bytes, LabError};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

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
    /// Factors whose sizes grow: with two of them the law of both together is asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grow: Vec<String>,
    /// When enough repetitions of the full size were made; without it they are as many as `size` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stop>,
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
            meant: near::near(name, builtin::names(), 0.6)
                .map_or_else(|| ".".to_owned(), |known| format!("; did you mean {known}?")),
        })?;
        Experiment::parse(text, name)
    }

    pub fn builtin_names() -> impl Iterator<Item = &'static str> {
        builtin::names()
    }

    pub fn from_file(path: &Path) -> Result<Experiment, LabError> {
        let text = std::fs::read_to_string(path).map_err(LabError::io("read the experiment", path))?;
        Experiment::parse(&text, &path.display().to_string())
    }

    /// The error that this experiment cannot be used.
    pub(crate) fn wrong(&self, what: String) -> LabError {
        LabError::Spec { origin: self.name.clone(), what }
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

    /// Factors that only steps use.
    fn words(&self) -> BTreeSet<&str> {
        self.steps.iter().flat_map(StepSpec::arguments).filter_map(|(_, word)| word.factor()).collect()
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
    word.map_or_else(String::new, |word| near::meant(word, quoted, NEAR))
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
