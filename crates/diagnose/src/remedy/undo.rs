//! The way back from a change: what was recorded before it is written again.
//!
//! A property that was set on the dataset is set to that value; one that came from above is
//! inherited; a received one is inherited as received. A parameter gets its recorded value. Where
//! the capture does not tell, the reader is told what to write down first.

use zwhy_evidence::Evidence;

/// What takes one command back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Undone {
    By(String),
    /// It can be taken back, but not by what is known here.
    Note(String),
    /// It leaves nothing behind.
    Nothing,
}

/// Parameters of which 0 means "work it out", but only while the module loads: arc_tuning_update()
/// (module/zfs/arc.c) leaves the limit alone when it is 0. Their limit in force is a counter.
const IN_FORCE: [(&str, &str); 4] = [
    ("zfs_arc_max", "c_max"),
    ("zfs_arc_min", "c_min"),
    ("zfs_arc_meta_limit", "arc_meta_limit"),
    ("zfs_arc_dnode_limit", "arc_dnode_limit"),
];

/// What takes `command` back on the host of the evidence.
pub(crate) fn undone(command: &str, evidence: &Evidence) -> Undone {
    let words: Vec<&str> = command.split_whitespace().collect();
    match words.as_slice() {
        ["zfs", "set", assignments @ .., dataset] => dataset_properties(assignments, dataset, evidence),
        ["zpool", "set", assignment, pool] => pool_property(assignment, pool, evidence),
        ["echo", _, ">", file] => written(file, evidence),
        _ => Undone::Nothing,
    }
}

/// Whether the way back from such a command follows from what a capture records.
pub(crate) fn is_derived(command: &str) -> bool {
    undone(command, &Evidence::default()) != Undone::Nothing
}

fn dataset_properties(assignments: &[&str], dataset: &str, evidence: &Evidence) -> Undone {
    let names: Vec<&str> =
        assignments.iter().filter_map(|a| a.split_once('=')).map(|(name, _)| name).collect();
    let listed = evidence.facts.dataset(dataset);
    // Captures from before sources were kept cannot tell.
    let Some((listed, sources)) = listed.and_then(|d| Some((d, d.sources.as_ref()?))) else {
        let names = names.join(",");
        return Undone::Note(format!(
            "Before the change, keep `zfs get -o name,property,value,source {names} {dataset}`: a value with \
             source local is set back with zfs set, any other with zfs inherit."
        ));
    };
    let mut back = Vec::new();
    for name in names {
        let properties = listed.properties.as_ref();
        let old = properties.and_then(|all| all.get(name)).filter(|v| is_plain(v));
        back.push(match (sources.get(name).map(String::as_str), old) {
            (Some("local"), Some(old)) => format!("zfs set {name}={old} {dataset}"),
            (Some("received"), _) => format!("zfs inherit -S {name} {dataset}"),
            _ => format!("zfs inherit {name} {dataset}"),
        });
    }
    Undone::By(back.join(" && "))
}

fn pool_property(assignment: &str, pool: &str, evidence: &Evidence) -> Undone {
    let name = assignment.split_once('=').map_or(assignment, |(name, _)| name);
    let properties = evidence.facts.pool(pool).and_then(|p| p.properties.as_ref());
    let old = properties.and_then(|all| all.get(name)).filter(|v| is_plain(v));
    match old {
        Some(old) => Undone::By(format!("zpool set {name}={old} {pool}")),
        None => Undone::Note(format!(
            "Before the change, keep `zpool get {name} {pool}`, and set that value again."
        )),
    }
}

fn written(file: &str, evidence: &Evidence) -> Undone {
    // Writing there asks for something to be done once.
    if file == "/proc/sys/vm/drop_caches" {
        return Undone::Nothing;
    }
    let name = file.split_once("/parameters/").map(|(_, name)| name);
    let recorded = name.and_then(|name| parameter(name, evidence)).filter(|v| is_plain(v));
    match recorded {
        Some(old) => Undone::By(format!("echo {old} > {file}")),
        None => Undone::Note(format!("Before the change, keep `cat {file}`, and write that value again.")),
    }
}

