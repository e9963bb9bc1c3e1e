//! What makes OpenZFS in user space slower or faster than in a kernel, and what is done about it.
//!
//! Everything here runs in the child before `kernel_init`, except the checksum choice.

use super::abi::Zpool;
use super::kstats::Counters;
use super::library::{Library, Release};
use super::shim;
use crate::Bytes;
use crate::spec::Setup;
use serde::{Deserialize, Serialize};
use std::ffi::{c_char, c_int};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// A distortion, what is done about it, and whether that worked here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cure {
    pub distortion: String,
    pub cure: String,
    pub applied: bool,
}

fn cure(distortion: &str, cure: &str, applied: bool) -> Cure {
    Cure { distortion: distortion.into(), cure: cure.into(), applied }
}

#[cfg(target_env = "gnu")]
const HEAP: Bytes = Bytes(32 << 20);
#[cfg(target_env = "gnu")]
const HEAP_STEP: Bytes = Bytes(256 << 20);

/// Makes glibc keep and reuse the memory of ARC buffers instead of mapping each one again.
pub fn tame_malloc() -> Cure {
    cure("glibc maps and unmaps every large buffer", "mallopt keeps them in one heap", set_malloc_options())
}

#[cfg(target_env = "gnu")]
fn set_malloc_options() -> bool {
    // SAFETY: sets parameters of the allocator; called before any other thread exists.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, HEAP.0 as c_int) == 1
            && libc::mallopt(libc::M_TRIM_THRESHOLD, -1) == 1
            && libc::mallopt(libc::M_TOP_PAD, HEAP_STEP.0 as c_int) == 1
            && libc::mallopt(libc::M_ARENA_MAX, 1) == 1
    }
}

/// Other C libraries have no such options; a static program opens no libzpool anyway.
#[cfg(not(target_env = "gnu"))]
fn set_malloc_options() -> bool {
    false
}

/// What a run keeps in memory.
pub struct Memory {
    /// Data, in whole pages.
    pub data: Bytes,
    /// What describes it, in pieces of a few hundred bytes.
    pub small: Bytes,
}

/// Keeps memory as a kernel does, and touches what a run will need, so that neither the search for pages nor page
/// faults fall into the measured steps. Touches at most half of what the host has to spare.
pub fn memory(needed: &Memory) -> [Cure; 2] {
    let spare = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| available_memory(&text));
    let mut left = spare.map_or(0, |b| b.0 / 2);
    let mut some_of = |wanted: u64| {
        let touched = wanted.min(left);
        left -= touched;
        touched
    };
    let data = some_of(needed.data.0);
    let pages = shim::pages(PAGES, Bytes(data));
    let small = some_of(needed.small.0);
    let heap = if pages { small } else { small + data };
    touch_heap(heap);
    let touched = format!("{} MB of memory touched beforehand", (data + small) / 1_000_000);
    [
        cure(
            "each page is searched for in one heap under one lock, and mapped by itself",
            "whole pages come from lists of free ones, in large pages",
            pages,
        ),
        cure(
            "the first use of each page costs a page fault",
            &touched,
            data + small == needed.data.0 + needed.small.0,
        ),
    ]
}

/// Addresses for whole pages; memory is taken as far as they are used.
const PAGES: Bytes = Bytes(64 << 30);

fn touch_heap(bytes: u64) {
    const PIECE: usize = 1 << 20;
    const PAGE: usize = 4096;
    let mut pieces: Vec<Vec<u8>> = Vec::new();
    for _ in 0..bytes / PIECE as u64 {
        let mut piece: Vec<u8> = Vec::with_capacity(PIECE);
        for page in piece.spare_capacity_mut().iter_mut().step_by(PAGE) {
            page.write(1);
        }
        pieces.push(piece);
    }
    std::hint::black_box(&pieces);
}

fn available_memory(meminfo: &str) -> Option<Bytes> {
    let line = meminfo.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(Bytes(kib * 1024))
}

