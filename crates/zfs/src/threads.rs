//! Threads of OpenZFS by their names: what each does.
//!
//! Names are those that OpenZFS 0.7 to 2.4 gives its threads and taskqs (`module/zfs/spa.c`
//! `zio_taskqs`, `arc.c`, `dbuf.c`, `txg.c`, …), cut at 15 characters by Linux. The SPL adds `_N`
//! to threads of a taskq, priorities and batches add `/N`, `-N` or a letter.

/// Part of OpenZFS that a thread works for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Area {
    Read,
    Write,
    Free,
    Txg,
    Arc,
    Dbuf,
    L2arc,
    Zvol,
    Scan,
    Vdev,
    SendReceive,
    Memory,
    Maintenance,
}

/// What a thread is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Role {
    /// The whole name without numbers, also where Linux shows it cut: `z_rd_int`, `spl_system_taskq`.
    pub name: &'static str,
    pub area: Area,
    /// A phrase that can follow "this thread".
    pub what: &'static str,
    /// Gone from current OpenZFS; names the last line that has it.
    pub until: Option<&'static str>,
}

const fn role(name: &'static str, area: Area, what: &'static str) -> Role {
    Role { name, area, what, until: None }
}

const fn old(name: &'static str, area: Area, what: &'static str, until: &'static str) -> Role {
    Role { name, area, what, until: Some(until) }
}

