//! Finished files of the spool go to a store as Parquet files, under keys that depend on nothing but the file.
//!
//! `TABLE/host=NAME/day=DATE/start_ms=MS/NUMBER-PART.parquet`: what reads folders of that kind (DuckDB, DataFusion, Spark) gets
//! host, day and begin as columns, so a row's time is `start_ms + t_ns / 1e6`. The facts of a file are put last.
//!
//! Invariants: files go in their order; a file that was sent twice is there once; while the store is away all stays in the
//! spool, and what is dropped there unsent is counted and not in the store, whatever ends the agent. A file that cannot be
//! read is stepped past, and nothing of it is in the store: the next one goes when the spool has noted that on disk.

#[cfg(test)]
mod bucket;
mod s3;
#[cfg(test)]
mod soak;
mod store;
#[cfg(test)]
mod tests;
mod under_way;
#[cfg(test)]
mod unreadable_tests;

pub use s3::S3Store;
pub use store::{Store, StoreAt};
pub(crate) use under_way::sent_up_to;

use crate::error::AgentError;
use crate::spool::{Entry, entries};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use under_way::UnderWay;
use zwhy_capture::{CaptureError, each_entry};
use zwhy_evidence::CaptureFacts;

/// Between two looks for files to send; after an error, too.
const PAUSE: Duration = Duration::from_secs(10);
const TICK: Duration = Duration::from_millis(200);
/// A file that cannot be read is tried so many times: the disk may recover.
const TRIES: u32 = 3;

/// What the spool and who sends its files know of each other.
#[derive(Debug, Default)]
pub(crate) struct Desk {
    place: Mutex<Place>,
    failures: AtomicU64,
    /// Why the newest file that is stepped past cannot be read.
    unreadable: Mutex<Option<String>>,
}

/// Numbers below which all files are sent or stepped past, and dropped.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    sent: u64,
    dropped: u64,
    /// A file that is to be stepped past, when the spool has noted it.
    passing: Option<u64>,
}

impl Desk {
    pub(crate) fn new(sent: u64, dropped: u64) -> Desk {
        Desk { place: Mutex::new(Place { sent, dropped, passing: None }), ..Desk::default() }
    }

    fn place(&self) -> MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number below which all files are sent or stepped past.
    pub(crate) fn sent(&self) -> u64 {
        self.place().sent
    }

    /// The file that the spool has to note as stepped past.
    pub(crate) fn passing(&self) -> Option<u64> {
        self.place().passing
    }

    /// The spool has noted on disk that this file is stepped past.
    pub(crate) fn passed(&self, number: u64) {
        let mut place = self.place();
        place.sent = place.sent.max(number + 1);
        place.passing = place.passing.filter(|passing| *passing != number);
    }

    /// Asks the spool to note that this file cannot be read.
    fn pass(&self, number: u64, why: String) {
        let mut place = self.place();
        if number >= place.dropped {
            place.passing = Some(number);
            *self.unreadable.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
        }
    }

