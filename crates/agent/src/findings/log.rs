//! The findings log: one line of JSON when a finding begins and one when it ends, appended and never rewritten.
//!
//! A line that was cut by a kill is passed over by readers and ended before the next one is written. When the log has
//! reached its size it becomes `findings.jsonl.1`, in place of the one before.

use super::{Change, Episode};
use crate::error::AgentError;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const NAME: &str = "findings.jsonl";
/// The one before.
const OLD: &str = "findings.jsonl.1";
/// Bytes of a log, some 3,000 findings.
const MOST_BYTES: u64 = 1 << 20;

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoggedFinding {
    pub event: LogEvent,
    #[serde(flatten)]
    pub episode: Episode,
    /// When it was last seen, of one that has ended.
    pub end_unix_s: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogEvent {
    Begin,
    End,
    /// The agent ended before the finding did; it may have lasted longer.
    Unknown,
}

/// The log of a spool.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    old: PathBuf,
}

impl Log {
    /// Opens the log and ends what an earlier agent left without an end, which was last recorded at `until`.
    ///
    /// # Errors
    /// When the log cannot be read or written.
    pub fn open(folder: &Path, until: Option<f64>) -> Result<Log, AgentError> {
        let log = Log { path: folder.join(NAME), old: folder.join(OLD) };
        let mut lasting = lasting(&read_log(folder)?);
        if let Some(until) = until {
            lasting.iter_mut().for_each(|episode| episode.seen_unix_s = episode.seen_unix_s.max(until));
        }
        log.append(lasting.into_iter().map(|episode| line(LogEvent::Unknown, episode)))?;
        Ok(log)
    }

    /// Writes a line for each change.
    ///
    /// # Errors
    /// When the log cannot be written; the changes are lost then.
    pub fn put(&self, changes: Vec<Change>) -> Result<(), AgentError> {
        self.append(changes.into_iter().map(|change| match change {
            Change::Begins(episode) => line(LogEvent::Begin, episode),
            Change::Ends(episode) => line(LogEvent::End, episode),
        }))
    }

    fn append(&self, lines: impl Iterator<Item = LoggedFinding>) -> Result<(), AgentError> {
        let mut text = Vec::new();
        for line in lines {
            serde_json::to_writer(&mut text, &line)
                .map_err(|e| AgentError::io("write", &self.path)(e.into()))?;
            text.push(b'\n');
        }
        if text.is_empty() {
            return Ok(());
        }
        self.write(&text).map_err(AgentError::io("write", &self.path))
    }

    fn write(&self, text: &[u8]) -> std::io::Result<()> {
        if fs::metadata(&self.path).is_ok_and(|meta| meta.len() >= MOST_BYTES) {
            fs::rename(&self.path, &self.old)?;
        }
        let mut file = File::options().read(true).append(true).create(true).open(&self.path)?;
        if !ends_with_line(&mut file)? {
            file.write_all(b"\n")?;
        }
        file.write_all(text)?;
        file.sync_data()
    }
}

fn ends_with_line(file: &mut File) -> std::io::Result<bool> {
    let mut last = [b'\n'];
    if file.metadata()?.len() > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    Ok(last == [b'\n'])
}

fn line(event: LogEvent, episode: Episode) -> LoggedFinding {
    let end_unix_s = (event != LogEvent::Begin).then_some(episode.seen_unix_s);
    LoggedFinding { event, episode, end_unix_s }
}

/// All lines that are whole, the oldest first; empty where there is no log.
///
/// # Errors
/// When the log cannot be read.
pub fn read_log(folder: &Path) -> Result<Vec<LoggedFinding>, AgentError> {
    let mut lines = Vec::new();
    for name in [OLD, NAME] {
        let path = folder.join(name);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
            Err(e) => return Err(AgentError::io("read", &path)(e)),
        };
        lines.extend(text.split(|b| *b == b'\n').filter_map(|line| serde_json::from_slice(line).ok()));
    }
    Ok(lines)
}

/// Findings that began and have not ended.
fn lasting(lines: &[LoggedFinding]) -> Vec<Episode> {
    let mut lasting: Vec<Episode> = Vec::new();
    for line in lines {
        lasting.retain(|episode| episode.class != line.episode.class);
        if line.event == LogEvent::Begin {
            lasting.push(line.episode.clone());
        }
    }
    lasting
}
