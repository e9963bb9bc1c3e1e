//! The last minute as a capture on disk: the same that recording that minute would have written.

use crate::model::{FREEZE_SPAN, Model};
use crate::times::stamp;
use std::path::{Path, PathBuf};
use std::time::Duration;
use zwhy_capture::{Capture, CaptureError, FORMAT_VERSION, Writer};

/// What was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Frozen {
    pub path: PathBuf,
    /// How much is in it.
    pub seconds: f64,
}

/// Names that are tried, where others froze the same second.
const MOST_NAMES: usize = 100;

/// Writes the last minute before `until` into a new capture in `folder`; `None` where nothing of it is kept any more.
///
/// # Errors
/// What writing a capture fails with.
pub fn freeze(model: &Model, until: Duration, folder: &Path) -> Result<Option<Frozen>, CaptureError> {
    let Some(capture) = model.capture(FREEZE_SPAN, until) else { return Ok(None) };
    let seconds = capture.facts.recorder.duration_s.unwrap_or(0.0);
    let end = model.facts().start_unix_s.map_or(0.0, |start| start + until.as_secs_f64());
    let out = free_name(folder, &format!("zwhy-top-{}", stamp(end)));
    Ok(Some(Frozen { path: write(capture, &out)?, seconds }))
}

fn free_name(folder: &Path, name: &str) -> PathBuf {
    let numbered = |n: usize| match n {
        1 => folder.join(format!("{name}.zwhy")),
        n => folder.join(format!("{name}-{n}.zwhy")),
    };
    // The writer refuses a name that is taken; the last one tried may be.
    (1..MOST_NAMES).map(numbered).find(|path| !path.exists()).unwrap_or_else(|| numbered(MOST_NAMES))
}

fn write(mut capture: Capture, out: &Path) -> Result<PathBuf, CaptureError> {
    capture.facts.version = Some(FORMAT_VERSION);
    let mut writer = Writer::create(out)?;
    writer.set_facts(&capture.facts)?;
    writer.flush(&mut capture.profile)?;
    writer.append_series(&capture.series)?;
    capture.marks.into_iter().try_for_each(|mark| writer.mark(mark))?;
    writer.finish()
}
