//! Numbers as tools print them in any locale: `40,13`, `1,234,567`, `12.5%`, `4.1G`.

/// A finite decimal number with a point or a decimal comma, with or without thousands separators.
///
/// A single comma followed by exactly three digits is taken as a thousands separator (`1,234`), unless
/// the part before it is `0`; `40,13` and `0,123` are decimal commas.
pub fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    if text.is_empty() || text.len() > 40 {
        return None;
    }
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.' || c == ',') {
        return None; // also refuses what Rust would parse: "inf", "NaN"
    }
    let value: f64 = match (text.rfind(','), text.rfind('.')) {
        (None, _) => text.parse().ok()?,
        (Some(comma), Some(dot)) if comma > dot => text.replace('.', "").replace(',', ".").parse().ok()?,
        (Some(_), Some(_)) => grouped(text)?,
        (Some(comma), None) => {
            let before = digits.split(',').next().unwrap_or("");
            let thousands = text.len() - comma - 1 == 3 && before != "0" && !before.is_empty();
            if text.matches(',').count() > 1 || thousands {
                grouped(text)?
            } else {
                text.replace(',', ".").parse().ok()?
            }
        }
    };
    value.is_finite().then_some(value)
}

/// A number whose commas separate groups of three digits.
fn grouped(text: &str) -> Option<f64> {
    let whole = text.split('.').next().unwrap_or(text);
    if !whole.split(',').skip(1).all(|group| group.len() == 3) {
        return None;
    }
    text.replace(',', "").parse().ok()
}

/// A percentage: like [`decimal`], with an optional `%`; only 0 to 100 (a rounding error above is cut).
pub fn percent(text: &str) -> Option<f64> {
    let text = text.trim();
    let value = decimal(text.strip_suffix('%').unwrap_or(text).trim_end())?;
    (0.0..=100.5).contains(&value).then(|| value.min(100.0))
}

/// A number in which a comma can only be a decimal comma (columns that never reach 1,000).
pub fn decimal(text: &str) -> Option<f64> {
    let text = text.trim();
    match text.split_once(',') {
        Some((a, b)) if !b.contains([',', '.']) && !a.contains('.') => number(&format!("{a}.{b}")),
        _ => number(text),
    }
}

/// A number with an optional binary size suffix as ZFS and arcstat print it: `4.1G`, `512K`, `16MiB`.
pub fn scaled(text: &str) -> Option<f64> {
    let text = text.trim();
    let end = text.find(|c: char| c.is_ascii_alphabetic() && c != 'e').unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let power = match unit.trim_end_matches("iB").trim_end_matches('B').to_ascii_uppercase().as_str() {
        "" => 0,
        "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        "P" => 5,
        "E" => 6,
        _ => return None,
    };
    Some(number(digits)? * 1024f64.powi(power))
}

/// An unsigned whole number with or without thousands separators (`,`, `.`, space, narrow space).
pub fn count(text: &str) -> Option<u64> {
    let text = text.trim();
    if text.is_empty() || !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let mut value = 0u64;
    for c in text.chars() {
        match c {
            '0'..='9' => value = value.checked_mul(10)?.checked_add(u64::from(c as u32 - '0' as u32))?,
            ',' | '.' | ' ' | '\u{a0}' | '\u{202f}' | '\'' => {}
            _ => return None,
        }
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_of_both_conventions() {
        for (text, want) in [
            ("40,13", Some(40.13)),
            ("0,123", Some(0.123)),
            ("1,234", Some(1234.0)),
            ("1,234,567.5", Some(1_234_567.5)),
            ("1.234,5", Some(1234.5)),
            ("-3", Some(-3.0)),
            ("12,34,5", None),
            ("inf", None),
            ("", None),
            ("1e999", None),
        ] {
            assert_eq!(number(text), want, "{text}");
        }
        assert_eq!(percent(" 12,5 %"), Some(12.5));
        assert_eq!(percent("1,234%"), Some(1.234));
        assert_eq!(percent("250"), None);
        assert_eq!(scaled("4.1G"), Some(4.1 * 1024f64.powi(3)));
        assert_eq!(scaled("16MiB"), Some(16.0 * 1024.0 * 1024.0));
        assert_eq!(scaled("5x"), None);
        assert_eq!(count("4,751,716"), Some(4_751_716));
        assert_eq!(count("99999999999999999999"), None);
    }
}
