//! Answers from kstats, parameters, properties, versions and recorded facts.

use super::FactBase;
use super::catalogue::Function;
use super::number::leading_number;
use super::query::Query;
use super::reading::{Quality, Reading};
use super::tables::columns_like;
use crate::pattern::Pattern;
use std::borrow::Cow;
use zwhy_evidence::OriginId;
use zwhy_zfs::Vdev;

/// Parameters that a person writes down by hand at most.
const PICKED_MOST: usize = 6;

/// A parameter or property, as the evidence has it.
struct Setting<'s> {
    name: &'s str,
    value: &'s str,
    origin: OriginId,
}

impl FactBase<'_> {
    pub(super) fn kstat_answer(&self, query: &Query) -> Option<Reading> {
        let (source, name) = (query.patterns.first()?, query.argument(1));
        let found = self.evidence.kstats.iter().filter(|k| k.name == name && source.matches(&k.source));
        let value = |k: &zwhy_evidence::Kstat| match query.function {
            Function::Rate => k.rate,
            _ => Some(k.value),
        };
        let recorded = found.filter_map(|k| Some((value(k)?, k.origin))).max_by(|a, b| a.0.total_cmp(&b.0));
        let (value, origin) = match query.function {
            Function::Rate => recorded?,
            _ => recorded.or_else(|| self.pasted_kstat(source, name))?,
        };
        Reading::number(value, Quality::Figure, self.evidence.origin_name(origin))
    }

    /// A kstat that somebody pasted as a table: a row that begins with its name, or a column of that name.
    ///
    /// A word of the table's title says of which kstat it is: `dmu_tx (after an hour)`,
    /// `/proc/spl/kstat/zfs/abdstats`, `sysctl kstat.zfs.misc.dmu_tx`.
    fn pasted_kstat(&self, source: &Pattern, name: &str) -> Option<(f64, OriginId)> {
        let of_source =
            |tool: &str| tool.split([' ', '(', ')', ',', '/', '.']).any(|word| source.matches_any_case(word));
        self.evidence.tables.iter().filter(|t| of_source(&t.tool)).find_map(|table| {
            let row = table.rows.iter().find(|row| row.first().is_some_and(|cell| cell.trim() == name));
            let value = match row {
                // The last cell is the value: `name type data` has a type between.
                Some(row) => row[1..].last().and_then(|cell| leading_number(cell)),
                None => {
                    let at = table.columns.iter().position(|c| c == name)?;
                    leading_number(table.rows.last()?.get(at)?)
                }
            };
            Some((value?, table.origin))
        })
    }

    pub(super) fn param_answer(&self, query: &Query) -> Option<Reading> {
        let like = query.patterns.first()?;
        // A line of modprobe.d sets what a listing offers to choose from.
        let listing = || {
            let listed = self.evidence.params.iter().rev().filter(|p| like.matches(&setting_name(&p.name)));
            let mut lists = listed
                .filter(|p| zwhy_zfs::parse_implementation(&p.value).is_some_and(|i| i.choices.len() > 1));
            lists.next().map(|p| Setting { name: &p.name, value: &p.value, origin: p.origin })
        };
        let offers = if query.function == Function::Offered { listing() } else { None };
        let Setting { value, origin, .. } = offers.or_else(|| self.setting(like))?;
        let origin = self.evidence.origin_name(origin);
        match query.function {
            Function::Param => Reading::number(leading_number(value)?, Quality::Configured, origin),
            Function::Offered => {
                let offered = zwhy_zfs::parse_implementation(value)?.choices;
                let like = query.patterns.get(1)?;
                Reading::truth(offered.iter().any(|c| like.matches_any_case(c)), Quality::Configured, origin)
            }
            // Of a whole listing, as captures have it, nobody picked anything out.
            Function::Picked if self.evidence.params.len() > PICKED_MOST => None,
            Function::Picked => Reading::truth(true, Quality::Configured, origin),
            _ => Reading::text(chosen(value), Quality::Configured, origin),
        }
    }

    /// A parameter, the last one where several are given. People list properties and parameters
    /// together, so a property of that name will do.
    fn setting<'s>(&'s self, like: &'s Pattern) -> Option<Setting<'s>> {
        let of = |name: &'s str, value: &'s str, origin| Setting { name, value, origin };
        let param = self.evidence.params.iter().rev().find(|p| like.matches(&setting_name(&p.name)));
        let property = || self.evidence.properties.iter().find(|p| like.matches(&p.name));
        let pasted = || self.pasted_values(like, &["parameter*|tunable*", "value*|data|setting"]).next();
        let given = param.map(|p| of(&p.name, &p.value, p.origin));
        given.or_else(pasted).or_else(|| property().map(|p| of(&p.name, &p.value, p.origin)))
    }

    /// The name of the parameter that answers, as the evidence writes it.
    pub fn setting_told(&self, like: &Pattern) -> Option<String> {
        self.setting(like).map(|setting| setting.name.trim().to_owned())
    }

    pub(super) fn property_answer(&self, query: &Query) -> Option<Reading> {
        let name = query.argument(0);
        let given = self.evidence.properties.iter().filter(|p| p.name == name);
        let like = query.patterns.first()?;
        let pasted = self.pasted_values(like, &["property*", "value*"]);
        let mut found: Vec<_> =
            given.map(|p| (p.value.as_str(), p.origin)).chain(pasted.map(|s| (s.value, s.origin))).collect();
        if found.is_empty() {
            // As in `setting`, the other way round.
            let params = self.evidence.params.iter().filter(|p| p.name == name);
            found = params.map(|p| (p.value.as_str(), p.origin)).collect();
        }
        let origin = self.evidence.origin_name(found.first()?.1);
        if query.function == Function::PropNumber {
            let numbers = found.iter().filter_map(|(value, _)| leading_number(value));
            return Reading::number(numbers.max_by(f64::total_cmp)?, Quality::Configured, origin);
        }
        let like = query.patterns.get(1)?;
        let some = found.iter().any(|(value, _)| value_like(value, like));
        Reading::truth(some, Quality::Configured, origin)
    }

    /// Values from tables with a column of names and one of values, as `zfs get` prints them.
    fn pasted_values<'s>(
        &'s self,
        like: &'s Pattern,
        columns: &[&str; 2],
    ) -> impl Iterator<Item = Setting<'s>> + 's {
        let [names, values] = columns.map(Pattern::new);
        self.evidence.tables.iter().flat_map(move |table| {
            let at = |like: &Pattern| columns_like(table, like).first().copied();
            let at = at(&names).zip(at(&values));
            let rows = table.rows.iter().filter_map(move |row| {
                let (of_name, of_value) = at?;
                let name = row.get(of_name)?.trim();
                like.matches(name).then(|| Some((name, row.get(of_value)?)))?
            });
            rows.map(|(name, value)| Setting { name, value, origin: table.origin })
        })
    }

    pub(super) fn host_answer(&self, query: &Query) -> Option<Reading> {
        let host = &self.evidence.host;
        let like = query.patterns.first()?;
        let truth = |value| Reading::truth(value, Quality::Configured, "host");
        match query.function {
            Function::ZfsVersion => truth(query.requirement.as_ref()?.holds(host.zfs_version.as_deref()?)?),
            Function::KernelVersion => truth(query.requirement.as_ref()?.holds(host.kernel.as_deref()?)?),
            Function::Os => {
                let texts: Vec<&str> =
                    [host.os.as_deref(), host.kernel.as_deref()].into_iter().flatten().collect();
                (!texts.is_empty()).then(|| truth(texts.iter().any(|t| like.matches_any_case(t))))?
            }
            Function::Arch => truth(like.matches(self.architecture()?)),
            Function::CpuFlag => {
                (!host.cpu_flags.is_empty()).then(|| truth(host.cpu_flags.iter().any(|f| like.matches(f))))?
            }
            _ => match host.cpu_model.as_deref() {
                Some(model) => truth(like.matches_any_case(model)),
                // People write the CPU beside the system; that it is not there says nothing.
                None => like.matches_any_case(host.os.as_deref()?).then(|| truth(true))?,
            },
        }
    }

    /// A scalar of facts.json; whether ZFS is in use is also told by a list of pools.
    pub(super) fn fact_answer(&self, query: &Query) -> Option<Reading> {
        let value = self.evidence.facts.pointer(query.argument(0))?;
        match value {
            serde_json::Value::Bool(b) => Reading::truth(b, Quality::Configured, "facts"),
            serde_json::Value::Number(n) => Reading::number(n.as_f64()?, Quality::Configured, "facts"),
            serde_json::Value::String(s) => Reading::text(s, Quality::Configured, "facts"),
            serde_json::Value::Array(list) => {
                Reading::number(list.len() as f64, Quality::Configured, "facts")
            }
            _ => None,
        }
    }

    /// Length of a list in the facts, a number that stands for one, or what somebody wrote down.
    pub(super) fn count_answer(&self, query: &Query) -> Option<Reading> {
        self.recorded_count(query).or_else(|| self.written_count(query.argument(0)))
    }

    /// `snapshot_count`, `mounted file systems`, a column `snapshots`: a count among what else was
    /// written down. Names of tunables (`zfs_…`) and limits are none.
    fn written_count(&self, list: &str) -> Option<Reading> {
        let nouns: &[&str] = match list {
            "pools" => &["pools"],
            "vdevs" => &["vdevs", "leaf vdevs", "disks"],
            "datasets" => &["datasets", "filesystems", "file systems"],
            "snapshots" => &["snapshots", "snapshot count", "snaps"],
            _ => &["mounts", "mounted"],
        };
        let means = |name: &str| {
            let name = name.to_ascii_lowercase().replace(['_', '-'], " ");
            !name.starts_with("zfs ") && !name.contains("limit") && nouns.iter().any(|n| name.contains(n))
        };
        let begins = |name: &str| {
            let name = name.to_ascii_lowercase();
            nouns.iter().any(|n| name.starts_with(n))
        };
        let params = self.evidence.params.iter().map(|p| (&p.name, &p.value, p.origin));
        let properties = self.evidence.properties.iter().map(|p| (&p.name, &p.value, p.origin));
        let named = params.chain(properties).filter(|(name, ..)| means(name));
        let in_names = named.filter_map(|(_, value, origin)| Some((leading_number(value)?, origin)));
        let in_columns = self.evidence.tables.iter().flat_map(|table| {
            let at = table.columns.iter().position(|c| means(c));
            table.rows.iter().filter_map(move |row| Some((leading_number(row.get(at?)?)?, table.origin)))
        });
        // A row `mounted  4096`: its last cell.
        let in_rows = self.evidence.tables.iter().flat_map(|table| {
            let rows = table.rows.iter().filter(|row| row.first().is_some_and(|name| begins(name)));
            rows.filter_map(|row| Some((leading_number(row[1..].last()?)?, table.origin)))
        });
        let (most, origin) = in_names.chain(in_columns).chain(in_rows).max_by(|a, b| a.0.total_cmp(&b.0))?;
        Reading::number(most, Quality::Configured, self.evidence.origin_name(origin))
    }

    fn recorded_count(&self, query: &Query) -> Option<Reading> {
        let facts = &self.evidence.facts;
        let listed = match query.argument(0) {
            "pools" => facts.pools.as_ref()?.len() as f64,
            "datasets" => facts.datasets.as_ref()?.len() as f64,
            "mounts" => facts.mounts.as_ref()?.len() as f64,
            "snapshots" => facts.snapshots.as_ref()?.total(),
            "vdevs" => {
                let pools = facts.pools.as_ref()?.iter();
                let known: Vec<usize> = pools.filter_map(|p| Some(leaves(p.vdevs.as_ref()?))).collect();
                (!known.is_empty()).then(|| known.iter().sum::<usize>() as f64)?
            }
            _ => return None,
        };
        Reading::number(listed, Quality::Configured, "facts")
    }

    /// A value of a property that is like that, of a dataset whose name is known if there is one.
    pub fn property_like(&self, name: &str, like: &Pattern) -> Option<(&str, Option<&str>)> {
        let properties = self.evidence.properties.iter();
        let found = properties.filter(|p| p.name == name && value_like(&p.value, like));
        let best = found.max_by_key(|p| p.dataset.is_some())?;
        Some((best.value.trim(), best.dataset.as_deref()))
    }
}

