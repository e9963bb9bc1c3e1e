//! Facts without names, part by part: each member is known, and is a name, a text with names in it, or neither.
//!
//! Invariant: members that this version does not know are left out, as nobody can say what they hold.

use super::known::{is_identity, pool_of_kstat};
use super::names::Names;
use super::properties;
use serde_json::Value;
use std::collections::BTreeMap;
use zwhy_evidence::{Amount, CaptureFacts, RecorderFacts};
use zwhy_zfs::Vdev;

/// Learns every name that the facts have as such.
pub(super) fn learn(facts: &CaptureFacts, names: &mut Names) {
    names.host(facts.host.name.as_deref().unwrap_or_default());
    let pools = facts.pools.iter().flatten();
    pools.clone().flat_map(|p| p.vdevs.iter().flatten()).for_each(|vdev| learn_vdev(vdev, names));
    datasets(facts).into_iter().for_each(|name| names.pool_of(name));
    for (_, owner) in facts.recorder.owners.iter().flatten() {
        // `container NAME`: the word before it stays.
        owner.split_once(' ').into_iter().for_each(|(_, name)| names.process(name));
    }
    if let Some(program) = command(&facts.recorder) {
        names.process(program);
    }
    facts
        .mounts
        .iter()
        .flatten()
        .filter_map(|m| m.split_once(" on "))
        .for_each(|(_, path)| names.place(path));
    let of_pools = facts.pools.iter().flatten().filter_map(|p| p.properties.as_ref());
    let of_datasets = facts.datasets.iter().flatten().filter_map(|d| d.properties.as_ref());
    let all = of_pools.chain(of_datasets).flatten();
    all.for_each(|(name, value)| properties::learn(name, value, names));
}

/// Every pool and dataset that the facts name.
pub(super) fn datasets(facts: &CaptureFacts) -> Vec<&str> {
    let pools = facts.pools.iter().flatten().filter_map(|p| p.name.as_deref());
    let listed = facts.datasets.iter().flatten().filter_map(|d| d.name.as_deref());
    let roots = facts.encryption_roots.iter().flatten().filter_map(|r| r.name.as_deref());
    let states = facts.zfs.pool_states.iter().flatten().map(|(pool, _)| pool.as_str());
    let objsets = facts
        .recorder
        .series
        .iter()
        .flat_map(|s| s.objsets.iter().flatten())
        .map(|(_, dataset)| dataset.as_str());
    let mounts =
        facts.mounts.iter().flatten().filter_map(|m| m.split_once(" on ")).map(|(dataset, _)| dataset);
    let owned = facts.recorder.owners.iter().flatten().filter_map(|(key, _)| key.strip_prefix("dataset/"));
    pools.chain(listed).chain(roots).chain(states).chain(objsets).chain(mounts).chain(owned).collect()
}

fn learn_vdev(vdev: &Vdev, names: &mut Names) {
    names.disk(&vdev.name);
    vdev.children.iter().for_each(|child| learn_vdev(child, names));
}

/// The program of `command fio --rw=read`, by its own name.
fn command(recorder: &RecorderFacts) -> Option<&str> {
    let program = recorder.target.as_deref()?.strip_prefix("command ")?.split(' ').next()?;
    program.rsplit('/').next()
}

/// The facts with stand-ins for names; the evidence of an import is not looked at.
pub(super) fn redacted(mut facts: CaptureFacts, names: &mut Names) -> CaptureFacts {
    let (kind, evidence) = (facts.kind.take(), facts.evidence.take());
    let left_out = forget_unknown(&mut facts);
    names.left_out(left_out + forget_identities(&mut facts));
    storage(&mut facts, names);
    recorder(&mut facts.recorder, names);
    facts.zfs.pool_states =
        facts.zfs.pool_states.take().map(|states| renamed(states, |pool| names.dataset(pool)));
    let mut value = facts.to_value();
    if let Value::Object(members) = &mut value {
        members.iter_mut().for_each(|(_, member)| rewrite(member, names));
    }
    // Texts stay texts, so what was read before fits again.
    CaptureFacts { kind, evidence, ..CaptureFacts::from_value(value).0 }
}

fn renamed<T>(map: BTreeMap<String, T>, mut name: impl FnMut(&str) -> String) -> BTreeMap<String, T> {
    map.into_iter().map(|(key, value)| (name(&key), value)).collect()
}

/// `removal of NAME in progress, 12.3 % done`
fn redact_move(text: &str, names: &mut Names) -> String {
    let parts =
        text.split_once(" of ").and_then(|(what, rest)| Some((what, rest.split_once(" in progress")?)));
    match parts {
        Some((what, (vdev, rest))) => {
            format!("{} of {} in progress{}", names.text(what), names.device(vdev), names.text(rest))
        }
        None => names.text(text),
    }
}

