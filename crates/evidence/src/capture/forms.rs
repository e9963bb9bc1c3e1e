//! Members of facts.json that come in several forms.

use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use zwhy_zfs::Vdev;

/// How a capture came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A host, a process or a command was sampled.
    Record,
    /// Calls of a function were counted.
    Count,
    /// A file of another tool was read.
    Import,
    /// An experiment was sampled.
    Lab,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Record => "record",
            Kind::Count => "count",
            Kind::Import => "import",
            Kind::Lab => "lab",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How many there are: a number, one for each pool, or a list of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Amount {
    Number(u64),
    OfPools(BTreeMap<String, f64>),
    List(Vec<Value>),
}

impl Amount {
    pub fn total(&self) -> f64 {
        match self {
            Amount::Number(n) => *n as f64,
            Amount::OfPools(numbers) => numbers.values().sum(),
            Amount::List(items) => items.len() as f64,
        }
    }
}

/// A scalar as the text a command would print; `None` for lists, objects and null.
fn scalar(value: Value) -> Option<String> {
    match value {
        Value::String(s) => Some(s),
        Value::Number(n) => Some(n.to_string()),
        Value::Bool(b) => Some(b.to_string()),
        _ => None,
    }
}

/// Texts by name, of a member that may be absent or null; numbers and truths are taken as they are printed.
pub(crate) fn some_texts<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<BTreeMap<String, String>>, D::Error> {
    let Some(values) = Option::<BTreeMap<String, Value>>::deserialize(from)? else { return Ok(None) };
    let text = |(name, value): (String, Value)| match scalar(value) {
        Some(text) => Ok((name, text)),
        None => Err(D::Error::custom(format!("{name} is no text"))),
    };
    values.into_iter().map(text).collect::<Result<_, _>>().map(Some)
}

/// As [`some_texts`], where none is as good as absent.
pub(crate) fn texts<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, String>, D::Error> {
    Ok(some_texts(from)?.unwrap_or_default())
}

/// Vdevs as a list, or by name as `zpool status -j` has them.
pub(crate) fn some_vdevs<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<Vdev>>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Form {
        List(Vec<Vdev>),
        ByName(BTreeMap<String, Vdev>),
    }
    Ok(Some(match Form::deserialize(from)? {
        Form::List(vdevs) => vdevs,
        Form::ByName(vdevs) => {
            let named = |(name, vdev): (String, Vdev)| {
                if vdev.name.is_empty() { Vdev { name, ..vdev } } else { vdev }
            };
            vdevs.into_iter().map(named).collect()
        }
    }))
}
