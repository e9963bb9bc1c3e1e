//! The ARC and the dbuf cache in front of it, from `arcstats` and `dbufstats`.
//!
//! Hit rates are of all accesses as `arcstat` counts them: hits, misses, and since 2.2 those that waited for a read
//! under way (`iohits`).

use crate::readings::Readings;
use serde::Serialize;

/// Accesses of one kind; the rate is absent where there were none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct CacheHits {
    pub accesses_s: f64,
    pub misses_s: f64,
    pub hit_pct: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ArcFigures {
    pub all: CacheHits,
    pub demand_data: CacheHits,
    pub demand_metadata: CacheHits,
    pub prefetch: CacheHits,
    pub l2: Option<CacheHits>,
    pub size_bytes: i64,
    pub target_bytes: Option<i64>,
    pub min_bytes: Option<i64>,
    pub max_bytes: Option<i64>,
    pub evict_skip_s: Option<f64>,
    /// Accesses to blocks that were evicted a moment ago.
    pub ghost_hits_s: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct DbufFigures {
    pub hits: CacheHits,
    pub cache_bytes: Option<i64>,
    pub target_bytes: Option<i64>,
}

const ARC: &str = "arcstats";

/// `hits` and `misses` of some kinds together.
fn hits(readings: &Readings, source: &str, kinds: &[&str]) -> CacheHits {
    let sum = |what: &str| -> f64 {
        kinds.iter().filter_map(|kind| readings.rate(source, &format!("{kind}{what}"))).sum()
    };
    let (found, under_way, missed) = (sum("hits"), sum("iohits"), sum("misses"));
    let all = found + under_way + missed;
    CacheHits { accesses_s: all, misses_s: missed, hit_pct: (all > 0.0).then(|| 100.0 * found / all) }
}

/// `None` where the host has no ARC.
pub(super) fn arc(readings: &Readings) -> Option<ArcFigures> {
    let value = |name: &str| readings.value(ARC, name);
    let rate = |name: &str| readings.rate(ARC, name);
    Some(ArcFigures {
        all: hits(readings, ARC, &[""]),
        demand_data: hits(readings, ARC, &["demand_data_"]),
        demand_metadata: hits(readings, ARC, &["demand_metadata_"]),
        prefetch: hits(readings, ARC, &["prefetch_data_", "prefetch_metadata_"]),
        l2: value("l2_size").filter(|size| *size > 0).map(|_| hits(readings, ARC, &["l2_"])),
        size_bytes: value("size")?,
        target_bytes: value("c"),
        min_bytes: value("c_min"),
        max_bytes: value("c_max"),
        evict_skip_s: rate("evict_skip"),
        ghost_hits_s: rate("mru_ghost_hits").zip(rate("mfu_ghost_hits")).map(|(a, b)| a + b),
    })
}

pub(super) fn dbuf(readings: &Readings) -> Option<DbufFigures> {
    const DBUF: &str = "dbufstats";
    readings.value(DBUF, "hash_hits")?;
    Some(DbufFigures {
        hits: hits(readings, DBUF, &["hash_"]),
        cache_bytes: readings.value(DBUF, "cache_size_bytes"),
        target_bytes: readings.value(DBUF, "cache_target_bytes"),
    })
}
