//! Agents that are killed at any moment while they send to a bucket that fails a third of its requests and is away for hours,
//! with a spool that is full: rows in the store and those counted as dropped are together those that were recorded.
//!
//! The agent is this test's own program, started again; its host is one whose samples are numbered, its clock the one of the
//! recording, so that an hour takes seconds. The bucket is in this process, over HTTP. The short run is a test like any
//! other, the long one is `scripts/agent-soak.sh`.

#[path = "../../tests/common/mod.rs"]
mod common;

use super::Shipper;
use super::bucket::Bucket;
use super::tests::s3;
use crate::spool::{Dropped, Limits, Rows, Spool, State, entries};
use common::{START, numbers, slice};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use zwhy_capture::{Capture, SeriesKind};
use zwhy_profile::Nanos;

/// Tells the program that it is the agent: the folder, the bucket, and what the spool may have.
const FOLDER: &str = "ZWHY_SHIP_SOAK_FOLDER";
const BUCKET: &str = "ZWHY_SHIP_SOAK_BUCKET";
const BYTES: &str = "ZWHY_SHIP_SOAK_BYTES";
/// Intervals after which it sends all that is left and ends.
const INTERVALS: &str = "ZWHY_SHIP_SOAK_INTERVALS";
/// The file in which it says how many intervals it has had.
const PROGRESS: &str = "progress";
/// Samples of an interval of five seconds.
const SAMPLES: i64 = 100;
const INTERVALS_OF_AN_HOUR: f64 = 720.0;
/// Ten seconds of the host, as between two looks of the agent for files to send.
const PAUSE: Duration = Duration::from_millis(20);
/// What an agent may take.
const MOST_MEMORY: u64 = 64 << 20;
/// What it may grow by after it has run for a while: pages that the allocator keeps.
const GROWTH: u64 = 4 << 20;

fn limits(bytes: u64) -> Limits {
    Limits {
        age: Duration::from_secs(4 * 3600),
        bytes,
        file: Duration::from_secs(60),
        detail: Duration::from_secs(1_000_000),
        ..Limits::default()
    }
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
    let told = |name| std::env::var(name).ok();
    let Some(folder) = told(FOLDER).map(PathBuf::from) else { return };
    let number = |name| told(name).unwrap().parse::<u64>().unwrap();
    let (mut spool, desk) = Spool::open_shipping(&folder, limits(number(BYTES))).unwrap();
    let mut shipper =
        Shipper::new(folder.clone(), "db7".to_owned(), Box::new(s3(&told(BUCKET).unwrap())), desk);
    shipper.pause = PAUSE;
    let first = (newest(&folder) + 1) / SAMPLES;
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| shipper.run(&over));
        for n in first..first + number(INTERVALS) as i64 {
            push(&mut spool, n, first);
            std::fs::write(folder.with_extension(PROGRESS), (n - first).to_string()).unwrap();
        }
        over.store(true, Ordering::Relaxed);
    });
    spool.finish();
    let never = AtomicBool::new(false);
    let sent = (0..1000).any(|_| shipper.send_all(&never).is_ok());
    assert!(sent && spool.unsent_files() == 0, "{} files are left", spool.unsent_files());
    spool.finish();
}

/// Interval `n` of the host, in an agent that began with `first`: the clock is set now and then, once forward, once back.
fn push(spool: &mut Spool, n: i64, first: i64) {
    let mut slice = slice((n - first) * 5, n * SAMPLES, SAMPLES);
    slice.series.push(Nanos(slice.to.as_nanos() as i64), "soak", "interval", SeriesKind::Gauge, n);
    let ahead = if (n / 977) % 2 == 1 { 86_400.0 } else { 0.0 };
    spool.push(&slice, START + ahead + (n + 1) as f64 * 5.0);
    assert_eq!(spool.problem, None);
}

fn start(folder: &Path, bucket: &Bucket, bytes: u64, intervals: i64) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "ship::soak::child", "--ignored", "--nocapture"])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.env(FOLDER, folder).env(BUCKET, &bucket.url).env(BYTES, bytes.to_string());
    command.env(INTERVALS, intervals.to_string()).spawn().unwrap()
}

