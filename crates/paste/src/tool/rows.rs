//! Blocks of rows below a line of column names.

use super::columns::{Column, Columns};
use super::kind::Kind;
use super::spec::{HeaderSpec, RowSpec, Split, TimeOfDay};
use super::{Found, Row};
use crate::blocks::Line;
use crate::cells::{is_rule, time_words};

/// Words of a line that are looked at.
const MOST_WORDS: usize = 120;

/// What tells a header and its rows.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    pub spec: &'a HeaderSpec,
    pub rule: &'a RowSpec,
    /// Of the table; those of the header where there are none.
    pub columns: &'a [Column],
    /// There is a table for headers that `tables` does not name.
    pub usual_table: bool,
}

/// What a header says of the rows below it.
struct Header {
    names: Vec<String>,
    kinds: Vec<Kind>,
    /// Lines down to the first row.
    lines: usize,
    table: Option<String>,
    timed: bool,
    indent: usize,
    words: Vec<String>,
}

impl HeaderSpec {
    /// # Errors
    /// What is wrong with a key.
    pub fn check(&self) -> Result<(), String> {
        let mut aliases = self.words.iter().flat_map(|w| &w.0).filter_map(|word| word.strip_prefix('@'));
        if let Some(alias) = aliases.find(|alias| !self.aliases.contains_key(*alias)) {
            return Err(format!("`header.words` names @{alias}, which `header.aliases` lacks"));
        }
        if self.words.is_empty() && self.line.is_none() {
            return Err("`header` needs `words` or `line`: nothing tells it from other lines".to_owned());
        }
        if let Some(missing) = self.usual_groups.iter().find(|g| !self.groups.contains_key(*g)) {
            return Err(format!("`header.usual_groups` names `{missing}`, which `header.groups` lacks"));
        }
        Ok(())
    }

    fn needles(&self) -> &[String] {
        let plain = |w: &&String| *w != "*" && !w.starts_with('@');
        let needle = |all: &Split| all.0.iter().filter(plain).max_by_key(|w| w.len()).cloned();
        self.needles.get_or_init(|| self.words.iter().map(needle).collect::<Option<_>>().unwrap_or_default())
    }
}

