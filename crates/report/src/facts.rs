//! What a capture knows of its host, pools and datasets, as tables for the page: settings that differ from their
//! defaults first, as these are what explains.

use serde::Serialize;
use std::collections::BTreeMap;
use zwhy_evidence::{CaptureFacts, DatasetFacts, Evidence, PoolFacts};
use zwhy_zfs::format_bytes;

/// Rows that a table shows of what a host may have thousands of.
const MOST: usize = 60;

/// One table.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct FactTable {
    pub title: &'static str,
    pub columns: Vec<&'static str>,
    pub rows: Vec<Vec<String>>,
    /// Rows that are not listed.
    pub more: usize,
}

/// Tables with at least one row.
pub fn fact_tables(evidence: &Evidence) -> Vec<FactTable> {
    let facts = &evidence.facts;
    let all = [
        host(facts),
        openzfs(facts),
        pools(facts),
        datasets(facts),
        parameters(facts),
        implementations(facts),
        limits(facts),
        recording(facts),
    ];
    all.into_iter().filter(|table| !table.rows.is_empty()).collect()
}

fn table(title: &'static str, columns: &[&'static str], rows: Vec<Vec<String>>) -> FactTable {
    let more = rows.len().saturating_sub(MOST);
    let rows = rows.into_iter().take(MOST).collect();
    FactTable { title, columns: columns.to_vec(), rows, more }
}

/// Names and values; what is not known is left out.
fn pairs<const N: usize>(title: &'static str, rows: [(&str, Option<String>); N]) -> FactTable {
    let known = rows.into_iter().filter_map(|(name, value)| {
        Some(vec![name.to_owned(), value.filter(|text| !text.is_empty() && text != "none")?])
    });
    table(title, &["", ""], known.collect())
}

fn yes(flag: Option<bool>) -> Option<String> {
    flag.filter(|on| *on).map(|_| "yes".to_owned())
}

fn bytes(n: Option<u64>) -> Option<String> {
    n.filter(|n| *n > 0).map(format_bytes)
}

fn host(facts: &CaptureFacts) -> FactTable {
    let host = &facts.host;
    pairs(
        "Host",
        [
            ("name", host.name.clone()),
            ("system", host.os.clone()),
            ("kernel", host.kernel.clone()),
            ("virtualization", host.virtualization.clone()),
            ("processor", host.cpu_model.clone()),
            ("CPUs", host.cpus.map(|n| n.to_string())),
            ("NUMA nodes", host.numa_nodes.filter(|n| *n > 1).map(|n| n.to_string())),
            ("memory", bytes(host.memory_bytes)),
            ("memory limit of the control group", bytes(host.cgroup_memory_limit_bytes)),
            ("swap", bytes(host.swap_bytes)),
            ("clock", host.clocksource.clone()),
            ("frequency governor", host.cpu_governor.clone()),
            ("memory cleared on allocation", yes(host.init_on_alloc)),
            ("memory cleared on free", yes(host.init_on_free)),
            ("CPU mitigations off", yes(host.mitigations_off)),
        ],
    )
}

fn openzfs(facts: &CaptureFacts) -> FactTable {
    let zfs = &facts.zfs;
    pairs(
        "OpenZFS",
        [
            ("version", zfs.version.clone()),
            ("tools", zfs.userland.clone()),
            ("library", zfs.library.clone()),
            ("installed as", zfs.origin.clone()),
            ("tools and module differ", yes(zfs.versions_differ)),
            ("datasets", facts.dataset_counts.as_ref().and_then(|c| c.total).map(|n| n.to_string())),
            ("snapshots", facts.snapshots.as_ref().map(|n| format!("{:.0}", n.total()))),
        ],
    )
}

fn pools(facts: &CaptureFacts) -> FactTable {
    let percent = |n: Option<f64>| n.map_or(String::new(), |n| format!("{n:.0} %"));
    let row = |pool: &PoolFacts| {
        let parts = [("log", pool.has_log), ("cache", pool.has_cache), ("special", pool.has_special)];
        let has: Vec<&str> =
            parts.iter().filter(|(_, on)| *on == Some(true)).map(|(name, _)| *name).collect();
        vec![
            pool.name.clone().unwrap_or_default(),
            pool.health.clone().unwrap_or_default(),
            bytes(pool.size_bytes).unwrap_or_default(),
            percent(pool.capacity_pct),
            percent(pool.fragmentation_pct),
            has.join(", "),
            settings(pool.properties.as_ref(), |name| !name.starts_with("feature@")),
        ]
    };
    let rows = facts.pools.iter().flatten().map(row).collect();
    table("Pools", &["pool", "health", "size", "full", "fragmented", "has", "set"], rows)
}

