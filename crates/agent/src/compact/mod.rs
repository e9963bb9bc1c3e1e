//! Files of hours long past become one of their sums: counts by stack and name of thread for every ten seconds, readings for
//! every minute.
//!
//! Invariants: counts and weights of samples stay, to the sample, and so does the growth of counters; the sums are on disk
//! before the files that they are of are removed, which is left to the caller. Memory is that of one file and of
//! [`MOST_SAMPLES`] and [`MOST_READINGS`].

mod readings;
mod samples;

use crate::error::AgentError;
use crate::spool::{Entry, Rows, entry_of, sums_name, sync_folder};
use crate::sum::{Sum, length_of};
use std::collections::BTreeMap;
use std::path::Path;
use zwhy_capture::{Capture, Mark, Series, write_sums};
use zwhy_evidence::CaptureFacts;
use zwhy_live::narrowed;
use zwhy_profile::{Nanos, Profile};

/// Rows from which on no further file is taken in: the sums of a large host are of less than an hour.
const MOST_SAMPLES: usize = 150_000;
const MOST_READINGS: usize = 200_000;

/// What became of some files.
#[derive(Debug)]
pub(crate) enum Made {
    /// The sums of the first of them.
    Sums(Entry),
    /// The first of them is damaged and stays as it is.
    Damaged(u64),
}

/// Writes the sums of files that follow each other, the oldest first; of as many as it takes in.
///
/// # Errors
/// When the sums cannot be written; nothing has changed then.
pub(crate) fn compact(files: &[Entry], folder: &Path) -> Result<Option<Made>, AgentError> {
    let Some(first) = files.first() else { return Ok(None) };
    let mut hour = Hour::default();
    let mut last = None;
    for entry in files {
        match Capture::open(&entry.path) {
            Ok(capture) if capture.damage.is_empty() => hour.take(capture, entry),
            _ => break,
        }
        last = Some(entry.number);
        if hour.is_full() {
            break;
        }
    }
    let Some(last) = last else { return Ok(Some(Made::Damaged(first.number))) };
    let out = sums_name(folder, (first.number, last), first.start_unix_s, hour.sum.seconds);
    hour.write(&out)?;
    // Its name is on disk before those of the files go.
    sync_folder(&out);
    Ok(entry_of(out).map(Made::Sums))
}

#[derive(Default)]
struct Hour {
    sum: Sum,
    profile: Profile,
    series: Series,
    marks: Vec<Mark>,
    /// Rows of the files.
    rows: Rows,
    facts: CaptureFacts,
}

impl Hour {
    fn take(&mut self, capture: Capture, entry: &Entry) {
        let seconds = length_of(&capture);
        let start = capture.facts.start_unix_s.unwrap_or(entry.start_unix_s);
        let base = self.sum.add(&capture, start, seconds);
        let Capture { profile, series, marks, facts, .. } = capture;
        self.rows.add(Rows::held(&profile.samples, &series, &marks));
        samples::add(&profile, base, seconds, &mut self.profile);
        readings::add(&series, base, &mut self.series);
        let later = |mark: Mark| Mark { t: Nanos(mark.t.0.saturating_add(base)), ..mark };
        self.marks.extend(marks.into_iter().map(later));
        self.facts = facts;
    }

    fn is_full(&self) -> bool {
        self.profile.samples.len() >= MOST_SAMPLES || self.series.len() >= MOST_READINGS
    }

    fn write(mut self, out: &Path) -> Result<(), AgentError> {
        self.sum.has_sums = true;
        let mut facts = self.sum.facts(self.facts);
        facts.recorder.interval_s = Some(readings::SPAN.as_secs_f64());
        let owners = facts.recorder.owners.clone().unwrap_or_default();
        samples::by_name(&mut self.profile, facts.recorder.pid, &owners);
        let series = readings::long_lived(&self.series, self.sum.seconds);
        let mut profile = narrowed(&self.profile, &self.profile.samples, &series);
        samples::keep_names(&self.profile, &mut profile);
        let Rows { samples, series: readings, marks } = self.rows;
        let stands_for = BTreeMap::from([("samples", samples), ("series", readings), ("marks", marks)]);
        let capture = Capture { profile, series, marks: self.marks, facts, ..Capture::default() };
        Ok(write_sums(&capture, &stands_for, out)?)
    }
}
