//! Rows of `zpool iostat -Hplqv`: how long I/O of a pool or vdev takes and waits, and what stands in its queues.
//!
//! Layout (`print_vdev_stats`, `print_iostat_latency` and `print_iostat_queues` of cmd/zpool/zpool_main.c): a name,
//! then numbers behind tabs: two of capacity, four rates a second, mean latencies in nanoseconds over the interval
//! (`-` without any I/O), and how many requests are waiting and under way when it is printed. OpenZFS 0.7 has no trim,
//! and no release before 2.2 the queue of rebuilds; which there are is told by how many numbers there are.

/// What a row tells, in the order of [`row_of_iostat`]: operations a second, nanoseconds, requests; each with the column of
/// pasted tables that it stands in (`knowledge/tools/zpool-iostat.toml`).
pub const IOSTAT: [(&str, &str); 27] = [
    ("reads_s", "r op"),
    ("writes_s", "w op"),
    ("total_read_ns", "total_wait read ns"),
    ("total_write_ns", "total_wait write ns"),
    ("disk_read_ns", "disk_wait read ns"),
    ("disk_write_ns", "disk_wait write ns"),
    ("syncq_read_ns", "syncq_wait read ns"),
    ("syncq_write_ns", "syncq_wait write ns"),
    ("asyncq_read_ns", "asyncq_wait read ns"),
    ("asyncq_write_ns", "asyncq_wait write ns"),
    ("scrubq_ns", "scrub wait ns"),
    ("trimq_ns", "trim wait ns"),
    ("rebuildq_ns", "rebuild wait ns"),
    ("syncq_read_pending", "syncq_read pend"),
    ("syncq_read_active", "syncq_read activ"),
    ("syncq_write_pending", "syncq_write pend"),
    ("syncq_write_active", "syncq_write activ"),
    ("asyncq_read_pending", "asyncq_read pend"),
    ("asyncq_read_active", "asyncq_read activ"),
    ("asyncq_write_pending", "asyncq_write pend"),
    ("asyncq_write_active", "asyncq_write activ"),
    ("scrubq_pending", "scrubq_read pend"),
    ("scrubq_active", "scrubq_read activ"),
    ("trimq_pending", "trimq_write pend"),
    ("trimq_active", "trimq_write activ"),
    ("rebuildq_pending", "rebuildq_write pend"),
    ("rebuildq_active", "rebuildq_write activ"),
];

/// The names of [`IOSTAT`].
pub const IOSTAT_NAMES: [&str; IOSTAT.len()] = {
    let mut names = [""; IOSTAT.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = IOSTAT[at].0;
        at += 1;
    }
    names
};

/// Columns before the latencies: the name, capacity, operations and bandwidth.
const BEFORE: usize = 7;
/// Queues by release: up to scrub, trim, rebuild.
const QUEUES: [usize; 3] = [5, 6, 7];
/// Latencies beside those of the queues of scrub, trim and rebuild.
const LATENCIES: usize = 8;
/// Where these begin in [`IOSTAT_NAMES`].
const FIRST_LATENCY: usize = 2;
const FIRST_QUEUE: usize = 13;

/// A row's name and its values, each with its name of [`IOSTAT_NAMES`]; 0 for no I/O of that kind. `None` of a line
/// that is none of these.
pub fn row_of_iostat(line: &str) -> Option<(&str, Vec<(&'static str, i64)>)> {
    let cells: Vec<&str> = line.trim_end_matches(['\r', '\n']).split('\t').collect();
    let wide = |queues: &usize| BEFORE + LATENCIES + queues - 4 + 2 * queues;
    let queues = QUEUES.into_iter().find(|queues| cells.len() == wide(queues))?;
    let number = |cell: &&str| if *cell == "-" { Some(0) } else { cell.parse().ok() };
    let numbers: Vec<i64> = cells[1..].iter().map(number).collect::<Option<_>>()?;
    if cells[0].is_empty() || numbers.iter().any(|n| *n < 0) {
        return None;
    }
    let latencies = LATENCIES + queues - 4;
    let (rates, rest) = (&numbers[2..4], &numbers[BEFORE - 1..]);
    let named = |from: usize, values: &[i64]| {
        IOSTAT_NAMES[from..].iter().copied().zip(values.iter().copied()).collect::<Vec<_>>()
    };
    let mut values = named(0, rates);
    values.extend(named(FIRST_LATENCY, &rest[..latencies]));
    values.extend(named(FIRST_QUEUE, &rest[latencies..]));
    Some((cells[0], values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// As OpenZFS 2.1 and 2.3 print a disk.
    const OF_2_1: &str = "nvme0n1\t0\t0\t812\t12\t3325952\t98304\t1203000\t421000\t301000\t400000\t900000\t1536\t-\t2048\t-\t-\t\
                          40\t10\t0\t0\t0\t0\t3\t1\t0\t0\t0\t0";
    const OF_2_3: &str = "nvme0n1\t0\t0\t812\t12\t3325952\t98304\t1203000\t421000\t301000\t400000\t900000\t1536\t-\t2048\t-\t-\t-\t\
                          40\t10\t0\t0\t0\t0\t3\t1\t0\t0\t0\t0\t7\t1";

    fn value(line: &str, name: &str) -> Option<i64> {
        let (_, values) = row_of_iostat(line)?;
        values.into_iter().find(|(of, _)| *of == name).map(|(_, value)| value)
    }

    #[test]
    fn rows_of_all_releases_have_the_same_names() {
        for line in [OF_2_1, OF_2_3] {
            assert_eq!(row_of_iostat(line).unwrap().0, "nvme0n1");
            for (name, want) in [
                ("reads_s", 812),
                ("writes_s", 12),
                ("total_read_ns", 1_203_000),
                ("disk_read_ns", 301_000),
                ("syncq_read_ns", 900_000),
                ("asyncq_read_ns", 0),
                ("asyncq_write_ns", 2048),
                ("syncq_read_pending", 40),
                ("syncq_read_active", 10),
                ("asyncq_write_pending", 3),
                ("trimq_active", 0),
            ] {
                assert_eq!(value(line, name), Some(want), "{name}");
            }
        }
        assert_eq!((value(OF_2_1, "rebuildq_active"), value(OF_2_3, "rebuildq_pending")), (None, Some(7)));
        // 0.7 knows no trim.
        let old = format!("tank{}{}", "\t1".repeat(6 + 9), "\t2".repeat(10));
        assert_eq!((value(&old, "scrubq_ns"), value(&old, "scrubq_active")), (Some(1), Some(2)));
        assert_eq!(value(&old, "trimq_active"), None);
    }

    #[test]
    fn other_lines_are_none() {
        for line in
            ["", "1795469041", "no pools available", "tank\t1\t2\t3\t4\t5\t6", &OF_2_1.replace("812", "-3")]
        {
            assert_eq!(row_of_iostat(line), None, "{line}");
        }
    }

    proptest! {
        #[test]
        fn any_line_is_survived(line in "[ -~\t]{0,300}", cells in prop::collection::vec("[-0-9a]{0,21}", 20..40)) {
            let _ = row_of_iostat(&line);
            let _ = row_of_iostat(&cells.join("\t"));
        }
    }
}
