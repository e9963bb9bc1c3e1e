//! One interval with all that was seen in it, kept after the recorder has gone on.
//!
//! Invariant: of the recorder's tables of names it holds those that its samples and readings use, and no others.

use rustc_hash::FxHashSet;
use std::time::Duration;
use zwhy_capture::{Mark, Series};
use zwhy_profile::{Event, Move, Nanos, Profile, Sample, Samples};
use zwhy_record::Interval;

#[derive(Clone, Debug, Default)]
pub struct Slice {
    /// Since the start of the recording.
    pub from: Duration,
    pub to: Duration,
    /// Samples of this interval, with the names of their threads and of those that have readings.
    pub profile: Profile,
    /// CPU time that a sample of weight 0 stands for.
    pub sample: Duration,
    /// Readings that changed.
    pub series: Series,
    /// Sources that ended.
    pub ended: Vec<String>,
    pub marks: Vec<Mark>,
    /// Samples that found no room.
    pub lost: u64,
}

impl Slice {
    pub fn of(interval: &Interval<'_>) -> Slice {
        Slice {
            from: interval.from,
            to: interval.to,
            profile: narrowed(interval.profile, &interval.profile.samples, interval.series),
            sample: interval.sample,
            series: interval.series.clone(),
            ended: interval.ended.to_vec(),
            marks: interval.marks.to_vec(),
            lost: interval.lost,
        }
    }

    pub fn seconds(&self) -> f64 {
        self.to.saturating_sub(self.from).as_secs_f64()
    }

    /// CPU time that a sample stands for, in seconds.
    pub(crate) fn cpu_seconds(&self, sample: &Sample) -> f64 {
        if sample.weight.0 > 0 {
            sample.weight.as_secs_f64()
        } else {
            self.sample.as_secs_f64() * f64::from(sample.count)
        }
    }

    /// Bytes held, about.
    pub(crate) fn bytes(&self) -> usize {
        const SAMPLE: usize = 36;
        const READING: usize = 32;
        self.profile.memory() + self.profile.samples.len() * SAMPLE + self.series.len() * READING
    }
}

/// A profile of these samples alone, with their threads and those that series have readings of.
pub fn narrowed(whole: &Profile, samples: &Samples, series: &Series) -> Profile {
    let mut out = Profile::new();
    for event in Event::ALL {
        out.set_measure(event, whole.measure(event).clone());
    }
    let mut moving = Move::new(whole, &mut out);
    let of_samples = samples.iter().map(|s| whole.threads.get(s.thread).tid);
    let seen: FxHashSet<i32> =
        series.iter().filter_map(|row| number_of(row.source)).chain(of_samples).collect();
    // In their order and with every name: the last name of a number is its newest.
    for (id, _) in whole.threads.iter().filter(|(_, thread)| seen.contains(&thread.tid)) {
        moving.thread(id);
    }
    let moved: Vec<Sample> = samples
        .iter()
        .map(|s| Sample { thread: moving.thread(s.thread), stack: moving.stack(s.stack), ..s })
        .collect();
    moved.into_iter().for_each(|sample| out.samples.push(sample));
    out
}

/// 4711 of `thread/4711` and of `process/4711`.
pub(crate) fn number_of(source: &str) -> Option<i32> {
    source.strip_prefix("thread/").or_else(|| source.strip_prefix("process/"))?.parse().ok()
}

/// A time of the recording as series and samples have it.
pub fn nanos(time: Duration) -> Nanos {
    Nanos(i64::try_from(time.as_nanos()).unwrap_or(i64::MAX))
}
