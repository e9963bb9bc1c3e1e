//! Readings into series without the ones that say nothing.
//!
//! Invariants: a value that did not change is not written again until it changes; then its last
//! reading is written too, so a straight line between two rows is always what was read. Memory is
//! that of the series that have not ended, however many did.

use rustc_hash::FxHashMap;
use zwhy_capture::{Series, SeriesKind};
use zwhy_profile::{Nanos, StringId, StringTable};

#[derive(Clone, Copy)]
struct Last {
    t: Nanos,
    value: i64,
    kind: SeriesKind,
    /// The reading at `t` is in the series.
    written: bool,
}

/// Bytes of names at which those of ended series are forgotten.
const NAMES_BUDGET: usize = 512 << 10;

/// Readings of a source by name, in order of the name's id: most sources have one, threads above all.
type Readings = Vec<(StringId, Last)>;

#[derive(Default)]
pub(crate) struct SeriesPen {
    pub series: Series,
    names: StringTable,
    /// Bytes of names left the last time that some were forgotten.
    names_left: usize,
    last: FxHashMap<StringId, Readings>,
    /// Sources that ended since the series were taken.
    pub ended: Vec<String>,
}

impl SeriesPen {
    pub(crate) fn put(&mut self, t: Nanos, source: &str, name: &str, kind: SeriesKind, value: i64) {
        let (source_id, name_id) = (self.names.intern(source), self.names.intern(name));
        let readings = self.last.entry(source_id).or_default();
        let place = readings.binary_search_by_key(&name_id, |(name, _)| *name);
        let written = match place.map(|at| &readings[at].1) {
            Ok(last) if last.value == value && last.kind == kind => false,
            Ok(last) => {
                if !last.written {
                    self.series.push(last.t, source, name, last.kind, last.value);
                }
                true
            }
            Err(_) => true,
        };
        if written {
            self.series.push(t, source, name, kind, value);
        }
        let last = Last { t, value, kind, written };
        match place {
            Ok(at) => readings[at].1 = last,
            Err(at) => {
                if readings.is_empty() {
                    readings.reserve_exact(1);
                }
                readings.insert(at, (name_id, last));
            }
        }
    }

    /// Forgets the names of ended series when they are many; call it after the series were written.
    pub(crate) fn trim(&mut self) {
        self.ended.clear();
        if self.names.memory() <= NAMES_BUDGET.max(2 * self.names_left) {
            return;
        }
        let old = std::mem::take(&mut self.names);
        let mut renamed = |id: StringId| self.names.intern(old.get(id));
        for (source, readings) in std::mem::take(&mut self.last) {
            let mut readings: Readings =
                readings.into_iter().map(|(name, last)| (renamed(name), last)).collect();
            readings.sort_unstable_by_key(|(name, _)| *name);
            self.last.insert(renamed(source), readings);
        }
        self.names_left = self.names.memory();
    }

    /// Writes the last reading of every series that ends unchanged.
    pub(crate) fn close(&mut self) {
        let mut sources: Vec<StringId> = self.last.keys().copied().collect();
        sources.sort_unstable();
        for source in sources {
            self.end_id(source);
        }
        // They did not end, the recording did.
        self.ended.clear();
    }

    /// Writes the last reading of every series again, so that rows before can be dropped.
    pub(crate) fn restate(&mut self) {
        for (source, readings) in &mut self.last {
            for (name, last) in readings {
                let (source, name) = (self.names.get(*source), self.names.get(*name));
                self.series.push(last.t, source, name, last.kind, last.value);
                last.written = true;
            }
        }
    }

    /// The last reading of a series that has not ended.
    pub(crate) fn reading(&self, source: &str, name: &str) -> Option<i64> {
        let readings = self.last.get(&self.names.find(source)?)?;
        let name = self.names.find(name)?;
        let at = readings.binary_search_by_key(&name, |(name, _)| *name).ok()?;
        Some(readings[at].1.value)
    }

    /// Forgets a source that is gone after writing its last readings.
    pub(crate) fn end(&mut self, source: &str) {
        if let Some(source) = self.names.find(source) {
            self.end_id(source);
        }
    }

    fn end_id(&mut self, source: StringId) {
        let Some(readings) = self.last.remove(&source) else { return };
        self.ended.push(self.names.get(source).to_owned());
        for (name, last) in readings.into_iter().filter(|(_, last)| !last.written) {
            self.series.push(last.t, self.names.get(source), self.names.get(name), last.kind, last.value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(pen: &SeriesPen) -> Vec<(i64, i64)> {
        pen.series.iter().map(|r| (r.t.0, r.value)).collect()
    }

    #[test]
    fn unchanged_values_are_written_only_at_their_ends() {
        let mut pen = SeriesPen::default();
        for (t, value) in [(0, 5), (1, 5), (2, 5), (3, 8), (4, 9), (5, 9)] {
            pen.put(Nanos(t), "arcstats", "hits", SeriesKind::Counter, value);
        }
        assert_eq!(rows(&pen), [(0, 5), (2, 5), (3, 8), (4, 9)]);
        pen.close();
        pen.close();
        assert_eq!(rows(&pen), [(0, 5), (2, 5), (3, 8), (4, 9), (5, 9)]);
    }

    #[test]
    fn after_restating_no_earlier_row_is_needed() {
        let mut pen = SeriesPen::default();
        pen.put(Nanos(0), "arcstats", "size", SeriesKind::Gauge, 5);
        pen.put(Nanos(1), "arcstats", "size", SeriesKind::Gauge, 5);
        pen.series.clear();
        pen.restate();
        pen.put(Nanos(2), "arcstats", "size", SeriesKind::Gauge, 6);
        assert_eq!(rows(&pen), [(1, 5), (2, 6)]);
        assert_eq!((pen.reading("arcstats", "size"), pen.reading("arcstats", "c")), (Some(6), None));
    }

    #[test]
    fn names_of_a_hundred_thousand_ended_threads_are_forgotten() {
        let mut pen = SeriesPen::default();
        pen.put(Nanos(0), "arcstats", "size", SeriesKind::Gauge, 5);
        let mut most = 0;
        for tid in 0..100_000 {
            let source = format!("thread/{tid}");
            pen.put(Nanos(tid), &source, "cpu_ns", SeriesKind::Counter, tid);
            pen.end(&source);
            if tid % 500 == 0 {
                pen.series.clear();
                pen.trim();
                most = most.max(pen.names.len());
            }
        }
        assert!(most < 25_000 && pen.last.len() == 1, "{most}");
        pen.series.clear();
        pen.put(Nanos(100_001), "arcstats", "size", SeriesKind::Gauge, 5);
        pen.put(Nanos(100_002), "arcstats", "size", SeriesKind::Gauge, 6);
        assert_eq!(rows(&pen), [(100_001, 5), (100_002, 6)]);
        assert_eq!(pen.reading("arcstats", "size"), Some(6));
    }

    #[test]
    fn a_source_that_ends_leaves_its_last_reading() {
        let mut pen = SeriesPen::default();
        pen.put(Nanos(0), "thread/1", "cpu_ns", SeriesKind::Counter, 1);
        pen.put(Nanos(9), "thread/1", "cpu_ns", SeriesKind::Counter, 1);
        pen.end("thread/1");
        assert_eq!(rows(&pen), [(0, 1), (9, 1)]);
    }
}
