//! Defaults of module parameters by OpenZFS release, from `knowledge/parameters/*.toml`.
//!
//! Each table was read from a real, unconfigured module right after it was loaded. A release without
//! a table of its own is judged only where the nearest older and newer table agree.

use crate::params::parse_implementation;
use crate::version::Version;
use serde::Deserialize;
use std::collections::BTreeMap;

const TABLES: [&str; 3] = [
    include_str!("../parameters/2.1.toml"),
    include_str!("../parameters/2.3.toml"),
    include_str!("../parameters/2.4.toml"),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    /// `2.3`.
    series: String,
    /// How the values were obtained.
    #[allow(dead_code)]
    source: String,
    /// Parameters whose value the module works out from memory or CPUs; never called changed.
    computed: Vec<String>,
    defaults: BTreeMap<String, String>,
}

/// What the tables say of one release.
#[derive(Clone, Debug, Default)]
pub struct ParameterDefaults {
    /// `2.3`, or `2.1 and 2.3 where they agree`; `None` when no table applies.
    pub table: Option<String>,
    defaults: BTreeMap<String, String>,
    computed: Vec<String>,
}

impl ParameterDefaults {
    pub fn of(version: &Version) -> ParameterDefaults {
        // Tables are checked by a test; one that cannot be read would only be missing here.
        let tables: Vec<Table> = TABLES.iter().filter_map(|text| toml::from_str(text).ok()).collect();
        let series = (version.major, version.minor);
        let at = |table: &Table| series_of(&table.series).unwrap_or_default();
        if let Some(table) = tables.iter().find(|t| at(t) == series) {
            return ParameterDefaults {
                table: Some(table.series.clone()),
                defaults: table.defaults.clone(),
                computed: table.computed.clone(),
            };
        }
        let older = tables.iter().filter(|t| at(t) < series).max_by_key(|t| at(t));
        let newer = tables.iter().filter(|t| at(t) > series).min_by_key(|t| at(t));
        let (Some(older), Some(newer)) = (older, newer) else { return ParameterDefaults::default() };
        let agreed = older.defaults.iter().filter(|(name, value)| newer.defaults.get(*name) == Some(value));
        ParameterDefaults {
            table: Some(format!("{} and {} where they agree", older.series, newer.series)),
            defaults: agreed.map(|(n, v)| (n.clone(), v.clone())).collect(),
            computed: older.computed.iter().chain(&newer.computed).cloned().collect(),
        }
    }

    /// The default of a parameter that somebody changed to `value`; `None` when it is at its default,
    /// is worked out by the module, or is not in the tables.
    pub fn differs(&self, name: &str, value: &str) -> Option<&str> {
        let default = self.defaults.get(name)?;
        // Which other choices there are depends on the CPU.
        let chosen = |value| parse_implementation(value).and_then(|choices| choices.selected);
        let same = default == value || chosen(default).is_some_and(|c| chosen(value) == Some(c));
        (!same && !self.computed.iter().any(|c| c == name)).then_some(default)
    }

    /// Whether the tables know a parameter.
    pub fn knows(&self, name: &str) -> bool {
        self.defaults.contains_key(name)
    }

    /// Parameters that the tables know.
    pub fn len(&self) -> usize {
        self.defaults.len()
    }

    pub fn is_empty(&self) -> bool {
        self.defaults.is_empty()
    }
}

fn series_of(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_version;

    fn of(version: &str) -> ParameterDefaults {
        ParameterDefaults::of(&parse_version(version).unwrap())
    }

    #[test]
    fn every_table_can_be_read() {
        for text in TABLES {
            let table: Table = toml::from_str(text).unwrap();
            assert!(series_of(&table.series).is_some());
            assert!(table.defaults.len() > 100, "{}", table.series);
            for name in &table.computed {
                assert!(table.defaults.contains_key(name), "{name}");
            }
        }
    }

    #[test]
    fn what_was_changed_is_told_with_its_default() {
        assert_eq!(of("2.4.4-1~bpo13+1").table.as_deref(), Some("2.4"));
        let defaults = of("2.3.2-2~bpo12+2");
        assert_eq!(defaults.table.as_deref(), Some("2.3"));
        assert_eq!(defaults.differs("zfs_prefetch_disable", "1"), Some("0"));
        assert_eq!(defaults.differs("zfs_prefetch_disable", "0"), None);
        assert_eq!(defaults.differs("zfs_dirty_data_max", "1"), None, "worked out from memory");
        assert_eq!(defaults.differs("icp_aes_impl", "cycle [fastest] generic x86_64"), None, "another CPU");
        assert_eq!(
            defaults.differs("icp_aes_impl", "cycle fastest [generic] x86_64"),
            Some("cycle [fastest] generic x86_64 aesni")
        );
        assert_eq!(defaults.differs("no_such_parameter", "1"), None);
    }

    #[test]
    fn releases_without_a_table_are_judged_where_their_neighbours_agree() {
        assert!(of("2.2.7").table.unwrap().contains("agree"));
        assert_eq!(of("2.2.7").differs("zfs_prefetch_disable", "1"), Some("0"));
        assert!(of("2.2.7").len() < of("2.3.0").len());
        assert!(of("0.8.6").is_empty() && of("2.9.0").is_empty());
    }
}
