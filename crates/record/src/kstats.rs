//! Kstats as series: every number of the cheap files below /proc/spl/kstat/zfs, as it is.
//!
//! The source of a row is the file's path below the root (`arcstats`, `tank/iostats`). Files that
//! cost much or are no numbers are left out. A file may come, go or change its layout at any time.

use crate::series_pen::SeriesPen;
use rustc_hash::FxHashMap;
use std::fs;
use std::path::{Path, PathBuf};
use zwhy_capture::SeriesKind;
use zwhy_profile::Nanos;
use zwhy_zfs::{Kstat, Value, parse_kstat};

/// Never polled: `dbufs` walks every cached block, the others are text or benchmarks.
const LEFT_OUT: [&str; 9] = [
    "dbufs",
    "dbgmsg",
    "fletcher_4_bench",
    "vdev_raidz_bench",
    "chksum_bench",
    "reads",
    "multihost",
    "guid",
    "state",
];
/// A host with more files than this (10,000 datasets) has its later ones left out, and says so.
const MOST_FILES: usize = 512;
/// Readings between two looks for new files.
const RESCAN: u32 = 10;
/// No kstat that is read is larger; a larger one is cut.
const LONGEST: usize = 256 << 10;

pub(crate) struct KstatPoller {
    root: PathBuf,
    files: Vec<(String, PathBuf)>,
    /// Newest transaction group seen, by source.
    newest_txg: FxHashMap<String, i64>,
    until_rescan: u32,
    /// Files that were left out because there are too many.
    pub skipped: usize,
}

impl KstatPoller {
    pub(crate) fn new(root: &Path) -> KstatPoller {
        KstatPoller {
            root: root.to_owned(),
            files: Vec::new(),
            newest_txg: FxHashMap::default(),
            until_rescan: 0,
            skipped: 0,
        }
    }

    pub(crate) fn poll(&mut self, t: Nanos, pen: &mut SeriesPen) {
        if self.until_rescan == 0 {
            self.until_rescan = RESCAN;
            self.scan(pen);
        }
        self.until_rescan -= 1;
        let mut gone = Vec::new();
        for (source, path) in &self.files {
            match read_cut(path).as_deref().map(parse_kstat) {
                Some(Ok(Kstat::Named { values, .. })) => {
                    for value in &values {
                        if let (Some(number), false) = (value.value.number(), constant(&value.value)) {
                            pen.put(t, source, &value.name, kind(source, &value.name), number);
                        }
                    }
                }
                Some(Ok(Kstat::Table { columns, rows })) if source.ends_with("/txgs") => {
                    let newest = self.newest_txg.entry(source.clone()).or_insert(0);
                    txg_rows(t, source, &columns, &rows, newest, pen);
                }
                Some(_) => {}
                None => gone.push(source.clone()),
            }
        }
        for source in gone {
            pen.end(&source);
            self.files.retain(|(s, _)| *s != source);
            self.until_rescan = 0;
        }
    }

    fn scan(&mut self, pen: &mut SeriesPen) {
        let mut files = Vec::new();
        for (name, path) in entries(&self.root) {
            if path.is_dir() {
                files.extend(entries(&path).into_iter().map(|(file, path)| (format!("{name}/{file}"), path)));
            } else {
                files.push((name, path));
            }
        }
        files.retain(|(source, path)| {
            let name = source.rsplit('/').next().unwrap_or(source);
            !LEFT_OUT.contains(&name) && path.is_file()
        });
        // Per-dataset files last: they are the many.
        files.sort_by_key(|(source, _)| (source.contains("/objset-"), source.clone()));
        self.skipped = files.len().saturating_sub(MOST_FILES);
        files.truncate(MOST_FILES);
        for (source, _) in &self.files {
            if !files.iter().any(|(s, _)| s == source) {
                pen.end(source);
            }
        }
        self.files = files;
    }
}

fn entries(folder: &Path) -> Vec<(String, PathBuf)> {
    let listed = fs::read_dir(folder).into_iter().flatten().flatten();
    listed.filter_map(|e| Some((e.file_name().into_string().ok()?, e.path()))).collect()
}

/// Text values and the like say nothing as a series.
fn constant(value: &Value) -> bool {
    matches!(value, Value::Text(_))
}

