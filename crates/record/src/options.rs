//! What to record, for how long, into which file.

use crate::error::RecordError;
use crate::target::Target;
use crate::triggers::Trigger;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use zwhy_evidence::CaptureFacts;

#[derive(Clone, Debug)]
pub struct RecordOptions {
    /// Samples a second and CPU: 1 to 4999.
    pub hz: u32,
    pub target: Target,
    /// `None`: until the target ends or [`crate::Recording::stop`].
    pub duration: Option<Duration>,
    /// The capture file, `NAME.zwhy`.
    pub out: PathBuf,
    /// Leave the kernel out even where it may be seen.
    pub user_only: bool,
    /// Add source lines and inlined functions where there is debug information.
    pub lines: bool,
    /// Sample what is on the CPUs. Off where the kernel refuses it: then only counters and clocks are read.
    pub sample_cpu: bool,
    /// Sample processes by the timers of all CPUs where the kernel allows it, and keep only what is theirs. A
    /// timer of each thread starts and stops whenever the thread does, on the account of the thread: where threads
    /// switch often that is a good part of the CPU that they are seen to use.
    pub by_cpu: bool,
    /// Time between readings of counters.
    pub interval: Duration,
    /// Looks a second at what waits, 10 to 50; `None`: waiting is not recorded.
    pub wait_hz: Option<u32>,
    /// Record the time off the CPU of every thread, from context switches; not together with `wait_hz`,
    /// which would count the same waiting twice.
    pub off_cpu: bool,
    /// Keep only the last seconds, in memory, and write them when something asks for them.
    pub keep_last: Option<KeepLast>,
    /// Record the host's OpenZFS: its pools and datasets, its counters, and the memory it shares. Off for
    /// a process that brings an OpenZFS of its own.
    pub ask_zfs: bool,
    /// Record latencies and queues of vdevs, for which a `zpool iostat` goes on beside the recording.
    pub vdevs: bool,
    /// Facts of the caller, put over the recorder's own (for example `kind` and `experiment`).
    pub facts: CaptureFacts,
    /// Where /proc is, for counters; tests give a folder of their own.
    pub proc_root: PathBuf,
}

/// How the last seconds are kept and when they are written; they are always written at the end.
#[derive(Clone, Debug)]
pub struct KeepLast {
    pub span: Duration,
    /// Conditions that write them, a quarter of the span after they began to hold.
    pub triggers: Vec<Trigger>,
    /// Go on after writing: the next file is called `NAME-2.zwhy`. Else the recording ends.
    pub repeat: bool,
    /// Write now when this is set, as a signal does; it is cleared.
    pub write_now: Arc<AtomicBool>,
}

/// Spans that can be kept: shorter ones hold no second reading of counters, longer ones no memory.
pub(crate) const SPANS: std::ops::RangeInclusive<Duration> =
    Duration::from_secs(2)..=Duration::from_secs(3600);

/// The kernel's hard ceiling for one event is far higher; beyond this the sampler becomes the load.
pub const MAX_HZ: u32 = 4999;

/// Rates of looking at waiting threads: below it short waits are missed, above it looking costs more
/// than it shows.
pub const WAIT_HZ: std::ops::RangeInclusive<u32> = 10..=50;

impl RecordOptions {
    pub fn new(target: Target, out: impl Into<PathBuf>) -> RecordOptions {
        RecordOptions {
            hz: 99,
            target,
            duration: None,
            out: out.into(),
            user_only: false,
            lines: false,
            sample_cpu: true,
            by_cpu: false,
            interval: Duration::from_secs(1),
            wait_hz: None,
            off_cpu: false,
            keep_last: None,
            ask_zfs: true,
            vdevs: true,
            facts: CaptureFacts::default(),
            proc_root: PathBuf::from("/proc"),
        }
    }

    /// For [`crate::Intervals`], which keep no file.
    pub fn without_file(target: Target) -> RecordOptions {
        RecordOptions { vdevs: false, ..RecordOptions::new(target, PathBuf::new()) }
    }

    pub(crate) fn check(&self) -> Result<(), RecordError> {
        if self.hz == 0 || self.hz > MAX_HZ {
            return Err(RecordError::Usage(format!(
                "a rate of {} Hz is not possible; give 1 to {MAX_HZ}, 99 is a good start",
                self.hz
            )));
        }
        if let Some(hz) = self.wait_hz.filter(|hz| !WAIT_HZ.contains(hz)) {
            return Err(RecordError::Usage(format!(
                "looking at waiting threads {hz} times a second is not possible; give {} to {}",
                WAIT_HZ.start(),
                WAIT_HZ.end()
            )));
        }
        if let Some(last) = self.keep_last.as_ref().filter(|last| !SPANS.contains(&last.span)) {
            return Err(RecordError::Usage(format!(
                "the last {} s cannot be kept; give {} to {} s",
                last.span.as_secs_f64(),
                SPANS.start().as_secs(),
                SPANS.end().as_secs()
            )));
        }
        self.check_off_cpu()?;
        self.target.problem().map_or(Ok(()), |problem| Err(RecordError::Usage(problem)))
    }

    fn check_off_cpu(&self) -> Result<(), RecordError> {
        let reason = match self {
            _ if !self.off_cpu => return Ok(()),
            RecordOptions { wait_hz: Some(_), .. } => {
                "--wait: both would count the same waiting; --off-cpu sees every wait of a millisecond, \
                 --wait costs less; give one"
            }
            RecordOptions { user_only: true, .. } => {
                "--user-only: its stacks are the kernel's; leave one out"
            }
            _ => return Ok(()),
        };
        Err(RecordError::Usage(format!("--off-cpu does not go with {reason}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_never_counted_twice() {
        let mut options = RecordOptions::new(Target::System, "a.zwhy");
        options.off_cpu = true;
        assert!(options.check().is_ok());
        let both = RecordOptions { wait_hz: Some(20), ..options.clone() };
        assert!(both.check().is_err_and(|e| e.is_usage() && e.to_string().contains("--wait")));
        let group = RecordOptions { target: Target::Cgroup("a".into()), ..options.clone() };
        assert!(group.check().is_ok());
        let write_now = Arc::default();
        let last = KeepLast { span: Duration::from_secs(60), triggers: Vec::new(), repeat: true, write_now };
        assert!(RecordOptions { keep_last: Some(last), ..options }.check().is_ok());
    }
}
