//! Per-dataset counters (`POOL/objset-0x…`) of hosts with any number of datasets.
//!
//! Rule: a dataset is recorded from its first reading on once one of its counters moved; datasets
//! that never move are only counted. Those that moved are read every time up to a number, beyond it
//! in turn as those are that never moved, so the cost of a reading does not grow with the number of
//! datasets.

use crate::series_pen::SeriesPen;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hash, Hasher};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use zwhy_capture::SeriesKind;
use zwhy_host::read_cut;
use zwhy_profile::Nanos;
use zwhy_zfs::{Kstat, NamedValue, Value, parse_kstat};

/// Idle datasets read at one time.
const IDLE_A_BATCH: usize = 256;
/// Datasets that moved read at one time.
const MOVED_A_BATCH: usize = 512;
/// More datasets than this are not looked at.
const MOST: usize = 20_000;

/// First reading of a dataset that has not moved.
struct Idle {
    t: Nanos,
    layout: u64,
    values: Box<[i64]>,
}

#[derive(Default)]
pub(crate) struct Objsets {
    files: BTreeMap<String, PathBuf>,
    idle: FxHashMap<String, Idle>,
    /// Source to name of the dataset.
    moved: BTreeMap<String, String>,
    /// The idle one after which the next turn begins, and the one that moved.
    next: String,
    next_moved: String,
    /// Readings of changed datasets deferred to a later batch.
    pub(crate) deferred: u64,
    /// Datasets that are not looked at because there are too many.
    pub(crate) left_out: usize,
}

impl Objsets {
    /// Datasets that were found.
    pub(crate) fn seen(&self) -> usize {
        self.files.len() + self.left_out
    }

    /// Names of the datasets that are recorded, by source.
    pub(crate) fn moved(&self) -> &BTreeMap<String, String> {
        &self.moved
    }

    /// Takes the files of a new look; what is gone ends.
    pub(crate) fn set_files(&mut self, mut files: Vec<(String, PathBuf)>, pen: &mut SeriesPen) {
        files.sort();
        self.left_out = files.len().saturating_sub(MOST);
        files.truncate(MOST);
        let files: BTreeMap<String, PathBuf> = files.into_iter().collect();
        for gone in self.files.keys().filter(|source| !files.contains_key(*source)) {
            pen.end(gone);
            self.idle.remove(gone);
        }
        self.files = files;
    }

    pub(crate) fn poll(&mut self, t: Nanos, pen: &mut SeriesPen) {
        let files = std::mem::take(&mut self.files);
        let moved: Vec<_> =
            circle(&files, &self.next_moved).filter(|(s, _)| self.moved.contains_key(*s)).collect();
        self.deferred += moved.len().saturating_sub(MOVED_A_BATCH) as u64;
        for (source, path) in moved.iter().take(MOVED_A_BATCH) {
            if let Some((_, values)) = read(path) {
                put(t, source, &numbers(&values), pen);
            }
        }
        if let Some((last, _)) = moved.get(MOVED_A_BATCH - 1) {
            self.next_moved.clone_from(last);
        }
        let unread =
            files.iter().filter(|(s, _)| !self.moved.contains_key(*s) && !self.idle.contains_key(*s));
        // Each new one at once: what came before it moved is lost else.
        let mut turn: Vec<(&String, &PathBuf)> = unread.collect();
        let waiting = |(s, _): &(&String, &PathBuf)| self.idle.contains_key(*s);
        let idle: Vec<_> = circle(&files, &self.next).filter(waiting).take(IDLE_A_BATCH).collect();
        if let Some((last, _)) = idle.last() {
            self.next.clone_from(last);
        }
        turn.extend(idle);
        for (source, path) in turn {
            self.look(t, source, path, pen);
        }
        self.files = files;
    }

    /// Reads a dataset that has not moved yet.
    fn look(&mut self, t: Nanos, source: &str, path: &Path, pen: &mut SeriesPen) {
        let Some((layout, values)) = read(path) else { return };
        let numbers = numbers(&values);
        let now: Box<[i64]> = numbers.iter().map(|(_, v)| *v).collect();
        match self.idle.get(source) {
            Some(first) if first.layout == layout && first.values == now => return,
            Some(first) if first.layout == layout => {
                let (t, values) = (first.t, first.values.clone());
                let first: Vec<_> = numbers.iter().zip(&values).map(|((name, _), v)| (*name, *v)).collect();
                put(t, source, &first, pen);
            }
            Some(_) => {} // another layout: its first reading cannot be named any more
            None => {
                self.idle.insert(source.to_owned(), Idle { t, layout, values: now });
                return;
            }
        }
        put(t, source, &numbers, pen);
        self.idle.remove(source);
        self.moved.insert(source.to_owned(), dataset_name(&values));
    }
}

/// All files, those after `next` first.
fn circle<'a>(
    files: &'a BTreeMap<String, PathBuf>,
    next: &str,
) -> impl Iterator<Item = (&'a String, &'a PathBuf)> + use<'a> {
    let after = files.range::<str, _>((Bound::Excluded(next), Bound::Unbounded));
    after.chain(files.range::<str, _>((Bound::Unbounded, Bound::Included(next))))
}

fn numbers(values: &[NamedValue]) -> Vec<(&str, i64)> {
    values.iter().filter_map(|v| Some((v.name.as_str(), v.value.number()?))).collect()
}

