//! Opened and closed frames to samples: the time between two events belongs to what is open then.
//!
//! ```text
//!   O a   O b     C b  C a        a: 0..1 and 3..4
//!   0     1       3    4          a;b: 1..3
//! ```

use super::file::{EventKind, OneProfile};
use super::{Common, Reader};
use zwhy_profile::FrameId;

/// Reads one evented profile into the reader.
pub fn read(reader: &mut Reader, profile: &OneProfile, common: &Common) {
    let mut open: Vec<FrameId> = Vec::new();
    let mut last = common.start;
    let (mut lost_time, mut why) = (0u64, "");
    let mut pass = |reader: &mut Reader, open: &[FrameId], start: f64, end: f64| {
        if let Err(reason) = spend(reader, common, open, start, end) {
            (lost_time, why) = (lost_time + 1, reason);
        }
    };
    for event in &profile.events {
        let Some(frame) = reader.frame(event.frame.0) else {
            reader.taken.count(Err("event of a frame that is not in the file"));
            continue;
        };
        // Time that runs backwards or is missing takes no time.
        let at = if event.at.0 >= last { event.at.0 } else { last };
        pass(reader, &open, last, at);
        last = at;
        reader.taken.count(match event.kind {
            EventKind::Open => {
                open.push(frame);
                Ok(())
            }
            EventKind::Close => match open.iter().rposition(|f| *f == frame) {
                // Frames that were opened inside and never closed end with it.
                Some(depth) => {
                    open.truncate(depth);
                    Ok(())
                }
                None => Err("close of a frame that is not open"),
            },
            EventKind::Other => Err("event of an unknown type"),
        });
    }
    if profile.end_value.0 > last {
        pass(reader, &open, last, profile.end_value.0);
    }
    if lost_time > 0 {
        reader.taken.warn(format!("the time between {lost_time} events is not taken: {why}"));
    }
}

/// Counts the time from `start` to `end` for the open frames, or says why that was not possible.
fn spend(
    reader: &mut Reader,
    common: &Common,
    open: &[FrameId],
    start: f64,
    end: f64,
) -> Result<(), &'static str> {
    if open.is_empty() || end <= start {
        return Ok(());
    }
    let Ok(amount) = reader.amount(end - start, common.unit) else { return Ok(()) };
    let stack = reader.taken.stack(open.iter().rev().copied())?;
    reader.push(common, start - common.start, stack, amount)
}
