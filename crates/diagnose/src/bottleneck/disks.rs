//! Disks from the kernel's counters (`/proc/diskstats`, read every interval), and the pools they belong to.

use super::answer::DiskRow;
use rustc_hash::FxHashMap;
use zwhy_evidence::{CaptureFacts, Evidence};
use zwhy_zfs::Vdev;

/// Disks that are listed.
const MOST: usize = 12;
/// A disk counts as busy all the time from here on.
pub(super) const SATURATED: f64 = 0.85;
/// Below this a disk has little to do.
pub(super) const HARDLY_BUSY: f64 = 0.1;
/// A disk is far slower than its neighbours where it takes so many times as long, and at least so many milliseconds,
/// and is busy for a good part of the time; of fewer operations the mean says little.
const TIMES_SLOWER: f64 = 3.0;
const SLOW_MS: f64 = 1.0;
const BUSY: f64 = 0.4;
const FEWEST: f64 = 20.0;
/// Disks this close to the busiest one are as busy as it.
const ALIKE: f64 = 0.1;

/// Disks that did something, those of pools first, then the busiest.
pub(super) fn disks(evidence: &Evidence) -> Vec<DiskRow> {
    let mut rates: FxHashMap<&str, FxHashMap<&str, f64>> = FxHashMap::default();
    for kstat in &evidence.kstats {
        let (Some(disk), Some(rate)) = (kstat.source.strip_prefix("disk/"), kstat.rate) else { continue };
        rates.entry(disk).or_default().insert(&kstat.name, rate);
    }
    rates.retain(|disk, _| is_real(disk));
    let pools = pools_of(&evidence.facts, rates.keys().copied());
    let row = |(disk, rates): (&&str, &FxHashMap<&str, f64>)| {
        DiskRow::of_rates(disk, pools.get(disk).copied(), |name| rates.get(name).copied().unwrap_or(0.0))
    };
    let mut rows: Vec<DiskRow> = rates.iter().filter_map(row).collect();
    rows.sort_by(|a, b| {
        let by_pool = b.pool.is_some().cmp(&a.pool.is_some());
        by_pool.then(b.busy.total_cmp(&a.busy)).then_with(|| a.disk.cmp(&b.disk))
    });
    rows.truncate(MOST);
    rows
}

fn is_numbered(disk: &str, name: &str) -> bool {
    disk.strip_prefix(name).is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}

/// Block devices of zvols are served by ZFS, and compressed swap by memory: neither is a disk below a pool.
pub fn is_real(disk: &str) -> bool {
    !is_numbered(disk, "zd") && !is_numbered(disk, "zram")
}

impl DiskRow {
    /// From what the counters of a disk (those of its series) grew by in a second; `None` where it did nothing.
    pub fn of_rates(disk: &str, pool: Option<&str>, rate: impl Fn(&str) -> f64) -> Option<DiskRow> {
        let rate = |name: &str| Some(rate(name)).filter(|r| r.is_finite()).unwrap_or(0.0);
        let (reads, writes) = (rate("reads"), rate("writes"));
        let each = |ns: f64, count: f64| (count > 0.0).then(|| ns / count / 1e6);
        (reads + writes + rate("discards") > 0.0).then(|| DiskRow {
            disk: disk.to_owned(),
            pool: pool.map(str::to_owned),
            busy: (rate("io_ns") / 1e9).clamp(0.0, 1.0),
            reads_s: reads,
            writes_s: writes,
            read_bytes_s: rate("read_bytes"),
            written_bytes_s: rate("write_bytes"),
            read_ms: each(rate("read_ns"), reads),
            write_ms: each(rate("write_ns"), writes),
            queue: rate("queue_ns") / 1e9,
        })
    }
}

/// Pool by disk, as far as names of vdevs tell.
pub fn pools_of<'a>(
    facts: &'a CaptureFacts,
    disks: impl Iterator<Item = &'a str>,
) -> FxHashMap<&'a str, &'a str> {
    let leaves = leaves(facts, |_| true);
    let of = |disk: &'a str| {
        let (_, pool) = leaves.iter().find(|(vdev, _)| is_of_disk(vdev, disk))?;
        Some((disk, *pool))
    };
    disks.filter_map(of).collect()
}

/// A disk that takes far longer than its neighbours.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slower<'a> {
    pub disk: &'a DiskRow,
    /// How many times as long as the median of the others.
    pub times: f64,
}

/// The disk of a pool that is far slower than the others which hold data of the same pool. Log, cache and special
/// devices are other disks on purpose.
pub(super) fn slower<'d>(evidence: &Evidence, disks: &'d [DiskRow]) -> Option<Slower<'d>> {
    let seconds = evidence.facts.recorder.duration_s?;
    let of_data = of_data(evidence, disks);
    let found = of_data.iter().filter_map(|disk| {
        let own = mean_ms(disk, seconds).filter(|ms| *ms >= SLOW_MS && disk.busy >= BUSY)?;
        let near = |d: &&&DiskRow| d.pool == disk.pool && d.disk != disk.disk;
        let mut others: Vec<f64> = of_data.iter().filter(near).filter_map(|d| mean_ms(d, seconds)).collect();
        others.sort_by(f64::total_cmp);
        let median = others.get(others.len() / 2).copied()?;
        let times = own / median.max(1e-3);
        (times >= TIMES_SLOWER).then_some(Slower { disk, times })
    });
    found.max_by(|a, b| a.times.total_cmp(&b.times))
}

