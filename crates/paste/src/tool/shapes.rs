//! Blocks of lines that are told by their shapes: each pattern's groups are the cells of a row.

use super::columns::Column;
use super::emit::Emit;
use super::spec::{BlockSpec, LineSpec, PairSpec};
use super::template::{Pattern, Template, Values};
use super::{Found, Row};
use crate::blocks::Line;
use std::collections::BTreeMap;

/// Lines that one pattern may take together.
const MOST_SPAN: usize = 20;

#[derive(Debug)]
pub struct Shapes {
    lines: Vec<Shape>,
    begins: Option<Pattern>,
    blanks: bool,
    min: usize,
    alone: Option<Pattern>,
    most: usize,
}

#[derive(Debug)]
pub struct Shape {
    pattern: Pattern,
    span: usize,
    pairs: Option<Pairs>,
    section: Option<Template>,
    drop: Option<String>,
    command: Option<Pattern>,
    cells: Option<Vec<Template>>,
    in_table: bool,
    pub emits: Vec<Emit>,
}

#[derive(Debug)]
struct Pairs {
    pattern: Pattern,
    name: Template,
    value: Template,
    kind: super::kind::Kind,
    names: BTreeMap<String, String>,
}

impl Shapes {
    /// # Errors
    /// What is wrong with a key.
    pub fn new(spec: &BlockSpec, columns: &[Column], check: bool) -> Result<Shapes, String> {
        let has_table = spec.table.is_some();
        let mut lines = Vec::new();
        for line in &spec.lines {
            lines.push(Shape::new(line, columns, has_table, &spec.emit, check)?);
        }
        Ok(Shapes {
            lines,
            begins: spec.begins.as_deref().map(|p| Pattern::new(p, check)).transpose()?,
            blanks: spec.blanks,
            min: spec.min,
            alone: spec.alone.as_deref().map(|p| Pattern::new(p, check)).transpose()?,
            most: spec.most.unwrap_or(usize::MAX),
        })
    }

    pub fn emits(&self, shape: usize) -> &[Emit] {
        self.lines.get(shape).map_or(&[], |s| &s.emits)
    }

    /// Names that figures in pairs can have; `*` for what the text says.
    pub fn pair_names(&self) -> Vec<String> {
        let names = |p: &Pairs| match p.names.is_empty() {
            true => vec![p.name.with_stars()],
            false => p.names.values().cloned().collect::<Vec<String>>(),
        };
        self.lines.iter().filter_map(|l| l.pairs.as_ref()).flat_map(names).collect()
    }

    pub fn read(&self, lines: &[Line], columns: &[Column], command: &str) -> Option<Found> {
        if self.begins.as_ref().is_some_and(|p| !p.matches(lines[0].text.trim_end())) {
            return None;
        }
        let mut found = Found::default();
        let (mut section, mut told) = (String::new(), 0);
        let (mut at, mut blanks) = (0, 0);
        const MOST_BLANKS: usize = 2;
        // Headings upon headings without a row are looked at once, not from each of them.
        const MOST_HEADINGS: usize = 16;
        while at < lines.len() && told < self.most && (told > 0 || found.rows.len() < MOST_HEADINGS) {
            if lines[at].is_blank() {
                blanks += 1;
                if !self.blanks || blanks > MOST_BLANKS {
                    break;
                }
                at += 1;
                continue;
            }
            let rest = &lines[at..];
            let mut shapes = self.lines.iter().enumerate();
            let Some((i, shape, (groups, used))) =
                shapes.find_map(|(i, s)| Some((i, s, s.read(rest, command)?)))
            else {
                break;
            };
            found.taken.drop("blank line", std::mem::take(&mut blanks));
            if let Some(reason) = &shape.drop {
                found.taken.drop(reason.clone(), used);
                told += 1;
                at += used;
                continue;
            }
            if let Some(name) = &shape.section {
                let values = Values { names: &[], cells: &groups, section: "", command };
                section = name.fill(&values).unwrap_or_default();
            }
            let Some(row) = shape.row(&lines[at], groups, columns, &section, command) else {
                break;
            };
            at += used;
            told += usize::from(!row.values.is_empty() || !shape.emits.is_empty());
            found.rows.push(Row { lines: used, shape: i, ..row });
        }
        let alone = || self.alone.as_ref().is_some_and(|p| p.matches(lines[0].text.trim_end()));
        (told > 0 && (told >= self.min || alone())).then_some(found)
    }
}

