//! Which kstat values only grow and which go both ways.
//!
//! From OpenZFS 2.1 to 2.3: `arc_kstat_update` (module/zfs/arc.c), `abd_stats` (abd_os.c),
//! `dbuf_stats` (dbuf.c), `zfetch_stats` (dmu_zfetch.c), `zstd_stats` (zfs_zstd.c), `taskq_kstats`
//! (module/os/linux/spl/spl-taskq.c). What is not known here is taken for a counter, as most are.

/// `true` for a size, a limit or a state; `false` for what is counted since the module was loaded.
///
/// `source` is a kstat's path below the zfs folder: `arcstats`, `tank/iostats`, `taskq/z_rd_int.0`.
pub fn kstat_is_gauge(source: &str, name: &str) -> bool {
    if source.starts_with("taskq/") {
        return is_taskq_gauge(name);
    }
    let kstat = source.rsplit('/').next().unwrap_or(source);
    match kstat {
        "arcstats" => is_arc_gauge(name),
        "abdstats" => !matches!(
            name,
            "scatter_page_multi_chunk"
                | "scatter_page_multi_zone"
                | "scatter_page_alloc_retry"
                | "scatter_sg_table_retry"
        ),
        "dbufstats" => is_dbuf_gauge(name),
        "zfetchstats" => name == "io_active",
        "zstd" => matches!(name, "buffers" | "size"),
        "simd" => true,
        "state" => name == "suspended",
        _ => kstat.starts_with("ddt_stats_"),
    }
}

fn is_arc_gauge(name: &str) -> bool {
    let sizes = ["_size", "_asize", "_evictable_data", "_evictable_metadata"];
    let list = ["anon_", "mru_", "mfu_", "uncached_"].iter().any(|l| name.starts_with(l));
    matches!(
        name,
        "c" | "p"
            | "pd"
            | "pm"
            | "meta"
            | "size"
            | "c_min"
            | "c_max"
            | "other_size"
            | "cached_only_in_progress"
    ) || (sizes.iter().any(|s| name.ends_with(s)) && !name.starts_with("l2_rebuild_"))
        || (list && (name.ends_with("_data") || name.ends_with("_metadata")))
        || matches!(name, "hash_elements" | "hash_elements_max" | "hash_chains" | "hash_chain_max")
        || (name.starts_with("memory_") && name.ends_with("_bytes"))
        || (name.starts_with("arc_") && name != "arc_prune")
        || matches!(name, "l2_log_blk_count" | "l2_data_to_meta_ratio")
}

fn is_dbuf_gauge(name: &str) -> bool {
    let cache =
        ["cache_count", "cache_size", "cache_target", "cache_lowater", "cache_hiwater", "cache_level_"];
    (cache.iter().any(|c| name.starts_with(c)) && !name.ends_with("_evicts"))
        || name.starts_with("metadata_cache_count")
        || name.starts_with("metadata_cache_size")
        || matches!(
            name,
            "hash_elements"
                | "hash_elements_max"
                | "hash_chains"
                | "hash_chain_max"
                | "hash_table_count"
                | "hash_mutex_count"
        )
}

fn is_taskq_gauge(name: &str) -> bool {
    name.starts_with("entry_pool_")
        || name.starts_with("threads_m")
        || matches!(
            name,
            "threads_active"
                | "threads_idle"
                | "threads_total"
                | "tasks_pending"
                | "tasks_priority"
                | "tasks_total"
                | "tasks_delayed"
                | "entries_free"
        )
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
}
