//! Work on one disk that `zpool status -ti` tells of: a trim, or the writing of all free space (`zpool initialize`).
//!
//! Layout: `print_status_trim` and `print_status_initialize` of cmd/zpool/zpool_main.c write behind the row of a disk
//! `(12% trimmed, started at Sun Nov 22 14:00:00 2026)`; 2.3 has the same in bytes and seconds of the Unix clock with
//! `-jp`. Times of the text are those of the time zone that the tool was run in, here always UTC.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Work that is under way on a disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct VdevWork {
    /// Per cent of the space that is done.
    pub done_pct: u64,
    /// Seconds that the rest will take at the mean speed so far; none before there is a speed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_s: Option<u64>,
}

/// The names of one kind of work, as text and as JSON.
struct Kind {
    word: &'static str,
    state: &'static str,
    done: &'static str,
    all: &'static str,
    begin: &'static str,
}

const TRIM: Kind =
    Kind { word: "trimmed", state: "trim_state", done: "trimmed", all: "to_trim", begin: "trim_time" };
const INITIALIZE: Kind = Kind {
    word: "initialized",
    state: "init_state",
    done: "initialized",
    all: "to_initialize",
    begin: "init_time",
};

/// Trim and initialisation of a disk, from the row of `zpool status -ti`; `now_s` is when it was printed.
pub(crate) fn of_row(row: &str, now_s: Option<u64>) -> [Option<VdevWork>; 2] {
    [TRIM, INITIALIZE].map(|kind| {
        let (before, after) = row.split_once(&format!("% {}, started at ", kind.word))?;
        let done_pct = before.rsplit('(').next()?.trim().parse::<u64>().ok().filter(|pct| *pct <= 100)?;
        let spent =
            now_s.zip(unix_time(after.split(')').next()?)).and_then(|(now, begin)| now.checked_sub(begin));
        Some(VdevWork { done_pct, left_s: spent.and_then(|spent| rest(spent, done_pct, 100)) })
    })
}

/// The same from the JSON of a disk.
pub(crate) fn of_json(vdev: &Value, now_s: u64) -> [Option<VdevWork>; 2] {
    [TRIM, INITIALIZE].map(|kind| {
        let number = |name: &str| vdev[name].as_u64().or_else(|| vdev[name].as_str()?.parse().ok());
        vdev[kind.state].as_str().filter(|state| *state == "ACTIVE")?;
        let (done, all) = (number(kind.done)?, number(kind.all)?);
        let begin = number(kind.begin).filter(|begin| *begin > 0);
        let spent = begin.and_then(|begin| now_s.checked_sub(begin));
        let done_pct = (done as f64 / all.max(1) as f64 * 100.0).min(100.0) as u64;
        Some(VdevWork { done_pct, left_s: spent.and_then(|spent| rest(spent, done, all)) })
    })
}

/// Seconds for the rest of `all` when `done` took `spent`.
fn rest(spent: u64, done: u64, all: u64) -> Option<u64> {
    let left = all.saturating_sub(done) as f64;
    (spent > 0 && done > 0).then(|| (spent as f64 * left / done as f64) as u64)
}

/// `Sun Nov 22 14:00:00 2026` of ctime(3) in UTC, as seconds of the Unix clock.
fn unix_time(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let words: Vec<&str> = text.split_whitespace().collect();
    let [_, month, day, clock, year] = words.as_slice() else { return None };
    let month = MONTHS.iter().position(|m| m == month)? as u64;
    let (day, year) = (day.parse::<u64>().ok()?, year.parse::<u64>().ok()?);
    let clock: Vec<u64> = clock.split(':').map(|n| n.parse().ok()).collect::<Option<_>>()?;
    let [hours, minutes, seconds] = clock.as_slice() else { return None };
    if !(1970..10_000).contains(&year)
        || !(1..=31).contains(&day)
        || *hours > 23
        || *minutes > 59
        || *seconds > 60
    {
        return None;
    }
    // Days since 1970, in years that begin in March, so that a leap day is the last of its year (Howard Hinnant,
    // "chrono-Compatible Low-Level Date Algorithms").
    let (year, month) = if month < 2 { (year - 1, month + 10) } else { (year, month - 2) };
    let of_years = year * 365 + year / 4 - year / 100 + year / 400;
    let days = of_years + (153 * month + 2) / 5 + day - 1 - 719_468;
    Some(days * 86_400 + hours * 3600 + minutes * 60 + seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_row_of_a_disk_says_how_far_it_is() {
        let begin = 1_795_356_000;
        assert_eq!(unix_time("Sun Nov 22 14:00:00 2026"), Some(begin));
        assert_eq!(unix_time("Thu Jan  1 00:00:09 1970"), Some(9));
        assert_eq!(unix_time("Thu Feb 29 00:00:00 2024"), Some(1_709_164_800));
        let row = "    sda  ONLINE  0 0 0  (25% trimmed, started at Sun Nov 22 14:00:00 2026)";
        let work = VdevWork { done_pct: 25, left_s: Some(300) };
        assert_eq!(of_row(row, Some(begin + 100)), [Some(work), None]);
        assert_eq!(of_row(row, None), [Some(VdevWork { left_s: None, ..work }), None]);
        let row =
            "    sda  ONLINE  0 0 0  (untrimmed)  (50% initialized, started at Sun Nov 22 14:00:00 2026)";
        let [trim, initialize] = of_row(row, Some(begin + 60));
        assert_eq!((trim, initialize), (None, Some(VdevWork { done_pct: 50, left_s: Some(60) })));
    }

    #[test]
    fn what_ended_or_was_suspended_is_not_under_way() {
        for note in [
            "(100% trimmed, completed at Sun Nov 22 14:00:00 2026)",
            "(12% trimmed, suspended, started at Sun Nov 22 14:00:00 2026)",
            "(untrimmed)",
            "(trim unsupported)",
            "(x% trimmed, started at y)",
        ] {
            assert_eq!(of_row(&format!("sda ONLINE 0 0 0 {note}"), Some(u64::MAX)), [None, None], "{note}");
        }
    }

    #[test]
    fn json_has_bytes_and_the_time_of_the_start() {
        let vdev = serde_json::json!({
            "trim_state": "ACTIVE", "trimmed": "1000", "to_trim": "4000", "trim_time": "100",
            "init_state": "SUSPENDED", "initialized": "5", "to_initialize": "10", "init_time": "1",
        });
        assert_eq!(of_json(&vdev, 160), [Some(VdevWork { done_pct: 25, left_s: Some(180) }), None]);
        assert_eq!(of_json(&Value::Null, 160), [None, None]);
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "[ -~]{0,80}", pct in 0u64.., time in "[A-Z][a-z]{2} [A-Z][a-z]{2} [0-9]{1,9} [0-9:]{1,9} [0-9]{1,9}") {
            let _ = of_row(&text, Some(u64::MAX));
            let _ = of_row(&format!("({pct}% trimmed, started at {time})"), Some(u64::MAX));
        }
    }
}
