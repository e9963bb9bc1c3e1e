//! Moments in words: the time of day, and a date that fits a file's name; both UTC.

/// `19:12:33 UTC` of seconds since 1970.
pub(crate) fn clock(unix_s: f64) -> String {
    let (_, [hours, minutes, seconds]) = split(unix_s);
    format!("{hours:02}:{minutes:02}:{seconds:02} UTC")
}

/// `20261122-191233` of seconds since 1970.
pub(crate) fn stamp(unix_s: f64) -> String {
    let (days, [hours, minutes, seconds]) = split(unix_s);
    let (year, month, day) = date(days);
    format!("{year:04}{month:02}{day:02}-{hours:02}{minutes:02}{seconds:02}")
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
        assert!(!stamp(f64::MAX).is_empty() && !stamp(f64::NAN).is_empty());
    }
}