/// Longer names stand before those they begin with.
const ROLES: &[Role] = &[
    role("z_rd_int", Area::Read, "finishes reads: verifies checksums, decrypts, decompresses, reconstructs"),
    role("z_rd_iss", Area::Read, "starts reads that a caller did not start itself"),
    role(
        "z_wr_iss_h",
        Area::Write,
        "compresses, encrypts and checksums urgent writes (intent log, metadata)",
    ),
    role("z_wr_iss", Area::Write, "compresses, encrypts, checksums and allocates blocks being written"),
    role("z_wr_int_h", Area::Write, "finishes urgent writes"),
    role("z_wr_int", Area::Write, "finishes writes"),
    role("z_fr_iss_h", Area::Free, "frees urgent blocks"),
    role("z_fr_iss", Area::Free, "frees blocks (destroy, overwrite, delete)"),
    role("z_fr_int", Area::Free, "finishes frees"),
    role("z_cl_iss", Area::Maintenance, "starts claims of intent log blocks at import"),
    role("z_cl_int", Area::Maintenance, "finishes claims of intent log blocks"),
    role("z_null_iss", Area::Maintenance, "runs empty parents of I/O trees"),
    role("z_null_int", Area::Maintenance, "finishes empty parents of I/O trees"),
    role("z_ioctl_iss", Area::Vdev, "starts cache flushes of devices"),
    role("z_ioctl_int", Area::Vdev, "finishes cache flushes of devices"),
    role("z_flush_iss", Area::Vdev, "starts cache flushes of devices"),
    role("z_flush_int", Area::Vdev, "finishes cache flushes of devices"),
    role("z_trim_iss", Area::Vdev, "starts trims of freed space"),
    role("z_trim_int", Area::Vdev, "finishes trims of freed space"),
    role("z_upgrade", Area::Maintenance, "upgrades on-disk accounting of datasets"),
    role("z_unlinked_drain", Area::Free, "deletes files that were unlinked while open"),
    role("z_zrele", Area::Maintenance, "releases inodes asynchronously"),
    role("z_iput", Area::Maintenance, "releases inodes asynchronously"),
    role("z_prefetch", Area::Read, "runs asynchronous prefetch of metadata"),
    role("z_vdev_file", Area::Vdev, "reads and writes vdevs that are files"),
    role("z_metaslab", Area::Write, "loads and condenses space maps"),
    role("zvol_tq", Area::Zvol, "serves reads and writes of zvols"),
    role("zvol", Area::Zvol, "serves reads and writes of zvols, or creates their devices"),
    role("zil_clean", Area::Txg, "frees intent log records that are synced"),
    role(
        "zthr_procedure",
        Area::Maintenance,
        "a helper thread: evicts ARC buffers, ages dbufs, or a background job",
    ),
    role("txg_sync", Area::Txg, "writes transaction groups to disk, one at a time"),
    role("txg_quiesce", Area::Txg, "closes transaction groups"),
    role("dp_sync_taskq", Area::Txg, "syncs dirty datasets of a transaction group in parallel"),
    role("dp_zil_clean_taskq", Area::Txg, "frees intent log records that are synced"),
    role("arc_prune", Area::Arc, "asks file systems to drop inodes and dentries that pin metadata"),
    role("arc_evict", Area::Arc, "evicts buffers when the ARC is over its target"),
    role("arc_flush", Area::Arc, "drops the ARC buffers of an exported pool"),
    role("arc_reap", Area::Arc, "gives ARC memory back to the kernel under memory pressure"),
    old("arc_reclaim", Area::Arc, "evicts buffers and gives memory back (0.7 and earlier)", "0.7"),
    old("arc_user_evicts", Area::Arc, "evicts buffers of user callbacks (0.6)", "0.6"),
    old("arc_adapt", Area::Arc, "adapts the ARC's size and evicts (0.6)", "0.6"),
    old("arc_adjust", Area::Arc, "evicts buffers when the ARC is over its target (0.8)", "0.8"),
    role("dbuf_evict", Area::Dbuf, "evicts from the dbuf cache; there is one such thread"),
    role("dbu_evict", Area::Dbuf, "runs eviction callbacks of dbufs"),
    role("l2arc_feed", Area::L2arc, "writes ARC buffers to the cache devices"),
    role("l2arc_rebuild", Area::L2arc, "reads cache device headers after import"),
    role("mmp", Area::Maintenance, "writes the multihost heartbeat"),
    role("dsl_scan_iss", Area::Scan, "issues scrub and resilver reads"),
    role("dsl_scan_tq", Area::Scan, "issues scrub and resilver reads"),
    role("raidz_expand", Area::Scan, "moves data of a RAID-Z vdev that is being widened"),
    role("vdev_autotrim", Area::Vdev, "trims freed space continuously"),
    role("vdev_trim", Area::Vdev, "trims free space on request"),
    role("vdev_initialize", Area::Vdev, "writes all free space of a device"),
    role("vdev_rebuild", Area::Scan, "rebuilds a device sequentially"),
    role("vdev_open", Area::Vdev, "opens devices at import"),
    role("vdev_load", Area::Vdev, "loads vdev metadata at import"),
    role("vdev_validate", Area::Vdev, "reads vdev labels at import"),
    role("spl_kmem_cache", Area::Memory, "grows and ages the SPL's memory caches"),
    role("spl_delay_taskq", Area::Maintenance, "runs delayed jobs"),
    role("spl_dynamic_taskq", Area::Maintenance, "starts and stops taskq threads"),
    role("spl_system_taskq", Area::Maintenance, "runs jobs without a queue of their own"),
    role("metaslab_group_taskq", Area::Write, "loads space maps before they are needed"),
    role("send_traverse", Area::SendReceive, "walks block pointers for zfs send"),
    role("send_merge", Area::SendReceive, "merges block ranges for zfs send"),
    role("send_reader", Area::SendReceive, "reads data for zfs send"),
    role("receive_writer", Area::SendReceive, "writes what zfs receive reads"),
    role("redact_traverse", Area::SendReceive, "walks block pointers for redaction"),
    role("redact_merge", Area::SendReceive, "merges redaction lists"),
    role("redact_list", Area::SendReceive, "reads redaction lists"),
    role("livelist_delete", Area::Free, "frees blocks of destroyed clones"),
    role("livelist_condense", Area::Free, "condenses lists of clone blocks"),
    role("spa_async", Area::Maintenance, "handles device changes and other deferred pool work"),
    role("checkpoint_discard", Area::Free, "frees the blocks of a discarded checkpoint"),
    role("indirect_condense", Area::Maintenance, "condenses mappings of removed vdevs"),
    role("brt_sync", Area::Txg, "writes block cloning reference counts"),
    role("ddt_prefetch", Area::Read, "loads dedup tables"),
    role("zfs_zrele", Area::Maintenance, "releases inodes asynchronously"),
    role("null_iss", Area::Maintenance, "runs empty parents of I/O trees"),
];

