//! Moments in words: the time of day, and a date that fits a file's name; both UTC.

/// `19:12:33 UTC` of seconds since 1970.
pub fn clock(unix_s: f64) -> String {
    let (_, [hours, minutes, seconds]) = split(unix_s);
    format!("{hours:02}:{minutes:02}:{seconds:02} UTC")
}

/// `2026-11-22 19:12:33 UTC` of seconds since 1970.
pub fn moment(unix_s: f64) -> String {
    let (days, _) = split(unix_s);
    let (year, month, day) = date(days);
    format!("{year:04}-{month:02}-{day:02} {}", clock(unix_s))
}

/// `20261122-191233` of seconds since 1970.
pub fn stamp(unix_s: f64) -> String {
    let (days, [hours, minutes, seconds]) = split(unix_s);
    let (year, month, day) = date(days);
    format!("{year:04}{month:02}{day:02}-{hours:02}{minutes:02}{seconds:02}")
}

/// Seconds since 1970 of `20261122-191233`; `None` where that is no such date.
pub fn unix_of_stamp(text: &str) -> Option<f64> {
    let (day, time) = text.split_once('-')?;
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if day.len() < 8 || day.len() > 12 || time.len() != 6 || !digits(day) || !digits(time) {
        return None;
    }
    let number = |text: &str| text.parse::<i64>().ok();
    let (year, of_year) = day.split_at(day.len() - 4);
    let (month, day) = of_year.split_at(2);
    let days = days_of([number(year)?, number(month)?, number(day)?]);
    let [hours, minutes, seconds] = [number(&time[..2])?, number(&time[2..4])?, number(&time[4..])?];
    let unix_s = (days * 86_400 + hours * 3600 + minutes * 60 + seconds) as f64;
    // A 31st of February is another day.
    (stamp(unix_s) == text).then_some(unix_s)
}

/// Days since 1970 of a year, month and day.
fn days_of([year, month, day]: [i64; 3]) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Days since 1970, and hours, minutes and seconds of the day.
fn split(unix_s: f64) -> (i64, [i64; 3]) {
    // A float that is no number or too large becomes a number that is one.
    let seconds = (unix_s as i64).clamp(-MOST, MOST);
    let of_day = seconds.rem_euclid(86_400);
    (seconds.div_euclid(86_400), [of_day / 3600, of_day / 60 % 60, of_day % 60])
}

/// Seconds of about 30,000 years.
const MOST: i64 = 1_000_000_000_000;

/// Year, month and day of the Gregorian calendar. Years are counted from March, so that a leap day is the last one of
/// its year; 400 years have 146,097 days.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month, of_month)
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
