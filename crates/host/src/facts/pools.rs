//! Pools, vdevs and datasets from `zpool` and `zfs`.
//!
//! `zpool status` is asked for JSON, which 2.3 has and which gives the vdev tree without guessing; the
//! others for their lines (`-Hp`), which every version has and of which whole lines are kept when a
//! command hangs half-way.

use super::tools::{Output, Patience};
use super::{Facts, devices};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use zwhy_evidence::{Amount, DatasetCounts, DatasetFacts, EncryptionRoot, PoolFacts};
use zwhy_zfs::{
    PoolRow, PoolStatus, PropertyRow, parse_pool_list, parse_pool_status, parse_pool_status_json,
    parse_properties,
};

/// All commands together, on a host whose CPUs are all busy, too.
pub const PATIENCE: Duration = Duration::from_secs(20);
/// One command that answers from memory; on a host whose CPUs are all busy that takes seconds.
const SHORT: Duration = Duration::from_secs(6);

/// Properties that decide what data costs; recorded even at their default. The last one is the
/// newest: older versions refuse the whole list for one that they do not know.
const DATASET_PROPERTIES: &str = "type,mounted,mountpoint,encryption,keyformat,keystatus,encryptionroot,\
    compression,compressratio,checksum,recordsize,volblocksize,primarycache,secondarycache,sync,logbias,dedup,\
    atime,copies,xattr,acltype,dnodesize,redundant_metadata,special_small_blocks,used,direct";
/// Of these the number of datasets by value is kept for all datasets, however many there are.
const COUNTED: &str = "encryption,compression,checksum,recordsize,volblocksize,sync,dedup,xattr,primarycache";
/// More datasets than this are counted, not listed.
const MOST_DATASETS: usize = 2000;

/// Facts from `zpool` and `zfs`. One that takes too long does not keep the others from being asked, unless a pool
/// is suspended: then they would all hang.
pub(crate) fn tool_facts(facts: &mut Facts) {
    let patience = Patience::of(PATIENCE);
    tool_facts_by(facts, &mut |program, args, limit| {
        if patience.left().is_zero() {
            return Output::TimedOut(String::new());
        }
        patience.run(program, args, limit)
    });
}

/// Runs a program with arguments for at most so long.
type Run<'r> = &'r mut dyn FnMut(&str, &[&str], Duration) -> Output;

fn tool_facts_by(facts: &mut Facts, run: Run<'_>) {
    let mut states = facts.values.zfs.pool_states.iter().flatten();
    let suspended = states.any(|(_, state)| state == "SUSPENDED");
    let mut tools = Tools { run, suspended, hung: Vec::new() };
    match tools.run("zfs", &["version"], SHORT) {
        Output::Text(text) => userland(facts, &text),
        Output::NotInstalled => return,
        Output::TimedOut(_) | Output::Failed(_) => {} // 0.7 has no such command
    }
    // Without the module the tools would only complain, or load it.
    if facts.values.zfs.module_loaded == Some(true) {
        pools(facts, &mut tools);
        datasets(facts, &mut tools);
        snapshots(facts, &mut tools);
    }
    facts.limits.extend(tools.unanswered());
}

/// The tools of ZFS, and which commands got no answer in time.
struct Tools<'r> {
    run: Run<'r>,
    /// A pool is suspended.
    suspended: bool,
    hung: Vec<String>,
}

impl Tools<'_> {
    /// As [`Patience::run`]; what takes too long is remembered.
    fn run(&mut self, program: &str, args: &[&str], limit: Duration) -> Output {
        if self.suspended && !self.hung.is_empty() {
            return Output::TimedOut(String::new());
        }
        let output = (self.run)(program, args, limit);
        if matches!(output, Output::TimedOut(_)) {
            let command = format!("{program} {}", args.first().unwrap_or(&""));
            if !self.hung.contains(&command) {
                self.hung.push(command);
            }
        }
        output
    }

    /// The command's whole lines, as far as it came; that it failed becomes a limit.
    fn text(&mut self, facts: &mut Facts, program: &str, args: &[&str]) -> String {
        match self.run(program, args, SHORT) {
            Output::Text(text) | Output::TimedOut(text) => return text,
            Output::Failed(why) => {
                let command = args.first().unwrap_or(&"");
                facts
                    .limits
                    .push(format!("{program} {command} failed: {why}; what it tells is not recorded"));
            }
            Output::NotInstalled => {}
        }
        String::new()
    }

    /// A sentence on the commands without an answer.
    fn unanswered(&self) -> Option<String> {
        let (last, others) = self.hung.split_last()?;
        let commands =
            if others.is_empty() { last.clone() } else { format!("{} and {last}", others.join(", ")) };
        let why = if self.suspended { "a pool is suspended" } else { "a loaded host, or a suspended pool" };
        Some(format!(
            "{commands} did not answer in time ({why}); what they did not tell of pools and datasets is not \
             recorded; look at dmesg and at /proc/spl/kstat/zfs/*/state"
        ))
    }
}

