//! What was merged of each hour: a numbered manifest, made only where none of its number is.
//!
//! Invariants: the highest number of an hour holds, alone; it names every unit that is in its files, so a unit is either
//! in the files of the manifest or read by itself, and never both. A manifest is never changed.

use crate::error::FleetError;
use crate::layout::UnitKey;
use crate::scope::Scope;
use crate::store::Store;
use crate::unit::Unit;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use zwhy_capture::day_of;

pub const MANIFESTS: &str = "manifest";
pub const MERGED: &str = "merged";
/// Tables of merged files.
pub const MERGED_TABLES: [&str; 7] = ["samples", "sums", "totals", "stacks", "frames", "series", "marks"];
/// Length of the steps that samples are added up by in `sums` and `totals`; each begins at a multiple of it.
pub const SUM_MS: i64 = 300_000;
const HOUR_MS: i64 = 3_600_000;

/// An hour, by the begin of units, in hours since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hour(pub i64);

impl Hour {
    pub fn of(unix_ms: i64) -> Hour {
        Hour(unix_ms.div_euclid(HOUR_MS))
    }

    /// First millisecond after it.
    pub fn end_ms(self) -> i64 {
        (self.0 + 1).saturating_mul(HOUR_MS)
    }

    /// `day=2026-11-22/hour=19`.
    pub fn folder(self) -> String {
        format!("day={}/hour={:02}", day_of(self.0.saturating_mul(HOUR_MS)), self.0.rem_euclid(24))
    }
}

/// A file of merged rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergedFile {
    pub table: String,
    pub key: String,
    pub bytes: u64,
}

/// What was merged of one hour.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    pub hour: i64,
    pub version: u32,
    /// 1: every row; 2: sums of the hour; 3: nothing is kept but what is written here.
    pub tier: u8,
    /// Units whose rows are in the files, or were.
    pub units: Vec<Unit>,
    pub files: Vec<MergedFile>,
}

impl Manifest {
    /// Before anything was merged.
    pub fn none(hour: Hour) -> Manifest {
        Manifest { hour: hour.0, version: 0, tier: 1, units: Vec::new(), files: Vec::new() }
    }

    pub fn hour(&self) -> Hour {
        Hour(self.hour)
    }

    /// Where it is kept.
    pub fn key(&self) -> String {
        format!("{MANIFESTS}/{}/{:08}.json", self.hour().folder(), self.version)
    }

    /// Where a file of the next manifest of this hour goes; `name` is of one attempt alone.
    pub fn file_key(&self, table: &str, tier: u8, name: &str) -> String {
        format!(
            "{MERGED}/{table}/tier={tier}/{}/{:08}-{name}.parquet",
            self.hour().folder(),
            self.version + 1
        )
    }

    /// Whether its samples are there as sums, too: `sums`, or `totals`.
    pub fn has(&self, table: &str) -> bool {
        self.files.iter().any(|file| file.table == table)
    }

    pub fn overlaps(&self, scope: &Scope) -> bool {
        self.units.iter().any(|unit| unit.overlaps(scope) && scope.has_host(&unit.host))
    }
}

/// Whether the place was free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commit {
    Done,
    /// Somebody else was first; nothing was changed.
    Lost,
}

/// Makes `manifest` the one that holds.
///
/// # Errors
/// When it is not known whether it was made.
pub async fn commit(store: &Store, manifest: &Manifest) -> Result<Commit, FleetError> {
    let bytes = serde_json::to_vec(manifest).map_err(FleetError::encode("a manifest"))?;
    let made = store.put_new(&manifest.key(), bytes.clone()).await?;
    // Where the answer to a first attempt got lost, a second one finds what the first one made; files have names of
    // their own, so no other manifest is like it.
    let holds = made || store.get(&manifest.key()).await?.is_some_and(|known| known == bytes);
    Ok(if holds { Commit::Done } else { Commit::Lost })
}

/// Keys of all manifests, by hour and number.
///
/// # Errors
/// When the store cannot be listed.
pub async fn manifest_keys(store: &Store) -> Result<BTreeMap<Hour, BTreeMap<u32, String>>, FleetError> {
    let mut hours: BTreeMap<Hour, BTreeMap<u32, String>> = BTreeMap::new();
    for object in store.list(MANIFESTS).await? {
        let key = object.location.to_string();
        if let Some((hour, version)) = parsed(&key) {
            hours.entry(hour).or_default().insert(version, key);
        }
    }
    Ok(hours)
}

