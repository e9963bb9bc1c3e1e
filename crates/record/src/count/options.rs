//! What to count, where and for how long.

use super::error::CountError;
use crate::target::Target;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Clone, Debug)]
pub struct CountOptions {
    /// `FUNCTION`, `OBJECT:FUNCTION` or `MODULE:FUNCTION`; `*` stands for any characters.
    pub function: String,
    /// Tell calls apart whose stack holds a function of this name.
    pub under: Option<String>,
    /// Count this function too, and relate the calls below it to its own calls.
    pub per: Option<String>,
    /// Whose calls are counted; not a control group.
    pub target: Target,
    /// `None`: until the target ends or [`super::Counting::stop`].
    pub duration: Option<Duration>,
    /// Share of the CPU time of all CPUs that counting may take, 0.05 for 5 %; `None`: no limit.
    pub max_overhead: Option<f64>,
    /// Capture to write besides the result.
    pub out: Option<PathBuf>,
}

impl CountOptions {
    /// Counts on the whole host until stopped, with a limit of 5 %.
    pub fn new(function: impl Into<String>, target: Target) -> CountOptions {
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
        if let Some(problem) = self.target.problem() {
            return Err(CountError::Usage(problem));
        }
        match &self.target {
            Target::Cgroup(_) => usage("calls are not counted by control group; name processes with -p"),
            _ if self.max_overhead.is_some_and(|o| o.is_nan() || o <= 0.0) => {
                usage("a limit of the overhead is a share above 0")
            }
            _ => Ok(()),
        }
    }
}
