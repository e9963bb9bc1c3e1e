//! Tables on the screen: one in focus with the names of the others on a low or narrow screen, all side by side on a
//! large one.

use super::state::View;
use crate::figures::Figures;
use crate::model::Model;
use crate::tables::{Kind, Table};
use crate::words::percent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use zwhy_report::{cells, terminal_colour};

/// From this size on all tables are shown.
const WIDE: u16 = 160;
const HIGH: u16 = 30;
/// Title, columns and a row.
const LEAST: u16 = 3;
const LEFT: [Kind; 3] = [Kind::Stages, Kind::Threads, Kind::Processes];
const RIGHT: [Kind; 4] = [Kind::Datasets, Kind::Disks, Kind::Pools, Kind::Queues];
/// Heights of a bar from a part to the whole of a cell.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Cells of the history of a stage: none in fewer, one an interval.
const SHORTEST: usize = 8;

/// What panes are drawn of.
pub(super) struct Panes<'a> {
    pub model: &'a Model,
    pub view: &'a View,
    pub figures: &'a Figures,
}

impl Panes<'_> {
    /// Draws the tables; returns how far the one in focus is scrolled.
    pub(super) fn draw(&self, area: Rect, buffer: &mut Buffer) -> usize {
        if area.width >= WIDE && area.height >= HIGH {
            return self.draw_all(area, buffer);
        }
        let [tabs, pane] = split(area, 1);
        self.draw_tabs(tabs, buffer);
        self.draw_pane(&self.view.table(self.view.focus, self.figures), pane, buffer)
    }

    fn draw_tabs(&self, area: Rect, buffer: &mut Buffer) {
        let mut x = area.x;
        for (at, kind) in Kind::ALL.iter().enumerate() {
            let style = if *kind == self.view.focus {
                Style::new().add_modifier(Modifier::REVERSED)
            } else {
                Style::new()
            };
            let room = usize::from(area.right().saturating_sub(x));
            (x, _) = buffer.set_stringn(x, area.y, format!("{} {}", at + 1, kind.short()), room, style);
            x += 2;
        }
    }

    fn draw_all(&self, area: Rect, buffer: &mut Buffer) -> usize {
        let half = (area.width - 2) / 2;
        let left = Rect { width: half, ..area };
        let right = Rect { x: area.right() - half, width: half, ..area };
        let scrolled = [self.draw_column(&LEFT, left, buffer), self.draw_column(&RIGHT, right, buffer)];
        scrolled.into_iter().flatten().next().unwrap_or(0)
    }

    /// Tables one below the other; those that are short leave their room to the others.
    fn draw_column(&self, kinds: &[Kind], area: Rect, buffer: &mut Buffer) -> Option<usize> {
        let tables: Vec<Table> = kinds.iter().map(|kind| self.view.table(*kind, self.figures)).collect();
        let wants: Vec<u16> = tables.iter().map(|t| (t.rows.len().max(1) as u16 + 2).max(LEAST)).collect();
        let mut y = area.y;
        let mut scrolled = None;
        for (table, height) in tables.iter().zip(heights(&wants, area.height)) {
            let pane = Rect { y, height: height.min(area.bottom().saturating_sub(y)), ..area };
            let scroll = self.draw_pane(table, pane, buffer);
            if table.kind == self.view.focus {
                scrolled = Some(scroll);
            }
            y += height + 1;
        }
        scrolled
    }

    /// A title, the columns, the rows; returns how far it is scrolled.
    fn draw_pane(&self, table: &Table, area: Rect, buffer: &mut Buffer) -> usize {
        let focused = table.kind == self.view.focus;
        let [title, below] = split(area, 1);
        let weight = if focused { Modifier::BOLD | Modifier::UNDERLINED } else { Modifier::BOLD };
        let style = Style::new().add_modifier(weight);
        let width = usize::from(area.width);
        if title.height > 0 {
            buffer.set_stringn(title.x, title.y, self.title(table), width, style);
        }
        if table.rows.is_empty() {
            if below.height > 0 {
                buffer.set_stringn(below.x, below.y, self.nothing(), width, Style::new());
            }
            return 0;
        }
        let lines = self.lines(table, width);
        let room = usize::from(below.height).saturating_sub(1);
        let scroll = if focused { self.view.scroll.min(table.rows.len().saturating_sub(room)) } else { 0 };
        let rows = lines.iter().enumerate().skip(1 + scroll).take(room);
        let shown = lines.iter().enumerate().take(1).chain(rows);
        for (y, (at, line)) in (below.y..below.bottom()).zip(shown) {
            let style = if at == 0 { Style::new().add_modifier(Modifier::DIM) } else { Style::new() };
            buffer.set_stringn(below.x, y, line, width, style);
            if table.kind == Kind::Stages && at > 0 {
                self.draw_swatch(&table.rows[at - 1][0].text, below.x, y, buffer);
            }
        }
        scroll
    }

    fn draw_swatch(&self, stage: &str, x: u16, y: u16, buffer: &mut Buffer) {
        if self.view.colour {
            let style = Style::new().fg(Color::Indexed(terminal_colour(stage)));
            buffer.set_stringn(x, y, "■", 1, style);
        }
    }

    fn title(&self, table: &Table) -> String {
        let mut title = table.kind.title().to_owned();
        if !self.view.filter.is_empty() {
            title.push_str(&format!(" with `{}`", zwhy_report::plain(&self.view.filter)));
        }
        title
    }

    fn nothing(&self) -> &'static str {
        if self.view.filter.is_empty() { "  none in this interval" } else { "  no row has that name" }
    }

    /// The columns and every row, the column it is sorted by marked; stages with their history.
    fn lines(&self, table: &Table, width: usize) -> Vec<String> {
        let order = self.view.order(table.kind);
        let mark = |(at, name): (usize, &&str)| match order.filter(|o| o.column == at) {
            Some(order) => format!("{name} {}", if order.turned { '▲' } else { '▼' }),
            None => (*name).to_owned(),
        };
        let columns: Vec<String> = table.kind.columns().iter().enumerate().map(mark).collect();
        let mut lines = table.grid(&columns, usize::MAX).lines(width);
        if table.kind == Kind::Stages {
            self.add_history(table, width, &mut lines);
        }
        lines
    }

    /// Behind each stage its share over time, the newest at the right.
    fn add_history(&self, table: &Table, width: usize, lines: &mut [String]) {
        let longest = lines.iter().map(|line| cells(line)).max().unwrap_or(0);
        let room = width.saturating_sub(longest + 2);
        let Some(shown) = self.view.index(self.model).filter(|_| room >= SHORTEST) else { return };
        let first = (shown + 1).saturating_sub(room);
        let share = |f: &Figures, stage: &str| f.stages.iter().find(|s| s.stage == stage).map(|s| s.share);
        let of = |row: &[crate::tables::Cell]| -> Vec<f64> {
            let stage = row.first().map_or("", |cell| cell.text.as_str());
            self.model.history().range(first..=shown).map(|f| share(f, stage).unwrap_or(0.0)).collect()
        };
        let curves: Vec<Vec<f64>> = table.rows.iter().map(|row| of(row)).collect();
        let most = curves.iter().flatten().copied().fold(0.0, f64::max);
        let span = self.model.history().range(first..=shown).map(|f| f.seconds).sum::<f64>();
        let mut words = vec![format!("the last {span:.0} s, full height is {}", percent(most))];
        words.extend(curves.iter().map(|curve| curve.iter().map(|v| bar(*v, most)).collect()));
        for (line, words) in lines.iter_mut().zip(words) {
            let gap = width.saturating_sub(cells(line) + cells(&words));
            if gap >= 2 {
                line.push_str(&" ".repeat(gap));
                line.push_str(&words);
            }
        }
    }
}

