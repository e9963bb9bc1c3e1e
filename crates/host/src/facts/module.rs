//! OpenZFS as it is loaded: versions, origin, parameters, implementations, benchmarks, state of pools.

use super::Facts;
use super::root::Root;
use std::collections::BTreeMap;
use zwhy_evidence::{Bench, CaptureFacts, ChangedParameters, ParameterChange, ZfsFacts};
use zwhy_zfs::{Kstat, ParameterDefaults, parse_implementation, parse_kstat, parse_version};

const KSTATS: &str = "/proc/spl/kstat/zfs";
/// Modules that OpenZFS has been split into; since 2.2 only `spl` and `zfs`.
const MODULES: [&str; 4] = ["spl", "icp", "zcommon", "zfs"];

/// Facts from /sys and /proc.
pub(crate) fn module_facts(root: &Root, facts: &mut Facts) {
    let loaded = root.exists("/sys/module/zfs");
    let mounts = zfs_mounts(root);
    let pools = pool_states(root);
    facts.values.zfs = ZfsFacts {
        module_loaded: Some(loaded),
        version: root.text("/sys/module/zfs/version"),
        spl_version: root.text("/sys/module/spl/version"),
        origin: loaded.then(|| module_origin(root)),
        taint: root.text("/sys/module/zfs/taint").filter(|_| loaded),
        in_use: Some(!pools.is_empty() || arc_in_use(root) || !mounts.is_empty()),
        ..ZfsFacts::default()
    };
    for (pool, _) in pools.iter().filter(|(_, state)| *state == "SUSPENDED") {
        facts.limits.push(format!(
            "pool {pool} is suspended: its disks do not answer, and commands on it hang; look at dmesg and \
             zpool status, then zpool clear {pool}"
        ));
    }
    facts.values.zfs.pool_states = Some(pools);
    facts.values.mounts = (!mounts.is_empty()).then_some(mounts);
    if loaded {
        parameters(root, &mut facts.values);
        facts.values.bench = benchmarks(root);
    }
}

/// All parameters, what they select, and which were changed.
fn parameters(root: &Root, facts: &mut CaptureFacts) {
    let mut unreadable = 0;
    for module in MODULES {
        let folder = format!("/sys/module/{module}/parameters");
        for name in root.names(&folder) {
            let Some(value) = root.text(&format!("{folder}/{name}")) else {
                unreadable += 1;
                continue;
            };
            if let Some(choice) = parse_implementation(&value).and_then(|i| i.selected) {
                facts.implementations.insert(name.clone(), choice);
            }
            facts.parameters.insert(name, value);
        }
    }
    facts.parameters_changed = changed(facts);
    facts.parameters_unreadable = Some(unreadable);
}

/// Parameters that are not at the default of this release; `None` when no table applies to it.
fn changed(facts: &CaptureFacts) -> Option<ChangedParameters> {
    let version = parse_version(facts.zfs.version.as_deref()?)?;
    let defaults = ParameterDefaults::of(&version);
    let table = defaults.table.clone()?;
    let differing = facts.parameters.iter().filter_map(|(name, value)| {
        let default = defaults.differs(name, value)?;
        Some((name.clone(), ParameterChange { value: value.clone(), default: default.to_string() }))
    });
    let values = Some(differing.collect());
    Some(ChangedParameters { defaults_of: Some(table), values, ..ChangedParameters::default() })
}

/// How the module was installed, by where modprobe would find it.
pub(crate) fn module_origin(root: &Root) -> String {
    if !root.exists("/sys/module/zfs/initstate") {
        return "built in".to_owned();
    }
    match module_path(root, "zfs") {
        Some(path) if path.contains("dkms") => format!("DKMS ({path})"),
        Some(path) if path.starts_with("kernel/") => format!("distribution ({path})"),
        Some(path) if path.contains("extra/") || path.contains("weak-updates/") => {
            format!("module package ({path})")
        }
        Some(path) => path,
        None => "loaded by hand".to_owned(),
    }
}

/// Path of a module's file below /lib/modules/RELEASE, from the index of modprobe.
pub(crate) fn module_path(root: &Root, module: &str) -> Option<String> {
    let release = root.text("/proc/sys/kernel/osrelease")?;
    let list = root.text(&format!("/lib/modules/{release}/modules.dep"))?;
    let file = format!("{module}.ko");
    let is_it = |path: &&str| {
        path.rsplit('/').next().is_some_and(|f| f == file || f.starts_with(&format!("{file}.")))
    };
    list.lines().filter_map(|l| l.split(':').next()).find(is_it).map(str::to_owned)
}

