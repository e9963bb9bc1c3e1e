//! Finished files of the spool go to a store as Parquet files, under keys that depend on nothing but the file.
//!
//! `TABLE/host=NAME/day=DATE/start_ms=MS/NUMBER-PART.parquet`: what reads folders of that kind (DuckDB, DataFusion, Spark) gets
//! host, day and begin as columns, so a row's time is `start_ms + t_ns / 1e6`. The facts of a file are put last.
//!
//! Invariants: files go in their order; a file that was sent twice is there once; while the store is away all stays in the
//! spool, and what is dropped there unsent is counted.

#[cfg(test)]
mod bucket;
mod s3;
mod store;
#[cfg(test)]
mod tests;

pub use s3::S3Store;
pub use store::{Store, StoreAt};

use crate::error::AgentError;
use crate::spool::{Entry, entries};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use zwhy_capture::{CaptureError, each_entry, shipped_key};
use zwhy_evidence::CaptureFacts;

/// Between two looks for files to send; after an error, too.
const PAUSE: Duration = Duration::from_secs(10);
const TICK: Duration = Duration::from_millis(200);

/// What the spool and who sends its files know of each other.
#[derive(Debug, Default)]
pub(crate) struct Desk {
    place: Mutex<Place>,
    failures: AtomicU64,
}

/// Numbers below which all files are sent, and dropped.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    sent: u64,
    dropped: u64,
}

impl Desk {
    pub(crate) fn new(sent: u64) -> Desk {
        Desk { place: Mutex::new(Place { sent, dropped: 0 }), failures: AtomicU64::default() }
    }

    /// Number below which all files are sent.
    pub(crate) fn sent(&self) -> u64 {
        self.place.lock().unwrap_or_else(PoisonError::into_inner).sent
    }

    pub(crate) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// The spool drops this file; `true` where it was not sent.
    pub(crate) fn drop_unsent(&self, number: u64) -> bool {
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        place.dropped = place.dropped.max(number + 1);
        number >= place.sent
    }

    /// A file was sent; `false` where the spool has dropped and counted it meanwhile.
    fn finish(&self, number: u64) -> bool {
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        if number < place.dropped {
            return false;
        }
        place.sent = place.sent.max(number + 1);
        true
    }
}

/// Sends the finished files of a spool.
pub(crate) struct Shipper {
    folder: PathBuf,
    host: String,
    store: Box<dyn Store>,
    pub desk: Arc<Desk>,
    /// Keys of the file under way that are in the store: a store that fails often still gets all in the end.
    put: BTreeSet<String>,
    /// Number of that file.
    under_way: u64,
}

impl Shipper {
    pub(crate) fn new(folder: PathBuf, host: String, store: Box<dyn Store>, desk: Arc<Desk>) -> Shipper {
        Shipper { folder, host, store, desk, put: BTreeSet::new(), under_way: 0 }
    }

    /// Sends what is finished until `over` is set; what fails is tried again.
    pub(crate) fn run(&mut self, over: &AtomicBool) {
        while !over.load(Ordering::Relaxed) {
            if self.send_all(over).is_err() {
                self.desk.failures.fetch_add(1, Ordering::Relaxed);
            }
            let mut waited = Duration::ZERO;
            while waited < PAUSE && !over.load(Ordering::Relaxed) {
                std::thread::sleep(TICK);
                waited += TICK;
            }
        }
    }

    /// Sends all finished files that were not sent yet, the oldest first.
    ///
    /// # Errors
    /// The first failure of the store or of reading the spool; what was sent stays sent.
    pub(crate) fn send_all(&mut self, over: &AtomicBool) -> Result<(), AgentError> {
        let finished = entries(&self.folder)?.into_iter().filter(Entry::is_finished);
        let sent = self.desk.sent();
        for entry in finished.filter(|entry| entry.number >= sent) {
            if over.load(Ordering::Relaxed) {
                break;
            }
            if self.under_way != entry.number {
                // The one before was dropped half-way.
                self.take_back()?;
                self.under_way = entry.number;
            }
            let sent = match self.send(&entry) {
                // The spool dropped it, and counted it as not sent.
                Err(_) if !entry.path.exists() => false,
                other => other.map(|()| true)?,
            };
            if sent && self.desk.finish(entry.number) {
                self.put.clear();
            } else {
                self.take_back()?;
            }
        }
        Ok(())
    }

    /// Takes what was put of a file that is counted as not sent out of the store again.
    fn take_back(&mut self) -> Result<(), AgentError> {
        while let Some(key) = self.put.first() {
            self.store.remove(key)?;
            self.put.pop_first();
        }
        Ok(())
    }

    /// Puts those entries of one file that are not there yet.
    fn send(&mut self, entry: &Entry) -> Result<(), AgentError> {
        let start_ms = start_ms(&entry.path)?.unwrap_or(entry.start_unix_s * 1e3) as i64;
        let (host, store, put) = (&self.host, &mut self.store, &mut self.put);
        let name = format!("{:08}", entry.number);
        each_entry(&entry.path, |table, part, bytes| -> Result<(), AgentError> {
            let key = shipped_key(table, host, start_ms, &name, part);
            if !put.contains(&key) {
                store.put(&key, bytes)?;
                put.insert(key);
            }
            Ok(())
        })
    }
}

/// When a file begins, by its facts.
fn start_ms(path: &Path) -> Result<Option<f64>, AgentError> {
    let mut start = None;
    each_entry(path, |table, _, bytes| -> Result<(), CaptureError> {
        if table == "facts" {
            start = CaptureFacts::from_slice(bytes).ok().and_then(|(facts, _)| facts.start_unix_s);
        }
        Ok(())
    })?;
    Ok(start.map(|start| (start * 1e3).round()))
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn a_file_is_sent_or_dropped_and_never_both() {
        let desk = Desk::new(3);
        assert!(!desk.drop_unsent(2), "it had been sent");
        assert!(desk.finish(3) && desk.sent() == 4);
        assert!(desk.drop_unsent(4) && !desk.finish(4));
        assert_eq!(desk.sent(), 4);
        assert!(desk.finish(5));
    }
}
