//! Hosts that never were, of recordings that are real: stores of any size to try and to measure with.
//!
//! A host takes its load from one recording and, where trouble begins, from another. Each of its samples is one of the
//! recording's, drawn at random, at a time of its own; its counters go on as they went there. The same seed makes the
//! same hosts.

use crate::error::FleetError;
use crate::ingest::put_capture;
use crate::layout::UnitKey;
use crate::store::Store;
use std::collections::BTreeMap;
use zwhy_capture::{Capture, Series, SeriesKind};
use zwhy_profile::{Event, Nanos, Sample};

/// What is made.
#[derive(Clone, Debug)]
pub struct Simulation {
    pub hosts: u32,
    pub seconds: u64,
    /// Milliseconds since 1970 at which the first unit of all hosts begins.
    pub start_ms: i64,
    /// Length of a unit.
    pub unit_s: u32,
    /// Samples a second of each host; without it as many as its recording has.
    pub rate: Option<u32>,
    /// Seconds between two readings of a counter, at least.
    pub interval_s: u32,
    pub seed: u64,
}

/// What was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Simulated {
    pub units: u64,
    /// Rows of samples, and of counters.
    pub samples: u64,
    pub readings: u64,
}

/// Numbers without an end from a seed (SplitMix64, Steele et al. 2014).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let a = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let b = (a ^ (a >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        b ^ (b >> 31)
    }

    /// Below `end`, which is not 0.
    fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }
}

/// What one host does over its time.
struct Load<'a> {
    usual: &'a Capture,
    trouble: &'a Capture,
    /// Unit with which trouble begins; past the end where it does not.
    from_unit: u64,
}

/// Writes the hosts into the store, without findings.
///
/// # Errors
/// When a recording has no samples or no length, or the store cannot be written.
pub async fn simulate(
    store: &Store,
    simulation: &Simulation,
    recordings: &[Capture],
) -> Result<Simulated, FleetError> {
    let odd = |capture: &Capture| capture.profile.samples.is_empty() || length_ns(capture) <= 0;
    if recordings.is_empty() || recordings.iter().any(odd) {
        return Err(FleetError::Ask(
            "hosts are made of recordings that have samples and a length".to_owned(),
        ));
    }
    let unit_ms = i64::from(simulation.unit_s.max(1)) * 1000;
    let of_host = (simulation.seconds * 1000).div_ceil(unit_ms as u64);
    let mut made = Simulated::default();
    for host in 0..simulation.hosts {
        let mut numbers = Numbers(simulation.seed ^ (u64::from(host) << 32));
        let one = |numbers: &mut Numbers| &recordings[numbers.below(recordings.len() as u64) as usize];
        let usual = one(&mut numbers);
        let trouble = one(&mut numbers);
        // One host of four is in trouble from some time on.
        let in_trouble = numbers.below(4) == 0;
        let from_unit = if in_trouble { numbers.below(of_host) } else { u64::MAX };
        let load = Load { usual, trouble, from_unit };
        for number in 0..of_host {
            let recording = if number < load.from_unit { load.usual } else { load.trouble };
            let mut capture = unit(recording, unit_ms, number, simulation, &mut numbers);
            let name = format!("sim{host:05}");
            let start_ms = simulation.start_ms + number as i64 * unit_ms;
            capture.facts.host.name = Some(name.clone());
            capture.facts.start_unix_s = Some(start_ms as f64 / 1e3);
            made.units += 1;
            made.samples += capture.profile.samples.len() as u64;
            made.readings += capture.series.len() as u64;
            let unit = UnitKey { host: name, start_ms, name: format!("{number:08}") };
            put_capture(store, &unit, capture).await?;
        }
    }
    Ok(made)
}

/// Nanoseconds that a recording lasted.
fn length_ns(capture: &Capture) -> i64 {
    let told = capture.facts.recorder.duration_s.filter(|s| s.is_finite()).unwrap_or(0.0);
    let last = capture.profile.samples.t.iter().map(|t| t.0).max().unwrap_or(0);
    ((told * 1e9) as i64).max(last + 1)
}

/// A unit of `unit_ms` of the load that was recorded.
fn unit(
    recording: &Capture,
    unit_ms: i64,
    number: u64,
    simulation: &Simulation,
    numbers: &mut Numbers,
) -> Capture {
    let (length, unit_ns) = (length_ns(recording), unit_ms * 1_000_000);
    let mut capture = Capture { facts: recording.facts.clone(), ..Capture::default() };
    let from = &recording.profile;
    capture.profile = from.clone();
    capture.profile.samples.clear();
    let rows = from.samples.len() as u64;
    let wanted = match simulation.rate {
        Some(rate) => u64::from(rate).saturating_mul(unit_ms as u64) / 1000,
        None => (u128::from(rows) * unit_ns as u128 / length as u128) as u64,
    };
    // As many as there would be, give or take a tenth.
    let wanted = wanted * 9 / 10 + numbers.below(wanted / 5 + 1);
    for _ in 0..wanted {
        let Some(row) = from.samples.get(numbers.below(rows) as usize) else { continue };
        let t = Nanos(numbers.below(unit_ns as u64) as i64);
        capture.profile.samples.push(Sample { t, ..row });
    }
    let every_ns = i64::from(simulation.interval_s) * 1_000_000_000;
    capture.series = tiled(&recording.series, length, unit_ns, number, every_ns);
    let recorder = &mut capture.facts.recorder;
    recorder.duration_s = Some(unit_ms as f64 / 1e3);
    recorder.samples = Some(capture.profile.samples.total(Event::Cpu));
    capture
}

/// Readings again and again, `every_ns` apart or more; counters go on from one time to the next.
fn tiled(from: &Series, length: i64, unit_ns: i64, number: u64, every_ns: i64) -> Series {
    let mut first: BTreeMap<(&str, &str), (i64, i64)> = BTreeMap::new();
    for row in from.iter() {
        let bounds = first.entry((row.source, row.name)).or_insert((row.value, row.value));
        bounds.1 = row.value;
    }
    let mut newest: BTreeMap<(&str, &str), i64> = BTreeMap::new();
    let is_due = |t: i64, last: Option<&i64>| last.is_none_or(|last| t - last >= every_ns);
    let kept = from.iter().filter(|row| {
        let (key, t) = ((row.source, row.name), row.t.0);
        let due = is_due(t, newest.get(&key));
        if due {
            newest.insert(key, t);
        }
        due
    });
    let kept: Vec<_> = kept.collect();
    let length = length.max(1);
    let turns = unit_ns / length;
    let before = (number as i64).wrapping_mul(turns);
    let mut out = Series::default();
    // Of an interval that is longer than the recording, whole turns are left out.
    let step = usize::try_from(every_ns / length).unwrap_or(usize::MAX).max(1);
    for turn in (0..turns).step_by(step) {
        for row in &kept {
            let (begin, end) = first.get(&(row.source, row.name)).copied().unwrap_or_default();
            let grown = end.wrapping_sub(begin).wrapping_mul(before.wrapping_add(turn));
            let value =
                if row.kind == SeriesKind::Counter { row.value.wrapping_add(grown) } else { row.value };
            out.push(Nanos(row.t.0 + turn * length), row.source, row.name, row.kind, value);
        }
    }
    out
}
