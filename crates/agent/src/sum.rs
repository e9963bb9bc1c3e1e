//! What several files of a spool come to as one: their times by one clock, and their facts.

use crate::spool::seconds_of;
use std::collections::BTreeMap;
use zwhy_capture::Capture;
use zwhy_evidence::CaptureFacts;
use zwhy_profile::Event;

/// Pauses up to this long between two files are no gap: a recorder needs a moment to begin.
const PAUSE_S: f64 = 1.5;
/// Said of captures with sums in them.
pub(crate) const OF_SUMS: &str = "older hours are kept as sums: samples of ten seconds by stack and name of thread, readings of a \
     minute; threads that lived for less than a minute have no CPU clock there";

/// What all files come to.
#[derive(Default)]
pub(crate) struct Sum {
    /// Host's clock at the begin of the first one.
    pub origin: f64,
    pub files: usize,
    pub seconds: f64,
    pub gaps_s: f64,
    samples: u64,
    lost: u64,
    cpu_s: f64,
    cpu_time: BTreeMap<String, f64>,
    objsets: BTreeMap<String, String>,
    owners: BTreeMap<String, String>,
    pub left_out: Vec<String>,
    /// Some are sums of others.
    pub has_sums: bool,
    /// The longest time between two readings.
    interval_s: Option<f64>,
}

impl Sum {
    /// Puts a file behind those before; returns when it begins, in nanoseconds.
    pub(crate) fn add(&mut self, capture: &Capture, start_unix_s: f64, seconds: f64) -> i64 {
        if self.files == 0 {
            self.origin = start_unix_s;
        }
        let gap = start_unix_s - self.origin - self.seconds;
        let begin = if gap > PAUSE_S { start_unix_s - self.origin } else { self.seconds };
        self.files += 1;
        self.gaps_s += (begin - self.seconds).max(0.0);
        self.seconds = begin + seconds;
        let recorder = &capture.facts.recorder;
        self.samples += capture.profile.samples.total(Event::Cpu);
        self.lost += recorder.lost.unwrap_or(0);
        self.cpu_s += recorder.cpu_s.unwrap_or(0.0);
        for (kind, share) in &capture.facts.cpu_time {
            *self.cpu_time.entry(kind.clone()).or_default() += share * seconds;
        }
        let objsets = recorder.series.as_ref().and_then(|series| series.objsets.as_ref());
        self.objsets.extend(objsets.into_iter().flatten().map(|(k, v)| (k.clone(), v.clone())));
        let owners = recorder.owners.iter().flatten();
        self.owners.extend(owners.map(|(k, v)| (k.clone(), v.clone())));
        let every = recorder.interval_s.filter(|s| s.is_finite());
        self.interval_s = every.into_iter().chain(self.interval_s).reduce(f64::max);
        (begin * 1e9) as i64
    }

    /// The newest facts, with the times and counts of all.
    pub(crate) fn facts(&self, newest: CaptureFacts) -> CaptureFacts {
        let mut facts = newest;
        let covered = (self.seconds - self.gaps_s).max(1e-9);
        facts.start_unix_s = Some(self.origin);
        facts.cpu_time = self.cpu_time.iter().map(|(kind, s)| (kind.clone(), s / covered)).collect();
        let recorder = &mut facts.recorder;
        (recorder.duration_s, recorder.cpu_s) = (Some(self.seconds), Some(self.cpu_s));
        recorder.cpu_share = Some(self.cpu_s / covered);
        (recorder.samples, recorder.lost) = (Some(self.samples), Some(self.lost));
        recorder.interval_s = self.interval_s;
        if !self.objsets.is_empty() {
            recorder.series.get_or_insert_default().objsets = Some(self.objsets.clone());
        }
        if !self.owners.is_empty() {
            recorder.owners = Some(self.owners.clone());
        }
        let limits = recorder.limits.get_or_insert_default();
        if self.gaps_s > 0.0 {
            limits.push(format!(
                "in {:.0} of the {:.0} s nothing was recorded: shares are of the rest",
                self.gaps_s, self.seconds
            ));
        }
        if self.has_sums && !limits.iter().any(|told| told == OF_SUMS) {
            limits.push(OF_SUMS.to_owned());
        }
        limits.extend(self.left_out.iter().map(|why| format!("left out: {why}")));
        facts
    }
}

/// Counts samples that a damaged file has lost with those that the recorder lost, as of when they were nobody can tell;
/// returns sentences on all that is missing.
pub(crate) fn keep_losses(capture: &mut Capture) -> Vec<String> {
    // The file that grows has not ended, and that is no damage.
    capture.damage.unfinished = false;
    let told = capture.facts.recorder.limits.take();
    capture.keep_losses();
    std::mem::replace(&mut capture.facts.recorder.limits, told).unwrap_or_default()
}

/// Length of a file: what it says, and no less than up to its last row.
pub(crate) fn length_of(capture: &Capture) -> f64 {
    let told = capture.facts.recorder.duration_s.filter(|s| s.is_finite() && *s >= 0.0);
    told.unwrap_or(0.0).max(seconds_of(capture))
}
