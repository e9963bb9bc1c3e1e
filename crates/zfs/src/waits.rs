//! What a sleeping thread waits for, told by the functions that it sleeps in.
//!
//! OpenZFS: `zio.c` `zio_wait`, `dbuf.c` `dbuf_read`, `zil.c` `zil_commit_impl`, `txg.c` `txg_wait_synced_impl`,
//! `dmu_tx.c` `dmu_tx_wait`, `arc.c` `arc_wait_for_eviction`, `zfs_rlock.c`, `rrwlock.c`, `bqueue.c`, `taskq.c`;
//! Linux `mm/page-writeback.c`, `mm/vmscan.c`, `mm/memcontrol.c`, `kernel/locking`, `block/blk-rq-qos.c`,
//! `fs/select.c`, `kernel/futex`; FreeBSD `kern/kern_sx.c`, `kern_rwlock.c`, `kern_mutex.c`.

use crate::sleep::leaves_the_cpu;
use crate::threads::waits_for_work;

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
        match self {
            WaitsFor::Read => "disk reads",
            WaitsFor::Write => "disk writes",
            WaitsFor::Disk => "disk I/O",
            WaitsFor::IntentLog => "synchronous writes",
            WaitsFor::Txg => "a transaction group to be on disk",
            WaitsFor::DirtyData => "room for changed data",
            WaitsFor::Throttle => "its share of I/O",
            WaitsFor::Memory => "memory",
            WaitsFor::Lock => "a lock",
            WaitsFor::Queue => "a queue",
            WaitsFor::Work => "work",
        }
    }

    /// Whether a disk ends it.
    pub fn is_disk(self) -> bool {
        matches!(
            self,
            WaitsFor::Read
                | WaitsFor::Write
                | WaitsFor::Disk
                | WaitsFor::IntentLog
                | WaitsFor::Txg
                | WaitsFor::DirtyData
        )
    }
}

/// Functions by what is waited for in them; a star at the end stands for any ending. Of a stack the innermost one
/// that is listed decides.
const PLACES: &[(WaitsFor, &[&str])] = &[
    (
        WaitsFor::Read,
        &[
            "dbuf_read*",
            "dmu_buf_hold_array*",
            "arc_read",
            "dmu_read*",
            "dmu_buf_hold*",
            "zvol_read",
            "dnode_hold*",
            "dbuf_hold*",
            "zfs_getpage",
            "mappedread*",
            "vdev_probe",
        ],
    ),
    (
        WaitsFor::Write,
        &[
            "spa_sync*",
            "dsl_pool_sync*",
            "vdev_config_sync*",
            "vdev_uberblock_sync*",
            "vdev_label_sync*",
            "dmu_sync*",
        ],
    ),
    (
        WaitsFor::Disk,
        &[
            "vdev_trim_*",
            "vdev_autotrim_*",
            "vdev_initialize_*",
            "vdev_rebuild_*",
            "dsl_scan_*",
            "zio_flush",
            "submit_bio_wait",
            "blkdev_issue_*",
            "bio_await*",
            "folio_wait_*",
            "wait_on_page_*",
            "__wait_on_buffer",
            "blk_mq_get_tag",
            "jbd2_*",
            "ext4_*",
            "xfs_*",
            "btrfs_*",
            "zio_wait",
        ],
    ),
    (WaitsFor::IntentLog, &["zil_*"]),
    (WaitsFor::Txg, &["txg_wait_synced*", "txg_wait_open*", "txg_quiesce"]),
    (WaitsFor::DirtyData, &["dmu_tx_wait", "dmu_tx_delay*", "dmu_tx_assign", "dsl_pool_wait_*", "txg_delay"]),
    (
        WaitsFor::Throttle,
        &[
            "balance_dirty_pages*",
            "rq_qos_wait*",
            "wbt_wait*",
            "ioc_rqos_throttle*",
            "blkcg_maybe_throttle*",
            "blk_throtl*",
            "throttle_cfs_rq*",
        ],
    ),
    (
        WaitsFor::Memory,
        &[
            "arc_wait_for_eviction*",
            "arc_get_data_*",
            "arc_tempreserve_space",
            "__alloc_pages_slowpath*",
            "__alloc_frozen_pages_slowpath*",
            "try_to_free_*",
            "do_try_to_free_pages",
            "throttle_direct_reclaim",
            "reclaim_throttle",
            "mem_cgroup_handle_over_high",
            "__mem_cgroup_handle_over_high",
            "try_charge_memcg",
            "do_swap_page",
            "swap_read*",
            "shrink_node*",
            "shrink_slab*",
            "compact_zone*",
            "spl_cache_grow*",
            "spl_kmem_cache_alloc",
        ],
    ),
    (
        WaitsFor::Lock,
        &[
            "zfs_rangelock_enter*",
            "rrw_enter*",
            "rrm_enter*",
            "spa_config_enter*",
            "mutex_lock*",
            "__mutex_lock*",
            "rwsem_down_*",
            "down_read*",
            "down_write*",
            "rt_mutex_*",
            "_sx_xlock_hard",
            "_sx_slock_hard",
            "__rw_wlock_hard",
            "__rw_rlock_hard",
            "__mtx_lock_sleep",
            "turnstile_wait",
        ],
    ),
    (WaitsFor::Queue, &["taskq_wait*", "bqueue_*", "zio_taskq_*", "pipe_write", "anon_pipe_write"]),
    (
        WaitsFor::Work,
        &[
            "poll_schedule_timeout*",
            "do_poll*",
            "do_sys_poll",
            "do_select",
            "ep_poll",
            "futex_wait*",
            "__futex_wait*",
            "do_wait",
            "kernel_wait4",
            "pipe_read",
            "anon_pipe_read",
            "unix_stream_*",
            "inet_csk_accept",
            "tcp_recvmsg*",
            "sk_wait_data",
            "__skb_wait_for_more_packets",
            "do_sigtimedwait",
            "sigsuspend",
            "wait_woken",
            "n_tty_read",
            "io_cqring_wait",
            "svc_recv",
            "svc_get_next_xprt",
            "txg_sync_thread",
            "txg_quiesce_thread",
            "common_nsleep*",
            "__do_sys_clock_nanosleep",
            "__x64_sys_clock_nanosleep",
            "__x64_sys_nanosleep",
            "__arm64_sys_nanosleep",
            "__arm64_sys_clock_nanosleep",
        ],
    ),
];

