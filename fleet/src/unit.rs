//! Units of the store: one file of an agent's, or one capture. Its facts say when it ends and which samples are the
//! recorder's own.

use crate::error::FleetError;
use crate::layout::{FACTS, LONGEST_MS, Place, UnitKey};
use crate::scope::Scope;
use crate::store::Store;
use futures::{StreamExt, TryStreamExt};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use zwhy_evidence::{CaptureFacts, MeasureFacts};

/// Facts that are read at a time.
const AT_ONCE: usize = 16;

/// What is known of a unit besides its tables.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Unit {
    pub host: String,
    pub start_ms: i64,
    pub name: String,
    /// First millisecond after it.
    pub end_ms: i64,
    /// Process whose samples are the recorder's own; 0 where it is not known.
    pub recorder: i32,
    pub cpus: Option<u64>,
    pub kernel: Option<String>,
    pub zfs: Option<String>,
    /// Units of samples that are no plain numbers, by event.
    pub measures: BTreeMap<String, MeasureFacts>,
}

impl Unit {
    pub fn of(key: UnitKey, facts: &CaptureFacts) -> Unit {
        let recorder = &facts.recorder;
        let length = recorder.duration_s.filter(|s| s.is_finite() && *s >= 0.0);
        let length_ms = length.map_or(LONGEST_MS, |s| ((s * 1e3).ceil() as i64).saturating_add(1));
        Unit {
            end_ms: key.start_ms.saturating_add(length_ms.min(LONGEST_MS)),
            recorder: recorder.pid.filter(|pid| *pid > 0).unwrap_or(0),
            cpus: facts.host.cpus,
            kernel: facts.host.kernel.clone(),
            zfs: facts.zfs.version.clone(),
            measures: facts.measures.clone(),
            host: key.host,
            start_ms: key.start_ms,
            name: key.name,
        }
    }

    pub fn key(&self) -> UnitKey {
        UnitKey { host: self.host.clone(), start_ms: self.start_ms, name: self.name.clone() }
    }

    pub fn overlaps(&self, scope: &Scope) -> bool {
        self.start_ms < scope.to_ms && self.end_ms > scope.from_ms
    }
}

/// Folders of a table that hold what is asked for: one a host, or all.
pub fn folders(table: &str, scope: &Scope) -> Vec<String> {
    if scope.hosts.is_empty() {
        return vec![table.to_owned()];
    }
    scope.hosts.iter().map(|host| format!("{table}/host={}", zwhy_capture::shipped_host(host))).collect()
}

/// Whole units that may hold something of what is asked for, by their begin; their facts are not read.
///
/// # Errors
/// When the store cannot be listed.
pub async fn unit_keys(store: &Store, scope: &Scope) -> Result<Vec<UnitKey>, FleetError> {
    let mut keys = Vec::new();
    for folder in folders(FACTS, scope) {
        for object in store.list_lately(&folder).await?.iter() {
            let place = Place::of(FACTS, object.location.as_ref());
            let begins =
                |p: &Place| p.start_ms < scope.to_ms && p.start_ms > scope.from_ms.saturating_sub(LONGEST_MS);
            keys.extend(place.filter(begins).map(|place| place.unit()));
        }
    }
    Ok(keys)
}

/// All whole units that hold something of what is asked for, by host and time.
///
/// # Errors
/// When the store cannot be listed or read.
pub async fn units(store: &Store, scope: &Scope) -> Result<Vec<Unit>, FleetError> {
    units_of(store, scope, unit_keys(store, scope).await?).await
}

/// Those of the units that hold something of what is asked for, by host and time.
///
/// # Errors
/// When the store cannot be read. Facts that are damaged are as absent: only the key is known then.
pub async fn units_of(store: &Store, scope: &Scope, keys: Vec<UnitKey>) -> Result<Vec<Unit>, FleetError> {
    let read = |unit: UnitKey| async move {
        let key = zwhy_capture::shipped_key(FACTS, &unit.host, unit.start_ms, &unit.name, 0);
        let Some(bytes) = store.get(&key).await? else { return Ok(None) };
        let facts = CaptureFacts::from_slice(&bytes).map(|(facts, _)| facts).unwrap_or_default();
        Ok::<_, FleetError>(Some(Unit::of(unit, &facts)))
    };
    let found: Vec<Option<Unit>> =
        futures::stream::iter(keys).map(read).buffered(AT_ONCE).try_collect().await?;
    let mut found: Vec<Unit> = found.into_iter().flatten().filter(|unit| unit.overlaps(scope)).collect();
    found.sort_by_key(Unit::key);
    Ok(found)
}
