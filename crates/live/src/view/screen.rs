//! The whole screen: head, tables, what lies over them, and a last line with the moment and the keys.

use super::head::Head;
use super::panes::Panes;
use super::state::View;
use crate::figures::Figures;
use crate::model::Model;
use crate::times::clock;
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use zwhy_report::{cells, plain};

/// Fewer rows or columns show nothing of use.
const LEAST: (u16, u16) = (40, 12);

/// Draws the model as the view wants it; how far it is scrolled is brought back to what there is.
pub fn draw(frame: &mut Frame<'_>, model: &Model, view: &mut View) {
    let area = frame.area();
    let buffer = frame.buffer_mut();
    if area.width < LEAST.0 || area.height < LEAST.1 {
        let text = format!("needs {} × {} cells", LEAST.0, LEAST.1);
        buffer.set_stringn(area.x, area.y, text, usize::from(area.width), Style::new());
        return;
    }
    let body = Rect { height: area.height - 1, ..area };
    match view.figures(model) {
        Some(figures) => draw_body(model, view, figures, body, buffer),
        None => {
            let text = "waiting for the first interval";
            buffer.set_stringn(area.x, area.y, text, usize::from(area.width), Style::new());
        }
    }
    view.over.draw(&model.latency, body, buffer);
    draw_last(model, view, Rect { y: body.bottom(), height: 1, ..area }, buffer);
}

fn draw_body(model: &Model, view: &mut View, figures: &Figures, area: Rect, buffer: &mut Buffer) {
    let head = Head::of(model, view, figures, area);
    let height = head.height().min(area.height);
    head.draw(model, view, Rect { height, ..area }, buffer);
    // A free row where there is room for one.
    let top = if area.height >= 40 { height + 1 } else { height };
    let rest = Rect { y: area.y + top, height: area.height.saturating_sub(top), ..area };
    view.scroll = Panes { model, view, figures }.draw(rest, buffer);
}

fn draw_last(model: &Model, view: &View, area: Rect, buffer: &mut Buffer) {
    let width = usize::from(area.width);
    let bar = Style::new().add_modifier(Modifier::REVERSED);
    let left = moment(model, view);
    let right = match (&view.note, view.typing) {
        (Some(note), _) => plain(note).into_owned(),
        (None, true) => format!("filter: {}_ (Enter, Esc)", plain(&view.filter)),
        (None, false) => keys(width.saturating_sub(cells(&left) + 2)),
    };
    buffer.set_stringn(area.x, area.y, " ".repeat(width), width, bar);
    let (x, _) = buffer.set_stringn(area.x, area.y, &left, width, bar);
    let room = usize::from(area.right().saturating_sub(x + 2));
    buffer.set_stringn(area.right() - cells(&right).min(room) as u16, area.y, &right, room, bar);
}

/// The keys that fit; help and quit are the last to go.
fn keys(room: usize) -> String {
    const KEYS: [&str; 7] =
        ["< > sort", "f freeze", "/ filter", "Space pause", "Tab table", "? help", "q quit"];
    let fits = |from: &usize| cells(&KEYS[*from..].join("  ")) <= room;
    (0..KEYS.len()).find(fits).map_or_else(String::new, |from| KEYS[from..].join("  "))
}

/// Which moment is shown, and how long ago it was.
fn moment(model: &Model, view: &View) -> String {
    let (Some(figures), Some(newest)) = (view.figures(model), model.history().back()) else {
        return String::new();
    };
    let time = figures.unix_s.map_or_else(|| format!("{:.0} s", figures.at_s), clock);
    let ago = newest.at_s - figures.at_s;
    match (view.is_paused(), ago >= 0.5) {
        (false, _) => time,
        (true, false) => format!("{time} PAUSED"),
        (true, true) => format!("{time} PAUSED -{ago:.0} s"),
    }
}
