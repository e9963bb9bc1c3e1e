//! The spool: every row that is handed in is read again, or counted as dropped, to the row.

mod common;

use common::{START, first_slice, numbers, slice};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use zwhy_agent::{Limits, Reason, Rows, Spool, State, choose, entries, merge};
use zwhy_capture::{Capture, row_counts};

fn limits() -> Limits {
    Limits { file: Duration::from_secs(20), flush: Duration::from_secs(10), ..Limits::default() }
}

/// Pushes the intervals `range`, of five seconds and 10 samples each.
fn push(spool: &mut Spool, range: std::ops::Range<i64>) {
    for n in range {
        let slice = if n == 0 { first_slice(10) } else { slice(n * 5, n * 10, 10) };
        spool.push(&slice, START + slice.to.as_secs_f64());
    }
}

fn all(folder: &Path) -> Capture {
    let chosen = choose(folder, Duration::from_secs(1_000_000), Duration::ZERO).unwrap();
    let out = folder.join("all.capture.zwhy");
    let merged = merge(&chosen, folder, &out).unwrap();
    assert_eq!(merged.left_out, Vec::<String>::new());
    let capture = Capture::open(&out).unwrap();
    fs::remove_file(&out).unwrap();
    capture
}

fn in_spool(folder: &Path) -> Rows {
    let mut rows = Rows::default();
    entries(folder).unwrap().iter().for_each(|e| rows.add(Rows::of(&row_counts(&e.path).unwrap())));
    rows
}

#[test]
fn files_follow_each_other_and_each_is_whole_by_itself() {
    let dir = tempfile::tempdir().unwrap();
    let mut spool = Spool::open(dir.path(), limits()).unwrap();
    push(&mut spool, 0..10);
    drop(spool);
    let found = entries(dir.path()).unwrap();
    let told: Vec<_> = found.iter().map(|e| (e.number, e.start_unix_s - START, e.seconds)).collect();
    assert_eq!(told, [(0, 0.0, Some(20.0)), (1, 20.0, Some(20.0)), (2, 40.0, Some(10.0))]);
    for (entry, samples) in found.iter().zip([0..40, 40..80, 80..100]) {
        let capture = Capture::open(&entry.path).unwrap();
        assert!(capture.damage.is_empty() && !capture.damage.unfinished);
        assert_eq!(numbers(&capture), samples.collect::<Vec<i64>>());
        assert!(
            capture.profile.samples.t.iter().all(|t| t.0 < 20 * common::SECOND),
            "time begins with the file"
        );
        let limit: Vec<i64> = capture.series.iter().filter(|r| r.name == "c_max").map(|r| r.value).collect();
        assert!(limit.len() >= 2, "what never changes is in every file: {limit:?}");
        let facts = &capture.facts;
        assert_eq!(facts.recorder.duration_s, entry.seconds);
        assert_eq!(facts.recorder.samples, Some(capture.profile.samples.len() as u64));
        assert_eq!(facts.cpu_time["sys"], 0.5);
        let evidence = capture.into_imported("x").evidence;
        assert_eq!(evidence.kstat("arcstats", "hits").unwrap().rate, Some(1000.0));
    }
    let whole = all(dir.path());
    assert_eq!(numbers(&whole), (0..100).collect::<Vec<i64>>());
    assert_eq!((whole.facts.recorder.duration_s, whole.facts.recorder.samples), (Some(50.0), Some(100)));
    assert_eq!(whole.facts.start_unix_s, Some(START));
    let told: Vec<_> = whole.marks.iter().map(|mark| (mark.t.0, mark.name.as_str())).collect();
    assert_eq!(told, [(common::SECOND, "module")]);
    let evidence = whole.into_imported("x").evidence;
    assert_eq!(evidence.kstat("arcstats", "hits").unwrap().rate, Some(1000.0));
}

