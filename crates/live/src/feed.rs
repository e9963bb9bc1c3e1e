//! The recorder in a thread of its own: intervals come by a channel, so that whoever shows them can take its time.
//!
//! Where the kernel does not allow sampling, counters and clocks are read all the same, and what is missing is said.

use crate::slice::Slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;
use zwhy_evidence::CaptureFacts;
use zwhy_record::{Intervals, RecordError, RecordOptions};

/// Intervals that wait to be taken; then the recorder waits, and what it cannot hold meanwhile is counted as lost.
const MOST_WAITING: usize = 8;
/// Between two readings of the facts, which change seldom.
const FACTS_EVERY: Duration = Duration::from_secs(5);

/// An interval with what is known of the host, where that was asked again.
pub struct Fed {
    pub slice: Slice,
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
        let (send, fed) = sync_channel(MOST_WAITING);
        let (say, started) = sync_channel(1);
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        // The recorder counts the CPU time of the thread that it runs in: it begins there, too.
        let thread = std::thread::spawn(move || match begin(&options) {
            Ok((intervals, missing)) => {
                let _ = say.send(Ok(missing));
                run(intervals, &asked, &send);
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

fn run(mut intervals: Intervals, stop: &AtomicBool, send: &SyncSender<Fed>) {
    let mut asked: Option<Duration> = None;
    while let Some(interval) = intervals.next(stop) {
        let slice = Slice::of(&interval);
        let due = asked.is_none_or(|at| slice.to.saturating_sub(at) >= FACTS_EVERY);
        let facts = due.then(|| Box::new(intervals.facts()));
        if due {
            asked = Some(slice.to);
        }
        if send.send(Fed { slice, facts }).is_err() {
            return;
        }
    }
}
