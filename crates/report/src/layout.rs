//! Text in columns and paragraphs, measured in terminal cells.

use crate::escape::plain;
use crate::style::Style;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How far text stands in below a label.
pub(crate) const INDENT: usize = 5;

/// Cells that `text` takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// `text` cut to `cells`, an ellipsis at the cut.
pub fn cut(text: &str, cells: usize) -> String {
    if width(text) <= cells {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let w = c.width().unwrap_or(0);
        if used + w + 1 > cells {
            break;
        }
        out.push(c);
        used += w;
    }
    out.push('…');
    out
}

/// Breaks `text` at spaces into lines of at most `cells`; a longer word stands alone, and a
/// percent sign stays with its number.
pub fn wrap(text: &str, cells: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let unit = words.next_if_eq(&"%").map_or(String::new(), |unit| format!(" {unit}"));
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) + width(&unit) <= cells => {
                line.push(' ');
                line.push_str(word);
                line.push_str(&unit);
            }
            _ => lines.push(word.to_owned() + &unit),
        }
    }
    lines
}

/// Breaks a shell command at spaces outside quotes, a backslash at the end of every line but the
/// last, so that it can be copied whole.
pub fn wrap_command(command: &str, cells: usize) -> Vec<String> {
    // A comment would swallow the backslash.
    if width(command) <= cells || command.contains('#') {
        return vec![command.to_owned()];
    }
    let mut lines: Vec<String> = Vec::new();
    for part in unquoted_parts(command) {
        match lines.last_mut() {
            Some(line) if width(line) + width(&part) + 3 <= cells => {
                line.push(' ');
                line.push_str(&part);
            }
            Some(line) => {
                line.push_str(" \\");
                lines.push(format!("  {part}"));
            }
            None => lines.push(part),
        }
    }
    lines
}

