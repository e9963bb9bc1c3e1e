//! The words that properties take as values, so that a slip is told before anything runs.

use super::names::SETTINGS;
use super::near;

/// # Errors
/// When the property has no such value, with those that it has.
pub fn check(property: &str, value: &str) -> Result<(), String> {
    /// Part of the letters that may differ.
    const NEAR: f64 = 0.6;
    let Some(known) = SETTINGS.properties.get(property).filter(|words| !words.is_empty()) else {
        return Ok(());
    };
    if known.iter().any(|word| word == value) || is_level(property, value) {
        return Ok(());
    }
    let meant = near::meant(value, known.iter().map(String::as_str), NEAR);
    let levels =
        if property == "compression" { ", gzip-1 to gzip-9, zstd-1 to zstd-19, zstd-fast-N" } else { "" };
    Err(format!("{property} is {value:?}; it must be one of {}{levels}{meant}", known.join(", ")))
}

/// A compression with its level: `gzip-9`, `zstd-19`, `zstd-fast-100`.
fn is_level(property: &str, value: &str) -> bool {
    let level = |name: &str| value.strip_prefix(name)?.parse::<u32>().ok();
    let fast = |n: u32| (1..=10).contains(&n) || (n.is_multiple_of(10) && n <= 100) || n == 500 || n == 1000;
    property == "compression"
        && (level("gzip-").is_some_and(|n| (1..=9).contains(&n))
            || level("zstd-").is_some_and(|n| (1..=19).contains(&n))
            || level("zstd-fast-").is_some_and(|n| n > 0 && fast(n)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_levels_of_openzfs_are_taken_and_slips_are_named() {
        for (property, value) in [
            ("compression", "gzip-9"),
            ("compression", "zstd-fast-500"),
            ("checksum", "blake3"),
            ("dedup", "blake3,verify"),
            ("recordsize", "whatever the caller checks"),
        ] {
            assert_eq!(check(property, value), Ok(()), "{property}={value}");
        }
        let wrong = [
            ("compression", "lz5", "did you mean lz4?"),
            ("compression", "gzip-10", "gzip-1 to gzip-9"),
            ("compression", "zstd-fast-11", "zstd-fast-N"),
            ("encryption", "aes-265-gcm", "did you mean aes-256-gcm?"),
            ("copies", "4", "one of 1, 2, 3"),
        ];
        for (property, value, says) in wrong {
            let error = check(property, value).unwrap_err();
            assert!(error.contains(says) && error.contains(value), "{error}");
        }
    }
}
