//! What is asked for: hosts and a range of time.

/// Hosts, all where none is named, and a half-open range in milliseconds since 1970, UTC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    pub hosts: Vec<String>,
    pub from_ms: i64,
    pub to_ms: i64,
}

impl Default for Scope {
    fn default() -> Scope {
        Scope { hosts: Vec::new(), from_ms: i64::MIN, to_ms: i64::MAX }
    }
}

impl Scope {
    /// The same without parts of a second: the time of a sample is the second in which it was taken.
    pub fn in_seconds(mut self) -> Scope {
        for ms in [&mut self.from_ms, &mut self.to_ms] {
            if ![i64::MIN, i64::MAX].contains(ms) {
                *ms = ms.div_euclid(1000).saturating_mul(1000);
            }
        }
        self
    }

    /// `true` for a host that is asked for.
    pub fn has_host(&self, host: &str) -> bool {
        self.hosts.is_empty() || self.hosts.iter().any(|h| h == host)
    }
}

/// Milliseconds since 1970 of `2026-11-22T19:12:33Z`, `2026-11-22 19:12`, `2026-11-22`, `@1795375953.5`, or `-2h` and
/// `now`, seen from `now_ms`. All times are UTC.
pub fn moment_ms(text: &str, now_ms: i64) -> Option<i64> {
    let text = text.trim();
    if text == "now" {
        return Some(now_ms);
    }
    if let Some(seconds) = text.strip_prefix('@') {
        return seconds.parse::<f64>().ok().filter(|s| s.abs() < 1e13).map(|s| (s * 1e3).round() as i64);
    }
    if let Some(ago) = text.strip_prefix('-') {
        return Some(now_ms - span_ms(ago)?);
    }
    let (day, time) = text.split_once(['T', ' ']).unwrap_or((text, "00:00"));
    let mut of_day = day.split('-').map(digits);
    let (year, month, date) = (of_day.next()??, of_day.next()??, of_day.next()??);
    let mut of_time = time.trim_end_matches('Z').split(':').map(digits);
    let (hour, minute, second) = (of_time.next()??, of_time.next()??, of_time.next().unwrap_or(Some(0))?);
    if year > 9999
        || of_day.next().is_some()
        || of_time.next().is_some()
        || hour > 23
        || minute > 59
        || second > 59
    {
        return None;
    }
    // Days of the calendar are found by its own writer, so that there is no 31st of February.
    let written = format!("{year:04}-{month:02}-{date:02}");
    let about = (year - 1970) * 365 + (year - 1969) / 4 + (month - 1) * 30 + date;
    let days = (about - 40..about + 40).find(|days| zwhy_capture::day_of(days * 86_400_000) == written)?;
    Some(((days * 24 + hour) * 60 + minute) * 60_000 + second * 1000)
}

/// Milliseconds of `90s`, `10m`, `2h`, `7d`.
pub fn span_ms(text: &str) -> Option<i64> {
    let unit = match text.chars().last()? {
        's' => 1000,
        'm' => 60_000,
        'h' => 3_600_000,
        'd' => 86_400_000,
        _ => return None,
    };
    let number = digits(&text[..text.len() - 1])?;
    number.checked_mul(unit)
}

fn digits(text: &str) -> Option<i64> {
    let plain = !text.is_empty() && text.len() < 10 && text.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

/// `2026-11-22 19:12:33` of milliseconds since 1970, UTC.
pub fn moment_text(unix_ms: i64) -> String {
    let s = unix_ms.rem_euclid(86_400_000) / 1000;
    format!("{} {:02}:{:02}:{:02}", zwhy_capture::day_of(unix_ms), s / 3600, s / 60 % 60, s % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_begin_and_end_with_a_second() {
        for (from_ms, to_ms, want) in [
            (1_999, 2_001, (1_000, 2_000)),
            (-1, 0, (-1_000, 0)),
            (i64::MIN, i64::MAX, (i64::MIN, i64::MAX)),
            (i64::MIN + 1, i64::MAX - 1, (i64::MIN, 9_223_372_036_854_775_000)),
        ] {
            let scope = Scope { from_ms, to_ms, ..Scope::default() }.in_seconds();
            assert_eq!((scope.from_ms, scope.to_ms), want);
        }
    }

    #[test]
    fn moments_in_all_forms() {
        let now = 1_795_375_953_123;
        for (text, want) in [
            ("2026-11-22T19:32:33Z", Some(1_795_375_953_000)),
            ("2026-11-22 19:32", Some(1_795_375_920_000)),
            ("2026-11-22", Some(1_795_305_600_000)),
            ("2000-02-29", Some(951_782_400_000)),
            ("2100-03-01", Some(4_107_542_400_000)),
            ("@1795375953.5", Some(1_795_375_953_500)),
            ("now", Some(now)),
            ("-2h", Some(now - 7_200_000)),
            ("-90s", Some(now - 90_000)),
            ("2026-02-31", None),
            ("2026-13-01", None),
            ("19:12", None),
            ("2026-11-22 24:00", None),
            ("2026-11-22x", None),
            ("999999999-01-01", None),
            ("-2", None),
            ("@x", None),
            ("", None),
        ] {
            assert_eq!(moment_ms(text, now), want, "{text}");
        }
        assert_eq!(moment_text(now), "2026-11-22 19:32:33");
        assert_eq!(moment_ms(&moment_text(-1000), now), Some(-1000));
    }
}
