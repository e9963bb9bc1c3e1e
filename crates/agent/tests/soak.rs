//! Agents that are killed at any moment: after all of it the samples in the spool and those that were counted as dropped
//! are together those that were flushed, to the row.
//!
//! The agent is this test's own program, started again; its host is one whose samples are numbered. The short run is a
//! test like any other, the long one is `scripts/agent-soak.sh`.

mod common;

use common::{START, numbers, slice};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use zwhy_agent::{Limits, Rows, Spool, State, entries};
use zwhy_capture::{Capture, recorded_rows, row_counts};
use zwhy_profile::Event;

/// Tells the program that it is the agent: the folder.
const FOLDER: &str = "ZWHY_SOAK_FOLDER";
/// Intervals after which it ends by itself.
const INTERVALS: &str = "ZWHY_SOAK_INTERVALS";
/// What is older than five minutes becomes sums of ten.
const SUMS: &str = "ZWHY_SOAK_SUMS";
/// Samples of an interval of five seconds.
const SAMPLES: i64 = 100;

fn limits() -> Limits {
    // Both are reached: by age in quiet hours, by bytes in others.
    Limits {
        age: Duration::from_secs(2 * 3600),
        bytes: 600_000,
        file: Duration::from_secs(60),
        detail: Duration::from_secs(1_000_000),
        ..Limits::default()
    }
}

fn limits_with_sums() -> Limits {
    Limits { detail: Duration::from_secs(300), sums: Duration::from_secs(600), bytes: 300_000, ..limits() }
}

/// The number of the newest sample in the spool; -1 where there is none.
fn newest(folder: &Path) -> i64 {
    let of = |path: &Path| Capture::open(path).ok().and_then(|capture| numbers(&capture).last().copied());
    entries(folder).unwrap().iter().rev().find_map(|entry| of(&entry.path)).unwrap_or(-1)
}

/// The agent: goes on behind the newest sample that is on disk.
#[test]
#[ignore = "the agent of the other tests, started by them"]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let folder = Path::new(&folder);
    let most: i64 = std::env::var(INTERVALS).unwrap().parse().unwrap();
    let limits = if std::env::var_os(SUMS).is_some() { limits_with_sums() } else { limits() };
    let mut spool = Spool::open(folder, limits).unwrap();
    let first = (newest(folder) + 1).div_euclid(SAMPLES);
    // A flush is of whole intervals.
    assert_eq!((newest(folder) + 1) % SAMPLES, 0);
    let mut ahead = 0.0;
    for n in first..first + most {
        let slice = slice((n - first) * 5, n * SAMPLES, SAMPLES);
        if n % 977 == 0 {
            // The clock is set, once forward, once back.
            ahead = if ahead == 0.0 { 86_400.0 } else { 0.0 };
        }
        spool.push(&slice, START + ahead + (n + 1) as f64 * 5.0);
        assert_eq!(spool.problem, None);
    }
}

fn start(folder: &Path, intervals: i64, sums: bool) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "child", "--ignored", "--nocapture"])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if sums {
        command.env(SUMS, "1");
    }
    command.env(FOLDER, folder).env(INTERVALS, intervals.to_string()).spawn().unwrap()
}

/// Resident memory of a process.
fn rss(child: &Child) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{}/statm", child.id())).ok()?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// Runs and kills agents until `hours` of their host have been flushed; returns kills and the most memory.
fn soak(folder: &Path, hours: f64, sums: bool) -> (u64, u64) {
    let wanted = (hours * 720.0) as i64 * SAMPLES;
    let (mut kills, mut most, mut seed) = (0, 0, 88_172_645_463_325_252u64);
    while kills < 5 || newest(folder) + 1 < wanted {
        // Xorshift: moments that look like chance and are the same in every run.
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        let mut agent = start(folder, 1_000_000, sums);
        let until = Instant::now() + Duration::from_millis(100 + seed % 2000);
        while Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20));
            most = most.max(rss(&agent).unwrap_or(0));
        }
        agent.kill().unwrap();
        let status = agent.wait().unwrap();
        assert_eq!(status.signal(), Some(9), "it did not end by itself: {status}");
        kills += 1;
    }
    (kills, most)
}

