//! What a spool takes as it was recorded and as sums, by table: `cargo run -p zwhy-agent --example sums -- SPOOL`.
//!
//! The spool is copied; an agent may write it meanwhile.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use zwhy_agent::{Limits, Rows, Spool, entries};
use zwhy_capture::{Capture, CaptureError, each_entry, recorded_rows};
use zwhy_profile::Event;

type Bytes = BTreeMap<String, u64>;

/// Bytes by table, CPU samples, rows that they stand for, and seconds, of what was recorded or of sums.
fn look(folder: &Path, sums: bool) -> Result<(Bytes, u64, Rows, f64), Box<dyn Error>> {
    let (mut bytes, mut samples, mut rows, mut seconds) = (Bytes::new(), 0, Rows::default(), 0.0);
    for entry in entries(folder)?.into_iter().filter(|entry| entry.is_sums() == sums) {
        each_entry(&entry.path, |table, _, part| -> Result<(), CaptureError> {
            *bytes.entry(table.to_owned()).or_default() += part.len() as u64;
            Ok(())
        })?;
        let capture = Capture::open(&entry.path)?;
        samples += capture.profile.samples.total(Event::Cpu);
        rows.add(Rows::of(&recorded_rows(&entry.path)?));
        seconds += capture.facts.recorder.duration_s.unwrap_or(0.0);
    }
    Ok((bytes, samples, rows, seconds))
}

fn main() -> Result<(), Box<dyn Error>> {
    let from = PathBuf::from(std::env::args_os().nth(1).ok_or("name the folder of a spool")?);
    let copy = tempfile::tempdir()?;
    for entry in entries(&from)?.iter().filter(|entry| entry.path.is_file()) {
        std::fs::copy(&entry.path, copy.path().join(entry.path.file_name().ok_or("a file without a name")?))?;
    }
    let before = look(copy.path(), false)?;
    let always = Duration::from_secs(u64::from(u32::MAX));
    let limits = Limits { detail: Duration::ZERO, age: always, bytes: u64::MAX, ..Limits::default() };
    let mut spool = Spool::open(copy.path(), limits)?;
    let began = Instant::now();
    for _ in 0..entries(copy.path())?.len() {
        spool.make_sums();
    }
    let took = began.elapsed();
    drop(spool);
    let after = look(copy.path(), true)?;
    let mut out = std::io::stdout().lock();
    for (name, (bytes, samples, rows, seconds)) in [("as recorded", &before), ("sums", &after)] {
        let all: u64 = bytes.values().sum();
        let a_day = all as f64 * 86_400.0 / seconds / 1e6;
        writeln!(
            out,
            "{name}: {seconds:.0} s, {samples} samples of {rows:?}, {all} bytes, {a_day:.1} MB a day: {bytes:?}"
        )?;
    }
    writeln!(out, "{:.2} s, {} files left", took.as_secs_f64(), entries(copy.path())?.len())?;
    Ok(())
}
