//! Real captures, as hosts of a store, and what is true of each by itself.

use std::path::PathBuf;
use zwhy_capture::{Capture, SeriesRow};
use zwhy_diagnose::{Answer, Knowledge, Options, explain};
use zwhy_evidence::Evidence;
use zwhy_fleet::{IngestOptions, Scope, Store, ingest};
use zwhy_profile::Event;

/// Recordings of the same kernel under five loads.
pub const CAPTURES: [&str; 6] = ["disk", "gzip", "lz4", "memory", "program", "sync"];

pub fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../docs/first-hour/{name}.zwhy"))
}

/// What is asked to be one host: a name that is no path and no SQL.
pub fn host(name: &str) -> String {
    format!("{name}/../'); --\u{202e}")
}

pub fn of(name: &str) -> Scope {
    Scope { hosts: vec![host(name)], ..Scope::default() }
}

pub fn evidence(name: &str) -> Evidence {
    let mut imported = Capture::open(&path(name)).unwrap().into_imported(name);
    imported.evidence.set_recorder_aside();
    imported.evidence
}

pub fn answer(name: &str) -> Answer {
    let mut imported = Capture::open(&path(name)).unwrap().into_imported("capture");
    imported.evidence.set_recorder_aside();
    let options = Options { stats: Some(imported.stats), ..Options::default() };
    explain(&imported.evidence, &Knowledge::embedded(), &options)
}

pub fn start_ms(name: &str) -> i64 {
    let facts = Capture::open(&path(name)).unwrap().facts;
    (facts.start_unix_s.unwrap() * 1e3).round() as i64
}

/// Ranges are of whole seconds: what is left of the moment where one begins or ends.
pub fn second(ms: i64) -> i64 {
    if ms == i64::MAX { ms } else { ms.div_euclid(1000).saturating_mul(1000) }
}

/// CPU samples of the seconds of a range, whose ends are in milliseconds.
pub fn cpu_samples(name: &str, from_ms: i64, to_ms: i64) -> u64 {
    samples_between(name, second(from_ms), second(to_ms))
}

/// CPU samples between two moments, counted row by row.
pub fn samples_between(name: &str, from_ms: i64, to_ms: i64) -> u64 {
    let start = start_ms(name);
    let samples = evidence(name).profile.samples;
    let within = |t: i64| (from_ms..to_ms).contains(&(start + t / 1_000_000));
    let rows = samples.iter().filter(|s| s.event == Event::Cpu && within(s.t.0));
    rows.map(|s| u64::from(s.count)).sum()
}

pub fn readings(name: &str, keep: impl Fn(&SeriesRow<'_>) -> bool) -> Vec<(i64, i64)> {
    let (start, series) = (start_ms(name), Capture::open(&path(name)).unwrap().series);
    let rows = series.iter().filter(|row| keep(row));
    let mut rows: Vec<(i64, i64)> = rows.map(|row| (start + row.t.0 / 1_000_000, row.value)).collect();
    rows.sort_unstable();
    rows
}

/// A store of all captures, each as a host of its own.
pub async fn store() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().display().to_string()).unwrap();
    let knowledge = Knowledge::embedded();
    for name in CAPTURES {
        let options = IngestOptions { host: Some(host(name)), start_ms: None };
        assert!(ingest(&store, &path(name), &options, &knowledge).await.unwrap().new);
    }
    (dir, store)
}