/// State of each pool, from the kstat that never waits for the pool.
pub(crate) fn pool_states(root: &Root) -> BTreeMap<String, String> {
    let state = |pool: String| {
        let state = root.text(&format!("{KSTATS}/{pool}/state"))?;
        Some((pool, state))
    };
    root.names(KSTATS).into_iter().filter_map(state).collect()
}

/// Something was ever read through the ARC.
fn arc_in_use(root: &Root) -> bool {
    let text = root.text(&format!("{KSTATS}/arcstats")).unwrap_or_default();
    let Ok(Kstat::Named { values, .. }) = parse_kstat(&text) else { return false };
    values
        .iter()
        .filter(|v| matches!(v.name.as_str(), "hits" | "misses"))
        .any(|v| v.value.number().is_some_and(|n| n > 0))
}

fn zfs_mounts(root: &Root) -> Vec<String> {
    let mounts = root.text("/proc/self/mounts").unwrap_or_default();
    let fields = |line: &str| -> Option<String> {
        let mut fields = line.split(' ');
        let (name, at, kind) = (fields.next()?, fields.next()?, fields.next()?);
        (kind == "zfs").then(|| format!("{name} on {at}"))
    };
    mounts.lines().filter_map(fields).collect()
}

fn benchmarks(root: &Root) -> BTreeMap<String, Bench> {
    let bench = |name: &str| {
        let text = root.text(&format!("{KSTATS}/{name}")).unwrap_or_default();
        match parse_kstat(&text) {
            Ok(Kstat::Table { columns, rows }) => Some((name.to_owned(), Bench { columns, rows })),
            _ => None,
        }
    };
    ["fletcher_4_bench", "vdev_raidz_bench", "chksum_bench"].into_iter().filter_map(bench).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_loaded_module_tells_its_origin_pools_and_changes() {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("sys/module/zfs/version", "2.3.2-2\n");
        put("sys/module/zfs/initstate", "live\n");
        put("sys/module/zfs/parameters/zfs_arc_max", "1073741824\n");
        put("sys/module/zfs/parameters/zfs_dirty_data_max", "5\n");
        put("sys/module/zfs/parameters/zfs_prefetch_disable", "0\n");
        put("sys/module/zfs/parameters/icp_aes_impl", "cycle fastest [generic]\n");
        put("proc/sys/kernel/osrelease", "6.1.0\n");
        put(
            "lib/modules/6.1.0/modules.dep",
            "kernel/fs/xfs/xfs.ko:\nupdates/dkms/zfs.ko.xz: updates/dkms/spl.ko.xz\n",
        );
        put("proc/spl/kstat/zfs/tank/state", "SUSPENDED\n");
        put("proc/self/mounts", "tank/a /tank/a zfs rw 0 0\nproc /proc proc rw 0 0\n");
        let mut facts = Facts::default();
        module_facts(&Root::at(dir.path()), &mut facts);
        let zfs = &facts.values.zfs;
        assert_eq!(zfs.origin.as_deref(), Some("DKMS (updates/dkms/zfs.ko.xz)"));
        assert_eq!((zfs.in_use, &*zfs.pool_states.as_ref().unwrap()["tank"]), (Some(true), "SUSPENDED"));
        assert_eq!(facts.values.mounts.as_deref(), Some(&["tank/a on /tank/a".to_owned()][..]));
        assert_eq!(facts.values.implementations["icp_aes_impl"], "generic");
        let changed = facts.values.parameters_changed.as_ref().unwrap();
        assert_eq!(changed.defaults_of.as_deref(), Some("2.3"));
        let values = changed.values.as_ref().unwrap();
        assert_eq!((&*values["zfs_arc_max"].value, &*values["zfs_arc_max"].default), ("1073741824", "0"));
        let names: Vec<&String> = values.keys().collect();
        assert_eq!(names, ["icp_aes_impl", "zfs_arc_max"], "computed and untouched ones are no change");
        assert!(facts.limits[0].contains("zpool clear tank"), "{:?}", facts.limits);
    }

    #[test]
    fn a_host_without_zfs_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let mut facts = Facts::default();
        module_facts(&Root::at(dir.path()), &mut facts);
        let ZfsFacts { module_loaded, in_use, pool_states, version, .. } = facts.values.zfs;
        assert_eq!((module_loaded, in_use, version), (Some(false), Some(false), None));
        assert!(pool_states.is_some_and(|states| states.is_empty()));
    }
}
