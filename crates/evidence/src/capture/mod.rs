//! facts.json of a capture as one type: what is true of the host and of the recording, written by the recorder,
//! by the lab and by importers, and read by field.
//!
//! Invariants: what was not learned is absent, never a default. Members that this version does not know are kept
//! in `other` and written again. Names that older versions wrote are accepted as aliases.

mod forms;
mod host;
mod recorder;
mod storage;

pub use forms::{Amount, Kind};
pub use host::{HostFacts, MeasuredLimit, MeasuredLimits, ZfsFacts};
pub use recorder::{
    Events, LineFacts, RecordedEvent, RecorderFacts, SeriesFacts, ShortWaits, ThreadClockFacts, ThreadWaits,
    WaitFacts,
};
pub use storage::{
    Bench, ChangedParameters, DatasetCounts, DatasetFacts, EncryptionRoot, ParameterChange, PoolFacts,
};

use crate::{Evidence, ImportStats};
use forms::texts;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A group of facts: every member may be absent, members of other versions are kept.
macro_rules! facts {
    ($($(#[$meta:meta])* $name:ident { $($(#[$of_member:meta])* $member:ident: $type:ty,)* })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default)]
        pub struct $name {
            $(
                $(#[$of_member])*
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $member: Option<$type>,
            )*
            /// Members that this version does not know.
            #[serde(flatten)]
            pub other: serde_json::Map<String, serde_json::Value>,
        }

        impl $name {
            /// The members that this version knows.
            pub const MEMBERS: &'static [&'static str] = &[$(stringify!($member)),*];

            /// Puts all that `over` knows in place of what is here.
            pub fn put(&mut self, over: $name) {
                $(
                    if over.$member.is_some() {
                        self.$member = over.$member;
                    }
                )*
                self.other.extend(over.other);
            }

            pub fn is_empty(&self) -> bool {
                *self == Self::default()
            }
        }
    )*};
}
pub(crate) use facts;

facts! {
    /// Which run of an experiment a capture is of.
    ExperimentFacts {
        name: String,
        variant: String,
        phase: String,
        /// How much is moved.
        bytes: u64,
        repetition: u64,
    }
    /// The unit of the samples of an event.
    MeasureFacts {
        unit: String,
        counted: bool,
    }
}

/// All of facts.json.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CaptureFacts {
    /// Of the format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    /// Version of the program that wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zwhy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_unix_s: Option<f64>,
    #[serde(skip_serializing_if = "HostFacts::is_empty")]
    pub host: HostFacts,
    /// Settings of the kernel, as sysctl(8) prints them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "texts")]
    pub sysctl: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "ZfsFacts::is_empty")]
    pub zfs: ZfsFacts,
    /// Module parameters, as sysfs prints them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "texts")]
    pub parameters: BTreeMap<String, String>,
    /// Those that are not at the default of this release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters_changed: Option<ChangedParameters>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters_unreadable: Option<u64>,
    /// What parameters that list choices select.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "texts")]
    pub implementations: BTreeMap<String, String>,
    /// Benchmarks that OpenZFS makes of itself, by kstat.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub bench: BTreeMap<String, Bench>,
    /// `DATASET on PATH`, one for each mounted file system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mounts: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pools: Option<Vec<PoolFacts>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub datasets: Option<Vec<DatasetFacts>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dataset_counts: Option<DatasetCounts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encryption_roots: Option<Vec<EncryptionRoot>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshots: Option<Amount>,
    /// What one CPU of the machine does of each kind of work, where `zwhy limits` measured it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<MeasuredLimits>,
    /// Parts of the CPU time of the whole host while it was recorded, by kind: `usr`, `sys`, `idle`, …
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub cpu_time: BTreeMap<String, f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub experiment: Option<ExperimentFacts>,
    #[serde(skip_serializing_if = "RecorderFacts::is_empty")]
    pub recorder: RecorderFacts,
    /// Units of samples that are no plain numbers, by event.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub measures: BTreeMap<String, MeasureFacts>,
    /// What an importer read and could not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub import: Option<ImportStats>,
    /// What an importer found besides samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Box<Evidence>>,
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl CaptureFacts {
    /// Reads facts.json; what is of a wrong type is left out and told, the rest is kept.
    ///
    /// # Errors
    /// When it is no JSON object at all.
    pub fn from_slice(bytes: &[u8]) -> Result<(CaptureFacts, Vec<String>), serde_json::Error> {
        match serde_json::from_slice(bytes) {
            Ok(facts) => Ok((facts, Vec::new())),
            Err(_) => Ok(salvage(serde_json::from_slice(bytes)?)),
        }
    }

    /// As [`CaptureFacts::from_slice`], of JSON that is read already; nothing of what is no object.
    pub fn from_value(value: Value) -> (CaptureFacts, Vec<String>) {
        match value {
            Value::Object(members) => salvage(members),
            _ => Default::default(),
        }
    }

    /// Nothing is known: of a source that is no capture.
    pub fn is_empty(&self) -> bool {
        self.kind.is_none()
            && self.version.is_none()
            && self.recorder.is_empty()
            && self.host.is_empty()
            && self.zfs.is_empty()
            && self.to_value().as_object().is_none_or(Map::is_empty)
    }

    pub fn to_value(&self) -> Value {
        // Every member is text, a number, a list or a map with texts as keys.
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Puts what the caller of a recorder knows over what the recorder found.
    pub fn put(&mut self, over: CaptureFacts) {
        let CaptureFacts { kind, zfs, pools, datasets, limits, experiment, .. } = over;
        self.kind = kind.or(self.kind);
        self.zfs.put(zfs);
        self.pools = pools.or(self.pools.take());
        self.datasets = datasets.or(self.datasets.take());
        self.limits = limits.or(self.limits.take());
        self.experiment = experiment.or(self.experiment.take());
        self.other.extend(over.other);
    }

    pub fn dataset(&self, name: &str) -> Option<&DatasetFacts> {
        self.datasets.iter().flatten().find(|d| d.name.as_deref() == Some(name))
    }

    pub fn pool(&self, name: &str) -> Option<&PoolFacts> {
        self.pools.iter().flatten().find(|p| p.name.as_deref() == Some(name))
    }

    /// A member by JSON pointer: `/host/clocksource`, `/pools/0/has_log`.
    pub fn pointer(&self, pointer: &str) -> Option<Value> {
        let mut parts = pointer.strip_prefix('/')?.splitn(2, '/');
        let (first, rest) = (parts.next()?, parts.next());
        let below = |whole: Value| {
            rest.map_or(Some(whole.clone()), |rest| whole.pointer(&format!("/{rest}")).cloned())
        };
        let listed = |at: &str| at.parse::<usize>().ok();
        // Of what may be long, only what is asked for.
        let nth = |rest: &str| {
            let (at, member) = rest.split_once('/').unwrap_or((rest, ""));
            let whole = match first {
                "pools" => serde_json::to_value(self.pools.as_ref()?.get(listed(at)?)?).ok()?,
                _ => serde_json::to_value(self.datasets.as_ref()?.get(listed(at)?)?).ok()?,
            };
            if member.is_empty() { Some(whole) } else { whole.pointer(&format!("/{member}")).cloned() }
        };
        match (first, rest) {
            ("pools" | "datasets", Some(rest)) => nth(rest),
            ("host", _) => below(serde_json::to_value(&self.host).ok()?),
            ("zfs", _) => below(serde_json::to_value(&self.zfs).ok()?),
            ("recorder", _) => below(serde_json::to_value(&self.recorder).ok()?),
            _ => self.to_value().pointer(pointer).cloned(),
        }
    }
}

/// What can be read of members of which some are of a wrong type; those are named.
fn salvage(members: Map<String, Value>) -> (CaptureFacts, Vec<String>) {
    let fits = |name: &str, value: Value| {
        serde_json::from_value::<CaptureFacts>(Value::Object(Map::from_iter([(name.to_owned(), value)])))
            .is_ok()
    };
    let (mut kept, mut left_out) = (Map::new(), Vec::new());
    for (name, value) in members {
        let value = match value {
            value if fits(&name, value.clone()) => value,
            Value::Object(inner) => {
                let mut good = Map::new();
                for (key, value) in inner {
                    if fits(&name, Value::Object(Map::from_iter([(key.clone(), value.clone())]))) {
                        good.insert(key, value);
                    } else {
                        left_out.push(format!("{name}.{key}"));
                    }
                }
                Value::Object(good)
            }
            Value::Array(list) => {
                let all = list.len();
                let good: Vec<Value> =
                    list.into_iter().filter(|item| fits(&name, Value::Array(vec![item.clone()]))).collect();
                left_out.push(format!("{} entries of {name}", all - good.len()));
                Value::Array(good)
            }
            _ => {
                left_out.push(name);
                continue;
            }
        };
        // Members that fit one by one but not together.
        if fits(&name, value.clone()) {
            kept.insert(name, value);
        } else {
            left_out.push(name);
        }
    }
    (serde_json::from_value(Value::Object(kept)).unwrap_or_default(), left_out)
}

#[cfg(test)]
mod tests;
