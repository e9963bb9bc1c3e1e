//! Findings over time: each has a begin and an end, and a line in the log for both.
//!
//! A finding is one of a class; what it is about (datasets, pools, threads) may change while it lasts. Only those are
//! followed whose confidence the engine calls medium or high.

mod log;

pub use log::{Log, LogEvent, LoggedFinding, read_log};

use serde::{Deserialize, Serialize};
use zwhy_diagnose::{CONFIDENT, Finding};

/// Verdicts in a row without a finding after which it has ended.
const MISSES: u32 = 2;
/// Names of what a finding is about, the busiest first.
const MOST_NAMES: usize = 8;

/// A cause that was found once or several times in a row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Episode {
    pub class: String,
    pub title: String,
    /// What it is about, as `dataset tank/home`; empty where it is the host.
    pub scope: Vec<String>,
    /// By the host's clock: the end of the last verdict without it, and the end of the last one with it.
    pub begin_unix_s: f64,
    pub seen_unix_s: f64,
    /// Of the newest verdict with it.
    pub confidence: f64,
    /// Part of all CPU samples; absent where it is no matter of CPU time.
    pub share: Option<f64>,
    #[serde(skip)]
    misses: u32,
}

/// What a verdict says of one cause.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    pub class: String,
    pub title: String,
    pub scope: Vec<String>,
    pub confidence: f64,
    pub share: Option<f64>,
}

impl From<&Finding> for Found {
    fn from(finding: &Finding) -> Found {
        let rows = finding.rows.iter().take(MOST_NAMES);
        Found {
            class: finding.class.clone(),
            title: finding.title.clone(),
            scope: rows.map(|row| format!("{} {}", row.kind, row.name)).collect(),
            confidence: finding.confidence,
            share: finding.share.map(|share| share.value),
        }
    }
}

/// What a verdict changed.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    Begins(Episode),
    Ends(Episode),
}

/// Findings that last.
#[derive(Debug, Default)]
pub struct Tracker {
    lasting: Vec<Episode>,
    /// When the last verdict was made.
    last: Option<f64>,
}

impl Tracker {
    /// Takes in the findings of a verdict about the `span_s` before `unix_s`.
    pub fn take(&mut self, findings: &[Found], unix_s: f64, span_s: f64) -> Vec<Change> {
        // What is new began after the verdict before, which did not have it.
        let begin = self.last.unwrap_or(f64::MIN).max(unix_s - span_s).min(unix_s);
        self.last = Some(unix_s);
        let mut changes = Vec::new();
        let found = findings.iter().filter(|finding| finding.confidence >= CONFIDENT);
        let mut seen: Vec<&str> = Vec::new();
        for finding in found {
            if seen.contains(&finding.class.as_str()) {
                continue;
            }
            seen.push(&finding.class);
            match self.lasting.iter_mut().find(|episode| episode.class == finding.class) {
                Some(episode) => episode.see(finding, unix_s),
                None => {
                    let mut episode = Episode { begin_unix_s: begin, ..Episode::default() };
                    episode.see(finding, unix_s);
                    changes.push(Change::Begins(episode.clone()));
                    self.lasting.push(episode);
                }
            }
        }
        for episode in self.lasting.iter_mut().filter(|episode| !seen.contains(&episode.class.as_str())) {
            episode.misses += 1;
        }
        let ended = |episode: &mut Episode| episode.misses >= MISSES;
        changes.extend(self.lasting.extract_if(.., ended).map(Change::Ends));
        changes
    }

    /// Nobody looks any more.
    pub fn end(&mut self) -> Vec<Change> {
        self.lasting.drain(..).map(Change::Ends).collect()
    }

    pub fn lasting(&self) -> &[Episode] {
        &self.lasting
    }
}

impl Episode {
    fn see(&mut self, found: &Found, unix_s: f64) {
        let Found { class, title, scope, confidence, share } = found.clone();
        (self.class, self.title, self.scope) = (class, title, scope);
        (self.confidence, self.share) = (confidence, share);
        (self.seen_unix_s, self.misses) = (unix_s, 0);
    }
}
