//! Functions by self and total samples, as text and JSON.

use crate::figures::grouped;
use crate::layout::{Align, Grid};
use crate::style::Style;
use zwhy_profile::{FunctionTotals, Profile, Share};

/// A table of at most `width` cells: self %, self, total %, total, module, function.
pub fn functions_text(profile: &Profile, totals: &FunctionTotals, width: usize, style: Style) -> String {
    let percent = |part| format!("{:.1} %", Share::of(part, totals.samples).percent());
    let mut grid =
        Grid::new(0, &[Align::Right, Align::Right, Align::Right, Align::Right, Align::Left, Align::Left]);
    grid.header(["self", "samples", "total", "samples", "module", "function"]);
    for r in &totals.rows {
        let (module, function) = (profile.strings.get(r.module), profile.strings.get(r.function));
        grid.row([&percent(r.own), &grouped(r.own), &percent(r.total), &grouped(r.total), module, function]);
    }
    let mut lines = grid.lines(width);
    lines[0] = style.bold(&lines[0]);
    format!("{} samples\n{}\n", grouped(totals.samples), lines.join("\n"))
}

/// `{samples, functions: [{function, module, self, total}]}`.
pub fn functions_json(profile: &Profile, totals: &FunctionTotals) -> serde_json::Result<String> {
    let rows: Vec<_> = totals
        .rows
        .iter()
        .map(|r| {
            serde_json::json!({
                "function": profile.strings.get(r.function),
                "module": profile.strings.get(r.module),
                "kind": r.kind.name(),
                "self": r.own,
                "total": r.total,
            })
        })
        .collect();
    let value = serde_json::json!({ "samples": totals.samples, "functions": rows });
    serde_json::to_string_pretty(&value).map(|s| s + "\n")
}
