//! Values in the JSON of `zpool status`, and times as its text has them.

use serde_json::Value;

pub(crate) fn json_text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

pub(crate) fn json_number(value: &Value) -> u64 {
    value.as_u64().or_else(|| value.as_str()?.parse().ok()).unwrap_or(0)
}

/// `00:01:42`, `2 days 03:00:00`
pub(crate) fn clock(seconds: u64) -> String {
    let days = seconds / 86_400;
    let of_day = format!("{:02}:{:02}:{:02}", seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    if days > 0 { format!("{days} days {of_day}") } else { of_day }
}
