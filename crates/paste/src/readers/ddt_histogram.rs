//! The histogram of a dedup table by reference count, as `zpool status -D`, `zdb -DD` and `zdb -S` print it.
//!
//! Sizes stay as printed; the row `Total` is left in, as its tool prints it.

use crate::blocks::Sink;
use crate::cells::{self, is_rule};
use zwhy_evidence::OriginId;

pub const COLUMNS: [&str; 9] =
    ["refcnt", "blocks", "lsize", "psize", "dsize", "ref blocks", "ref lsize", "ref psize", "ref dsize"];

/// Rows that were read so far.
#[derive(Default)]
pub struct DdtHistogram {
    rows: Vec<Vec<String>>,
}

impl DdtHistogram {
    /// Takes a heading or a row; `false` for any other line.
    pub fn line(&mut self, text: &str) -> bool {
        let words: Vec<&str> = text.split_whitespace().take(12).collect();
        if matches!(words.first(), Some(&"bucket" | &"refcnt")) || is_rule(text) {
            return true;
        }
        let row = words.len() == 9 && words[1..].iter().all(|w| w.starts_with(|c: char| c.is_ascii_digit()));
        if row {
            self.rows.push(cells::names(&words));
        }
        row
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Hands the table over under the name of its tool.
    pub fn finish(self, tool: &str, origin: OriginId, sink: &mut Sink) {
        if !self.rows.is_empty() {
            cells::table(sink, tool, cells::names(&COLUMNS), self.rows, origin);
        }
    }
}

/// The line above a histogram that stands by itself: `DDT histogram (aggregated over all DDTs):`,
/// `Simulated DDT histogram:`, `bucket  allocated  referenced`.
pub fn is_start(text: &str) -> bool {
    let text = text.trim();
    text.starts_with("DDT histogram (")
        || text.starts_with("Simulated DDT histogram:")
        || text.split_whitespace().eq(["bucket", "allocated", "referenced"])
}
