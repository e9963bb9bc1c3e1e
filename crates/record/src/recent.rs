//! The last seconds of a recording, in memory until something asks for them.
//!
//! Invariants: no more than the span (plus one chunk) and no more than the bytes are kept; every
//! chunk begins with a reading of every series, so what is dropped takes nothing from what stays.

use crate::counted::Counted;
use std::collections::VecDeque;
use std::time::Duration;
use zwhy_capture::{Mark, Series};
use zwhy_profile::Samples;

/// The span is kept in so many parts.
const PARTS: u32 = 8;
/// Bytes of a row of samples, of series, with what tables of names add to it.
const SAMPLE_BYTES: usize = 36;
const READING_BYTES: usize = 32;
/// Rows kept at most, whatever the span.
pub(crate) const MOST_BYTES: usize = 32 << 20;

pub(crate) struct Chunk {
    pub begin: Duration,
    pub end: Duration,
    pub before: Counted,
    pub samples: Samples,
    pub series: Series,
}

impl Chunk {
    fn bytes(&self) -> usize {
        self.samples.len() * SAMPLE_BYTES + self.series.len() * READING_BYTES
    }
}

#[derive(Default)]
pub(crate) struct Recent {
    pub span: Duration,
    pub chunks: VecDeque<Chunk>,
    pub marks: Vec<(Duration, Mark)>,
    most_bytes: usize,
    /// The chunk that grows: when it began and what was counted before.
    pub begin: Duration,
    pub before: Counted,
    /// Chunks were dropped for their size, not their age.
    pub cut_by_size: bool,
}

impl Recent {
    pub(crate) fn new(span: Duration, most_bytes: usize) -> Recent {
        Recent { span, most_bytes, ..Recent::default() }
    }

    /// Whether the growing chunk is to be closed.
    pub(crate) fn full(&self, now: Duration, samples: usize, readings: usize) -> bool {
        let bytes = samples * SAMPLE_BYTES + readings * READING_BYTES;
        now.saturating_sub(self.begin) >= self.span / PARTS || bytes >= self.most_bytes / PARTS as usize
    }

    /// Closes the growing chunk and drops what is too old or too much.
    pub(crate) fn push(&mut self, now: Duration, samples: Samples, series: Series, counted: Counted) {
        let before = std::mem::replace(&mut self.before, counted);
        self.chunks.push_back(Chunk { begin: self.begin, end: now, before, samples, series });
        self.begin = now;
        let oldest = now.saturating_sub(self.span);
        while self.chunks.front().is_some_and(|c| c.end < oldest) {
            self.chunks.pop_front();
        }
        while self.chunks.len() > 1 && self.bytes() > self.most_bytes {
            self.cut_by_size = true;
            self.chunks.pop_front();
        }
        let from = self.from();
        self.marks.retain(|(at, _)| *at >= from);
    }

    /// When what is kept begins.
    pub(crate) fn from(&self) -> Duration {
        self.chunks.front().map_or(self.begin, |c| c.begin)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.chunks.iter().map(Chunk::bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zwhy_capture::SeriesKind;
    use zwhy_profile::{Event, Nanos, StackId, ThreadId};

    fn rows(n: usize) -> (Samples, Series) {
        let (mut samples, mut series) = (Samples::default(), Series::default());
        for i in 0..n {
            samples.push_counted(ThreadId(0), StackId::ROOT, Event::Cpu, 1);
            series.push(Nanos(i as i64), "a", "b", SeriesKind::Gauge, 1);
        }
        (samples, series)
    }

    #[test]
    fn an_hour_of_recording_keeps_a_minute() {
        let mut recent = Recent::new(Duration::from_secs(60), MOST_BYTES);
        let mut most = 0;
        for second in 1..=3600 {
            let now = Duration::from_secs(second);
            if recent.full(now, 0, 0) {
                let (samples, series) = rows(100);
                recent.push(now, samples, series, Counted { samples: second, ..Counted::default() });
                most = most.max(recent.bytes());
            }
        }
        let kept = Duration::from_secs(3600) - recent.from();
        assert!(kept >= Duration::from_secs(59) && kept < Duration::from_secs(80), "{kept:?}");
        assert!(!recent.cut_by_size && most < 100 * 100 * 10, "{most}");
        assert_eq!(recent.chunks[0].before.samples, recent.from().as_secs());
    }

    #[test]
    fn more_than_the_bytes_are_never_kept() {
        let mut recent = Recent::new(Duration::from_secs(3600), 100_000);
        for second in 1..=100 {
            assert!(recent.full(Duration::from_secs(second), 1000, 1000));
            let (samples, series) = rows(1000);
            recent.push(Duration::from_secs(second), samples, series, Counted::default());
            assert!(recent.bytes() <= 100_000, "{}", recent.bytes());
        }
        assert!(recent.cut_by_size);
    }
}
