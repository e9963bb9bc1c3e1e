//! Whether a text is about ZFS at all, so that its words may be asked for a cause.

use crate::words::WORDS;

/// Words of a line of which the shortest sentence is made; lists of names and settings have fewer.
const SENTENCE: usize = 3;

/// Whether the text has a sentence, and a word that belongs to ZFS.
pub fn speaks_of_zfs(text: &str) -> bool {
    let said = words(text);
    let has = |word: &str| said.iter().any(|other| other == word);
    let pair = || {
        WORDS.zfs_pairs.iter().any(|(one, other)| has(one) && has(other))
            && !WORDS.other_pools.iter().any(has)
    };
    text.lines().any(|line| words(line).len() >= SENTENCE)
        && (said.iter().any(|word| is_of_zfs(word)) || pair())
}

/// Whether the text names other storage and nothing of ZFS: what is full there is no pool of ZFS.
pub fn speaks_of_other_storage(text: &str) -> bool {
    let said = words(text);
    said.iter().any(|word| WORDS.other_storage.has(word)) && !said.iter().any(|word| is_of_zfs(word))
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase).collect()
}

fn is_of_zfs(word: &str) -> bool {
    WORDS.zfs_beginnings.beginning(word).is_some() || WORDS.zfs_words.has(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_of_zfs_count() {
        assert!(speaks_of_zfs("a `ZFS list` of 1200 snapshots") && speaks_of_zfs("time in dbuf_find()"));
        assert!(
            speaks_of_zfs("24 of the z_wr_iss processes are busy") && speaks_of_zfs("sanoid lists datasets")
        );
        assert!(
            speaks_of_zfs("six disks as RAID-Z2 are slow")
                && speaks_of_zfs("a profile shows some dnode lock")
        );
        assert!(speaks_of_zfs("Slow import with log_spacemap") && speaks_of_zfs("a resilver of 40 hours"));
        assert!(
            speaks_of_zfs("`dd_lock` and `dp_lock` hunt us")
                && speaks_of_zfs("vmadm get is slow with snapshots")
        );
        assert!(
            speaks_of_zfs("the hottest locks are of the zio taskqs") && speaks_of_zfs("tq_lock is contended")
        );
        assert!(
            speaks_of_zfs("my pool is 91 % full and slow") && speaks_of_zfs("native encryption is slow here")
        );
        assert!(!speaks_of_zfs("my ceph pool is 91 % full and slow"));
        assert!(speaks_of_zfs("huge contention on zl_issuer_lock") && speaks_of_zfs("mzap_open is very hot"));
        assert!(speaks_of_other_storage("My ceph pool is 85% full, osds are nearfull"));
        assert!(!speaks_of_other_storage("ceph OSDs on a zpool that is 95% full"));
        assert!(!speaks_of_other_storage("the pool is 95% full"));
        assert!(!speaks_of_zfs("the connection pool is full and slow"));
        assert!(!speaks_of_zfs("To whom it may concern: the pool has a cache") && !speaks_of_zfs(""));
        assert!(!speaks_of_zfs("pool:\n  name: tank\n  vdevs:\ncache:\n"));
    }
}
