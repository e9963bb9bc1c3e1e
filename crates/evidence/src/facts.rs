//! Facts that are not samples: versions, parameters, properties and tables as text.

use crate::OriginId;
use serde::{Deserialize, Serialize};

/// Versions and names of the host, as free text of the source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    pub name: Option<String>,
    pub zfs_version: Option<String>,
    pub kernel: Option<String>,
    pub os: Option<String>,
    pub cpu_model: Option<String>,
    /// CPU feature flags in the spelling of /proc/cpuinfo.
    pub cpu_flags: Vec<String>,
    /// The instruction set, as the source spells it (`amd64`); [`Host::architecture`] reads it.
    #[serde(default)]
    pub arch: Option<String>,
}

impl Host {
    /// Takes from `other` what is unknown here.
    pub fn fill(&mut self, other: &Host) {
        let take = |mine: &mut Option<String>, theirs: &Option<String>| {
            if mine.is_none() {
                mine.clone_from(theirs);
            }
        };
        take(&mut self.name, &other.name);
        take(&mut self.zfs_version, &other.zfs_version);
        take(&mut self.kernel, &other.kernel);
        take(&mut self.os, &other.os);
        take(&mut self.cpu_model, &other.cpu_model);
        take(&mut self.arch, &other.arch);
        if self.cpu_flags.is_empty() {
            self.cpu_flags.clone_from(&other.cpu_flags);
        }
    }
}

/// A module parameter (`zfs_arc_max`), its value as text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Param {
    pub name: String,
    pub value: String,
    pub origin: OriginId,
}

/// A pool or dataset property; `dataset` is `None` where the source does not say whose it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Property {
    pub dataset: Option<String>,
    pub name: String,
    pub value: String,
    pub origin: OriginId,
}

/// A table of another tool (`iostat -x`, `arcstat`, a benchmark), cells as text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    pub tool: String,
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
    pub origin: OriginId,
}