impl Rows<'_> {
    /// Every name that a column can have; `None` where the file does not list them.
    pub fn column_names(&self) -> Option<Vec<String>> {
        let groups: Vec<String> = self.spec.groups.values().flat_map(Columns::names).collect();
        let lists = [&self.spec.headings.0, &self.spec.only.0, &self.spec.two_of.0];
        if groups.is_empty() && lists.iter().all(|l| l.is_empty()) {
            return None;
        }
        let words = self.spec.words.iter().flat_map(|w| &w.0).filter(|w| *w != "*" && !w.starts_with('@'));
        let known = lists.into_iter().flatten().chain(words).chain(self.spec.aliases.keys()).cloned();
        let time = (self.spec.time != TimeOfDay::Never).then(|| "time".to_owned());
        Some(groups.into_iter().chain(known).chain(time).collect())
    }

    pub fn tables(self) -> impl Iterator<Item = String> {
        let sections =
            self.rule.sections.as_ref().zip(self.rule.nested.as_ref()).map(|(_, n)| format!("{n} *"));
        self.spec.tables.iter().map(|t| &t.1).chain(&self.rule.nested).cloned().chain(sections)
    }

    pub fn read(&self, lines: &[Line]) -> Option<Found> {
        let header = match self.header(lines) {
            Some(header) => header,
            None if self.spec.layout.0.is_empty() => return None,
            None => self.headerless(),
        };
        let mut found = Found { table: header.table.clone(), ..Found::default() };
        let mut at = header.lines;
        if self.spec.blank_below && at > 0 && lines.get(at).is_some_and(Line::is_blank) {
            found.taken.drop("blank line", 1);
            at += 1;
        }
        found.taken.kept += header.lines;
        let mut section = None;
        while let Some(line) = lines.get(at) {
            // Headers upon headers without a row are no table; looking on would cost each line.
            const MOST_HEADERS: usize = 8;
            if found.rows.is_empty() && at > MOST_HEADERS {
                break;
            }
            let text = line.text.trim_end();
            if let Some((_, reason)) = self.rule.drop.iter().find(|(p, _)| p.matches(text)) {
                found.taken.drop(reason.clone(), 1);
            } else if is_rule(text) || self.again(text, &header) {
                if self.rule.once {
                    break;
                }
                found.taken.kept += 1;
            } else if let Some(mut row) = self.row(text, &header) {
                if self.begins_section(&row) {
                    section = row.values.first().cloned();
                    found.taken.kept += 1;
                } else {
                    section = section.filter(|_| !row.top);
                    row.table =
                        section.as_ref().zip(self.rule.nested.as_ref()).map(|(s, n)| format!("{n} {s}"));
                    found.rows.push(row);
                }
            } else {
                break;
            }
            at += 1;
        }
        if found.rows.iter().any(|r| !r.top) && self.rule.nested.is_some() {
            found.table.clone_from(&self.rule.nested);
        }
        found.columns = header.names;
        self.empty_idle(&mut found);
        (!found.rows.is_empty()).then_some(found)
    }

    /// Empties the per cents of rows in which nothing happened.
    fn empty_idle(&self, found: &mut Found) {
        let Some(idle) = self.rule.idle.as_ref() else { return };
        let Some(at) = found.columns.iter().position(|name| name == idle) else { return };
        for row in found.rows.iter_mut().filter(|row| row.values.get(at).is_some_and(|v| v == "0")) {
            for values in std::iter::once(&mut row.values).chain(&mut row.shown) {
                let per_cents = values.iter_mut().zip(&found.columns).filter(|(_, name)| name.ends_with('%'));
                per_cents.for_each(|(value, _)| value.clear());
            }
        }
    }

    fn begins_section(&self, row: &Row) -> bool {
        let name = row.values.first();
        row.top && self.rule.sections.as_ref().zip(name).is_some_and(|(p, name)| p.matches(name))
    }

    /// The header once more, a line above it, or what stands between rows.
    fn again(&self, text: &str, header: &Header) -> bool {
        let mut lines = self.spec.above.iter().chain(&self.rule.between);
        if lines.any(|p| p.matches(text)) {
            return true;
        }
        let words = self.words_of(text);
        let times = if header.timed { time_words(&words) } else { 0 };
        words[times..].iter().eq(&header.words) || self.groups_of(&words).is_some()
    }

    fn headerless(&self) -> Header {
        Header {
            names: self.spec.layout.0.iter().map(|w| self.renamed(w)).collect(),
            kinds: vec![Kind::Figure; self.spec.layout.0.len()],
            lines: 0,
            table: None,
            timed: false,
            indent: usize::MAX,
            words: self.spec.layout.0.clone(),
        }
    }

    fn header(&self, lines: &[Line]) -> Option<Header> {
        const MOST_ABOVE: usize = 3;
        let is_above = |l: &&Line| self.spec.above.iter().any(|p| p.matches(l.text.trim_end()));
        let mut above = lines.iter().take(MOST_ABOVE).take_while(is_above).count();
        if self.spec.above_needed && above == 0 {
            return None;
        }
        let mut groups = None;
        if !self.spec.groups.is_empty() {
            groups = self.groups_of(&self.words_of(&lines.get(above)?.text));
            above += usize::from(groups.is_some());
        }
        let text = lines.get(above)?.text.as_ref();
        let needles = self.spec.needles();
        if !needles.is_empty() && !needles.iter().any(|n| text.contains(n.as_str())) {
            return None;
        }
        let words = self.words_of(text);
        if !self.is_header(text, &words) {
            return None;
        }
        let times = time_words(&words);
        let timed = times > 0 && self.spec.time != TimeOfDay::Never;
        let words = &words[if timed { times } else { 0 }..];
        let has = |w: &str| words.contains(&w) || groups.iter().flatten().any(|g| g == w);
        let named = self.spec.tables.iter().find(|(headings, _)| headings.split(' ').all(has));
        if named.is_none() && !self.spec.tables.is_empty() && !self.usual_table {
            return None;
        }
        let table = named.map(|(_, table)| table.clone());
        let (mut names, mut kinds) = self.columns(words, groups);
        if timed {
            names.insert(0, "time".to_owned());
            kinds.insert(0, Kind::Text);
        }
        let indent = text.len() - text.trim_start().len();
        let words = words.iter().map(|w| (*w).to_owned()).collect();
        Some(Header { names, kinds, lines: above + 1, table, timed, indent, words })
    }

    fn columns(&self, words: &[&str], groups: Option<Vec<String>>) -> (Vec<String>, Vec<Kind>) {
        if !self.columns.is_empty() {
            return self.columns.iter().map(|c| (c.name.clone(), c.kind)).unzip();
        }
        if self.spec.groups.is_empty() {
            let words = &words[usize::from(self.spec.label).min(words.len())..];
            let name = |(i, word): (usize, &&str)| {
                // Disks and interfaces repeat their names: all but the first of a name carry its number.
                let before = words[..i].iter().filter(|w| *w == word).count();
                if before > 0 && !self.spec.separators.is_empty() {
                    format!("{word} {}", before + 1)
                } else {
                    self.renamed(word)
                }
            };
            let names: Vec<String> = words.iter().enumerate().map(name).collect();
            let kinds = vec![Kind::Figure; names.len()];
            return (names, kinds);
        }
        let groups = groups.unwrap_or_else(|| self.spec.usual_groups.clone());
        let below = groups.iter().filter_map(|g| self.spec.groups.get(g)).flat_map(|c| &c.0);
        let mut out: Vec<(String, Kind)> = vec![((*words.first().unwrap_or(&"")).to_owned(), Kind::Figure)];
        out.extend(below.map(|c| (c.name.clone(), c.kind)));
        out.truncate(words.len());
        out.extend(words.iter().skip(out.len()).map(|w| ((*w).to_owned(), Kind::Figure)));
        out.into_iter().unzip()
    }

    /// Our name of a heading.
    fn renamed(&self, word: &str) -> String {
        let ours = self.spec.aliases.iter().find(|(_, theirs)| theirs.iter().any(|t| t == word));
        ours.map_or(word, |(name, _)| name).to_owned()
    }

    fn words_of<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let text = text.trim_start().trim_start_matches('#');
        let split = |c: char| c.is_whitespace() || self.spec.separators.contains(c);
        text.split(split).filter(|w| !w.is_empty()).take(MOST_WORDS).collect()
    }

    /// Groups that a line above the header names: all its words are.
    fn groups_of(&self, words: &[&str]) -> Option<Vec<String>> {
        let all = words.len() >= 2 && words.iter().all(|w| self.spec.groups.contains_key(*w));
        all.then(|| words.iter().map(|w| (*w).to_owned()).collect())
    }

    fn is_header(&self, text: &str, words: &[&str]) -> bool {
        let times = if self.spec.time == TimeOfDay::Never { 0 } else { time_words(words) };
        if times == 0 && self.spec.time == TimeOfDay::Must {
            return false;
        }
        let words = &words[times..];
        let has = |word: &String| match word.strip_prefix('@') {
            Some(alias) => self
                .spec
                .aliases
                .get(alias)
                .is_some_and(|theirs| theirs.iter().any(|t| words.contains(&t.as_str()))),
            None => words.contains(&word.as_str()),
        };
        let alternative = |all: &Split| {
            let mut all = all.0.iter();
            all.next().is_some_and(|f| f == "*" || words.first() == Some(&f.as_str())) && all.all(has)
        };
        let among = |list: &[String], w: &&str| list.iter().any(|l| l == w);
        (self.spec.words.is_empty() || self.spec.words.iter().any(alternative))
            && (self.spec.only.0.is_empty() || words.iter().all(|w| among(&self.spec.only.0, w)))
            && (self.spec.two_of.0.is_empty()
                || words.iter().filter(|w| among(&self.spec.two_of.0, w)).count() >= 2)
            && !words.iter().any(|w| among(&self.spec.without, w))
            && self.spec.line.as_ref().is_none_or(|p| p.matches(text.trim_end()))
    }

    /// The cells of a line; `None` when it is no row of this table.
    fn row(&self, text: &str, header: &Header) -> Option<Row> {
        if self.rule.line.as_ref().is_some_and(|p| !p.matches(text)) {
            return None;
        }
        let columns = header.names.len();
        let mut cells = self.split(text, header)?;
        if let Some(at) = self.rule.blank_at.filter(|_| cells.len() + 1 == columns) {
            cells.insert(at.min(cells.len()), "");
        }
        let last = header.names.last();
        let extra = match &self.rule.extra_in {
            Some(column) if last != Some(column) => 0,
            _ => self.rule.extra,
        };
        if self.rule.cut && extra > 0 {
            cells.truncate(columns + extra);
        }
        if cells.len() + self.rule.missing < columns || cells.len() > columns + extra || cells.len() < 2 {
            return None;
        }
        let mut row: Vec<String> = cells.iter().take(columns).map(|c| (*c).to_owned()).collect();
        if cells.len() > columns {
            row[columns - 1] = cells[columns - 1..].join(" ");
        }
        if !self.has_figures(&row[1..]) {
            return None;
        }
        for (column, pattern) in &self.rule.are {
            let at = header.names.iter().position(|n| n == column);
            if at.and_then(|at| row.get(at)).is_some_and(|cell| !pattern.matches(cell)) {
                return None;
            }
        }
        let mut values: Vec<String> = row.iter().zip(&header.kinds).map(|(c, kind)| kind.cell(c)).collect();
        values.resize(columns, String::new());
        let top = text.len() - text.trim_start().len() <= header.indent;
        Some(Row { shown: Some(values.clone()), values, lines: 1, top, ..Row::default() })
    }

    /// Cells without the branches of a tree; a time of several words is one cell.
    fn split<'t>(&self, text: &'t str, header: &Header) -> Option<Vec<&'t str>> {
        let mut cells: Vec<&str> = Vec::new();
        let mut rest = text.trim();
        if let Some(bar) = self.spec.separators.chars().next() {
            // `16-08 03:48:11|…`
            let (first, behind) = rest.split_once(bar)?;
            let stamp =
                first.trim().split_once(' ').filter(|(date, time)| date.contains('-') && time.contains(':'));
            if stamp.is_some() {
                cells.push(first.trim());
                rest = behind;
            }
        }
        let words = self.words_of(rest);
        let times = if header.timed { time_words(&words) } else { 0 };
        if header.timed != (times > 0) {
            return None;
        }
        if times > 0 {
            let last = words[times - 1];
            let end = last.as_ptr() as usize - rest.as_ptr() as usize + last.len();
            cells.push(&rest[..end]);
        }
        cells.extend(&words[times..]);
        if let Some(first) = cells.first_mut() {
            *first = bare(first);
        }
        Some(cells)
    }

    /// Whether enough cells behind the first are figures for a row of a table.
    fn has_figures(&self, cells: &[String]) -> bool {
        let figure = |cell: &&String| {
            let digits = cell.trim_start_matches(['-', '.', '<']);
            cell.as_str() == "-"
                || digits.starts_with(|c: char| c.is_ascii_digit()) && cell.len() < 40
                || self.rule.value.as_ref().is_some_and(|p| p.matches(cell))
        };
        let figures = cells.iter().filter(|c| !c.is_empty()).filter(figure).count();
        let all = cells.iter().filter(|c| !c.is_empty()).count();
        match self.rule.figures.unwrap_or(0.5) {
            part if part <= 0.0 => true,
            part if part >= 1.0 => figures == all && all > 0,
            part => figures > 0 && figures as f64 >= all as f64 * part,
        }
    }
}

/// A first word without the branches of lsblk.
fn bare(word: &str) -> &str {
    let name = word.trim_start_matches(['├', '└', '─', '│', '`', '|', '-']);
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) { name } else { word }
}