/// Functions in which threads of ZFS and of the kernel wait until there is work: `spl-taskq.c`, `txg.c`,
/// `zthr.c`, `dbuf.c`, `arc.c`, `mmp.c`; Linux `kernel/workqueue.c`, `kthread.c`, `hung_task.c`, `rcu/tree.c`,
/// `mm/compaction.c`, `mm/vmscan.c`, `mm/khugepaged.c`, `mm/oom_kill.c`; FreeBSD `kern/subr_taskqueue.c`,
/// `kern/kern_intr.c`.
const IDLE: [&str; 28] = [
    "taskq_thread",
    "txg_thread_wait",
    "taskq_thread_wait",
    "zthr_wait_cv",
    "zthr_procedure",
    "dbuf_evict_thread",
    "l2arc_feed_thread",
    "mmp_thread",
    "vdev_autotrim_thread",
    "spa_async_thread",
    "arc_reclaim_thread",
    "worker_thread",
    "rescuer_thread",
    "kthreadd",
    "smpboot_thread_fn",
    "kcompactd",
    "kswapd",
    "khugepaged",
    "rcu_gp_kthread",
    "rcu_gp_fqs_loop",
    "rcu_nocb_cb_kthread",
    "watchdog",
    "oom_reaper",
    "arc_reap_cb",
    "kthread_worker_fn",
    "taskqueue_thread_loop",
    "ithread_loop",
    "kproc_suspend_check",
];

/// Whether a thread that sleeps right below this function has nothing to do. Compiler suffixes
/// (`taskq_thread.isra.0`) do not count.
pub fn waits_for_work(function: &str) -> bool {
    function.split('.').next().is_some_and(|name| IDLE.contains(&name))
}

/// The name of a thread without its number: `z_wr_iss/3`, `z_wr_iss_3` and `zvol_tq-0` are
/// `z_wr_iss` and `zvol_tq`; without what `ps` puts around it (`[arc_prune]`, `zfskern{arc_prune}`),
/// and where the thread is called by its function (`dbuf_evict_thread`) by what it is called elsewhere.
pub fn thread_base(comm: &str) -> &str {
    let name = without_brackets(comm.trim());
    if let Some(role) = name.strip_suffix("_thread").and_then(thread_role) {
        return role.name;
    }
    if let Some(role) = thread_role(name) {
        return role.name;
    }
    let name = name.split('/').next().unwrap_or(name);
    let short = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if short.len() == name.len() {
        return name;
    }
    short.strip_suffix(['_', '-']).filter(|s| !s.is_empty()).unwrap_or(name)
}

fn without_brackets(name: &str) -> &str {
    let bracketed = name.strip_prefix('[').and_then(|n| n.strip_suffix(']'));
    let of_process = || name.strip_suffix('}').and_then(|n| n.split_once('{')).map(|(_, thread)| thread);
    bracketed.or_else(of_process).filter(|n| !n.is_empty()).unwrap_or(name)
}

/// What the thread of this name does, or `None` when it is not known as a thread of OpenZFS.
pub fn thread_role(comm: &str) -> Option<Role> {
    let renamed = of_old_freebsd(comm);
    let comm = renamed.as_deref().unwrap_or(comm);
    // Most names of a host are not of ZFS and differ in their first letter.
    let first = comm.bytes().next()?;
    let alike = ROLES.iter().filter(|role| role.name.starts_with(char::from(first)));
    alike.filter(|role| is_named(comm, role.name)).max_by_key(|role| role.name.len()).copied()
}

/// `zio_write_issue_3` of FreeBSD before 13 and of illumos is what others call `z_wr_iss_3`.
fn of_old_freebsd(comm: &str) -> Option<String> {
    const TYPES: [(&str, &str); 6] = [
        ("null_", "null"),
        ("read_", "rd"),
        ("write_", "wr"),
        ("free_", "fr"),
        ("claim_", "cl"),
        ("ioctl_", "ioctl"),
    ];
    let rest = comm.strip_prefix("zio_")?;
    let (kind, rest) = TYPES.iter().find_map(|(old, new)| Some((new, rest.strip_prefix(old)?)))?;
    let (stage, rest) = match rest.strip_prefix("issue") {
        Some(rest) => ("iss", rest),
        None => ("int", rest.strip_prefix("intr")?),
    };
    let (high, rest) = rest.strip_prefix("_high").map_or(("", rest), |rest| ("_h", rest));
    // Cut before its number.
    Some(format!("z_{kind}_{stage}{high}{}", if rest == "_" { "" } else { rest }))
}

/// `comm` is `name`, cut at 15 bytes or followed by numbers.
fn is_named(comm: &str, name: &str) -> bool {
    if let Some(rest) = comm.strip_prefix(name) {
        return rest.is_empty() || (numbering(rest) && (name != "mmp" && name != "zvol" || rest.len() > 1));
    }
    // Cut by the kernel: fifteen characters of a longer name.
    comm.len() == 15 && name.len() > 15 && name.starts_with(comm)
}

