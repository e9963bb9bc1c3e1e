//! The lines of a report whose parts are set apart by blank lines.

use crate::blocks::Line;

/// From the third blank line in a row on, what follows is no part of the report.
const MOST_BLANKS: usize = 2;

/// Each line that is not blank with the blank lines before it; ends where the report does. Blank
/// lines at the end are not told: they belong to what follows.
pub fn report_lines<'a>(lines: &'a [Line<'a>]) -> impl Iterator<Item = (usize, &'a Line<'a>)> {
    let mut lines = lines.iter();
    std::iter::from_fn(move || {
        let mut blanks = 0;
        loop {
            let line = lines.next()?;
            if !line.text.trim().is_empty() {
                return Some((blanks, line));
            }
            blanks += 1;
            if blanks > MOST_BLANKS {
                return None;
            }
        }
    })
}