/// How many times as long as the next slowest disk of its pool the slowest takes, where it is busy, and the same in
/// words; 1 where none is busy and slow. `None` where no pool has two disks of data that did something.
pub(crate) fn alone_slow(evidence: &Evidence) -> Option<(f64, Option<String>)> {
    let seconds = evidence.facts.recorder.duration_s?;
    let disks = disks(evidence);
    let of_data = of_data(evidence, &disks);
    let mut most = None;
    for disk in &of_data {
        let Some(own) = mean_ms(disk, seconds) else { continue };
        let near = of_data.iter().filter(|d| d.pool == disk.pool && d.disk != disk.disk);
        let Some(next) = near.filter_map(|d| mean_ms(d, seconds)).max_by(f64::total_cmp) else { continue };
        let times = own / next.max(1e-3);
        let (times, said) = if own >= SLOW_MS && disk.busy >= BUSY && times > 1.0 {
            let of = disk.pool.as_deref().map(|pool| format!(" of {pool}")).unwrap_or_default();
            let name = &disk.disk;
            let said =
                format!("disk {name} takes {own:.1} ms an operation, the next slowest{of} {next:.1} ms");
            (times, Some(said))
        } else {
            (1.0, None)
        };
        if most.as_ref().is_none_or(|(before, _)| times > *before) {
            most = Some((times, said));
        }
    }
    most
}

/// Disks that hold data of pools.
fn of_data<'d>(evidence: &Evidence, disks: &'d [DiskRow]) -> Vec<&'d DiskRow> {
    let leaves = leaves(&evidence.facts, |vdev| matches!(vdev.class.as_str(), "" | "normal"));
    let of_data = |d: &&DiskRow| leaves.iter().any(|(vdev, _)| is_of_disk(vdev, &d.disk));
    disks.iter().filter(of_data).collect()
}

/// Mean time of an operation; `None` of a disk that does too few to tell.
fn mean_ms(disk: &DiskRow, seconds: f64) -> Option<f64> {
    let all = disk.reads_s + disk.writes_s;
    let spent = disk.reads_s * disk.read_ms.unwrap_or(0.0) + disk.writes_s * disk.write_ms.unwrap_or(0.0);
    (all * seconds >= FEWEST).then(|| spent / all)
}

/// Disks below the vdevs that are kept, each with its pool.
fn leaves(facts: &CaptureFacts, keep: impl Fn(&Vdev) -> bool) -> Vec<(&str, &str)> {
    let mut leaves = Vec::new();
    for pool in facts.pools.iter().flatten() {
        let (Some(name), Some(vdevs)) = (pool.name.as_deref(), pool.vdevs.as_ref()) else { continue };
        vdevs.iter().filter(|vdev| keep(vdev)).for_each(|vdev| add_leaves(vdev, name, &mut leaves));
    }
    leaves
}

fn add_leaves<'a>(vdev: &'a Vdev, pool: &'a str, leaves: &mut Vec<(&'a str, &'a str)>) {
    if vdev.children.is_empty() {
        let device = vdev.device.as_deref().unwrap_or(&vdev.name);
        leaves.push((device.rsplit('/').next().unwrap_or(device), pool));
    }
    vdev.children.iter().for_each(|child| add_leaves(child, pool, leaves));
}

/// `sda1` and `nvme0n1p2` lie on `sda` and `nvme0n1`.
fn is_of_disk(vdev: &str, disk: &str) -> bool {
    let Some(rest) = vdev.strip_prefix(disk) else { return false };
    let numbered = disk.ends_with(|c: char| c.is_ascii_digit());
    let number = if numbered { rest.strip_prefix('p').unwrap_or("x") } else { rest };
    rest.is_empty() || (!number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// The busiest disks that stand in one line with the busiest one; those of pools where there are such.
pub(super) fn busiest(disks: &[DiskRow]) -> Vec<&DiskRow> {
    let of_pools = disks.iter().any(|d| d.pool.is_some());
    let candidates = || disks.iter().filter(|d| !of_pools || d.pool.is_some());
    let most = candidates().map(|d| d.busy).fold(0.0, f64::max);
    let mut alike: Vec<&DiskRow> = candidates().filter(|d| most > 0.0 && d.busy >= most - ALIKE).collect();
    alike.sort_by(|a, b| b.busy.total_cmp(&a.busy).then_with(|| a.disk.cmp(&b.disk)));
    alike
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_lie_on_their_disk() {
        for (vdev, disk, is) in [
            ("sda1", "sda", true),
            ("sda", "sda", true),
            ("sdab", "sda", false),
            ("nvme0n1p1", "nvme0n1", true),
            ("nvme0n12", "nvme0n1", false),
            ("nvme0n1p", "nvme0n1", false),
            ("wwn-0x5000", "sda", false),
        ] {
            assert_eq!(is_of_disk(vdev, disk), is, "{vdev} on {disk}");
        }
        assert!(is_numbered("zd16", "zd") && !is_numbered("zdb", "zd"));
    }
}