#[test]
fn a_part_is_chosen_by_how_long_ago_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let mut spool = Spool::open(dir.path(), limits()).unwrap();
    push(&mut spool, 0..20);
    spool.flush();
    let chosen = |last: u64, before: u64| -> Vec<u64> {
        let s = Duration::from_secs;
        choose(dir.path(), s(last), s(before)).unwrap().iter().map(|p| p.entry.number).collect()
    };
    assert_eq!(chosen(20, 0), [4]);
    assert_eq!(chosen(21, 0), [3, 4]);
    assert_eq!(chosen(20, 40), [2]);
    assert_eq!(chosen(1000, 0), [0, 1, 2, 3, 4]);
    assert_eq!(chosen(10, 1000), [0; 0]);
    push(&mut spool, 20..22);
    spool.flush();
    assert_eq!(chosen(30, 0), [4, 5], "the growing file, too");
    // From 65 to 95 s of 110.
    let chosen = choose(dir.path(), Duration::from_secs(30), Duration::from_secs(15)).unwrap();
    let out = dir.path().join("part.zwhy");
    let merged = merge(&chosen, dir.path(), &out).unwrap();
    assert_eq!((merged.start_unix_s, merged.seconds, merged.gaps_s), (START + 65.0, 30.0, 0.0));
    let capture = Capture::open(&out).unwrap();
    assert_eq!(numbers(&capture), (130..190).collect::<Vec<i64>>());
    assert!(capture.profile.samples.t.iter().all(|t| t.0 < 30 * common::SECOND));
    assert_eq!(capture.facts.recorder.duration_s, Some(30.0));
    assert!((capture.facts.cpu_time["sys"] - 0.5).abs() < 1e-9);
    assert_eq!(capture.series.iter().find(|row| row.name == "c_max").map(|row| row.t.0), Some(0));
    let evidence = capture.into_imported("x").evidence;
    assert_eq!(evidence.kstat("arcstats", "hits").unwrap().rate, Some(1000.0));
}

#[test]
fn what_was_flushed_survives_a_kill_and_the_gap_is_marked() {
    let dir = tempfile::tempdir().unwrap();
    let mut spool = Spool::open(dir.path(), limits()).unwrap();
    push(&mut spool, 0..7);
    // As a kill: nothing is finished, and another process will hold the lock.
    std::mem::forget(spool);
    let killed = dir.path().join("killed");
    fs::create_dir(&killed).unwrap();
    for name in ["00000000-20261122-184233-20s.zwhy", "00000001-20261122-184253.zwhy.part"] {
        let from = entries(dir.path()).unwrap();
        let from = from.iter().find(|e| e.path.to_string_lossy()[..].contains(&name[..9])).unwrap();
        fs::rename(&from.path, killed.join(from.path.file_name().unwrap())).unwrap();
    }
    fs::write(killed.join(".zwhy-abc.tmp"), b"half a file").unwrap();
    let mut spool = Spool::open(&killed, limits()).unwrap();
    assert!(!killed.join(".zwhy-abc.tmp").exists());
    // The intervals 4 and 5 were flushed, 6 was not.
    let found = entries(&killed).unwrap();
    assert_eq!(
        found.iter().map(|e| e.seconds).collect::<Vec<_>>(),
        [Some(20.0), Some(10.0)],
        "both are files"
    );
    assert_eq!(numbers(&all(&killed)), (0..60).collect::<Vec<i64>>());
    push(&mut spool, 20..22);
    drop(spool);
    let whole = all(&killed);
    let gap = whole.marks.iter().find(|mark| mark.name == "gap").unwrap();
    assert_eq!(
        (gap.t.0, gap.text.as_str()),
        (100 * common::SECOND, "the agent did not run for 70 s before this")
    );
    assert_eq!(whole.facts.recorder.duration_s, Some(110.0));
    let limits = whole.facts.recorder.limits.unwrap().join("\n");
    assert!(limits.contains("in 70 of the 110 s nothing was recorded"), "{limits}");
    assert_eq!(State::load(&killed).gaps, 1);
}

