//! What lies over the tables: the help, a whole answer that can be scrolled, a flame graph, or histograms of latencies.

use super::flame::{Flame, Walk};
use super::latency;
use crate::latency::Latencies;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::widgets::{Clear, Widget};
use zwhy_diagnose::Answer;

/// What the keys do, as the help shows it.
const HELP: [(&str, &str); 15] = [
    ("Tab, 1 to 7", "next table; a table by its number"),
    ("< >", "sort by another column"),
    ("r", "turn the order round"),
    ("/", "show rows whose name holds a text; Esc clears it"),
    ("Up, Down, PgUp, PgDn", "scroll"),
    ("Space", "stand still; go on with the newest interval"),
    ("Left, Right", "one interval back, one forth"),
    ("[ ]", "ten intervals back, ten forth"),
    ("Home, End", "the oldest interval that is kept; the newest"),
    ("f", "freeze: write the last minute before the shown moment to a capture"),
    ("e", "explain: the whole answer of the last 10 seconds before the shown moment"),
    ("F", "flame graph of these seconds: arrows walk, Enter zooms in, Backspace out"),
    ("w", "latency histograms of pools and vdevs, as zpool iostat -w: Left, Right choose one"),
    ("? or h", "this help"),
    ("q, Ctrl-C", "quit"),
];

#[derive(Clone, Debug)]
pub(super) enum Overlay {
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
    pub(super) fn answer(answer: Answer) -> Overlay {
        Overlay::Answer { answer: Box::new(answer), scroll: 0 }
    }

    pub(super) fn walk(&mut self, to: Walk) {
        match (self, to) {
            (Overlay::Flame(flame), _) => flame.walk(to),
            (Overlay::Latency { place, .. }, Walk::Before) => *place = place.saturating_sub(1),
            (Overlay::Latency { place, .. }, Walk::After) => *place += 1,
            _ => {}
        }
    }

    /// Arrows walk in it.
    pub(super) fn is_walked(&self) -> bool {
        matches!(self, Overlay::Flame(_))
    }

    pub(super) fn is_latency(&self) -> bool {
        matches!(self, Overlay::Latency { .. })
    }

    pub(super) fn is_open(&self) -> bool {
        !matches!(self, Overlay::None)
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
    let key = |(key, what): &(&str, &str)| zwhy_report::labelled(key, KEYS, what, width);
    let unit = |(what, of): &(&str, &str)| zwhy_report::labelled(what, KEYS, of, width);
    let text: String = HELP.iter().map(key).chain(["\n".to_owned()]).chain(UNITS.iter().map(unit)).collect();
    text.lines().map(str::to_owned).collect()
}

/// Cells of the widest name of keys, and one more.
const KEYS: usize = 22;

/// What figures are of.
const UNITS: [(&str, &str); 6] = [
    ("Stages", "part of all CPU time that the host had"),
    ("Threads, Processes", "of one CPU; reads and writes by system calls"),
    ("Datasets", "what programs read and wrote"),
    ("Disks", "below the pool: mean time of a request in ms, mean number of requests in the queue"),
    ("Pools", "times of the newest synced transaction group, its dirty data of zfs_dirty_data_max"),
    ("Latencies", "upper ends of the buckets that hold p50, p90, p99 and the slowest request"),
];