/// The version of the tools, and whether the module is of another release.
fn userland(facts: &mut Facts, text: &str) {
    let Some(line) = text.lines().next() else { return };
    let zfs = &mut facts.values.zfs;
    zfs.userland = Some(line.to_owned());
    let module = zfs.version.as_deref().and_then(zwhy_zfs::parse_version);
    if let (Some(module), Some(tools)) = (module, zwhy_zfs::parse_version(line)) {
        let release = |v: &zwhy_zfs::Version| (v.major, v.minor, v.patch, v.candidate);
        zfs.versions_differ = Some(release(&module) != release(&tools));
    }
}

fn pools(facts: &mut Facts, tools: &mut Tools<'_>) {
    let columns = "name,size,alloc,free,frag,cap,health";
    let list = match tools.run("zpool", &["list", "-Hp", "-o", columns], SHORT) {
        Output::Text(text) => Some(text),
        Output::TimedOut(text) => Some(text).filter(|text| !text.is_empty()),
        Output::Failed(why) => {
            return facts.limits.push(format!("zpool list failed: {why}; pools are not recorded"));
        }
        Output::NotInstalled => return,
    };
    let rows = list.as_deref().map(|list| parse_pool_list(list).0);
    let get = ["get", "-Hp", "-o", "name,property,value,source", "all"];
    let (properties, _) = parse_properties(&tools.text(facts, "zpool", &get));
    let status = status(facts, tools);
    // Nobody said that there are none.
    let Some(rows) = rows.or_else(|| pools_of(&status)) else { return };
    if !rows.is_empty() {
        facts.values.zfs.in_use = Some(true);
    }
    put_pools(facts, &rows, &properties, &status);
}

/// The vdevs, with what a scrub, a trim and the like have still to do: as JSON, which 2.3 has, as text, or without
/// trims, which 0.7 has not.
fn status(facts: &mut Facts, tools: &mut Tools<'_>) -> Vec<PoolStatus> {
    for options in ["-jpti", "-pti"] {
        match tools.run("zpool", &["status", options], SHORT) {
            Output::Text(text) if options.starts_with("-j") => {
                return parse_pool_status_json(&text, now_s()).unwrap_or_default();
            }
            Output::Text(text) => return parse_pool_status(&text, Some(now_s())).0,
            Output::TimedOut(text) => return parse_pool_status(&text, Some(now_s())).0,
            Output::Failed(_) | Output::NotInstalled => {}
        }
    }
    parse_pool_status(&tools.text(facts, "zpool", &["status", "-p"]), None).0
}

/// The Unix clock.
fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Pools that only `zpool status` told of; their sizes are not known.
fn pools_of(status: &[PoolStatus]) -> Option<Vec<PoolRow>> {
    let row = |pool: &PoolStatus| PoolRow {
        name: pool.name.clone(),
        health: pool.state.clone(),
        ..PoolRow::default()
    };
    (!status.is_empty()).then(|| status.iter().map(row).collect())
}

fn put_pools(facts: &mut Facts, rows: &[PoolRow], properties: &[PropertyRow], status: &[PoolStatus]) {
    let pools = rows.iter().map(|pool| {
        let own = properties.iter().filter(|p| p.name == pool.name && kept_of_pool(p));
        let mut fact = PoolFacts {
            name: Some(pool.name.clone()),
            health: Some(pool.health.clone()),
            capacity_pct: pool.capacity_pct.map(|n| n as f64),
            fragmentation_pct: pool.fragmentation_pct.map(|n| n as f64),
            size_bytes: pool.size_bytes,
            properties: Some(property_map(own)),
            ..PoolFacts::default()
        };
        if let Some(status) = status.iter().find(|s| s.name == pool.name) {
            let has = |class: &str| Some(status.vdevs.iter().any(|v| v.class.starts_with(class)));
            (fact.has_log, fact.has_cache) = (has("log"), has("l2cache"));
            fact.has_special = has("special");
            fact.scan = Some(status.scan.clone()).filter(|scan| !scan.is_empty());
            fact.moves = Some(status.moves.clone()).filter(|moves| !moves.is_empty());
            let mut vdevs = status.vdevs.clone();
            devices::name(&mut vdevs, Path::new("/dev"));
            fact.vdevs = Some(vdevs);
        }
        fact
    });
    facts.values.pools = Some(pools.collect());
}

