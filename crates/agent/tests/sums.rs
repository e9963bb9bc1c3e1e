//! Hours long past become sums: every count stays, whatever ends the agent at whatever step.

mod common;

use common::{SECOND, START, numbers, slice};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use zwhy_agent::{Entry, Limits, Reason, Rows, Spool, State, choose, entries, merge};
use zwhy_capture::{Capture, recorded_rows};
use zwhy_profile::Event;

const ALWAYS: Duration = Duration::from_secs(1_000_000);

/// Files of 20 s; a minute of them becomes one when it is older than the newest minute.
fn limits() -> Limits {
    let s = Duration::from_secs;
    Limits { file: s(20), flush: s(20), detail: s(60), sums: s(60), ..Limits::default() }
}

/// The same without sums.
fn as_recorded() -> Limits {
    Limits { detail: ALWAYS, ..limits() }
}

/// Pushes the intervals `range`, of five seconds and 10 samples each.
fn push(spool: &mut Spool, range: std::ops::Range<i64>) {
    for n in range {
        let mut slice = slice(n * 5, n * 10, 10);
        if n == 0 {
            slice.series.push(
                zwhy_profile::Nanos(0),
                "arcstats",
                "c_max",
                zwhy_capture::SeriesKind::Gauge,
                8,
            );
        }
        spool.push(&slice, START + slice.to.as_secs_f64());
    }
}

fn capture_of(folder: &Path, last: u64, before: u64) -> Capture {
    let s = Duration::from_secs;
    let chosen = choose(folder, s(last), s(before)).unwrap();
    let out = folder.join("x.capture.zwhy");
    let merged = merge(&chosen, folder, &out).unwrap();
    assert_eq!(merged.left_out, Vec::<String>::new());
    let capture = Capture::open(&out).unwrap();
    fs::remove_file(&out).unwrap();
    capture
}

/// Number of samples, and the sum of their numbers: each is there once where both are right.
fn samples(capture: &Capture) -> (u64, i64) {
    let samples = &capture.profile.samples;
    (samples.total(Event::Cpu), samples.weight.iter().map(|weight| weight.0).sum())
}

/// The same of the samples `range`.
fn sum(range: std::ops::Range<i64>) -> (u64, i64) {
    ((range.end - range.start) as u64, range.sum())
}

fn in_spool(folder: &Path) -> Rows {
    let mut rows = Rows::default();
    let of = |entry: &Entry| Rows::of(&recorded_rows(&entry.path).unwrap());
    entries(folder).unwrap().iter().for_each(|entry| rows.add(of(entry)));
    rows
}

fn told(folder: &Path) -> Vec<(u64, u64, bool)> {
    entries(folder).unwrap().iter().map(|e| (e.number, e.last, e.is_sums())).collect()
}

