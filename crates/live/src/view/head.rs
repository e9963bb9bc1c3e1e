//! The top of the screen: the verdict, the host's figures in sentences, its CPU over time, and what is missing.

use super::state::View;
use crate::figures::Figures;
use crate::model::Model;
use crate::text::head_lines;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::widgets::{Sparkline, Widget};
use zwhy_report::labelled;

/// Cells of a label.
const LABEL: usize = 5;

/// Lines of the top with their styles; the CPU over time has none of them.
pub(super) struct Head {
    lines: Vec<(String, Style)>,
    /// Rows of the CPU over time, and the line before which they are.
    rows: u16,
    before: usize,
}

impl Head {
    /// What fits beside tables: on a low screen sentences are cut to their first lines.
    pub(super) fn of(model: &Model, view: &View, figures: &Figures, area: Rect) -> Head {
        let low = area.height < 40;
        let width = usize::from(area.width);
        let mut head = Head { lines: Vec::new(), rows: if low { 1 } else { 4 }, before: 0 };
        let bold = Style::new().add_modifier(Modifier::BOLD);
        match model.told(figures.at_s) {
            Some(told) => {
                head.put("WHY", &told.why, width, 3, bold);
                if let Some(act) = &told.act {
                    head.put("DO", act, width, if low { 1 } else { 2 }, Style::new());
                }
            }
            None => head.put("WHY", "not known yet: the first answer takes some seconds", width, 1, bold),
        }
        for sentence in model.missing.iter().take(if low { 1 } else { 4 }) {
            let warning = if view.colour { Style::new().fg(Color::Yellow) } else { Style::new() };
            head.put("missing:", sentence, width, if low { 1 } else { 2 }, warning);
        }
        head.before = head.lines.len() + 1;
        for (label, line) in head_lines(figures) {
            head.put(label, &line, width, 2, Style::new());
            if label == "CPU" {
                head.before = head.lines.len();
            }
        }
        head.before = head.before.min(head.lines.len());
        head
    }

    pub(super) fn height(&self) -> u16 {
        self.lines.len() as u16 + self.rows
    }

    fn put(&mut self, label: &str, text: &str, width: usize, most: usize, style: Style) {
        let text = labelled(label, LABEL.max(label.len() + 1), text, width);
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        if lines.len() > most {
            lines.truncate(most);
            if let Some(last) = lines.last_mut() {
                while zwhy_report::cells(last) + 2 > width && last.pop().is_some() {}
                last.push_str(" …");
            }
        }
        self.lines.extend(lines.into_iter().map(|line| (line, style)));
    }

    pub(super) fn draw(&self, model: &Model, view: &View, area: Rect, buffer: &mut Buffer) {
        let width = usize::from(area.width);
        for (at, (line, style)) in self.lines.iter().enumerate() {
            let y = area.y + at as u16 + if at >= self.before { self.rows } else { 0 };
            if y < area.bottom() {
                buffer.set_stringn(area.x, y, line, width, *style);
            }
        }
        let y = area.y + self.before as u16;
        let label = LABEL as u16;
        if area.width > label && y + self.rows <= area.bottom() {
            let chart = Rect { x: area.x + label, y, width: area.width - label, height: self.rows };
            draw_cpu(model, view, chart, buffer);
            buffer.set_stringn(area.x, y, "100%", LABEL, Style::new().add_modifier(Modifier::DIM));
        }
    }
}

/// How busy the CPUs were up to the shown moment, the newest at the right.
fn draw_cpu(model: &Model, view: &View, area: Rect, buffer: &mut Buffer) {
    let Some(shown) = view.index(model) else { return };
    let cells = usize::from(area.width);
    let busy = |f: &Figures| f.cpu.map(|cpu| ((1.0 - cpu.idle - cpu.iowait).clamp(0.0, 1.0) * 1000.0) as u64);
    let first = (shown + 1).saturating_sub(cells);
    let mut data: Vec<Option<u64>> = vec![None; cells.saturating_sub(shown + 1 - first)];
    data.extend(model.history().range(first..=shown).map(busy));
    let style = if view.colour { Style::new().fg(Color::Cyan) } else { Style::new() };
    Sparkline::default().data(data).max(1000).style(style).absent_value_symbol(" ").render(area, buffer);
}
