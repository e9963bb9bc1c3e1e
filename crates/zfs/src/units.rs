//! What the numbers of a kstat count.

/// Unit of a kstat value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    Bytes,
    Nanos,
    /// Events or things.
    Count,
}

/// The unit of a value by its kstat (`arcstats`, `tank/iostats`) and name.
pub fn kstat_unit(source: &str, name: &str) -> Unit {
    let kstat = source.rsplit('/').next().unwrap_or(source);
    let arc_size = kstat == "arcstats"
        && (matches!(name, "c" | "c_min" | "c_max" | "p" | "pd" | "pm" | "meta" | "size")
            || name.starts_with("memory_")
            || name.starts_with("mru_ghost_evictable_")
            || name.starts_with("mfu_ghost_evictable_")
            || name.contains("_evictable_")
            || matches!(name, "arc_meta_used" | "arc_meta_limit" | "arc_meta_max" | "arc_meta_min")
            || name.starts_with("evict_l2_")
            || matches!(name, "arc_need_free" | "arc_sys_free" | "arc_dnode_limit"))
        && !name.ends_with("_count");
    if name.ends_with("_bytes")
        || name.ends_with("_size")
        || arc_size
        || name == "nread"
        || name == "nwritten"
    {
        Unit::Bytes
    } else if name.ends_with("_ns")
        || (kstat == "txgs" && matches!(name, "birth" | "otime" | "qtime" | "wtime" | "stime"))
    {
        Unit::Nanos
    } else {
        Unit::Count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
