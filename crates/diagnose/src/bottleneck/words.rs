//! The bottleneck in one sentence, for people who know nothing of ZFS.
//!
//! Invariant: a sentence has at most [`MOST`] characters, whatever things are called.

use super::answer::DiskRow;
use super::disks::Slower;
use super::programs::Program;
use crate::figures::percent;
use zwhy_zfs::WaitsFor;

/// Characters of a first line.
pub const MOST: usize = 160;
/// Characters of a name in it.
const NAME: usize = 24;
/// Disks that are named one by one.
const NAMED: usize = 2;

/// Why a writer is held back: left out where a cause says it.
pub(super) const TOO_FAST: &str = ", as it writes faster than the pool";

/// A name that fits; what is hostile in it is escaped where it is shown.
pub(super) fn name(text: &str) -> String {
    let text = text.trim();
    if text.chars().count() <= NAME {
        return text.to_owned();
    }
    text.chars().take(NAME - 1).chain(['…']).collect()
}

/// The beginning of a sentence; a program's name keeps its letters.
pub(super) fn capital(text: String) -> String {
    const OURS: [&str; 4] = ["programs ", "control group ", "disk ", "disks "];
    if !OURS.iter().any(|word| text.starts_with(word)) {
        return text;
    }
    text[..1].to_uppercase() + &text[1..]
}

/// Whole per cents: nobody needs tenths in a first line.
pub(super) fn whole(share: f64) -> String {
    percent((share * 100.0).round() / 100.0, false)
}

/// The disks that are waited for.
#[derive(Clone, Copy)]
pub(super) struct Busy<'a> {
    pub disks: &'a [&'a DiskRow],
    pub slower: Option<Slower<'a>>,
}

/// `disk nvme0n1, 100 % busy at 12.4 ms a read`, or `disk nvme0n1, 40 times slower than its neighbours (12.4 ms a
/// read)`
pub(super) fn disks(busy: Busy<'_>, waits: WaitsFor) -> Option<String> {
    told(busy, waits, [",", ","])
}

/// `disks sda and sdb are 100 % busy each at 12.4 ms a read`
pub(super) fn busy(busy: Busy<'_>, waits: WaitsFor) -> Option<String> {
    told(busy, waits, [" is", " are"])
}

/// `link` stands between the disks and what is said of them: of one, and of several.
fn told(busy: Busy<'_>, waits: WaitsFor, link: [&str; 2]) -> Option<String> {
    let first = busy.disks.first()?;
    if let Some(slower) = busy.slower {
        let at = at(slower.disk, waits).map_or(String::new(), |at| format!(" ({at})"));
        let (disk, times) = (name(&slower.disk.disk), slower.times);
        return Some(format!("disk {disk}{} {times:.0} times slower than its neighbours{at}", link[0]));
    }
    let (link, each) = if busy.disks.len() > 1 { (link[1], " each") } else { (link[0], "") };
    let at = at(first, waits).map_or(String::new(), |at| format!(" at {at}"));
    Some(format!("{}{link} {} busy{each}{at}", which(busy.disks), whole(first.busy)))
}

/// `disk sda`, `disks sda and sdb`, `4 disks of pool tank`.
pub(super) fn which(disks: &[&DiskRow]) -> String {
    let names: Vec<String> = disks.iter().map(|d| name(&d.disk)).collect();
    match names.as_slice() {
        [] => "its disks".to_owned(),
        [one] => format!("disk {one}"),
        names if names.len() <= NAMED => format!("disks {}", names.join(" and ")),
        _ => {
            let pool =
                disks[0].pool.as_deref().filter(|p| disks.iter().all(|d| d.pool.as_deref() == Some(p)));
            let of = pool.map_or(String::new(), |pool| format!(" of pool {}", name(pool)));
            format!("{} disks{of}", names.len())
        }
    }
}

/// `12.4 ms a read`: of what is waited for, else of what the disk does more of.
pub(super) fn at(disk: &DiskRow, waits: WaitsFor) -> Option<String> {
    let read = disk.read_ms.map(|ms| format!("{} a read", ms_words(ms)));
    let write = disk.write_ms.map(|ms| format!("{} a write", ms_words(ms)));
    match waits {
        WaitsFor::Read => read.or(write),
        WaitsFor::Disk if disk.reads_s >= disk.writes_s => read.or(write),
        _ => write.or(read),
    }
}

fn ms_words(ms: f64) -> String {
    match ms {
        ms if ms < 0.095 => format!("{:.0} us", ms * 1e3),
        ms if ms < 1.0 => format!("{ms:.2} ms"),
        ms if ms < 100.0 => format!("{ms:.1} ms"),
        ms if ms < 9_950.0 => format!("{ms:.0} ms"),
        ms => format!("{:.0} s", ms / 1e3),
    }
}

/// Who waits, and for what: `rand-read waits for disk sda, 100 % busy at 12.4 ms a read`.
pub(super) fn waits(
    program: &Program,
    kind: WaitsFor,
    share: Option<f64>,
    busy: Busy<'_>,
    lock: Option<&str>,
) -> String {
    let who = name(&program.name);
    let part = share.map_or(String::new(), |share| format!(" {} of its time", whole(share)));
    let disk = disks(busy, kind);
    match (kind, disk) {
        (WaitsFor::Read | WaitsFor::Write | WaitsFor::Disk, Some(disk)) => format!("{who} waits for {disk}"),
        (WaitsFor::IntentLog, Some(disk)) => format!("{who} waits for synchronous writes to {disk}"),
        (WaitsFor::Txg, Some(disk)) => format!("{who} waits until changes are on {disk}"),
        (WaitsFor::DirtyData, _) => {
            let disk = self::busy(busy, kind).map_or(String::new(), |disk| format!(": {disk}"));
            format!("{who} is held back{part}{TOO_FAST}{disk}")
        }
        (WaitsFor::Lock, _) => {
            let place = lock.map_or(String::new(), |lock| format!(" ({})", name(lock)));
            let threads =
                if program.threads > 1 { format!("{} threads of ", program.threads) } else { String::new() };
            let verb = if program.threads > 1 { "wait" } else { "waits" };
            format!("{threads}{who} {verb}{part} for a lock{place}")
        }
        (kind, _) => format!("{who} waits{part} for {}", kind.words()),
    }
}
