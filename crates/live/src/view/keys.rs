//! Keys as in htop and less, and what they ask of whoever owns the terminal.

use super::flame::{Flame, Walk};
use super::overlay::Overlay;
use super::state::View;
use crate::figures::Figures;
use crate::latency::NO_HISTOGRAMS;
use crate::model::{Model, VERDICT_SPAN};
use crate::tables::Kind;
use crate::verdict::Verdict;
use std::time::Duration;

/// A key that was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Char(char),
    Enter,
    Escape,
    Backspace,
    Tab,
    BackTab,
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
    /// Ctrl-C.
    Interrupt,
}

/// What only the owner of the terminal and of the recorder can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    Nothing,
    Quit,
    /// Write the last minute before this moment to a capture.
    Freeze(Duration),
    /// Play the next interval of a capture at once.
    Step,
    /// Play a capture to its end at once.
    ToEnd,
}

/// Rows of a page.
const PAGE: usize = 10;
/// Characters of a filter.
const MOST_FILTER: usize = 64;

impl View {
    /// Takes a key; what the view cannot do itself is returned.
    pub fn press(&mut self, key: Key, model: &Model) -> Asked {
        self.note = None;
        match key {
            Key::Interrupt => Asked::Quit,
            _ if self.typing => self.typed(key),
            _ if !matches!(self.over, Overlay::None) => self.press_over(key),
            _ => self.press_on(key, model),
        }
    }

    fn typed(&mut self, key: Key) -> Asked {
        match key {
            Key::Char(c) if !c.is_control() && self.filter.chars().count() < MOST_FILTER => {
                self.filter.push(c);
            }
            Key::Backspace => {
                self.filter.pop();
            }
            Key::Escape => {
                self.filter.clear();
                self.typing = false;
            }
            Key::Enter => self.typing = false,
            _ => {}
        }
        self.scroll = 0;
        Asked::Nothing
    }

    fn press_over(&mut self, key: Key) -> Asked {
        match key {
            Key::Up | Key::Char('k') => {
                self.over.scroll(-1);
                self.over.walk(Walk::Caller);
            }
            Key::Down | Key::Char('j') => {
                self.over.scroll(1);
                self.over.walk(Walk::Called);
            }
            Key::PageUp => self.over.scroll(-(PAGE as isize)),
            Key::PageDown | Key::Char(' ') => self.over.scroll(PAGE as isize),
            Key::Home => self.over.scroll(isize::MIN),
            Key::Enter if matches!(self.over, Overlay::Flame(_)) => self.over.walk(Walk::In),
            Key::Left => self.over.walk(Walk::Before),
            Key::Right => self.over.walk(Walk::After),
            Key::Backspace => self.over.walk(Walk::Out),
            Key::Escape | Key::Enter | Key::Char('q' | 'e' | 'F' | 'w' | '?' | 'h') => {
                self.over = Overlay::None
            }
            _ => {}
        }
        Asked::Nothing
    }

    fn press_on(&mut self, key: Key, model: &Model) -> Asked {
        match key {
            Key::Char('q') => return Asked::Quit,
            Key::Char('?' | 'h') => self.over = Overlay::Help { scroll: 0 },
            Key::Char('e') => self.explain(model),
            Key::Char('F') => self.show_flame(model),
            Key::Char('w') => self.show_latency(),
            Key::Char('f') => {
                if let Some(end) = self.shown_end(model) {
                    return Asked::Freeze(end);
                }
            }
            Key::Char('/') => self.typing = true,
            Key::Escape => self.filter.clear(),
            Key::Char(' ') => self.toggle_pause(model),
            Key::Left => self.back(1, model),
            Key::Char('[') => self.back(10, model),
            Key::Right => return self.forth(1, model),
            Key::Char(']') => return self.forth(10, model),
            Key::Home => self.go_to_oldest(model),
            Key::End | Key::Char('G') => {
                self.follow();
                return if self.replay { Asked::ToEnd } else { Asked::Nothing };
            }
            key => self.press_on_table(key),
        }
        Asked::Nothing
    }

    fn press_on_table(&mut self, key: Key) {
        match key {
            Key::Tab => self.next_table(1),
            Key::BackTab => self.next_table(-1),
            Key::Char(c @ '1'..='7') => self.focus_on(Kind::ALL[c as usize - '1' as usize]),
            Key::Char('<' | ',') => self.next_order(-1),
            Key::Char('>' | '.') => self.next_order(1),
            Key::Char('r') => self.turn_order(),
            Key::Up | Key::Char('k') => self.scroll = self.scroll.saturating_sub(1),
            Key::Down | Key::Char('j') => self.scroll += 1,
            Key::PageUp => self.scroll = self.scroll.saturating_sub(PAGE),
            Key::PageDown => self.scroll += PAGE,
            _ => {}
        }
    }

    fn back(&mut self, by: isize, model: &Model) {
        if !self.go(-by, model) {
            self.go_to_oldest(model);
        }
    }

    /// At the newest interval time goes on, as it does by itself on a host.
    fn forth(&mut self, by: isize, model: &Model) -> Asked {
        if self.go(by, model) {
            return Asked::Nothing;
        }
        let left = self.index(model).map_or(0, |index| model.history().len() - 1 - index);
        match (left, self.replay) {
            (0, true) => return Asked::Step,
            (0, false) => self.follow(),
            _ => drop(self.go(left as isize, model)),
        }
        Asked::Nothing
    }

    fn explain(&mut self, model: &Model) {
        let Some(end) = self.shown_end(model) else { return };
        match model.explain(VERDICT_SPAN, end) {
            Some(Verdict { answer, .. }) => {
                self.over = Overlay::Answer { answer: Box::new(answer), scroll: 0 }
            }
            None => self.note("only the last minute can be explained"),
        }
    }

    /// The end of the shown interval; notes where there is none.
    fn shown_end(&mut self, model: &Model) -> Option<Duration> {
        // In figures it is in seconds: a microsecond more than it was rounded by.
        let end = |figures: &Figures| Duration::try_from_secs_f64(figures.at_s + 1e-6).unwrap_or_default();
        let shown = self.figures(model).map(end);
        if shown.is_none() {
            self.note("nothing was seen yet");
        }
        shown
    }

    fn note(&mut self, text: &str) {
        self.note = Some(text.to_owned());
    }

    /// Shows how long requests of vdevs take, from now on: that is read while it is looked at.
    pub fn show_latency(&mut self) {
        if self.replay {
            return self.note(&format!("missing: {NO_HISTOGRAMS}"));
        }
        self.follow();
        self.over = Overlay::Latency { place: 0, scroll: 0 };
    }

    /// Whether latencies are looked at.
    pub fn wants_latency(&self) -> bool {
        matches!(self.over, Overlay::Latency { .. })
    }

    fn show_flame(&mut self, model: &Model) {
        let Some(end) = self.shown_end(model) else { return };
        let shown = model.flame(VERDICT_SPAN, end);
        match shown.map(|(tree, seconds)| Flame::of(&tree, seconds, self.colour)) {
            Some(Some(flame)) => self.over = Overlay::Flame(Box::new(flame)),
            Some(None) => self.note("no CPU sample was taken in these seconds"),
            None => self.note("only the last minute has stacks"),
        }
    }
}
