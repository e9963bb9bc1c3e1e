//! The words that properties take as values, so that a slip is told before anything runs.
//!
//! They are those of OpenZFS 2.1 to 2.4 (`zfs_prop_init` of module/zcommon/zfs_prop.c); which release has which is
//! asked of the library or the kernel at hand.

use super::near::near;

const CHECKSUMS: &[&str] =
    &["on", "off", "fletcher2", "fletcher4", "sha256", "noparity", "sha512", "skein", "edonr", "blake3"];
const COMPRESSIONS: &[&str] = &["on", "off", "lzjb", "zle", "lz4", "gzip", "zstd", "zstd-fast"];
const DEDUPS: &[&str] = &[
    "on",
    "off",
    "verify",
    "sha256",
    "sha256,verify",
    "sha512",
    "sha512,verify",
    "skein",
    "skein,verify",
    "edonr,verify",
    "blake3",
    "blake3,verify",
];
const ENCRYPTIONS: &[&str] =
    &["on", "off", "aes-128-ccm", "aes-192-ccm", "aes-256-ccm", "aes-128-gcm", "aes-192-gcm", "aes-256-gcm"];
const WHAT_IS_CACHED: &[&str] = &["all", "none", "metadata"];

/// The words of a property; `None` of one that takes a number.
fn words(property: &str) -> Option<&'static [&'static str]> {
    Some(match property {
        "checksum" => CHECKSUMS,
        "compression" => COMPRESSIONS,
        "copies" => &["1", "2", "3"],
        "dedup" => DEDUPS,
        "direct" => &["disabled", "standard", "always"],
        "encryption" => ENCRYPTIONS,
        "logbias" => &["latency", "throughput"],
        "prefetch" | "primarycache" | "secondarycache" => WHAT_IS_CACHED,
        "redundant_metadata" => &["all", "most", "some", "none"],
        "sync" => &["standard", "always", "disabled"],
        _ => return None,
    })
}

/// # Errors
/// When the property has no such value, with those that it has.
pub fn check(property: &str, value: &str) -> Result<(), String> {
    /// Part of the letters that may differ.
    const NEAR: f64 = 0.6;
    let Some(known) = words(property).filter(|known| !known.contains(&value) && !is_level(property, value))
    else {
        return Ok(());
    };
    let meant = near(value, known.iter().copied(), NEAR)
        .map_or_else(String::new, |word| format!("; did you mean {word}?"));
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
