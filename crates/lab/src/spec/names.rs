//! What the name of a setting means: the way of the I/O, a property, a parameter of the module, or an
//! implementation that the module lets an admin choose.
//!
//! Parameters are those of OpenZFS 2.1 and 2.3 (`knowledge/parameters`); whether the library at hand
//! exports one as a variable is asked when the experiment runs.

use super::near::near;
use super::offload;
use std::sync::LazyLock;

/// Settings of the runner itself.
pub const RUNNER: [&str; 15] = [
    "arc_max",
    "cache_disks",
    "data",
    "device_mb_per_s",
    "device_ms",
    "device_queue",
    "disks",
    "fsync",
    "io",
    "io_size",
    "layout",
    "log_disks",
    "memory",
    "special_disks",
    "threads",
];

/// Properties of a dataset that act below the file system, where the lab works.
pub const PROPERTIES: [&str; 14] = [
    "checksum",
    "compression",
    "copies",
    "dedup",
    "direct",
    "encryption",
    "logbias",
    "prefetch",
    "primarycache",
    "recordsize",
    "redundant_metadata",
    "secondarycache",
    "special_small_blocks",
    "sync",
];

/// How OpenZFS lets an implementation be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chooser {
    /// An exported function that takes the name.
    Function(&'static str),
    /// A checksum of `zfs_impl_get_ops` (2.2 and later).
    Checksum(&'static str),
}

/// Parameters whose value is the name of an implementation.
pub const IMPLEMENTATIONS: [(&str, Chooser); 7] = [
    ("icp_aes_impl", Chooser::Function("aes_impl_set")),
    ("icp_gcm_impl", Chooser::Function("gcm_impl_set")),
    ("zfs_blake3_impl", Chooser::Checksum("blake3")),
    ("zfs_fletcher_4_impl", Chooser::Function("fletcher_4_impl_set")),
    ("zfs_sha256_impl", Chooser::Checksum("sha256")),
    ("zfs_sha512_impl", Chooser::Checksum("sha512")),
    ("zfs_vdev_raidz_impl", Chooser::Function("vdev_raidz_impl_set")),
];

const TABLES: [&str; 3] = [
    include_str!("../../knowledge/parameters/2.1.toml"),
    include_str!("../../knowledge/parameters/2.3.toml"),
    include_str!("../../knowledge/parameters/2.4.toml"),
];

static PARAMETERS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut names: Vec<String> = TABLES.iter().flat_map(|text| parameters_of(text)).collect();
    names.sort();
    names.dedup();
    names
});

/// Parameters with a number as default: the others take words, and are chosen as implementations.
fn parameters_of(text: &str) -> Vec<String> {
    let table: toml::Table = text.parse().unwrap_or_default();
    let defaults = table.get("defaults").and_then(toml::Value::as_table);
    let number = |value: &toml::Value| value.as_str().is_some_and(|v| v.parse::<i128>().is_ok());
    defaults.into_iter().flatten().filter(|(_, v)| number(v)).map(|(name, _)| name.clone()).collect()
}

static STAGES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let table: toml::Table = include_str!("../../knowledge/anatomy/stages.toml").parse().unwrap_or_default();
    let stages = table.get("stage").and_then(toml::Value::as_array);
    let name = |stage: &toml::Value| Some(stage.get("name")?.as_str()?.to_owned());
    stages.into_iter().flatten().filter_map(name).collect()
});

/// The stages of OpenZFS's work that captures are told by: `copy`, `decrypt`.
pub fn stages() -> &'static [String] {
    &STAGES
}

/// What a setting is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Runner,
    Property,
    Implementation(Chooser),
    Parameter,
}

/// `None` for a name that is none of these: a word that only steps use.
pub fn kind(name: &str) -> Option<Kind> {
    if RUNNER.contains(&name) || offload::SETTINGS.contains(&name) {
        return Some(Kind::Runner);
    }
    if PROPERTIES.contains(&name) {
        return Some(Kind::Property);
    }
    if let Some((_, chooser)) = IMPLEMENTATIONS.iter().find(|(known, _)| *known == name) {
        return Some(Kind::Implementation(*chooser));
    }
    PARAMETERS.binary_search_by(|known| known.as_str().cmp(name)).is_ok().then_some(Kind::Parameter)
}

/// `; did you mean recordsize?`, or nothing.
pub fn did_you_mean(name: &str) -> String {
    /// Part of the letters that may differ.
    const NEAR: f64 = 0.75;
    let parameters = PARAMETERS.iter().map(String::as_str);
    let implementations = IMPLEMENTATIONS.iter().map(|(name, _)| *name);
    let all = RUNNER
        .into_iter()
        .chain(offload::SETTINGS)
        .chain(PROPERTIES)
        .chain(implementations)
        .chain(parameters);
    near(name, all, NEAR).map_or_else(String::new, |best| format!("; did you mean {best}?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart() {
        assert_eq!(kind("threads"), Some(Kind::Runner));
        assert_eq!(kind("recordsize"), Some(Kind::Property));
        assert_eq!(kind("zfs_arc_meta_balance"), Some(Kind::Parameter));
        assert_eq!(kind("dbuf_cache_max_bytes"), Some(Kind::Parameter));
        assert_eq!(
            kind("zfs_fletcher_4_impl"),
            Some(Kind::Implementation(Chooser::Function("fletcher_4_impl_set")))
        );
        assert_eq!(kind("n"), None);
        assert!(stages().len() > 30 && stages().iter().any(|stage| stage == "copy"), "{:?}", stages());
    }

    #[test]
    fn a_slip_is_answered_with_the_name() {
        assert_eq!(did_you_mean("recrodsize"), "; did you mean recordsize?");
        assert_eq!(did_you_mean("dbuf_cache_max_byte"), "; did you mean dbuf_cache_max_bytes?");
        assert_eq!(did_you_mean("qqqqqq"), "");
    }
}
