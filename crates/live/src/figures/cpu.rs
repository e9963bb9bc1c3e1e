//! Who uses the CPU: the host's own counters, the stages of samples, threads of ZFS and processes by their clocks.

use super::{Sources, most};
use crate::readings::Readings;
use crate::slice::Slice;
use rustc_hash::FxHashMap;
use serde::Serialize;
use zwhy_diagnose::{Classified, IDLE};
use zwhy_profile::Event;
use zwhy_zfs::{thread_base, thread_role};

/// Shares of all CPU time that the host had, from /proc/stat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct HostCpu {
    /// With that of low priority.
    pub user: f64,
    pub system: f64,
    /// Interrupts, hard and soft.
    pub irq: f64,
    pub iowait: f64,
    pub steal: f64,
    pub idle: f64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StageFigures {
    pub stage: String,
    pub share: f64,
}

/// Threads of ZFS of one name without its number.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ThreadFigures {
    pub name: String,
    pub threads: usize,
    /// Of one CPU, all together.
    pub cpu: f64,
    /// Of one CPU, that of the busiest of them.
    pub busiest: f64,
}

/// A process that is not a thread of ZFS; sizes are absent where only root may know them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ProcessFigures {
    pub pid: i32,
    pub name: String,
    /// Of one CPU; absent where none of its threads was seen on one.
    pub cpu: Option<f64>,
    /// By system calls, whatever served them.
    pub read_bytes_s: Option<f64>,
    pub write_bytes_s: Option<f64>,
    pub rss_bytes: Option<i64>,
}

pub(super) fn cpus(sources: &Sources<'_>) -> usize {
    let numbered = |source: &&str| source.strip_prefix("cpu/").is_some_and(|n| n.parse::<u32>().is_ok());
    sources.readings.sources("cpu/").filter(numbered).count()
}

pub(super) fn host(readings: &Readings) -> Option<HostCpu> {
    let grown = |name: &str| readings.grown("cpu/all", name).unwrap_or(0) as f64;
    let [usr, nice, sys, idle] = ["usr_ns", "nice_ns", "sys_ns", "idle_ns"].map(grown);
    let [iowait, irq, softirq, steal] = ["iowait_ns", "irq_ns", "softirq_ns", "steal_ns"].map(grown);
    let all = usr + nice + sys + idle + iowait + irq + softirq + steal;
    (all > 0.0).then(|| HostCpu {
        user: (usr + nice) / all,
        system: sys / all,
        irq: (irq + softirq) / all,
        iowait: iowait / all,
        steal: steal / all,
        idle: idle / all,
    })
}

/// CPU samples by stage.
pub(super) struct Stages {
    pub samples: u64,
    pub rows: Vec<StageFigures>,
}

pub(super) fn stages(sources: &Sources<'_>, cpus: usize) -> Stages {
    let Sources { slice, classified, facts, .. } = sources;
    let StageSeconds { samples, stages } = StageSeconds::of(slice, classified, facts.recorder.pid);
    let had = slice.seconds() * cpus.max(1) as f64;
    let named = stages.into_iter().filter(|_| had > 0.0);
    let mut rows: Vec<StageFigures> =
        named.map(|(stage, spent)| StageFigures { stage: stage.to_owned(), share: spent / had }).collect();
    most(&mut rows, |row| row.share, |row| &row.stage);
    Stages { samples, rows }
}

/// CPU seconds of an interval by stage, idle time left out.
#[derive(Clone, Debug, PartialEq)]
pub struct StageSeconds<'a> {
    pub samples: u64,
    /// Those in which any time was spent.
    pub stages: Vec<(&'a str, f64)>,
}

impl StageSeconds<'_> {
    /// Of all samples but those of the process `own`.
    pub fn of<'a>(slice: &Slice, classified: &'a Classified, own: Option<i32>) -> StageSeconds<'a> {
        let own = own.filter(|pid| *pid > 0);
        let (samples, spent) = spent(slice, classified, own);
        let named = classified.stages.iter().map(String::as_str).zip(spent);
        StageSeconds { samples, stages: named.filter(|(_, spent)| *spent > 0.0).collect() }
    }
}

