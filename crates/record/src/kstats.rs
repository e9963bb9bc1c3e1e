//! Kstats as series: every number of the cheap files below /proc/spl/kstat/{zfs,taskq}, as it is.
//!
//! The source of a row is the file's path below the folder `zfs` (`arcstats`, `tank/iostats`), or
//! `taskq/NAME`. Files that cost much or are no numbers are left out. A file may come, go or change
//! its layout at any time.

use crate::objsets::Objsets;
use crate::series_pen::SeriesPen;
use rustc_hash::{FxHashMap, FxHashSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use zwhy_capture::SeriesKind;
use zwhy_host::{entries, read_cut};
use zwhy_profile::Nanos;
use zwhy_zfs::{Kstat, kstat_is_gauge, parse_kstat};

/// Never polled: `dbufs` walks every cached block, the others are text or benchmarks.
const LEFT_OUT: &str = "dbufs dbgmsg fletcher_4_bench vdev_raidz_bench chksum_bench reads multihost guid \
    import_progress";
/// A host with more files than this beside those of datasets has its later ones left out, and says so.
const MOST_FILES: usize = 1024;
/// Readings between two looks for new files.
const RESCAN: u32 = 10;

#[derive(Default)]
pub(crate) struct KstatPoller {
    /// Folder of `zfs` and `taskq`.
    root: PathBuf,
    files: Vec<(String, PathBuf)>,
    pub objsets: Objsets,
    /// Newest transaction group seen, by source.
    newest_txg: FxHashMap<String, i64>,
    /// Files that are there and cannot be read, by source; not tried again.
    refused: FxHashMap<String, ErrorKind>,
    until_rescan: u32,
    /// Files that were left out because there are too many.
    skipped: usize,
    /// Lines that did not fit the layout, in the last reading.
    pub odd_lines: usize,
}

impl KstatPoller {
    /// `root` is the folder /proc/spl/kstat.
    pub(crate) fn new(root: &Path) -> KstatPoller {
        KstatPoller { root: root.to_owned(), ..KstatPoller::default() }
    }

    /// Kstat files that are there and cannot be read.
    pub(crate) fn unreadable(&self) -> Vec<&str> {
        let mut sources: Vec<&str> = self.refused.keys().map(String::as_str).collect();
        sources.sort_unstable();
        sources
    }

    /// Sentences on what is not in the series.
    pub(crate) fn limits(&self) -> Vec<String> {
        let mut limits = Vec::new();
        if self.skipped > 0 {
            limits.push(format!("{} kstat files are not recorded: there are very many", self.skipped));
        }
        if self.objsets.left_out > 0 {
            limits.push(format!(
                "the counters of {} datasets are not recorded: there are very many",
                self.objsets.left_out
            ));
        }
        if self.objsets.deferred > 0 {
            limits.push(format!(
                "{} datasets are busy: their counters are right, but were read in turn, at longer intervals",
                self.objsets.moved().len()
            ));
        }
        if let Some((source, why)) = self.refused.iter().min_by_key(|(source, _)| *source) {
            limits.push(format!(
                "{} kstat files cannot be read, among them {source} ({why}); run as root",
                self.refused.len()
            ));
        }
        limits
    }

    pub(crate) fn poll(&mut self, t: Nanos, pen: &mut SeriesPen) {
        if self.until_rescan == 0 {
            self.until_rescan = RESCAN;
            self.scan(pen);
        }
        self.until_rescan -= 1;
        self.odd_lines = 0;
        let mut gone = Vec::new();
        for (source, path) in &self.files {
            let text = match read_cut(path) {
                Ok(text) => text,
                Err(error) => {
                    gone.push((source.clone(), error.kind()));
                    continue;
                }
            };
            match parse_kstat(&text) {
                Ok(Kstat::Named { values, odd }) => {
                    self.odd_lines += odd;
                    for value in &values {
                        if let Some(number) = value.value.number() {
                            pen.put(t, source, &value.name, kind(source, &value.name), number);
                        }
                    }
                }
                Ok(Kstat::Table { columns, rows }) if source.ends_with("/txgs") => {
                    let newest = self.newest_txg.entry(source.clone()).or_insert(0);
                    txg_rows(t, source, &columns, &rows, newest, pen);
                }
                // `name value` lines under a header that has no types.
                Ok(Kstat::Table { columns, rows }) if source == "simd" => {
                    for row in std::iter::once(&columns).chain(&rows) {
                        if let [name, value] = row.as_slice() {
                            let Ok(value) = value.parse() else { continue };
                            pen.put(t, source, name, SeriesKind::Gauge, value);
                        }
                    }
                }
                Ok(Kstat::Text(state)) if source.ends_with("/state") => {
                    let suspended = i64::from(state == "SUSPENDED");
                    pen.put(t, source, "suspended", SeriesKind::Gauge, suspended);
                }
                _ => {}
            }
        }
        for (source, why) in gone {
            pen.end(&source);
            self.files.retain(|(s, _)| *s != source);
            if why == ErrorKind::NotFound {
                // A pool that was exported or a module that was unloaded takes other files along.
                self.until_rescan = 0;
            } else {
                self.refused.insert(source, why);
            }
        }
        self.objsets.poll(t, pen);
    }

    fn scan(&mut self, pen: &mut SeriesPen) {
        let (mut files, mut datasets) = (Vec::new(), Vec::new());
        for (name, path, is_folder) in entries(&self.root.join("zfs")) {
            if !is_folder {
                files.push((name, path));
                continue;
            }
            for (file, path, _) in entries(&path) {
                let list = if file.starts_with("objset-") { &mut datasets } else { &mut files };
                list.push((format!("{name}/{file}"), path));
            }
        }
        let taskqs = entries(&self.root.join("taskq")).into_iter();
        files.extend(taskqs.map(|(name, path, _)| (format!("taskq/{name}"), path)));
        files.retain(|(source, _)| {
            let name = source.rsplit('/').next().unwrap_or(source);
            !LEFT_OUT.split(' ').any(|left_out| left_out == name) && !self.refused.contains_key(source)
        });
        // Task queues last: they are the many.
        files.sort_by_key(|(source, _)| (source.starts_with("taskq/"), source.clone()));
        self.skipped = files.len().saturating_sub(MOST_FILES);
        files.truncate(MOST_FILES);
        let present: FxHashSet<&str> = files.iter().map(|(source, _)| source.as_str()).collect();
        for (source, _) in self.files.iter().filter(|(source, _)| !present.contains(source.as_str())) {
            pen.end(source);
        }
        self.files = files;
        self.objsets.set_files(datasets, pen);
    }
}

/// Whether a value only grows.
fn kind(source: &str, name: &str) -> SeriesKind {
    if kstat_is_gauge(source, name) { SeriesKind::Gauge } else { SeriesKind::Counter }
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
                // Their number a second is the rate of syncs.
                let kind = if name == "txg" { SeriesKind::Counter } else { SeriesKind::Gauge };
                pen.put(t, source, name, kind, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

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
        let zfs = root.path().join("zfs");
        fs::create_dir(&zfs).unwrap();
        let arcstats = zfs.join("arcstats");
        fs::write(&arcstats, named(&[("hits", 1), ("size", 9)])).unwrap();
        fs::write(zfs.join("dbufs"), named(&[("never", 1)])).unwrap();
        let (mut poller, mut pen) = (KstatPoller::new(root.path()), SeriesPen::default());
        poller.poll(Nanos(0), &mut pen);
        assert_eq!(
            rows(&mut pen),
            [(0, "arcstats".into(), "hits".into(), 1), (0, "arcstats".into(), "size".into(), 9)]
        );

        let pool = zfs.join("tank");
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
        assert!(seen.contains(&(2, "tank/state".into(), "suspended".into(), 0)), "{seen:?}");
        assert!(!seen.iter().any(|r| r.1 == "dbufs" || r.3 == 8 && r.2 == "txg"));
        poller.poll(Nanos(3), &mut pen);
        assert!(rows(&mut pen).is_empty(), "nothing changed");
    }

    #[test]
    fn a_layout_may_change_under_a_name() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("taskq")).unwrap();
        let path = root.path().join("taskq/z_rd_int.0");
        fs::write(&path, named(&[("tasks_executed", 1), ("tasks_pending", 2)])).unwrap();
        let (mut poller, mut pen) = (KstatPoller::new(root.path()), SeriesPen::default());
        poller.poll(Nanos(0), &mut pen);
        poller.poll(Nanos(1), &mut pen);
        fs::write(&path, named(&[("tasks_pending", 5), ("thread_wakeups", 3)]) + "broken 4 many\n").unwrap();
        poller.poll(Nanos(2), &mut pen);
        assert_eq!(poller.odd_lines, 1);
        pen.close();
        let seen = rows(&mut pen);
        let source = || "taskq/z_rd_int.0".to_owned();
        assert!(
            seen.contains(&(1, source(), "tasks_executed".into(), 1)),
            "its last reading stays: {seen:?}"
        );
        assert!(seen.contains(&(2, source(), "thread_wakeups".into(), 3)), "{seen:?}");
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named_once_and_left_alone() {
        let root = tempfile::tempdir().unwrap();
        // A link to itself can be listed and not opened, by root either.
        fs::create_dir(root.path().join("zfs")).unwrap();
        std::os::unix::fs::symlink("arcstats", root.path().join("zfs/arcstats")).unwrap();
        let (mut poller, mut pen) = (KstatPoller::new(root.path()), SeriesPen::default());
        for t in 0..25 {
            poller.poll(Nanos(t), &mut pen);
        }
        assert_eq!(poller.unreadable(), ["arcstats"]);
        assert!(poller.limits()[0].contains("arcstats"), "{:?}", poller.limits());
        assert!(pen.series.is_empty());
    }

    #[test]
    fn an_absent_root_is_no_error() {
        let (mut poller, mut pen) = (KstatPoller::new(Path::new("/nonexistent")), SeriesPen::default());
        poller.poll(Nanos(0), &mut pen);
        assert!(pen.series.is_empty());
    }
}