/// Variables of the library, and the interposers.
pub fn apply(zpool: &Zpool, library: &Library, setup: &Setup, vdev_prefix: &Path) -> Vec<Cure> {
    let release = library.info.release;
    let direct = direct_io_works(vdev_prefix);
    // Since 2.3 libzpool names its own threads.
    let name_threads = release < Release::V2_3;
    let pages = setup.memory.0 / rustix::param::page_size() as u64;
    let taskq_create = zpool.address("taskq_create").unwrap_or(std::ptr::null_mut());
    shim::count_stages(zpool.address("zio_compress_data"), zpool.address("zio_decompress_data"));
    shim::vdevs(vdev_prefix, direct);
    let shim = shim::configure(pages, name_threads, taskq_create);
    let flags = set_variable(zpool, "zfs_flags", 0_i32);
    // A maximum below the minimum is ignored, and in user space the minimum is half of the default maximum.
    let arc = set_variable(zpool, "zfs_arc_max", setup.arc_max.0)
        && set_variable(zpool, "zfs_arc_min", (setup.arc_max.0 / 2).max(LEAST_ARC));
    let worst = asize_inflation(setup);
    let mut cures = vec![
        cure("builds of distributions switch on debug checks", "zfs_flags = 0", flags),
        cure("the page cache under file vdevs", "vdev files opened with O_DIRECT", shim && direct),
        cure("each vdev write is split at random", "rand() made 0, so one write stays one", shim),
        cure(
            ARC_SIZE,
            &format!("host shown with {} of memory, zfs_arc_max = {}", setup.memory, setup.arc_max),
            shim && arc,
        ),
        cure("memory pressure is reported at random", "no memory pressure reported", shim),
        cure(
            "a write reserves 24 times its size, so that a small pool commits a txg for every few MB",
            &format!("spa_asize_inflation = {worst}, what this pool's layout can need"),
            set_variable(zpool, "spa_asize_inflation", worst),
        ),
    ];
    cures.push(match name_threads {
        true => cure("threads carry no names", "threads named after their task queue", shim),
        false => {
            cure("threads with long names carry none", "names cut at 15 characters, as Linux does", shim)
        }
    });
    cures
}

/// The most that a block takes on disk, as OpenZFS counts it (`spa_asize_inflation`, spa_misc.c): its parity and copies, and
/// twice that for what `ddt_sync` may store with more copies. OpenZFS takes the worst of all layouts, and that is kept where
/// a small block fills a row of disks.
fn asize_inflation(setup: &Setup) -> i32 {
    const WORST: i32 = 24;
    if setup.layout.draid(setup.disks).is_some() {
        return WORST;
    }
    let copies = setup.property("copies").parse::<i32>().unwrap_or(1).clamp(1, 3);
    let parity = i32::try_from(setup.layout.redundant(setup.disks)).unwrap_or(WORST);
    ((parity + 1) * copies * 2).min(WORST)
}

const ARC_SIZE: &str = "the ARC is sized from all memory of the host";
/// The least that OpenZFS takes as `zfs_arc_min` (two blocks of the largest size, arc.c).
const LEAST_ARC: u64 = 32 << 20;

/// Whether OpenZFS took the limit of the ARC, once it runs: one that does not fit is ignored without a word.
pub fn confirm_arc(cures: &mut [Cure], setup: &Setup) {
    let taken = Counters::read().value("arcstats.c_max");
    for cure in cures.iter_mut().filter(|cure| cure.distortion == ARC_SIZE) {
        cure.applied &= taken.and_then(|bytes| u64::try_from(bytes).ok()) == Some(setup.arc_max.0);
    }
}

fn set_variable<T>(zpool: &Zpool, name: &str, value: T) -> bool {
    match zpool.address(name) {
        // SAFETY: a variable of that type in all accepted releases; no OpenZFS thread runs yet.
        Some(address) => unsafe {
            address.cast::<T>().write(value);
            true
        },
        None => false,
    }
}

/// tmpfs of older kernels and some FUSE file systems refuse O_DIRECT.
fn direct_io_works(prefix: &Path) -> bool {
    let probe = prefix.with_extension("probe");
    let opened =
        std::fs::OpenOptions::new().write(true).create(true).custom_flags(libc::O_DIRECT).open(&probe);
    let works = opened.is_ok();
    // Not made when the open failed.
    let _ = std::fs::remove_file(&probe);
    works
}

/// `zfs_impl_t`: how 2.2 and later choose an implementation of a checksum.
#[repr(C)]
struct Implementations {
    name: *const c_char,
    count: unsafe extern "C" fn() -> u32,
    id: unsafe extern "C" fn() -> u32,
    current: unsafe extern "C" fn() -> *const c_char,
    set_fastest: unsafe extern "C" fn(u32),
    set_id: unsafe extern "C" fn(u32),
    set_name: unsafe extern "C" fn(*const c_char) -> c_int,
}

