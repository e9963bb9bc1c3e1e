//! Whether a text is about ZFS at all, so that its words may be asked for a cause.

/// Beginnings of words that only a report about ZFS has, or one about a system or tool that is made for it.
const BEGINNINGS: [&str; 55] = [
    "zfs",
    "zpool",
    "zvol",
    "zdb",
    "raidz",
    "openzfs",
    "l2arc",
    "arc_",
    "dbuf_",
    "txg_",
    "zil_",
    "zio_",
    "dmu_",
    "metaslab",
    "spl_",
    "spa_",
    "dsl_",
    "dnode_",
    "zap_",
    "vdev",
    "z_wr_",
    "z_rd_",
    "z_fr_",
    "z_null_",
    "taskq",
    "tq_lock",
    "dataset",
    "freenas",
    "truenas",
    "proxmox",
    "sanoid",
    "syncoid",
    "ddt_",
    "brt_",
    "snapshot",
    "znapzend",
    "zrepl",
    "vmadm",
    "zoneadm",
    "smartos",
    "omnios",
    "deduplicat",
    "bclone",
    "abd_",
    "bpobj",
    "bptree",
    "fletcher_",
    "fzap_",
    "kfpu_",
    "mzap_",
    "range_tree",
    "rrm_",
    "rrw_",
    "uberblock",
    "zl_",
];

/// Whole words of that kind.
const WORDS: [&str; 26] = [
    "arc",
    "zio",
    "zios",
    "zil",
    "slog",
    "txg",
    "scrub",
    "resilver",
    "resilvering",
    "dedup",
    "ashift",
    "recordsize",
    "volblocksize",
    "autotrim",
    "spacemap",
    "log_spacemap",
    "dd_lock",
    "dp_lock",
    "ds_lock",
    "vq_lock",
    "dn_struct_rwlock",
    "primarycache",
    "secondarycache",
    "sharenfs",
    "sharesmb",
    "lzjb",
];

/// Words of which two together are of ZFS, though each by itself may be of another file system.
const PAIRS: [(&str, &str); 16] = [
    ("pool", "fragmentation"),
    ("pool", "capacity"),
    ("pool", "full"),
    ("pool", "mirror"),
    ("pool", "hdd"),
    ("pool", "hdds"),
    ("pool", "disks"),
    ("pool", "ssds"),
    ("pool", "ssd"),
    ("pool", "atime"),
    ("pool", "importing"),
    ("pool", "imported"),
    ("native", "encryption"),
    ("block", "cloning"),
    ("xattr", "sa"),
    ("xattr", "on"),
];

/// What else has pools, with disks that are full: beside one of these a pair says nothing.
const OTHER_POOLS: [&str; 14] = [
    "ceph",
    "rados",
    "rbd",
    "osd",
    "osds",
    "lvm",
    "thin",
    "thinpool",
    "btrfs",
    "connection",
    "connections",
    "thread",
    "threads",
    "worker",
];

/// Storage that is never ZFS's own, though it has pools, disks and capacities as well.
const OTHER_STORAGE: [&str; 6] = ["ceph", "cephfs", "rados", "osd", "osds", "btrfs"];

/// Words of a line of which the shortest sentence is made; lists of names and settings have fewer.
const SENTENCE: usize = 3;

/// Whether the text has a sentence, and a word that belongs to ZFS.
pub fn speaks_of_zfs(text: &str) -> bool {
    let said = words(text);
    let has = |word: &str| said.iter().any(|other| other == word);
    let pair = || {
        PAIRS.iter().any(|(one, other)| has(one) && has(other)) && !OTHER_POOLS.iter().any(|word| has(word))
    };
    text.lines().any(|line| words(line).len() >= SENTENCE)
        && (said.iter().any(|word| is_of_zfs(word)) || pair())
}

/// Whether the text names other storage and nothing of ZFS: what is full there is no pool of ZFS.
pub fn speaks_of_other_storage(text: &str) -> bool {
    let said = words(text);
    said.iter().any(|word| OTHER_STORAGE.contains(&word.as_str())) && !said.iter().any(|word| is_of_zfs(word))
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase).collect()
}

fn is_of_zfs(word: &str) -> bool {
    BEGINNINGS.iter().any(|beginning| word.starts_with(beginning)) || WORDS.contains(&word)
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