fn storage(facts: &mut CaptureFacts, names: &mut Names) {
    let kept = |all: BTreeMap<String, String>, names: &mut Names| -> BTreeMap<String, String> {
        let before = all.len();
        let kept: BTreeMap<String, String> = all
            .into_iter()
            .filter_map(|(name, value)| Some((name.clone(), properties::redacted(&name, &value, names)?)))
            .collect();
        names.left_out(before - kept.len());
        kept
    };
    for pool in facts.pools.iter_mut().flatten() {
        pool.name = pool.name.take().map(|name| names.dataset(&name));
        pool.properties = pool.properties.take().map(|all| kept(all, names));
        pool.vdevs.iter_mut().flatten().for_each(|vdev| redact_vdev(vdev, names));
        pool.moves.iter_mut().flatten().for_each(|text| *text = redact_move(text, names));
    }
    for dataset in facts.datasets.iter_mut().flatten() {
        dataset.name = dataset.name.take().map(|name| names.dataset(&name));
        dataset.properties = dataset.properties.take().map(|all| kept(all, names));
        let sources = dataset.sources.take();
        dataset.sources = sources.map(|sources| {
            let known =
                sources.into_iter().filter(|(name, _)| properties::redacted(name, "-", names).is_some());
            known.collect::<BTreeMap<_, _>>()
        });
        for source in dataset.sources.iter_mut().flat_map(BTreeMap::values_mut) {
            if let Some(from) = source.strip_prefix("inherited from ") {
                *source = format!("inherited from {}", names.dataset(from));
            }
        }
    }
    for counts in facts.dataset_counts.iter_mut().filter_map(|c| c.by_value.as_mut()) {
        for (name, values) in counts {
            *values = renamed(std::mem::take(values), |value| {
                properties::redacted(name, value, names).unwrap_or_else(|| "set".to_owned())
            });
        }
    }
    for root in facts.encryption_roots.iter_mut().flatten() {
        root.name = root.name.take().map(|name| names.dataset(&name));
    }
    for mount in facts.mounts.iter_mut().flatten() {
        *mount = match mount.split_once(" on ") {
            Some((dataset, path)) => format!("{} on {}", names.dataset(dataset), names.path(path)),
            None => names.text(mount),
        };
    }
    if let Some(Amount::OfPools(pools)) = &mut facts.snapshots {
        *pools = renamed(std::mem::take(pools), |pool| names.dataset(pool));
    }
}

fn redact_vdev(vdev: &mut Vdev, names: &mut Names) {
    vdev.name = names.device(&vdev.name);
    vdev.children.iter_mut().for_each(|child| redact_vdev(child, names));
}

fn recorder(facts: &mut RecorderFacts, names: &mut Names) {
    facts.target = facts.target.take().map(|target| match target.split_once(' ') {
        // Arguments may hold anything.
        Some(("command", command)) => {
            let program =
                command.split(' ').next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
            format!("command {}", names.comm(program))
        }
        Some(("cgroup", path)) => format!("cgroup {}", names.group(path)),
        _ => names.text(&target),
    });
    facts.command = facts.command.take().map(|line| without_arguments(&line, names));
    facts.program = facts.program.take().map(|program| names.comm(&program));
    facts.owners = facts.owners.take().map(|owners| {
        let owner = |(key, owner): (String, String)| {
            let key = match key.strip_prefix("dataset/") {
                Some(dataset) => format!("dataset/{}", names.dataset(dataset)),
                None => key,
            };
            let owner = match owner.split_once(' ') {
                Some((kind, name)) => format!("{kind} {}", names.stand_in("process", name)),
                None => owner,
            };
            (key, owner)
        };
        owners.into_iter().map(owner).collect()
    });
    if let Some(series) = &mut facts.series
        && let Some(objsets) = series.objsets.take()
    {
        let named = objsets
            .into_iter()
            .map(|(kstat, dataset)| (kstat_source(&kstat, names), names.dataset(&dataset)));
        series.objsets = Some(named.collect());
    }
    for map in [&mut facts.dropped, &mut facts.unresolved] {
        *map = map.take().map(|map| renamed(map, |reason| names.text(reason)));
    }
    if let Some(lines) = &mut facts.lines {
        let without = lines.modules_without.take();
        lines.modules_without = without.map(|map| renamed(map, |module| names.module(module)));
    }
}