impl Shape {
    fn new(
        spec: &LineSpec,
        columns: &[Column],
        has_table: bool,
        all: &[super::spec::EmitSpec],
        check: bool,
    ) -> Result<Shape, String> {
        let pattern = Pattern::new(&spec.pattern, check)?;
        if !spec.pattern.starts_with('^') {
            return Err(format!("pattern `{}` does not begin with ^", spec.pattern));
        }
        let emits: Vec<Emit> = spec
            .emit
            .iter()
            .chain(all.iter().filter(|_| !spec.no_row))
            .map(|e| Emit::new(e, check))
            .collect::<Result<_, _>>()?;
        let cells: Option<Vec<Template>> = match &spec.cells {
            Some(cells) if cells.len() != columns.len() => {
                return Err(format!("`cells` has {} texts for {} columns", cells.len(), columns.len()));
            }
            Some(cells) => Some(cells.iter().map(|c| Template::new(c)).collect::<Result<_, _>>()?),
            None => None,
        };
        let in_table = has_table && !spec.no_row && spec.drop.is_none();
        if check && spec.pairs.is_none() {
            let own = columns.iter().filter(|_| cells.is_none() && in_table && pattern.groups() > 0);
            let of_table = own.flat_map(Column::places);
            let of_table = of_table.chain(cells.iter().flatten().flat_map(Template::places));
            for place in of_table.chain(emits.iter().flat_map(Emit::places)) {
                let known = place
                    .parse::<usize>()
                    .map_or(matches!(place, "section" | "pool"), |n| (1..=pattern.groups()).contains(&n));
                if !known {
                    return Err(format!("pattern `{}` has no {{{place}}}", spec.pattern));
                }
            }
        }
        Ok(Shape {
            pattern,
            span: spec.span.clamp(1, MOST_SPAN),
            pairs: spec.pairs.as_ref().map(|p| Pairs::new(p, check)).transpose()?,
            section: spec.section.as_deref().map(Template::new).transpose()?,
            drop: spec.drop.clone(),
            command: spec.command.as_deref().map(|p| Pattern::new(p, check)).transpose()?,
            cells,
            in_table,
            emits,
        })
    }

    /// The row that a line is; `None` when it has no pairs, which make it one.
    fn row(
        &self,
        line: &Line,
        groups: Vec<String>,
        columns: &[Column],
        section: &str,
        command: &str,
    ) -> Option<Row> {
        let section = section.to_owned();
        if let Some(pairs) = &self.pairs {
            let (names, cells) = pairs.read(&line.text, &groups);
            let shown = self.in_table.then(|| cells.clone());
            return (!names.is_empty()).then(|| Row {
                names,
                values: cells,
                shown,
                section,
                ..Row::default()
            });
        }
        let values = Values { names: &[], cells: &groups, section: &section, command };
        let cell = |(i, column): (usize, &Column)| match &self.cells {
            Some(cells) => column.cell_of(cells.get(i), &values),
            None => column.cell(&values),
        };
        let shown =
            (self.in_table && !groups.is_empty()).then(|| columns.iter().enumerate().map(cell).collect());
        Some(Row { values: groups, shown, section, ..Row::default() })
    }

    /// Groups of the pattern and how many lines it took.
    fn read(&self, lines: &[Line], command: &str) -> Option<(Vec<String>, usize)> {
        if self.command.as_ref().is_some_and(|p| !p.matches(command)) {
            return None;
        }
        if self.span == 1 {
            let (groups, _) = self.pattern.captures(lines[0].text.trim_end())?;
            return Some((groups, 1));
        }
        let texts: Vec<&str> = lines.iter().take(self.span).map(|l| l.text.trim_end()).collect();
        let text = texts.join("\n");
        let (groups, end) = self.pattern.captures(&text)?;
        let whole = text.as_bytes().get(end).is_none_or(|b| *b == b'\n');
        let used = text.as_bytes()[..end].iter().filter(|b| **b == b'\n').count() + 1;
        (whole && end > 0 && text.as_bytes()[end - 1] != b'\n').then_some((groups, used))
    }
}

impl Pairs {
    fn new(spec: &PairSpec, check: bool) -> Result<Pairs, String> {
        Ok(Pairs {
            pattern: Pattern::new(&spec.pattern, check)?,
            name: Template::new(&spec.name)?,
            value: Template::new(&spec.value)?,
            kind: spec.kind,
            names: spec.names.clone(),
        })
    }

    /// Names and figures; groups of the pair stand behind those of the line: `{1}` of the line, then the pair's.
    fn read(&self, line: &str, groups: &[String]) -> (Vec<String>, Vec<String>) {
        let (mut names, mut cells) = (Vec::new(), Vec::new());
        for pair in self.pattern.all(line) {
            let all: Vec<String> = groups.iter().cloned().chain(pair).collect();
            let values = Values { names: &[], cells: &all, section: "", command: "" };
            let lower: Vec<String> = all.iter().map(|g| g.to_lowercase()).collect();
            let lower = Values { cells: &lower, ..values };
            let (Some(name), Some(value)) = (self.name.fill(&lower), self.value.fill(&values)) else {
                continue;
            };
            let name = match self.names.get(&name) {
                Some(ours) => ours.clone(),
                None if self.names.is_empty() => name,
                None => continue,
            };
            names.push(name);
            cells.push(self.kind.cell(&value));
        }
        (names, cells)
    }
}
