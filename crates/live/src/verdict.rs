//! Why the CPU is busy, of the last seconds: the engine and the words of `zwhy explain`.

use serde::Serialize;
use std::time::Duration;
use zwhy_capture::Capture;
use zwhy_diagnose::{Answer, Bottleneck, Knowledge, Options, classify, explain_classified};
use zwhy_evidence::Imported;

/// The first lines of an answer, and the answer.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Seconds since the start, at the end of what it is about.
    pub at_s: f64,
    /// How long that is.
    pub span_s: f64,
    pub answer: Answer,
}

/// The same as one object of a line of JSON.
#[derive(Clone, Debug, Serialize)]
pub struct VerdictLine<'a> {
    pub at_s: f64,
    pub span_s: f64,
    /// The first line of `zwhy explain`.
    pub why: &'a str,
    #[serde(rename = "do")]
    pub act: Option<&'a str>,
    pub bottleneck: Option<&'a Bottleneck>,
    pub finding: Option<FindingLine<'a>>,
}

#[derive(Clone, Debug, Serialize)]
pub struct FindingLine<'a> {
    pub class: &'a str,
    pub title: &'a str,
    pub confidence: f64,
    /// Part of all CPU samples; absent where it is no matter of CPU time.
    pub share: Option<f64>,
}

impl Verdict {
    /// Of a capture of the last seconds, which ends `at`.
    pub fn of(capture: Capture, at: Duration, knowledge: &Knowledge) -> Verdict {
        let span_s = capture.facts.recorder.duration_s.unwrap_or(0.0);
        let name = format!("the last {span_s:.0} s");
        let Imported { mut evidence, stats } = capture.into_imported(&name);
        evidence.set_recorder_aside();
        let classified = classify(&evidence.profile, &knowledge.anatomy);
        let options = Options { name, stats: Some(stats), ..Options::default() };
        let answer = explain_classified(&evidence, &classified, knowledge, &options);
        Verdict { at_s: at.as_secs_f64(), span_s, answer }
    }

    pub fn line(&self) -> VerdictLine<'_> {
        let Answer { why, act, bottleneck, findings, .. } = &self.answer;
        let finding = findings.first().map(|f| FindingLine {
            class: &f.class,
            title: &f.title,
            confidence: f.confidence,
            share: f.share.map(|share| share.value),
        });
        let (at_s, span_s) = (self.at_s, self.span_s);
        VerdictLine { at_s, span_s, why, act: act.as_deref(), bottleneck: bottleneck.as_ref(), finding }
    }
}

/// When the next verdict may be made, so that making them takes no more than a part of one CPU.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    next: Duration,
}

/// Of one CPU.
const COST: u32 = 200;
const SOONEST: Duration = Duration::from_secs(3);
const LATEST: Duration = Duration::from_secs(30);

impl Default for Pace {
    /// The first one is due when a few seconds were seen.
    fn default() -> Pace {
        Pace { next: SOONEST }
    }
}

impl Pace {
    pub fn due(&self, now: Duration) -> bool {
        now >= self.next
    }

    /// One was made, and took so much CPU time.
    pub fn made(&mut self, now: Duration, cost: Duration) {
        self.next = now + (cost * COST).clamp(SOONEST, LATEST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_that_cost_much_are_rare_and_never_stop() {
        let seconds = Duration::from_secs;
        let mut pace = Pace::default();
        assert!(!pace.due(seconds(2)) && pace.due(seconds(3)));
        pace.made(seconds(3), Duration::from_millis(1));
        assert!(!pace.due(seconds(5)) && pace.due(seconds(6)));
        pace.made(seconds(6), Duration::from_millis(50));
        assert!(!pace.due(seconds(15)) && pace.due(seconds(16)));
        pace.made(seconds(16), seconds(5));
        assert!(pace.due(seconds(46)));
    }
}
