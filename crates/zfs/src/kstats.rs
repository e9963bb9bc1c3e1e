//! What is known of kstats by their names (`knowledge/kstats.toml`): which there are, which of their values only grow and
//! which go both ways, and what the numbers count.

use crate::data::{is_listed, table};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Names of values by kstat.
type Values<'a> = BTreeMap<&'a str, Vec<&'a str>>;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table<'a> {
    #[serde(borrow)]
    sources: Vec<&'a str>,
    gauges: Values<'a>,
    counters: Values<'a>,
    bytes: Values<'a>,
    nanos: Values<'a>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| table(include_str!("../kstats.toml")));

/// Unit of a kstat value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    Bytes,
    Nanos,
    /// Events or things.
    Count,
}

/// Whether OpenZFS has, or had, a kstat of this path, or the recorder one of the kernel.
pub fn is_kstat(source: &str) -> bool {
    TABLE.sources.contains(&last(source))
}

/// `true` for a size, a limit or a state; `false` for what is counted since the module was loaded, as most is that is
/// not known.
///
/// `source` is a kstat's path below the zfs folder: `arcstats`, `tank/iostats`, `taskq/z_rd_int.0`.
pub fn kstat_is_gauge(source: &str, name: &str) -> bool {
    let kstat = if source.starts_with("taskq/") { "taskq" } else { last(source) };
    is_of(&TABLE.gauges, kstat, name) && !is_of(&TABLE.counters, kstat, name)
}

/// The unit of a value by its kstat (`arcstats`, `tank/iostats`) and name.
pub fn kstat_unit(source: &str, name: &str) -> Unit {
    match last(source) {
        kstat if is_of(&TABLE.bytes, kstat, name) => Unit::Bytes,
        kstat if is_of(&TABLE.nanos, kstat, name) => Unit::Nanos,
        _ => Unit::Count,
    }
}

fn last(source: &str) -> &str {
    source.rsplit('/').next().unwrap_or(source)
}

fn is_of(values: &Values<'_>, kstat: &str, name: &str) -> bool {
    values.iter().any(|(of, names)| is_listed(kstat, &[of]) && is_listed(name, names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_counters_and_amounts_are_gauges() {
        for (source, name, gauge) in [
            ("arcstats", "hits", false),
            ("arcstats", "arc_prune", false),
            ("arcstats", "arc_no_grow", true),
            ("arcstats", "evict_l2_eligible", false),
            ("arcstats", "hash_collisions", false),
            ("arcstats", "hash_elements", true),
            ("arcstats", "mru_metadata", true),
            ("arcstats", "demand_metadata_hits", false),
            ("arcstats", "mfu_ghost_hits", false),
            ("arcstats", "memory_direct_count", false),
            ("arcstats", "memory_free_bytes", true),
            ("arcstats", "l2_hdr_size", true),
            ("arcstats", "l2_read_bytes", false),
            ("abdstats", "scatter_page_alloc_retry", false),
            ("abdstats", "scatter_order_0", true),
            ("dbufstats", "hash_hits", false),
            ("dbufstats", "hash_mutex_count", true),
            ("dbufstats", "cache_total_evicts", false),
            ("dbufstats", "cache_level_0_bytes", true),
            ("zfetchstats", "max_streams", false),
            ("zfetchstats", "io_active", true),
            ("taskq/z_rd_int.0", "tasks_pending", true),
            ("taskq/z_rd_int.0", "tasks_executed", false),
            ("tank/iostats", "arc_read_bytes", false),
            ("tank/ddt_stats_sha256", "entries", true),
            ("tank/objset-0x36", "nread", false),
        ] {
            assert_eq!(kstat_is_gauge(source, name), gauge, "{source} {name}");
        }
    }

    #[test]
    fn sizes_and_times_are_told_from_counts() {
        for (source, name, want) in [
            ("arcstats", "hits", Unit::Count),
            ("arcstats", "c_max", Unit::Bytes),
            ("arcstats", "data_size", Unit::Bytes),
            ("arcstats", "memory_throttle_count", Unit::Count),
            ("arcstats", "memory_available_bytes", Unit::Bytes),
            ("tank/iostats", "direct_read_bytes", Unit::Bytes),
            ("tank/objset-0x36", "nread", Unit::Bytes),
            ("tank/objset-0x36", "reads", Unit::Count),
            ("tank/txgs", "stime", Unit::Nanos),
            ("zil", "zil_itx_count", Unit::Count),
        ] {
            assert_eq!(kstat_unit(source, name), want, "{source} {name}");
        }
    }
}