#[test]
fn what_is_dropped_is_counted_to_the_row() {
    for (limits, reason) in [
        (Limits { age: Duration::from_secs(60), ..limits() }, Reason::Age),
        (Limits { bytes: 60_000, ..limits() }, Reason::Bytes),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let mut spool = Spool::open(dir.path(), limits).unwrap();
        push(&mut spool, 0..60);
        spool.finish();
        let written = spool.written;
        assert_eq!(spool.not_written, Rows::default());
        drop(spool);
        let state = State::load(dir.path());
        let (dropped, left) = (state.dropped[&reason], in_spool(dir.path()));
        assert_eq!(state.dropped.len(), 1);
        assert!(dropped.files >= 5 && left.samples >= 80, "{dropped:?} {left:?}");
        let mut sum = dropped.rows;
        sum.add(left);
        assert_eq!((sum, sum.samples), (written, 600));
        let first = 600 - left.samples as i64;
        assert_eq!(numbers(&all(dir.path())), (first..600).collect::<Vec<i64>>(), "the oldest are gone");
        assert_eq!(entries(dir.path()).unwrap()[0].number, state.first);
    }
}

#[test]
fn a_file_that_was_counted_before_a_crash_is_not_counted_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut spool = Spool::open(dir.path(), Limits { age: Duration::from_secs(40), ..limits() }).unwrap();
    push(&mut spool, 0..8);
    let oldest = entries(dir.path()).unwrap()[0].path.clone();
    let text = fs::read(&oldest).unwrap();
    push(&mut spool, 8..12);
    drop(spool);
    let before = State::load(dir.path());
    assert_eq!((before.dropped[&Reason::Age].files, oldest.exists()), (1, false));
    fs::write(&oldest, text).unwrap();
    drop(Spool::open(dir.path(), limits()).unwrap());
    assert!(!oldest.exists());
    assert_eq!(State::load(dir.path()).dropped, before.dropped);
}

#[test]
fn a_clock_that_is_set_neither_drops_nor_overlaps() {
    let dir = tempfile::tempdir().unwrap();
    let mut spool = Spool::open(dir.path(), limits()).unwrap();
    push(&mut spool, 0..2);
    let year = 365.0 * 86_400.0;
    for (n, step) in [(2, year), (3, year), (4, -year), (5, -year)] {
        let slice = slice(n * 5, n * 10, 10);
        spool.push(&slice, START + step + slice.to.as_secs_f64());
    }
    drop(spool);
    let starts: Vec<f64> = entries(dir.path()).unwrap().iter().map(|e| e.start_unix_s - START).collect();
    assert_eq!(starts, [0.0, year + 10.0, -year + 20.0]);
    assert_eq!(State::load(dir.path()).dropped, BTreeMap::new(), "nothing is a year old");
    let chosen = choose(dir.path(), Duration::from_secs(20), Duration::ZERO).unwrap();
    assert_eq!(chosen.len(), 2);
    let out = dir.path().join("out.zwhy");
    merge(&chosen, dir.path(), &out).unwrap();
    let capture = Capture::open(&out).unwrap();
    assert_eq!(
        capture.facts.recorder.duration_s,
        Some(20.0),
        "the clock was set back: they follow each other"
    );
    assert_eq!(numbers(&capture), (20..60).collect::<Vec<i64>>());
}

/// Breaks the samples of a finished file: their checksum does not match any more.
fn break_samples(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let name = b"samples-000000.parquet";
    let at = bytes.windows(name.len()).position(|window| window == name).unwrap();
    bytes[at + name.len() + 40] ^= 1;
    fs::write(path, bytes).unwrap();
}

