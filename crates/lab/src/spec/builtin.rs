//! The experiments that ship with zwhy.

/// Name and specification, in the order in which they are listed.
const ALL: &[(&str, &str)] = &[
    ("encryption", include_str!("../../experiments/encryption.toml")),
    ("arc-cached-read", include_str!("../../experiments/arc-cached-read.toml")),
    ("idle-arc-pressure", include_str!("../../experiments/idle-arc-pressure.toml")),
    ("direct-io", include_str!("../../experiments/direct-io.toml")),
    ("direct-io-semantics", include_str!("../../experiments/direct-io-semantics.toml")),
    ("snapshot-destroy", include_str!("../../experiments/snapshot-destroy.toml")),
    ("snapshot-rename", include_str!("../../experiments/snapshot-rename.toml")),
    ("send", include_str!("../../experiments/send.toml")),
    ("send-receive", include_str!("../../experiments/send-receive.toml")),
    ("prefetch", include_str!("../../experiments/prefetch.toml")),
    ("dbuf-cache", include_str!("../../experiments/dbuf-cache.toml")),
    ("sync-writes", include_str!("../../experiments/sync-writes.toml")),
    ("special-vdev", include_str!("../../experiments/special-vdev.toml")),
    ("compression", include_str!("../../experiments/compression.toml")),
    ("checksum", include_str!("../../experiments/checksum.toml")),
    ("recordsize", include_str!("../../experiments/recordsize.toml")),
    ("raidz", include_str!("../../experiments/raidz.toml")),
    ("dedup", include_str!("../../experiments/dedup.toml")),
    ("offload", include_str!("../../experiments/offload.toml")),
    ("offload-model", include_str!("../../experiments/offload-model.toml")),
    ("offload-resilver", include_str!("../../experiments/offload-resilver.toml")),
];

pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|(name, _)| *name)
}

pub fn text(name: &str) -> Option<&'static str> {
    ALL.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
