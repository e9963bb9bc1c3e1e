//! Facts of pools, datasets and parameters, and OpenZFS's own benchmarks.

use super::facts;
use super::forms::{some_texts, some_vdevs};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use zwhy_zfs::Vdev;

facts! {
    /// A pool, from `zpool list`, `zpool get` and `zpool status`.
    PoolFacts {
        name: String,
        health: String,
        /// Per cent.
        capacity_pct: f64,
        fragmentation_pct: f64,
        size_bytes: u64,
        /// Properties that somebody set, and features in use.
        #[serde(deserialize_with = "some_texts")]
        properties: BTreeMap<String, String>,
        /// What a scrub or a resilver does, `scrub in progress, 12.3 % done`, when recording begins.
        scan: String,
        /// Removals of devices and expansions of RAID-Z vdevs under way then, `removal of sda in progress, 25.0 % done`.
        moves: Vec<String>,
        has_log: bool,
        has_cache: bool,
        has_special: bool,
        #[serde(deserialize_with = "some_vdevs")]
        vdevs: Vec<Vdev>,
    }

    /// A file system or volume, from `zfs get`.
    DatasetFacts {
        name: String,
        #[serde(rename = "type")]
        kind: String,
        mounted: bool,
        #[serde(deserialize_with = "some_texts")]
        properties: BTreeMap<String, String>,
        /// Where values come from that are not the default: `local`, `received`, `inherited from tank`.
        #[serde(deserialize_with = "some_texts")]
        sources: BTreeMap<String, String>,
    }

    /// All datasets, also those that are not listed.
    DatasetCounts {
        total: u64,
        /// Datasets by property and value.
        by_value: BTreeMap<String, BTreeMap<String, u64>>,
        /// Lines of `zfs get` that were not understood.
        #[serde(alias = "odd_lines")]
        unparsed_lines: u64,
    }

    /// A dataset whose key others use too.
    EncryptionRoot {
        name: String,
        encryption: String,
        keystatus: String,
        datasets: u64,
    }

    /// Module parameters that are not at their default.
    ChangedParameters {
        /// The release whose defaults were compared.
        defaults_of: String,
        values: BTreeMap<String, ParameterChange>,
    }
}

/// A parameter's value beside its default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ParameterChange {
    pub value: String,
    pub default: String,
}

/// A benchmark kstat as a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Bench {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl PoolFacts {
    /// What `zpool list` tells, as properties of the pool.
    pub fn figures(&self) -> Vec<(&'static str, String)> {
        let text = |name, value: Option<String>| Some((name, value?));
        let number = |n: Option<f64>| n.map(|n| n.to_string());
        let truth = |b: Option<bool>| b.map(|b| b.to_string());
        [
            text("capacity_pct", number(self.capacity_pct)),
            text("fragmentation_pct", number(self.fragmentation_pct)),
            text("has_cache", truth(self.has_cache)),
            text("has_log", truth(self.has_log)),
            text("has_special", truth(self.has_special)),
            text("health", self.health.clone()),
            text("scan", self.scan.clone()),
            text("size_bytes", self.size_bytes.map(|n| n.to_string())),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

impl DatasetFacts {
    /// What is known of it beside its properties, in the same form.
    pub fn figures(&self) -> Vec<(&'static str, String)> {
        let mounted = self.mounted.map(|m| ("mounted", m.to_string()));
        mounted.into_iter().chain(self.kind.clone().map(|kind| ("type", kind))).collect()
    }
}
