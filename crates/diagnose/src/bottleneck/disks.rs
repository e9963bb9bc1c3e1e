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

/// The first disks of all of them, for a table.
pub(super) fn disks(evidence: &Evidence) -> Vec<DiskRow> {
    let mut rows = all(evidence);
    rows.truncate(MOST);
    rows
}

/// Disks that did something, those of pools first, then the busiest.
fn all(evidence: &Evidence) -> Vec<DiskRow> {
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
    let found = beside_others(evidence, disks).filter_map(|Beside { disk, own, others }| {
        let median = others.get(others.len() / 2)?;
        let times = own / median.max(1e-3);
        (is_slow(disk, own) && times >= TIMES_SLOWER).then_some(Slower { disk, times })
    });
    found.max_by(|a, b| a.times.total_cmp(&b.times))
}

/// How many times as long as the next slowest disk of its pool the slowest takes, where it is busy, and the same in
/// words; 1 where none is busy and slow. `None` where no pool has two disks of data that can be compared.
pub(crate) fn alone_slow(evidence: &Evidence) -> Option<(f64, Option<String>)> {
    let disks = all(evidence);
    let of = |Beside { disk, own, others }: Beside<'_>| {
        let next = *others.last()?;
        let times = own / next.max(1e-3);
        if !is_slow(disk, own) || times <= 1.0 {
            return Some((1.0, None));
        }
        let pool = disk.pool.as_deref().map(|pool| format!(" of {pool}")).unwrap_or_default();
        let name = &disk.disk;
        Some((
            times,
            Some(format!("disk {name} takes {own:.1} ms an operation, the next slowest{pool} {next:.1} ms")),
        ))
    };
    beside_others(evidence, &disks).filter_map(of).max_by(|a, b| a.0.total_cmp(&b.0))
}

fn is_slow(disk: &DiskRow, ms: f64) -> bool {
    ms >= SLOW_MS && disk.busy >= BUSY
}

/// A disk of data with its mean time of reads or writes, and the same of the others of its pool, from the fastest on.
struct Beside<'d> {
    disk: &'d DiskRow,
    own: f64,
    others: Vec<f64>,
}

/// Each disk of data beside the others of its pool, reads with reads and writes with writes: a disk that mostly reads is not
/// slower than one whose cache takes writes. Of fewer operations than [`FEWEST`] the mean says nothing.
fn beside_others<'d>(evidence: &Evidence, disks: &'d [DiskRow]) -> impl Iterator<Item = Beside<'d>> {
    type Ms = fn(&DiskRow) -> (f64, Option<f64>);
    const KINDS: [Ms; 2] = [|d| (d.reads_s, d.read_ms), |d| (d.writes_s, d.write_ms)];
    let leaves = leaves(&evidence.facts, |vdev| matches!(vdev.class.as_str(), "" | "normal"));
    let of_data = |d: &&DiskRow| leaves.iter().any(|(vdev, _)| is_of_disk(vdev, &d.disk));
    let of_data: Vec<&DiskRow> = disks.iter().filter(of_data).collect();
    let seconds = evidence.facts.recorder.duration_s.unwrap_or(0.0);
    let each = move |ms: Ms| {
        let told: Vec<(&DiskRow, f64)> = of_data
            .iter()
            .filter_map(|disk| {
                let (rate, ms) = ms(disk);
                Some((*disk, ms.filter(|_| rate * seconds >= FEWEST)?))
            })
            .collect();
        let beside = |at: usize| {
            let (disk, own) = told[at];
            let near = told.iter().filter(|(d, _)| d.pool == disk.pool && d.disk != disk.disk);
            let mut others: Vec<f64> = near.map(|(_, ms)| *ms).collect();
            others.sort_by(f64::total_cmp);
            Beside { disk, own, others }
        };
        (0..told.len()).map(beside).collect::<Vec<_>>()
    };
    KINDS.into_iter().flat_map(each)
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