/// Vdevs without children.
fn leaves(vdevs: &[Vdev]) -> usize {
    vdevs.iter().map(|vdev| if vdev.children.is_empty() { 1 } else { leaves(&vdev.children) }).sum()
}

/// Whether a property's text has such a value. People list several: `aes-128-gcm, aes-256-ccm`.
pub fn value_like(text: &str, like: &Pattern) -> bool {
    like.matches_any_case(text) || text.split([',', ';', ' ']).any(|word| like.matches_any_case(word.trim()))
}

/// A parameter's name as the knowledge files write it, from its path: `lru_gen.enabled` of
/// `/sys/kernel/mm/lru_gen/enabled`, `vm.swappiness` of `/proc/sys/vm/swappiness`.
fn setting_name(name: &str) -> Cow<'_, str> {
    const FOLDERS: [&str; 4] =
        ["/sys/kernel/mm/", "/proc/sys/", "/sys/devices/system/clocksource/clocksource0/", "/sys/module/"];
    if !name.contains(['/', ' ']) {
        return Cow::Borrowed(name);
    }
    let below = FOLDERS.iter().find_map(|folder| name.strip_prefix(folder)).unwrap_or(name);
    let below = below.split_once("/parameters/").map_or(below, |(_, parameter)| parameter);
    Cow::Owned(below.trim_matches(['/', ' ']).replace(['/', ' '], "."))
}

