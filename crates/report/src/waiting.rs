//! Where threads wait, on a terminal: apart from CPU time, idle threads in one line.

use crate::figures::grouped;
use crate::layout::{Align, Grid, labelled};
use crate::style::Style;
use zwhy_diagnose::{Answer, WaitRow};

const SHOWN: usize = 3;
const SHOWN_IN_FULL: usize = 20;

/// Nothing when no waiting was recorded.
pub(crate) fn waiting(answer: &Answer, verbose: bool, style: Style) -> String {
    if answer.waiting.is_empty() {
        return String::new();
    }
    let (idle, rows): (Vec<&WaitRow>, Vec<&WaitRow>) = answer.waiting.iter().partition(|r| r.idle);
    let mut out = String::new();
    if !rows.is_empty() {
        let mut grid = Grid::new(2, &[Align::Left, Align::Right, Align::Left, Align::Left]);
        grid.header(["Waiting (not CPU)", "time", "thread", "stage"]);
        let limit = if verbose { SHOWN_IN_FULL } else { SHOWN };
        for row in rows.iter().take(limit) {
            grid.row([row.inside.clone(), time(row), row.thread.clone(), row.stage.clone()]);
        }
        let mut lines = grid.lines(style.table());
        lines[0] = style.bold(&lines[0]);
        let rest = rows.len().saturating_sub(limit);
        if rest > 0 {
            let all = if verbose { "--json" } else { "-v" };
            lines.push(style.dim(&format!("  and {rest} more places of waiting ({all})")));
        }
        out = format!("\n{}\n", lines.join("\n"));
    }
    if !idle.is_empty() && (verbose || rows.is_empty()) {
        let mut names: Vec<&str> = idle.iter().map(|r| r.thread.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let text = format!("Waiting for work (idle): {}", names.join(", "));
        out.push_str(&format!("\n{}", labelled("", 2, &text, style.prose())));
    }
    out
}

fn time(row: &WaitRow) -> String {
    match row.wait_s {
        0.0 => format!("{} samples", grouped(row.samples)),
        s => format!("{s:.2} s"),
    }
}