/// Resident memory of a process; 0 when it has ended.
fn rss(child: &Child) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{}/statm", child.id())).unwrap_or_default();
    let pages: u64 = text.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    pages * rustix::param::page_size() as u64
}

/// What the agents came to.
#[derive(Default)]
struct Ran {
    kills: u64,
    most_memory: u64,
}

/// Intervals that the agent which runs now has had.
fn progress(folder: &Path) -> u64 {
    let told = std::fs::read_to_string(folder.with_extension(PROGRESS)).unwrap_or_default();
    told.parse().unwrap_or(0)
}

/// Runs and kills agents until `hours` of their host have been flushed. The bucket is away in the third and fourth tenth.
fn soak(folder: &Path, bucket: &Bucket, hours: f64, bytes: u64) -> Ran {
    let wanted = hours * INTERVALS_OF_AN_HOUR * SAMPLES as f64;
    let (mut ran, mut seed) = (Ran::default(), 88_172_645_463_325_252u64);
    while ran.kills < 8 || (newest(folder) as f64) < wanted {
        let part = newest(folder) as f64 / wanted;
        bucket.away((0.2..0.6).contains(&part));
        // Xorshift: moments that look like chance and are the same in every run.
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        let _ = std::fs::remove_file(folder.with_extension(PROGRESS));
        let mut agent = start(folder, bucket, bytes, 1_000_000);
        // One to eight minutes, and a moment.
        let intervals = 12 + seed % 84;
        let began = Instant::now();
        while progress(folder) < intervals {
            assert!(began.elapsed() < Duration::from_secs(120), "the agent does not go on");
            std::thread::sleep(Duration::from_millis(5));
            ran.most_memory = ran.most_memory.max(rss(&agent));
        }
        std::thread::sleep(Duration::from_micros(seed >> 40 & 0x7fff));
        agent.kill().unwrap();
        let status = agent.wait().unwrap();
        assert_eq!(status.signal(), Some(9), "it did not end by itself: {status}");
        ran.kills += 1;
    }
    bucket.away(false);
    ran
}

