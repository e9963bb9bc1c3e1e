//! Single JSON values as the text or number that evidence wants, or nothing.

use crate::text::numbers;
use serde_json::Value;

/// Text of a string, number or boolean; nested values become compact JSON; null is nothing.
pub fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// A string that says something.
pub fn name(value: &Value) -> Option<String> {
    value.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// A number, or a string with one: decimal commas, thousands separators, `K`/`M`/`G` suffixes.
pub fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(n) => n.as_f64().filter(|v| v.is_finite()),
        Value::String(text) => numbers::scaled(text),
        _ => None,
    }
}

/// A percentage between 0 and `most`.
pub fn percent(value: &Value, most: f64) -> Option<f64> {
    let value = match value {
        Value::Number(n) => n.as_f64()?,
        Value::String(text) => {
            let text = text.trim();
            numbers::decimal(text.strip_suffix('%').unwrap_or(text))?
        }
        _ => return None,
    };
    (0.0..=most).contains(&value).then_some(value)
}

/// A name without the unit of size that people put at its end (`c_mb`, `zfs_arc_min_gb`), and the bytes of
/// that unit. OpenZFS ends no name of a size so; its `_ms` and `_pct` are of the names themselves.
pub fn in_bytes(name: &str) -> (&str, f64) {
    const UNITS: [(&str, i32); 8] =
        [("_kb", 1), ("_kib", 1), ("_mb", 2), ("_mib", 2), ("_gb", 3), ("_gib", 3), ("_tb", 4), ("_tib", 4)];
    let found = UNITS.iter().find_map(|(unit, power)| Some((name.strip_suffix(unit)?, *power)));
    match found.filter(|(short, _)| !short.is_empty()) {
        Some((short, power)) => (short, 1024f64.powi(power)),
        None => (name, 1.0),
    }
}