#[test]
fn what_is_old_becomes_sums_and_every_count_stays() {
    let dir = tempfile::tempdir().unwrap();
    let mut spool = Spool::open(dir.path(), limits()).unwrap();
    push(&mut spool, 0..42);
    spool.finish();
    let written = spool.written;
    drop(spool);
    // 210 s: two minutes are older than the newest one, the third one is not.
    let wanted: Vec<_> = (6..=10).map(|n| (n, n, false)).collect();
    assert_eq!(told(dir.path()), [vec![(0, 2, true), (3, 5, true)], wanted].concat());
    assert_eq!(in_spool(dir.path()), written, "rows as they were recorded");
    let found = entries(dir.path()).unwrap();
    let first = Capture::open(&found[0].path).unwrap();
    assert_eq!(samples(&first), sum(0..120));
    assert_eq!(first.profile.samples.len(), 7, "six times ten seconds, and the sample without a time");
    let facts = &first.facts.recorder;
    assert_eq!((facts.duration_s, facts.samples, facts.interval_s), (Some(60.0), Some(120), Some(60.0)));
    assert!(facts.limits.as_ref().unwrap()[0].contains("kept as sums"), "{:?}", facts.limits);
    assert_eq!(first.facts.cpu_time["sys"], 0.5);
    let evidence = first.into_imported("x").evidence;
    assert_eq!(evidence.kstat("arcstats", "hits").unwrap().rate, Some(1000.0));
    assert_eq!(evidence.threads[0].cpu_pct.map(f64::round), Some(50.0));
    let whole = capture_of(dir.path(), 1000, 0);
    assert_eq!(samples(&whole), sum(0..420));
    let recorder = &whole.facts.recorder;
    assert_eq!((recorder.duration_s, recorder.samples), (Some(210.0), Some(420)));
    assert_eq!(recorder.limits.as_ref().unwrap().iter().filter(|l| l.contains("sums")).count(), 1);
    let limit: Vec<i64> =
        whole.series.iter().filter(|row| row.name == "c_max").map(|row| row.value).collect();
    assert!(limit.len() >= 2 && limit.iter().all(|value| *value == 8), "{limit:?}");
    assert_eq!(whole.into_imported("x").evidence.kstat("arcstats", "hits").unwrap().rate, Some(1000.0));
    // The newest minute is as it was recorded, and says nothing of sums.
    let newest = capture_of(dir.path(), 30, 0);
    assert_eq!(numbers(&newest), (360..420).collect::<Vec<i64>>());
    assert!(!newest.facts.recorder.limits.unwrap_or_default().iter().any(|limit| limit.contains("sums")));
    // A part of the sums, to ten seconds: from 40 to 80 s.
    assert_eq!(samples(&capture_of(dir.path(), 40, 130)), sum(80..160));
}

/// A spool as recorded, and what becomes of it when sums are made.
struct Steps {
    before: BTreeMap<PathBuf, Vec<u8>>,
    after: BTreeMap<PathBuf, Vec<u8>>,
    written: Rows,
}

fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let zwhy = paths.filter(|path| path.extension().is_some_and(|e| e == "zwhy"));
    zwhy.map(|path| (PathBuf::from(path.file_name().unwrap()), fs::read(&path).unwrap())).collect()
}

fn steps() -> Steps {
    let dir = tempfile::tempdir().unwrap();
    let mut spool = Spool::open(dir.path(), as_recorded()).unwrap();
    push(&mut spool, 0..28);
    drop(spool);
    let (before, written) = (files(dir.path()), in_spool(dir.path()));
    // The next file that is finished makes the sums.
    let mut spool = Spool::open(dir.path(), limits()).unwrap();
    spool.finish();
    push(&mut spool, 28..32);
    drop(spool);
    let mut after = files(dir.path());
    after.retain(|path, _| path.to_string_lossy().starts_with("00000000-00000002-"));
    assert_eq!((before.len(), after.len()), (7, 1));
    Steps { before, after, written }
}

#[test]
fn killed_at_any_step_nothing_is_doubled_and_nothing_lost() {
    let Steps { before, after, written } = steps();
    let old: Vec<&PathBuf> = before.keys().take(3).collect();
    let (_, sums) = after.first_key_value().unwrap();
    // Sums half written; sums there and 3, 2, 1 or 0 of their files left, whichever these are.
    let mut states: Vec<(bool, Vec<&PathBuf>)> = vec![(false, old.clone())];
    for left in 0..8u32 {
        states.push((
            true,
            old.iter().enumerate().filter(|(n, _)| left >> n & 1 == 1).map(|(_, p)| *p).collect(),
        ));
    }
    for (is_there, left) in states {
        let dir = tempfile::tempdir().unwrap();
        for (path, bytes) in &before {
            if !old.contains(&path) || left.contains(&path) {
                fs::write(dir.path().join(path), bytes).unwrap();
            }
        }
        match is_there {
            true => after.iter().for_each(|(path, bytes)| fs::write(dir.path().join(path), bytes).unwrap()),
            false => fs::write(dir.path().join(".zwhy-abc.tmp"), &sums[..sums.len() / 2]).unwrap(),
        }
        let about = format!("{is_there} {left:?}");
        // By a reader, before any agent starts again.
        assert_eq!(samples(&capture_of(dir.path(), 1000, 0)), sum(0..280), "{about}");
        assert_eq!(in_spool(dir.path()), written, "{about}");
        let mut spool = Spool::open(dir.path(), limits()).unwrap();
        assert_eq!(told(dir.path()).len(), if is_there { 5 } else { 7 }, "{about}");
        assert_eq!(files(dir.path()).len(), told(dir.path()).len(), "{about}");
        assert!(!dir.path().join(".zwhy-abc.tmp").exists());
        // What was not done is done, and what was done is not done again.
        push(&mut spool, 28..32);
        drop(spool);
        assert_eq!(told(dir.path())[0], (0, 2, true), "{about}");
        assert_eq!(samples(&capture_of(dir.path(), 1000, 0)), sum(0..320), "{about}");
        assert_eq!(State::load(dir.path()).dropped, BTreeMap::new(), "{about}");
    }
}