/// What is selected in `cycle [fastest] avx`; the text itself when nothing is in brackets.
pub fn chosen(text: &str) -> String {
    let selected = zwhy_zfs::parse_implementation(text).and_then(|i| i.selected);
    selected.unwrap_or_else(|| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_in_brackets_is_chosen() {
        assert_eq!(chosen("cycle [fastest] avx"), "fastest");
        assert_eq!(chosen(" generic\n"), "generic");
        assert_eq!(chosen("[broken"), "[broken");
    }

    #[test]
    fn settings_are_known_by_their_paths_too() {
        for (given, name) in [
            ("zfs_arc_max", "zfs_arc_max"),
            ("/sys/module/zfs/parameters/zfs_arc_max", "zfs_arc_max"),
            ("/sys/kernel/mm/lru_gen/enabled", "lru_gen.enabled"),
            ("lru_gen/enabled", "lru_gen.enabled"),
            ("lru_gen enabled", "lru_gen.enabled"),
            ("/proc/sys/vm/swappiness", "vm.swappiness"),
            ("kern.timecounter.hardware", "kern.timecounter.hardware"),
            ("/", ""),
        ] {
            assert_eq!(setting_name(given), name, "{given}");
        }
    }

    #[test]
    fn listed_property_values_count_each() {
        let ccm = Pattern::new("aes-*-ccm");
        assert!(value_like("aes-128-gcm, aes-256-ccm tried", &ccm));
        assert!(!value_like("aes-128-gcm", &ccm));
    }
}
