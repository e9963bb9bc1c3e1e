//! Where threads wait, on a terminal: apart from CPU time.

use crate::figures::grouped;
use crate::layout::{Align, Grid, titled};
use crate::style::Style;
use zwhy_diagnose::{Answer, WaitRow};

const SHOWN: usize = 3;
const SHOWN_IN_FULL: usize = 20;

/// Nothing when no waiting was recorded.
pub(crate) fn waiting(answer: &Answer, verbose: bool, style: Style) -> String {
    if answer.waiting.is_empty() {
        return String::new();
    }
    let rows = &answer.waiting;
    let mut grid = Grid::new(2, &[Align::Left, Align::Right, Align::Left, Align::Left]);
    grid.header(["Waiting (not CPU)", "time", "thread", "waits for"]);
    let limit = if verbose { SHOWN_IN_FULL } else { SHOWN };
    for row in rows.iter().take(limit) {
        grid.row([row.inside.clone(), time(row), row.thread.clone(), waits_for(row, verbose)]);
    }
    let mut lines = grid.lines(style.table());
    let rest = rows.len().saturating_sub(limit);
    if rest > 0 {
        let all = if verbose { "--json" } else { "-v" };
        lines.push(style.dim(&format!("  and {rest} more places of waiting ({all})")));
    }
    titled(lines, "", style)
}

/// `disk reads: disk sda`; in full with the stage.
fn waits_for(row: &WaitRow, verbose: bool) -> String {
    let on = if row.on.is_empty() { String::new() } else { format!(": {}", row.on) };
    let stage = if verbose && !row.stage.is_empty() { format!(" ({})", row.stage) } else { String::new() };
    format!("{}{on}{stage}", row.waits_for)
}

fn time(row: &WaitRow) -> String {
    match row.wait_s {
        0.0 => format!("{} samples", grouped(row.samples)),
        s => format!("{s:.2} s"),
    }
}
