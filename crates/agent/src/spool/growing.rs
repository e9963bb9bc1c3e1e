//! The file that grows: intervals are taken in, and written as segments every few seconds.
//!
//! Invariants: it is whole by itself, as every series has a row at its begin and, when it is finished, at its end;
//! every row that was taken in is written or counted as not written.

use super::state::Rows;
use std::path::PathBuf;
use std::time::Duration;
use zwhy_capture::{CaptureError, Mark, Series, Writer, part_folder};
use zwhy_evidence::CaptureFacts;
use zwhy_live::{Part, Readings, Slice, nanos, part_facts};
use zwhy_profile::{Event, Nanos, Profile};

#[derive(Default)]
pub(crate) struct Growing {
    pub number: u64,
    /// By the host's clock.
    pub start_unix_s: f64,
    /// Of the recording: when it begins, and up to when it has all.
    pub from: Duration,
    pub to: Duration,
    /// Up to when all is on disk.
    pub flushed: Duration,
    out: PathBuf,
    writer: Option<Writer>,
    profile: Profile,
    series: Series,
    marks: Vec<Mark>,
    /// Readings of all CPUs together, for the shares of their time.
    host: Series,
    samples: u64,
    lost: u64,
    told: bool,
}

/// What became of the rows that waited.
#[derive(Debug, Default)]
pub(crate) struct Flushed {
    pub written: Rows,
    pub not_written: Rows,
    pub error: Option<CaptureError>,
}

impl Growing {
    pub(crate) fn new(number: u64, start_unix_s: f64, from: Duration, out: PathBuf) -> Growing {
        Growing { number, start_unix_s, from, to: from, flushed: from, out, ..Growing::default() }
    }

    /// The folder that it grows in.
    pub(crate) fn folder(&self) -> PathBuf {
        part_folder(&self.out)
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.to.saturating_sub(self.from).as_secs_f64()
    }

    fn at(&self, t: Nanos) -> Nanos {
        Nanos(t.0.saturating_sub(nanos(self.from).0).max(0))
    }

    /// Puts a row of every series that lives.
    pub(crate) fn restate(&mut self, readings: &Readings) {
        let t = readings.clock.map_or(Nanos(0), |t| self.at(Nanos(t)));
        readings.restate(t, &mut self.series);
        for (_, name, last) in readings.iter().filter(|(source, ..)| *source == HOST) {
            self.host.push(t, HOST, name, last.kind, last.value);
        }
    }

    /// Names the begin of the file.
    pub(crate) fn mark_begin(&mut self, name: &str, text: String) {
        self.marks.push(Mark { t: Nanos(0), name: name.to_owned(), text });
    }

    pub(crate) fn take(&mut self, slice: &Slice) {
        let base = nanos(self.from).0;
        let old = self.profile.samples.len();
        self.profile.merge(&slice.profile);
        let samples = &mut self.profile.samples;
        for row in old..samples.len() {
            let t = Nanos(samples.t[row].0.saturating_sub(base).max(0));
            samples.t[row] = t;
            match samples.event[row] {
                // Of a wait that began before the file only the part in it counts.
                Event::Wait => samples.weight[row] = samples.weight[row].min(t),
                Event::Cpu => self.samples += u64::from(samples.count[row]),
                _ => {}
            }
        }
        for row in slice.series.iter() {
            let t = self.at(row.t);
            self.series.push(t, row.source, row.name, row.kind, row.value);
            if row.source == HOST {
                self.host.push(t, row.source, row.name, row.kind, row.value);
            }
        }
        let marks = slice.marks.iter().map(|mark| Mark { t: self.at(mark.t), ..mark.clone() });
        self.marks.extend(marks.collect::<Vec<_>>());
        self.lost += slice.lost;
        self.to = slice.to;
    }

    /// What waits to be written.
    pub(crate) fn waiting(&self) -> Rows {
        Rows::held(&self.profile.samples, &self.series, &self.marks)
    }

    /// Writes what waits. What cannot be written is dropped, and the next call begins anew.
    pub(crate) fn flush(&mut self, facts: &CaptureFacts) -> Flushed {
        let mut done = Flushed::default();
        self.flushed = self.to;
        if self.writer.is_none() {
            match Writer::create(&self.out) {
                Ok(writer) => self.writer = Some(writer.durable()),
                Err(error) => done.error = Some(error),
            }
        }
        let waiting = self.waiting();
        let Some(mut writer) = self.writer.take() else {
            self.forget_waiting();
            return Flushed { not_written: waiting, ..done };
        };
        let mut put = |rows: u64, result: Result<(), CaptureError>| match result {
            Ok(()) => (rows, 0),
            Err(error) => {
                done.error = Some(error);
                (0, rows)
            }
        };
        if !self.told {
            let told = writer.set_facts(&self.facts(facts));
            self.told = told.is_ok();
            put(0, told);
        }
        let samples = put(waiting.samples, writer.flush(&mut self.profile));
        let series = put(waiting.series, writer.append_series(&self.series));
        let mut marks = (0, 0);
        for mark in std::mem::take(&mut self.marks) {
            let (written, not) = put(1, writer.mark(mark));
            marks = (marks.0 + written, marks.1 + not);
        }
        done.written = Rows { samples: samples.0, series: series.0, marks: marks.0 };
        done.not_written = Rows { samples: samples.1, series: series.1, marks: marks.1 };
        self.writer = Some(writer);
        self.forget_waiting();
        done
    }

    fn forget_waiting(&mut self) {
        self.profile.samples.clear();
        self.series.clear();
        self.marks.clear();
    }

    /// The facts of this file.
    pub(crate) fn facts(&self, whole: &CaptureFacts) -> CaptureFacts {
        let part = Part {
            from: self.from,
            seconds: self.seconds(),
            samples: self.samples,
            lost: self.lost,
            series: Some(&self.host),
        };
        let mut facts = part_facts(&part, whole);
        // The clock may have been set since the recording began.
        facts.start_unix_s = Some(self.start_unix_s);
        facts
    }

    /// Writes the last facts; returns whether anything of it is on disk.
    pub(crate) fn close(mut self, facts: &CaptureFacts) -> (bool, Result<(), CaptureError>) {
        let facts = self.facts(facts);
        match &mut self.writer {
            Some(writer) => (true, writer.set_facts(&facts)),
            None => (false, Ok(())),
        }
    }
}

/// All CPUs together.
const HOST: &str = "cpu/all";