/// What to write so that a parameter means again what it meant.
fn parameter(name: &str, evidence: &Evidence) -> Option<String> {
    // Only a capture tells the value of the very host; a listing may be of another day.
    let recorded = evidence.facts.parameters.get(name)?.trim();
    if let Some(implementation) = zwhy_zfs::parse_implementation(recorded) {
        return implementation.selected;
    }
    match IN_FORCE.iter().find(|(parameter, _)| *parameter == name && recorded == "0") {
        Some((_, counter)) => Some(format!("{:.0}", evidence.kstat("arcstats", counter)?.value)),
        None => Some(recorded.to_owned()),
    }
}

/// Whether a value means itself in a command line.
fn is_plain(value: &str) -> bool {
    !value.is_empty() && value.chars().all(|c| c.is_ascii_alphanumeric() || "_-.:/@+,%".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use zwhy_evidence::{CaptureFacts, Kstat};

    fn host() -> Evidence {
        let facts = json!({
            "datasets": [
                { "name": "tank/a", "properties": { "compression": "gzip-9", "recordsize": "131072", "atime": "on" },
                  "sources": { "compression": "local", "recordsize": "received" } },
                { "name": "old/a", "properties": { "compression": "gzip-9" } },
            ],
            "pools": [{ "name": "tank", "properties": { "autotrim": "on" } }],
            "parameters": { "zfs_arc_max": "0", "zfs_prefetch_disable": "1", "zfs_fletcher_4_impl": "fastest [scalar] avx2" },
        });
        let (facts, left_out) = CaptureFacts::from_value(facts);
        assert!(left_out.is_empty(), "{left_out:?}");
        let mut evidence = Evidence { facts, ..Evidence::default() };
        let origin = evidence.origin("x");
        let (source, name) = ("arcstats".to_owned(), "c_max".to_owned());
        evidence.kstats.push(Kstat { source, name, value: 2147483648.0, rate: None, origin });
        evidence
    }

    #[test]
    fn the_way_back_is_what_was_recorded() {
        for (command, back) in [
            ("zfs set compression=lz4 tank/a", "zfs set compression=gzip-9 tank/a"),
            ("zfs set recordsize=1M tank/a", "zfs inherit -S recordsize tank/a"),
            ("zfs set atime=off tank/a", "zfs inherit atime tank/a"),
            ("zpool set autotrim=off tank", "zpool set autotrim=on tank"),
            (
                "echo 0 > /sys/module/zfs/parameters/zfs_prefetch_disable",
                "echo 1 > /sys/module/zfs/parameters/zfs_prefetch_disable",
            ),
            (
                "echo fastest > /sys/module/zcommon/parameters/zfs_fletcher_4_impl",
                "echo scalar > /sys/module/zcommon/parameters/zfs_fletcher_4_impl",
            ),
            (
                "echo 1 > /sys/module/zfs/parameters/zfs_arc_max",
                "echo 2147483648 > /sys/module/zfs/parameters/zfs_arc_max",
            ),
        ] {
            assert_eq!(undone(command, &host()), Undone::By(back.to_owned()), "{command}");
        }
    }

    #[test]
    fn what_was_not_recorded_has_to_be_kept_first() {
        for command in [
            "zfs set compression=lz4 old/a",
            "zfs set compression=lz4 DATASET",
            "zpool set comment=x tank",
            "echo 5 > /sys/module/zfs/parameters/zfs_txg_timeout",
            "echo 5 > /sys/module/zfs/parameters/zfs_arc_min",
        ] {
            assert!(
                matches!(undone(command, &host()), Undone::Note(n) if n.contains("Before the change")),
                "{command}"
            );
        }
        assert_eq!(undone("echo 3 > /proc/sys/vm/drop_caches", &host()), Undone::Nothing);
        assert!(!is_derived("modprobe -r zfs") && is_derived("zfs set a=b c"));
    }
}
