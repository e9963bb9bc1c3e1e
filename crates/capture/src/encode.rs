//! The model as tables.

use crate::column::{Column, TextColumn};
use crate::ids::IdCache;
use crate::marks::Mark;
use crate::series::Series;
use crate::table::{FRAMES, MARKS, SAMPLES, SERIES, STACKS, THREADS, Table};
use zwhy_profile::{Event, Profile};

/// How many rows of each growing table are on disk already.
#[derive(Clone, Copy, Debug, Default)]
pub struct Written {
    pub frames: usize,
    pub stacks: usize,
    pub threads: usize,
}

fn texts<'a>(values: impl Iterator<Item = &'a str>) -> Column {
    let mut column = TextColumn::default();
    values.for_each(|v| column.push(v));
    Column::Text(column)
}

fn u64s(values: &[u64]) -> Column {
    Column::I64(values.iter().map(|v| *v as i64).collect())
}

/// Frames after the first `from`.
pub fn frames(profile: &Profile, ids: &IdCache, from: usize) -> Table {
    let rows: Vec<_> = profile.frames.iter().skip(from).map(|(_, f)| f).collect();
    let text = |id| profile.strings.get(id);
    Table {
        spec: &FRAMES,
        columns: vec![
            u64s(&ids.frames[from..]),
            texts(rows.iter().map(|f| text(f.function))),
            texts(rows.iter().map(|f| text(f.module))),
            texts(rows.iter().map(|f| f.kind.name())),
            texts(rows.iter().map(|f| text(f.file))),
            Column::I32(rows.iter().map(|f| f.line as i32).collect()),
            texts(rows.iter().map(|f| text(f.reason))),
        ],
    }
}

/// Stacks after the first `from`; the root is never a row.
pub fn stacks(profile: &Profile, ids: &IdCache, from: usize) -> Table {
    let rows: Vec<_> = profile.stacks.iter().skip(from).collect();
    Table {
        spec: &STACKS,
        columns: vec![
            u64s(&ids.stacks[from + 1..]),
            Column::I64(rows.iter().map(|r| ids.stack(r.1) as i64).collect()),
            Column::I64(rows.iter().map(|r| ids.frames[r.2.index()] as i64).collect()),
            Column::I32(rows.iter().map(|r| r.3 as i32).collect()),
        ],
    }
}

/// Threads after the first `from`.
pub fn threads(profile: &Profile, ids: &IdCache, from: usize) -> Table {
    let rows: Vec<_> = profile.threads.iter().skip(from).map(|(_, t)| t).collect();
    Table {
        spec: &THREADS,
        columns: vec![
            u64s(&ids.threads[from..]),
            Column::I32(rows.iter().map(|t| t.tid).collect()),
            Column::I32(rows.iter().map(|t| t.pid).collect()),
            texts(rows.iter().map(|t| profile.strings.get(t.comm))),
        ],
    }
}

/// All samples.
pub fn samples(profile: &Profile, ids: &IdCache) -> Table {
    let s = &profile.samples;
    let mut events = TextColumn::default();
    let names = Event::ALL.map(|e| events.strings.intern(e.name()));
    events.ids = s.event.iter().map(|e| names[*e as usize]).collect();
    Table {
        spec: &SAMPLES,
        columns: vec![
            Column::I64(s.t.iter().map(|t| t.0).collect()),
            Column::I32(s.cpu.clone()),
            Column::I64(
                s.thread.iter().map(|t| ids.threads.get(t.index()).map_or(0, |id| *id as i64)).collect(),
            ),
            Column::I64(s.stack.iter().map(|st| ids.stack(*st) as i64).collect()),
            Column::Text(events),
            Column::I32(s.count.iter().map(|c| *c as i32).collect()),
            Column::I64(s.weight.iter().map(|w| w.0).collect()),
        ],
    }
}

pub fn series(series: &Series) -> Table {
    let column = |ids: &Vec<zwhy_profile::StringId>| {
        Column::Text(TextColumn { strings: series.strings.clone(), ids: ids.clone() })
    };
    Table {
        spec: &SERIES,
        columns: vec![
            Column::I64(series.t.iter().map(|t| t.0).collect()),
            column(&series.source),
            column(&series.name),
            texts(series.kind.iter().map(|k| k.name())),
            Column::I64(series.value.clone()),
        ],
    }
}

pub fn marks(marks: &[Mark]) -> Table {
    Table {
        spec: &MARKS,
        columns: vec![
            Column::I64(marks.iter().map(|m| m.t.0).collect()),
            texts(marks.iter().map(|m| m.name.as_str())),
            texts(marks.iter().map(|m| m.text.as_str())),
        ],
    }
}
