//! Where data goes: datasets, block devices, transaction groups and Direct I/O of pools, task queues.

use super::{Sources, most};
use crate::readings::Readings;
use rustc_hash::FxHashSet;
use serde::Serialize;
use zwhy_diagnose::{DiskRow, is_real_disk, pools_of_disks};

/// What programs read and wrote of a dataset, from its objset kstat.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DatasetFigures {
    /// Its kstat (`tank/objset-0x36`) where nothing tells the name.
    pub dataset: String,
    pub reads_s: f64,
    pub writes_s: f64,
    pub read_bytes_s: f64,
    pub write_bytes_s: f64,
}

/// A pool's transaction groups and the I/O of its programs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PoolFigures {
    pub pool: String,
    pub suspended: bool,
    /// Of the newest synced transaction group: its number, how long it was open, quiesced, waited to be synced and
    /// was synced, and the changed data that it began to sync with.
    pub txg: Option<i64>,
    pub open_ms: Option<f64>,
    pub quiesce_ms: Option<f64>,
    pub wait_ms: Option<f64>,
    pub sync_ms: Option<f64>,
    pub dirty_bytes: Option<i64>,
    /// `zfs_dirty_data_max`, for all pools alike.
    pub dirty_most_bytes: Option<i64>,
    pub synced_s: Option<f64>,
    /// Through the ARC and around it; absent before the release that counts it.
    pub arc_read_bytes_s: Option<f64>,
    pub arc_write_bytes_s: Option<f64>,
    pub direct_reads_s: Option<f64>,
    pub direct_writes_s: Option<f64>,
    pub direct_read_bytes_s: Option<f64>,
    pub direct_write_bytes_s: Option<f64>,
}

/// A task queue of ZFS with work, those of all CPUs together.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct QueueFigures {
    pub queue: String,
    pub pending: i64,
    pub threads_active: i64,
}

pub(super) fn datasets(sources: &Sources<'_>) -> Vec<DatasetFigures> {
    let Sources { readings, facts, .. } = sources;
    let named = facts.recorder.series.as_ref().and_then(|s| s.objsets.as_ref());
    let of = |source: &str| {
        let rate = |name: &str| readings.rate(source, name).unwrap_or(0.0);
        DatasetFigures {
            dataset: named.and_then(|n| n.get(source)).map_or(source, String::as_str).to_owned(),
            reads_s: rate("reads"),
            writes_s: rate("writes"),
            read_bytes_s: rate("nread"),
            write_bytes_s: rate("nwritten"),
        }
    };
    let all = readings.sources("").filter(|source| source.contains("/objset-")).map(of);
    let mut rows: Vec<DatasetFigures> = all.filter(|d| d.reads_s + d.writes_s > 0.0).collect();
    most(&mut rows, |d| d.read_bytes_s + d.write_bytes_s, |d| &d.dataset);
    rows
}

pub(super) fn disks(sources: &Sources<'_>) -> Vec<DiskRow> {
    let Sources { readings, facts, .. } = sources;
    let disks =
        || readings.sources("disk/").filter_map(|s| s.strip_prefix("disk/")).filter(|d| is_real_disk(d));
    let pools = pools_of_disks(facts, disks());
    let row = |disk: &str| {
        let source = format!("disk/{disk}");
        let rate = |name: &str| readings.rate(&source, name).unwrap_or(0.0);
        DiskRow::of_rates(disk, pools.get(disk).copied(), rate)
    };
    let mut rows: Vec<DiskRow> = disks().filter_map(row).collect();
    most(&mut rows, |d| d.busy, |d| &d.disk);
    rows
}

pub(super) fn pools(sources: &Sources<'_>) -> Vec<PoolFigures> {
    const FILES: [&str; 3] = ["/txgs", "/iostats", "/state"];
    let Sources { readings, facts, .. } = sources;
    let pool = |source: &str| FILES.iter().find_map(|file| source.strip_suffix(file)).map(str::to_owned);
    let names: FxHashSet<String> =
        readings.sources("").filter_map(pool).filter(|p| !p.contains('/')).collect();
    let most_dirty = facts.parameters.get("zfs_dirty_data_max").and_then(|text| text.parse().ok());
    let of = |pool: String| {
        let (txgs, io) = (format!("{pool}/txgs"), format!("{pool}/iostats"));
        let ms = |name: &str| readings.value(&txgs, name).map(|ns| ns as f64 / 1e6);
        let rate = |name: &str| readings.rate(&io, name);
        PoolFigures {
            suspended: readings.value(&format!("{pool}/state"), "suspended") == Some(1),
            txg: readings.value(&txgs, "txg"),
            open_ms: ms("otime"),
            quiesce_ms: ms("qtime"),
            wait_ms: ms("wtime"),
            sync_ms: ms("stime"),
            dirty_bytes: readings.value(&txgs, "ndirty"),
            dirty_most_bytes: most_dirty,
            synced_s: readings.rate(&txgs, "txg"),
            arc_read_bytes_s: rate("arc_read_bytes"),
            arc_write_bytes_s: rate("arc_write_bytes"),
            direct_reads_s: rate("direct_read_count"),
            direct_writes_s: rate("direct_write_count"),
            direct_read_bytes_s: rate("direct_read_bytes"),
            direct_write_bytes_s: rate("direct_write_bytes"),
            pool,
        }
    };
    let mut rows: Vec<PoolFigures> = names.into_iter().map(of).collect();
    most(&mut rows, |p| p.dirty_bytes.unwrap_or(0) as f64, |p| &p.pool);
    rows
}

pub(super) fn queues(readings: &Readings) -> Vec<QueueFigures> {
    let mut rows: Vec<QueueFigures> = Vec::new();
    let mut sources: Vec<&str> = readings.sources("taskq/").collect();
    sources.sort_unstable();
    for source in sources {
        let queue = source.strip_prefix("taskq/").unwrap_or(source);
        // `z_rd_int.3`: the fourth queue of that name.
        let queue =
            queue.rsplit_once('.').filter(|(_, n)| n.parse::<u32>().is_ok()).map_or(queue, |(name, _)| name);
        let value = |name: &str| readings.value(source, name).unwrap_or(0).max(0);
        let pending = value("tasks_pending") + value("tasks_priority");
        match rows.last_mut().filter(|row| row.queue == queue) {
            Some(row) => {
                row.pending += pending;
                row.threads_active += value("threads_active");
            }
            None => rows.push(QueueFigures {
                queue: queue.to_owned(),
                pending,
                threads_active: value("threads_active"),
            }),
        }
    }
    rows.retain(|row| row.pending + row.threads_active > 0);
    most(&mut rows, |row| (row.pending * 1000 + row.threads_active) as f64, |row| &row.queue);
    rows
}
