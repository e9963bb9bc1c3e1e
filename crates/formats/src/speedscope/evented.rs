//! Opened and closed frames to samples: the time between two events belongs to what is open then.
//!
//! ```text
//!   O a   O b     C b  C a        a: 0..1 and 3..4
//!   0     1       3    4          a;b: 1..3
//! ```

use super::file::{EventKind, OneProfile};
use super::{Common, Reader};
use crate::interchange::stacks::OVER_BUDGET;
use zwhy_profile::FrameId;

/// Reads one evented profile into the reader.
pub fn read(reader: &mut Reader, profile: &OneProfile, common: &Common) {
    let mut open: Vec<FrameId> = Vec::new();
    let mut last = common.start;
    let mut lost_time = 0u64;
    for event in &profile.events {
        reader.stats.read += 1;
        let Some(frame) = reader.frame(event.frame.0) else {
            reader.stats.drop("event of a frame that is not in the file", 1);
            continue;
        };
        // Time that runs backwards or is missing takes no time.
        let at = if event.at.0 >= last { event.at.0 } else { last };
        lost_time += u64::from(!spend(reader, common, &open, last, at));
        last = at;
        match event.kind {
            EventKind::Open => open.push(frame),
            EventKind::Close => {
                let Some(depth) = open.iter().rposition(|f| *f == frame) else {
                    reader.stats.drop("close of a frame that is not open", 1);
                    continue;
                };
                // Frames that were opened inside and never closed end with it.
                open.truncate(depth);
            }
            EventKind::Other => {
                reader.stats.drop("event of an unknown type", 1);
                continue;
            }
        }
        reader.stats.kept += 1;
    }
    if profile.end_value.0 > last {
        lost_time += u64::from(!spend(reader, common, &open, last, profile.end_value.0));
    }
    if lost_time > 0 {
        reader
            .stats
            .warnings
            .push(format!("the time between {lost_time} events is not taken: {OVER_BUDGET}"));
    }
}

/// Counts the time from `start` to `end` for the open frames; `false` when that was not possible.
fn spend(reader: &mut Reader, common: &Common, open: &[FrameId], start: f64, end: f64) -> bool {
    if open.is_empty() || end <= start {
        return true;
    }
    let Ok(amount) = reader.amount(end - start, common.unit) else { return true };
    match reader.stacks.stack(&mut reader.profile, open.iter().rev().copied()) {
        Some(stack) => reader.push(common, start - common.start, stack, amount).is_ok(),
        None => false,
    }
}
