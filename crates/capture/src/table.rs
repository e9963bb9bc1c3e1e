//! The tables of a capture: their names and columns. This file is the format.

use crate::column::{Column, ColumnType};
use ColumnType::{I32, I64, Text, U32, U64};

/// Schema of one table.
#[derive(Debug, PartialEq, Eq)]
pub struct TableSpec {
    pub name: &'static str,
    pub columns: &'static [(&'static str, ColumnType)],
}

impl TableSpec {
    /// Whether the first column is an id, so that rows that share it are equal.
    pub fn has_ids(&self) -> bool {
        self.columns.first().is_some_and(|(name, kind)| *kind == U64 && name.ends_with("_id"))
    }
}

pub static FRAMES: TableSpec = TableSpec {
    name: "frames",
    columns: &[
        ("frame_id", U64),
        ("function", Text),
        ("module", Text),
        ("kind", Text),
        ("file", Text),
        ("line", U32),
        ("reason", Text),
    ],
};

pub static STACKS: TableSpec = TableSpec {
    name: "stacks",
    columns: &[("stack_id", U64), ("parent_id", U64), ("frame_id", U64), ("depth", U32)],
};

pub static THREADS: TableSpec =
    TableSpec { name: "threads", columns: &[("thread_id", U64), ("tid", I32), ("pid", I32), ("comm", Text)] };

pub static SAMPLES: TableSpec = TableSpec {
    name: "samples",
    columns: &[
        ("t_ns", I64),
        ("cpu", I32),
        ("thread_id", U64),
        ("stack_id", U64),
        ("event", Text),
        ("count", U32),
        ("weight_ns", I64),
    ],
};

pub static SERIES: TableSpec = TableSpec {
    name: "series",
    columns: &[("t_ns", I64), ("source", Text), ("name", Text), ("kind", Text), ("value", I64)],
};

pub static MARKS: TableSpec =
    TableSpec { name: "marks", columns: &[("t_ns", I64), ("name", Text), ("text", Text)] };

/// In the order in which they are packed: what names things first, so that a cut file still
/// explains the samples before the cut.
pub static TABLES: [&TableSpec; 6] = [&FRAMES, &STACKS, &THREADS, &MARKS, &SAMPLES, &SERIES];

/// Rows of one table.
#[derive(Clone, Debug)]
pub struct Table {
    pub spec: &'static TableSpec,
    pub columns: Vec<Column>,
}

impl Table {
    pub fn new(spec: &'static TableSpec) -> Table {
        Table { spec, columns: spec.columns.iter().map(|(_, kind)| Column::empty(*kind)).collect() }
    }

    /// Leaves the rows for which `keep` holds a `true`.
    pub fn retain(&mut self, keep: &[bool]) {
        self.columns.iter_mut().for_each(|column| column.retain(keep));
    }

    /// `rows` of them from row `from` on, or what there is.
    pub fn part(&self, from: usize, rows: usize) -> Table {
        Table {
            spec: self.spec,
            columns: self.columns.iter().map(|column| column.part(from, rows)).collect(),
        }
    }

    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, Column::len)
    }
}