fn datasets(facts: &CaptureFacts) -> FactTable {
    let row = |dataset: &DatasetFacts| {
        let sources = dataset.sources.as_ref();
        let set = |name: &str| sources.is_none_or(|s| s.contains_key(name));
        vec![
            dataset.name.clone().unwrap_or_default(),
            dataset.kind.clone().unwrap_or_default(),
            settings(dataset.properties.as_ref(), set),
        ]
    };
    let rows = facts.datasets.iter().flatten().map(row).collect();
    table("Datasets", &["dataset", "type", "set, here or above"], rows)
}

/// `recordsize=1M, compression=zstd`.
fn settings(of: Option<&BTreeMap<String, String>>, shown: impl Fn(&str) -> bool) -> String {
    let known = of.into_iter().flatten().filter(|(name, _)| shown(name));
    known.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(", ")
}

fn parameters(facts: &CaptureFacts) -> FactTable {
    let changed = facts.parameters_changed.iter().flat_map(|c| c.values.iter().flatten());
    let rows = changed.map(|(name, c)| vec![name.clone(), c.value.clone(), c.default.clone()]);
    table("Parameters that differ", &["parameter", "value", "default"], rows.collect())
}

fn implementations(facts: &CaptureFacts) -> FactTable {
    let rows = facts.implementations.iter().map(|(name, chosen)| vec![name.clone(), chosen.clone()]);
    table("Implementations chosen", &["of", "chosen"], rows.collect())
}

fn limits(facts: &CaptureFacts) -> FactTable {
    let rows = facts.limits.iter().flat_map(|l| l.rows.iter().flatten()).map(|row| {
        let rate = row.mb_s.map_or(String::new(), |n| format!("{n:.0} MB/s"));
        vec![row.work.clone().unwrap_or_default(), rate, row.with.clone().unwrap_or_default()]
    });
    table(
        "What one CPU of this machine can do",
        &["work", "of a CPU second", "measured with"],
        rows.collect(),
    )
}

fn recording(facts: &CaptureFacts) -> FactTable {
    let r = &facts.recorder;
    pairs(
        "Recording",
        [
            ("of", r.target.clone()),
            ("event", r.event.clone()),
            ("samples a second on each CPU", r.hz.map(|hz| format!("{hz:.0}"))),
            ("length", r.duration_s.map(|s| format!("{s:.1} s"))),
            ("seconds between readings of counters", r.interval_s.map(|s| format!("{s:.1}"))),
            ("user code only", yes(r.user_only)),
            ("kernel only", yes(r.kernel_only)),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_known_is_listed() {
        let (facts, _) = CaptureFacts::from_value(serde_json::json!({
            "host": { "name": "db7", "cpus": 8, "init_on_alloc": false, "memory_bytes": 68719476736u64 },
            "pools": [{ "name": "tank", "has_log": true, "capacity_pct": 81.4, "properties": { "ashift": "9", "feature@lz4_compress": "active" } }],
            "datasets": [{ "name": "tank/a", "properties": { "recordsize": "1M", "atime": "on" }, "sources": { "recordsize": "local" } }],
            "parameters_changed": { "values": { "zfs_arc_max": { "value": "5", "default": "0" } } },
        }));
        let evidence = Evidence { facts, ..Evidence::default() };
        let tables = fact_tables(&evidence);
        let titles: Vec<&str> = tables.iter().map(|t| t.title).collect();
        assert_eq!(titles, ["Host", "Pools", "Datasets", "Parameters that differ"]);
        assert_eq!(tables[0].rows, [["name", "db7"], ["CPUs", "8"], ["memory", "64G"]]);
        assert_eq!(tables[1].rows[0], ["tank", "", "", "81 %", "", "log", "ashift=9"]);
        assert_eq!(tables[2].rows[0], ["tank/a", "", "recordsize=1M"]);
    }
}