/// Whether a value only grows. Sizes and states of ZFS's kstats go both ways.
fn kind(source: &str, name: &str) -> SeriesKind {
    const STATES: [&str; 12] = [
        "c",
        "p",
        "pd",
        "pm",
        "meta",
        "size",
        "c_min",
        "c_max",
        "hash_elements",
        "hash_chains",
        "hash_chain_max",
        "hash_elements_max",
    ];
    let arc = source == "arcstats" && STATES.contains(&name);
    let size = name.ends_with("_size")
        || name.ends_with("_count_max")
        || name.contains("evictable")
        || name.starts_with("memory_a")
        || name.starts_with("memory_free")
        || name.starts_with("arc_")
        || name.starts_with("cache_size")
        || name.starts_with("cache_count")
        || name.starts_with("cache_level")
        || name.starts_with("hash_")
        || source == "abdstats" && !name.contains("borrow");
    if arc || size { SeriesKind::Gauge } else { SeriesKind::Counter }
}

/// One reading for each transaction group that is synced and was not seen before.
fn txg_rows(
    t: Nanos,
    source: &str,
    columns: &[String],
    rows: &[Vec<String>],
    newest: &mut i64,
    pen: &mut SeriesPen,
) {
    let column = |name: &str| columns.iter().position(|c| c == name);
    let (Some(txg), Some(state)) = (column("txg"), column("state")) else { return };
    for row in rows.iter().filter(|row| row.get(state).is_some_and(|s| s == "C")) {
        let Some(id) = row.get(txg).and_then(|text| text.parse::<i64>().ok()).filter(|id| *id > *newest)
        else {
            continue;
        };
        *newest = id;
        for (name, value) in columns.iter().zip(row) {
            if let (Ok(value), true) = (value.parse(), name != "birth") {
                pen.put(t, source, name, SeriesKind::Gauge, value);
            }
        }
    }
}

fn read_cut(path: &Path) -> Option<String> {
    let mut bytes = fs::read(path).ok()?;
    bytes.truncate(LONGEST);
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(values: &[(&str, u64)]) -> String {
        let lines: String = values.iter().map(|(n, v)| format!("{n:<31} 4    {v}\n")).collect();
        format!("9 1 0x01 4 1088 5077712498 103811234573\nname type data\n{lines}")
    }

    fn rows(pen: &mut SeriesPen) -> Vec<(i64, String, String, i64)> {
        let rows = pen.series.iter().map(|r| (r.t.0, r.source.into(), r.name.into(), r.value)).collect();
        pen.series.clear();
        rows
    }

    #[test]
    fn files_may_come_go_and_change() {
        let root = tempfile::tempdir().unwrap();
        let arcstats = root.path().join("arcstats");
        fs::write(&arcstats, named(&[("hits", 1), ("size", 9)])).unwrap();
        fs::write(root.path().join("dbufs"), named(&[("never", 1)])).unwrap();
        let (mut poller, mut pen) = (KstatPoller::new(root.path()), SeriesPen::default());
        poller.poll(Nanos(0), &mut pen);
        assert_eq!(
            rows(&mut pen),
            [(0, "arcstats".into(), "hits".into(), 1), (0, "arcstats".into(), "size".into(), 9)]
        );

        let pool = root.path().join("tank");
        fs::create_dir(&pool).unwrap();
        fs::write(pool.join("iostats"), named(&[("direct_read_bytes", 4096)])).unwrap();
        fs::write(pool.join("state"), "ONLINE\n").unwrap();
        let header =
            "0 0 0x01 -1 0 1 2\ntxg birth state ndirty nread nwritten reads writes otime qtime wtime stime\n";
        let txgs = format!("{header}7 99 C 1 2 3 4 5 6 7 8 9\n8 99 S 0 0 0 0 0 0 0 0 0\n");
        fs::write(pool.join("txgs"), txgs).unwrap();
        fs::remove_file(&arcstats).unwrap();
        poller.poll(Nanos(1), &mut pen);
        poller.poll(Nanos(2), &mut pen);
        let seen = rows(&mut pen);
        assert!(seen.contains(&(2, "tank/iostats".into(), "direct_read_bytes".into(), 4096)), "{seen:?}");
        assert!(seen.contains(&(2, "tank/txgs".into(), "stime".into(), 9)), "{seen:?}");
        assert!(!seen.iter().any(|r| r.1 == "tank/state" || r.1 == "dbufs" || r.3 == 8 && r.2 == "txg"));
        poller.poll(Nanos(3), &mut pen);
        assert!(rows(&mut pen).is_empty(), "nothing changed");
    }

    #[test]
    fn an_absent_root_is_no_error() {
        let (mut poller, mut pen) = (KstatPoller::new(Path::new("/nonexistent")), SeriesPen::default());
        poller.poll(Nanos(0), &mut pen);
        assert!(pen.series.is_empty());
    }
}
