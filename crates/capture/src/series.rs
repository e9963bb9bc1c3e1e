//! Counters and gauges over time, as they were read; rates are computed by readers.

use zwhy_profile::{Nanos, StringId, StringTable};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum SeriesKind {
    /// Only grows while its source lives.
    Counter,
    Gauge,
}

impl SeriesKind {
    pub fn name(self) -> &'static str {
        self.into()
    }

    pub fn from_name(name: &str) -> Option<SeriesKind> {
        name.parse().ok()
    }
}

/// One reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesRow<'a> {
    pub t: Nanos,
    /// `arcstats`, `tank/iostats`, `thread/4711`, `cpu/0`, `disk/nvme0n1`.
    pub source: &'a str,
    pub name: &'a str,
    pub kind: SeriesKind,
    pub value: i64,
}

/// Columns of readings, names interned.
#[derive(Clone, Debug, Default)]
pub struct Series {
    pub(crate) strings: StringTable,
    pub(crate) t: Vec<Nanos>,
    pub(crate) source: Vec<StringId>,
    pub(crate) name: Vec<StringId>,
    pub(crate) kind: Vec<SeriesKind>,
    pub(crate) value: Vec<i64>,
}

impl Series {
    pub fn push(&mut self, t: Nanos, source: &str, name: &str, kind: SeriesKind, value: i64) {
        let (source, name) = (self.strings.intern(source), self.strings.intern(name));
        self.t.push(t);
        self.source.push(source);
        self.name.push(name);
        self.kind.push(kind);
        self.value.push(value);
    }

    pub fn len(&self) -> usize {
        self.t.len()
    }

    pub fn is_empty(&self) -> bool {
        self.t.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = SeriesRow<'_>> {
        (0..self.len()).filter_map(|row| self.get(row))
    }

    pub fn get(&self, row: usize) -> Option<SeriesRow<'_>> {
        Some(SeriesRow {
            t: *self.t.get(row)?,
            source: self.strings.get(*self.source.get(row)?),
            name: self.strings.get(*self.name.get(row)?),
            kind: *self.kind.get(row)?,
            value: *self.value.get(row)?,
        })
    }

    pub fn clear(&mut self) {
        *self = Series::default();
    }
}
