//! What lies over the tables: the help, a whole answer that can be scrolled, a flame graph, or histograms of latencies.

use super::flame::{Flame, Walk};
use super::latency;
use crate::latency::Latencies;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::widgets::{Clear, Widget};
use zwhy_diagnose::Answer;

/// What the keys do, and behind an empty line what figures are of: a name, two blanks or more, and words.
const HELP: &str = include_str!("help.txt");

#[derive(Clone, Debug, Default)]
pub(super) enum Overlay {
    #[default]
    None,
    Help {
        scroll: usize,
    },
    Answer {
        answer: Box<Answer>,
        scroll: usize,
    },
    Flame(Box<Flame>),
    /// Of the pool or vdev at this place.
    Latency {
        place: usize,
        scroll: usize,
    },
}

impl Overlay {
    pub(super) fn walk(&mut self, to: Walk) {
        match (self, to) {
            (Overlay::Flame(flame), _) => flame.walk(to),
            (Overlay::Latency { place, .. }, Walk::Before) => *place = place.saturating_sub(1),
            (Overlay::Latency { place, .. }, Walk::After) => *place += 1,
            _ => {}
        }
    }

    pub(super) fn scroll(&mut self, by: isize) {
        if let Overlay::Answer { scroll, .. } | Overlay::Help { scroll } | Overlay::Latency { scroll, .. } =
            self
        {
            *scroll = scroll.saturating_add_signed(by);
        }
    }

    /// Draws it; scrolling ends at the last line.
    pub(super) fn draw(&mut self, latencies: &Latencies, area: Rect, buffer: &mut Buffer) {
        let (title, lines) = match self {
            Overlay::None => return,
            Overlay::Latency { place, scroll } => {
                return latency::draw(latencies, (place, scroll), area, buffer);
            }
            Overlay::Flame(flame) => return draw_flame(flame, area, buffer),
            Overlay::Help { .. } => ("Keys", help(usize::from(area.width.saturating_sub(2)))),
            Overlay::Answer { answer, .. } => {
                let style = zwhy_report::Style::PLAIN.wide(usize::from(area.width.saturating_sub(2)));
                let text = zwhy_report::answer_text(answer, false, "CAPTURE", style);
                ("Answer of the last seconds; f writes CAPTURE", text.lines().map(str::to_owned).collect())
            }
        };
        Clear.render(area, buffer);
        let room = usize::from(area.height.saturating_sub(1));
        let most = lines.len().saturating_sub(room);
        let (Overlay::Answer { scroll, .. } | Overlay::Help { scroll }) = self else { return };
        *scroll = (*scroll).min(most);
        let more = if most > *scroll { ", Down for more" } else { "" };
        let width = usize::from(area.width);
        draw_bar(&format!(" {title} (Esc closes{more})"), area, buffer);
        for (row, line) in lines.iter().skip(*scroll).take(room).enumerate() {
            let y = area.y + 1 + row as u16;
            buffer.set_stringn(area.x + 1, y, line, width.saturating_sub(1), Style::new());
        }
    }
}

pub(super) fn draw_bar(text: &str, area: Rect, buffer: &mut Buffer) {
    let bar = Style::new().add_modifier(Modifier::REVERSED);
    let width = usize::from(area.width);
    buffer.set_stringn(area.x, area.y, format!("{text:width$}"), width, bar);
}

fn draw_flame(flame: &Flame, area: Rect, buffer: &mut Buffer) {
    Clear.render(area, buffer);
    draw_bar(&format!(" {} (Esc closes)", flame.title()), area, buffer);
    flame.draw(Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area }, buffer);
}

fn help(width: usize) -> Vec<String> {
    /// Cells of the widest name of keys, and one more.
    const KEYS: usize = 22;
    let of_line = |line: &str| match line.split_once("  ") {
        Some((key, what)) => zwhy_report::labelled(key, KEYS, what.trim_start(), width),
        None => "\n".to_owned(),
    };
    let text: String = HELP.lines().map(of_line).collect();
    text.lines().map(str::to_owned).collect()
}
