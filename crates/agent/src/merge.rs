//! The last minutes of a spool as one capture, which all commands open.
//!
//! Files follow each other as the host's clock says, but never overlap: after a clock was set back the next file
//! begins where the one before it ends. Memory is that of one file and of what packing needs.

use crate::error::AgentError;
use crate::spool::{Entry, entries, seconds_of};
use crate::sum::{Sum, keep_losses, length_of};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use zwhy_capture::{Capture, CaptureError, Mark, Series, SeriesRow, Writer};
use zwhy_evidence::CaptureFacts;
use zwhy_live::{Part, part_facts};
use zwhy_profile::{Nanos, Sample};

/// What was merged.
#[derive(Clone, Debug, PartialEq)]
pub struct Merged {
    pub path: PathBuf,
    pub files: usize,
    pub seconds: f64,
    /// Seconds of it in which nothing was recorded.
    pub gaps_s: f64,
    pub start_unix_s: f64,
    /// What could not be read, and why: files, and parts of files.
    pub left_out: Vec<String>,
}

/// A file of the spool, or a part of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    pub entry: Entry,
    /// Seconds since its begin.
    pub from_s: f64,
    pub to_s: f64,
}

/// What holds the last `last` of what the spool has before its last `before`, the oldest first.
///
/// # Errors
/// When the folder cannot be read.
pub fn choose(folder: &Path, last: Duration, before: Duration) -> Result<Vec<Piece>, AgentError> {
    let (from, to) = ((last + before).as_secs_f64(), before.as_secs_f64());
    // How long ago, from the end of what is there.
    let mut ago = 0.0;
    let mut newer: Option<f64> = None;
    let mut chosen: Vec<Piece> = Vec::new();
    let mut seen = None;
    for mut entry in entries(folder)?.into_iter().rev() {
        if seen.replace(entry.number) == Some(entry.number) {
            continue; // It is being packed.
        }
        let Ok(seconds) = entry.seconds.map_or_else(|| open(&entry).map(|c| seconds_of(&c)), Ok) else {
            continue;
        };
        entry.seconds = Some(seconds);
        ago += newer.map_or(0.0, |start| (start - entry.start_unix_s - seconds).max(0.0));
        if ago >= from {
            break;
        }
        newer = Some(entry.start_unix_s);
        let end = ago;
        ago += seconds;
        // The newest one may be shorter than the second in its name.
        if ago > to || before.is_zero() {
            let (from_s, to_s) = ((ago - from).max(0.0), seconds - (to - end).max(0.0));
            chosen.push(Piece { entry, from_s, to_s });
        }
    }
    chosen.reverse();
    Ok(chosen)
}

/// Writes what was chosen as one capture to `out`.
///
/// # Errors
/// When nothing was chosen or none of it can be read, or the capture cannot be written.
pub fn merge(chosen: &[Piece], folder: &Path, out: &Path) -> Result<Merged, AgentError> {
    if chosen.is_empty() {
        return Err(AgentError::Empty(folder.to_owned()));
    }
    let mut writer = Writer::create(out)?;
    let part = writer.folder().to_owned();
    let written = put_all(chosen, &mut writer).and_then(|(sum, facts)| {
        let facts = facts.ok_or_else(|| AgentError::Empty(folder.to_owned()))?;
        writer.set_facts(&sum.facts(facts))?;
        let path = writer.finish()?;
        let Sum { origin, files, seconds, gaps_s, left_out, .. } = sum;
        Ok(Merged { path, files, seconds, gaps_s, start_unix_s: origin, left_out })
    });
    if written.is_err() {
        // Made a moment ago, by this call.
        let _ = std::fs::remove_dir_all(&part);
    }
    written
}

fn put_all(chosen: &[Piece], writer: &mut Writer) -> Result<(Sum, Option<CaptureFacts>), AgentError> {
    let mut sum = Sum::default();
    let mut newest = None;
    for piece in chosen {
        match open_piece(piece) {
            Ok((capture, piece)) => newest = Some(put(capture, &piece, &mut sum, writer)?),
            Err(error) => sum.left_out.push(error.to_string()),
        }
    }
    Ok((sum, newest))
}

