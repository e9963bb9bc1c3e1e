//! The cells of a table's row out of what a line's pattern found.

use super::kind::Kind;
use super::template::{Pattern, Template, Values, calculate};
use serde::Deserialize;

/// The columns of a table, or those below a heading.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "Vec<ColumnSpec>")]
pub struct Columns(pub Vec<Column>);

/// A column by its name alone, or with what its cells are.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum ColumnSpec {
    Name(String),
    Full(Column),
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    pub name: String,
    #[serde(default)]
    pub kind: Kind,
    /// The cell, with `{1}` for a group of the line's pattern or `{name}` for a heading; the next group
    /// where nothing is said.
    pub of: Option<Template>,
    /// Figures with `*` and `/` between them, worked out from left to right: `{1} / {2} / 1e6`.
    pub calc: Option<Template>,
    /// First group of this pattern in the last command line, where `of` gives nothing.
    pub command: Option<Pattern>,
    /// Letters that are kept.
    letters: Option<usize>,
}

impl From<Vec<ColumnSpec>> for Columns {
    fn from(specs: Vec<ColumnSpec>) -> Columns {
        let mut group = 0;
        let column = |spec| {
            let column = match spec {
                ColumnSpec::Name(name) => Column { name, ..Column::default() },
                ColumnSpec::Full(column) => column,
            };
            if column.of.is_some() || column.calc.is_some() || column.command.is_some() {
                return column;
            }
            group += 1;
            Column { of: Some(format!("{{{group}}}").into()), ..column }
        };
        Columns(specs.into_iter().map(column).collect())
    }
}

impl Columns {
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|column| column.name.clone())
    }
}

impl Column {
    /// Names and numbers of all places.
    pub fn places(&self) -> impl Iterator<Item = &str> {
        self.of.iter().chain(&self.calc).flat_map(Template::places)
    }

    pub fn cell(&self, values: &Values) -> String {
        self.cell_of(self.of.as_ref(), values)
    }

    /// The cell where its text is another than the column's own.
    pub fn cell_of(&self, of: Option<&Template>, values: &Values) -> String {
        if let Some(calc) = &self.calc {
            let worked_out = calc.fill(values).as_deref().and_then(calculate);
            return worked_out.map_or_else(String::new, crate::cells::show);
        }
        let mut text = of.and_then(|of| of.fill(values)).unwrap_or_default();
        if text.is_empty()
            && let Some(pattern) = &self.command
        {
            let found = pattern.captures(values.command);
            text = found.and_then(|(groups, _)| groups.into_iter().next()).unwrap_or_default();
        }
        let cell = self.kind.cell(&text);
        match self.letters.and_then(|most| cell.char_indices().nth(most)) {
            Some((end, _)) => cell[..end].to_owned(),
            None => cell,
        }
    }
}
