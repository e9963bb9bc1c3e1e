//! All that the live view knows: the last seconds whole, the last minutes in figures, and the newest verdict.
//!
//! Pure: intervals and facts go in, figures and answers come out; no clock, no terminal, no file. Memory is bounded
//! by [`MOST_HISTORY`] intervals of figures and [`MOST_BYTES`] of intervals as they were seen.

use crate::figures::{Figures, Sources};
use crate::latency::{Latencies, LatencyFigures};
use crate::names::Names;
use crate::readings::Readings;
use crate::slice::Slice;
use crate::verdict::{Verdict, VerdictLine};
use crate::window::{MOST_BYTES, Window};
use serde::Serialize;
use std::collections::VecDeque;
use std::time::Duration;
use zwhy_capture::Capture;
use zwhy_diagnose::{Answer, Knowledge, classify};
use zwhy_evidence::CaptureFacts;
use zwhy_flame::{FlameTree, Roots};
use zwhy_profile::Event;

/// Intervals of which figures are kept: ten minutes at one a second.
pub const MOST_HISTORY: usize = 600;
/// What a verdict is about.
pub const VERDICT_SPAN: Duration = Duration::from_secs(10);
/// What can be written to a capture.
pub const FREEZE_SPAN: Duration = Duration::from_secs(60);

pub struct Model {
    knowledge: Knowledge,
    facts: CaptureFacts,
    readings: Readings,
    names: Names,
    window: Window,
    history: VecDeque<Figures>,
    /// Intervals of figures that were forgotten.
    forgotten: usize,
    verdict: Option<Verdict>,
    told: VecDeque<Told>,
    /// Sentences on what is missing and how to get it.
    pub missing: Vec<String>,
    /// How long requests of vdevs take, while somebody wants to know.
    pub latency: Latencies,
}

/// The first lines of a verdict, kept as long as figures are.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// Seconds since the start, at the end of what it is about.
    pub at_s: f64,
    pub span_s: f64,
    pub why: String,
    pub act: Option<String>,
}

/// A line of `--json`.
#[derive(Debug, Serialize)]
pub struct Line<'a> {
    #[serde(flatten)]
    pub figures: &'a Figures,
    pub verdict: Option<VerdictLine<'a>>,
    /// Absent where nobody asked; inside, where nothing is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<Option<Vec<LatencyFigures>>>,
    pub missing: Vec<&'a str>,
}

impl Model {
    pub fn new(knowledge: Knowledge) -> Model {
        Model {
            knowledge,
            facts: CaptureFacts::default(),
            readings: Readings::default(),
            names: Names::default(),
            window: Window::new(FREEZE_SPAN, MOST_BYTES),
            history: VecDeque::new(),
            forgotten: 0,
            verdict: None,
            told: VecDeque::new(),
            missing: Vec::new(),
            latency: Latencies::default(),
        }
    }

    /// What the recorder or the capture says of the host; newer facts replace older ones.
    pub fn set_facts(&mut self, facts: CaptureFacts) {
        self.facts = facts;
    }

    pub fn facts(&self) -> &CaptureFacts {
        &self.facts
    }

    /// Takes in the next interval.
    pub fn push(&mut self, slice: Slice) {
        self.readings.apply(&slice);
        self.names.learn(&slice, &self.readings);
        let classified = classify(&slice.profile, &self.knowledge.anatomy);
        let (readings, names, facts) = (&self.readings, &self.names, &self.facts);
        let sources = Sources { slice: &slice, readings, names, classified: &classified, facts };
        self.history.push_back(Figures::of(&sources));
        if self.history.len() > MOST_HISTORY {
            self.history.pop_front();
            self.forgotten += 1;
        }
        self.window.push(slice);
    }

    /// Makes the verdict of the last seconds; `None` where nothing was seen yet.
    pub fn decide(&mut self) -> Option<&Verdict> {
        let (_, until) = self.window.kept()?;
        let capture = self.capture(VERDICT_SPAN, until)?;
        let verdict = Verdict::of(capture, until, &self.knowledge);
        let (at_s, span_s) = (verdict.at_s, verdict.span_s);
        let Answer { why, act, .. } = &verdict.answer;
        self.told.push_back(Told { at_s, span_s, why: why.clone(), act: act.clone() });
        if self.told.len() > MOST_HISTORY {
            self.told.pop_front();
        }
        self.verdict = Some(verdict);
        self.verdict.as_ref()
    }

    /// The last `span` before `until` as a capture; `None` where that is not kept any more.
    pub fn capture(&self, span: Duration, until: Duration) -> Option<Capture> {
        self.window.capture(span, until, &self.facts)
    }

    /// An answer of the last `span` before `until`.
    pub fn explain(&self, span: Duration, until: Duration) -> Option<Verdict> {
        Some(Verdict::of(self.capture(span, until)?, until, &self.knowledge))
    }

    /// The call tree of the CPU samples of the last `span` before `until`, without those of zwhy itself, and the seconds
    /// that it is of; `None` where that is not kept any more.
    pub fn flame(&self, span: Duration, until: Duration) -> Option<(FlameTree, f64)> {
        let capture = self.capture(span, until)?;
        let seconds = capture.facts.recorder.duration_s.unwrap_or(0.0);
        let mut imported = capture.into_imported("the last seconds");
        imported.evidence.set_recorder_aside();
        let classified = classify(&imported.evidence.profile, &self.knowledge.anatomy);
        Some((zwhy_report::tree(&imported, &classified, Event::Cpu, Roots::Threads), seconds))
    }

    pub fn knowledge(&self) -> &Knowledge {
        &self.knowledge
    }

    pub fn verdict(&self) -> Option<&Verdict> {
        self.verdict.as_ref()
    }

    /// What was told of the interval that ends at `at_s`: by the first verdict about it; of one that has none yet,
    /// by the newest before.
    pub fn told(&self, at_s: f64) -> Option<&Told> {
        let about = |told: &&Told| told.at_s >= at_s && told.at_s - told.span_s < at_s;
        self.told.iter().find(about).or_else(|| self.told.iter().rfind(|told| told.at_s < at_s))
    }

    /// Figures by interval, the oldest first.
    pub fn history(&self) -> &VecDeque<Figures> {
        &self.history
    }

    /// Intervals that were seen, those that were forgotten included.
    pub fn seen(&self) -> usize {
        self.forgotten + self.history.len()
    }

    /// From when to when intervals are kept as they were seen.
    pub fn kept(&self) -> Option<(Duration, Duration)> {
        self.window.kept()
    }

    /// The newest interval as a line of JSON.
    pub fn line(&self) -> Option<Line<'_>> {
        let figures = self.history.back()?;
        let latency = self.latency.is_asked().then(|| self.latency.figures());
        let verdict = self.verdict.as_ref().map(Verdict::line);
        Some(Line { figures, verdict, latency, missing: self.all_missing().collect() })
    }

    /// Sentences on what is missing, that of latencies included.
    pub(crate) fn all_missing(&self) -> impl Iterator<Item = &str> {
        self.missing.iter().map(String::as_str).chain(self.latency.missing())
    }
}
