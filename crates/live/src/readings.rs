//! The newest reading of every counter and gauge, and by how much counters grew in the newest interval.
//!
//! Invariants: a row that repeats an unchanged value adds nothing, so growth is that of the interval whatever rows
//! a recorder leaves out; a counter that restarts at 0 never shrinks. Memory is that of sources that live.

use crate::slice::Slice;
use rustc_hash::FxHashMap;
use zwhy_capture::{Series, SeriesKind};
use zwhy_profile::Nanos;

#[derive(Clone, Copy, Debug)]
pub struct Last {
    pub value: i64,
    pub kind: SeriesKind,
    grown: i64,
    /// The interval in which it grew.
    at: u64,
}

type Source = FxHashMap<String, Last>;

#[derive(Clone, Debug, Default)]
pub struct Readings {
    sources: FxHashMap<String, Source>,
    /// When counters were last read, as time of the recording.
    pub clock: Option<i64>,
    /// Seconds between the last two readings; 0 where the newest interval has none.
    pub seconds: f64,
    turn: u64,
}

impl Readings {
    /// Takes in the rows of an interval, then forgets the sources that ended in it.
    pub fn apply(&mut self, slice: &Slice) {
        self.turn += 1;
        let turn = self.turn;
        let (mut first, mut newest) = (i64::MAX, i64::MIN);
        for row in slice.series.iter() {
            if row.source == "cpu/all" {
                (first, newest) = (first.min(row.t.0), newest.max(row.t.0));
            }
            let source = match self.sources.get_mut(row.source) {
                Some(source) => source,
                None => self.sources.entry(row.source.to_owned()).or_default(),
            };
            let Some(last) = source.get_mut(row.name) else {
                let last = Last { value: row.value, kind: row.kind, grown: 0, at: turn };
                source.insert(row.name.to_owned(), last);
                continue;
            };
            let grown = if last.at == turn { last.grown } else { 0 };
            let by = row.value.saturating_sub(last.value).max(0);
            *last = Last { value: row.value, kind: row.kind, grown: grown.saturating_add(by), at: turn };
        }
        self.tick(first, newest);
        for ended in &slice.ended {
            self.sources.remove(ended);
        }
    }

    fn tick(&mut self, first: i64, newest: i64) {
        if first > newest {
            self.seconds = 0.0;
            return;
        }
        let before = self.clock.unwrap_or(first).min(newest);
        self.seconds = newest.saturating_sub(before) as f64 / 1e9;
        self.clock = Some(newest);
    }

    pub fn value(&self, source: &str, name: &str) -> Option<i64> {
        Some(self.sources.get(source)?.get(name)?.value)
    }

    /// Growth in the newest interval; `None` where the counter is not there.
    pub fn grown(&self, source: &str, name: &str) -> Option<i64> {
        let last = self.sources.get(source)?.get(name)?;
        Some(if last.at == self.turn { last.grown } else { 0 })
    }

    /// Growth a second in the newest interval; `None` where the counter is not there or was not read in it.
    pub fn rate(&self, source: &str, name: &str) -> Option<f64> {
        let grown = self.grown(source, name)?;
        (self.seconds > 0.0).then(|| grown as f64 / self.seconds)
    }

    /// Names of sources that begin so, in no order.
    pub fn sources<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a str> {
        self.sources.keys().map(String::as_str).filter(move |source| source.starts_with(prefix))
    }

    /// Every reading, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str, &Last)> {
        self.sources.iter().flat_map(|(source, of)| {
            of.iter().map(move |(name, last)| (source.as_str(), name.as_str(), last))
        })
    }

    /// A row of every series at `t`, in order of their names, so that rows before and after can be left out.
    pub fn restate(&self, t: Nanos, series: &mut Series) {
        let mut rows: Vec<_> = self.iter().collect();
        rows.sort_unstable_by_key(|(source, name, _)| (*source, *name));
        for (source, name, last) in rows {
            series.push(t, source, name, last.kind, last.value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn slice(rows: &[(i64, &str, &str, i64)], ended: &[&str]) -> Slice {
        let mut slice = Slice { to: Duration::from_secs(1), ..Slice::default() };
        for (t, source, name, value) in rows {
            slice.series.push(Nanos(*t), source, name, SeriesKind::Counter, *value);
        }
        slice.ended = ended.iter().map(|s| (*s).to_owned()).collect();
        slice
    }

    #[test]
    fn counters_grow_by_interval_though_unchanged_values_are_left_out() {
        const S: i64 = 1_000_000_000;
        let mut readings = Readings::default();
        readings.apply(&slice(&[(0, "cpu/all", "sys_ns", 0), (0, "arcstats", "hits", 5)], &[]));
        readings.apply(&slice(&[(S, "cpu/all", "sys_ns", 1)], &[]));
        assert_eq!((readings.rate("arcstats", "hits"), readings.seconds), (Some(0.0), 1.0));
        // The unchanged reading of a second ago comes with the one that changed.
        let rows =
            [(3 * S, "cpu/all", "sys_ns", 2), (S, "arcstats", "hits", 5), (3 * S, "arcstats", "hits", 25)];
        readings.apply(&slice(&rows, &[]));
        assert_eq!((readings.rate("arcstats", "hits"), readings.seconds), (Some(10.0), 2.0));
        assert_eq!(readings.rate("arcstats", "misses"), None);
    }

    #[test]
    fn a_counter_that_restarts_and_a_source_that_ends() {
        let mut readings = Readings::default();
        readings.apply(&slice(&[(0, "cpu/all", "sys_ns", 0), (0, "disk/sda", "reads", 90)], &[]));
        readings.apply(&slice(&[(9, "cpu/all", "sys_ns", 1), (9, "disk/sda", "reads", 4)], &[]));
        assert_eq!(readings.grown("disk/sda", "reads"), Some(0));
        readings.apply(&slice(&[], &["disk/sda"]));
        assert_eq!((readings.value("disk/sda", "reads"), readings.seconds), (None, 0.0));
        assert_eq!(readings.sources("disk/").count(), 0);
    }
}