/// Set by somebody, or a feature that is in use, or what a remedy may change or depends on.
fn kept_of_pool(row: &PropertyRow) -> bool {
    row.source.is_set()
        || (row.property.starts_with("feature@") && row.value == "active")
        || matches!(row.property.as_str(), "ashift" | "autotrim")
        || (row.property == "freeing" && row.value != "0")
}

fn datasets(facts: &mut Facts, tools: &mut Tools<'_>) {
    let mut wanted = DATASET_PROPERTIES;
    let text = loop {
        let args = ["get", "-Hp", "-t", "filesystem,volume", "-o", "name,property,value,source", wanted];
        match tools.run("zfs", &args, PATIENCE) {
            Output::Text(text) => break text,
            Output::Failed(_) if wanted == DATASET_PROPERTIES => {
                wanted = wanted.rsplit_once(',').map_or("", |(older, _)| older);
            }
            Output::Failed(why) => {
                return facts.limits.push(format!("zfs get failed: {why}; datasets are not recorded"));
            }
            // Nobody said that there are none.
            Output::TimedOut(text) if text.is_empty() => return,
            Output::TimedOut(text) => break text,
            Output::NotInstalled => return,
        }
    };
    let (mut rows, odd) = parse_properties(&text);
    // Properties that somebody set besides these; of users' own ones only OpenZFS's matter here.
    let set = ["get", "-Hp", "-t", "filesystem,volume", "-s", "local,received,temporary"];
    let set = [&set[..], &["-o", "name,property,value,source", "all"]].concat();
    if let Output::Text(text) = tools.run("zfs", &set, PATIENCE) {
        let (more, _) = parse_properties(&text);
        let own =
            |r: &PropertyRow| !r.property.contains(':') && !wanted.split(',').any(|name| name == r.property);
        rows.extend(more.into_iter().filter(own));
        rows.sort_by(|a, b| a.name.cmp(&b.name));
    }
    put_datasets(facts, &rows, odd);
}

/// How many snapshots there are. Their names alone, in the order of names, are listed without asking
/// for the properties of each (`zfs_do_list`, cmd/zfs/zfs_main.c: a simple iteration).
fn snapshots(facts: &mut Facts, tools: &mut Tools<'_>) {
    let args = ["list", "-H", "-t", "snapshot", "-o", "name", "-s", "name"];
    match tools.run("zfs", &args, SHORT) {
        Output::Text(text) => {
            facts.values.snapshots = Some(Amount::Number(snapshots_in(&text) as u64));
        }
        Output::TimedOut(text) if text.is_empty() => {} // said of all commands together
        Output::TimedOut(text) => facts.limits.push(format!(
            "snapshots are not counted: there are more than {}, which took too long to list",
            snapshots_in(&text)
        )),
        Output::Failed(why) => {
            facts.limits.push(format!("zfs list failed: {why}; snapshots are not counted"));
        }
        Output::NotInstalled => {}
    }
}

fn snapshots_in(list: &str) -> usize {
    list.lines().filter(|line| line.contains('@')).count()
}

