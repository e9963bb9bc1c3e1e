//! Work of pools in the background, from what `zpool status` and the pool's properties said when recording began.

use super::BackgroundWork;
use crate::facts::FactBase;

/// Scans that are under way, and space that is being freed.
pub(super) fn background(facts: &FactBase<'_>) -> Vec<BackgroundWork> {
    let mut rows = Vec::new();
    for pool in facts.evidence.facts.pools.iter().flatten() {
        let name = pool.name.clone().unwrap_or_default();
        rows.extend(pool.scan.as_deref().and_then(|scan| under_way(scan, &name)));
        let freeing = pool.properties.as_ref().and_then(|p| p.get("freeing")?.parse::<f64>().ok());
        if let Some(bytes) = freeing.filter(|bytes| *bytes > 0.0) {
            let work = "freeing of destroyed data".to_owned();
            rows.push(BackgroundWork {
                work,
                pool: name,
                left_bytes: Some(bytes),
                ..BackgroundWork::default()
            });
        }
    }
    rows
}

/// `scrub in progress, 12.3 % done, 00:10:00 to go`, or as `zpool status` prints it.
fn under_way(scan: &str, pool: &str) -> Option<BackgroundWork> {
    let (work, rest) = scan.split_once(" in progress")?;
    let before =
        |mark: &str| rest.split_once(mark).map(|(before, _)| before.trim_end().trim_end_matches('%'));
    let last_word = |text: &str| text.trim_end().rsplit([' ', ',']).next().map(str::to_owned);
    let done = before("done").and_then(last_word).and_then(|n| n.parse::<f64>().ok());
    Some(BackgroundWork {
        work: work.trim().to_owned(),
        pool: pool.to_owned(),
        done: done.filter(|n| n.is_finite()).map(|percent| (percent / 100.0).clamp(0.0, 1.0)),
        left_bytes: None,
        left_s: before("to go").and_then(|text| seconds(text.rsplit(',').next()?)),
    })
}

/// `90 s`, `25 min`, `3 h`, `4 days`.
pub(super) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.0} h", s / 3600.0),
        s => format!("{:.0} days", s / 86_400.0),
    }
}

/// `00:01:42`, `2 days 03:00:00`, `10h30m`.
fn seconds(text: &str) -> Option<f64> {
    let (days, clock) = match text.trim().split_once(" days ") {
        Some((days, clock)) => (days.trim().parse::<f64>().ok()?, clock),
        None => (0.0, text.trim()),
    };
    let parts = clock.trim_end_matches('m').split([':', 'h']).map(|n| n.parse::<f64>().ok());
    let parts: Vec<f64> = parts.collect::<Option<_>>()?;
    let of_day = match parts.as_slice() {
        [hours, minutes] => hours * 3600.0 + minutes * 60.0,
        [hours, minutes, seconds] => hours * 3600.0 + minutes * 60.0 + seconds,
        _ => return None,
    };
    Some(days * 86_400.0 + of_day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_a_scan_is_read_from_all_forms() {
        let text = "scrub in progress since Sun Nov 22 14:00:00 2026 1.00G / 2.00G scanned at 10.0M/s, 512M / 2.00G \
                    issued at 5.00M/s 0B repaired, 25.00% done, 00:05:07 to go";
        for (scan, work, done, left) in [
            (text, "scrub", Some(0.25), Some(307.0)),
            (
                "resilver in progress, 12.5 % done, 2 days 01:00:00 to go",
                "resilver",
                Some(0.125),
                Some(176_400.0),
            ),
            (
                "resilver in progress since x 1.2G scanned out of 3G at 9M/s, 10h30m to go",
                "resilver",
                None,
                Some(37_800.0),
            ),
            ("scrub in progress, 3.0 % done", "scrub", Some(0.03), None),
        ] {
            let row = under_way(scan, "tank").expect(scan);
            assert_eq!((row.work.as_str(), row.done, row.left_s), (work, done, left), "{scan}");
        }
        assert_eq!(under_way("scrub repaired 0B in 00:00:01 with 0 errors", "tank"), None);
        assert_eq!(under_way("scrub paused, 3.0 % done", "tank"), None);
    }
}