/// An agent that nobody kills: after a quarter of its time it takes no more memory than it has. Ends with all sent.
fn goes_on(folder: &Path, bucket: &Bucket, hours: f64, bytes: u64) -> u64 {
    let mut agent = start(folder, bucket, bytes, (hours * INTERVALS_OF_AN_HOUR) as i64);
    let mut seen = Vec::new();
    let status = loop {
        match agent.try_wait().unwrap() {
            Some(status) => break status,
            None => seen.push(rss(&agent)),
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    assert!(status.success(), "the last one ends by itself: {status}");
    seen.retain(|bytes| *bytes > 0);
    assert!(seen.len() > 40, "{} looks at its memory", seen.len());
    let (before, after) = seen.split_at(seen.len() / 4);
    let most = |of: &[u64]| of.iter().copied().max().unwrap();
    assert!(most(after) <= most(before) + GROWTH, "{} bytes, {} later", most(before), most(after));
    most(&seen)
}

/// What is in the store.
#[derive(Default)]
struct Found {
    files: usize,
    numbers: Vec<i64>,
    /// Of intervals that have a reading.
    intervals: BTreeSet<i64>,
    gaps: usize,
}

/// The files of the store, each put together again from its tables as a capture.
fn in_store(root: &Path) -> Found {
    let mut files: BTreeMap<(String, String), Vec<PathBuf>> = BTreeMap::new();
    for path in super::tests::files_below(root) {
        let start = path.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
        let number = path.file_name().unwrap().to_str().unwrap()[..8].to_owned();
        files.entry((number, start)).or_default().push(path);
    }
    let mut found = Found { files: files.len(), ..Found::default() };
    for (file, parts) in files {
        let folder = tempfile::tempdir().unwrap();
        for path in parts {
            let below = path.strip_prefix(root).unwrap();
            let table = below.iter().next().unwrap().to_str().unwrap();
            let (_, part) = path.file_name().unwrap().to_str().unwrap().split_once('-').unwrap();
            let name = if table == "facts" { "facts.json".to_owned() } else { format!("{table}-{part}") };
            std::fs::copy(&path, folder.path().join(name)).unwrap();
        }
        let capture = Capture::open(folder.path()).unwrap();
        assert!(capture.damage.is_empty() && folder.path().join("facts.json").exists(), "{file:?}");
        found.numbers.extend(numbers(&capture));
        let soak = capture.series.iter().filter(|row| row.source == "soak");
        found.intervals.extend(soak.map(|row| row.value));
        found.gaps += capture.marks.iter().filter(|mark| mark.name == "gap").count();
    }
    found.numbers.sort_unstable();
    found
}

/// Compares what is in the store with what was recorded and what was counted.
fn check(folder: &Path, root: &Path, recorded: i64, kills: u64) -> (Found, Dropped) {
    let (found, state) = (in_store(root), State::load(folder));
    let sent = state.sent.max(super::sent_up_to(folder));
    assert_eq!(entries(folder).unwrap().iter().filter(|entry| entry.number >= sent).count(), 0);
    assert!(found.numbers.windows(2).all(|two| two[0] < two[1]), "each once");
    let mut lost = Rows::default();
    for (reason, dropped) in &state.dropped {
        assert_eq!(dropped.unreadable, 0, "{reason:?}");
        if *reason == crate::spool::Reason::NotWritten {
            lost.add(dropped.rows);
        }
    }
    let counted = (state.unsent.rows.samples + lost.samples) as i64;
    assert_eq!(found.numbers.len() as i64 + counted, recorded, "{state:?}");
    assert_eq!(state.unsent.unreadable, 0);
    // The tables of a flush are written one after the other: a kill between them takes the readings of its 15 seconds.
    let silent: BTreeSet<i64> = found.numbers.iter().map(|number| number / SAMPLES).collect();
    let silent = silent.difference(&found.intervals).count() as u64;
    assert!(silent <= 3 * kills, "{silent} intervals have no reading");
    (found, state.unsent)
}

/// Gives what is in the store.
fn store_and_spool(hours: f64, bytes: u64) -> Found {
    let (dir, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (spool, bucket) = (dir.path().join("spool"), Bucket::start(root.path()));
    std::fs::create_dir(&spool).unwrap();
    let ran = soak(&spool, &bucket, hours, bytes);
    let last = (hours / 5.0 * INTERVALS_OF_AN_HOUR) as i64;
    let recorded = newest(&spool) + 1 + last * SAMPLES;
    let later = goes_on(&spool, &bucket, hours / 5.0, bytes);
    let (found, unsent) = check(&spool, root.path(), recorded, ran.kills);
    assert_eq!(bucket.wrong(), Vec::<String>::new());
    assert!(unsent.files > 0, "the spool was never full");
    assert!(ran.most_memory.max(later) <= MOST_MEMORY, "{} bytes of memory", ran.most_memory.max(later));
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let _ = writeln!(
        std::io::stderr(),
        "{hours} h of a host, {} kills, {} requests: {recorded} samples recorded, {} in the store in {} files, {} dropped \
         unsent and counted; at most {:.1} MiB of memory, {:.1} MiB in {:.1} h without a kill",
        ran.kills,
        bucket.requests(),
        found.numbers.len(),
        found.files,
        unsent.rows.samples,
        mib(ran.most_memory),
        mib(later),
        hours / 5.0
    );
    found
}

#[test]
fn kills_a_store_that_fails_and_a_full_spool_lose_and_double_nothing() {
    store_and_spool(0.8, 80_000);
}

#[test]
#[ignore = "takes minutes: scripts/agent-soak.sh"]
fn thirty_hours_with_kills_and_a_store() {
    let hours = std::env::var("ZWHY_SOAK_HOURS").ok().and_then(|hours| hours.parse().ok()).unwrap_or(30.0);
    let found = store_and_spool(hours, 600_000);
    // In a short run the files with marks may all have been dropped.
    assert!(found.gaps > 0, "of {} files none tells that an agent was away", found.files);
}
