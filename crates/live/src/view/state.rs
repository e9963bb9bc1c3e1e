//! What the user looks at: a moment, a table, its order, a filter, and what lies over it.

use super::overlay::Overlay;
use crate::figures::Figures;
use crate::model::Model;
use crate::tables::{Kind, Table};

/// The state of a view; it begins with the newest interval and the stages.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Colours are used.
    pub colour: bool,
    /// A capture is played again: time goes on by itself, but can be taken in steps as well.
    pub replay: bool,
    /// What was done last, or why it could not be.
    pub note: Option<String>,
    pub(super) focus: Kind,
    orders: [Option<Order>; Kind::ALL.len()],
    pub(super) filter: String,
    pub(super) typing: bool,
    /// The interval that is looked at, counted from the first that was seen; `None`: the newest.
    at: Option<usize>,
    pub(super) scroll: usize,
    pub(super) over: Overlay,
}

/// The column that a table is sorted by, and whether the lowest figures come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Order {
    pub column: usize,
    pub turned: bool,
}

impl View {
    /// Whether the view stands still.
    pub fn is_paused(&self) -> bool {
        self.at.is_some()
    }

    /// The interval that is shown; `None` where nothing was seen yet.
    pub fn figures<'a>(&self, model: &'a Model) -> Option<&'a Figures> {
        model.history().get(self.index(model)?)
    }

    /// Its place in the history; one that was forgotten is followed by the oldest.
    pub(super) fn index(&self, model: &Model) -> Option<usize> {
        let newest = model.history().len().checked_sub(1)?;
        let forgotten = model.seen() - model.history().len();
        Some(self.at.map_or(newest, |at| at.saturating_sub(forgotten).min(newest)))
    }

    /// Looks `by` intervals back or forth and stands there; `false` where there is none.
    pub(super) fn go(&mut self, by: isize, model: &Model) -> bool {
        let Some(index) = self.index(model) else { return false };
        let Some(to) = index.checked_add_signed(by).filter(|to| *to < model.history().len()) else {
            return false;
        };
        self.at = Some(model.seen() - model.history().len() + to);
        true
    }

    /// Stands at the oldest interval that is known.
    pub(super) fn go_to_oldest(&mut self, model: &Model) {
        self.at = (!model.history().is_empty()).then(|| model.seen() - model.history().len());
    }

    /// Follows the newest interval.
    pub fn follow(&mut self) {
        self.at = None;
    }

    pub(super) fn toggle_pause(&mut self, model: &Model) {
        if self.at.take().is_none() {
            self.go(0, model);
        }
    }

    pub(super) fn focus_on(&mut self, kind: Kind) {
        (self.focus, self.scroll) = (kind, 0);
    }

    /// The table `by` places further, the first after the last.
    pub(super) fn next_table(&mut self, by: isize) {
        let (at, all) = (self.focus as isize, Kind::ALL.len() as isize);
        self.focus_on(Kind::ALL[(at + by).rem_euclid(all) as usize]);
    }

    pub(super) fn order(&self, kind: Kind) -> Option<Order> {
        self.orders[kind as usize]
    }

    /// Sorts by the column `by` places further.
    pub(super) fn next_order(&mut self, by: isize) {
        let columns = self.focus.columns().len() as isize;
        let column = self.order(self.focus).map_or(0, |order| order.column as isize + by);
        let order = Order { column: column.rem_euclid(columns) as usize, turned: false };
        (self.orders[self.focus as usize], self.scroll) = (Some(order), 0);
    }

    pub(super) fn turn_order(&mut self) {
        let order = self.order(self.focus).unwrap_or(Order { column: 0, turned: false });
        let order = Order { turned: !order.turned, ..order };
        (self.orders[self.focus as usize], self.scroll) = (Some(order), 0);
    }

    /// A table as the user wants it: sorted, and filtered where it is the one in focus.
    pub(super) fn table(&self, kind: Kind, figures: &Figures) -> Table {
        let mut table = Table::of(kind, figures);
        if let Some(order) = self.order(kind) {
            table.sort(order.column, order.turned);
        }
        if !self.filter.is_empty() {
            table.filter(&self.filter);
        }
        table
    }
}
