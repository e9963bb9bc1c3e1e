//! The last seconds as a capture in memory: what is explained, drawn and frozen is the same that a recording of
//! these seconds would hold.
//!
//! Invariants: no more than the span (plus one interval) and no more than the bytes are kept; every series that
//! lives has a reading at the beginning and at the end of whatever is taken.

use crate::readings::Readings;
use crate::slice::{Slice, nanos};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;
use zwhy_capture::{Capture, Series, SeriesKind};
use zwhy_evidence::CaptureFacts;
use zwhy_profile::{Event, Nanos, Profile};

/// Bytes of intervals that are kept at most, whatever the span.
pub const MOST_BYTES: usize = 16 << 20;

#[derive(Debug)]
pub struct Window {
    span: Duration,
    most_bytes: usize,
    slices: VecDeque<Slice>,
    bytes: usize,
    /// Readings as they were before the oldest interval that is kept.
    base: Readings,
}

impl Window {
    pub fn new(span: Duration, most_bytes: usize) -> Window {
        Window { span, most_bytes, slices: VecDeque::new(), bytes: 0, base: Readings::default() }
    }

    pub fn push(&mut self, slice: Slice) {
        self.bytes += slice.bytes();
        let oldest = slice.to.saturating_sub(self.span);
        self.slices.push_back(slice);
        let old = |slice: &Slice| slice.to <= oldest;
        while self.slices.len() > 1 && (self.bytes > self.most_bytes || self.slices.front().is_some_and(old))
        {
            let Some(gone) = self.slices.pop_front() else { break };
            self.bytes -= gone.bytes();
            self.base.apply(&gone);
        }
    }

    /// From when to when intervals are kept.
    pub fn kept(&self) -> Option<(Duration, Duration)> {
        Some((self.slices.front()?.from, self.slices.back()?.to))
    }

    /// The whole intervals of the last `span` before `until` as a capture whose time begins with them; `None`
    /// where none of them is kept. `facts` are those of the whole recording.
    pub fn capture(&self, span: Duration, until: Duration, facts: &CaptureFacts) -> Option<Capture> {
        let end = self.slices.iter().rposition(|slice| slice.to <= until)?;
        let begin = self.slices.get(end)?.to.saturating_sub(span);
        // Intervals end a little late: one that began a moment before is in.
        let slack = span / 20;
        let first =
            self.slices.iter().take(end + 1).position(|slice| slice.from + slack >= begin).unwrap_or(end);
        let mut readings = self.base.clone();
        self.slices.iter().take(first).for_each(|slice| readings.apply(slice));
        let slices: Vec<&Slice> = self.slices.range(first..=end).collect();
        Some(assemble(&slices, readings, facts))
    }
}

fn assemble(slices: &[&Slice], mut readings: Readings, facts: &CaptureFacts) -> Capture {
    let start = slices.first().map_or(Duration::ZERO, |slice| slice.from);
    let base = nanos(start).0;
    let at = |t: i64| Nanos(t.saturating_sub(base).max(0));
    let (mut profile, mut series, mut marks) = (Profile::new(), Series::default(), Vec::new());
    readings.restate(at(readings.clock.unwrap_or(base)), &mut series);
    for slice in slices {
        readings.apply(slice);
        profile.merge(&slice.profile);
        slice
            .series
            .iter()
            .for_each(|row| series.push(at(row.t.0), row.source, row.name, row.kind, row.value));
        marks.extend(slice.marks.iter().map(|mark| zwhy_capture::Mark { t: at(mark.t.0), ..mark.clone() }));
    }
    readings.restate(at(readings.clock.unwrap_or(base)), &mut series);
    for row in 0..profile.samples.len() {
        let t = at(profile.samples.t[row].0);
        profile.samples.t[row] = t;
        if profile.samples.event[row] == Event::Wait {
            // Of a wait that began before the window only the part in it counts.
            profile.samples.weight[row] = profile.samples.weight[row].min(t);
        }
    }
    let end = slices.last().map_or(start, |slice| slice.to);
    let part = Part {
        from: start,
        seconds: end.saturating_sub(start).as_secs_f64(),
        samples: profile.samples.total(Event::Cpu),
        lost: slices.iter().map(|slice| slice.lost).sum(),
        series: Some(&series),
    };
    let facts = part_facts(&part, facts);
    Capture { profile, series, marks, facts, ..Capture::default() }
}

/// What a part of a recording holds, for its facts.
#[derive(Clone, Debug, Default)]
pub struct Part<'a> {
    /// When it begins, as time of the recording, and how long it is.
    pub from: Duration,
    pub seconds: f64,
    /// CPU samples in it, and those that found no room.
    pub samples: u64,
    pub lost: u64,
    /// Its readings, at least those of `cpu/all`.
    pub series: Option<&'a Series>,
}

/// The facts of the recording with the times and counts of a part of it.
pub fn part_facts(part: &Part<'_>, whole: &CaptureFacts) -> CaptureFacts {
    let mut facts = whole.clone();
    let seconds = part.seconds;
    facts.start_unix_s = whole.start_unix_s.map(|at| at + part.from.as_secs_f64());
    if let Some(shares) = part.series.and_then(cpu_time) {
        facts.cpu_time = shares;
    }
    let recorder = &mut facts.recorder;
    let cpu_s = whole.recorder.cpu_share.map(|share| share * seconds);
    (recorder.duration_s, recorder.cpu_s) = (Some(seconds), cpu_s);
    (recorder.samples, recorder.lost) = (Some(part.samples), Some(part.lost));
    recorder.lost_by_cpu = None;
    // Of what the recorder started there is one number for the whole.
    let part = whole.recorder.duration_s.filter(|s| *s > 0.0).map_or(0.0, |all| (seconds / all).min(1.0));
    recorder.own_samples_excluded =
        whole.recorder.own_samples_excluded.map(|samples| (samples as f64 * part).round() as u64);
    facts
}

/// Shares of the host's CPU time by kind.
fn cpu_time(series: &Series) -> Option<BTreeMap<String, f64>> {
    let mut spans: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
    let of_host =
        |row: &zwhy_capture::SeriesRow<'_>| row.source == "cpu/all" && row.kind == SeriesKind::Counter;
    for row in series.iter().filter(of_host) {
        spans.entry(row.name).or_insert((row.value, row.value)).1 = row.value;
    }
    let spent = |(first, last): &(i64, i64)| last.saturating_sub(*first).max(0) as f64;
    let total: f64 = spans.values().map(spent).sum();
    let share = |of: &(i64, i64)| (spent(of) / total * 1e4).round() / 1e4;
    (total > 0.0).then(|| {
        spans.iter().map(|(name, of)| (name.trim_end_matches("_ns").to_owned(), share(of))).collect()
    })
}
