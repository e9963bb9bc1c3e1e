//! Text in columns and paragraphs, measured in terminal cells.

use crate::escape::plain;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

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

/// Breaks `text` at spaces into lines of at most `cells`; a longer word stands alone.
pub fn wrap(text: &str, cells: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= cells => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
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
}

impl Grid {
    pub fn new(indent: usize, aligns: &[Align]) -> Grid {
        Grid { aligns: aligns.to_vec(), rows: Vec::new(), indent }
    }

    pub fn row<S: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(|c| plain(c.as_ref()).into_owned()).collect());
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// One string a row, without line end; the last left-aligned column is cut at `total` cells.
    pub fn lines(&self, total: usize) -> Vec<String> {
        let columns = self.aligns.len();
        let mut widths = vec![0usize; columns];
        for row in &self.rows {
            for (w, cell) in widths.iter_mut().zip(row) {
                *w = (*w).max(width(cell));
            }
        }
        let used: usize = self.indent + widths.iter().sum::<usize>() + 2 * columns.saturating_sub(1);
        let widest = (0..columns).filter(|c| self.aligns[*c] == Align::Left).max_by_key(|c| widths[*c]);
        if let (true, Some(widest)) = (used > total, widest) {
            widths[widest] = widths[widest].saturating_sub(used - total).max(12);
        }
        self.rows.iter().map(|row| self.line(row, &widths)).collect()
    }

    fn line(&self, row: &[String], widths: &[usize]) -> String {
        let mut line = " ".repeat(self.indent);
        for (i, cell) in row.iter().enumerate().take(widths.len()) {
            if i > 0 {
                line.push_str("  ");
            }
            let cell = cut(cell, widths[i]);
            let pad = " ".repeat(widths[i].saturating_sub(width(&cell)));
            match self.aligns[i] {
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
    fn paragraphs_hang() {
        assert_eq!(labelled("WHY", 5, "one two three four", 25), "WHY  one two three four\n");
        assert_eq!(
            labelled("WHY", 5, "aaaaaaaaaa bbbbbbbbbb cccccc", 26),
            "WHY  aaaaaaaaaa bbbbbbbbbb\n     cccccc\n"
        );
    }
}
