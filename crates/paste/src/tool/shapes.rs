//! Blocks of lines that are told by their shapes: each pattern's groups are the cells of a row.

use super::columns::Column;
use super::spec::{BlockSpec, EmitSpec, LineSpec, PairSpec};
use super::template::{Template, Values};
use super::{Found, Row};
use crate::blocks::Line;

/// Lines that one pattern may take together.
const MOST_SPAN: usize = 20;

impl BlockSpec {
    /// Names that figures in pairs can have; `*` for what the text says.
    pub fn pair_names(&self) -> Vec<String> {
        let names = |p: &PairSpec| match p.names.is_empty() {
            true => vec![p.name.with_stars()],
            false => p.names.values().cloned().collect::<Vec<String>>(),
        };
        self.lines.iter().filter_map(|l| l.pairs.as_ref()).flat_map(names).collect()
    }

    /// Reads a block without a header.
    pub fn read_lines(&self, lines: &[Line], command: &str) -> Option<Found> {
        if self.begins.as_ref().is_some_and(|p| !p.matches(lines[0].text.trim_end())) {
            return None;
        }
        let mut found = Found::default();
        let (mut section, mut told) = (String::new(), 0);
        let (mut at, mut blanks) = (0, 0);
        const MOST_BLANKS: usize = 2;
        // Headings upon headings without a row are looked at once, not from each of them.
        const MOST_HEADINGS: usize = 16;
        while at < lines.len()
            && told < self.most.unwrap_or(usize::MAX)
            && (told > 0 || found.rows.len() < MOST_HEADINGS)
        {
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
            let Some(row) = self.row(shape, &lines[at], groups, &section, command) else {
                break;
            };
            at += used;
            told += usize::from(!row.values.is_empty() || self.emits(Some(shape)).next().is_some());
            found.rows.push(Row { lines: used, shape: i, ..row });
        }
        let alone = || self.alone.as_ref().is_some_and(|p| p.matches(lines[0].text.trim_end()));
        (told > 0 && (told >= self.min || alone())).then_some(found)
    }

    /// The row that a line is; `None` when it has no pairs, which make it one.
    fn row(
        &self,
        shape: &LineSpec,
        line: &Line,
        groups: Vec<String>,
        section: &str,
        command: &str,
    ) -> Option<Row> {
        let section = section.to_owned();
        let in_table = self.in_table(shape);
        if let Some(pairs) = &shape.pairs {
            let (names, cells) = pairs.read(&line.text, &groups);
            let shown = in_table.then(|| cells.clone());
            return (!names.is_empty()).then(|| Row {
                names,
                values: cells,
                shown,
                section,
                ..Row::default()
            });
        }
        let values = Values { names: &[], cells: &groups, section: &section, command };
        let cell = |(i, column): (usize, &Column)| match &shape.cells {
            Some(cells) => column.cell_of(cells.get(i), &values),
            None => column.cell(&values),
        };
        let shown =
            (in_table && !groups.is_empty()).then(|| self.columns.0.iter().enumerate().map(cell).collect());
        Some(Row { values: groups, shown, section, ..Row::default() })
    }

    /// Whether lines of this shape are rows of the table.
    fn in_table(&self, shape: &LineSpec) -> bool {
        self.table.is_some() && !shape.no_row && shape.drop.is_none()
    }

    /// # Errors
    /// What is wrong with a key of a shape; with `check` also places that its pattern has no group for.
    pub fn check_lines(&self, check: bool) -> Result<(), String> {
        let columns = &self.columns.0;
        for shape in &self.lines {
            let pattern = &shape.pattern.text;
            if !pattern.starts_with('^') {
                return Err(format!("pattern `{pattern}` does not begin with ^"));
            }
            if let Some(cells) = shape.cells.as_ref().filter(|cells| cells.len() != columns.len()) {
                return Err(format!("`cells` has {} texts for {} columns", cells.len(), columns.len()));
            }
            if !check || shape.pairs.is_some() {
                continue;
            }
            let groups = shape.pattern.groups();
            let own = columns.iter().filter(|_| shape.cells.is_none() && self.in_table(shape) && groups > 0);
            let of_table = own.flat_map(Column::places);
            let of_table = of_table.chain(shape.cells.iter().flatten().flat_map(Template::places));
            for place in of_table.chain(self.emits(Some(shape)).flat_map(EmitSpec::places)) {
                let number = place.parse::<usize>();
                if !number.map_or(matches!(place, "section" | "pool"), |n| (1..=groups).contains(&n)) {
                    return Err(format!("pattern `{pattern}` has no {{{place}}}"));
                }
            }
        }
        Ok(())
    }
}

impl LineSpec {
    /// Groups of the pattern and how many lines it took.
    fn read(&self, lines: &[Line], command: &str) -> Option<(Vec<String>, usize)> {
        if self.command.as_ref().is_some_and(|p| !p.matches(command)) {
            return None;
        }
        let span = self.span.clamp(1, MOST_SPAN);
        if span == 1 {
            let (groups, _) = self.pattern.captures(lines[0].text.trim_end())?;
            return Some((groups, 1));
        }
        let texts: Vec<&str> = lines.iter().take(span).map(|l| l.text.trim_end()).collect();
        let text = texts.join("\n");
        let (groups, end) = self.pattern.captures(&text)?;
        let whole = text.as_bytes().get(end).is_none_or(|b| *b == b'\n');
        let used = text.as_bytes()[..end].iter().filter(|b| **b == b'\n').count() + 1;
        (whole && end > 0 && text.as_bytes()[end - 1] != b'\n').then_some((groups, used))
    }
}

impl PairSpec {
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
