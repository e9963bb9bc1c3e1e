//! How long requests of a pool or vdev take, over the tables: its name, quantiles, and a bar for each bucket.

use super::overlay::draw_bar;
use crate::latency::{Latencies, lines};
use crate::text::span;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::widgets::{Clear, Widget};
use zwhy_report::{cut, labelled, plain};

/// Draws the vdev at a place, from a bucket on; both are brought back to what there is.
pub(super) fn draw(
    latencies: &Latencies,
    (place, scroll): (&mut usize, &mut usize),
    area: Rect,
    buffer: &mut Buffer,
) {
    Clear.render(area, buffer);
    *place = (*place).min(latencies.len().saturating_sub(1));
    let width = usize::from(area.width);
    let below = area.y + 1;
    let put = |y: u16, line: &str, style: Style, buffer: &mut Buffer| {
        if y < area.bottom() {
            buffer.set_stringn(area.x, y, line, width, style);
        }
    };
    let Some(row) = latencies.row(*place) else {
        draw_bar(" Latencies (Esc closes)", area, buffer);
        let text = latencies.missing().map_or_else(
            || "waiting for zpool iostat -w\n".to_owned(),
            |missing| labelled("missing:", 9, missing, width),
        );
        (below..).zip(text.lines()).for_each(|(y, line)| put(y, line, Style::new(), buffer));
        return;
    };
    let found = lines(&row, width);
    let head = found.head.len() as u16 + 2;
    let room = usize::from(area.height.saturating_sub(head));
    let most = found.buckets.len().saturating_sub(room);
    *scroll = (*scroll).min(most);
    let more = if most > *scroll { ", Down for more" } else { "" };
    let title =
        format!(" Latencies, {} of {}: Left, Right choose (Esc closes{more})", *place + 1, latencies.len());
    draw_bar(&title, area, buffer);
    // What it is of is told last, so that a long name leaves it its room.
    let of = format!("  {}", span(&row));
    let name = cut(&plain(&row.vdev.name), width.saturating_sub(zwhy_report::cells(&of)));
    let bold = Style::new().add_modifier(Modifier::BOLD);
    put(below, &format!("{name}{of}"), bold, buffer);
    let names = Style::new().add_modifier(Modifier::DIM);
    for (at, line) in found.head.iter().enumerate() {
        put(below + 1 + at as u16, line, if at < 2 { names } else { Style::new() }, buffer);
    }
    let buckets = found.buckets.iter().skip(*scroll).take(room);
    (area.y + head..).zip(buckets).for_each(|(y, line)| put(y, line, Style::new(), buffer));
    if found.buckets.is_empty() {
        put(area.y + head, "no request in this time", Style::new(), buffer);
    }
}
