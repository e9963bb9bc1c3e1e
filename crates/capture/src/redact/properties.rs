//! Which properties say how ZFS works, and which say who uses it.
//!
//! Invariant: a value stays as it is only where the property is known to hold words of OpenZFS or figures. Of all
//! others a stand-in is left, or nothing.

use super::names::Names;
use super::{identity, known};
use rustc_hash::FxHashSet;
use std::sync::LazyLock;

/// Properties of datasets and pools whose values are words of OpenZFS or figures (zfsprops(7), zpoolprops(7)).
static PUBLIC: LazyLock<FxHashSet<&str>> = LazyLock::new(|| known::words(include_str!("properties.txt")));

/// Properties whose value is the name of a dataset.
const DATASETS: [&str; 3] = ["bootfs", "encryptionroot", "origin"];

/// Values of properties of all kinds that name nothing.
const WORDS: [&str; 12] =
    ["", "-", "on", "off", "none", "default", "prompt", "legacy", "yes", "no", "true", "false"];

/// A property without names; `None` where its own name tells of somebody: those that users make up, and limits by
/// user, group and project.
pub(super) fn redacted(name: &str, value: &str, names: &mut Names) -> Option<String> {
    if name.contains(':') || (name.contains('@') && !name.starts_with("feature@")) {
        return None;
    }
    if known::is_identity(name) {
        return None;
    }
    let plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '%' | '+' | ',' | ' ' | ':');
    let known = PUBLIC.contains(name) || name.starts_with("feature@");
    Some(match value {
        _ if WORDS.contains(&value) => value.to_owned(),
        _ if known && value.chars().all(plain) => value.to_owned(),
        _ if known => names.text(value),
        _ if DATASETS.contains(&name) => names.dataset(value),
        _ if value.starts_with('/') => names.path(value),
        _ if value.contains("://") => names.address(value),
        _ if value.chars().all(|c| c.is_ascii_digit()) && !identity::is_long_number(value) => {
            value.to_owned()
        }
        _ => "set".to_owned(),
    })
}

/// Learns what a value names, so that it is known in sentences, too.
pub(super) fn learn(name: &str, value: &str, names: &mut Names) {
    if value.starts_with('/') {
        names.place(value);
    } else if DATASETS.contains(&name) && !WORDS.contains(&value) {
        names.pool_of(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_causes_are_told_by_stay_and_names_go() {
        let mut names = Names::default();
        let mut of = |name: &str, value: &str| redacted(name, value, &mut names);
        assert_eq!(of("compression", "zstd-3").as_deref(), Some("zstd-3"));
        assert_eq!(of("recordsize", "131072").as_deref(), Some("131072"));
        assert_eq!(of("feature@async_destroy", "active").as_deref(), Some("active"));
        assert_eq!(of("keylocation", "file:///root/keys/tank").as_deref(), Some("file:///path1/path2/path3"));
        assert_eq!(of("keylocation", "prompt").as_deref(), Some("prompt"));
        assert_eq!(of("mountpoint", "/srv/games").as_deref(), Some("/path4/path5"));
        assert_eq!(of("mountpoint", "legacy").as_deref(), Some("legacy"));
        assert_eq!(of("encryptionroot", "tank/home").as_deref(), Some("pool1/fs1"));
        assert_eq!(of("sharenfs", "rw=@10.0.0.0/8").as_deref(), Some("set"));
        assert_eq!(of("comment", "bay 3").as_deref(), Some("set"));
        assert_eq!(
            of("keylocation", "file:///root/my key.hex").as_deref(),
            Some("file:///path1/path6"),
            "a blank is part of it"
        );
        assert_eq!(of("mountpoint", "/usr/home/joe").as_deref(), Some("/path7/path8/path9"), "FreeBSD");
        assert_eq!(of("used", "98765432101234567").as_deref(), Some("98765432101234567"));
        assert_eq!(of("newest", "98765432101234567").as_deref(), Some("set"));
        for name in ["org.example:backup", "userquota@joe", "groupused@staff", "guid", "load_guid"] {
            assert_eq!(of(name, "5"), None, "{name}");
        }
    }
}
