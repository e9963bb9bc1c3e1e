//! Programs by name and owner: what they moved, by the counters of their processes, and what ZFS did in their calls.

use super::{BYTES, CallPart, MOST, ProgramDemand};
use crate::bottleneck::process_names;
use crate::facts::FactBase;
use crate::times::CALLS;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use zwhy_zfs::{thread_base, thread_role};

/// Part of the CPU time of ZFS in all calls from which a program is listed.
const WORTH_A_LINE: f64 = 0.01;

/// Samples in ZFS of one program, by kind of call, and all of them.
#[derive(Default)]
struct Calls {
    by_kind: [u64; CALLS.len()],
    all: u64,
}

type Key<'a> = (&'a str, Option<&'a str>);

pub(super) fn programs(facts: &FactBase<'_>) -> Vec<ProgramDemand> {
    let names = names(facts);
    let mut rows: BTreeMap<Key<'_>, ProgramDemand> = BTreeMap::new();
    add_counters(facts, &names, &mut rows);
    add_calls(facts, &names, &mut rows);
    let mut rows: Vec<ProgramDemand> = rows.into_values().filter(worth).collect();
    rows.sort_by(|a, b| {
        let calls = |p: &ProgramDemand| p.zfs_part.unwrap_or(0.0);
        let by_calls = calls(b).total_cmp(&calls(a));
        by_calls
            .then(moved(b).total_cmp(&moved(a)))
            .then_with(|| (&a.program, &a.owner).cmp(&(&b.program, &b.owner)))
    });
    rows.truncate(MOST);
    rows
}

fn moved(program: &ProgramDemand) -> f64 {
    program.read_bytes_s.unwrap_or(0.0) + program.written_bytes_s.unwrap_or(0.0)
}

fn worth(program: &ProgramDemand) -> bool {
    moved(program) >= BYTES || program.zfs_part.is_some_and(|part| part >= WORTH_A_LINE)
}

/// Names of processes, those of their first threads; the recorder's own is not among them.
fn names<'a>(facts: &FactBase<'a>) -> FxHashMap<i32, &'a str> {
    let own = facts.evidence.facts.recorder.pid;
    let all = process_names(facts).into_iter().filter(|(pid, _)| Some(*pid) != own);
    all.map(|(pid, name)| (pid, thread_base(name))).collect()
}

fn owner<'a>(facts: &'a FactBase<'_>, pid: i32) -> Option<&'a str> {
    facts.evidence.facts.recorder.owners.as_ref()?.get(&format!("process/{pid}")).map(String::as_str)
}

fn new_row((name, owner): Key<'_>) -> ProgramDemand {
    ProgramDemand { program: name.to_owned(), owner: owner.map(str::to_owned), ..ProgramDemand::default() }
}

/// Counters of /proc/PID/io and the resident memory.
fn add_counters<'a>(
    facts: &'a FactBase<'_>,
    names: &FxHashMap<i32, &'a str>,
    rows: &mut BTreeMap<Key<'a>, ProgramDemand>,
) {
    for kstat in &facts.evidence.kstats {
        let pid = kstat.source.strip_prefix("process/").and_then(|pid| pid.parse::<i32>().ok());
        let Some((pid, name)) = pid.and_then(|pid| Some((pid, *names.get(&pid)?))) else { continue };
        let key = (name, owner(facts, pid));
        let row = rows.entry(key).or_insert_with(|| new_row(key));
        let add = |sum: &mut Option<f64>, n: f64| *sum = Some(sum.unwrap_or(0.0) + n);
        match kstat.name.as_str() {
            "rss_bytes" => {
                row.processes += 1;
                add(&mut row.memory_bytes, kstat.value);
            }
            "read_calls_bytes" => add(&mut row.read_bytes_s, kstat.rate.unwrap_or(0.0)),
            "write_calls_bytes" => add(&mut row.written_bytes_s, kstat.rate.unwrap_or(0.0)),
            _ => {}
        }
    }
}

/// CPU samples of ZFS in calls of programs, by program.
fn add_calls<'a>(
    facts: &'a FactBase<'_>,
    names: &FxHashMap<i32, &'a str>,
    rows: &mut BTreeMap<Key<'a>, ProgramDemand>,
) {
    let profile = &facts.evidence.profile;
    let mut calls: BTreeMap<Key<'a>, Calls> = BTreeMap::new();
    let mut processes: FxHashMap<Key<'a>, FxHashSet<i32>> = FxHashMap::default();
    for (id, thread) in profile.threads.iter() {
        let comm = profile.strings.get(thread.comm);
        let time = facts.times().threads.get(id.index()).copied().unwrap_or_default();
        let own = Some(thread.pid) == facts.evidence.facts.recorder.pid;
        if time.in_zfs == 0 || time.of_kernel || own || thread_role(comm).is_some() {
            continue;
        }
        let name = names.get(&thread.pid).copied().unwrap_or_else(|| thread_base(comm));
        if name.is_empty() {
            continue;
        }
        let key = (name, owner(facts, thread.pid));
        let sum = calls.entry(key).or_default();
        sum.all += time.in_zfs;
        sum.by_kind.iter_mut().zip(time.calls).for_each(|(sum, n)| *sum += n);
        processes.entry(key).or_default().insert(thread.pid);
    }
    let all: u64 = calls.values().map(|calls| calls.all).sum();
    for (key, of) in calls {
        let row = rows.entry(key).or_insert_with(|| new_row(key));
        row.processes = row.processes.max(processes.get(&key).map_or(0, |pids| pids.len() as u64));
        row.zfs_part = Some(of.all as f64 / all.max(1) as f64);
        row.calls = parts(&of);
    }
}

/// The kinds of calls, the largest first.
fn parts(calls: &Calls) -> Vec<CallPart> {
    let known: u64 = calls.by_kind.iter().sum();
    let other = ("other calls", calls.all.saturating_sub(known));
    let kinds = CALLS.iter().map(|(name, _)| *name).zip(calls.by_kind).chain([other]);
    let share = |n: u64| n as f64 / calls.all.max(1) as f64;
    let mut parts: Vec<CallPart> = kinds
        .filter(|(_, n)| *n > 0)
        .map(|(call, n)| CallPart { call: call.to_owned(), share: share(n) })
        .collect();
    parts.sort_by(|a, b| b.share.total_cmp(&a.share));
    parts
}
