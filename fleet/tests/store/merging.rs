//! Merging: nothing is doubled and nothing lost, whoever else merges and whenever one is killed.

use crate::dying::Dying;
use crate::source::{answer, host, of, path, readings, start_ms};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use zwhy_diagnose::Knowledge;
use zwhy_fleet::{
    Apart, IngestOptions, MergeOptions, Picture, Scope, Store, compact, findings, ingest, kstat_points,
    stages_over_time, units,
};

const NAMES: [&str; 2] = ["sync", "memory"];

async fn folder(folder: &Path) -> Store {
    let store = Store::create(&folder.display().to_string()).unwrap();
    filled(&store).await;
    store
}

/// Puts two hosts into a store.
pub async fn filled(store: &Store) {
    for name in NAMES {
        let options = IngestOptions { host: Some(host(name)), start_ms: None };
        ingest(store, &path(name), &options, &Knowledge::embedded()).await.unwrap();
    }
}

/// Hours after the recordings; what is replaced goes at once.
pub fn now() -> MergeOptions {
    MergeOptions {
        now_ms: i64::MAX / 2,
        settle: Duration::from_secs(900),
        grace: Duration::ZERO,
        sums_after: None,
        drop_after: None,
    }
}

pub fn keep_replaced() -> MergeOptions {
    MergeOptions { grace: Duration::from_secs(u64::MAX / 2), ..now() }
}

/// Samples of all hosts by stage, units with each finding, and readings of one counter.
pub async fn told(store: &Store) -> BTreeMap<(String, String), u64> {
    let anatomy = &Knowledge::embedded().anatomy;
    let mut all = BTreeMap::new();
    for point in stages_over_time(store, Scope::default(), 86_400_000, anatomy).await.unwrap() {
        *all.entry((point.host, point.stage)).or_default() += point.samples;
    }
    for found in findings(store, &Scope::default()).await.unwrap() {
        *all.entry((found.host, format!("found: {}", found.class))).or_default() += found.units;
    }
    for point in kstat_points(store, Scope::default(), "arcstats", "size").await.unwrap() {
        *all.entry((point.host, point.t_ms.to_string())).or_default() += point.value as u64;
    }
    all
}

/// The same from the captures.
pub fn expected() -> BTreeMap<(String, String), u64> {
    let mut all = BTreeMap::new();
    for name in NAMES {
        for row in answer(name).stages {
            all.insert((host(name), row.stage), row.samples);
        }
        for found in answer(name).findings {
            all.insert((host(name), format!("found: {}", found.class)), 1);
        }
        let size = |row: &zwhy_capture::SeriesRow<'_>| row.source == "arcstats" && row.name == "size";
        for (t_ms, value) in readings(name, size) {
            all.insert((host(name), t_ms.to_string()), value as u64);
        }
    }
    all
}

pub fn files(folder: &Path) -> Vec<String> {
    let (mut out, mut todo) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(at) = todo.pop() {
        for entry in std::fs::read_dir(at).unwrap().map(Result::unwrap) {
            match entry.path() {
                path if path.is_dir() => todo.push(path),
                path => out.push(path.strip_prefix(folder).unwrap().display().to_string()),
            }
        }
    }
    out.sort();
    out
}

/// Copies all files of a folder into another one.
pub fn copy(from: &Path, to: &Path) {
    for file in files(from) {
        let to = to.join(&file);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(from.join(&file), to).unwrap();
    }
}

#[tokio::test]
async fn merged_hours_answer_as_the_units_did() {
    let dir = tempfile::tempdir().unwrap();
    let (store, knowledge) = (folder(dir.path()).await, Knowledge::embedded());
    let want = expected();
    assert_eq!(told(&store).await, want);
    let before = findings(&store, &Scope::default()).await.unwrap();
    let done = compact(&store, &keep_replaced(), &knowledge).await.unwrap();
    assert_eq!((done.hours, done.units, done.lost, done.removed), (1, 2, 0, 0));
    assert_eq!(told(&store).await, want, "units are there still, and are not read");
    let done = compact(&store, &now(), &knowledge).await.unwrap();
    assert!(done.hours == 0 && done.removed > 10, "{done:?}");
    assert_eq!(told(&store).await, want);
    assert_eq!(findings(&store, &Scope::default()).await.unwrap(), before);
    let left = files(dir.path());
    assert!(left.iter().all(|f| !f.starts_with("samples/") && !f.starts_with("facts/")), "{left:?}");
    assert!(left.iter().all(|f| !f.starts_with("findings/")), "{left:?}");
    assert_eq!(left.iter().filter(|f| f.starts_with("manifest/")).count(), 1);
    assert_eq!(compact(&store, &now(), &knowledge).await.unwrap(), zwhy_fleet::Merged::default());

    // A unit that comes late, and one that the agent sends again after all.
    let options = IngestOptions { host: Some("late".into()), start_ms: Some(start_ms("sync") + 5) };
    assert!(ingest(&store, &path("lz4"), &options, &knowledge).await.unwrap().new);
    let late = Scope { hosts: vec!["late".into()], ..Scope::default() };
    let of_late =
        Picture::take(&store, late.clone(), Apart::Nothing).await.unwrap().stages(&knowledge.anatomy);
    let again = IngestOptions { host: Some(host("sync")), start_ms: None };
    ingest(&store, &path("sync"), &again, &knowledge).await.unwrap();
    let with_late = told(&store).await;
    assert_eq!(with_late.iter().filter(|((of, _), _)| of != "late").count(), want.len());
    assert!(want.iter().all(|(key, value)| with_late.get(key) == Some(value)));
    let done = compact(&store, &now(), &knowledge).await.unwrap();
    assert_eq!((done.hours, done.units), (1, 1));
    assert_eq!(told(&store).await, with_late);
    let picture = Picture::take(&store, late, Apart::Nothing).await.unwrap();
    assert_eq!(picture.stages(&knowledge.anatomy), of_late);
    assert!(units(&store, &Scope::default()).await.unwrap().is_empty());
}

