//! Memory of the host: `meminfo` (bytes), `vmstat` (counters of reclaim and compaction) and
//! `pressure/cpu|io|memory|irq` (nanoseconds stalled).

use crate::series_pen::SeriesPen;
use std::path::Path;
use zwhy_capture::SeriesKind;
use zwhy_host::{named_numbers, read_cut};
use zwhy_profile::Nanos;

/// Rows of /proc/meminfo that say who has the memory.
const MEMINFO: &str = "MemTotal MemFree MemAvailable Buffers Cached SwapCached SwapTotal SwapFree Zswap \
    Dirty Writeback AnonPages AnonHugePages Mapped Shmem Slab SReclaimable SUnreclaim KernelStack PageTables \
    VmallocUsed";

/// Beginnings of /proc/vmstat counters: reclaim, compaction, swap and what they were called for.
const VMSTAT: &str = "pgscan_ pgsteal_ allocstall oom_kill compact_ kswapd_ pageoutrun pgmajfault pswpin \
    pswpout slabs_scanned drop_ pginodesteal thp_fault_alloc thp_fault_fallback workingset_refault zone_reclaim_";

pub(super) fn poll(proc_root: &Path, t: Nanos, pen: &mut SeriesPen) {
    let mut named = |file: &str, kind, wanted: fn(&str) -> bool| {
        let text = read_cut(&proc_root.join(file)).unwrap_or_default();
        for (name, value) in named_numbers(&text).filter(|(name, _)| wanted(name)) {
            pen.put(t, file, name, kind, value);
        }
    };
    named("meminfo", SeriesKind::Gauge, |name| MEMINFO.split(' ').any(|known| known == name));
    named("vmstat", SeriesKind::Counter, |name| VMSTAT.split(' ').any(|start| name.starts_with(start)));
    for resource in ["cpu", "io", "memory", "irq"] {
        // Absent where the kernel was built or booted without pressure stall information.
        let Ok(text) = read_cut(&proc_root.join("pressure").join(resource)) else { continue };
        for (name, stalled_ns) in text.lines().filter_map(pressure_line) {
            pen.put(t, &format!("pressure/{resource}"), name, SeriesKind::Counter, stalled_ns);
        }
    }
}

/// `some avg10=0.00 avg60=0.00 avg300=0.00 total=123`, total in microseconds
/// (Documentation/accounting/psi.rst of Linux).
fn pressure_line(line: &str) -> Option<(&'static str, i64)> {
    let mut words = line.split_ascii_whitespace();
    let name = match words.next()? {
        "some" => "some_ns",
        "full" => "full_ns",
        _ => return None,
    };
    let total = words.find_map(|w| w.strip_prefix("total="))?.parse::<i64>().ok()?;
    Some((name, total.checked_mul(1000)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn useful_rows_are_taken_in_bytes_and_nanoseconds() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("pressure")).unwrap();
        fs::write(root.path().join("meminfo"), "MemTotal: 100 kB\nDirectMap4k: 1 kB\n").unwrap();
        fs::write(root.path().join("vmstat"), "nr_free_pages 5\npgscan_direct 6\npgscan_direct_throttle 7\n")
            .unwrap();
        let memory = "some avg10=1.00 avg60=0.00 avg300=0.00 total=12\nfull avg10=0 total=3\nodd total=9\n";
        fs::write(root.path().join("pressure/memory"), memory).unwrap();
        let mut pen = SeriesPen::default();
        poll(root.path(), Nanos(5), &mut pen);
        let rows: Vec<_> = pen.series.iter().map(|r| (r.source, r.name, r.kind, r.value)).collect();
        assert_eq!(
            rows,
            [
                ("meminfo", "MemTotal", SeriesKind::Gauge, 102_400),
                ("vmstat", "pgscan_direct", SeriesKind::Counter, 6),
                ("vmstat", "pgscan_direct_throttle", SeriesKind::Counter, 7),
                ("pressure/memory", "some_ns", SeriesKind::Counter, 12_000),
                ("pressure/memory", "full_ns", SeriesKind::Counter, 3_000),
            ]
        );
    }
}