/// Opens a file, which may be packed at this moment, or become part of another one.
fn open_piece(piece: &Piece) -> Result<(Capture, Piece), AgentError> {
    let entry = &piece.entry;
    let error = match Capture::open(&entry.path) {
        Ok(capture) => return Ok((capture, piece.clone())),
        Err(error) => error,
    };
    let folder = entry.path.parent().unwrap_or(Path::new("."));
    let moved = |other: &Entry| other.has(entry.number) && other.path != entry.path;
    let Some(now) = entries(folder)?.into_iter().find(moved) else { return Err(error.into()) };
    // Of one that has more than the wanted file, its part.
    let later = if now.is_sums() { entry.start_unix_s - now.start_unix_s } else { 0.0 };
    let (from_s, to_s) = (piece.from_s + later, piece.to_s + later);
    Ok((Capture::open(&now.path)?, Piece { entry: now, from_s, to_s }))
}

fn open(entry: &Entry) -> Result<Capture, AgentError> {
    let whole = Piece { entry: entry.clone(), from_s: 0.0, to_s: f64::INFINITY };
    open_piece(&whole).map(|(capture, _)| capture)
}

/// Puts one file behind those before; returns its facts.
fn put(
    mut capture: Capture,
    piece: &Piece,
    sum: &mut Sum,
    writer: &mut Writer,
) -> Result<CaptureFacts, CaptureError> {
    sum.left_out.extend(keep_losses(&mut capture));
    sum.has_sums |= piece.entry.is_sums();
    let mut seconds = length_of(&capture);
    let mut start = capture.facts.start_unix_s.unwrap_or(piece.entry.start_unix_s);
    // Lengths in names are whole seconds.
    if piece.from_s > 0.5 || piece.to_s < seconds - 0.5 {
        let to = piece.to_s.min(seconds);
        cut(&mut capture, piece.from_s, to);
        start += piece.from_s;
        seconds = to - piece.from_s;
    }
    let base = sum.add(&capture, start, seconds);
    capture.profile.samples.t.iter_mut().for_each(|t| t.0 = t.0.saturating_add(base));
    let mut series = Series::default();
    for row in capture.series.iter() {
        series.push(Nanos(row.t.0.saturating_add(base)), row.source, row.name, row.kind, row.value);
    }
    // Every file has names of its own.
    writer.reset_names();
    writer.flush(&mut capture.profile)?;
    writer.append_series(&series)?;
    for mark in capture.marks {
        writer.mark(Mark { t: Nanos(mark.t.0.saturating_add(base)), ..mark })?;
    }
    Ok(capture.facts)
}

/// Leaves what is between two times, which then begins at 0; every series that was there has a row at its begin.
fn cut(capture: &mut Capture, from_s: f64, to_s: f64) {
    let (from, to) = ((from_s * 1e9) as i64, (to_s * 1e9) as i64);
    let samples = std::mem::take(&mut capture.profile.samples);
    for sample in samples.iter().filter(|sample| (from..to).contains(&sample.t.0)) {
        capture.profile.samples.push(Sample { t: Nanos(sample.t.0 - from), ..sample });
    }
    let mut before: BTreeMap<(&str, &str), SeriesRow<'_>> = BTreeMap::new();
    for row in capture.series.iter().filter(|row| row.t.0 <= from) {
        before.insert((row.source, row.name), row);
    }
    let mut series = Series::default();
    let within = capture.series.iter().filter(|row| row.t.0 > from && row.t.0 <= to);
    for row in before.into_values().chain(within) {
        series.push(Nanos((row.t.0 - from).max(0)), row.source, row.name, row.kind, row.value);
    }
    let seconds = to_s - from_s;
    let part = Part { seconds, series: Some(&series), ..Part::default() };
    // The file's own clock and losses hold for its part, too.
    let (start, lost) = (capture.facts.start_unix_s, capture.facts.recorder.lost);
    capture.facts = part_facts(&part, &capture.facts);
    (capture.facts.start_unix_s, capture.facts.recorder.lost) = (start, lost);
    capture.series = series;
    capture.marks.retain(|mark| (from..to).contains(&mark.t.0));
    capture.marks.iter_mut().for_each(|mark| mark.t.0 -= from);
}
