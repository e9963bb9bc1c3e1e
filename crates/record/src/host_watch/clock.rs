//! Notices when the clock of the host is set and when the host sleeps.
//!
//! A recording counts its time on the monotonic clock, which neither moves; only the time of day of
//! what follows is another than the recording's start tells. The clock that goes on in sleep
//! (`CLOCK_BOOTTIME`, clock_gettime(2)) tells the two apart.

use rustix::time::{ClockId, clock_gettime};

/// Smaller steps are of the slow correction by NTP (at most half a millisecond a second) and of being
/// interrupted between two readings.
const LEAST_NS: i128 = 250_000_000;
/// Readings that took longer than this tell nothing of each other.
const APART_NS: i128 = 20_000_000;

/// One look at all clocks, in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Reading {
    monotonic: i128,
    boot: i128,
    real: i128,
}

#[derive(Debug, Default)]
pub(crate) struct ClockWatch {
    last: Option<Reading>,
}

impl ClockWatch {
    /// What happened since the last look, as sentences.
    pub(crate) fn look(&mut self) -> Vec<String> {
        // The next look sees what one in a hurry left out.
        read().map_or_else(Vec::new, |now| self.take(now))
    }

    fn take(&mut self, now: Reading) -> Vec<String> {
        let Some(last) = self.last.replace(now) else { return Vec::new() };
        let slept = (now.boot - last.boot) - (now.monotonic - last.monotonic);
        let set = (now.real - last.real) - (now.boot - last.boot);
        let seconds = |ns: i128| ns.unsigned_abs() as f64 / 1e9;
        let mut told = Vec::new();
        if slept >= LEAST_NS {
            told.push(format!("the machine slept for {:.1} s", seconds(slept)));
        }
        if set.abs() >= LEAST_NS {
            let to = if set > 0 { "forward" } else { "back" };
            told.push(format!("the clock was set {to} by {:.1} s", seconds(set)));
        }
        told
    }
}

fn read() -> Option<Reading> {
    let ns = |id| {
        let now = clock_gettime(id);
        i128::from(now.tv_sec) * 1_000_000_000 + i128::from(now.tv_nsec)
    };
    (0..3).find_map(|_| {
        let monotonic = ns(ClockId::Monotonic);
        let (boot, real) = (ns(ClockId::Boottime), ns(ClockId::Realtime));
        (ns(ClockId::Monotonic) - monotonic < APART_NS).then_some(Reading { monotonic, boot, real })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_clock_and_a_sleep_are_told_apart_and_ntp_is_neither() {
        const S: i128 = 1_000_000_000;
        let mut watch = ClockWatch::default();
        let mut take = |monotonic: i128, slept: i128, ahead: i128| {
            let boot = monotonic + slept;
            watch.take(Reading { monotonic, boot, real: 1_700_000_000 * S + boot + ahead })
        };
        assert!(take(10 * S, 0, 0).is_empty(), "the first look has nothing to compare with");
        assert!(take(11 * S, 0, S / 2000).is_empty(), "NTP");
        assert_eq!(take(12 * S, 0, 3600 * S), ["the clock was set forward by 3600.0 s"]);
        assert!(take(13 * S, 0, 3600 * S).is_empty(), "told once");
        assert_eq!(take(14 * S, 0, -2 * S), ["the clock was set back by 3602.0 s"]);
        assert_eq!(take(15 * S, 90 * S, -2 * S), ["the machine slept for 90.0 s"]);
    }

    #[test]
    fn the_clocks_of_this_host_can_be_read() {
        assert!((0..1000).any(|_| read().is_some()));
    }
}
