//! Whether a text is about ZFS at all, so that its words may be asked for a cause.

/// Beginnings of words that only a report about ZFS has.
const BEGINNINGS: [&str; 20] = [
    "zfs", "zpool", "zvol", "zdb", "raidz", "openzfs", "l2arc", "arc_", "dbuf_", "txg_", "zil_", "zio_",
    "dmu_", "metaslab", "spl_", "spa_", "dsl_", "dnode_", "zap_", "vdev",
];

/// Whole words of that kind.
const WORDS: [&str; 10] =
    ["arc", "zil", "slog", "txg", "scrub", "dedup", "recordsize", "volblocksize", "autotrim", "dataset"];

/// Whether a word of the text belongs to ZFS.
pub fn speaks_of_zfs(text: &str) -> bool {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words
        .map(str::to_ascii_lowercase)
        .any(|word| BEGINNINGS.iter().any(|b| word.starts_with(b)) || WORDS.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_of_zfs_count() {
        assert!(speaks_of_zfs("a `ZFS list` of 1200 snapshots") && speaks_of_zfs("time in dbuf_find()"));
        assert!(!speaks_of_zfs("To whom it may concern: the pool has a cache") && !speaks_of_zfs(""));
    }
}
