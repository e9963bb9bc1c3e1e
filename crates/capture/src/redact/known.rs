//! Names that identify nobody: threads of OpenZFS and of the kernel, and OpenZFS's own tools.

use zwhy_zfs::thread_role;

/// Kernel threads, by how their names begin; what follows a letter is a number or a mark, or nothing.
const KERNEL_THREADS: [&str; 41] = [
    "arc_",
    "blkcg_",
    "cpuhp/",
    "dbu_",
    "dm_",
    "dm-",
    "idle_inject/",
    "irq/",
    "jbd2/",
    "kauditd",
    "kblockd",
    "kcompactd",
    "kcryptd",
    "kdevtmpfs",
    "khugepaged",
    "khungtaskd",
    "kintegrityd",
    "ksmd",
    "ksoftirqd",
    "kstrp",
    "kswapd",
    "kthreadd",
    "kthrotld",
    "kworker",
    "loop",
    "md",
    "migration/",
    "nfsd",
    "lockd",
    "nvme-",
    "oom_reaper",
    "rcu",
    "rcuo",
    "scsi_",
    "spl_",
    "swapper",
    "watchdog",
    "writeback",
    "xfs",
    "xfsaild",
    "z_",
];

/// Programs that every OpenZFS host runs, and the recorders.
const TOOLS: [&str; 8] = ["zfs", "zpool", "zdb", "zed", "ztest", "perf", "zwhy", "[unknown]"];

/// Stand-ins are public, so that redacting twice changes nothing.
pub(super) const STAND_INS: [&str; 13] = [
    "host", "pool", "fs", "snap", "process", "program", "path", "device", "address", "user", "argument",
    "mark", "input",
];

/// The name tells nothing about who uses the host.
pub(super) fn is_public_process(comm: &str) -> bool {
    comm.is_empty()
        || TOOLS.contains(&comm)
        || thread_role(comm).is_some()
        || KERNEL_THREADS
            .iter()
            .any(|start| comm.strip_prefix(start).is_some_and(|rest| is_numbered(start, rest)))
        || is_stand_in(comm)
}

/// `md127` and `kworker/0:1`, but not `mdsecret`.
fn is_numbered(start: &str, rest: &str) -> bool {
    !start.ends_with(|c: char| c.is_ascii_alphanumeric()) || !rest.starts_with(|c: char| c.is_alphabetic())
}

/// A part of a control group's path that every host has.
pub(super) fn is_public_group(part: &str) -> bool {
    const ALL: [&str; 6] =
        ["", "system.slice", "user.slice", "machine.slice", "init.scope", "kubepods.slice"];
    ALL.contains(&part) || is_stand_in(part)
}

/// A word of [`STAND_INS`] and a number.
pub(super) fn is_stand_in(word: &str) -> bool {
    let start = word.trim_end_matches(|c: char| c.is_ascii_digit());
    start.len() < word.len() && STAND_INS.contains(&start)
}

/// The pool whose kstats have this source; `None` for kstats of the module or the machine.
pub(super) fn pool_of_kstat(source: &str) -> Option<&str> {
    let of_pool = |name: &str| {
        ["iostats", "txgs", "dmu_tx_assign", "state", "guid", "multihost", "reads", "io"].contains(&name)
            || name.starts_with("objset-")
            || name.starts_with("ddt_stats_")
    };
    let (pool, name) = source.strip_prefix("pool/").unwrap_or(source).split_once('/')?;
    // Stalls of the kernel are read from /proc/pressure/io.
    (of_pool(name) && pool != "pressure").then_some(pool)
}

/// Directories that are the same on every host; what is below them is not private.
pub(super) fn is_system_path(path: &str) -> bool {
    const ROOTS: [&str; 9] =
        ["/proc", "/sys", "/usr", "/lib", "/lib64", "/bin", "/sbin", "/boot", "/etc/modprobe.d"];
    ROOTS
        .iter()
        .any(|root| path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

/// How a kernel numbers its disks, and how ZFS names what it makes of them: `sda1`, `nvme0n1p2`, `mirror-0`.
pub(super) fn is_public_disk(name: &str) -> bool {
    const LETTERS: [&str; 5] = ["sd", "vd", "hd", "xvd", "ubd"];
    const NUMBERED: [&str; 12] =
        ["nvme", "mmcblk", "dm-", "md", "zd", "loop", "nbd", "pmem", "ada", "da", "vtbd", "ram"];
    const MADE: [&str; 9] =
        ["mirror", "raidz", "draid", "spare", "replacing", "logs", "cache", "special", "root"];
    let numbers = |rest: &str| {
        rest.starts_with(|c: char| c.is_ascii_digit())
            && rest.chars().all(|c| c.is_ascii_digit() || matches!(c, 'n' | 'p' | 'b' | 'o' | 't'))
    };
    let letters = |rest: &str| {
        let unit = rest.trim_end_matches(|c: char| c.is_ascii_digit());
        matches!(unit.len(), 1..=3) && unit.chars().all(|c| c.is_ascii_lowercase())
    };
    let made = |rest: &str| {
        let of = |c: char| c.is_ascii_digit() || matches!(c, '-' | ':' | 'd' | 'c' | 's');
        rest.chars().all(of)
    };
    is_stand_in(name)
        || LETTERS.iter().any(|start| name.strip_prefix(start).is_some_and(letters))
        || NUMBERED.iter().any(|start| name.strip_prefix(start).is_some_and(numbers))
        || MADE.iter().any(|start| name.strip_prefix(start).is_some_and(made))
}

/// A device link that carries a vendor, a model or a serial: `ata-…`, `wwn-0x…`.
pub(super) fn is_device_id(word: &str) -> bool {
    const KINDS: [&str; 9] =
        ["ata-", "scsi-", "wwn-", "nvme-", "usb-", "virtio-", "dm-uuid-", "dm-name-", "google-"];
    KINDS.iter().any(|kind| word.strip_prefix(kind).is_some_and(|id| id.len() >= 4))
}
