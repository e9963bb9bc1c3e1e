//! Memory of SPL's caches from /proc/spl/kmem/slab: source `slab`, one gauge in bytes a cache.
//!
//! Layout: `module/os/linux/spl/spl-proc.c`, `slab_seq_show` (OpenZFS 2.3). Caches that the kernel's
//! own allocator backs have no size of their own; there the bytes of their objects are taken.

use crate::series_pen::SeriesPen;
use std::path::Path;
use zwhy_capture::SeriesKind;
use zwhy_host::read_cut;
use zwhy_profile::Nanos;

pub(super) fn poll(proc_root: &Path, t: Nanos, pen: &mut SeriesPen) {
    let Ok(text) = read_cut(&proc_root.join("spl/kmem/slab")) else { return };
    for (name, bytes) in text.lines().filter_map(cache_line) {
        pen.put(t, "slab", name, SeriesKind::Gauge, bytes);
    }
}

/// `name flags size alloc …`, a hyphen where a column does not apply.
fn cache_line(line: &str) -> Option<(&str, i64)> {
    let mut words = line.split_ascii_whitespace();
    let (name, flags) = (words.next()?, words.next()?);
    let (size, alloc) = (words.next()?, words.next()?);
    let hexadecimal = flags.strip_prefix("0x").is_some_and(|f| u64::from_str_radix(f, 16).is_ok());
    let bytes = if size == "-" { alloc } else { size };
    if hexadecimal { Some((name, bytes.parse().ok()?)) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_holds_its_slabs_or_its_objects() {
        let own = "ddt_cache     0x00080    468992    234112   234496    29264      2     1     1     16     8     8      0     0     0";
        assert_eq!(cache_line(own), Some(("ddt_cache", 468_992)));
        let kernels = "zfs_btree_leaf_cache  0x00100         -    126976        -     4096      -     -     -      -    31     -";
        assert_eq!(cache_line(kernels), Some(("zfs_btree_leaf_cache", 126_976)));
        assert_eq!(cache_line("name                flags      size     alloc slabsize"), None);
        assert_eq!(cache_line("------- cache ------  ----- slab ------"), None);
    }
}
