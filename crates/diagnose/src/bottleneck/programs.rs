//! Programs: what their threads wait for, and how much CPU they use in ZFS and outside of it.
//!
//! A program is a process, or a server of the kernel such as nfsd. Threads of ZFS and of the kernel work for
//! others, so their waiting is nobody's delay by itself.

use super::answer::{ProgramTime, TimePart};
use crate::facts::FactBase;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use zwhy_profile::{StackId, ThreadId};
use zwhy_zfs::{WaitsFor, thread_base, thread_role, waits_for};

/// Programs that are listed.
const MOST: usize = 5;
/// Seconds of waiting, as a part of the recording, from which a program is said to wait.
const WORTH_NAMING: f64 = 0.02;
/// Part of the recording in which a program was seen off the CPU, from which its waiting is known.
const MOSTLY_SEEN: f64 = 0.5;
/// Part of its time off the CPU that a program may wait for ZFS and is still not held up by it.
const RUNS_FREE: f64 = 0.1;
/// Kinds of waiting that are listed.
const PARTS: usize = 4;
/// Threads of the kernel that serve programs, by how their names begin.
const SERVERS: [&str; 8] = ["nfsd", "ksmbd", "iou-wrk", "loop", "vhost-", "iscsi_t", "io_wqe", "nvmet"];

/// One program.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    pub name: String,
    /// Threads that waited for something other than work.
    pub threads: usize,
    pub wall_s: f64,
    pub waits: BTreeMap<WaitsFor, f64>,
    /// All that was recorded of its time off the CPU, work included.
    pub off_s: f64,
    /// CPUs' worth of time of all its threads.
    pub cpus: Option<f64>,
    /// The same of its busiest thread.
    pub busiest: f64,
    /// CPU samples in ZFS and elsewhere.
    pub in_zfs: u64,
    pub elsewhere: u64,
    /// The longest wait for a lock, as `function` that asked for it.
    pub lock: Option<StackId>,
}

impl Program {
    /// Seconds of waiting for anything but work.
    pub fn waiting_s(&self) -> f64 {
        self.waits.values().sum()
    }

    /// Whether its waiting was recorded, and there is next to none in ZFS: it is not held up, whatever disks do.
    pub fn is_known_to_run_free(&self, seconds: f64) -> bool {
        self.off_s >= MOSTLY_SEEN * seconds && self.waiting_s() < RUNS_FREE * self.off_s
    }

    /// What it waits for most, and the part of its wall time.
    pub fn most(&self) -> Option<(WaitsFor, f64)> {
        let (waits, seconds) = self.waits.iter().max_by(|a, b| a.1.total_cmp(b.1))?;
        Some((*waits, (seconds / self.wall_s.max(1e-9)).min(1.0)))
    }

    /// Part of its CPU that is spent in ZFS; `None` without samples.
    pub fn zfs_part(&self) -> Option<f64> {
        let all = self.in_zfs + self.elsewhere;
        (all > 0).then(|| self.in_zfs as f64 / all as f64)
    }
}

/// All programs that were seen, those that wait most first.
pub(super) fn programs(facts: &FactBase<'_>) -> Vec<Program> {
    let mut found = Found::default();
    found.add_times(facts);
    found.add_waits(facts);
    found.add_clocks(facts);
    let mut all: Vec<Program> = found.programs.into_iter().filter(|p| !p.name.is_empty()).collect();
    all.sort_by(|a, b| {
        let busy = |p: &Program| p.cpus.unwrap_or(0.0);
        b.waiting_s()
            .total_cmp(&a.waiting_s())
            .then(busy(b).total_cmp(&busy(a)))
            .then_with(|| a.name.cmp(&b.name))
    });
    all
}

/// Programs by process while they are looked for.
#[derive(Default)]
struct Found {
    programs: Vec<Program>,
    by_pid: FxHashMap<i32, usize>,
    by_name: FxHashMap<String, usize>,
    /// Processes of the kernel: their threads are no programs.
    kernel: FxHashSet<i32>,
}

impl Found {
    fn program(&mut self, pid: i32, name: &str) -> usize {
        // Processes of one name are one program to the reader; nobody looks for one of 40 workers.
        let at = match self.by_name.get(name) {
            Some(at) => *at,
            None => {
                self.programs.push(Program { name: name.to_owned(), ..Program::default() });
                self.by_name.insert(name.to_owned(), self.programs.len() - 1);
                self.programs.len() - 1
            }
        };
        if pid > 0 {
            self.by_pid.insert(pid, at);
        }
        at
    }

    /// CPU samples of threads that are not the kernel's own.
    fn add_times(&mut self, facts: &FactBase<'_>) {
        let profile = &facts.evidence.profile;
        let name_of = process_names(facts);
        let time_of = |id: ThreadId| facts.times().threads.get(id.index()).copied().unwrap_or_default();
        // A thread of the kernel has another name when it begins, and then belongs to the kernel, too.
        for (id, thread) in profile.threads.iter().filter(|(_, thread)| thread.pid > 0) {
            if is_kernels(profile.strings.get(thread.comm), time_of(id).of_kernel) {
                self.kernel.insert(thread.pid);
            }
        }
        for (id, thread) in profile.threads.iter() {
            let comm = profile.strings.get(thread.comm);
            let time = time_of(id);
            if thread.tid == 0 || is_kernels(comm, time.of_kernel) || self.kernel.contains(&thread.pid) {
                continue;
            }
            let name = name_of.get(&thread.pid).copied().unwrap_or(comm);
            let at = self.program(thread.pid, thread_base(name));
            self.programs[at].in_zfs += time.in_zfs;
            self.programs[at].elsewhere += time.elsewhere;
        }
    }

