//! A recording that hands out each interval as it ends, and keeps no file: for a live view or an agent.
//!
//! Invariants: an interval is valid until the next one is asked for, when its samples and readings are dropped;
//! memory is that of one interval and of names in use. An interval ends early where more samples came than are
//! kept, and what was lost is counted.

use crate::error::RecordError;
use crate::live::Live;
use crate::options::RecordOptions;
use crate::recording::{MOST_PENDING, TICK};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use zwhy_capture::{Mark, Series};
use zwhy_host::thread_cpu;
use zwhy_profile::{Nanos, Profile};

/// A running recording without a file.
pub struct Intervals {
    live: Live,
    every: Duration,
    /// Where the interval that runs began.
    from: Duration,
    /// Losses that were told with an interval.
    lost: BTreeMap<u32, u64>,
    sample: Duration,
    over: bool,
}

/// What was seen between two moments.
pub struct Interval<'a> {
    /// Since the start; the interval holds the samples that were taken after it, up to `to`.
    pub from: Duration,
    pub to: Duration,
    /// Samples of this interval. Ids of names, stacks and threads hold for this interval alone.
    pub profile: &'a Profile,
    /// CPU time that a sample of weight 0 stands for.
    pub sample: Duration,
    /// Readings that changed in this interval; see [`Interval::reading`] for one that did not.
    pub series: &'a Series,
    /// What happened to the host.
    pub marks: &'a [Mark],
    /// Samples of this interval that found no room.
    pub lost: u64,
    live: &'a Live,
}

impl Interval<'_> {
    /// The last reading of a counter, as `arcstats` and `size`.
    pub fn reading(&self, source: &str, name: &str) -> Option<i64> {
        self.live.scene.pen.reading(source, name)
    }

    /// CPU time that a sample stands for.
    pub fn cpu_time(&self, count: u32, weight: Nanos) -> Duration {
        match u64::try_from(weight.0) {
            Ok(ns) if ns > 0 => Duration::from_nanos(ns),
            _ => self.sample * count,
        }
    }
}

impl Intervals {
    /// Begins to look; of the options those of the file are not used.
    ///
    /// # Errors
    /// As [`crate::Recording::start`].
    pub fn start(options: &RecordOptions) -> Result<Intervals, RecordError> {
        options.check()?;
        let live = Live::start(options)?;
        let every = options.interval.max(TICK / 10);
        // The kernel may allow a lower rate than was asked for.
        let hz = live.facts(None).hz;
        let hz = hz.map_or(options.hz, |hz| hz as u32);
        let sample = Duration::from_secs(1) / hz.max(1);
        Ok(Intervals { live, every, from: Duration::ZERO, lost: BTreeMap::new(), sample, over: false })
    }

    /// Sentences on what cannot be seen, as recording began.
    pub fn caveats(&self) -> &[String] {
        &self.live.caveats
    }

    /// CPU time of the recorder itself up to now.
    pub fn cpu(&self) -> Duration {
        self.live.cpu
    }

    /// Waits for the end of the next interval; `None` when the target has ended, the time is up or `stop` was
    /// set, and the last interval was handed out.
    pub fn next(&mut self, stop: &AtomicBool) -> Option<Interval<'_>> {
        if self.over {
            self.live.lower_priority();
            return None;
        }
        let cpu_before = thread_cpu();
        self.drop_taken();
        let until = self.from + self.every;
        let mut to = self.from;
        while !self.over && to < until && self.live.pending() < MOST_PENDING {
            // A sample is taken in a moment after it was taken.
            let left = until.saturating_sub(to).max(TICK / 100);
            let turn = self.live.turn(TICK.min(left));
            self.over = turn.over || stop.load(Ordering::Relaxed);
            to = turn.settled.max(to);
        }
        if self.over {
            to = self.live.end();
        }
        self.live.name();
        let from = self.from;
        self.from = to;
        let lost = self.live.counted().lost_by_cpu;
        let sum = |lost: &BTreeMap<u32, u64>| lost.values().sum::<u64>();
        let new = sum(&lost).saturating_sub(sum(&self.lost));
        self.lost = lost;
        self.live.cpu += thread_cpu().saturating_sub(cpu_before);
        let live = &self.live;
        let (profile, series) = (&live.scene.profile, &live.scene.pen.series);
        Some(Interval { from, to, profile, sample: self.sample, series, marks: &live.marks, lost: new, live })
    }

    /// Forgets the interval that was handed out.
    fn drop_taken(&mut self) {
        let scene = &mut self.live.scene;
        scene.profile.samples.clear();
        scene.pen.series.clear();
        scene.pen.trim();
        self.live.marks.clear();
        self.live.keep_small();
    }
}
