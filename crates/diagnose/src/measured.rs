//! What the evidence answered, as numbers with their units: `wording` says the same in words.

use crate::answer::Figure;
use crate::facts::{FactBase, Family, Query, Reading, ResultKind, Value};
use crate::whole::{Whole, of_the_whole};
use crate::wording::whole;
use zwhy_zfs::{Unit, kstat_unit};

/// The figure that `wording::measure` puts into words.
pub fn figure(query: &Query, reading: &Reading, facts: &FactBase<'_>) -> Figure {
    let mut figure = Figure {
        question: query.text(),
        value: reading.value.number(),
        low: reading.interval.map(|interval| interval.low.0),
        high: reading.interval.map(|interval| interval.high.0),
        unit: unit(query, &reading.value).to_owned(),
        of: String::new(),
        text: match &reading.value {
            Value::Number(_) => None,
            Value::Text(text) => Some(text.clone()),
            Value::Truth(truth) => Some(if *truth { "yes" } else { "no" }.to_owned()),
        },
    };
    if let (Value::Number(share), ResultKind::Share) = (&reading.value, query.signature().result) {
        figure.of = whole(query, reading, facts);
        if let Some(counted) = of_the_whole(query, *share, reading, facts) {
            figure.of = Whole::of(facts).text.trim().to_owned();
            (figure.value, figure.low, figure.high) =
                (Some(counted.value), Some(counted.low), Some(counted.high));
        }
    }
    figure
}

fn unit(query: &Query, value: &Value) -> &'static str {
    let (row, asked) = (query.signature(), query.argument(0));
    match (value, row.family) {
        (Value::Text(_) | Value::Truth(_), _) => "",
        _ if row.result == ResultKind::Share => "share",
        (_, Family::Kstats) => match kstat_unit(asked, query.argument(1)) {
            Unit::Bytes => "bytes",
            Unit::Nanos => "ns",
            Unit::Count => "",
        },
        (_, Family::Facts) if asked.ends_with("_pct") => "percent",
        (_, Family::Facts) if asked.ends_with("_bytes") => "bytes",
        _ => "",
    }
}