fn put(t: Nanos, source: &str, numbers: &[(&str, i64)], pen: &mut SeriesPen) {
    for (name, value) in numbers {
        pen.put(t, source, name, SeriesKind::Counter, *value);
    }
}

fn dataset_name(values: &[NamedValue]) -> String {
    let name = values.iter().find(|v| v.name == "dataset_name").map(|v| &v.value);
    match name {
        Some(Value::Text(name)) => name.clone(),
        _ => String::new(),
    }
}

/// The values and a hash of their names.
fn read(path: &Path) -> Option<(u64, Vec<NamedValue>)> {
    let Ok(Kstat::Named { values, .. }) = parse_kstat(&read_cut(path).ok()?) else { return None };
    let mut hasher = FxBuildHasher.build_hasher();
    for value in &values {
        (value.name.as_str(), value.value.number().is_some()).hash(&mut hasher);
    }
    Some((hasher.finish(), values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn write(path: &Path, dataset: &str, reads: u64, extra: &str) {
        let head = "33 1 0x01 7 2160 5 6\nname type data\n";
        fs::write(path, format!("{head}dataset_name 7 {dataset}\nreads 4 {reads}\n{extra}")).unwrap();
    }

    fn rows(pen: &mut SeriesPen) -> Vec<(i64, String, i64)> {
        let rows = pen.series.iter().map(|r| (r.t.0, format!("{}:{}", r.source, r.name), r.value)).collect();
        pen.series.clear();
        rows
    }

    #[test]
    fn of_ten_thousand_datasets_only_those_that_move_are_rows() {
        let root = tempfile::tempdir().unwrap();
        let mut files = Vec::new();
        for i in 0..10_000 {
            // One file stands for all idle datasets: their number is what counts.
            let path = root.path().join("idle");
            files.push((format!("tank/objset-{i:05}"), path));
        }
        write(&root.path().join("idle"), "tank/idle", 7, "");
        let (busy, late) = (root.path().join("busy"), root.path().join("late"));
        write(&busy, "tank/busy", 1, "");
        write(&late, "tank/late", 1, "");
        files.push(("tank/objset-busy".into(), busy.clone()));
        files[5000].1 = late.clone();
        let (mut objsets, mut pen) = (Objsets::default(), SeriesPen::default());
        objsets.set_files(files, &mut pen);
        objsets.poll(Nanos(0), &mut pen);
        assert!(rows(&mut pen).is_empty(), "nothing has moved");

        write(&busy, "tank/busy", 5, "");
        for t in 1..=40 {
            objsets.poll(Nanos(t), &mut pen);
        }
        let seen = rows(&mut pen);
        assert_eq!(seen[0], (0, "tank/objset-busy:reads".into(), 1), "the first reading is kept");
        assert!(seen[1].2 == 5 && seen.len() == 2, "{seen:?}");

        write(&late, "tank/late", 2, "");
        for t in 41..=81 {
            objsets.poll(Nanos(t), &mut pen);
        }
        assert!(rows(&mut pen).contains(&(0, "tank/objset-05000:reads".into(), 1)), "found within a round");
        assert_eq!(objsets.moved().values().collect::<Vec<_>>(), ["tank/late", "tank/busy"]);
        assert_eq!((objsets.seen(), objsets.left_out), (10_001, 0));
    }

    #[test]
    fn ten_thousand_busy_datasets_are_read_in_turn() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("all");
        let files = (0..10_000).map(|i| (format!("tank/objset-{i:05}"), path.clone())).collect();
        let (mut objsets, mut pen) = (Objsets::default(), SeriesPen::default());
        objsets.set_files(files, &mut pen);
        let mut seen = std::collections::BTreeSet::new();
        for t in 0..80i64 {
            write(&path, "tank/busy", t.unsigned_abs(), "");
            objsets.poll(Nanos(t), &mut pen);
            let now: Vec<String> =
                rows(&mut pen).into_iter().filter(|row| row.0 == t).map(|row| row.1).collect();
            assert!(now.len() <= MOVED_A_BATCH + IDLE_A_BATCH, "{} at once", now.len());
            if t >= 60 {
                seen.extend(now);
            }
        }
        assert_eq!((objsets.moved().len(), seen.len()), (10_000, 10_000), "each within 20 readings");
        assert!(objsets.deferred > 0);
    }

    #[test]
    fn a_dataset_may_change_its_layout_or_go() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("a");
        let files = vec![("tank/objset-0x36".to_owned(), path.clone())];
        write(&path, "tank/a", 1, "");
        let (mut objsets, mut pen) = (Objsets::default(), SeriesPen::default());
        objsets.set_files(files, &mut pen);
        objsets.poll(Nanos(0), &mut pen);
        write(&path, "tank/a", 1, "zil_commit_count 4 9\n");
        objsets.poll(Nanos(1), &mut pen);
        assert_eq!(rows(&mut pen).len(), 2, "both values of the new layout");
        fs::remove_file(&path).unwrap();
        objsets.poll(Nanos(2), &mut pen);
        objsets.set_files(Vec::new(), &mut pen);
        objsets.poll(Nanos(3), &mut pen);
        assert!(rows(&mut pen).is_empty());
    }
}
