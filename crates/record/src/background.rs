//! A recording in a thread of its own, for callers that do the recorded work themselves.

use crate::error::RecordError;
use crate::options::RecordOptions;
use crate::recording::Recording;
use crate::summary::Summary;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use zwhy_host::monotonic_ns;
use zwhy_profile::Nanos;

struct MarkNow {
    at_ns: u64,
    name: String,
    text: String,
}

/// Handle of a recording that runs beside the caller. Dropped without [`Background::stop`], the
/// recording ends and its capture is completed all the same.
pub struct Background {
    marks: Sender<MarkNow>,
    thread: JoinHandle<Result<Summary, RecordError>>,
}

impl Background {
    /// Starts to record; returns when sampling is on.
    pub fn start(options: RecordOptions) -> Result<Background, RecordError> {
        let recording = Recording::start(options)?;
        let (marks, receive) = channel();
        let thread = std::thread::Builder::new()
            .name("zwhy-record".into())
            .spawn(move || follow(recording, &receive))
            .map_err(RecordError::io("start the recorder's thread"))?;
        Ok(Background { marks, thread })
    }

    /// Names this moment.
    pub fn mark(&self, name: &str, text: &str) {
        self.send(monotonic_ns(), name, text);
    }

    /// Names a moment; `t` is the system's monotonic clock.
    pub fn mark_at(&self, t: Nanos, name: &str, text: &str) {
        self.send(u64::try_from(t.0).unwrap_or(0), name, text);
    }

    fn send(&self, at_ns: u64, name: &str, text: &str) {
        // When the recording has failed, `stop` says why.
        let _ = self.marks.send(MarkNow { at_ns, name: name.to_owned(), text: text.to_owned() });
    }

    /// Ends the recording and packs the capture.
    pub fn stop(self) -> Result<Summary, RecordError> {
        drop(self.marks);
        let lost = || RecordError::Io { deed: "record", source: std::io::Error::other("the recorder died") };
        self.thread.join().unwrap_or_else(|_| Err(lost()))
    }
}

/// Records until the handle is gone, then stops.
fn follow(mut recording: Recording, marks: &Receiver<MarkNow>) -> Result<Summary, RecordError> {
    let mut over = false;
    loop {
        match marks.try_recv() {
            Ok(mark) => {
                recording.mark_at(mark.at_ns, &mark.name, &mark.text)?;
                continue;
            }
            Err(TryRecvError::Disconnected) => return recording.stop(),
            Err(TryRecvError::Empty) => {}
        }
        if over {
            // The target has ended; its capture waits for the last marks.
            std::thread::sleep(Duration::from_millis(10));
        } else {
            over = !recording.poll(Duration::from_millis(50))?;
        }
    }
}
