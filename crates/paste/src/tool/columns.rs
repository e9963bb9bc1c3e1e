//! The cells of a table's row out of what a line's pattern found.

use super::kind::Kind;
use super::spec::ColumnSpec;
use super::template::{Pattern, Template, Values, calculate};

#[derive(Debug)]
pub struct Column {
    pub name: String,
    pub kind: Kind,
    of: Template,
    calc: Option<Template>,
    command: Option<Pattern>,
    letters: Option<usize>,
}

impl Column {
    /// # Errors
    /// What is wrong with a key.
    pub fn all(specs: &[ColumnSpec], check: bool) -> Result<Vec<Column>, String> {
        let mut group = 0;
        specs.iter().map(|spec| Column::new(spec, &mut group, check)).collect()
    }

    fn new(spec: &ColumnSpec, group: &mut usize, check: bool) -> Result<Column, String> {
        let mut next = || {
            *group += 1;
            Template::new(&format!("{{{group}}}"))
        };
        let detail = match spec {
            ColumnSpec::Name(name) => {
                let (name, kind, of) = (name.clone(), Kind::default(), next()?);
                return Ok(Column { name, kind, of, calc: None, command: None, letters: None });
            }
            ColumnSpec::Full(detail) => detail,
        };
        let command = detail.command.as_deref().map(|p| Pattern::new(p, check)).transpose()?;
        let of = match &detail.of {
            Some(of) => Template::new(of)?,
            None if command.is_some() || detail.calc.is_some() => Template::new("")?,
            None => next()?,
        };
        Ok(Column {
            name: detail.name.clone(),
            kind: detail.kind,
            of,
            calc: detail.calc.as_deref().map(Template::new).transpose()?,
            command,
            letters: detail.letters,
        })
    }

    /// Names and numbers of all places.
    pub fn places(&self) -> impl Iterator<Item = &str> {
        self.of.places().chain(self.calc.iter().flat_map(Template::places))
    }

    pub fn cell(&self, values: &Values) -> String {
        self.cell_of(Some(&self.of), values)
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
