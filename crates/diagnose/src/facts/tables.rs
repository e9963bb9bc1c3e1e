//! Answers from tables of other tools: numbers by column and row.

use super::FactBase;
use super::catalogue::Function;
use super::compared::{better, compared};
use super::locks::is_of_locks;
use super::number::{growth, leading_number};
use super::pool_disks::disk_column;
use super::query::Query;
use super::reading::{Quality, Reading};
use crate::pattern::Pattern;
use zwhy_evidence::{Bench, CaptureFacts, Table};

impl FactBase<'_> {
    /// Tables of the tools that are called like that, benchmarks of OpenZFS among them.
    pub(super) fn tables_like<'t>(&'t self, tool: &'t Pattern) -> impl Iterator<Item = &'t Table> {
        let all = self.tables().chain(&self.benchmarks);
        all.filter(|table| tool.matches_any_case(&table.tool))
    }

    /// Tables of the report; of lock statistics, the locks that are waited for.
    pub(super) fn tables(&self) -> impl Iterator<Item = &Table> {
        self.evidence.tables.iter().filter(|t| !is_of_locks(t)).chain(&self.locks)
    }

    pub(super) fn table_answer(&self, query: &Query) -> Option<Reading> {
        let tool = query.patterns.first()?;
        if query.function == Function::Compared {
            return self.experiment(|table| compared(table, tool));
        }
        if query.function == Function::Better {
            let value = query.patterns.get(1)?;
            return self.experiment(|table| better(table, tool, value));
        }
        let mut tables = self.tables_like(tool).peekable();
        let origin = self.evidence.origin_name(tables.peek()?.origin);
        let number = |value: Option<f64>| Reading::number(value?, Quality::Figure, origin);
        let second = query.patterns.get(1);
        match query.function {
            Function::Table => Reading::truth(true, Quality::Named, origin),
            Function::ColumnMax => number(self.column(tables, second?).max_by(f64::total_cmp)),
            Function::ColumnMin => number(self.column(tables, second?).min_by(f64::total_cmp)),
            Function::ColumnSum => number(self.column(tables, second?).reduce(|a, b| a + b)),
            Function::CellText => {
                let third = query.patterns.get(2)?;
                Reading::text(
                    tables.find_map(|t| cell(t, second?, third).next())?.trim(),
                    Quality::Figure,
                    origin,
                )
            }
            Function::ColumnHas => {
                let (second, third) = (second?, query.patterns.get(2)?);
                let mut cells = tables.flat_map(|t| cells(t, second)).peekable();
                cells.peek()?;
                Reading::truth(cells.any(|c| third.matches_any_case(c.trim())), Quality::Figure, origin)
            }
            Function::Cell => {
                let third = query.patterns.get(2)?;
                number(tables.find_map(|t| cell(t, second?, third).find_map(leading_number)))
            }
            _ => {
                let third = query.patterns.get(2)?;
                number(tables.find_map(|t| growth(&points(t, second?, third))))
            }
        }
    }
}

impl FactBase<'_> {
    /// Of tables with runs of different settings, whether it is so in one of them.
    fn experiment(&self, is_so: impl Fn(&Table) -> Option<bool>) -> Option<Reading> {
        let found = self.tables().filter_map(|table| Some((is_so(table)?, table.origin)));
        let (yes, origin) = found.max_by_key(|(yes, _)| *yes)?;
        Reading::truth(yes, Quality::Figure, self.evidence.origin_name(origin))
    }

    /// Numbers of the columns that are called like that; of disks, those of the pools as far as that can be told.
    fn column<'t>(
        &'t self,
        tables: impl Iterator<Item = &'t Table>,
        like: &'t Pattern,
    ) -> impl Iterator<Item = f64> {
        tables.flat_map(move |table| {
            let at = columns_like(table, like);
            let disks = is_of_disks(table).then(|| disk_column(table).unwrap_or(0));
            let of_pools = disks.and_then(|_| self.pool_disks.named_in(table));
            let counts = move |row: &&Vec<String>| {
                let name = |at: usize| row.get(at).map_or("", String::as_str);
                disks.is_none_or(|at| !is_volume(name(at)))
                    && of_pools.is_none_or(|at| self.pool_disks.include(name(at)))
            };
            table.rows.iter().filter(counts).flat_map(move |row| {
                let cells: Vec<f64> = at.iter().filter_map(|i| leading_number(row.get(*i)?)).collect();
                cells
            })
        })
    }
}

/// Benchmark kstats that a capture keeps among its facts, as the tables that people paste.
pub fn benchmarks(facts: &CaptureFacts) -> Vec<Table> {
    let of = |(tool, bench): (&String, &Bench)| {
        let Bench { columns, rows } = bench.clone();
        Table { tool: tool.clone(), columns, rows, ..Table::default() }
    };
    facts.bench.iter().map(of).collect()
}

/// Positions of the columns that are called like that.
pub fn columns_like(table: &Table, like: &Pattern) -> Vec<usize> {
    (0..table.columns.len()).filter(|i| like.matches_any_case(&table.columns[*i])).collect()
}

/// Whether a table has a row for each disk of the system.
fn is_of_disks(table: &Table) -> bool {
    table.tool.starts_with("iostat") || table.tool.starts_with("gstat")
}

/// Whether it is a volume (`zd16`): that waits for the pool, and is none of its disks.
fn is_volume(name: &str) -> bool {
    name.strip_prefix("zd").is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
}

/// All cells of the columns that are called like that.
fn cells<'t>(table: &'t Table, like: &Pattern) -> Vec<&'t str> {
    let at = columns_like(table, like);
    table.rows.iter().flat_map(|row| at.iter().filter_map(|i| Some(row.get(*i)?.as_str()))).collect()
}

/// Cells of the first row with such a cell, in the columns that are called like that.
fn cell<'t>(table: &'t Table, row_like: &Pattern, column_like: &Pattern) -> impl Iterator<Item = &'t str> {
    let row = table.rows.iter().find(|row| row.iter().any(|c| row_like.matches_any_case(c)));
    let at = columns_like(table, column_like);
    at.into_iter().filter_map(move |i| Some(row?.get(i)?.as_str()))
}

fn points(table: &Table, x: &Pattern, y: &Pattern) -> Vec<(f64, f64)> {
    let (Some(x), Some(y)) =
        (columns_like(table, x).first().copied(), columns_like(table, y).first().copied())
    else {
        return Vec::new();
    };
    let point = |row: &Vec<String>| Some((leading_number(row.get(x)?)?, leading_number(row.get(y)?)?));
    table.rows.iter().filter_map(point).collect()
}
