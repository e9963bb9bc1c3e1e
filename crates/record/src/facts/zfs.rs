//! OpenZFS on this host: module, parameters, benchmarks; pools and datasets from its tools.

use super::Facts;
use super::tools::{Output, run};
use serde_json::{Map, Value, json};
use std::fs;
use std::path::Path;
use zwhy_zfs::{Kstat, PropertyRow, parse_implementation, parse_kstat, parse_pool_list, parse_properties};

const KSTATS: &str = "/proc/spl/kstat/zfs";

/// Properties that decide what data costs; recorded even at their default.
const DATASET_PROPERTIES: [&str; 26] = [
    "type",
    "mounted",
    "mountpoint",
    "encryption",
    "keyformat",
    "keystatus",
    "encryptionroot",
    "compression",
    "compressratio",
    "checksum",
    "recordsize",
    "volblocksize",
    "primarycache",
    "secondarycache",
    "sync",
    "logbias",
    "dedup",
    "atime",
    "copies",
    "xattr",
    "acltype",
    "dnodesize",
    "redundant_metadata",
    "special_small_blocks",
    "used",
    "direct",
];
/// More datasets than this are counted, not listed.
const MOST_DATASETS: usize = 2000;

/// Facts from /sys and /proc.
pub(crate) fn module_facts(facts: &mut Facts) {
    let loaded = Path::new("/sys/module/zfs").is_dir();
    let mut zfs = Map::new();
    zfs.insert("module_loaded".into(), loaded.into());
    if let Some(version) = read("/sys/module/zfs/version") {
        zfs.insert("version".into(), version.into());
    }
    if loaded {
        let origin =
            if Path::new("/sys/module/zfs/initstate").exists() { module_origin() } else { "built in".into() };
        zfs.insert("origin".into(), origin.into());
    }
    let mounts = zfs_mounts();
    zfs.insert("in_use".into(), (pool_in_kstats() || arc_in_use() || !mounts.is_empty()).into());
    facts.values.insert("zfs".into(), Value::Object(zfs));
    if !mounts.is_empty() {
        facts.values.insert("mounts".into(), mounts.into());
    }

    let (mut parameters, mut implementations) = (Map::new(), Map::new());
    for module in ["spl", "icp", "zcommon", "zfs"] {
        let folder = format!("/sys/module/{module}/parameters");
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let (Ok(name), Some(value)) = (entry.file_name().into_string(), read_path(&entry.path())) else {
                continue;
            };
            if let Some(choice) = parse_implementation(&value).and_then(|i| i.selected) {
                implementations.insert(name.clone(), choice.into());
            }
            parameters.insert(name, value.into());
        }
    }
    if loaded {
        facts.values.insert("parameters".into(), Value::Object(parameters));
        facts.values.insert("implementations".into(), Value::Object(implementations));
        facts.values.insert("bench".into(), benchmarks());
    }
}

/// How the module was installed, by where modprobe would find it.
fn module_origin() -> String {
    let release = read("/proc/sys/kernel/osrelease").unwrap_or_default();
    let list = fs::read_to_string(format!("/lib/modules/{release}/modules.dep")).unwrap_or_default();
    let path = list
        .lines()
        .filter_map(|l| l.split(':').next())
        .find(|p| p.rsplit('/').next().is_some_and(|f| f.starts_with("zfs.ko")));
    match path {
        Some(path) if path.contains("dkms") => format!("DKMS ({path})"),
        Some(path) if path.starts_with("kernel/") => format!("distribution ({path})"),
        Some(path) => path.to_owned(),
        None => "loaded by hand".to_owned(),
    }
}

/// Every pool has a folder among the kstats.
fn pool_in_kstats() -> bool {
    fs::read_dir(KSTATS).into_iter().flatten().flatten().any(|e| e.path().join("state").exists())
}

/// Something was ever read through the ARC.
fn arc_in_use() -> bool {
    let text = read(&format!("{KSTATS}/arcstats")).unwrap_or_default();
    let Ok(Kstat::Named { values, .. }) = parse_kstat(&text) else { return false };
    values
        .iter()
        .filter(|v| matches!(v.name.as_str(), "hits" | "misses"))
        .any(|v| v.value.number().is_some_and(|n| n > 0))
}

fn zfs_mounts() -> Vec<String> {
    let mounts = read("/proc/self/mounts").unwrap_or_default();
    let fields = |line: &str| -> Option<String> {
        let mut fields = line.split(' ');
        let (name, at, kind) = (fields.next()?, fields.next()?, fields.next()?);
        (kind == "zfs").then(|| format!("{name} on {at}"))
    };
    mounts.lines().filter_map(fields).collect()
}

fn benchmarks() -> Value {
    let mut bench = Map::new();
    for name in ["fletcher_4_bench", "vdev_raidz_bench", "chksum_bench"] {
        let text = read(&format!("{KSTATS}/{name}")).unwrap_or_default();
        if let Ok(Kstat::Table { columns, rows }) = parse_kstat(&text) {
            bench.insert(name.to_owned(), json!({ "columns": columns, "rows": rows }));
        }
    }
    Value::Object(bench)
}

