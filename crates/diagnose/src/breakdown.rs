//! Where the CPU went: stages, origins and threads as tables.
//!
//! Invariant: the samples of all stages add up to all CPU samples, and so do those of all origins.

use crate::anatomy::{StageId, UNKNOWN};
use crate::answer::{LabelRow, OriginRow, ShareOf, StageRow, ThreadRow, WhoRow};
use crate::classify::StackOrigin;
use crate::facts::FactBase;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use zwhy_profile::{Event, StackId};
use zwhy_zfs::Role;
use zwhy_zfs::thread_base;

/// Most threads named beside a stage.
const WHO: usize = 3;

const ORIGINS: [&str; 5] = ["ZFS threads", "system calls", "interrupts", "idle", "other"];

/// The tables of one profile.
pub struct Breakdown {
    pub stages: Vec<StageRow>,
    pub origins: Vec<OriginRow>,
    pub threads: Vec<ThreadRow>,
}

/// Threads of one name, numbers left out.
struct Group<'a> {
    name: &'a str,
    role: Option<Role>,
    /// Samples by stage.
    stages: Vec<u64>,
    tids: Vec<i32>,
    samples: u64,
}

pub fn breakdown(facts: &FactBase<'_>) -> Breakdown {
    let profile = &facts.evidence.profile;
    let stage_count = facts.cpu.classified.stages.len();
    let mut groups: Vec<Group> = Vec::new();
    let mut by_name: FxHashMap<&str, usize> = FxHashMap::default();
    let group_of: Vec<usize> = profile
        .threads
        .iter()
        .map(|(_, t)| {
            let name = thread_base(profile.strings.get(t.comm));
            let at = *by_name.entry(name).or_insert_with(|| {
                let role = zwhy_zfs::thread_role(name);
                let stages = vec![0; stage_count];
                groups.push(Group { name, role, stages, tids: Vec::new(), samples: 0 });
                groups.len() - 1
            });
            groups[at].tids.push(t.tid);
            at
        })
        .collect();
    let mut origins = [0u64; ORIGINS.len()];
    let (samples, amounts) = (&profile.samples, profile.amounts());
    for row in (0..samples.len()).filter(|i| samples.event[*i] == Event::Cpu) {
        let count = amounts.of(row);
        let stack = samples.stack[row];
        let group = group_of.get(samples.thread[row].index()).and_then(|g| groups.get_mut(*g));
        let role = group.as_ref().and_then(|g| g.role);
        let stage = facts.cpu.classified.stage_of(stack, samples.thread[row]);
        origins[origin_of(facts, stack, role.is_some())] += count;
        if let Some(group) = group {
            group.samples += count;
            group.stages[usize::from(stage)] += count;
        }
    }
    let all = facts.cpu.all;
    Breakdown {
        stages: if all > 0 { stage_rows(facts, &groups) } else { percent_rows(facts) },
        origins: ORIGINS
            .iter()
            .zip(origins)
            .filter(|(_, n)| *n > 0)
            .map(|(name, n)| OriginRow {
                origin: (*name).to_owned(),
                samples: n,
                share: ShareOf::sampled(&facts.cpu.sampling, n, all),
            })
            .collect(),
        threads: thread_rows(facts, &groups),
    }
}

fn origin_of(facts: &FactBase<'_>, stack: StackId, of_zfs: bool) -> usize {
    let classified = &facts.cpu.classified;
    match classified.node_origin.get(stack.index()) {
        _ if classified.is_idle(stack) => 3,
        Some(StackOrigin::Interrupt) => 2,
        _ if of_zfs => 0,
        Some(StackOrigin::Syscall) => 1,
        _ => 4,
    }
}

fn stage_rows(facts: &FactBase<'_>, groups: &[Group<'_>]) -> Vec<StageRow> {
    let stages = facts.cpu.stages.all().filter(|(_, samples)| *samples > 0);
    let row = |(stage, samples)| {
        let name = facts.cpu.classified.stage_name(stage);
        StageRow {
            stage: name.to_owned(),
            samples,
            share: ShareOf::sampled(&facts.cpu.sampling, samples, facts.cpu.all),
            labels: label_rows(facts, stage),
            without: None,
            limits: crate::machine::of_stage(name, samples, facts),
            who: who(usize::from(stage), samples, groups),
        }
    };
    let mut rows: Vec<StageRow> = stages.map(row).collect();
    rows.sort_by(|a, b| b.samples.cmp(&a.samples).then_with(|| a.stage.cmp(&b.stage)));
    rows
}

