//! The flame graph of the last seconds in cells: callers above, what they call below, as wide as their part of the CPU time.
//!
//! Invariants: a box lies within its caller's; one that is narrower than a cell is not drawn, but can be walked to and
//! zoomed into; names are harmless on a terminal.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use zwhy_flame::{FlameTree, Node, stage_colour};
use zwhy_report::plain;

#[derive(Clone, Debug)]
pub(super) struct Flame {
    boxes: Vec<FlameBox>,
    /// The box that is as wide as the screen.
    zoom: usize,
    /// The box that the first line tells of.
    at: usize,
    /// What it is of, in seconds.
    seconds: f64,
    colour: bool,
}

#[derive(Clone, Debug)]
struct FlameBox {
    name: String,
    module: String,
    stage: String,
    value: u64,
    parent: usize,
    level: u32,
    children: Vec<usize>,
}

/// Where to look next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Walk {
    Caller,
    Called,
    Before,
    After,
    In,
    Out,
}

impl Flame {
    /// `None` where there is no sample.
    pub(super) fn of(tree: &FlameTree, seconds: f64, colour: bool) -> Option<Flame> {
        let mut boxes: Vec<FlameBox> = Vec::new();
        // The box above, by level.
        let mut above: Vec<usize> = Vec::new();
        for Node { level, label, stage, value, .. } in tree.nodes() {
            let (name, module) = tree.label_text(label);
            let stage = tree.stages().get(usize::from(stage)).cloned().unwrap_or_default();
            above.truncate(level as usize);
            let (number, parent) = (boxes.len(), above.last().copied().unwrap_or(0));
            let [name, module] = [name, module].map(|text| plain(text).into_owned());
            boxes.push(FlameBox {
                name,
                module,
                stage,
                value: value[0],
                parent,
                level,
                children: Vec::new(),
            });
            if number > 0 {
                boxes[parent].children.push(number);
            }
            above.push(number);
        }
        let any = boxes.first().is_some_and(|root| root.value > 0);
        any.then_some(Flame { boxes, zoom: 0, at: 0, seconds, colour })
    }

    pub(super) fn walk(&mut self, to: Walk) {
        let here = &self.boxes[self.at];
        let beside = |by: isize| {
            let all = &self.boxes[here.parent].children;
            let place = all.iter().position(|number| *number == self.at)?;
            all.get(place.checked_add_signed(by)?).copied()
        };
        let widest = here.children.iter().copied().max_by_key(|number| self.boxes[*number].value);
        match to {
            Walk::Caller if self.at != self.zoom => self.at = here.parent,
            Walk::Called => self.at = widest.unwrap_or(self.at),
            Walk::Before if self.at != self.zoom => self.at = beside(-1).unwrap_or(self.at),
            Walk::After if self.at != self.zoom => self.at = beside(1).unwrap_or(self.at),
            Walk::In => self.zoom = self.at,
            Walk::Out => {
                self.zoom = self.boxes[self.zoom].parent;
                self.at = self.zoom;
            }
            Walk::Caller | Walk::Before | Walk::After => {}
        }
    }

    pub(super) fn title(&self) -> String {
        format!("CPU of {:.0} s: arrows walk, Enter zooms in, Backspace out", self.seconds)
    }

    /// Draws what is told of the chosen box, and the boxes from the zoomed one down, so far that the chosen one is seen.
    pub(super) fn draw(&self, area: Rect, buffer: &mut Buffer) {
        if area.height < 2 || area.width < 2 {
            return;
        }
        buffer.set_stringn(area.x, area.y, self.told(), usize::from(area.width), Style::new());
        let graph = Rect { y: area.y + 1, height: area.height - 1, ..area };
        let depth = self.boxes[self.at].level - self.boxes[self.zoom].level;
        let hidden = (depth + 1).saturating_sub(u32::from(graph.height));
        self.draw_box(self.zoom, (0, graph.width), hidden, graph, buffer);
    }

    /// The chosen box in words.
    fn told(&self) -> String {
        let FlameBox { name, module, stage, value, .. } = &self.boxes[self.at];
        let part = |of: usize| 100.0 * *value as f64 / self.boxes[of].value.max(1) as f64;
        let mut text = format!("{name}  {value} samples, {:.1} % of all", part(0));
        if self.zoom > 0 {
            text.push_str(&format!(", {:.1} % of {}", part(self.zoom), self.boxes[self.zoom].name));
        }
        for (label, word) in [("stage ", stage), ("module ", module)] {
            if !word.is_empty() {
                text.push_str(&format!(", {label}{word}"));
            }
        }
        text
    }

    /// A box in the cells `from..to` of the graph, and all that it calls.
    fn draw_box(&self, number: usize, (from, to): (u16, u16), hidden: u32, graph: Rect, buffer: &mut Buffer) {
        let this = &self.boxes[number];
        let row = (this.level - self.boxes[self.zoom].level).checked_sub(hidden);
        if row.is_some_and(|row| row >= u32::from(graph.height)) {
            return;
        }
        if let Some(row) = row {
            let width = usize::from(to - from);
            // The edge tells boxes of one colour, or of none, apart.
            let text = format!("{:width$}", format!("▏{}", this.name));
            let at = (graph.x + from, graph.y + row as u16);
            buffer.set_stringn(at.0, at.1, text, width, self.style(number));
        }
        let (mut done, cells) = (0, u128::from(to - from));
        let cell = |sum: u64| from + (u128::from(sum) * cells / u128::from(this.value.max(1))) as u16;
        for child in &this.children {
            let begin = cell(done);
            done += self.boxes[*child].value;
            let end = cell(done);
            if end > begin {
                self.draw_box(*child, (begin, end), hidden, graph, buffer);
            }
        }
    }

    fn style(&self, number: usize) -> Style {
        let chosen = number == self.at;
        let style = match colour(stage_colour(&self.boxes[number].stage)).filter(|_| self.colour) {
            Some(colour) => Style::new().bg(colour).fg(Color::Rgb(0x11, 0x11, 0x11)),
            None => Style::new(),
        };
        if chosen { style.add_modifier(Modifier::REVERSED | Modifier::BOLD) } else { style }
    }
}

/// `#rrggbb`.
fn colour(text: &str) -> Option<Color> {
    let channel = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    Some(Color::Rgb(channel(1)?, channel(3)?, channel(5)?))
}