/// Facts from `zpool` and `zfs`; the first that hangs ends the questions.
pub(crate) fn tool_facts(facts: &mut Facts) {
    match run("zfs", &["version"]) {
        Output::Text(text) => {
            if let (Some(line), Some(Value::Object(zfs))) = (text.lines().next(), facts.values.get_mut("zfs"))
            {
                zfs.insert("userland".into(), line.into());
            }
        }
        Output::NotInstalled => return,
        Output::TimedOut => return hangs(facts, "zfs version"),
        Output::Failed(_) => {} // 0.7 has no such command
    }
    let module_loaded =
        facts.values.get("zfs").and_then(|z| z.get("module_loaded")) == Some(&Value::Bool(true));
    if !module_loaded {
        return; // the tools would only complain, or load the module
    }
    let columns = "name,size,alloc,free,frag,cap,health";
    let Some(list) = ask(facts, "zpool", &["list", "-Hp", "-o", columns]) else { return };
    let (pools, _) = parse_pool_list(&list);
    if let (Some(Value::Object(zfs)), false) = (facts.values.get_mut("zfs"), pools.is_empty()) {
        zfs.insert("in_use".into(), true.into());
    }
    let get = ["get", "-Hp", "-o", "name,property,value,source", "all"];
    let Some(text) = ask(facts, "zpool", &get) else { return };
    let (properties, _) = parse_properties(&text);
    let pools: Vec<Value> = pools
        .iter()
        .map(|pool| {
            let own = properties.iter().filter(|p| p.name == pool.name && kept_of_pool(p));
            json!({
                "name": pool.name, "health": pool.health, "capacity_pct": pool.capacity_pct,
                "fragmentation_pct": pool.fragmentation_pct, "size_bytes": pool.size_bytes,
                "properties": property_map(own),
            })
        })
        .collect();
    facts.values.insert("pools".into(), pools.into());
    datasets(facts);
}

/// Set by somebody, or a size, a version or a feature that is in use.
fn kept_of_pool(row: &PropertyRow) -> bool {
    row.source.is_set()
        || (row.property.starts_with("feature@") && row.value == "active")
        || row.property == "ashift"
}

fn datasets(facts: &mut Facts) {
    // Older versions refuse the whole list for one property that they do not know.
    let mut wanted = &DATASET_PROPERTIES[..];
    let text = loop {
        let list = wanted.join(",");
        let args = ["get", "-Hp", "-t", "filesystem,volume", "-o", "name,property,value,source", &list];
        match run("zfs", &args) {
            Output::Text(text) => break text,
            Output::Failed(_) if wanted.len() == DATASET_PROPERTIES.len() => {
                wanted = &wanted[..wanted.len() - 1]
            }
            Output::Failed(why) => {
                return facts.limits.push(format!("zfs get failed: {why}; datasets are not recorded"));
            }
            Output::TimedOut => return hangs(facts, "zfs get"),
            Output::NotInstalled => return,
        }
    };
    let (rows, _) = parse_properties(&text);
    let mut datasets: Vec<Value> = Vec::new();
    let mut groups = rows.chunk_by(|a, b| a.name == b.name);
    for group in groups.by_ref().take(MOST_DATASETS) {
        let value = |name: &str| group.iter().find(|r| r.property == name).map(|r| r.value.clone());
        let kept =
            group.iter().filter(|r| !matches!(r.property.as_str(), "type" | "mounted") && r.value != "-");
        datasets.push(json!({
            "name": group[0].name, "type": value("type"), "mounted": value("mounted").as_deref() == Some("yes"),
            "properties": property_map(kept),
        }));
    }
    let more = groups.count();
    if more > 0 {
        facts.limits.push(format!("{more} more datasets are not listed; the first {MOST_DATASETS} are"));
    }
    facts.values.insert("datasets".into(), datasets.into());
}

fn property_map<'a>(rows: impl Iterator<Item = &'a PropertyRow>) -> Value {
    Value::Object(rows.map(|r| (r.property.clone(), Value::from(r.value.clone()))).collect())
}

/// The command's output; what went wrong becomes a limit.
fn ask(facts: &mut Facts, program: &str, args: &[&str]) -> Option<String> {
    match run(program, args) {
        Output::Text(text) => return Some(text),
        Output::TimedOut => hangs(facts, &format!("{program} {}", args[0])),
        Output::Failed(why) => {
            facts.limits.push(format!("{program} {} failed: {why}; pools are not recorded", args[0]));
        }
        Output::NotInstalled => {}
    }
    None
}

fn hangs(facts: &mut Facts, command: &str) {
    facts.limits.push(format!(
        "{command} did not answer within 3 s (a suspended pool?); pools and datasets are not recorded; \
         look at dmesg and zpool status"
    ));
}

fn read(path: &str) -> Option<String> {
    read_path(Path::new(path))
}

fn read_path(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    Some(String::from_utf8_lossy(&bytes).trim().to_owned())
}
