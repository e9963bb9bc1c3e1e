//! When a sampler that reads once an interval looks: at the begin, then every interval, and at the end.

use super::{Look, Part};
use std::time::Duration;

#[derive(Default)]
pub(super) struct Pace {
    interval: Duration,
    next: Duration,
}

impl Pace {
    pub(super) fn new(interval: Duration) -> Pace {
        Pace { interval, next: Duration::ZERO }
    }

    /// As time of the recording.
    pub(super) fn due(&self) -> Duration {
        self.next
    }

    /// Whether something is to be read at this look; the interval to the next one begins with it.
    ///
    /// A cut comes between two readings and asks for none.
    pub(super) fn begins(&mut self, look: &Look) -> bool {
        let begins = match look.part {
            Part::Begin | Part::End => true,
            Part::Middle => look.elapsed >= self.next,
            Part::Cut => false,
        };
        if begins {
            self.next = look.elapsed + self.interval;
        }
        begins
    }

    /// Looks at this time next, sooner or later than an interval from now.
    pub(super) fn next_at(&mut self, time: Duration) {
        self.next = time;
    }
}
