//! speedscope JSON, sampled and evented, all profiles of a file.
//!
//! Format: https://github.com/jlfwong/speedscope/blob/main/src/lib/file-format-spec.ts. Every sampled stack
//! and every event is one record of the stats. Weights without a unit are sample counts; weights that are
//! times become counts as `interchange::rows` says; bytes are counts of something that is no CPU time.
//! A profile is a thread. Keys beside the specification that our own exporter writes (`module`, `kind`,
//! `reason` of a frame; `comm`, `pid`, `tid`, `event` of a profile) are read when they are there; else the
//! `file` of a frame is its module where it is spelled like one, as speedscope's own perf import writes it.

mod evented;
mod file;

use crate::interchange::json::{self, index};
use crate::interchange::meaning::Unit;
use crate::interchange::rows::{Amount, Row};
use crate::interchange::{Taken, shown};
use crate::{Confidence, ErrorKind, FormatError, ImportOptions, ImportStats, Imported, Importer, Input};
use file::{File, OneProfile};
use zwhy_profile::{Event, FrameId, Nanos, StackId, ThreadId, Unit as Amounts};

pub(crate) static IMPORTER: Importer = Importer { name: "speedscope", sniff, read };

/// The value of `$schema`.
pub(crate) const SCHEMA: &str = "https://www.speedscope.app/file-format-schema.json";

fn sniff(head: &[u8]) -> Confidence {
    let has = |key| json::head_has_key(head, key);
    if !json::is_object(head) {
        Confidence::No
    } else if has(SCHEMA) {
        Confidence::Certain
    } else if has("profiles") && (has("shared") || has("startValue")) {
        Confidence::Likely
    } else {
        Confidence::No
    }
}

fn read(input: &Input, options: &ImportOptions) -> Result<Imported, FormatError> {
    let file: File = json::parse(input, &options.limits)?;
    let mut reader = Reader::new(&file, input.bytes().len(), options.limits.max_depth);
    for profile in file.profiles.iter() {
        reader.profile(profile);
    }
    reader.finish(input)
}

struct Reader {
    taken: Taken,
    frames: Vec<FrameId>,
    /// Weights without a unit are multiplied by this to make them whole.
    scale: f64,
    bytes_seen: bool,
}

/// What all rows of one profile have in common.
struct Common {
    thread: ThreadId,
    event: Event,
    unit: Unit,
    start: f64,
}

impl Reader {
    fn new(file: &File, bytes: usize, max_depth: usize) -> Reader {
        let mut taken = Taken::new("speedscope", "samples and events", bytes, max_depth);
        let frames = file.shared.frames.iter().map(|frame| frame.intern(&mut taken.profile)).collect();
        let scale = decimals(file, &mut taken.stats);
        Reader { taken, frames, scale, bytes_seen: false }
    }

    fn profile(&mut self, profile: &OneProfile) {
        let unit = profile.unit();
        self.bytes_seen |= unit == Unit::Other;
        let event = match Event::from_name(&profile.event.0) {
            Some(event) => event,
            None if unit == Unit::Other => Event::Count,
            None => Event::Cpu,
        };
        let (comm, pid, tid) = profile.thread();
        let thread = self.taken.profile.thread(pid, tid, comm);
        match unit {
            Unit::Time(_) => self.taken.rows.measure_in(event, Amounts::Nanos),
            Unit::Other => self.taken.rows.measure_in(event, Amounts::Bytes),
            Unit::Count => {}
        }
        let common = Common { thread, event, unit, start: profile.start_value.0 };
        if profile.is_evented() {
            evented::read(self, profile, &common);
        } else {
            self.sampled(profile, &common);
        }
    }

