//! What a sleeping thread waits for, told by the functions that it sleeps in
//! (`knowledge/threads/waits.toml`).

use crate::data::{is_listed, table};
use crate::sleep::leaves_the_cpu;
use crate::threads::waits_for_work;
use serde::Deserialize;
use std::sync::LazyLock;

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitsFor {
    /// Data that is read from a disk.
    Read,
    /// Writes that a caller waits for until they are on a disk, of a transaction group or a label.
    Write,
    /// Another disk operation: of another file system, a flush, a trim.
    Disk,
    /// The intent log: a synchronous write, or an fsync.
    IntentLog,
    /// A transaction group that has to be on disk first.
    Txg,
    /// Room for changed data: ZFS holds back who writes faster than the pool does.
    DirtyData,
    /// The kernel holds back who writes or reads more than its share.
    Throttle,
    /// Memory that has to become free.
    Memory,
    Lock,
    /// Room in a queue, or the end of what is queued.
    Queue,
    /// Nothing to do: a request, a timer, another program.
    Work,
}

impl WaitsFor {
    /// Of all of them the plain words that follow "waits for".
    pub fn words(self) -> &'static str {
        self.place().map_or("", |place| place.words)
    }

    /// Whether a disk ends it.
    pub fn is_disk(self) -> bool {
        self.place().is_some_and(|place| place.disk)
    }

    fn place(self) -> Option<&'static Place<'static>> {
        TABLE.waits.iter().find(|place| place.waits == self)
    }
}

/// Functions by what is waited for in them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Place<'a> {
    #[serde(rename = "for")]
    waits: WaitsFor,
    words: &'a str,
    #[serde(default)]
    disk: bool,
    #[serde(default)]
    callers: Vec<&'a str>,
    functions: Vec<&'a str>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table<'a> {
    #[serde(borrow)]
    preempted: Vec<&'a str>,
    waits: Vec<Place<'a>>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| table(include_str!("../threads/waits.toml")));

/// What a thread waits for with these functions, innermost first; `None` where they do not say.
pub fn waits_for(names: &[&str]) -> Option<WaitsFor> {
    let mut inside =
        names.iter().map(|name| plain(name)).filter(|n| !n.starts_with('[') && !leaves_the_cpu(n));
    let first = inside.next()?;
    let leads_away = names.iter().map(|name| plain(name)).take_while(|name| *name != first);
    let preempted = |name: &str| is_listed(name, &TABLE.preempted);
    if preempted(first) || leads_away.into_iter().any(preempted) {
        return None;
    }
    // A thread has nothing to do where it sleeps itself; what it called may be about work.
    if waits_for_work(first) || place(first) == Some(WaitsFor::Work) {
        return Some(WaitsFor::Work);
    }
    let known = |name: &str| place(name).filter(|waits| *waits != WaitsFor::Work);
    let narrow = |name: &str| kind_of(|of| is_listed(name, &of.callers));
    let found = known(first).or_else(|| inside.clone().find_map(known))?;
    Some(match found {
        // A wait for some I/O: whose it is, is told by the nearest caller that is listed.
        WaitsFor::Disk if first == "zio_wait" => inside.find_map(known).unwrap_or(found),
        WaitsFor::Lock | WaitsFor::Queue => inside.find_map(narrow).unwrap_or(found),
        found => found,
    })
}

fn place(name: &str) -> Option<WaitsFor> {
    kind_of(|of| is_listed(name, &of.functions))
}

fn kind_of(fits: impl Fn(&Place<'_>) -> bool) -> Option<WaitsFor> {
    TABLE.waits.iter().find(|place| fits(place)).map(|place| place.waits)
}

/// Without what a compiler adds: `.isra.0`, `.constprop.0`.
fn plain(name: &str) -> &str {
    name.split('.').next().filter(|n| !n.is_empty()).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_function_that_is_known_tells_what_is_waited_for() {
        let of = |stack: &str| {
            let names: Vec<&str> = stack.split(' ').rev().collect();
            waits_for(&names)
        };
        for (stack, waits) in [
            (
                "zpl_iter_read zfs_read dmu_read_uio_dnode dmu_buf_hold_array_by_dnode zio_wait __cv_wait_io",
                WaitsFor::Read,
            ),
            (
                "zfs_read dmu_buf_hold_array_by_dnode dbuf_read __cv_wait cv_wait_common schedule",
                WaitsFor::Read,
            ),
            ("zpl_fsync zfs_fsync zil_commit zil_commit_impl cv_timedwait_io", WaitsFor::IntentLog),
            (
                "zfs_write zil_commit zil_commit_impl __mutex_lock.constprop.0 schedule_preempt_disabled",
                WaitsFor::IntentLog,
            ),
            (
                "zfs_write dmu_tx_assign dmu_tx_wait dmu_tx_delay schedule_hrtimeout_range",
                WaitsFor::DirtyData,
            ),
            ("zfs_write dmu_tx_wait txg_wait_open __cv_wait", WaitsFor::Txg),
            ("kthread txg_sync_thread spa_sync zio_wait __cv_timedwait_io io_schedule", WaitsFor::Write),
            ("kthread txg_sync_thread __cv_timedwait_idle schedule", WaitsFor::Work),
            ("kthread txg_quiesce_thread __cv_wait_idle", WaitsFor::Work),
            ("kthread taskq_thread schedule", WaitsFor::Work),
            ("zfs_read arc_read arc_get_data_abd arc_wait_for_eviction __cv_wait", WaitsFor::Memory),
            ("zfs_write zfs_rangelock_enter_impl __cv_wait", WaitsFor::Lock),
            ("zfs_lookup dnode_hold_impl __mutex_lock.isra.0 schedule", WaitsFor::Lock),
            (
                "x64_sys_poll do_sys_poll do_poll.constprop.0 poll_schedule_timeout schedule_hrtimeout_range",
                WaitsFor::Work,
            ),
            ("ext4_file_read filemap_read folio_wait_bit_common io_schedule", WaitsFor::Disk),
            (
                "do_fault __alloc_pages_slowpath.constprop.0 try_to_free_pages shrink_node schedule",
                WaitsFor::Memory,
            ),
            ("send_traverse_thread bqueue_enqueue_impl __cv_wait", WaitsFor::Queue),
        ] {
            assert_eq!(of(stack), Some(waits), "{stack}");
        }
        assert_eq!(of("do_exit my_driver_wait schedule"), None);
        // Switched out while it could run: it waits for no lock.
        assert_eq!(
            of("zfs_read dbuf_find mutex_lock __cond_resched preempt_schedule_common __schedule"),
            None
        );
        assert_eq!(of("zfs_read mutex_lock preempt_schedule __schedule"), None);
        assert_eq!(of("entry_SYSCALL_64 syscall_exit_to_user_mode exit_to_user_mode_prepare schedule"), None);
        assert_eq!(of("schedule"), None);
    }

    #[test]
    fn every_place_is_listed_once() {
        let mut all: Vec<&str> =
            TABLE.waits.iter().flat_map(|place| place.functions.iter().copied()).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
