//! Answers from tables of other tools: numbers by column and row.

use super::FactBase;
use super::number::{growth, leading_number};
use super::query::{Function, Query};
use super::reading::{Quality, Reading};
use crate::pattern::Pattern;
use zwhy_evidence::Table;

impl FactBase<'_> {
    pub(super) fn table_answer(&self, query: &Query) -> Option<Reading> {
        let tool = query.patterns.first()?;
        let mut tables = self.evidence.tables.iter().filter(|t| tool.matches_any_case(&t.tool)).peekable();
        let origin = self.evidence.origin_name(tables.peek()?.origin);
        let number = |value: Option<f64>| Reading::number(value?, Quality::Figure, origin);
        let second = query.patterns.get(1);
        match query.function {
            Function::Table => Reading::truth(true, Quality::Named, origin),
            Function::ColumnMax => number(column(tables, second?).max_by(f64::total_cmp)),
            Function::ColumnMin => number(column(tables, second?).min_by(f64::total_cmp)),
            Function::ColumnSum => number(column(tables, second?).reduce(|a, b| a + b)),
            Function::Cell => {
                let third = query.patterns.get(2)?;
                number(tables.find_map(|t| cell(t, second?, third)))
            }
            _ => {
                let third = query.patterns.get(2)?;
                number(tables.find_map(|t| growth(&points(t, second?, third))))
            }
        }
    }
}

fn columns(table: &Table, like: &Pattern) -> Vec<usize> {
    (0..table.columns.len()).filter(|i| like.matches_any_case(&table.columns[*i])).collect()
}

fn column<'t>(tables: impl Iterator<Item = &'t Table>, like: &Pattern) -> impl Iterator<Item = f64> {
    tables.flat_map(move |table| {
        let at = columns(table, like);
        table.rows.iter().flat_map(move |row| {
            let cells: Vec<f64> = at.iter().filter_map(|i| leading_number(row.get(*i)?)).collect();
            cells
        })
    })
}

fn cell(table: &Table, row_like: &Pattern, column_like: &Pattern) -> Option<f64> {
    let at = columns(table, column_like);
    let row = table.rows.iter().find(|row| row.iter().any(|c| row_like.matches_any_case(c)))?;
    at.iter().find_map(|i| leading_number(row.get(*i)?))
}

fn points(table: &Table, x: &Pattern, y: &Pattern) -> Vec<(f64, f64)> {
    let (Some(x), Some(y)) = (columns(table, x).first().copied(), columns(table, y).first().copied()) else {
        return Vec::new();
    };
    let point = |row: &Vec<String>| Some((leading_number(row.get(x)?)?, leading_number(row.get(y)?)?));
    table.rows.iter().filter_map(point).collect()
}
