//! What the agent says of itself, in a file of its spool: for `zwhy agent status`, and for whoever looks later.

use crate::error::AgentError;
use crate::findings::{Episode, LoggedFinding, read_log};
use crate::spool::{Dropped, Entry, Reason, Rows, State, entries, writer_of};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const NAME: &str = "status.json";
/// Findings of the log that are told.
const MOST_TOLD: usize = 20;

/// What a running agent writes down each minute; of one that has ended, its last words.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Status {
    pub zwhy: String,
    pub pid: u32,
    pub started_unix_s: f64,
    pub at_unix_s: f64,
    /// Where metrics are served; absent where they are not.
    pub listens: Option<String>,
    /// Sentences on what is missing and how to get it.
    pub missing: Vec<String>,
    /// Why the last write to the spool failed, while it does.
    pub problem: Option<String>,
    /// Why the newest file that was not sent, as it cannot be read, cannot.
    pub unreadable: Option<String>,
    /// CPU time of the agent, of one CPU, since it started.
    pub cpu_share: f64,
    pub rss_bytes: Option<u64>,
    /// Since it started: rows that were written and that were not.
    pub written: Rows,
    pub not_written: Rows,
    /// Samples that the kernel had no room for.
    pub samples_lost: u64,
    /// The newest verdict, and how long it took.
    pub why: Option<String>,
    #[serde(rename = "do")]
    pub act: Option<String>,
    pub verdict_cpu_s: Option<f64>,
    /// Findings that last.
    pub findings: Vec<Episode>,
}

impl Status {
    /// Writes it in place of the one before.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), AgentError> {
        let (path, temporary) = (folder.join(NAME), folder.join(".zwhy-status.tmp"));
        let text = serde_json::to_vec_pretty(self).map_err(std::io::Error::other);
        text.and_then(|text| fs::write(&temporary, text).and_then(|()| fs::rename(&temporary, &path)))
            .map_err(AgentError::io("write", &path))
    }

    fn read(folder: &Path) -> Option<Status> {
        serde_json::from_slice(&fs::read(folder.join(NAME)).ok()?).ok()
    }
}

/// The state of a spool, whether an agent runs or not.
#[derive(Clone, Debug, Serialize)]
pub struct Look {
    pub spool: PathBuf,
    /// Process of the agent that writes it now.
    pub running: Option<String>,
    pub files: usize,
    pub bytes: u64,
    /// What is kept: time that was recorded, from when to when.
    pub seconds: f64,
    pub from_unix_s: Option<f64>,
    pub to_unix_s: Option<f64>,
    pub gaps: u64,
    pub dropped: BTreeMap<Reason, Dropped>,
    /// Files that were not sent to the store, as they cannot be read.
    pub passed: usize,
    /// The agent's own words.
    pub agent: Option<Status>,
    /// The newest lines of the findings log, the newest first.
    pub log: Vec<LoggedFinding>,
}

impl Look {
    /// Looks at a folder without touching it.
    ///
    /// # Errors
    /// When it cannot be read, or is no spool.
    pub fn at(folder: &Path) -> Result<Look, AgentError> {
        let found = entries(folder)?;
        let state = State::load(folder);
        if found.is_empty() && state == State::default() {
            return Err(AgentError::Empty(folder.to_owned()));
        }
        let end = |entry: &Entry| entry.start_unix_s + entry.seconds.unwrap_or(0.0);
        let mut log = read_log(folder)?;
        log.reverse();
        log.truncate(MOST_TOLD);
        Ok(Look {
            spool: folder.to_owned(),
            running: writer_of(folder),
            files: found.len(),
            bytes: found.iter().map(|entry| entry.bytes).sum(),
            seconds: found.iter().filter_map(|entry| entry.seconds).sum(),
            from_unix_s: found.first().map(|entry| entry.start_unix_s),
            to_unix_s: found.last().map(end),
            gaps: state.gaps,
            dropped: state.dropped,
            passed: state.passed.len(),
            agent: Status::read(folder),
            log,
        })
    }
}