#[test]
fn samples_that_a_damaged_file_has_lost_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let mut spool = Spool::open(dir.path(), limits()).unwrap();
    for n in 0..14 {
        let mut slice = slice(n * 5, n * 10, 10);
        slice.lost = if n == 1 { 3 } else { 0 };
        spool.push(&slice, START + slice.to.as_secs_f64());
    }
    spool.flush();
    break_samples(&entries(dir.path()).unwrap()[1].path);
    for (last, lost) in [(1000, 43), (35, 40), (30, 0)] {
        let chosen = choose(dir.path(), Duration::from_secs(last), Duration::ZERO).unwrap();
        let out = dir.path().join(format!("last-{last}.zwhy"));
        let merged = merge(&chosen, dir.path(), &out).unwrap();
        let capture = Capture::open(&out).unwrap();
        let kept = capture.profile.samples.len() as u64;
        assert_eq!(capture.facts.recorder.lost, Some(lost), "of the last {last} s");
        let stats = capture.into_imported("x").stats;
        assert_eq!((stats.kept, stats.lost, stats.read), (kept, lost, kept + lost));
        let told = merged.left_out.iter().any(|why| why.contains("40 rows of table samples are lost"));
        assert_eq!(told, lost >= 40, "{:?}", merged.left_out);
        let said = stats.warnings.iter().filter(|why| why.contains("rows of table samples are lost")).count();
        assert_eq!(said, usize::from(lost >= 40), "{:?}", stats.warnings);
        assert!(!stats.warnings.iter().any(|why| why.contains("did not end")), "it grows");
    }
}

#[test]
fn one_agent_writes_a_spool() {
    let dir = tempfile::tempdir().unwrap();
    let spool = Spool::open(dir.path(), limits()).unwrap();
    assert_eq!(zwhy_agent::writer_of(dir.path()), Some(std::process::id().to_string()));
    let error = Spool::open(dir.path(), limits()).err().unwrap().to_string();
    assert!(error.contains(&format!("process {}", std::process::id())), "{error}");
    drop(spool);
    assert_eq!(zwhy_agent::writer_of(dir.path()), None);
    Spool::open(dir.path(), limits()).unwrap();
}

/// A small file system of its own; `None` where this user may not make one.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn new() -> Option<SmallDisk> {
        let dir = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=400k", "tmpfs"]).arg(dir.path());
        mount.status().ok().filter(|status| status.success()).map(|_| SmallDisk(dir))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_ends_nothing_and_what_it_took_is_counted() {
    let Some(disk) = SmallDisk::new() else {
        let _ = writeln!(std::io::stderr(), "skipped: mounting a file system needs root");
        return;
    };
    let folder = disk.0.path().join("spool");
    let mut spool = Spool::open(&folder, limits()).unwrap();
    push(&mut spool, 0..8);
    assert_eq!((spool.failures, spool.written.samples), (0, 80));
    let ballast = disk.0.path().join("ballast");
    let room = 400 << 10;
    // Until nothing more fits.
    for size in [room, room / 2, room / 4, 40 << 10, 20 << 10, 8 << 10, 4 << 10] {
        let path = ballast.with_extension(size.to_string());
        if fs::write(&path, vec![1; size]).is_err() && fs::metadata(&path).is_ok_and(|m| m.len() == 0) {
            fs::remove_file(&path).unwrap();
        }
    }
    push(&mut spool, 8..20);
    assert!(spool.problem.as_ref().is_some_and(|p| p.contains("No space left")), "{:?}", spool.problem);
    assert_eq!(spool.not_written.samples, 120, "{:?}", spool.not_written);
    for file in fs::read_dir(disk.0.path()).unwrap().flatten() {
        if file.file_name().to_string_lossy().starts_with("ballast") {
            fs::remove_file(file.path()).unwrap();
        }
    }
    push(&mut spool, 20..24);
    spool.finish();
    assert_eq!((&spool.problem, spool.written.samples), (&None, 120));
    let (written, not) = (spool.written, spool.not_written);
    drop(spool);
    assert_eq!(in_spool(&folder), written);
    assert_eq!(State::load(&folder).dropped[&Reason::NotWritten].rows, not);
    let whole = all(&folder);
    assert_eq!(numbers(&whole), (0..80).chain(200..240).collect::<Vec<i64>>());
    let told = whole.marks.iter().find(|mark| mark.name == "gap").unwrap();
    assert!(
        told.text.starts_with("120 samples and ") && told.text.ends_with("could not be written"),
        "{}",
        told.text
    );
}
