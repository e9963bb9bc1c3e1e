//! Tools whose output is described by data: each file of `knowledge/tools/` says how blocks of a tool's
//! output begin, what their columns or lines are, and what they become.
//!
//! Invariant: a description can be wrong, never dangerous: patterns take time linear in the line, blocks
//! take at least one line or nothing, every line taken is kept or dropped with a reason.

mod check;
mod columns;
mod emit;
mod kind;
mod load;
mod rows;
mod shapes;
mod spec;
mod template;

pub use check::{SampleOutcome, check_samples};
pub use load::{ToolError, Tools};

use crate::blocks::{Block, Line, Sink, Taken};
use crate::cells;
use emit::Outcome;
use rows::Rows;
use spec::{BlockSpec, EmitSpec, LineSpec, TallySpec, Which};
use std::collections::BTreeMap;
use template::Values;
use zwhy_evidence::{Host, OriginId};

/// One kind of block of one tool.
#[derive(Debug)]
pub struct ToolBlock {
    /// The file that describes it.
    pub file: String,
    pub rank: u16,
    spec: BlockSpec,
}

/// What was read of a block.
#[derive(Debug, Default)]
struct Found {
    table: Option<String>,
    columns: Vec<String>,
    rows: Vec<Row>,
    taken: Taken,
}

/// One row, with the values that its outcomes take.
#[derive(Debug, Default)]
struct Row {
    names: Vec<String>,
    /// Its table, where that is not the block's.
    table: Option<String>,
    values: Vec<String>,
    /// Its cells in the table; `None` where it has none there.
    shown: Option<Vec<String>>,
    lines: usize,
    shape: usize,
    section: String,
    top: bool,
}

impl Block for ToolBlock {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let command = sink.command.clone().unwrap_or_default();
        let found = match self.spec.rows() {
            Some(rows) => rows.read(lines),
            None => self.spec.read_lines(lines, &command),
        }?;
        Some(self.hand_over(found, lines, &command, sink))
    }
}

impl ToolBlock {
    fn hand_over(&self, found: Found, lines: &[Line], command: &str, sink: &mut Sink) -> Taken {
        let Found { table, columns, rows, mut taken } = found;
        let used = taken.used() + rows.iter().map(|r| r.lines).sum::<usize>();
        let table = table.or_else(|| self.spec.table.clone());
        let named = [table.clone().unwrap_or_default()];
        let at = Values { names: &["table".to_owned()], cells: &named, section: "", command };
        let what = self.spec.what.as_ref().and_then(|what| what.fill(&at)).filter(|w| !w.is_empty());
        let what = what.unwrap_or_else(|| named[0].clone());
        let only_dropped = rows.is_empty();
        let origin = if only_dropped {
            OriginId::default()
        } else {
            sink.origin(&what, &lines[..used.min(lines.len())])
        };
        let mut host = Host::default();
        let last = rows.len().saturating_sub(1);
        let interval = rows.last().and_then(|r| r.values.first().cloned());
        for (i, row) in rows.iter().enumerate() {
            let names = if row.names.is_empty() { &columns } else { &row.names };
            let values = Values { names, cells: &row.values, section: &row.section, command };
            let mut outcomes = Vec::new();
            for emit in self.spec.emits(self.spec.lines.get(row.shape)) {
                let wanted = match emit.rows {
                    Which::Each => true,
                    Which::Last => i == last,
                    Which::Top => row.top,
                    Which::Interval => {
                        columns.first().is_none_or(|c| c != "time") || row.values.first() == interval.as_ref()
                    }
                };
                outcomes.extend(wanted.then(|| emit.row(&values, origin, sink, &mut host)));
            }
            let lost = row.shown.is_none()
                && !outcomes.is_empty()
                && outcomes.iter().all(|o| *o == Outcome::NoNumber);
            if lost {
                taken.drop("kstat value that is no number", row.lines);
            } else {
                taken.kept += row.lines;
            }
        }
        sink.evidence.host.fill(&host);
        self.tables(table, columns, rows, origin, sink);
        taken
    }

    fn tables(
        &self,
        table: Option<String>,
        columns: Vec<String>,
        rows: Vec<Row>,
        origin: OriginId,
        sink: &mut Sink,
    ) {
        let Some(table) = table else { return };
        let most = self.spec.most.unwrap_or(usize::MAX).max(1);
        let tallied = self.spec.tally.as_ref().map(|t| t.count(&rows));
        let (mut names, mut cells, mut name) = (Vec::new(), Vec::new(), table.clone());
        for row in rows {
            let Some(shown) = row.shown else { continue };
            let of_row = if !row.names.is_empty() {
                row.names
            } else if columns.is_empty() {
                self.spec.columns.names().collect()
            } else {
                columns.clone()
            };
            let of_table = row.table.unwrap_or_else(|| table.clone());
            let another = of_row != names || of_table != name;
            if another && !cells.is_empty() || cells.len() >= most {
                let (names, cells) = (std::mem::take(&mut names), std::mem::take(&mut cells));
                cells::table(sink, name, names, cells, origin);
            }
            (names, name) = (of_row, of_table);
            cells.push(shown);
        }
        if !cells.is_empty() {
            cells::table(sink, name, names, cells, origin);
        }
        if let (Some(rows), Some(tally)) = (tallied.filter(|r| !r.is_empty()), &self.spec.tally) {
            cells::table(sink, tally.table.clone(), tally.columns.to_vec(), rows, origin);
        }
    }

    /// The tables it can make.
    pub fn makes(&self) -> Vec<MadeTable> {
        let own: Vec<String> = self.spec.columns.names().collect();
        let mut names: Vec<String> = self.spec.table.iter().cloned().collect();
        let columns = match self.spec.rows() {
            Some(rows) => {
                names.extend(rows.tables());
                if own.is_empty() { rows.column_names() } else { Some(own) }
            }
            None => Some(own.into_iter().chain(self.spec.pair_names()).collect()),
        };
        let made = |t: &TallySpec| MadeTable { name: t.table.clone(), columns: Some(t.columns.to_vec()) };
        let tally = self.spec.tally.iter().map(made);
        names.into_iter().map(|name| MadeTable { name, columns: columns.clone() }).chain(tally).collect()
    }
}

/// A table that reading a tool's output can give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeTable {
    /// With `*` for what the text says.
    pub name: String,
    /// Every column it can have, with `*` for what the text says; `None` where its header decides.
    pub columns: Option<Vec<String>>,
}

impl BlockSpec {
    /// Of a block with a header.
    fn rows(&self) -> Option<Rows<'_>> {
        let spec = self.header.as_ref()?;
        Some(Rows { spec, rule: &self.rows, columns: &self.columns.0, usual_table: self.table.is_some() })
    }

    /// What a row becomes, of a line of this shape where there is no header.
    fn emits<'s>(&'s self, shape: Option<&'s LineSpec>) -> impl Iterator<Item = &'s EmitSpec> {
        let of_all = self.emit.iter().filter(move |_| shape.is_none_or(|shape| !shape.no_row));
        shape.into_iter().flat_map(|shape| &shape.emit).chain(of_all)
    }
}

impl TallySpec {
    fn count(&self, rows: &[Row]) -> Vec<Vec<String>> {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for row in rows {
            let first = row.shown.as_ref().unwrap_or(&row.values).first();
            let found = first.and_then(|cell| self.by.captures(cell));
            if let Some(name) = found.and_then(|(groups, _)| groups.into_iter().next()) {
                *counts.entry(name).or_default() += 1;
            }
        }
        counts.into_iter().map(|(name, n)| vec![name, n.to_string()]).collect()
    }
}