fn label_rows(facts: &FactBase<'_>, stage: StageId) -> Vec<LabelRow> {
    let of_zfs = stage > crate::anatomy::NOT_ZFS;
    let labels = facts.cpu.stages.labels_of(stage).filter(|_| of_zfs);
    let row = |(label, samples)| LabelRow {
        label: facts.anatomy.labels().get(usize::from(label)).cloned().unwrap_or_default(),
        share: ShareOf::sampled(&facts.cpu.sampling, samples, facts.cpu.all),
    };
    let mut rows: Vec<LabelRow> = labels.map(row).collect();
    rows.sort_by(|a, b| b.share.value.total_cmp(&a.share.value));
    rows
}

fn who(stage: usize, samples: u64, groups: &[Group<'_>]) -> Vec<WhoRow> {
    let mut rows: Vec<(&str, u64)> =
        groups.iter().map(|g| (g.name, g.stages[stage])).filter(|(_, n)| *n > 0).collect();
    rows.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let row = |(thread, n): (&str, u64)| WhoRow {
        thread: thread.to_owned(),
        share: n as f64 / samples.max(1) as f64,
    };
    rows.into_iter().take(WHO).map(row).collect()
}

/// Stages of a flat list: what it shows, and the rest as unknown.
fn percent_rows(facts: &FactBase<'_>) -> Vec<StageRow> {
    let mut shares: BTreeMap<u8, f64> = BTreeMap::new();
    for (stage, share) in facts.flat_stages() {
        *shares.entry(stage).or_default() += share;
    }
    if shares.is_empty() {
        return Vec::new();
    }
    let rest = 1.0 - shares.values().sum::<f64>();
    *shares.entry(UNKNOWN).or_default() += rest.max(0.0);
    let mut rows: Vec<StageRow> = shares
        .into_iter()
        .map(|(stage, share)| StageRow {
            stage: facts.cpu.classified.stage_name(stage).to_owned(),
            samples: 0,
            share: ShareOf::figure(share.clamp(0.0, 1.0)),
            labels: Vec::new(),
            without: None,
            limits: Vec::new(),
            who: Vec::new(),
        })
        .collect();
    rows.sort_by(|a, b| b.share.value.total_cmp(&a.share.value));
    rows
}

fn thread_rows(facts: &FactBase<'_>, groups: &[Group<'_>]) -> Vec<ThreadRow> {
    let duration = facts.evidence.facts.recorder.duration_s;
    let mut rows: BTreeMap<&str, ThreadRow> = BTreeMap::new();
    for group in groups.iter().filter(|g| g.samples > 0) {
        let mut tids = group.tids.clone();
        tids.sort_unstable();
        tids.dedup();
        rows.insert(
            group.name,
            thread_row(group.name, group.role.map_or("", |r| r.what), tids.len(), group.samples),
        );
    }
    let mut listed: BTreeMap<&str, (usize, Option<f64>)> = BTreeMap::new();
    for thread in &facts.evidence.threads {
        let entry = listed.entry(thread_base(&thread.comm)).or_default();
        entry.0 += 1;
        if let Some(pct) = thread.cpu_pct {
            entry.1 = Some(entry.1.unwrap_or(0.0) + pct / 100.0);
        }
    }
    for (name, (threads, cpu)) in listed {
        let role = zwhy_zfs::thread_role(name).map_or("", |r| r.what);
        let row = rows.entry(name).or_insert_with(|| thread_row(name, role, 0, 0));
        row.threads = row.threads.max(threads);
        row.cpu_share = cpu;
        row.cpu_s = cpu.zip(duration).map(|(cpu, seconds)| cpu * seconds);
    }
    let mut rows: Vec<ThreadRow> = rows.into_values().collect();
    // Not every thread has a clock that was read; where there is none its samples tell the share.
    let hz = facts.evidence.facts.recorder.hz;
    let of_one_cpu = hz.zip(duration).map_or(facts.cpu.all as f64, |(hz, seconds)| hz * seconds).max(1.0);
    let busy = |r: &ThreadRow| r.cpu_share.unwrap_or(0.0).max(r.samples as f64 / of_one_cpu);
    rows.sort_by(|a, b| busy(b).total_cmp(&busy(a)).then_with(|| a.comm.cmp(&b.comm)));
    rows
}

fn thread_row(comm: &str, role: &str, threads: usize, samples: u64) -> ThreadRow {
    let (comm, role) = (comm.to_owned(), role.to_owned());
    ThreadRow { comm, role, threads, cpu_s: None, cpu_share: None, samples }
}