/// A bar of a value; nothing of nothing, and the lowest of little.
fn bar(value: f64, most: f64) -> char {
    if value <= 0.0 || most <= 0.0 {
        return ' ';
    }
    BARS[((value / most * BARS.len() as f64).ceil() as usize).clamp(1, BARS.len()) - 1]
}

/// The first rows of an area, and the rest.
fn split(area: Rect, rows: u16) -> [Rect; 2] {
    let rows = rows.min(area.height);
    [Rect { height: rows, ..area }, Rect { y: area.y + rows, height: area.height - rows, ..area }]
}

/// Rows for each of these, a free row between two: all get the least, then one at a time in turn as long as they want.
fn heights(wants: &[u16], room: u16) -> Vec<u16> {
    let mut heights: Vec<u16> = wants.iter().map(|want| LEAST.min(*want)).collect();
    let gaps = wants.len().saturating_sub(1) as u16;
    let mut left = room.saturating_sub(heights.iter().sum::<u16>() + gaps);
    while left > 0 && heights.iter().zip(wants).any(|(has, want)| has < want) {
        for (has, want) in heights.iter_mut().zip(wants) {
            if *has < *want && left > 0 {
                *has += 1;
                left -= 1;
            }
        }
    }
    heights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_tables_leave_their_room_to_long_ones() {
        assert_eq!(heights(&[12, 3, 40], 30), [12, 3, 13]);
        assert_eq!(heights(&[5, 3], 60), [5, 3]);
        assert_eq!(heights(&[20, 20], 21), [10, 10]);
    }

    #[test]
    fn little_is_seen_and_nothing_is_blank() {
        assert_eq!([0.0, 0.001, 0.5, 1.0].map(|v| bar(v, 1.0)), [' ', '▁', '▄', '█']);
        assert_eq!(bar(0.0, 0.0), ' ');
    }
}