fn spent(slice: &Slice, classified: &Classified, own: Option<i32>) -> (u64, Vec<f64>) {
    let mut spent = vec![0.0; classified.stages.len()];
    let mut samples = 0;
    for sample in slice.profile.samples.iter().filter(|s| s.event == Event::Cpu) {
        if own == Some(slice.profile.threads.get(sample.thread).pid) {
            continue;
        }
        samples += u64::from(sample.count);
        let stage = classified.stage_of(sample.stack, sample.thread);
        if let Some(spent) = spent.get_mut(usize::from(stage)).filter(|_| stage != IDLE) {
            *spent += slice.cpu_seconds(&sample);
        }
    }
    (samples, spent)
}

/// CPU of one thread in the newest interval, of one CPU.
fn clocks<'a>(sources: &'a Sources<'_>) -> impl Iterator<Item = (i32, f64)> + 'a {
    let readings = sources.readings;
    readings.sources("thread/").filter_map(move |source| {
        let tid = source.strip_prefix("thread/")?.parse().ok()?;
        Some((tid, readings.rate(source, "cpu_ns")? / 1e9))
    })
}

pub(super) fn own(sources: &Sources<'_>) -> Option<f64> {
    let own = sources.facts.recorder.pid?;
    let of_own = clocks(sources).filter(|(tid, _)| sources.names.get(*tid).is_some_and(|n| n.pid == own));
    of_own.map(|(_, cpu)| cpu).reduce(|a, b| a + b)
}

pub(super) fn threads(sources: &Sources<'_>) -> Vec<ThreadFigures> {
    let mut by_name: FxHashMap<&str, ThreadFigures> = FxHashMap::default();
    for (tid, cpu) in clocks(sources) {
        let Some(named) = sources.names.get(tid) else { continue };
        let name = thread_base(&named.comm);
        if thread_role(name).is_none() {
            continue;
        }
        let row = by_name
            .entry(name)
            .or_insert_with(|| ThreadFigures { name: name.to_owned(), ..Default::default() });
        row.threads += 1;
        row.cpu += cpu;
        row.busiest = row.busiest.max(cpu);
    }
    let mut rows: Vec<ThreadFigures> = by_name.into_values().filter(|row| row.cpu > 0.0).collect();
    most(&mut rows, |row| row.cpu, |row| &row.name);
    rows
}

pub(super) fn processes(sources: &Sources<'_>) -> Vec<ProcessFigures> {
    let Sources { readings, names, facts, .. } = sources;
    let own = facts.recorder.pid;
    let mut by_pid: FxHashMap<i32, ProcessFigures> = FxHashMap::default();
    let row = |pid: i32| ProcessFigures { pid, ..ProcessFigures::default() };
    for (tid, cpu) in clocks(sources) {
        let Some(named) = names.get(tid).filter(|n| thread_role(thread_base(&n.comm)).is_none()) else {
            continue;
        };
        let of = by_pid.entry(named.pid).or_insert_with(|| row(named.pid));
        *of.cpu.get_or_insert(0.0) += cpu;
        if tid == named.pid || of.name.is_empty() {
            of.name.clone_from(&named.comm);
        }
    }
    for source in readings.sources("process/") {
        let Some(pid) = source.strip_prefix("process/").and_then(|n| n.parse().ok()) else { continue };
        let of = by_pid.entry(pid).or_insert_with(|| row(pid));
        if let Some(named) = names.get(pid) {
            of.name.clone_from(&named.comm);
        }
        of.read_bytes_s = readings.rate(source, "read_calls_bytes");
        of.write_bytes_s = readings.rate(source, "write_calls_bytes");
        of.rss_bytes = readings.value(source, "rss_bytes");
    }
    let moved = |p: &ProcessFigures| p.read_bytes_s.unwrap_or(0.0) + p.write_bytes_s.unwrap_or(0.0);
    let busy = |p: &ProcessFigures| p.cpu.unwrap_or(0.0);
    let mut rows: Vec<ProcessFigures> =
        by_pid.into_values().filter(|p| Some(p.pid) != own && (busy(p) > 0.0 || moved(p) > 0.0)).collect();
    // A gigabyte a second weighs as much as a whole CPU.
    most(&mut rows, |p| busy(p) + moved(p) / 1e9, |p| &p.name);
    rows
}