/// `_3`, `/11`, `-0`, `/u:8`, `_h_2`: what follows a taskq's name.
fn numbering(rest: &str) -> bool {
    let mut bytes = rest.bytes();
    let separated =
        matches!(bytes.next(), Some(b'_' | b'/' | b'-' | b':')) || rest.bytes().all(|b| b.is_ascii_digit());
    separated && bytes.all(|b| b.is_ascii_digit() || matches!(b, b'_' | b'/' | b'-' | b':' | b'h' | b'u'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_of_threads_without_what_is_around_them() {
        for (printed, base) in [
            ("z_wr_iss/3", "z_wr_iss"),
            ("[arc_prune]", "arc_prune"),
            ("zfskern{arc_prune}", "arc_prune"),
            ("dbuf_evict_thread", "dbuf_evict"),
            ("my_thread", "my_thread"),
            ("kworker/u8:1", "kworker"),
            ("python3", "python3"),
            ("worker_12", "worker"),
            ("z_wr_iss_h_2", "z_wr_iss_h"),
            ("[]", "[]"),
            ("java{", "java{"),
        ] {
            assert_eq!(thread_base(printed), base, "{printed}");
        }
    }

    #[test]
    fn idle_threads_are_told_by_the_function_that_sleeps() {
        for idle in ["taskq_thread", "txg_thread_wait.isra.0", "ithread_loop"] {
            assert!(waits_for_work(idle), "{idle}");
        }
        for busy in ["txg_wait_synced", "taskq_thread_spawn", "", "zio_wait"] {
            assert!(!waits_for_work(busy), "{busy}");
        }
    }

    #[test]
    fn names_are_known_with_and_without_numbers() {
        for (comm, want) in [
            ("z_rd_int", "z_rd_int"),
            ("z_rd_int/12", "z_rd_int"),
            ("z_rd_int_3", "z_rd_int"),
            ("z_rd_int-0", "z_rd_int"),
            ("z_wr_iss", "z_wr_iss"),
            ("z_wr_iss_12", "z_wr_iss"),
            ("z_wr_iss_h", "z_wr_iss_h"),
            ("z_wr_iss_h/1", "z_wr_iss_h"),
            ("z_fr_iss_5", "z_fr_iss"),
            ("z_unlinked_drai", "z_unlinked_drain"),
            ("dp_zil_clean_ta", "dp_zil_clean_taskq"),
            ("spl_dynamic_tas", "spl_dynamic_taskq"),
            ("metaslab_group_", "metaslab_group_taskq"),
            ("zvol", "zvol"),
            ("zio_write_issue_", "z_wr_iss"),
            ("zio_write_issue_high_2", "z_wr_iss_h"),
            ("zio_read_intr_1_3", "z_rd_int"),
            ("zvol_tq-1", "zvol_tq"),
            ("zvol_tq-10_2", "zvol_tq"),
            ("dbuf_evict", "dbuf_evict"),
            ("arc_reclaim", "arc_reclaim"),
            ("arc_adapt", "arc_adapt"),
            ("mmp", "mmp"),
            ("txg_sync", "txg_sync"),
        ] {
            assert_eq!(thread_role(comm).map(|r| r.name), Some(want), "{comm}");
        }
        assert_eq!(thread_role("arc_reclaim").and_then(|r| r.until), Some("0.7"));
    }

    #[test]
    fn other_threads_have_no_role() {
        for comm in
            ["", "kworker/0:1", "z_rd_intx", "zvolume", "mmpd", "txg_syncer", "dd", "z", "zfs", "zpool"]
        {
            assert_eq!(thread_role(comm), None, "{comm}");
        }
    }

    #[test]
    fn names_fit_a_thread_and_are_not_repeated() {
        let mut names: Vec<_> = ROLES.iter().map(|r| r.name).collect();
        assert!(names.iter().all(|n| !n.is_empty()));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ROLES.len());
    }

    proptest! {
        #[test]
        fn a_number_does_not_change_the_role(at in 0..ROLES.len(), n in 0u32..999, separator in "[/_-]") {
            let role = ROLES[at];
            let comm = format!("{}{separator}{n}", role.name);
            prop_assert_eq!(thread_role(&comm), Some(role));
        }

        #[test]
        fn any_text_is_survived(comm in ".{0,20}") {
            let _ = thread_role(&comm);
        }
    }
}
