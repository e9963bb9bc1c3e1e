//! Counters of datasets with a bounded number of names.
//!
//! The first datasets that are busy have counters of their own, all others are counted together; one that was idle for
//! long gives its place to a busy one. Every counter only grows: what a dataset did before it had a name is in the rest.

use rustc_hash::FxHashMap;
use std::time::Duration;
use zwhy_live::Readings;

/// Datasets with counters of their own.
pub(crate) const MOST: usize = 50;
/// Names it takes to give up a place.
const IDLE: Duration = Duration::from_secs(3600);
/// What the rest is called: no dataset's name has parentheses.
pub(crate) const REST: &str = "(other)";

/// Operations and bytes, read and written.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Moved {
    pub reads: f64,
    pub writes: f64,
    pub read_bytes: f64,
    pub written_bytes: f64,
}

impl Moved {
    fn grown(readings: &Readings, source: &str) -> Moved {
        let grown = |name: &str| readings.grown(source, name).unwrap_or(0) as f64;
        Moved {
            reads: grown("reads"),
            writes: grown("writes"),
            read_bytes: grown("nread"),
            written_bytes: grown("nwritten"),
        }
    }

    fn add(&mut self, more: Moved) {
        self.reads += more.reads;
        self.writes += more.writes;
        self.read_bytes += more.read_bytes;
        self.written_bytes += more.written_bytes;
    }

    fn is_idle(&self) -> bool {
        self.reads + self.writes <= 0.0
    }
}

struct Place {
    moved: Moved,
    /// When it last did something.
    at: Duration,
}

#[derive(Default)]
pub(crate) struct Datasets {
    /// By the name of the kstat.
    places: FxHashMap<String, Place>,
    rest: Moved,
}

impl Datasets {
    /// Takes in the newest interval, which ended at `now`.
    pub(crate) fn take(&mut self, readings: &Readings, now: Duration) {
        // A place of a dataset that is gone is free.
        self.places.retain(|source, _| readings.value(source, "nread").is_some());
        let busy = readings.sources("").filter(|source| source.contains("/objset-"));
        let mut busy: Vec<(&str, Moved)> =
            busy.map(|source| (source, Moved::grown(readings, source))).collect();
        busy.retain(|(_, moved)| !moved.is_idle());
        // Where places are few, those that move most get them.
        let bytes = |moved: &Moved| moved.read_bytes + moved.written_bytes;
        busy.sort_by(|a, b| bytes(&b.1).total_cmp(&bytes(&a.1)).then_with(|| a.0.cmp(b.0)));
        for (source, moved) in busy {
            if let Some(place) = self.places.get_mut(source) {
                place.moved.add(moved);
                place.at = now;
            } else if self.has_room(now) {
                self.places.insert(source.to_owned(), Place { moved, at: now });
            } else {
                self.rest.add(moved);
            }
        }
    }

    fn has_room(&mut self, now: Duration) -> bool {
        if self.places.len() >= MOST {
            let longest = self.places.iter().min_by_key(|(_, place)| place.at);
            let idle = longest.filter(|(_, place)| now.saturating_sub(place.at) >= IDLE);
            if let Some(source) = idle.map(|(source, _)| source.clone()) {
                self.places.remove(&source);
            }
        }
        self.places.len() < MOST
    }

    /// By the name of the kstat, in its order; the rest last.
    pub(crate) fn rows(&self) -> Vec<(&str, Moved)> {
        let mut rows: Vec<(&str, Moved)> =
            self.places.iter().map(|(source, place)| (source.as_str(), place.moved)).collect();
        rows.sort_by(|a, b| a.0.cmp(b.0));
        if !self.rest.is_idle() {
            rows.push((REST, self.rest));
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zwhy_capture::SeriesKind;
    use zwhy_live::Slice;
    use zwhy_profile::Nanos;

    /// Interval `n`, in which the datasets `busy` read 10 times and 1000 bytes more than up to then.
    fn interval(readings: &mut Readings, n: i64, busy: std::ops::Range<usize>, totals: &mut Vec<i64>) {
        let mut slice = Slice::default();
        totals.resize(totals.len().max(busy.end), 0);
        for at in busy {
            totals[at] += 10;
            for (name, value) in [("reads", totals[at]), ("nread", totals[at] * 100)] {
                slice.series.push(
                    Nanos(n),
                    &format!("tank/objset-{at:04}"),
                    name,
                    SeriesKind::Counter,
                    value,
                );
            }
        }
        readings.apply(&slice);
    }

    #[test]
    fn a_thousand_datasets_are_fifty_and_the_rest() {
        let (mut readings, mut datasets, mut totals) = (Readings::default(), Datasets::default(), Vec::new());
        let mut take = |n: i64, busy: std::ops::Range<usize>, hours: u64| {
            interval(&mut readings, n, busy, &mut totals);
            datasets.take(&readings, Duration::from_secs(hours * 3600));
            datasets.rows().iter().map(|(name, moved)| ((*name).to_owned(), *moved)).collect::<Vec<_>>()
        };
        assert_eq!(take(0, 0..1000, 0).len(), 0, "what it did before is of nobody");
        let rows = take(1, 0..1000, 0);
        assert_eq!((rows.len(), rows[MOST].0.as_str()), (MOST + 1, REST));
        let all: f64 = rows.iter().map(|row| row.1.read_bytes).sum();
        assert_eq!((all, rows[0].1.reads), (1_000_000.0, 10.0), "nothing is lost");
        // After hours without work a place is given to who works now, and the rest only grows.
        let later = take(2, 900..1000, 2);
        assert!(later.iter().any(|(name, _)| name == "tank/objset-0900"), "{later:?}");
        assert!(later.len() == MOST + 1 && later[MOST].1.reads >= rows[MOST].1.reads);
    }
}
