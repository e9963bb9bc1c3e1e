//! The host's own counters: CPU, ARC, pools with their transaction groups, and datasets.

use super::datasets::{Datasets, Moved};
use super::text::{Kind, Text};
use zwhy_evidence::CaptureFacts;
use zwhy_live::Readings;

/// Pools that are told; a host has a few.
const MOST_POOLS: usize = 64;

pub(super) fn put(text: &mut Text, readings: &Readings, facts: &CaptureFacts, datasets: &Datasets) {
    cpu(text, readings);
    arc(text, readings);
    pools(text, readings);
    let most_dirty = facts.parameters.get("zfs_dirty_data_max").and_then(|value| value.parse().ok());
    text.gauge("zwhy_dirty_limit_bytes", "zfs_dirty_data_max, for each pool.", most_dirty);
    let counter = |source: &str, name: &str| readings.value(source, name).map(|value| value as f64);
    text.counter(
        "zwhy_tx_dirty_delays_total",
        "Writers that were delayed by dirty data.",
        counter("dmu_tx", "dmu_tx_dirty_delay"),
    );
    text.counter(
        "zwhy_tx_dirty_stops_total",
        "Writers that were stopped by the dirty data limit.",
        counter("dmu_tx", "dmu_tx_dirty_over_max"),
    );
    text.counter("zwhy_zil_commits_total", "Commits of the ZIL.", counter("zil", "zil_commit_count"));
    of_datasets(text, facts, datasets);
}

fn cpu(text: &mut Text, readings: &Readings) {
    const MODES: [&str; 8] = ["usr", "nice", "sys", "idle", "iowait", "irq", "softirq", "steal"];
    let mut metric = text.metric(
        "zwhy_host_cpu_seconds_total",
        Kind::Counter,
        "CPU time of the host by mode, from /proc/stat.",
    );
    for mode in MODES {
        let ns = readings.value("cpu/all", &format!("{mode}_ns"));
        metric.put(&[("mode", mode)], ns.map(|ns| ns as f64 / 1e9));
    }
}

fn arc(text: &mut Text, readings: &Readings) {
    let value = |name: &str| readings.value("arcstats", name).map(|value| value as f64);
    text.gauge("zwhy_arc_size_bytes", "Size of the ARC.", value("size"));
    text.gauge("zwhy_arc_target_bytes", "Size that the ARC aims at.", value("c"));
    text.gauge("zwhy_arc_min_bytes", "Least size that the ARC aims at.", value("c_min"));
    text.gauge("zwhy_arc_max_bytes", "Most that the ARC aims at.", value("c_max"));
    let mut metric = text.metric(
        "zwhy_arc_accesses_total",
        Kind::Counter,
        "Accesses to the ARC by kind and result; iohit: the read was under way.",
    );
    for kind in ["demand_data", "demand_metadata", "prefetch_data", "prefetch_metadata"] {
        for (result, name) in [("hit", "hits"), ("iohit", "iohits"), ("miss", "misses")] {
            metric.put(&[("kind", kind), ("result", result)], value(&format!("{kind}_{name}")));
        }
    }
    text.counter("zwhy_arc_evict_skips_total", "Buffers that could not be evicted.", value("evict_skip"));
}

fn pools(text: &mut Text, readings: &Readings) {
    let of = |source: &str| {
        let pool = ["/txgs", "/iostats", "/state"].iter().find_map(|file| source.strip_suffix(file))?;
        (!pool.contains('/')).then(|| pool.to_owned())
    };
    let mut pools: Vec<String> = readings.sources("").filter_map(of).collect();
    pools.sort_unstable();
    pools.dedup();
    text.gauge("zwhy_pools", "Imported pools.", Some(pools.len() as f64));
    pools.truncate(MOST_POOLS);
    let mut all = |name, help, file: &str, of: &str, unit: f64| {
        let mut metric = text.metric(name, Kind::Gauge, help);
        for pool in &pools {
            let value = readings.value(&format!("{pool}/{file}"), of);
            metric.put(&[("pool", pool)], value.map(|value| value as f64 / unit));
        }
    };
    all("zwhy_pool_suspended", "1 while a pool is suspended.", "state", "suspended", 1.0);
    all("zwhy_pool_txg", "Newest transaction group that was synced.", "txgs", "txg", 1.0);
    all("zwhy_pool_txg_open_seconds", "How long that group was open.", "txgs", "otime", 1e9);
    all("zwhy_pool_txg_quiesce_seconds", "How long it was quiesced.", "txgs", "qtime", 1e9);
    all("zwhy_pool_txg_wait_seconds", "How long it waited to be synced.", "txgs", "wtime", 1e9);
    all("zwhy_pool_txg_sync_seconds", "How long it was synced.", "txgs", "stime", 1e9);
    all("zwhy_pool_dirty_bytes", "Dirty data that it began to sync with.", "txgs", "ndirty", 1.0);
    io(text, readings, &pools);
}

fn io(text: &mut Text, readings: &Readings, pools: &[String]) {
    let mut metric = text.metric(
        "zwhy_pool_io_bytes_total",
        Kind::Counter,
        "Bytes that programs read and wrote of a pool, through the ARC and by Direct I/O.",
    );
    for pool in pools {
        for path in ["arc", "direct"] {
            for op in ["read", "write"] {
                let value = readings.value(&format!("{pool}/iostats"), &format!("{path}_{op}_bytes"));
                metric.put(&[("pool", pool), ("path", path), ("op", op)], value.map(|value| value as f64));
            }
        }
    }
}

/// An operation, and what of it is told.
type Of = (&'static str, fn(&Moved) -> f64);

fn of_datasets(text: &mut Text, facts: &CaptureFacts, datasets: &Datasets) {
    let rows = datasets.rows();
    let named = facts.recorder.series.as_ref().and_then(|series| series.objsets.as_ref());
    let name = |source: &str| named.and_then(|n| n.get(source)).map_or(source, String::as_str).to_owned();
    // Two names of one dataset, as after a rename, must not become two rows alike.
    let mut told: Vec<(String, Moved)> = Vec::new();
    for (source, moved) in rows {
        let name = name(source);
        let name = if told.iter().any(|(other, _)| *other == name) { source.to_owned() } else { name };
        told.push((name, moved));
    }
    let mut all = |metric, help, of: [Of; 2]| {
        let mut metric = text.metric(metric, Kind::Counter, help);
        for (dataset, moved) in &told {
            for (op, value) in &of {
                metric.put(&[("dataset", dataset), ("op", op)], Some(value(moved)));
            }
        }
    };
    all(
        "zwhy_dataset_operations_total",
        "Reads and writes of programs by dataset since the agent started; all but the busiest are (other).",
        [("read", |m| m.reads), ("write", |m| m.writes)],
    );
    all(
        "zwhy_dataset_bytes_total",
        "Bytes that programs read and wrote by dataset since the agent started.",
        [("read", |m| m.read_bytes), ("write", |m| m.written_bytes)],
    );
}
