//! What OpenZFS counts, from /proc/spl/kstat/zfs: the totals, and those of the pool.

use super::host::Roots;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Tables with sums; others list single buffers or messages, and reading them is work of its own.
const TABLES: [&str; 10] = [
    "abdstats",
    "arcstats",
    "brtstats",
    "dbufstats",
    "dmu_tx",
    "dnodestats",
    "metaslab_stats",
    "vdev_mirror_stats",
    "zfetchstats",
    "zil",
];
/// A table of the pool, since OpenZFS 2.3.
const POOL_TABLE: &str = "iostats";
/// Counters of the lab that are one of OpenZFS here.
const SAME: [(&str, &str); 2] = [
    ("lab.direct_read_bytes", "iostats.direct_read_bytes"),
    ("lab.direct_write_bytes", "iostats.direct_write_bytes"),
];
/// Those that only the interposers of the engine in user space can count.
pub const NEVER: [&str; 2] = ["lab.compressed", "lab.decompressed"];

/// All counters at one time, `arcstats.hits`.
pub struct Counters(BTreeMap<String, i64>);

impl Counters {
    pub fn read(roots: &Roots, pool: &str) -> Counters {
        let folder = roots.proc.join("spl/kstat/zfs");
        let mut counters = BTreeMap::new();
        let own = folder.join(pool).join(POOL_TABLE);
        let tables = TABLES.iter().map(|table| (*table, folder.join(table))).chain([(POOL_TABLE, own)]);
        for (table, path) in tables {
            let text = fs::read_to_string(path).unwrap_or_default();
            // Two lines of head; then name, type and value.
            for line in text.lines().skip(2) {
                let mut fields = line.split_whitespace();
                let (name, value) = (fields.next(), fields.nth(1).and_then(|v| v.parse::<u64>().ok()));
                if let (Some(name), Some(value)) = (name, value) {
                    counters.insert(format!("{table}.{name}"), value.cast_signed());
                }
            }
        }
        for (name, same) in SAME {
            if let Some(value) = counters.get(same).copied() {
                counters.insert(name.to_owned(), value);
            }
        }
        Counters(counters)
    }

    /// What changed until `end`.
    pub fn until(&self, end: &Counters) -> BTreeMap<String, i64> {
        let change = |(name, value): (&String, &i64)| {
            (name.clone(), value.wrapping_sub(self.0.get(name).copied().unwrap_or(0)))
        };
        end.0.iter().map(change).filter(|(_, change)| *change != 0).collect()
    }

    /// Counters of the lab that are not counted here.
    pub fn missing(&self) -> BTreeSet<String> {
        let same = SAME.iter().map(|(name, _)| *name).filter(|name| !self.0.contains_key(*name));
        NEVER.into_iter().chain(same).map(str::to_owned).collect()
    }
}

/// Writes whose memory changed while they were under way: the column DIO of `zpool status -dp` (the most of any vdev, as
/// each row has its own), and events in the list of `zpool events -H`. Releases without them have nothing.
pub fn caught(status: &str, events: &str) -> BTreeMap<String, i64> {
    let mut rows = status.lines().map(|line| line.split_whitespace().collect::<Vec<&str>>());
    let column = rows.find_map(|row| {
        (row.first() == Some(&"NAME")).then(|| row.iter().position(|head| *head == "DIO")).flatten()
    });
    let errors =
        column.map(|column| rows.filter_map(|row| row.get(column)?.parse::<i64>().ok()).max().unwrap_or(0));
    let posted = events.lines().filter(|line| line.contains("dio_verify_wr")).count() as i64;
    let counted = [("lab.dio_verify_errors", errors), ("lab.dio_verify_events", errors.map(|_| posted))];
    counted.into_iter().filter_map(|(name, count)| Some((name.to_owned(), count?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caught_writes_are_in_the_column_of_the_vdev_and_in_the_events() {
        let status = "  pool: p\n state: ONLINE\nconfig:\n\n\tNAME  STATE READ WRITE CKSUM DIO\n\tp ONLINE 0 0 0 -\n\t  \
                      nvme0n1p1 ONLINE 0 0 0 3\n\nerrors: No known data errors\n";
        let events = "Nov 1 2026 ereport.fs.zfs.dio_verify_wr\nNov 1 2026 sysevent.fs.zfs.config_sync\n";
        let both = caught(status, events);
        assert_eq!((both["lab.dio_verify_errors"], both["lab.dio_verify_events"]), (3, 1));
        assert!(caught("NAME STATE READ WRITE CKSUM\np ONLINE 0 0 0\n", events).is_empty());
    }

    #[test]
    fn tables_are_read_and_what_grew_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let roots = Roots { proc: dir.path().into(), sys: dir.path().into() };
        let folder = dir.path().join("spl/kstat/zfs/zwhy-lab-1");
        fs::create_dir_all(&folder).unwrap();
        let write = |hits: u64, direct: u64| {
            let head = "9 1 0x01 2 96 1 2\nname type data\n";
            fs::write(folder.join("../arcstats"), format!("{head}hits 4 {hits}\nsize 4 5\n")).unwrap();
            fs::write(folder.join("iostats"), format!("{head}direct_read_bytes 4 {direct}\n")).unwrap();
        };
        write(3, 0);
        let before = Counters::read(&roots, "zwhy-lab-1");
        write(10, 4096);
        let grown = before.until(&Counters::read(&roots, "zwhy-lab-1"));
        let expected =
            [("arcstats.hits", 7), ("iostats.direct_read_bytes", 4096), ("lab.direct_read_bytes", 4096)];
        assert_eq!(grown, expected.map(|(name, n)| (name.to_owned(), n)).into());
        assert!(
            before.missing().contains("lab.decompressed")
                && !before.missing().contains("lab.direct_read_bytes")
        );
        assert!(Counters::read(&roots, "other").missing().contains("lab.direct_read_bytes"));
    }
}
