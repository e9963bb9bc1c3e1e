//! What to count, where and for how long.

use super::error::CountError;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Whose calls are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CountTarget {
    /// Every process and the kernel's threads.
    System,
    /// Processes with all their threads, and what they start.
    Pid(Vec<i32>),
    /// A command with its arguments and all it starts, from its exec to its exit.
    Command(Vec<OsString>),
}

#[derive(Clone, Debug)]
pub struct CountOptions {
    /// `FUNCTION`, `OBJECT:FUNCTION` or `MODULE:FUNCTION`; `*` stands for any characters.
    pub function: String,
    /// Tell calls apart whose stack holds a function of this name.
    pub under: Option<String>,
    /// Count this function too, and relate the calls below it to its own calls.
    pub per: Option<String>,
    pub target: CountTarget,
    /// `None`: until the target ends or [`super::Counting::stop`].
    pub duration: Option<Duration>,
    /// Share of the CPU time of all CPUs that counting may take, 0.05 for 5 %; `None`: no limit.
    pub max_overhead: Option<f64>,
    /// Capture to write besides the result.
    pub out: Option<PathBuf>,
}

impl CountOptions {
    /// Counts on the whole host until stopped, with a limit of 5 %.
    pub fn new(function: impl Into<String>, target: CountTarget) -> CountOptions {
        CountOptions {
            function: function.into(),
            under: None,
            per: None,
            target,
            duration: None,
            max_overhead: Some(0.05),
            out: None,
        }
    }

    pub(super) fn check(&self) -> Result<(), CountError> {
        let usage = |text: &str| Err(CountError::Usage(text.to_owned()));
        match &self.target {
            CountTarget::Pid(pids) if pids.is_empty() || pids.iter().any(|p| *p <= 0) => {
                usage("give process ids greater than 0 with -p")
            }
            CountTarget::Command(words) if words.is_empty() => usage("no command given after --"),
            _ if self.max_overhead.is_some_and(|o| o.is_nan() || o <= 0.0) => {
                usage("a limit of the overhead is a share above 0")
            }
            _ => Ok(()),
        }
    }
}