/// The kernel benchmarks these at load; user space leaves them at generic C.
pub fn choose_checksums(zpool: &Zpool) -> Option<Cure> {
    /// The best first.
    const BEST: [(&str, &[&str]); 3] = [
        ("sha256", &["shani", "armv8-ce", "avx2", "avx", "ssse3", "x64"]),
        ("sha512", &["armv8-ce", "avx2", "avx", "x64"]),
        ("blake3", &["avx512", "avx2", "sse41", "sse2"]),
    ];
    zpool.address("zfs_impl_get_ops")?;
    let mut chosen = Vec::new();
    for (checksum, names) in BEST {
        if let Some(best) = names.iter().find(|name| set_checksum(zpool, checksum, name) == Some(0)) {
            chosen.push(format!("{checksum} {best}"));
        }
    }
    let what = if chosen.is_empty() { "nothing better offered".into() } else { chosen.join(", ") };
    Some(cure("checksums stay at generic C", &what, !chosen.is_empty()))
}

/// Chooses an implementation of a checksum; an error number for a name that this release or processor does
/// not have, `None` where the release has no choice.
pub fn set_checksum(zpool: &Zpool, checksum: &str, name: &str) -> Option<c_int> {
    type GetOps = unsafe extern "C" fn(*const c_char) -> *const Implementations;
    let address = zpool.address("zfs_impl_get_ops")?;
    let (checksum, name) = (super::nvlist::c_string(checksum), super::nvlist::c_string(name));
    // SAFETY: exists from 2.2 on with this signature; looks a name up in a table, and refuses what this
    // processor does not support with an error.
    unsafe {
        let get_ops: GetOps = std::mem::transmute(address);
        let ops = get_ops(checksum.as_ptr()).as_ref()?;
        Some((ops.set_name)(name.as_ptr()))
    }
}

/// What no cure removes. In every result, so that nobody takes the figures for those of a kernel.
pub fn remaining(cures: &[Cure], release: Release) -> Vec<String> {
    let mut list: Vec<String> = [
        "kfpu_begin and kfpu_end are empty in user space: the kernel pays for saving the FPU state on top",
        "the application calls the DMU directly: no system call, no VFS, no ZPL, no page cache",
        "locks are pthread mutexes and small pieces of memory are malloc, not the kernel's spin locks and slabs",
        "vdevs are files, so a write or read is a system call into another file system",
        "random numbers (of each encrypted block, for one) are read from /dev/urandom",
        "assertions that the distribution compiled in stay",
    ]
    .map(String::from)
    .to_vec();
    if release < Release::V2_2 {
        list.push("checksums other than fletcher4 are generic C: 2.1 has no choice".into());
    }
    list.extend(
        cures.iter().filter(|c| !c.applied).map(|c| format!("{} (no cure here: {})", c.distortion, c.cure)),
    );
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meminfo_is_read_in_kib() {
        assert_eq!(available_memory("MemTotal: 9 kB\nMemAvailable:    2048 kB\n"), Some(Bytes(2 << 20)));
        assert_eq!(available_memory("MemTotal: 9 kB\n"), None);
    }

    #[test]
    fn a_layout_reserves_what_it_can_need_and_never_more_than_openzfs() {
        let of = |text: &str| {
            let table: toml::Table = text.parse().unwrap();
            asize_inflation(&Setup::of(table.iter().map(|(k, v)| (k.as_str(), v))).unwrap())
        };
        assert_eq!(of(""), 2);
        assert_eq!(of("copies = 3"), 6);
        assert_eq!(of("layout = \"mirror\"\ndisks = 2"), 4);
        assert_eq!(of("layout = \"raidz3\"\ndisks = 6\ncopies = 3"), 24);
        assert_eq!(of("layout = \"draid1\"\ndisks = 9"), 24);
    }

    #[test]
    fn a_cure_that_failed_is_a_distortion_that_remains() {
        let cures = [cure("page cache", "O_DIRECT", false), cure("heap", "mallopt", true)];
        let left = remaining(&cures, Release::V2_3);
        assert!(left.iter().any(|l| l.contains("page cache")));
        assert!(!left.iter().any(|l| l.contains("mallopt")));
    }
}
