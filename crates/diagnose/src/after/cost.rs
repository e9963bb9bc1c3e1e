//! CPU time and work done on either side, and what a unit of work costs.
//!
//! Intervals rest on numbers of samples and on how unevenly they fell over the recording; they are of ratios,
//! on a logarithmic scale.

use super::answer::{Cost, Times, Work};
use crate::anatomy::NOT_ZFS;
use crate::answer::Source;
use crate::facts::FactBase;
use zwhy_profile::Event;

/// Two-sided 95 %.
const Z: f64 = 1.96;
/// Parts of a recording that are compared with each other, and the least samples in all for that.
const PARTS: usize = 10;
const ENOUGH: f64 = 100.0;
/// Below these a second nothing that counts was moved or done.
const BYTES: f64 = 1e5;
const OPERATIONS: f64 = 10.0;
const BYTES_A_UNIT: f64 = 1e9;
const OPERATIONS_A_UNIT: f64 = 1e3;

/// How much a load moved and did, where something outside of the recording counted that.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Done {
    pub bytes: f64,
    pub operations: f64,
    pub seconds: f64,
}

/// CPU time of one kind on one side.
#[derive(Clone, Copy)]
struct Spent {
    cpus: f64,
    /// Of its logarithm.
    variance: f64,
}

pub fn times(before: f64, after: f64, variance: Option<f64>) -> Times {
    let ratio = (before > 0.0).then(|| after / before).filter(|r| r.is_finite());
    let reach = variance.filter(|v| v.is_finite()).map(|v| (Z * v.sqrt()).exp());
    let end = |factor: Option<f64>| ratio.zip(factor).map(|(r, f)| r * f);
    Times { before, after, ratio, low: end(reach.map(|r| 1.0 / r)), high: end(reach) }
}

pub fn cost(sides: [&FactBase<'_>; 2], sources: [&Source; 2], work: Option<&Work>) -> Cost {
    let of = |zfs: bool| {
        let [before, after] = [0, 1].map(|side| spent(sides[side], sources[side], zfs));
        Some((before?, after?))
    };
    let per_second = |(a, b): (Spent, Spent)| times(a.cpus, b.cpus, Some(a.variance + b.variance));
    let per_unit = |(a, b): (Spent, Spent)| {
        let work = work?;
        let unit = if work.unit == "bytes" { BYTES_A_UNIT } else { OPERATIONS_A_UNIT };
        let of = |cpus: f64, rate: f64| cpus / (rate / unit);
        let [before, after] = [of(a.cpus, work.rate.before), of(b.cpus, work.rate.after)];
        (before.is_finite() && after.is_finite()).then(|| times(before, after, Some(a.variance + b.variance)))
    };
    let (all, zfs) = (of(false), of(true));
    Cost {
        cpus: all.map(per_second),
        zfs_cpus: zfs.map(per_second),
        cpu_s_per_unit: all.and_then(per_unit),
        zfs_cpu_s_per_unit: zfs.and_then(per_unit),
    }
}

/// CPUs that were busy, or busy for ZFS; `None` where the rate of sampling or the time is not known.
fn spent(facts: &FactBase<'_>, source: &Source, zfs: bool) -> Option<Spent> {
    let (hz, seconds) = (source.hz?, source.duration_s?);
    let cpu = &facts.cpu;
    let part = if zfs { cpu.stages.of_zfs() } else { cpu.busy };
    let samples = cpu.sampling.samples_in(part);
    if !cpu.sampling.counted || samples < 1.0 || hz * seconds <= 0.0 {
        return None;
    }
    let variance = unevenness(facts, zfs).max(1.0 - part as f64 / cpu.all.max(1) as f64) / samples;
    Some(Spent { cpus: samples / (hz * seconds), variance })
}

/// How many times as much the samples of equal parts of the recording differ as chance alone would have it;
/// 1 where the source has no times.
fn unevenness(facts: &FactBase<'_>, zfs: bool) -> f64 {
    let profile = &facts.evidence.profile;
    let classified = &facts.cpu.classified;
    let counts = |sample: &zwhy_profile::Sample| {
        sample.event == Event::Cpu
            && match zfs {
                true => classified.stage_of(sample.stack, sample.thread) > NOT_ZFS,
                false => !classified.is_idle(sample.stack),
            }
    };
    let end = profile.samples.t.iter().map(|t| t.0).max().unwrap_or(0);
    if end <= 0 {
        return 1.0;
    }
    let mut parts = [0.0f64; PARTS];
    for sample in profile.samples.iter().filter(counts) {
        let at = (sample.t.0.max(0) as f64 / (end + 1) as f64 * PARTS as f64) as usize;
        parts[at.min(PARTS - 1)] += f64::from(sample.count);
    }
    let sum: f64 = parts.iter().sum();
    if sum < ENOUGH {
        return 1.0;
    }
    let mean = sum / PARTS as f64;
    parts.iter().map(|n| (n - mean).powi(2)).sum::<f64>() / (PARTS - 1) as f64 / mean
}

/// What both sides tell of the work done: what the load itself counted, else the counters nearest to the
/// application that both have.
pub fn work(sides: [&FactBase<'_>; 2], done: [Option<Done>; 2]) -> Option<Work> {
    let counted = |side: usize| done[side].filter(|d| d.seconds > 0.0);
    if let (Some(a), Some(b)) = (counted(0), counted(1)) {
        let source = "what the load itself counted";
        let bytes = made("bytes", source, [(a.bytes, a.seconds), (b.bytes, b.seconds)]);
        let operations =
            || made("operations", source, [(a.operations, a.seconds), (b.operations, b.seconds)]);
        if let Some(work) = bytes.or_else(operations) {
            return Some(work);
        }
    }
    COUNTERS.iter().find_map(|counters| {
        let [a, b] = sides.map(|facts| counters.rates(facts));
        let read = |rates: [f64; 2]| rates[0] / (rates[0] + rates[1]);
        let rates = [a, b].map(|rates| (rates[0] + rates[1], 1.0));
        let work = made(counters.unit, counters.words, rates)?;
        Some(Work { read_before: Some(read(a)), read_after: Some(read(b)), ..work })
    })
}

fn made(unit: &str, source: &str, [a, b]: [(f64, f64); 2]) -> Option<Work> {
    let least = if unit == "bytes" { BYTES } else { OPERATIONS };
    let [before, after] = [a.0 / a.1, b.0 / b.1];
    let rate = (before >= least && after >= least).then(|| times(before, after, None))?;
    let (unit, source) = (unit.to_owned(), source.to_owned());
    Some(Work { unit, source, rate, read_before: None, read_after: None })
}

/// Counters that tell of the same work.
struct Counters {
    words: &'static str,
    unit: &'static str,
    of: fn(&str) -> bool,
    read: &'static [&'static str],
    written: &'static [&'static str],
}