/// Compares what is there with what was counted.
fn check(folder: &Path) -> (u64, Rows) {
    let before = newest(folder);
    assert!(start(folder, 50, false).wait().unwrap().success(), "the last one ends by itself");
    let last = newest(folder);
    assert_eq!(last, before + 50 * SAMPLES);
    let (mut rows, mut all) = (0, Vec::new());
    for entry in entries(folder).unwrap() {
        let capture = Capture::open(&entry.path).unwrap();
        assert!(capture.damage.is_empty() && entry.seconds.is_some(), "{}", entry.path.display());
        rows += Rows::of(&row_counts(&entry.path).unwrap()).samples;
        all.extend(numbers(&capture));
    }
    let state = State::load(folder);
    let dropped = state.dropped_rows();
    assert_eq!(all, (last + 1 - rows as i64..=last).collect::<Vec<_>>(), "each once, without a gap");
    assert_eq!(rows + dropped.samples, last as u64 + 1, "{state:?}");
    assert!(state.dropped.values().all(|dropped| dropped.unreadable == 0), "{state:?}");
    let bytes: u64 = entries(folder).unwrap().iter().map(|entry| entry.bytes).sum();
    assert!(bytes <= limits().bytes, "{bytes}");
    (last as u64 + 1, dropped)
}

#[test]
fn kills_lose_nothing_that_was_flushed() {
    let dir = tempfile::tempdir().unwrap();
    soak(dir.path(), 0.2, false);
    check(dir.path());
}

#[test]
fn kills_while_files_become_sums_lose_nothing_and_double_nothing() {
    let dir = tempfile::tempdir().unwrap();
    soak(dir.path(), 1.0, true);
    check_sums(dir.path());
}

/// As [`check`], by counts: those of sums and what is in them, those as recorded, and those dropped.
fn check_sums(folder: &Path) -> u64 {
    assert!(start(folder, 200, true).wait().unwrap().success(), "the last one ends by itself");
    let last = newest(folder);
    let (mut rows, mut count, mut numbers, mut sums) = (0, 0, 0, 0);
    for entry in entries(folder).unwrap() {
        let capture = Capture::open(&entry.path).unwrap();
        assert!(capture.damage.is_empty() && entry.seconds.is_some(), "{}", entry.path.display());
        rows += Rows::of(&recorded_rows(&entry.path).unwrap()).samples;
        count += capture.profile.samples.total(Event::Cpu);
        numbers += capture.profile.samples.weight.iter().map(|weight| i128::from(weight.0)).sum::<i128>();
        sums += usize::from(entry.is_sums());
    }
    assert!(sums > 1, "{:?}", entries(folder).unwrap());
    let state = State::load(folder);
    assert_eq!(rows, count, "rows as recorded, and what the sums add up to");
    let first = last + 1 - rows as i64;
    assert_eq!(numbers, (i128::from(first)..=i128::from(last)).sum::<i128>(), "each once, without a gap");
    assert_eq!(rows + state.dropped_rows().samples, last as u64 + 1, "{state:?}");
    let files = std::fs::read_dir(folder).unwrap().flatten();
    let zwhy = files.filter(|file| file.path().extension().is_some_and(|e| e == "zwhy")).count();
    assert_eq!(zwhy, entries(folder).unwrap().len(), "nothing is left over");
    last as u64 + 1
}

#[test]
#[ignore = "takes minutes: scripts/agent-soak.sh"]
fn thirty_hours_with_kills() {
    let hours = std::env::var("ZWHY_SOAK_HOURS").ok().and_then(|hours| hours.parse().ok()).unwrap_or(30.0);
    let dir = tempfile::tempdir().unwrap();
    let (kills, most) = soak(dir.path(), hours, false);
    let (recorded, dropped) = check(dir.path());
    assert!(dropped.samples > 0, "the spool was full");
    let _ = writeln!(
        std::io::stderr(),
        "{hours} h of a host, {kills} kills: {recorded} samples flushed, {} in the spool, {} dropped and counted; at most \
         {:.1} MiB of memory",
        recorded - dropped.samples,
        dropped.samples,
        most as f64 / f64::from(1 << 20)
    );
}