fn parsed(key: &str) -> Option<(Hour, u32)> {
    let (folder, file) = key.strip_prefix(MANIFESTS)?.strip_prefix('/')?.rsplit_once('/')?;
    let day = folder.strip_prefix("day=")?.split_once("/hour=")?;
    let midnight = crate::scope::moment_ms(day.0, 0)?;
    let hour = Hour(midnight / HOUR_MS + day.1.parse::<i64>().ok()?);
    let version = file.strip_suffix(".json")?.parse().ok()?;
    (hour.folder() == folder).then_some((hour, version))
}

/// The manifests that hold and have something of `scope`.
///
/// # Errors
/// When the store cannot be read, or a manifest is damaged: what it names would be counted twice.
pub async fn manifests(store: &Store, scope: &Scope) -> Result<Vec<Manifest>, FleetError> {
    let first = Hour::of(scope.from_ms.saturating_sub(crate::layout::LONGEST_MS));
    let hours = manifest_keys(store).await?;
    let mut out = Vec::new();
    for (hour, versions) in
        hours.into_iter().filter(|(hour, _)| *hour >= first && hour.0 <= Hour::of(scope.to_ms).0)
    {
        let Some(manifest) = newest(store, hour, &versions).await? else { continue };
        if manifest.overlaps(scope) {
            out.push(manifest);
        }
    }
    Ok(out)
}

/// The manifest of an hour that holds; `versions` are those that were listed.
///
/// # Errors
/// As [`manifests`].
pub async fn newest(
    store: &Store,
    hour: Hour,
    versions: &BTreeMap<u32, String>,
) -> Result<Option<Manifest>, FleetError> {
    let mut newest = versions.last_key_value().map(|(_, key)| key.clone());
    while let Some(key) = newest {
        if let Some(bytes) = store.get(&key).await? {
            return parsed_manifest(&key, &bytes).map(Some);
        }
        // It was removed since it was listed, so a newer one holds.
        let hours = manifest_keys(store).await?;
        newest = hours.get(&hour).and_then(|versions| versions.last_key_value()).map(|(_, key)| key.clone());
    }
    Ok(None)
}

fn parsed_manifest(key: &str, bytes: &[u8]) -> Result<Manifest, FleetError> {
    let odd = |why: String| FleetError::Encode {
        what: "what was read of a manifest",
        why: format!("{key}: {why}"),
    };
    let manifest: Manifest = serde_json::from_slice(bytes).map_err(|e| odd(e.to_string()))?;
    if manifest.key() != key {
        return Err(odd("it is of another hour or number".to_owned()));
    }
    Ok(manifest)
}

/// Units that are in merged files.
pub fn merged_units(manifests: &[Manifest]) -> std::collections::BTreeSet<UnitKey> {
    manifests.iter().flat_map(|manifest| manifest.units.iter().map(Unit::key)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_back_as_hours_and_numbers() {
        let hour = Hour::of(1_795_375_953_123);
        let manifest = Manifest { version: 12, ..Manifest::none(hour) };
        assert_eq!(manifest.key(), "manifest/day=2026-11-22/hour=19/00000012.json");
        assert_eq!(parsed(&manifest.key()), Some((hour, 12)));
        assert_eq!(
            manifest.file_key("samples", 1, "ab"),
            "merged/samples/tier=1/day=2026-11-22/hour=19/00000013-ab.parquet"
        );
        for odd in [
            "manifest/day=2026-11-22/hour=24/00000012.json",
            "manifest/day=2026-11-22/hour=9/00000012.json",
            "manifest/day=2026-11-22/hour=19/12.json.tmp",
            "manifest/00000012.json",
        ] {
            assert_eq!(parsed(odd), None, "{odd}");
        }
    }

    #[tokio::test]
    async fn one_of_two_takes_the_place() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().display().to_string()).unwrap();
        let hour = Hour(500_000);
        let first = Manifest { version: 1, ..Manifest::none(hour) };
        assert_eq!(commit(&store, &first).await.unwrap(), Commit::Done);
        // Sent again, since the answer got lost.
        assert_eq!(commit(&store, &first).await.unwrap(), Commit::Done);
        let other = Manifest { tier: 2, ..first.clone() };
        assert_eq!(commit(&store, &other).await.unwrap(), Commit::Lost);
        let keys = manifest_keys(&store).await.unwrap();
        assert_eq!(newest(&store, hour, &keys[&hour]).await.unwrap(), Some(first));
        std::fs::write(dir.path().join(&keys[&hour][&1]), b"{").unwrap();
        assert!(
            newest(&store, hour, &keys[&hour]).await.is_err(),
            "a damaged one is no reason to count twice"
        );
    }
}
