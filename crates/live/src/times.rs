//! Moments in words: the time of day, and a date that fits a file's name; both UTC.

use chrono::{DateTime, Datelike, NaiveDate, Utc};

/// Seconds of about 30,000 years.
const MOST: i64 = 1_000_000_000_000;

/// `19:12:33 UTC` of seconds since 1970.
pub fn clock(unix_s: f64) -> String {
    at(unix_s).format("%H:%M:%S UTC").to_string()
}

/// `2026-11-22 19:12:33 UTC` of seconds since 1970.
pub fn moment(unix_s: f64) -> String {
    let at = at(unix_s);
    format!("{:04}-{}", at.year(), at.format("%m-%d %H:%M:%S UTC"))
}

/// `20261122-191233` of seconds since 1970.
pub fn stamp(unix_s: f64) -> String {
    let at = at(unix_s);
    format!("{:04}{}", at.year(), at.format("%m%d-%H%M%S"))
}

/// A float that is no number or too large becomes a number that is one.
fn at(unix_s: f64) -> DateTime<Utc> {
    DateTime::from_timestamp((unix_s as i64).clamp(-MOST, MOST), 0).unwrap_or_default()
}

/// Seconds since 1970 of `20261122-191233`; `None` where that is no such date.
pub fn unix_of_stamp(text: &str) -> Option<f64> {
    let (day, time) = text.split_once('-')?;
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if day.len() < 8 || day.len() > 12 || time.len() != 6 || !digits(day) || !digits(time) {
        return None;
    }
    let (year, of_year) = day.split_at(day.len() - 4);
    let number = |text: &str| text.parse::<u32>().ok();
    let date = NaiveDate::from_ymd_opt(year.parse().ok()?, number(&of_year[..2])?, number(&of_year[2..])?)?;
    let of_day = date.and_hms_opt(number(&time[..2])?, number(&time[2..4])?, number(&time[4..])?)?;
    let unix_s = of_day.and_utc().timestamp() as f64;
    // A year has no more zeros than it needs.
    (stamp(unix_s) == text).then_some(unix_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!((clock(0.0), stamp(0.0)), ("00:00:00 UTC".to_owned(), "19700101-000000".to_owned()));
        assert_eq!(stamp(951_782_400.0), "20000229-000000");
        assert_eq!(stamp(1_735_689_599.9), "20241231-235959");
        assert_eq!(stamp(4_107_542_400.0), "21000301-000000");
        assert_eq!(clock(-1.0), "23:59:59 UTC");
        for unix_s in [0.0, 951_782_400.0, 1_735_689_599.0, 4_107_542_400.0, 951_868_799.0] {
            assert_eq!(unix_of_stamp(&stamp(unix_s)), Some(unix_s));
        }
        for odd in ["20230229-000000", "20231301-000000", "2023-1", "", "20230101-250000", "é0230101-000000"]
        {
            assert_eq!(unix_of_stamp(odd), None, "{odd}");
        }
        assert!(!stamp(f64::MAX).is_empty() && !stamp(f64::NAN).is_empty());
    }
}
