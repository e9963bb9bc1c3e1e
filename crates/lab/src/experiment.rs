//! The specification of an experiment: a question, what is varied, what is held, what is measured.
//!
//! Specifications are TOML (`experiments/*.toml`); the ones that ship are embedded. The variants
//! are the cross product of the axes, in the order the file names them; each overrides a setting.

use crate::{Bytes, LabError, Settings};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

const BUILTIN: [(&str, &str); 3] = [
    ("encryption", include_str!("../../../experiments/encryption.toml")),
    ("compression", include_str!("../../../experiments/compression.toml")),
    ("checksum", include_str!("../../../experiments/checksum.toml")),
];

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
    pub engine: Engine,
    #[serde(default)]
    pub references: Vec<String>,
    /// Setting → its values.
    pub axes: BTreeMap<String, Vec<toml::Value>>,
    /// What all variants share.
    #[serde(default)]
    pub settings: toml::Table,
    pub phases: Vec<PhaseSpec>,
    pub size: Sizes,
    pub compare: Compare,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// libzpool in a child process.
    User,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseSpec {
    pub kind: PhaseKind,
    /// Record this phase as a capture.
    #[serde(default)]
    pub record: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseKind {
    /// Write all data, wait until it is on disk.
    Write,
    /// Export and import the pool: the ARC is empty after it.
    Reimport,
    /// Read all data front to back; the mark in every 4 KiB is checked.
    Read,
    /// Read all data again and compare every byte.
    Verify,
}

impl PhaseKind {
    pub fn name(self) -> &'static str {
        match self {
            PhaseKind::Write => "write",
            PhaseKind::Reimport => "reimport",
            PhaseKind::Read => "read",
            PhaseKind::Verify => "verify",
        }
    }
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
    pub phase: PhaseKind,
    pub measure: Measure,
    /// Labels of variants, the largest figure first, as expected.
    pub largest_first: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    CpuSPerGb,
    MbPerS,
}

/// One combination of the axes.
#[derive(Clone, Debug, Serialize)]
pub struct Variant {
    /// The values of the axes: `aes-256-ccm`.
    pub label: String,
    pub axes: BTreeMap<String, String>,
    pub settings: Settings,
}

impl Experiment {
    /// An experiment that ships with zwhy.
    pub fn builtin(name: &str) -> Result<Experiment, LabError> {
        let (_, text) = BUILTIN.iter().find(|(n, _)| *n == name).ok_or_else(|| LabError::NoExperiment {
            name: name.to_owned(),
            known: Self::builtin_names().collect::<Vec<_>>().join(", "),
        })?;
        Experiment::parse(text, name)
    }

