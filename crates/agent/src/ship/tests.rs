//! A store that fails a third of its requests, and a spool that is full meanwhile: every row is in the store or counted.

use super::{FileStore, Shipper, Store};
use crate::error::AgentError;
use crate::spool::{Limits, Rows, Spool, entries};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use zwhy_capture::{Series, SeriesKind};
use zwhy_live::Slice;
use zwhy_profile::{Event, FrameKind, Nanos, Sample};

/// Fails a third of its requests: half of these after the bytes are there.
struct Flaky {
    store: FileStore,
    requests: u32,
    away: bool,
}

impl Flaky {
    fn request(&mut self) -> Result<bool, AgentError> {
        self.requests += 1;
        let failed = || AgentError::io("write", Path::new("store"))(std::io::Error::other("away"));
        match self.requests % 6 {
            _ if self.away => Err(failed()),
            1 => Err(failed()),
            4 => Ok(false),
            _ => Ok(true),
        }
    }
}

impl Store for Flaky {
    fn put(&mut self, key: &str, bytes: &[u8]) -> Result<(), AgentError> {
        let answered = self.request()?;
        self.store.put(key, bytes)?;
        match answered {
            true => Ok(()),
            false => Err(AgentError::io("write", Path::new(key))(std::io::Error::other("no answer"))),
        }
    }

    fn remove(&mut self, key: &str) -> Result<(), AgentError> {
        self.store.remove(key)
    }
}

/// Interval `n` with 10 samples numbered from `10 n` on.
fn slice(n: i64) -> Slice {
    let s = |n: i64| Duration::from_secs(n as u64 * 5);
    let mut slice = Slice { from: s(n), to: s(n + 1), ..Slice::default() };
    let frame = slice.profile.frame("zio_execute", "zfs", FrameKind::Kernel);
    let (stack, thread) = (slice.profile.stack(&[frame]), slice.profile.thread(3, 3, "z_rd_int"));
    for at in 0..10 {
        let (t, weight) = (Nanos(s(n).as_nanos() as i64 + at), Nanos(n * 10 + at));
        slice.profile.samples.push(Sample { t, weight, ..Sample::counted(thread, stack, Event::Cpu, 1) });
    }
    let mut series = Series::default();
    series.push(Nanos(s(n + 1).as_nanos() as i64), "cpu/all", "sys_ns", SeriesKind::Counter, n);
    Slice { series, ..slice }
}

fn files_below(folder: &Path) -> BTreeSet<PathBuf> {
    let (mut todo, mut files) = (vec![folder.to_owned()], BTreeSet::new());
    while let Some(folder) = todo.pop() {
        let paths = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path());
        let (folders, found): (Vec<PathBuf>, Vec<PathBuf>) = paths.partition(|path| path.is_dir());
        todo.extend(folders);
        files.extend(found);
    }
    files
}

/// Rows and files of a table in the store.
fn in_store(root: &Path, table: &str) -> (u64, BTreeSet<PathBuf>) {
    let files = files_below(&root.join(table));
    let rows = |path: &PathBuf| {
        // As a folder that is recorded into: the table's name and a number.
        let folder = tempfile::tempdir().unwrap();
        std::fs::copy(path, folder.path().join(format!("{table}-000001.parquet"))).unwrap();
        zwhy_capture::row_counts(folder.path()).unwrap()[table]
    };
    (files.iter().map(rows).sum(), files)
}

#[test]
fn rows_in_the_store_and_those_dropped_unsent_are_all() {
    let (dir, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = Duration::from_secs(20);
    let limits = Limits { age: Duration::from_secs(100), file, flush: file, ..Limits::default() };
    let store = FileStore::at(&format!("file://{}", root.path().display())).unwrap();
    let never = AtomicBool::new(false);
    let (mut written, mut n, mut requests) = (Rows::default(), 0, 0);
    // Five agents one after the other; the store is away while the second one runs.
    for life in 0..5 {
        let mut spool = Spool::open(dir.path(), limits).unwrap();
        let desk = spool.ship();
        let store = Box::new(Flaky { store: store.clone(), requests, away: life == 1 });
        let mut shipper = Shipper::new(dir.path().to_owned(), "db7".into(), store, desk);
        for at in 0..80 {
            let mut slice = slice(n + at);
            (slice.from, slice.to) =
                (Duration::from_secs(at as u64 * 5), Duration::from_secs(at as u64 * 5 + 5));
            spool.push(&slice, 1e9 + (n + at + 1) as f64 * 5.0);
            // It fails now and then; what was sent before is sent again.
            let _ = shipper.send_all(&never);
            requests += 1;
        }
        n += 80;
        spool.finish();
        written.add(spool.written);
    }
    let mut spool = Spool::open(dir.path(), limits).unwrap();
    let desk = spool.ship();
    let store = Box::new(Flaky { store, requests: 0, away: false });
    let mut shipper = Shipper::new(dir.path().to_owned(), "db7".into(), store, desk);
    let tries = (0..100).take_while(|_| shipper.send_all(&never).is_err()).count();
    assert!(tries < 100 && spool.unsent_files() == 0);
    spool.finish();
    let unsent = spool.state().unsent;
    assert!(unsent.files > 5 && unsent.unreadable == 0, "{unsent:?}");
    let (samples, files) = in_store(root.path(), "samples");
    assert_eq!((samples + unsent.rows.samples, written.samples), (4000, 4000));
    let (series, _) = in_store(root.path(), "series");
    assert_eq!(series + unsent.rows.series, written.series);
    assert!(
        files.iter().all(|path| path.extension().is_some_and(|e| e == "parquet")),
        "nothing half: {files:?}"
    );
    assert_eq!(files_below(&root.path().join("facts")).len(), files.len(), "facts of every file");
    assert!(entries(dir.path()).unwrap().len() <= 7, "the spool is bounded");
}
