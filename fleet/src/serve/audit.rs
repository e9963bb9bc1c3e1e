//! Who asked for what, when, and what was answered: a line of JSON a request.
//!
//! Invariant: whoever has no token cannot fill the disk: of strangers so many lines a second are written, and the others
//! are counted in the next one.

use super::limits::Limits;
use crate::error::FleetError;
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// One request.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Line<'a> {
    /// Name of the token; empty where none was known.
    pub who: &'a str,
    pub from: &'a str,
    pub method: &'a str,
    pub path: &'a str,
    /// 0 where it came to no request.
    pub status: u16,
    /// What went wrong on this side.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub why: &'a str,
}

#[derive(Serialize)]
struct Written<'a> {
    t_ms: i64,
    #[serde(flatten)]
    line: &'a Line<'a>,
    /// Lines that were left out before this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<u64>,
}

/// The log; what cannot be written is lost, and the server goes on.
#[derive(Debug)]
pub struct Audit {
    file: Option<Mutex<(File, u64)>>,
    strangers: Limits,
}

/// Of a path of a request; the rest is left out.
const MOST_PATH: usize = 300;
/// Lines of strangers at once, and a second after that.
const LINES: u32 = 1000;
const LINES_A_SECOND: u32 = 10;

impl Default for Audit {
    fn default() -> Audit {
        Audit { file: None, strangers: Limits::new(LINES, LINES_A_SECOND) }
    }
}

impl Audit {
    /// Appends to a file, which only its owner can read where it is made here.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn to(path: &Path) -> Result<Audit, FleetError> {
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(FleetError::io("open the audit log", path))?;
        Ok(Audit { file: Some(Mutex::new((file, 0))), ..Audit::default() })
    }

    pub fn put(&self, line: &Line<'_>) {
        let Some(file) = &self.file else { return };
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        if line.who.is_empty() && !self.strangers.take("", Instant::now()) {
            file.1 += 1;
            return;
        }
        let end = (0..=MOST_PATH.min(line.path.len())).rev().find(|at| line.path.is_char_boundary(*at));
        let line = Line { path: &line.path[..end.unwrap_or(0)], ..line.clone() };
        let t_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as i64);
        let left_out = Some(file.1).filter(|n| *n > 0);
        if let Ok(mut text) = serde_json::to_vec(&Written { t_ms, line: &line, left_out }) {
            text.push(b'\n');
            // One write a line, so that lines of two servers are never mixed.
            if file.0.write_all(&text).is_ok() {
                file.1 = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_cannot_fill_the_disk_and_who_is_known_is_always_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit");
        let audit = Audit::to(&path).unwrap();
        let long = "é".repeat(5000);
        for _ in 0..5000 {
            audit.put(&Line { path: &long, from: "\n\"", status: 401, ..Line::default() });
        }
        audit.put(&Line { who: "people", status: 200, ..Line::default() });
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<serde_json::Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        assert!((1001..1200).contains(&lines.len()), "{}", lines.len());
        let last = lines.last().unwrap();
        let left_out: u64 = lines.iter().filter_map(|line| line["left_out"].as_u64()).sum();
        assert_eq!((last["who"].as_str(), left_out), (Some("people"), 5001 - lines.len() as u64));
        assert!(text.len() < lines.len() * 500);
    }
}
