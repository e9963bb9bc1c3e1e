//! What to record, for how long, into which file.

use crate::error::RecordError;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Whose CPU time is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Every CPU of the host.
    System,
    /// Processes with all their threads, and what they start.
    Pid(Vec<i32>),
    /// A command with its arguments, from its first instruction to its exit.
    Command(Vec<OsString>),
}

impl Target {
    /// As shown to people and kept in the facts.
    pub fn describe(&self) -> String {
        match self {
            Target::System => "system".to_owned(),
            Target::Pid(pids) => {
                let pids: Vec<String> = pids.iter().map(i32::to_string).collect();
                format!("pid {}", pids.join(","))
            }
            Target::Command(words) => {
                let words: Vec<_> = words.iter().map(|w| w.to_string_lossy()).collect();
                format!("command {}", words.join(" "))
            }
        }
    }
}

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
    /// Time between readings of counters.
    pub interval: Duration,
    /// Ask `zpool` and `zfs` for pools and datasets.
    pub ask_zfs: bool,
    /// Facts of the caller, put over the recorder's own (for example `kind` and `experiment`).
    pub facts: serde_json::Map<String, serde_json::Value>,
    /// Where /proc is, for counters; tests give a folder of their own.
    pub proc_root: PathBuf,
}

/// The kernel's hard ceiling for one event is far higher; beyond this the sampler becomes the load.
pub const MAX_HZ: u32 = 4999;

impl RecordOptions {
    pub fn new(target: Target, out: impl Into<PathBuf>) -> RecordOptions {
        RecordOptions {
            hz: 99,
            target,
            duration: None,
            out: out.into(),
            user_only: false,
            interval: Duration::from_secs(1),
            ask_zfs: true,
            facts: serde_json::Map::new(),
            proc_root: PathBuf::from("/proc"),
        }
    }

    pub(crate) fn check(&self) -> Result<(), RecordError> {
        if self.hz == 0 || self.hz > MAX_HZ {
            return Err(RecordError::Usage(format!(
                "a rate of {} Hz is not possible; give 1 to {MAX_HZ}, 99 is a good start",
                self.hz
            )));
        }
        match &self.target {
            Target::Pid(pids) if pids.is_empty() => {
                Err(RecordError::Usage("no process id given; name one with -p or use -a".into()))
            }
            Target::Pid(pids) => match pids.iter().find(|p| **p <= 0) {
                Some(pid) => Err(RecordError::Usage(format!("{pid} is not a process id"))),
                None => Ok(()),
            },
            Target::Command(words) if words.is_empty() => {
                Err(RecordError::Usage("no command given after --".into()))
            }
            _ => Ok(()),
        }
    }
}