#[test]
fn a_capture_that_is_made_while_files_become_sums_has_all_of_it_once() {
    let dir = tempfile::tempdir().unwrap();
    let mut spool = Spool::open(dir.path(), as_recorded()).unwrap();
    push(&mut spool, 0..28);
    drop(spool);
    let s = Duration::from_secs;
    let (all, part) = (choose(dir.path(), ALWAYS, s(0)).unwrap(), choose(dir.path(), s(40), s(80)).unwrap());
    let mut spool = Spool::open(dir.path(), limits()).unwrap();
    push(&mut spool, 28..32);
    drop(spool);
    assert!(all[..3].iter().all(|piece| !piece.entry.path.exists()));
    for (chosen, wanted) in [(all, sum(0..280)), (part, sum(40..120))] {
        let out = dir.path().join("x.capture.zwhy");
        assert_eq!(merge(&chosen, dir.path(), &out).unwrap().left_out, Vec::<String>::new());
        assert_eq!(samples(&Capture::open(&out).unwrap()), wanted);
        fs::remove_file(&out).unwrap();
    }
}

#[test]
fn sums_that_are_dropped_count_as_the_rows_that_they_stand_for() {
    let dir = tempfile::tempdir().unwrap();
    let mut spool = Spool::open(dir.path(), Limits { age: Duration::from_secs(150), ..limits() }).unwrap();
    push(&mut spool, 0..80);
    spool.finish();
    let (written, failures) = (spool.written, spool.failures);
    drop(spool);
    let (state, left) = (State::load(dir.path()), in_spool(dir.path()));
    let dropped = state.dropped[&Reason::Age];
    assert_eq!((failures, dropped.unreadable), (0, 0));
    assert!(told(dir.path()).iter().any(|(.., sums)| *sums) && dropped.rows.samples >= 120, "{dropped:?}");
    let mut all = left;
    all.add(dropped.rows);
    assert_eq!((all, all.samples), (written, 800));
    assert_eq!(samples(&capture_of(dir.path(), 1000, 0)), sum(800 - left.samples as i64..800));
    assert_eq!(entries(dir.path()).unwrap()[0].number, state.first);
}

#[test]
fn a_damaged_file_stays_as_it_is_and_a_gap_ends_the_sums() {
    let dir = tempfile::tempdir().unwrap();
    let mut spool = Spool::open(dir.path(), as_recorded()).unwrap();
    push(&mut spool, 0..12);
    // Half a minute without an agent.
    push(&mut spool, 18..40);
    drop(spool);
    let damaged = entries(dir.path()).unwrap()[4].path.clone();
    let bytes = fs::read(&damaged).unwrap();
    fs::write(&damaged, &bytes[..bytes.len() / 2]).unwrap();
    let mut spool = Spool::open(dir.path(), limits()).unwrap();
    // One file of sums, or one that is found to be damaged, for each file that is finished.
    push(&mut spool, 40..60);
    drop(spool);
    assert_eq!(fs::read(&damaged).unwrap().len(), bytes.len() / 2);
    let told = told(dir.path());
    assert_eq!(told[..4], [(0, 2, true), (3, 3, true), (4, 4, false), (5, 7, true)], "{told:?}");
    let first = Capture::open(&entries(dir.path()).unwrap()[1].path).unwrap();
    assert_eq!((samples(&first), first.marks.len()), (sum(180..220), 0));
    assert!(first.profile.samples.t.iter().all(|t| t.0 < 20 * SECOND));
}
