//! Queues of disks in which requests of programs wait longer than they take on the disk, as `zpool iostat -lq` saw them
//! while it was recorded.
//!
//! Queues of scrubs, resilvers and trims are left out: they wait on purpose. Asynchronous writes come in bursts, with
//! each transaction group, so their queue counts only where as many are at the disk all the time as ZFS allows.

use super::answer::QueueRow;
use zwhy_evidence::{Evidence, VdevLoad};

/// Queues that are listed.
const MOST: usize = 4;
/// Reports of which a mean says something.
const FEWEST: usize = 2;
/// Requests that wait, on average, from which it counts.
const WAITING: f64 = 1.0;
/// Part of the limit that is at the disk all the time, from which the queue is full.
const FULL: f64 = 0.8;

/// What people call a queue, its kind and direction in the names of `zwhy_zfs::IOSTAT_NAMES` and of parameters, and whether
/// its requests come in bursts.
const QUEUES: [(&str, &str, &str, bool); 4] = [
    ("synchronous reads", "sync", "read", false),
    ("synchronous writes", "sync", "write", false),
    ("reads ahead", "async", "read", false),
    ("writes", "async", "write", true),
];

/// Those that stand out, the longest wait first.
pub(super) fn queues(evidence: &Evidence, loads: &[VdevLoad]) -> Vec<QueueRow> {
    let disks = loads.iter().filter(|load| !load.disk.is_empty() && load.reports >= FEWEST);
    let mut rows: Vec<QueueRow> =
        disks.flat_map(|load| QUEUES.into_iter().filter_map(|queue| row(evidence, load, queue))).collect();
    rows.sort_by(|a, b| b.wait_ms.total_cmp(&a.wait_ms).then_with(|| a.disk.cmp(&b.disk)));
    rows.truncate(MOST);
    rows
}

fn row(
    evidence: &Evidence,
    load: &VdevLoad,
    (name, kind, direction, in_bursts): (&str, &str, &str, bool),
) -> Option<QueueRow> {
    let of_queue = |what: &str| load.mean(&format!("{kind}q_{direction}_{what}"));
    let (waiting, active) = (of_queue("pending"), of_queue("active"));
    let (wait, disk) = (of_queue("ns"), load.mean(&format!("disk_{direction}_ns")));
    let limit = evidence.param(&format!("zfs_vdev_{kind}_{direction}_max_active"));
    let limit = limit.and_then(|text| text.trim().parse::<u64>().ok());
    let is_full = limit.is_some_and(|limit| active >= FULL * limit as f64);
    let stands_out = waiting >= WAITING && wait >= disk && wait > 0.0 && (is_full || !in_bursts);
    stands_out.then(|| QueueRow {
        disk: load.disk.rsplit('/').next().unwrap_or(&load.disk).to_owned(),
        pool: load.pool.clone(),
        queue: name.to_owned(),
        waiting,
        active,
        limit,
        wait_ms: wait / 1e6,
        disk_ms: (disk > 0.0).then_some(disk / 1e6),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use zwhy_evidence::{Line, OriginId, Param};

    fn host(figures: &[(&str, i64)]) -> Evidence {
        let mut evidence = Evidence::default();
        for (name, value) in figures {
            let points = (1..=5).map(|t| (t, *value)).collect();
            let (source, name) = ("vdev/tank/sda".to_owned(), (*name).to_owned());
            evidence.timeline.lines.push(Line { source, name, counter: false, points });
        }
        let origin = OriginId::default();
        for (name, value) in
            [("zfs_vdev_sync_read_max_active", "1"), ("zfs_vdev_async_write_max_active", "10")]
        {
            evidence.params.push(Param { name: name.into(), value: value.into(), origin });
        }
        evidence
    }

    fn found(evidence: &Evidence) -> Vec<QueueRow> {
        queues(evidence, &VdevLoad::all(&evidence.timeline))
    }

    #[test]
    fn a_queue_in_which_reads_wait_longer_than_on_the_disk_stands_out() {
        let slow = [
            ("reads_s", 3250),
            ("disk_read_ns", 300_000),
            ("syncq_read_ns", 4_000_000),
            ("syncq_read_pending", 2),
            ("syncq_read_active", 0),
        ];
        let found = found(&host(&slow));
        let want = QueueRow {
            disk: "sda".into(),
            pool: "tank".into(),
            queue: "synchronous reads".into(),
            waiting: 13.0,
            active: 0.975,
            limit: Some(1),
            wait_ms: 4.0,
            disk_ms: Some(0.3),
        };
        assert_eq!(found, [want]);
    }

    #[test]
    fn short_waits_scrubs_and_bursts_of_writes_do_not() {
        let ordinary = [
            ("reads_s", 300),
            ("disk_read_ns", 8_000_000),
            ("syncq_read_ns", 4_000_000),
            ("syncq_read_pending", 3),
            ("scrubq_pending", 900),
            ("scrubq_ns", 900_000_000),
            ("disk_write_ns", 100_000),
            ("asyncq_write_ns", 90_000_000),
            ("asyncq_write_pending", 400),
            ("asyncq_write_active", 3),
        ];
        assert_eq!(found(&host(&ordinary)), []);
        let full: Vec<(&str, i64)> =
            ordinary.iter().map(|(n, v)| (*n, if *n == "asyncq_write_active" { 9 } else { *v })).collect();
        assert_eq!(found(&host(&full))[0].queue, "writes");
        assert_eq!(found(&Evidence::default()), []);
    }
}