#[tokio::test]
async fn sums_keep_all_samples_and_dropped_hours_stay_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let (store, knowledge) = (folder(dir.path()).await, Knowledge::embedded());
    let day = Duration::from_secs(86_400);
    let sums = MergeOptions { sums_after: Some(day), ..now() };
    compact(&store, &sums, &knowledge).await.unwrap();
    for name in NAMES {
        let picture = Picture::take(&store, of(name), Apart::Nothing).await.unwrap();
        let stages: Vec<(String, u64)> =
            picture.stages(&knowledge.anatomy).into_iter().map(|row| (row.stage, row.samples)).collect();
        let want: Vec<(String, u64)> =
            answer(name).stages.into_iter().map(|row| (row.stage, row.samples)).collect();
        assert_eq!(stages, want, "{name}");
        let points = kstat_points(&store, of(name), "arcstats", "size").await.unwrap();
        let newest = readings(name, |row| row.source == "arcstats" && row.name == "size").pop().unwrap();
        let last = points.last().unwrap();
        assert_eq!((last.t_ms, last.value), newest);
        assert!(points.len() <= 2, "one a minute");
    }
    let drop = MergeOptions { drop_after: Some(day), ..sums };
    let done = compact(&store, &drop, &knowledge).await.unwrap();
    assert_eq!((done.hours, done.units), (1, 0));
    let again = IngestOptions { host: Some(host("sync")), start_ms: None };
    ingest(&store, &path("sync"), &again, &knowledge).await.unwrap();
    compact(&store, &drop, &knowledge).await.unwrap();
    assert!(Picture::take(&store, Scope::default(), Apart::Nothing).await.unwrap().groups.is_empty());
    assert!(files(dir.path()).iter().all(|f| !f.starts_with("samples/") && !f.starts_with("merged/")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_compactor_that_dies_at_any_step_doubles_and_loses_nothing() {
    let knowledge = Knowledge::embedded();
    let want = expected();
    let full = tempfile::tempdir().unwrap();
    folder(full.path()).await;
    let mut deaths = 0;
    for step in 0.. {
        // Every second death is after the deed, before anybody is told; in a bucket (`bucket.rs`) it is the others.
        let dir = tempfile::tempdir().unwrap();
        copy(full.path(), dir.path());
        let store = Store::open(&dir.path().display().to_string()).unwrap();
        let dying = Store::over(Arc::new(Dying::over(store.clone(), step, step % 2 == 1)));
        let ended = compact(&dying, &now(), &knowledge).await;
        assert_eq!(told(&store).await, want, "after death at {step}");
        compact(&store, &now(), &knowledge).await.unwrap();
        assert_eq!(told(&store).await, want, "after another one, step {step}");
        let left = files(dir.path());
        let of = |folder: &str| left.iter().filter(|f| f.starts_with(folder)).count();
        assert_eq!((of("samples/"), of("facts/"), of("manifest/")), (0, 0, 1), "step {step}: {left:?}");
        assert_eq!((of("merged/samples/"), of("findings/")), (1, 0), "step {step}: {left:?}");
        if ended.is_ok() {
            break;
        }
        deaths += 1;
    }
    assert!(deaths > 15, "{deaths}");
}

#[tokio::test(flavor = "multi_thread")]
async fn compactors_at_the_same_time_count_everything_once() {
    let dir = tempfile::tempdir().unwrap();
    let store = folder(dir.path()).await;
    let want = expected();
    let merging: Vec<_> = (0..4)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move { compact(&store, &keep_replaced(), &Knowledge::embedded()).await })
        })
        .collect();
    let reading = {
        let store = store.clone();
        tokio::spawn(async move {
            let mut seen = Vec::new();
            for _ in 0..3 {
                seen.push(told(&store).await);
            }
            seen
        })
    };
    let (mut hours, mut lost) = (0, 0);
    for merge in merging {
        let done = merge.await.unwrap().unwrap();
        hours += done.hours;
        lost += done.lost;
    }
    assert!(hours == 1 && lost <= 3, "{hours} {lost}");
    assert!(reading.await.unwrap().iter().all(|seen| *seen == want));
    assert_eq!(told(&store).await, want);
}
