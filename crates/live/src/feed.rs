//! The recorder in a thread of its own: intervals come by a channel, so that whoever shows them can take its time.
//!
//! Where the kernel does not allow sampling, counters and clocks are read all the same, and what is missing is said.

use crate::slice::Slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use zwhy_evidence::CaptureFacts;
use zwhy_record::{Intervals, RecordError, RecordOptions};

/// Intervals that wait to be taken; then the recorder waits, and what it cannot hold meanwhile is counted as lost.
const MOST_WAITING: usize = 8;
/// How often what is known of the host is told, and learned anew.
#[derive(Clone, Copy, Debug)]
pub struct Asking {
    /// Between two copies of the facts, which change seldom.
    pub tell: Duration,
    /// Between two questions to the host and the tools of ZFS; absent: they are asked once.
    pub again: Option<Duration>,
}

impl Default for Asking {
    /// For somebody who watches.
    fn default() -> Asking {
        Asking { tell: Duration::from_secs(5), again: None }
    }
}

/// An interval with what is known of the host, where that was asked again.
pub struct Fed {
    pub slice: Slice,
    /// The host's clock when the interval ended, in seconds since 1970.
    pub unix_s: f64,
    pub facts: Option<Box<CaptureFacts>>,
}

/// A running recording.
pub struct Feed {
    fed: Receiver<Fed>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    /// Sentences on what is missing and how to get it.
    pub missing: Vec<String>,
}

/// What came of waiting for the next interval.
pub enum Next {
    Interval(Box<Fed>),
    /// Nothing yet.
    Waiting,
    /// The recording has ended.
    Over,
}

impl Feed {
    /// Begins to record, until it is dropped; it ends by itself with the options' duration.
    ///
    /// # Errors
    /// As [`Intervals::start`], but for a kernel that does not allow sampling.
    pub fn start(options: RecordOptions) -> Result<Feed, RecordError> {
        Feed::start_asking(options, Asking::default())
    }

    /// As [`Feed::start`], for a recording that goes on for so long that the host changes meanwhile.
    ///
    /// # Errors
    /// As [`Feed::start`].
    pub fn start_asking(options: RecordOptions, asking: Asking) -> Result<Feed, RecordError> {
        let (send, fed) = sync_channel(MOST_WAITING);
        let (say, started) = sync_channel(1);
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        // The recorder counts the CPU time of the thread that it runs in: it begins there, too.
        let thread = std::thread::spawn(move || match begin(&options) {
            Ok((intervals, missing)) => {
                let _ = say.send(Ok(missing));
                run(intervals, asking, &asked, &send);
            }
            Err(error) => drop(say.send(Err(error))),
        });
        let gone = || RecordError::Usage("the recorder ended before it began".to_owned());
        let missing = started.recv().map_err(|_| gone())??;
        Ok(Feed { fed, stop, thread: Some(thread), missing })
    }

    /// Waits up to `timeout` for the next interval.
    pub fn next(&self, timeout: Duration) -> Next {
        match self.fed.recv_timeout(timeout) {
            Ok(fed) => Next::Interval(Box::new(fed)),
            Err(RecvTimeoutError::Timeout) => Next::Waiting,
            Err(RecvTimeoutError::Disconnected) => Next::Over,
        }
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // It may wait for room.
        while self.fed.recv().is_ok() {}
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn begin(options: &RecordOptions) -> Result<(Intervals, Vec<String>), RecordError> {
    let (intervals, mut missing) = match Intervals::start(options) {
        Err(error @ (RecordError::Permission { .. } | RecordError::Perf { .. })) => {
            let without = RecordOptions { sample_cpu: false, ..options.clone() };
            let sentence = format!("stages, functions and CPU time of programs: {error}");
            (Intervals::start(&without)?, vec![sentence])
        }
        other => (other?, Vec::new()),
    };
    missing.extend(intervals.caveats().iter().cloned());
    Ok((intervals, missing))
}

fn run(mut intervals: Intervals, asking: Asking, stop: &AtomicBool, send: &SyncSender<Fed>) {
    let mut told: Option<Duration> = None;
    let mut next_asking = asking.again;
    while let Some(interval) = intervals.next(stop) {
        // One right after the other: what lies between them would look as if the clock had been set.
        let (since_end, now) = (interval.since_end(), unix_now());
        let unix_s = now - since_end.as_secs_f64();
        let slice = Slice::of(&interval);
        let due = told.is_none_or(|at| slice.to.saturating_sub(at) >= asking.tell);
        let facts = due.then(|| Box::new(intervals.facts()));
        if due {
            told = Some(slice.to);
        }
        if let Some(at) = next_asking.filter(|at| slice.to >= *at) {
            next_asking = asking.again.map(|again| at.max(slice.to) + again);
            intervals.ask_again();
        }
        if send.send(Fed { slice, unix_s, facts }).is_err() {
            return;
        }
    }
}

/// Seconds since 1970, by the host's clock.
pub fn unix_now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}