    fn add_waits(&mut self, facts: &FactBase<'_>) {
        let profile = &facts.evidence.profile;
        let mut kinds: FxHashMap<StackId, Option<WaitsFor>> = FxHashMap::default();
        let mut longest_lock: FxHashMap<usize, i64> = FxHashMap::default();
        let mut waited: FxHashMap<ThreadId, (usize, i64)> = FxHashMap::default();
        for wait in &facts.times().waits {
            let thread = profile.threads.get(wait.thread);
            let Some(at) = self.by_pid.get(&thread.pid).copied() else { continue };
            self.programs[at].off_s += wait.ns as f64 / 1e9;
            let kind = *kinds.entry(wait.stack).or_insert_with(|| kind_of(facts, wait.stack));
            let Some(kind) = kind.filter(|kind| *kind != WaitsFor::Work) else { continue };
            *self.programs[at].waits.entry(kind).or_default() += wait.ns as f64 / 1e9;
            waited.entry(wait.thread).or_insert((at, 0)).1 += wait.ns;
            let longest = longest_lock.entry(at).or_default();
            if kind == WaitsFor::Lock && wait.ns > *longest {
                *longest = wait.ns;
                self.programs[at].lock = Some(wait.stack);
            }
        }
        // A sum of fractions depends on its order, which shall be the same wherever it is computed.
        let mut waited: Vec<_> = waited.into_iter().collect();
        waited.sort_unstable_by_key(|(thread, _)| thread.index());
        for (thread, (at, waited_ns)) in waited {
            let time = facts.times().threads.get(thread.index()).copied().unwrap_or_default();
            // A thread may have lived for a part of the recording.
            let there = (time.last_ns - time.first_ns).max(waited_ns);
            self.programs[at].threads += 1;
            self.programs[at].wall_s += there as f64 / 1e9;
        }
    }

    /// CPU time of processes by their clocks.
    fn add_clocks(&mut self, facts: &FactBase<'_>) {
        for thread in &facts.evidence.threads {
            let pid = thread.pid.unwrap_or(-1);
            let known = self
                .by_pid
                .get(&pid)
                .copied()
                .or_else(|| self.by_name.get(thread_base(&thread.comm)).copied());
            let (Some(at), Some(pct)) = (known, thread.cpu_pct) else { continue };
            if self.kernel.contains(&pid) || thread_role(&thread.comm).is_some() {
                continue;
            }
            let program = &mut self.programs[at];
            program.cpus = Some(program.cpus.unwrap_or(0.0) + pct / 100.0);
            program.busiest = program.busiest.max(pct / 100.0);
        }
    }
}

/// Names of processes: that of their first thread, the last one where it changed, as a program has its parent's before
/// it is executed.
pub fn process_names<'a>(facts: &FactBase<'a>) -> FxHashMap<i32, &'a str> {
    let profile = &facts.evidence.profile;
    let first = profile.threads.iter().filter(|(_, t)| t.pid > 0 && t.pid == t.tid);
    first.map(|(_, t)| (t.pid, profile.strings.get(t.comm))).filter(|(_, name)| !name.is_empty()).collect()
}

fn is_kernels(comm: &str, of_kernel: bool) -> bool {
    (of_kernel || thread_role(comm).is_some()) && !SERVERS.iter().any(|server| comm.starts_with(server))
}

/// What is waited for in a stack.
pub(super) fn kind_of(facts: &FactBase<'_>, stack: StackId) -> Option<WaitsFor> {
    let profile = &facts.evidence.profile;
    let names: Vec<&str> = profile.stacks.leaf_to_root(stack).map(|f| profile.function_of(f)).collect();
    waits_for(&names)
}

/// What the answer lists of programs that wait.
pub(super) fn listed(programs: &[Program], seconds: f64) -> Vec<ProgramTime> {
    let worth = programs.iter().filter(|p| p.waiting_s() >= WORTH_NAMING * seconds && p.wall_s > 0.0);
    let time = |program: &Program| {
        let of_wall = |seconds: f64| (seconds / program.wall_s).min(1.0);
        let mut waits: Vec<(WaitsFor, f64)> = program.waits.iter().map(|(w, s)| (*w, of_wall(*s))).collect();
        waits.sort_by(|a, b| b.1.total_cmp(&a.1));
        waits.truncate(PARTS);
        let part = |(waits, share): (WaitsFor, f64)| TimePart { waits_for: waits.words().to_owned(), share };
        ProgramTime {
            program: program.name.clone(),
            threads: program.threads as u64,
            wall_s: program.wall_s,
            on_cpu: program.cpus.map(|cpus| of_wall(cpus * seconds)),
            waits: waits.into_iter().map(part).collect(),
        }
    };
    worth.take(MOST).map(time).collect()
}