/// Callers that say more than the lock or queue that they wait in: one of the intent log is held by who writes it.
const CALLERS: &[(&str, WaitsFor)] = &[
    ("zil_commit*", WaitsFor::IntentLog),
    ("spa_sync", WaitsFor::Write),
    ("txg_wait_synced*", WaitsFor::Txg),
];

/// Functions in which the kernel takes the CPU from a thread that could go on: it waits for a CPU, not for what its
/// callers are about (Linux `kernel/sched/core.c`, `kernel/entry/common.c`).
const PREEMPTED: &[&str] =
    &["__cond_resched*", "preempt_schedule*", "__preempt_schedule*", "exit_to_user_mode*", "irqentry_exit*"];

/// What a thread waits for with these functions, innermost first; `None` where they do not say.
pub fn waits_for(names: &[&str]) -> Option<WaitsFor> {
    let mut inside =
        names.iter().map(|name| plain(name)).filter(|n| !n.starts_with('[') && !leaves_the_cpu(n));
    let first = inside.next()?;
    let leads_away = names.iter().map(|name| plain(name)).take_while(|name| *name != first);
    let preempted = |name: &str| PREEMPTED.iter().any(|of| like(name, of));
    if preempted(first) || leads_away.into_iter().any(preempted) {
        return None;
    }
    // A thread has nothing to do where it sleeps itself; what it called may be about work.
    if waits_for_work(first) || place(first) == Some(WaitsFor::Work) {
        return Some(WaitsFor::Work);
    }
    let known = |name: &str| place(name).filter(|waits| *waits != WaitsFor::Work);
    let narrow = |name: &str| CALLERS.iter().find(|(of, _)| like(name, of)).map(|(_, waits)| *waits);
    let found = known(first).or_else(|| inside.clone().find_map(known))?;
    Some(match found {
        // A wait for some I/O: whose it is, is told by the nearest caller that is listed.
        WaitsFor::Disk if first == "zio_wait" => inside.find_map(known).unwrap_or(found),
        WaitsFor::Lock | WaitsFor::Queue => inside.find_map(narrow).unwrap_or(found),
        found => found,
    })
}

fn place(name: &str) -> Option<WaitsFor> {
    PLACES.iter().find(|(_, names)| names.iter().any(|of| like(name, of))).map(|(waits, _)| *waits)
}

/// Without what a compiler adds: `.isra.0`, `.constprop.0`.
fn plain(name: &str) -> &str {
    name.split('.').next().filter(|n| !n.is_empty()).unwrap_or(name)
}

fn like(name: &str, pattern: &str) -> bool {
    pattern.strip_suffix('*').map_or(name == pattern, |begin| name.starts_with(begin))
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
        let mut all: Vec<&str> = PLACES.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