    /// Why the newest file that is stepped past cannot be read.
    pub(crate) fn unreadable(&self) -> Option<String> {
        self.unreadable.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    fn is_dropped(&self, number: u64) -> bool {
        number < self.place().dropped
    }

    /// The spool drops this file; `true` where it was not sent.
    pub(crate) fn drop_unsent(&self, number: u64) -> bool {
        let mut place = self.place();
        place.dropped = place.dropped.max(number + 1);
        place.passing = place.passing.filter(|passing| *passing > number);
        number >= place.sent
    }

    /// A file was sent; `false` where the spool has dropped and counted it meanwhile.
    fn finish(&self, number: u64) -> bool {
        let mut place = self.place();
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
    /// Between two looks for files to send.
    pause: Duration,
    under_way: UnderWay,
    /// Keys of the file under way that are in the store: a store that fails often still gets all in the end.
    put: BTreeSet<String>,
    /// The file that could not be read the last time, and how often in a row.
    unreadable: (u64, u32),
}

impl Shipper {
    pub(crate) fn new(folder: PathBuf, host: String, store: Box<dyn Store>, desk: Arc<Desk>) -> Shipper {
        let mut under_way = UnderWay::load(&folder);
        // The spool knew that it was sent.
        under_way.settled |= under_way.number < desk.sent();
        Shipper {
            folder,
            host,
            store,
            desk,
            pause: PAUSE,
            under_way,
            put: BTreeSet::new(),
            unreadable: (0, 0),
        }
    }

    /// Sends what is finished until `over` is set; what fails is tried again.
    pub(crate) fn run(&mut self, over: &AtomicBool) {
        while !over.load(Ordering::Relaxed) {
            if self.send_all(over).is_err() {
                self.desk.failures.fetch_add(1, Ordering::Relaxed);
            }
            let mut waited = Duration::ZERO;
            while waited < self.pause && !over.load(Ordering::Relaxed) {
                let tick = TICK.min(self.pause);
                std::thread::sleep(tick);
                waited += tick;
            }
        }
    }

    /// Sends all finished files that were not sent yet, the oldest first.
    ///
    /// # Errors
    /// The first failure of the store or of reading the spool; what was sent stays sent. A file that cannot be read
    /// [`TRIES`] times is stepped past.
    pub(crate) fn send_all(&mut self, over: &AtomicBool) -> Result<(), AgentError> {
        if self.desk.is_dropped(self.under_way.number) {
            self.take_back()?;
        }
        let finished = entries(&self.folder)?.into_iter().filter(Entry::is_finished);
        let sent = self.desk.sent();
        for entry in finished.filter(|entry| entry.number >= sent) {
            if over.load(Ordering::Relaxed) || self.desk.passing().is_some() {
                break;
            }
            if self.under_way.number != entry.number {
                self.take_back()?;
            }
            let sent = match self.send(&entry) {
                // The spool dropped it, and counted it as not sent.
                Err(_) if !entry.path.exists() => false,
                Err(AgentError::Capture(error)) => return self.unreadable(entry.number, error),
                other => other.map(|()| true)?,
            };
            if sent && self.desk.finish(entry.number) {
                self.put.clear();
                self.under_way.settle(true, &self.folder);
            } else {
                self.take_back()?;
            }
        }
        Ok(())
    }

    /// A file of the spool could not be read. At the last try nothing of it stays in the store.
    fn unreadable(&mut self, number: u64, error: CaptureError) -> Result<(), AgentError> {
        let before = if self.unreadable.0 == number { self.unreadable.1 } else { 0 };
        self.unreadable = (number, before + 1);
        if before + 1 >= TRIES {
            self.take_back()?;
            self.desk.pass(number, error.to_string());
        }
        Err(error.into())
    }

    /// Takes what may have been put of a file that is counted as not sent out of the store again. What was not answered may
    /// be there, too, and so may what an agent put that was killed.
    fn take_back(&mut self) -> Result<(), AgentError> {
        if self.under_way.settled {
            return Ok(());
        }
        self.put.clear();
        while let Some(key) = self.under_way.first_key() {
            self.store.remove(&key)?;
            self.under_way.pop_first_key();
        }
        self.under_way.settle(false, &self.folder);
        Ok(())
    }

    /// Puts those entries of one file that are not there yet.
    fn send(&mut self, entry: &Entry) -> Result<(), AgentError> {
        if self.under_way.settled || self.under_way.number != entry.number {
            let start_ms = start_ms(&entry.path)?.unwrap_or(entry.start_unix_s * 1e3) as i64;
            self.under_way.begin(&self.folder, entry.number, &entry.path, (&self.host, start_ms))?;
            self.put.clear();
        }
        let (under_way, store, put) = (&self.under_way, &mut self.store, &mut self.put);
        each_entry(&entry.path, |table, part, bytes| -> Result<(), AgentError> {
            let key = under_way.key(table, part);
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
        let desk = Desk::new(3, 0);
        assert!(!desk.drop_unsent(2), "it had been sent");
        assert!(desk.finish(3) && desk.sent() == 4);
        assert!(desk.drop_unsent(4) && !desk.finish(4));
        assert!(desk.is_dropped(4) && !desk.is_dropped(5));
        assert_eq!(desk.sent(), 4);
        assert!(desk.finish(5));
    }

    #[test]
    fn a_file_that_is_stepped_past_and_dropped_meanwhile_holds_nobody_up() {
        let desk = Desk::new(3, 0);
        desk.pass(3, "EIO".to_owned());
        assert_eq!((desk.passing(), desk.sent()), (Some(3), 3));
        assert!(desk.drop_unsent(3) && desk.passing().is_none());
        desk.pass(3, "EIO".to_owned());
        assert_eq!(desk.passing(), None, "it is counted already");
        desk.pass(4, "EIO".to_owned());
        desk.passed(4);
        assert_eq!((desk.passing(), desk.sent()), (None, 5));
        assert!(!desk.drop_unsent(4), "the spool counts it");
    }
}