    pub fn builtin_names() -> impl Iterator<Item = &'static str> {
        BUILTIN.iter().map(|(name, _)| *name)
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
        let experiment: Experiment = toml::from_str(text).map_err(|e| wrong(e.to_string()))?;
        experiment.check().map_err(wrong)?;
        Ok(experiment)
    }

    fn check(&self) -> Result<(), String> {
        let name_ok = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if self.name.is_empty() || !self.name.chars().all(name_ok) {
            return Err(format!("name is {:?}; use lower case letters, digits and hyphens", self.name));
        }
        if self.axes.is_empty() || self.axes.values().any(Vec::is_empty) {
            return Err("axes: at least one axis with at least one value is needed".into());
        }
        for size in [self.size.quick, self.size.full] {
            let runs =
                self.axes.values().map(|v| v.len() as u64).product::<u64>() * u64::from(size.repetitions);
            if runs == 0 || runs > MAX_RUNS {
                return Err(format!("axes and repetitions make {runs} runs; 1 to {MAX_RUNS} are possible"));
            }
            if size.bytes.0 < 1 << 20 {
                return Err(format!("size: {} of data is too little; use at least 1M", size.bytes));
            }
        }
        self.check_phases()?;
        let variants = self.variants()?;
        for label in &self.compare.largest_first {
            if !variants.iter().any(|v| v.label == *label) {
                return Err(format!("compare.largest_first: no variant is called {label:?}"));
            }
        }
        Ok(())
    }

    fn check_phases(&self) -> Result<(), String> {
        let mut written = false;
        let mut seen = Vec::new();
        for phase in &self.phases {
            if seen.contains(&phase.kind) {
                return Err(format!("phases: {} comes twice", phase.kind.name()));
            }
            seen.push(phase.kind);
            written |= phase.kind == PhaseKind::Write;
            if !written {
                return Err(format!("phases: {} comes before anything is written", phase.kind.name()));
            }
        }
        if !seen.contains(&self.compare.phase) {
            return Err(format!("compare.phase: {} is not one of the phases", self.compare.phase.name()));
        }
        Ok(())
    }

    pub fn size(&self, size: Size) -> SizeSpec {
        match size {
            Size::Quick => self.size.quick,
            Size::Full => self.size.full,
        }
    }

    /// All combinations of the axes; the last axis (by name) varies fastest.
    pub fn variants(&self) -> Result<Vec<Variant>, String> {
        let mut combinations: Vec<Vec<(&String, &toml::Value)>> = vec![Vec::new()];
        for (axis, values) in &self.axes {
            combinations = combinations
                .iter()
                .flat_map(|c| values.iter().map(move |v| [c.as_slice(), &[(axis, v)]].concat()))
                .collect();
        }
        combinations.into_iter().map(|c| self.variant(&c)).collect()
    }

    fn variant(&self, chosen: &[(&String, &toml::Value)]) -> Result<Variant, String> {
        let mut table = self.settings.clone();
        let mut axes = BTreeMap::new();
        for (axis, value) in chosen {
            let text = match value {
                toml::Value::String(text) => text.clone(),
                toml::Value::Integer(number) => number.to_string(),
                other => return Err(format!("axes.{axis}: a {} is no value of a setting", other.type_str())),
            };
            axes.insert((*axis).clone(), text);
            table.insert((*axis).clone(), (*value).clone());
        }
        let settings: Settings = table.try_into().map_err(|e: toml::de::Error| e.message().to_owned())?;
        settings.check()?;
        let label = axes.values().cloned().collect::<Vec<_>>().join(" ");
        Ok(Variant { label, axes, settings })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encryption_with(change: impl Fn(&str) -> String) -> Result<Experiment, LabError> {
        Experiment::parse(&change(BUILTIN[0].1), "test.toml")
    }

    #[test]
    fn all_builtins_are_valid_and_carry_their_name() {
        for name in Experiment::builtin_names() {
            assert_eq!(Experiment::builtin(name).unwrap().name, name);
        }
    }

    #[test]
    fn variants_are_the_product_of_the_axes() {
        let experiment = encryption_with(|text| {
            text.replace("[axes]", "[axes]\nchecksum = [\"fletcher4\", \"sha256\"]")
                .replace("largest_first = [", "largest_first = [] #")
        })
        .unwrap();
        let labels: Vec<String> = experiment.variants().unwrap().into_iter().map(|v| v.label).collect();
        assert_eq!(labels.len(), 6);
        assert_eq!(labels[0], "fletcher4 aes-256-ccm");
        assert_eq!(labels[5], "sha256 off");
    }

    #[test]
    fn mistakes_are_named() {
        let mistakes: [(&str, &str, &str); 7] = [
            ("\"aes-256-gcm\", \"off\"]", "\"rot13\", \"off\"]", "rot13"),
            ("recordsize = \"128K\"", "recordsize = \"100K\"", "recordsize is 100K"),
            ("recordsize = ", "recordsiez = ", "recordsiez"),
            ("kind = \"write\"", "kind = \"reimport\"", "before anything is written"),
            ("kind = \"verify\"", "kind = \"read\"", "read comes twice"),
            ("kind = \"verify\"", "kind = \"scrub\"", "scrub"),
            ("name = \"encryption\"", "name = \"../x\"", "../x"),
        ];
        for (from, to, expected) in mistakes {
            assert!(BUILTIN[0].1.contains(from), "the fixture lost {from}");
            let error = encryption_with(|text| text.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(error.contains(expected) && error.contains("test.toml"), "{to}: {error}");
        }
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = Experiment::builtin("nope").unwrap_err().to_string();
        assert!(error.contains("nope") && error.contains("encryption"), "{error}");
    }
}
