//! Functions by self and total samples, as text and JSON.

use crate::figures::grouped;
use crate::layout::{Align, Grid};
use crate::style::Style;
use zwhy_profile::{FunctionTotals, Profile, Share, Unit};

/// A table of at most `width` cells: self %, self, total %, total, module, function.
pub fn functions_text(profile: &Profile, totals: &FunctionTotals, width: usize, style: Style) -> String {
    let percent = |part| format!("{:.1} %", Share::of(part, totals.samples).percent());
    let mut grid =
        Grid::new(0, &[Align::Right, Align::Right, Align::Right, Align::Right, Align::Left, Align::Left])
            .about(5);
    let unit = profile.measure(totals.event).unit.clone();
    let samples = unit == Unit::Samples;
    let column = match &unit {
        Unit::Nanos => "time",
        unit => unit.name(),
    };
    let amount = |n| if unit == Unit::Nanos { unit.words(n) } else { grouped(n) };
    grid.header(["self", column, "total", column, "module", "function"]);
    for r in &totals.rows {
        let (module, function) = (profile.strings.get(r.module), profile.strings.get(r.function));
        grid.row([&percent(r.own), &amount(r.own), &percent(r.total), &amount(r.total), module, function]);
    }
    let mut lines = grid.lines(width);
    lines[0] = style.bold(&lines[0]);
    let sampling = profile.sampling(totals.event);
    let of = match (samples, sampling.counted) {
        (true, _) => String::new(),
        (false, true) => format!(" in {} samples", grouped(sampling.samples)),
        (false, false) => " in an unknown number of samples".to_owned(),
    };
    format!("{}{of}\n{}\n", unit.words(totals.samples), lines.join("\n"))
}

/// `{samples, amount, unit, functions: [{function, module, self, total}]}`, amounts in `unit`.
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
    let sampling = profile.sampling(totals.event);
    let value = serde_json::json!({
        "samples": sampling.counted.then_some(sampling.samples),
        "amount": totals.samples,
        "unit": profile.measure(totals.event).unit.name(),
        "functions": rows,
    });
    serde_json::to_string_pretty(&value).map(|s| s + "\n")
}
