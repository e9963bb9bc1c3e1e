//! The experiments that ship with zwhy.

macro_rules! experiments {
    ($($name:literal)*) => { &[$(($name, include_str!(concat!("../../experiments/", $name, ".toml")))),*] };
}

/// Name and specification, in the order in which they are listed.
const ALL: &[(&str, &str)] = experiments! {
    "encryption" "arc-cached-read" "idle-arc-pressure" "direct-io" "direct-io-semantics"
    "snapshot-destroy" "snapshot-rename" "send" "send-receive" "prefetch" "dbuf-cache" "sync-writes"
    "special-vdev" "compression" "checksum" "recordsize" "raidz" "dedup" "offload" "offload-model"
    "offload-resilver"
};

pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|(name, _)| *name)
}

pub fn text(name: &str) -> Option<&'static str> {
    ALL.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
