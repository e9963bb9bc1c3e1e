//! Sizes as ZFS writes them: powers of 1024 with one letter, `128K`, `1.5T`.

const SUFFIXES: &str = "BKMGTPEZ";

/// Bytes of a size with an optional suffix (`128K`, `1M`, `1.50T`, `16KiB`, `512`); `None` for other
/// text and for sizes of 16 EiB and more.
pub fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, suffix) = text.split_at(digits);
    let suffix = suffix.trim().to_ascii_uppercase();
    let power = match suffix.as_bytes() {
        [] => 0,
        [letter] | [letter, b'B'] | [letter, b'I', b'B'] => SUFFIXES.bytes().position(|s| s == *letter)?,
        _ => return None,
    };
    let factor = 1024f64.powi(i32::try_from(power).ok()?);
    if power == 0 {
        return number.parse().ok();
    }
    let bytes = number.parse::<f64>().ok()? * factor;
    (bytes.is_finite() && bytes < u64::MAX as f64).then_some(bytes as u64)
}

/// A size for people: exact when it is a whole number of the unit (`128K`), else two places.
pub fn format_bytes(bytes: u64) -> String {
    let mut power = 0;
    while power < 6 && bytes >> (10 * (power + 1)) > 0 {
        power += 1;
    }
    let unit = 1u64 << (10 * power);
    let letter = SUFFIXES.as_bytes()[power] as char;
    if bytes.is_multiple_of(unit) {
        format!("{}{letter}", bytes / unit)
    } else {
        format!("{:.2}{letter}", bytes as f64 / unit as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn suffixes_are_powers_of_1024() {
        for (text, want) in [
            ("0", Some(0)),
            ("512", Some(512)),
            ("128K", Some(131072)),
            ("128k", Some(131072)),
            ("1M", Some(1 << 20)),
            ("1.5G", Some(3 << 29)),
            ("16KiB", Some(16384)),
            ("2TB", Some(2 << 40)),
            ("1B", Some(1)),
            ("", None),
            ("-", None),
            ("K", None),
            ("1X", None),
            ("99999Z", None),
            ("1.2.3K", None),
        ] {
            assert_eq!(parse_size(text), want, "{text}");
        }
        assert_eq!(format_bytes(131072), "128K");
        assert_eq!(format_bytes(1536), "1.50K");
        assert_eq!(format_bytes(0), "0B");
    }

    proptest! {
        #[test]
        fn whole_units_survive_the_round_trip(n in 1u64..1000, power in 0u32..6) {
            let bytes = n << (10 * power);
            prop_assert_eq!(parse_size(&format_bytes(bytes)), Some(bytes));
        }

        #[test]
        fn any_text_is_survived(text in ".{0,20}", bytes in any::<u64>()) {
            let _ = parse_size(&text);
            let _ = format_bytes(bytes);
        }
    }
}
