//! Folders that nobody finished become files: what an agent that was killed left, and what a full disk kept from
//! being packed.

use super::names::{Entry, finished};
use crate::error::AgentError;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use zwhy_capture::{Capture, CaptureError, pack_folder};
use zwhy_evidence::CaptureFacts;

/// What was made of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Salvaged {
    /// A file; of so many segments nothing could be read.
    File { unreadable: usize },
    /// Nothing was in it.
    Nothing,
}

/// Makes a file of the folder `part`, which nobody writes any more. It is on disk when this returns.
///
/// # Errors
/// When the file cannot be written; the folder stays as it is and is itself readable.
pub(crate) fn pack(part: &Path, out: &Path) -> Result<Salvaged, AgentError> {
    let damage = pack_folder(part, out)?;
    if part.exists() {
        // What could be read is in the file.
        fs::remove_dir_all(part).map_err(AgentError::io("remove", part))?;
    }
    sync_folder(out);
    Ok(Salvaged::File { unreadable: damage.unreadable.len() })
}

/// As [`pack`] of a folder that was cut: its facts get the length and the counts that its rows have.
pub(crate) fn salvage(entry: &Entry, folder: &Path) -> Result<Salvaged, AgentError> {
    let capture = match Capture::open(&entry.path) {
        Ok(capture) => capture,
        Err(CaptureError::NotACapture { .. }) => {
            fs::remove_dir_all(&entry.path).map_err(AgentError::io("remove", &entry.path))?;
            return Ok(Salvaged::Nothing);
        }
        Err(error) => return Err(error.into()),
    };
    let seconds = seconds_of(&capture);
    put_facts(&cut_facts(capture, seconds), &entry.path)?;
    pack(&entry.path, &finished(folder, entry.number, entry.start_unix_s, seconds))
}

/// Up to its last row.
pub(crate) fn seconds_of(capture: &Capture) -> f64 {
    let samples = capture.profile.samples.t.iter().map(|t| t.0);
    let last = samples.chain(capture.series.iter().map(|row| row.t.0)).max();
    last.unwrap_or(0).max(0) as f64 / 1e9
}

fn cut_facts(capture: Capture, seconds: f64) -> CaptureFacts {
    let samples = capture.profile.samples.total(zwhy_profile::Event::Cpu);
    let mut facts = capture.facts;
    let recorder = &mut facts.recorder;
    recorder.cpu_s = recorder.cpu_share.map(|share| share * seconds);
    (recorder.duration_s, recorder.samples) = (Some(seconds), Some(samples));
    let limits = recorder.limits.get_or_insert_default();
    limits.push("the agent ended without finishing this part: its last seconds are missing".to_owned());
    facts
}

fn put_facts(facts: &CaptureFacts, part: &Path) -> Result<(), AgentError> {
    let path = part.join("facts.json");
    let text = serde_json::to_vec_pretty(facts).map_err(std::io::Error::other);
    text.and_then(|text| replace(&path, &part.join("facts.json.tmp"), &text))
        .map_err(AgentError::io("write", &path))
}

/// Writes a file whole or not at all, by way of a temporary one beside it.
pub(crate) fn replace(path: &Path, temporary: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = File::create(temporary)?;
    file.write_all(bytes)?;
    file.sync_data()?;
    fs::rename(temporary, path)
}

/// A name is on disk when its folder is.
pub(crate) fn sync_folder(file: &Path) {
    // File systems that cannot do this keep names in order by themselves.
    let _ = file.parent().map(File::open).and_then(Result::ok).map(|folder| folder.sync_all());
}