    fn sampled(&mut self, profile: &OneProfile, common: &Common) {
        let mut at = 0.0;
        for i in 0..profile.samples.len() {
            // A file without weights: every sample counts once.
            let weight = if profile.weights.is_empty() { 1.0 } else { profile.weights.get(i) };
            let taken = self.sample(profile.samples.row(i), at, weight, common);
            self.taken.count(taken);
            at += if weight.is_finite() { weight } else { 0.0 };
        }
        let without_sample = profile.weights.len().saturating_sub(profile.samples.len()) as u64;
        self.taken.stats.read += without_sample;
        self.taken.stats.drop("weight without a sample", without_sample);
    }

    fn sample(&mut self, row: &[f64], at: f64, weight: f64, common: &Common) -> Result<(), &'static str> {
        let amount = self.amount(weight, common.unit)?;
        if row.is_empty() {
            return Err("empty stack: nothing was running");
        }
        if row.iter().any(|cell| self.frame(*cell).is_none()) {
            return Err("stack with a frame that is not in the file");
        }
        let frames = &self.frames;
        let leaf_first = row.iter().rev().filter_map(|cell| frames.get(index(*cell)?).copied());
        let stack = self.taken.stack(leaf_first)?;
        self.push(common, at, stack, amount)
    }

    fn frame(&self, cell: f64) -> Option<FrameId> {
        self.frames.get(index(cell)?).copied()
    }

    fn push(&mut self, common: &Common, at: f64, stack: StackId, amount: Amount) -> Result<(), &'static str> {
        let t = match common.unit {
            Unit::Time(ns) => Nanos((at * f64::from(ns)) as i64),
            _ => Nanos(0),
        };
        let row = Row { t, cpu: -1, thread: common.thread, stack, event: common.event, weight: Nanos(0) };
        self.taken.push(row, amount)
    }

    fn amount(&self, weight: f64, unit: Unit) -> Result<Amount, &'static str> {
        match unit {
            _ if weight.is_nan() => Err("sample without a weight"),
            _ if weight < 0.0 => Err("negative weight"),
            _ if weight == 0.0 => Err("weight of zero"),
            // Casts of floats saturate.
            Unit::Time(ns) => Ok(Amount::Value(((weight * f64::from(ns)).round() as u64).max(1), None)),
            Unit::Other => Ok(Amount::Value((weight.round() as u64).max(1), None)),
            Unit::Count => Ok(Amount::Count(((weight * self.scale).round() as u64).max(1))),
        }
    }

    fn finish(mut self, input: &Input) -> Result<Imported, FormatError> {
        let stats = &self.taken.stats;
        if self.taken.rows.is_empty() {
            let mut found = "it holds no samples with a weight".to_owned();
            if let Some(reason) = stats.dropped.keys().next() {
                found.push_str(&format!(" ({}: {reason})", stats.dropped[reason]));
            }
            return Err(FormatError::read(ErrorKind::Empty, input.name(), found)
                .hint("check that the profiler ran while something did"));
        }
        if self.bytes_seen {
            self.taken.warn("a profile counts bytes, not CPU time");
        }
        Ok(self.taken.finish(input))
    }
}

/// What weights without a unit have to be multiplied by to be whole: 1, 10 … 1,000,000.
fn decimals(file: &File, stats: &mut ImportStats) -> f64 {
    let counted = file.profiles.iter().filter(|p| p.unit() == Unit::Count);
    let weights = || counted.clone().flat_map(|p| p.weights.iter()).filter(|w| w.is_finite());
    let mut scale = 1.0;
    while scale < 1e6 && weights().any(|w| ((w * scale).round() - w * scale).abs() > 1e-6) {
        scale *= 10.0;
    }
    if scale > 1.0 {
        stats.warnings.push(format!("the weights have decimals: all are multiplied by {scale} to keep them"));
    }
    let units = file.profiles.iter().map(|p| p.unit.0.as_str());
    if let Some(unit) = units.clone().find(|u| !file::UNITS.contains(u) && !u.is_empty()) {
        stats.warnings.push(format!("`{}` is no unit of the format: taken as counts", shown(unit)));
    }
    scale
}
