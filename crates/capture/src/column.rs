//! Columns in memory between the model and Parquet.

use zwhy_profile::{StringId, StringTable};

/// Type of a column, as readers of the Parquet file see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    I32,
    U32,
    I64,
    U64,
    Text,
}

/// Values of one column. Unsigned values are stored in the signed type of the same width.
#[derive(Clone, Debug)]
pub enum Column {
    I32(Vec<i32>),
    I64(Vec<i64>),
    Text(TextColumn),
}

impl Column {
    pub fn empty(kind: ColumnType) -> Column {
        match kind {
            ColumnType::I32 | ColumnType::U32 => Column::I32(Vec::new()),
            ColumnType::I64 | ColumnType::U64 => Column::I64(Vec::new()),
            ColumnType::Text => Column::Text(TextColumn::default()),
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Column::I32(v) => v.len(),
            Column::I64(v) => v.len(),
            Column::Text(v) => v.ids.len(),
        }
    }

    /// Leaves the values for which `keep` holds a `true`.
    pub fn retain(&mut self, keep: &[bool]) {
        let mut keep = keep.iter();
        let mut next = || keep.next().copied().unwrap_or(false);
        match self {
            Column::I32(v) => v.retain(|_| next()),
            Column::I64(v) => v.retain(|_| next()),
            Column::Text(v) => v.ids.retain(|_| next()),
        }
    }

    /// `rows` values from row `from` on, or what there is.
    pub fn part(&self, from: usize, rows: usize) -> Column {
        let to = from.saturating_add(rows).min(self.len());
        let from = from.min(to);
        match self {
            Column::I32(v) => Column::I32(v[from..to].to_vec()),
            Column::I64(v) => Column::I64(v[from..to].to_vec()),
            Column::Text(v) => {
                let mut part = TextColumn::default();
                v.ids[from..to].iter().for_each(|id| part.push(v.strings.get(*id)));
                Column::Text(part)
            }
        }
    }

    pub fn i32(&self, row: usize) -> i32 {
        match self {
            Column::I32(v) => v.get(row).copied().unwrap_or_default(),
            _ => 0,
        }
    }

    pub fn i64(&self, row: usize) -> i64 {
        match self {
            Column::I64(v) => v.get(row).copied().unwrap_or_default(),
            _ => 0,
        }
    }

    pub fn u64(&self, row: usize) -> u64 {
        self.i64(row) as u64
    }

    pub fn text(&self, row: usize) -> &str {
        match self {
            Column::Text(v) => v.ids.get(row).map_or("", |id| v.strings.get(*id)),
            _ => "",
        }
    }
}

/// Texts, each distinct one stored once.
#[derive(Clone, Debug, Default)]
pub struct TextColumn {
    pub strings: StringTable,
    pub ids: Vec<StringId>,
}

impl TextColumn {
    pub fn push(&mut self, text: &str) {
        let id = self.strings.intern(text);
        self.ids.push(id);
    }
}