/// The line of a recorder: its own options stay, as they say what was recorded, and not their values.
fn without_arguments(line: &str, names: &mut Names) -> String {
    const WORDS: [&str; 4] = ["perf", "record", "--", "sleep"];
    let word = |word: &str| {
        let bare = word.rsplit('/').next().unwrap_or(word);
        match word.split_once('=') {
            _ if WORDS.contains(&bare) => bare.to_owned(),
            Some((option, value)) if option.starts_with('-') => {
                format!("{option}={}", names.stand_in("argument", value))
            }
            _ if word.starts_with('-') || word.chars().all(|c| c.is_ascii_digit() || c == ',') => {
                word.to_owned()
            }
            _ => names.stand_in("argument", word),
        }
    };
    line.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

/// The name that a series or a kstat of a pool has: `tank/iostats`, `cgroup/x.slice`, `vdev/tank/bay3`.
pub(super) fn kstat_source(source: &str, names: &mut Names) -> String {
    if let Some(path) = source.strip_prefix("cgroup/") {
        return format!("cgroup/{}", names.group(path));
    }
    if let Some(rest) = source.strip_prefix("vdev/") {
        return match rest.split_once('/') {
            Some((pool, disk)) => format!("vdev/{}/{}", names.dataset(pool), names.device(disk)),
            None => format!("vdev/{}", names.dataset(rest)),
        };
    }
    if let Some(pool) = pool_of_kstat(source) {
        let stand_in = names.dataset(pool);
        return source.replacen(pool, &stand_in, 1);
    }
    let (kind, rest) = source.split_once('/').unwrap_or((source, ""));
    match kind {
        _ if rest.is_empty() && names.is_pool(source) => names.dataset(source),
        _ if rest.is_empty() => source.to_owned(),
        "disk" => format!("disk/{}", names.device(rest)),
        "thread" | "process" | "cpu" | "pressure" | "taskq" => source.to_owned(),
        _ => names.text(source),
    }
}

/// Members with one word of the system, which stays also where the host is called by it.
const ONE_WORD: [&str; 8] =
    ["arch", "clocksource", "event", "health", "method", "os_id", "unit", "virtualization"];

/// Every text; keys are members that this version knows.
fn rewrite(value: &mut Value, names: &mut Names) {
    match value {
        Value::String(text) => *text = names.text(text),
        Value::Array(items) => items.iter_mut().for_each(|item| rewrite(item, names)),
        Value::Object(map) => {
            let is_word = |item: &Value| {
                let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
                item.as_str().is_some_and(|text| text.chars().all(plain))
            };
            let stays =
                |name: &str, item: &Value| name == "cpu_flags" || (ONE_WORD.contains(&name) && is_word(item));
            let rest = map.iter_mut().filter(|(name, item)| !stays(name, item));
            rest.for_each(|(_, item)| rewrite(item, names));
        }
        _ => {}
    }
}

/// Leaves out figures that name a machine or a pool; returns how many that were.
fn forget_identities(facts: &mut CaptureFacts) -> usize {
    let before = facts.parameters.len();
    facts.parameters.retain(|name, _| !is_identity(name));
    if let Some(all) = facts.parameters_changed.as_mut().and_then(|p| p.values.as_mut()) {
        all.retain(|name, _| !is_identity(name));
    }
    before - facts.parameters.len()
}

/// Leaves out what this version does not know; returns how many members that were.
fn forget_unknown(facts: &mut CaptureFacts) -> usize {
    let mut others = vec![&mut facts.other, &mut facts.host.other, &mut facts.zfs.other];
    let recorder = &mut facts.recorder;
    others.push(&mut recorder.other);
    others.extend(recorder.lines.iter_mut().map(|l| &mut l.other));
    others.extend(recorder.series.iter_mut().map(|s| &mut s.other));
    others.extend(recorder.threads.iter_mut().map(|t| &mut t.other));
    if let Some(wait) = &mut recorder.wait {
        others.push(&mut wait.other);
        if let Some(short) = &mut wait.short {
            others.push(&mut short.other);
            others.extend(short.threads.iter_mut().flatten().map(|t| &mut t.other));
        }
    }
    others.extend(facts.parameters_changed.iter_mut().map(|p| &mut p.other));
    others.extend(facts.pools.iter_mut().flatten().map(|p| &mut p.other));
    others.extend(facts.datasets.iter_mut().flatten().map(|d| &mut d.other));
    others.extend(facts.dataset_counts.iter_mut().map(|c| &mut c.other));
    others.extend(facts.encryption_roots.iter_mut().flatten().map(|r| &mut r.other));
    others.extend(facts.experiment.iter_mut().map(|e| &mut e.other));
    others.extend(facts.measures.values_mut().map(|m| &mut m.other));
    if let Some(limits) = &mut facts.limits {
        others.push(&mut limits.other);
        others.extend(limits.rows.iter_mut().flatten().map(|r| &mut r.other));
    }
    others.into_iter().map(|other| std::mem::take(other).len()).sum()
}
