//! Names that identify nobody: threads of OpenZFS and of the kernel, and OpenZFS's own tools.

use std::sync::LazyLock;
use zwhy_zfs::thread_role;

/// Kernel threads, by how their names begin.
static KERNEL_THREADS: LazyLock<Vec<&str>> = LazyLock::new(|| words(include_str!("kernel_threads.txt")));

/// Words behind them that are the kernel's or OpenZFS's, too; all others may be somebody's.
static KERNEL_WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| words(include_str!("kernel_words.txt")));

/// The words of a file, several a line; a line that begins with `#` is a remark.
pub(super) fn words<C: FromIterator<&'static str>>(file: &'static str) -> C {
    file.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace).collect()
}

/// Programs that every OpenZFS host runs, and the recorders.
const TOOLS: [&str; 8] = ["zfs", "zpool", "zdb", "zed", "ztest", "perf", "zwhy", "[unknown]"];

/// Stand-ins are public, so that redacting twice changes nothing.
pub(super) const STAND_INS: [&str; 14] = [
    "host", "pool", "fs", "snap", "process", "program", "path", "device", "address", "user", "argument",
    "mark", "input", "id",
];

/// The name tells nothing about who uses the host.
pub(super) fn is_public_process(comm: &str) -> bool {
    comm.is_empty()
        || TOOLS.contains(&comm)
        || thread_role(comm).is_some()
        || of_kernel(comm) == Some("")
        || is_stand_in(comm)
}

/// Of a kernel thread's name what may be somebody's word: nothing of `md127_raid1` and `kworker/0:1-events`, `acme_wq` of
/// `kworker/u8:2-acme_wq`. `None` where no kernel thread is called so, as with `mdsecret`.
pub(super) fn of_kernel(comm: &str) -> Option<&str> {
    let starts = KERNEL_THREADS.iter().filter_map(|start| Some((start, comm.strip_prefix(start)?)));
    let (start, rest) = starts.max_by_key(|(start, _)| start.len())?;
    let joined = start.ends_with(|c: char| c.is_ascii_alphanumeric());
    if joined && rest.starts_with(|c: char| c.is_alphabetic()) {
        return None;
    }
    // The kernel keeps 15 bytes of a name.
    let is_cut = comm.len() == 15;
    let mut at = rest;
    while let Some(from) = at.find(char::is_alphabetic) {
        let len = at[from..].find(|c: char| !c.is_alphabetic()).unwrap_or(at.len() - from);
        let (word, after) = at[from..].split_at(len);
        let cut = is_cut && after.is_empty();
        let numbered =
            &at[from..][..len + after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len()];
        let is_known = |known: &&str| *known == word || (cut && known.starts_with(word));
        if !is_stand_in(numbered) && !KERNEL_WORDS.iter().any(is_known) {
            return Some(&at[from..]);
        }
        at = after;
    }
    Some("")
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

/// Directories that are the same on every host; of what is below them only names that are known are private.
pub(super) fn is_system_path(path: &str) -> bool {
    const ROOTS: &str = "/proc /sys /usr/bin /usr/include /usr/lib /usr/lib32 /usr/lib64 /usr/libexec \
        /usr/sbin /usr/share /lib /lib64 /bin /sbin /boot";
    // Homes are below /usr on FreeBSD, and control groups have names that users give.
    let below =
        |root: &str| path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    path == "/usr" || below("/etc/modprobe.d") || (ROOTS.split(' ').any(below) && !below("/sys/fs/cgroup"))
}

/// A node of /dev that is no disk and is called the same on every host.
pub(super) fn is_public_node(name: &str) -> bool {
    const NODES: &str = "zfs null zero full mem kmem random urandom shm kvm console pts tty fuse \
        loop-control stdin";
    let numbered =
        |start: &str| name.strip_prefix(start).is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
    NODES.split(' ').any(|node| node == name)
        || numbered("tty")
        || numbered("ttyS")
        || numbered("nvme")
        || is_public_disk(name)
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

/// A figure that names a pool, a disk or a machine: `guid`, `tank/guid`, `spl_hostid`.
pub(super) fn is_identity(name: &str) -> bool {
    let last = name.rsplit(['/', '.']).next().unwrap_or(name);
    last == "guid" || last.ends_with("_guid") || last.ends_with("hostid") || last == "machine_id"
}

/// A device link that carries a vendor, a model or a serial: `ata-…`, `wwn-0x…`.
pub(super) fn is_device_id(word: &str) -> bool {
    const KINDS: [&str; 9] =
        ["ata-", "scsi-", "wwn-", "nvme-", "usb-", "virtio-", "dm-uuid-", "dm-name-", "google-"];
    KINDS.iter().any(|kind| word.strip_prefix(kind).is_some_and(|id| id.len() >= 4))
}