/// `rows` of one dataset stand together.
fn put_datasets(facts: &mut Facts, rows: &[PropertyRow], odd: usize) {
    let mut listed: Vec<DatasetFacts> = Vec::new();
    let mut counts: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    let mut roots: BTreeMap<&str, (u64, &str, &str)> = BTreeMap::new();
    let mut total = 0usize;
    for group in rows.chunk_by(|a, b| a.name == b.name) {
        total += 1;
        let value = |name: &str| group.iter().find(|r| r.property == name).map_or("-", |r| r.value.as_str());
        for row in
            group.iter().filter(|r| COUNTED.split(',').any(|name| name == r.property) && r.value != "-")
        {
            *counts.entry(row.property.clone()).or_default().entry(row.value.clone()).or_default() += 1;
        }
        if value("encryptionroot") != "-" {
            let root =
                roots.entry(value("encryptionroot")).or_insert((0, value("encryption"), value("keystatus")));
            root.0 += 1;
        }
        if listed.len() < MOST_DATASETS {
            let kept =
                group.iter().filter(|r| !matches!(r.property.as_str(), "type" | "mounted") && r.value != "-");
            listed.push(DatasetFacts {
                name: Some(group[0].name.clone()),
                kind: Some(value("type").to_owned()),
                mounted: Some(value("mounted") == "yes"),
                properties: Some(property_map(kept)),
                sources: Some(sources(group)),
                ..DatasetFacts::default()
            });
        }
    }
    let more = total - listed.len();
    if more > 0 {
        facts.limits.push(format!(
            "{more} of {total} datasets are not listed one by one; counts of their main properties are kept"
        ));
    }
    let root = |(name, (datasets, cipher, key)): (&str, (u64, &str, &str))| EncryptionRoot {
        name: Some(name.to_owned()),
        encryption: Some(cipher.to_owned()),
        keystatus: Some(key.to_owned()),
        datasets: Some(datasets),
        ..EncryptionRoot::default()
    };
    facts.values.datasets = Some(listed);
    facts.values.dataset_counts = Some(DatasetCounts {
        total: Some(total as u64),
        by_value: Some(counts),
        unparsed_lines: Some(odd as u64),
        ..DatasetCounts::default()
    });
    facts.values.encryption_roots = Some(roots.into_iter().map(root).collect());
}

/// Where values come from that are not the default: `local`, `received`, `inherited from tank`.
/// What takes a change back depends on it.
fn sources(rows: &[PropertyRow]) -> BTreeMap<String, String> {
    rows.iter().filter_map(|row| Some((row.property.clone(), row.source.as_set()?))).collect()
}