/// `command` split at the spaces that are not inside quotes.
fn unquoted_parts(command: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut open: Option<char> = None;
    for c in command.chars() {
        match (c, open) {
            (' ', None) => {
                parts.push(String::new());
                continue;
            }
            ('\'' | '"', None) => open = Some(c),
            (c, Some(quote)) if c == quote => open = None,
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    parts.retain(|p| !p.is_empty());
    parts
}

/// `label` once, then `text` wrapped beside it with a hanging indent.
pub fn labelled(label: &str, indent: usize, text: &str, total: usize) -> String {
    let mut out = String::new();
    for (i, line) in wrap(text, total.saturating_sub(indent).max(20)).iter().enumerate() {
        let head = if i == 0 { label } else { "" };
        out.push_str(head);
        out.push_str(&" ".repeat(indent.saturating_sub(width(head))));
        out.push_str(&plain(line));
        out.push('\n');
    }
    out
}

/// As [`Grid::titled`], of lines that are made already.
pub(crate) fn titled(mut lines: Vec<String>, more: &str, style: Style) -> String {
    lines[0] = style.bold(&lines[0]);
    if !more.is_empty() {
        let text = labelled("", 2, more, style.prose());
        lines.extend(text.lines().map(|line| style.dim(line)));
    }
    format!("\n{}\n", lines.join("\n"))
}

/// No column of text is cut to less.
const NARROWEST: usize = 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// Rows in columns; cells are made harmless here, so callers pass raw names.
#[derive(Clone, Debug)]
pub struct Grid {
    aligns: Vec<Align>,
    rows: Vec<Vec<String>>,
    indent: usize,
    headed: bool,
    key: usize,
}

impl Grid {
    pub fn new(indent: usize, aligns: &[Align]) -> Grid {
        Grid { aligns: aligns.to_vec(), rows: Vec::new(), indent, headed: false, key: 0 }
    }

    /// The first row; columns that have nothing below it are left out.
    pub fn header<S: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.headed = true;
        self.row(cells);
    }

    pub fn row<S: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(|c| plain(c.as_ref()).into_owned()).collect());
    }

    /// As it stands in an answer: after an empty line, its heading emphasised, and what was left out below it; nothing of
    /// a table that has only a heading.
    pub(crate) fn titled(&self, more: &str, style: Style) -> String {
        if self.rows.len() > 1 { titled(self.lines(style.table()), more, style) } else { String::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The column that says what a row is about; without this the first.
    pub fn about(mut self, column: usize) -> Grid {
        self.key = column;
        self
    }

    /// One string a row, without line end, in `total` cells: the widest left-aligned columns are cut, and columns
    /// for which there is no room at all are left out, the last first, words before figures.
    pub fn lines(&self, total: usize) -> Vec<String> {
        let cell_width = |column: usize| {
            self.rows.iter().filter_map(|r| r.get(column)).map(|c| width(c)).max().unwrap_or(0)
        };
        let mut shown: Vec<(usize, usize)> =
            (0..self.aligns.len()).filter(|c| self.is_shown(*c)).map(|c| (c, cell_width(c))).collect();
        let shown = loop {
            let cut = self.cut(shown.clone(), total);
            let (fits, few) = (self.used(&cut) <= total, shown.len() <= 2);
            let other = |(c, _): &(usize, usize)| *c != self.key;
            let words = shown.iter().rposition(|c| other(c) && self.aligns[c.0] == Align::Left);
            match words.or_else(|| shown.iter().rposition(other)) {
                Some(at) if !fits && !few => _ = shown.remove(at),
                _ => break cut,
            }
        };
        self.rows.iter().map(|row| self.line(row, &shown)).collect()
    }

    /// The columns with their widths, the widest of words cut until all fit or none can be cut further.
    fn cut(&self, mut shown: Vec<(usize, usize)>, total: usize) -> Vec<(usize, usize)> {
        while self.used(&shown) > total {
            let over = self.used(&shown) - total;
            let words = shown.iter_mut().filter(|(c, w)| self.aligns[*c] == Align::Left && *w > NARROWEST);
            let Some((_, cells)) = words.max_by_key(|(_, w)| *w) else { break };
            *cells = cells.saturating_sub(over).max(NARROWEST);
        }
        shown
    }

    fn used(&self, shown: &[(usize, usize)]) -> usize {
        self.indent + 2 * shown.len().saturating_sub(1) + shown.iter().map(|(_, w)| w).sum::<usize>()
    }

    fn is_shown(&self, column: usize) -> bool {
        !self.headed || self.rows.iter().skip(1).any(|r| r.get(column).is_some_and(|c| !c.is_empty()))
    }

    /// `columns` are those to show, with their widths.
    fn line(&self, row: &[String], columns: &[(usize, usize)]) -> String {
        let mut line = " ".repeat(self.indent);
        for (i, (column, cells)) in columns.iter().enumerate() {
            if i > 0 {
                line.push_str("  ");
            }
            let cell = cut(row.get(*column).map_or("", String::as_str), *cells);
            let pad = " ".repeat(cells.saturating_sub(width(&cell)));
            match self.aligns[*column] {
                Align::Left => line.extend([cell, pad]),
                Align::Right => line.extend([pad, cell]),
            }
        }
        line.truncate(line.trim_end().len());
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_long_names_are_cut() {
        let mut grid = Grid::new(2, &[Align::Left, Align::Right]);
        grid.row(["decrypt", "63.1 %"]);
        grid.row(["a_very_long_function_name_that_does_not_fit", "2.0 %"]);
        assert_eq!(grid.lines(30), ["  decrypt               63.1 %", "  a_very_long_functio…   2.0 %"]);
    }

    #[test]
    fn columns_without_room_are_left_out_from_the_end() {
        let mut grid = Grid::new(2, &[Align::Left, Align::Right, Align::Right, Align::Left]);
        grid.header(["Threads", "CPU s", "samples", "role"]);
        grid.row(["z_rd_int", "37.50", "64.4 %", "finishes reads: verifies checksums"]);
        let lines = |cells| grid.lines(cells).join("\n");
        assert!(lines(80).contains("verifies checksums"));
        assert_eq!(lines(40), "  Threads   CPU s  samples  role\n  z_rd_int  37.50   64.4 %  finishes re…");
        assert_eq!(lines(30), "  Threads   CPU s  samples\n  z_rd_int  37.50   64.4 %");
        assert_eq!(lines(20), "  Threads   CPU s\n  z_rd_int  37.50");
    }

    #[test]
    fn columns_without_figures_are_left_out() {
        let mut grid = Grid::new(0, &[Align::Left, Align::Right, Align::Right]);
        grid.header(["thread", "CPU s", "samples"]);
        grid.row(["dd", "", "60"]);
        assert_eq!(grid.lines(80), ["thread  samples", "dd           60"]);
    }

    #[test]
    fn commands_break_where_a_shell_joins_them() {
        assert_eq!(wrap_command("zfs list", 20), ["zfs list"]);
        assert_eq!(
            wrap_command("grep -E 'size or target' /proc/arcstats", 24),
            ["grep -E \\", "  'size or target' \\", "  /proc/arcstats"]
        );
    }

    #[test]
    fn a_percent_sign_stays_with_its_number() {
        assert_eq!(wrap("takes 14.5 % of it", 12), ["takes 14.5 %", "of it"]);
        assert_eq!(wrap("takes 14.5 % of it", 11), ["takes", "14.5 % of", "it"]);
    }

    #[test]
    fn paragraphs_hang() {
        assert_eq!(labelled("WHY", 5, "one two three four", 25), "WHY  one two three four\n");
        assert_eq!(
            labelled("WHY", 5, "aaaaaaaaaa bbbbbbbbbb cccccc", 26),
            "WHY  aaaaaaaaaa bbbbbbbbbb\n     cccccc\n"
        );
    }
}
