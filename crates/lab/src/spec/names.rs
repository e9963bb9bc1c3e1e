//! What the name of a setting means: the way of the I/O, a property, a parameter of the module, or an
//! implementation that the module lets an admin choose.
//!
//! Parameters are those of OpenZFS 2.1 and 2.3 (`knowledge/parameters`); whether the library at hand
//! exports one as a variable is asked when the experiment runs.

use super::near;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Settings by what they mean, as `settings.toml` has them and says.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    runner: Vec<String>,
    pub provider: Vec<String>,
    /// With the words that they take; none of those that take numbers.
    pub properties: BTreeMap<String, Vec<String>>,
    pub implementations: BTreeMap<String, Chooser>,
}

pub static SETTINGS: LazyLock<Settings> =
    LazyLock::new(|| toml::from_str(include_str!("settings.toml")).unwrap_or_default());

/// How OpenZFS lets an implementation be chosen.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Chooser {
    /// An exported function that takes the name.
    Function(String),
    /// A checksum of `zfs_impl_get_ops` (2.2 and later).
    Checksum(String),
}

const TABLES: [&str; 3] = [
    include_str!("../../knowledge/parameters/2.1.toml"),
    include_str!("../../knowledge/parameters/2.3.toml"),
    include_str!("../../knowledge/parameters/2.4.toml"),
];

static PARAMETERS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut names: Vec<String> = TABLES.iter().flat_map(|text| parameters_of(text)).collect();
    names.sort();
    names.dedup();
    names
});

/// Parameters with a number as default: the others take words, and are chosen as implementations.
fn parameters_of(text: &str) -> Vec<String> {
    let table: toml::Table = text.parse().unwrap_or_default();
    let defaults = table.get("defaults").and_then(toml::Value::as_table);
    let number = |value: &toml::Value| value.as_str().is_some_and(|v| v.parse::<i128>().is_ok());
    defaults.into_iter().flatten().filter(|(_, v)| number(v)).map(|(name, _)| name.clone()).collect()
}

static STAGES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let table: toml::Table = include_str!("../../knowledge/anatomy/stages.toml").parse().unwrap_or_default();
    let stages = table.get("stage").and_then(toml::Value::as_array);
    let name = |stage: &toml::Value| Some(stage.get("name")?.as_str()?.to_owned());
    stages.into_iter().flatten().filter_map(name).collect()
});

/// The stages of OpenZFS's work that captures are told by: `copy`, `decrypt`.
pub fn stages() -> &'static [String] {
    &STAGES
}

/// What a setting is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Runner,
    Property,
    Implementation,
    Parameter,
}

/// `None` for a name that is none of these: a word that only steps use.
pub fn kind(name: &str) -> Option<Kind> {
    let Settings { runner, provider, properties, implementations } = &*SETTINGS;
    if runner.iter().chain(provider).any(|known| known == name) {
        return Some(Kind::Runner);
    }
    if properties.contains_key(name) {
        return Some(Kind::Property);
    }
    if implementations.contains_key(name) {
        return Some(Kind::Implementation);
    }
    PARAMETERS.binary_search_by(|known| known.as_str().cmp(name)).is_ok().then_some(Kind::Parameter)
}

/// `; did you mean recordsize?`, or nothing.
pub fn did_you_mean(name: &str) -> String {
    /// Part of the letters that may differ.
    const NEAR: f64 = 0.75;
    let Settings { runner, provider, properties, implementations } = &*SETTINGS;
    let ours = runner.iter().chain(provider).chain(properties.keys());
    let all = ours.chain(implementations.keys()).chain(&*PARAMETERS).map(String::as_str);
    near::meant(name, all, NEAR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart() {
        assert_eq!(kind("threads"), Some(Kind::Runner));
        assert_eq!(kind("recordsize"), Some(Kind::Property));
        assert_eq!(kind("zfs_arc_meta_balance"), Some(Kind::Parameter));
        assert_eq!(kind("dbuf_cache_max_bytes"), Some(Kind::Parameter));
        assert_eq!(kind("zfs_fletcher_4_impl"), Some(Kind::Implementation));
        let chooser = &SETTINGS.implementations["zfs_fletcher_4_impl"];
        assert_eq!(*chooser, Chooser::Function("fletcher_4_impl_set".into()));
        assert_eq!(kind("n"), None);
        assert!(stages().len() > 30 && stages().iter().any(|stage| stage == "copy"), "{:?}", stages());
    }

    #[test]
    fn a_slip_is_answered_with_the_name() {
        assert_eq!(did_you_mean("recrodsize"), "; did you mean recordsize?");
        assert_eq!(did_you_mean("dbuf_cache_max_byte"), "; did you mean dbuf_cache_max_bytes?");
        assert_eq!(did_you_mean("qqqqqq"), "");
    }
}