fn property_map<'a>(rows: impl Iterator<Item = &'a PropertyRow>) -> BTreeMap<String, String> {
    rows.map(|r| (r.property.clone(), r.value.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn of_ten_thousand_datasets_all_are_counted_and_some_listed() {
        let mut text = String::new();
        for i in 0..10_000 {
            let cipher = if i % 2 == 0 { "aes-256-gcm" } else { "off" };
            let root = if i % 2 == 0 { "tank" } else { "-" };
            text.push_str(&format!("tank/d{i:05}\tencryption\t{cipher}\tdefault\n"));
            text.push_str(&format!("tank/d{i:05}\tencryptionroot\t{root}\t-\n"));
            text.push_str(&format!("tank/d{i:05}\trecordsize\t131072\tdefault\n"));
        }
        let (rows, odd) = parse_properties(&text);
        let mut facts = Facts::default();
        put_datasets(&mut facts, &rows, odd);
        assert_eq!(facts.values.datasets.as_ref().unwrap().len(), MOST_DATASETS);
        let counts = facts.values.dataset_counts.unwrap();
        assert_eq!((counts.total, counts.by_value.unwrap()["encryption"]["off"]), (Some(10_000), 5000));
        let roots = serde_json::to_value(facts.values.encryption_roots).unwrap();
        let root = json!({ "name": "tank", "encryption": "aes-256-gcm", "keystatus": "-", "datasets": 5000 });
        assert_eq!(roots, json!([root]));
        assert!(facts.limits[0].contains("8000 of 10000"), "{:?}", facts.limits);
    }

    #[test]
    fn datasets_know_where_their_values_come_from() {
        let (rows, _) = parse_properties(
            "tank/a\tcompression\tgzip-9\tlocal\ntank/a\tatime\toff\tinherited from tank\n\
             tank/a\trecordsize\t131072\tdefault\ntank/a\tused\t5\t-\n",
        );
        let mut facts = Facts::default();
        put_datasets(&mut facts, &rows, 0);
        let sources = facts.values.datasets.unwrap()[0].sources.clone();
        let told = [("atime", "inherited from tank"), ("compression", "local")];
        assert_eq!(sources, Some(told.map(|(a, b)| (a.to_owned(), b.to_owned())).into()));
    }

    #[test]
    fn pools_know_their_vdevs_and_which_classes_they_have() {
        let (rows, _) = parse_pool_list("tank\t100\t40\t60\t7\t40\tONLINE\n");
        let (status, _) = parse_pool_status(
            "  pool: tank\n state: ONLINE\nconfig:\n\n\ttank ONLINE 0 0 0\n\t  mirror-0 ONLINE 0 0 0\n\
             \t    sda ONLINE 0 0 0\n\tlogs\n\t  sdb ONLINE 0 0 0\n",
            None,
        );
        let mut facts = Facts::default();
        put_pools(&mut facts, &rows, &[], &status);
        let pool = &facts.values.pools.as_ref().unwrap()[0];
        assert_eq!((pool.has_log, pool.has_special), (Some(true), Some(false)));
        assert_eq!(pool.vdevs.as_ref().unwrap()[0].children[0].name, "sda");
    }

    /// What a host with one pool and one dataset answers, but for commands that begin with one of `hang`.
    fn asked(hang: &[&str], suspended: bool) -> (Facts, Vec<String>) {
        let mut facts = Facts::default();
        facts.values.zfs.module_loaded = Some(true);
        let state = if suspended { "SUSPENDED" } else { "ONLINE" };
        facts.values.zfs.pool_states = Some([("tank".to_owned(), state.to_owned())].into());
        let mut ran = Vec::new();
        tool_facts_by(&mut facts, &mut |program, args, _| {
            let command = format!("{program} {}", args.join(" "));
            ran.push(format!("{program} {}", args[0]));
            if hang.iter().any(|h| command.starts_with(h)) {
                return Output::TimedOut(String::new());
            }
            let text = match (program, args[0]) {
                ("zfs", "version") => "zfs-2.3.2-1\n",
                ("zpool", "list") => "tank\t100\t40\t60\t7\t40\tONLINE\n",
                ("zpool", "get") => "tank\tautotrim\ton\tlocal\n",
                ("zpool", "status") if args[1] == "-jpti" => return Output::Failed("no -j".into()),
                ("zpool", "status") => {
                    "  pool: tank\n state: ONLINE\nconfig:\n\n\ttank ONLINE 0 0 0\n\t  sda ONLINE 0 0 0\n"
                }
                ("zfs", "get") => "tank\trecordsize\t131072\tdefault\n",
                _ => "tank@a\n",
            };
            Output::Text(text.to_owned())
        });
        (facts, ran)
    }

    #[test]
    fn a_command_that_takes_too_long_does_not_stop_the_others() {
        let (all, ran) = asked(&[], false);
        assert_eq!((all.limits.len(), ran.len()), (0, 8), "{ran:?} {:?}", all.limits);
        for hang in ["zfs version", "zpool list", "zpool get", "zpool status", "zfs get", "zfs list"] {
            let (facts, ran) = asked(&[hang], false);
            assert!(ran.last().is_some_and(|last| last == "zfs list"), "{hang}: {ran:?}");
            assert_eq!(facts.limits.len(), 1, "{:?}", facts.limits);
            assert!(facts.limits[0].starts_with(&format!("{hang} did not answer in time (a loaded host")));
            let values = &facts.values;
            let pools = values.pools.as_ref().unwrap();
            assert_eq!(pools[0].name.as_deref(), Some("tank"), "{hang}");
            assert_eq!(values.datasets.is_some(), hang != "zfs get");
            assert_eq!(values.snapshots.is_some(), hang != "zfs list");
        }
        let (none, _) = asked(&["z"], false);
        assert!(none.values.pools.is_none() && none.values.datasets.is_none(), "unknown, not none");
        assert!(
            none.limits[0]
                .starts_with("zfs version, zpool list, zpool get, zpool status, zfs get and zfs list did")
        );
    }

    #[test]
    fn nothing_more_is_asked_where_a_pool_is_suspended_and_the_first_hangs() {
        let (facts, ran) = asked(&["zpool list", "zpool get"], true);
        assert_eq!(ran, ["zfs version", "zpool list"]);
        assert!(facts.limits[0].starts_with("zpool list did not answer in time (a pool is suspended)"));
    }

    #[test]
    fn snapshots_are_counted_and_complaints_are_not() {
        assert_eq!(snapshots_in("tank@a\ntank/b@a b\nno datasets available\n"), 2);
        assert_eq!(snapshots_in(""), 0);
    }

    #[test]
    fn module_and_tools_of_other_releases_differ() {
        let mut facts = Facts::default();
        facts.values.zfs.version = Some("2.3.2-2~bpo12+2".into());
        userland(&mut facts, "zfs-2.3.2-1\nzfs-kmod-2.3.2-2");
        assert_eq!(facts.values.zfs.versions_differ, Some(false));
        userland(&mut facts, "zfs-2.2.7-1\n");
        assert_eq!(facts.values.zfs.versions_differ, Some(true));
    }
}
