//! A capture played again, interval by interval, as if it were recorded now.
//!
//! Invariant: every sample, reading and mark is in exactly one interval.

use crate::slice::{Slice, nanos, narrowed};
use rustc_hash::FxHashMap;
use std::time::Duration;
use zwhy_capture::{Capture, Mark, Series};
use zwhy_evidence::CaptureFacts;
use zwhy_profile::Samples;

/// Intervals that a capture is cut into at most, however long it is.
const MOST: usize = 100_000;

#[derive(Default)]
pub struct Replay {
    capture: Capture,
    every: Duration,
    sample: Duration,
    /// Rows by interval.
    samples: Vec<Vec<u32>>,
    readings: Vec<Vec<u32>>,
    marks: Vec<Vec<Mark>>,
    /// Sources by the interval in which their last row is.
    ended: FxHashMap<usize, Vec<String>>,
    next: usize,
    end: Duration,
}

impl Replay {
    /// `every` is the length of an interval; counters that were read less often give longer ones.
    pub fn new(capture: Capture, every: Duration) -> Replay {
        let recorder = &capture.facts.recorder;
        let read = recorder.interval_s.filter(|s| s.is_finite() && *s > 0.0 && *s < 1e6);
        let every =
            every.max(read.map_or(Duration::ZERO, Duration::from_secs_f64)).max(Duration::from_millis(10));
        let hz = recorder.hz.filter(|hz| hz.is_finite() && *hz >= 1.0).unwrap_or(99.0);
        let sample = Duration::from_secs_f64(1.0 / hz);
        let samples = capture.profile.samples.t.iter().map(|t| t.0);
        let last = samples.chain(capture.series.iter().map(|row| row.t.0)).max();
        let end = Duration::from_nanos(u64::try_from(last.unwrap_or(0)).unwrap_or(0));
        let every = every.max(end / MOST as u32);
        let mut replay = Replay { capture, every, sample, end, ..Replay::default() };
        replay.sort();
        replay
    }

    pub fn facts(&self) -> &CaptureFacts {
        &self.capture.facts
    }

    pub fn every(&self) -> Duration {
        self.every
    }

    /// Puts every row into its interval.
    fn sort(&mut self) {
        // The last readings are a moment after the last full interval.
        let slack = self.every.as_nanos() / 4;
        let parts = ((self.end.as_nanos() + self.every.as_nanos() - 1 - slack.min(self.every.as_nanos() - 1))
            / self.every.as_nanos())
        .max(1) as usize;
        let every = nanos(self.every).0.max(1);
        // A reading is taken a moment after the interval that it tells of.
        let part = |t: i64, late: i64| ((t - late).max(0) / every).clamp(0, parts as i64 - 1) as usize;
        self.samples = vec![Vec::new(); parts];
        self.readings = vec![Vec::new(); parts];
        self.marks = vec![Vec::new(); parts];
        for (row, t) in self.capture.profile.samples.t.iter().enumerate() {
            self.samples[part(t.0, 0)].push(row as u32);
        }
        let mut last: FxHashMap<&str, usize> = FxHashMap::default();
        for (row, reading) in self.capture.series.iter().enumerate() {
            let at = part(reading.t.0, every / 4);
            self.readings[at].push(row as u32);
            let of = last.entry(reading.source).or_insert(at);
            *of = at.max(*of);
        }
        for mark in &self.capture.marks {
            self.marks[part(mark.t.0, 0)].push(mark.clone());
        }
        // A recorder that ended wrote the last reading of every series that still lived.
        let told = !self.capture.damage.unfinished;
        for (source, at) in last.into_iter().filter(|(_, at)| told && at + 1 < parts) {
            self.ended.entry(at).or_default().push(source.to_owned());
        }
    }
}

impl Iterator for Replay {
    type Item = Slice;

    fn next(&mut self) -> Option<Slice> {
        let at = self.next;
        let rows = self.samples.get(at)?;
        self.next += 1;
        let mut samples = Samples::default();
        rows.iter()
            .filter_map(|row| self.capture.profile.samples.get(*row as usize))
            .for_each(|s| samples.push(s));
        let mut series = Series::default();
        let mut rows: Vec<_> =
            self.readings.get(at)?.iter().filter_map(|row| self.capture.series.get(*row as usize)).collect();
        rows.sort_by_key(|row| row.t);
        for row in rows {
            series.push(row.t, row.source, row.name, row.kind, row.value);
        }
        let from = self.every * at as u32;
        let to = if at + 1 == self.samples.len() { self.end.max(from) } else { from + self.every };
        Some(Slice {
            from,
            to,
            profile: narrowed(&self.capture.profile, &samples, &series),
            sample: self.sample,
            series,
            ended: self.ended.remove(&at).unwrap_or_default(),
            marks: std::mem::take(self.marks.get_mut(at)?),
            lost: 0,
        })
    }
}