/// Nearest to what applications asked for first. Disks come last: compression, copies and caches stand between.
const COUNTERS: [Counters; 4] = [
    Counters {
        words: "what datasets counted (objset kstats)",
        unit: "bytes",
        of: |source| source.contains("/objset-"),
        read: &["nread"],
        written: &["nwritten"],
    },
    Counters {
        words: "what pools counted (iostats)",
        unit: "bytes",
        of: |source| source.ends_with("/iostats"),
        read: &["arc_read_bytes", "direct_read_bytes"],
        written: &["arc_write_bytes", "direct_write_bytes"],
    },
    Counters {
        words: "what disks moved (diskstats)",
        unit: "bytes",
        of: |source| source.starts_with("disk/"),
        read: &["read_bytes"],
        written: &["write_bytes"],
    },
    Counters {
        words: "operations of datasets (objset kstats)",
        unit: "operations",
        of: |source| source.contains("/objset-"),
        read: &["reads"],
        written: &["writes", "nunlinks"],
    },
];

impl Counters {
    /// Read and written a second.
    fn rates(&self, facts: &FactBase<'_>) -> [f64; 2] {
        let sum = |names: &[&str]| {
            let kstats = facts.evidence.kstats.iter();
            let of = kstats.filter(|k| (self.of)(&k.source) && names.contains(&k.name.as_str()));
            of.filter_map(|k| k.rate).filter(|r| r.is_finite() && *r > 0.0).sum::<f64>()
        };
        [sum(self.read), sum(self.written)]
    }
}

/// What the source itself says was done: an experiment knows how much it moved.
pub fn told(facts: &FactBase<'_>) -> Option<Done> {
    let all = &facts.evidence.facts;
    let bytes = all.experiment.as_ref()?.bytes.filter(|b| *b > 0)? as f64;
    let seconds = all.recorder.duration_s?;
    Some(Done { bytes, operations: 0.0, seconds })
}
