//! Threads and processes of some evidence: those that have samples, and those that a list names.
//!
//! Invariants: the busy samples of all threads are all busy samples, and so are those of all processes. A listed
//! thread is the sampled one with its number; where the list has no numbers, the only one of that name.

use super::{RowId, Scope};
use crate::facts::{CpuFacts, Function, Quality, Query, Reading, WORTH_NAMING};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use zwhy_evidence::{Evidence, OriginId, ThreadCpu};
use zwhy_profile::ThreadId;

/// One thread, or one process.
#[derive(Default)]
pub(super) struct Task {
    /// `arc_evict 712`: what it is called, and its number where that is known.
    pub name: String,
    comm: String,
    number: Option<i32>,
    pid: Option<i32>,
    /// CPUs' worth of time; `None` where neither a list nor samples tell.
    pub cpu: Option<f64>,
    nice: Option<i32>,
    origin: Option<OriginId>,
    /// Busy samples, in the unit of the profile.
    pub samples: u64,
    /// Of a thread, its threads in the profile: one for each name that it had.
    sampled: Vec<ThreadId>,
    /// Of a process, its threads; of a thread, itself.
    threads: Vec<RowId>,
}

/// All of them, the busiest first.
#[derive(Default)]
pub(super) struct Tasks {
    pub threads: Vec<Task>,
    pub processes: Vec<Task>,
    /// By thread.
    process_of: Vec<RowId>,
}

/// What makes two mentions the same thread or process: the number, else the name.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Number(i32),
    Name(String),
}

fn key(number: Option<i32>, comm: &str) -> Key {
    number.map_or_else(|| Key::Name(comm.to_owned()), Key::Number)
}

/// Sources that do not know a number have zero or less.
fn known(number: i32) -> Option<i32> {
    Some(number).filter(|n| *n > 0)
}

impl Tasks {
    pub(super) fn new(evidence: &Evidence, cpu: &CpuFacts<'_>) -> Tasks {
        let mut threads = sampled(evidence, cpu);
        add_listed(&evidence.threads, &mut threads);
        let recorder = &evidence.facts.recorder;
        let ticks = recorder.hz.zip(recorder.duration_s).map(|(hz, seconds)| hz * seconds);
        for thread in &mut threads {
            let ticks = ticks.filter(|ticks| *ticks > 0.0 && !thread.sampled.is_empty());
            let counted = ticks.map(|ticks| cpu.sampling.samples_in(thread.samples) / ticks);
            thread.cpu = thread.cpu.or(counted);
        }
        let threads = ordered(threads);
        let (processes, process_of) = processes(&threads);
        Tasks { threads, processes, process_of }
    }

    pub(super) fn rows(&self, scope: Scope) -> &[Task] {
        match scope {
            Scope::Thread => &self.threads,
            Scope::Process => &self.processes,
            Scope::Pool | Scope::Dataset | Scope::Vdev => &[],
        }
    }

    pub(super) fn process_of(&self, thread: RowId) -> Option<RowId> {
        self.process_of.get(thread as usize).copied()
    }

    /// The threads of a row.
    fn members(&self, scope: Scope, row: RowId) -> impl Iterator<Item = &Task> {
        let task = self.rows(scope).get(row as usize);
        task.into_iter().flat_map(|task| &task.threads).filter_map(|id| self.threads.get(*id as usize))
    }

    /// The threads of the profile that are of some rows.
    pub(super) fn sampled(&self, scope: Scope, rows: &[RowId]) -> impl Iterator<Item = ThreadId> {
        rows.iter()
            .flat_map(move |row| self.members(scope, *row))
            .flat_map(|thread| thread.sampled.iter().copied())
    }

    /// What each row answers for itself.
    pub(super) fn answers(&self, scope: Scope, query: &Query, cpu: &CpuFacts<'_>) -> Vec<Option<Reading>> {
        let rows = 0..self.rows(scope).len() as RowId;
        if let Some(sums) = cpu.by_thread_asked(query) {
            let sum =
                |sums: &[u64], row| self.sampled(scope, &[row]).map(|thread| sums[thread.index()]).sum();
            // Of what part: the samples of this row alone.
            let whole = cpu.whole_by_thread(query);
            let whole = |row| whole.as_ref().map(|sums| sum(sums, row));
            return rows.map(|row| cpu.answer_of(query, sum(&sums, row), whole(row))).collect();
        }
        rows.map(|row| self.of_list(scope, row, query)).collect()
    }

    /// What its time and priority say.
    fn of_list(&self, scope: Scope, row: RowId, query: &Query) -> Option<Reading> {
        use Function as F;
        let pattern = query.patterns.first()?;
        let matching: Vec<&Task> =
            self.members(scope, row).filter(|thread| pattern.matches_thread(&thread.comm)).collect();
        let counted = matching.iter().all(|thread| thread.origin.is_none());
        let quality = if counted { Quality::Counted } else { Quality::Figure };
        if query.function == F::ThreadSeen {
            let worth = matching.iter().any(|thread| thread.cpu.is_none_or(|cpu| cpu >= WORTH_NAMING));
            return Reading::truth(worth, quality, "");
        }
        let cpus = || matching.iter().filter_map(|thread| thread.cpu);
        let number = match query.function {
            F::ThreadCount => matching.len() as f64,
            F::ThreadNice => f64::from(matching.iter().filter_map(|thread| thread.nice).min()?),
            // Its threads are called otherwise.
            _ if matching.is_empty() => 0.0,
            F::ThreadMax => cpus().max_by(f64::total_cmp)?,
            _ => cpus().reduce(|a, b| a + b)?,
        };
        Reading::number(number, quality, "")
    }
}

impl Task {
    pub(super) fn origin(&self) -> Option<OriginId> {
        self.origin
    }

    fn give_name(&mut self) {
        let number = self.number.map_or(String::new(), |number| format!(" {number}"));
        self.name = format!("{}{number}", self.comm);
    }

    /// The busiest first.
    fn order(&self, other: &Task) -> Ordering {
        let busy = |task: &Task| task.cpu.unwrap_or(0.0);
        let by_cpu = busy(other).total_cmp(&busy(self));
        by_cpu.then(other.samples.cmp(&self.samples)).then_with(|| self.name.cmp(&other.name))
    }
}

/// Threads of the profile with CPU samples, with their busy ones.
fn sampled(evidence: &Evidence, cpu: &CpuFacts<'_>) -> Vec<Task> {
    let profile = &evidence.profile;
    let mut tasks: Vec<Task> = Vec::new();
    let mut at: FxHashMap<Key, usize> = FxHashMap::default();
    for (id, busy) in cpu.busy_by_thread() {
        let thread = profile.threads.get(id);
        let (comm, number) = (profile.strings.get(thread.comm), known(thread.tid));
        let at = *at.entry(key(number, comm)).or_insert_with(|| {
            let (comm, pid) = (comm.to_owned(), known(thread.pid));
            tasks.push(Task { comm, number, pid, ..Task::default() });
            tasks.len() - 1
        });
        let task = &mut tasks[at];
        task.samples += busy;
        task.sampled.push(id);
    }
    tasks
}

/// Adds the threads of a list to those that were sampled.
fn add_listed(listed: &[ThreadCpu], tasks: &mut Vec<Task>) {
    let mut at: FxHashMap<Key, Vec<usize>> = FxHashMap::default();
    for (task, i) in tasks.iter().zip(0..) {
        at.entry(key(task.number, &task.comm)).or_default().push(i);
        if task.number.is_some() {
            at.entry(key(None, &task.comm)).or_default().push(i);
        }
    }
    for thread in listed {
        let by = |number| at.get(&key(number, &thread.comm)).map_or(&[][..], Vec::as_slice).iter().copied();
        let is_of =
            |i: &usize| thread.pid.is_none() || tasks[*i].pid.is_none() || thread.pid == tasks[*i].pid;
        // A number on one side only: the name has to tell.
        let alike = |i: &usize| is_of(i) && (thread.tid.is_none() || tasks[*i].number.is_none());
        let numbered = thread.tid.and_then(|tid| by(Some(tid)).next());
        let mut named = by(None).filter(alike);
        let named = named.next().filter(|_| named.next().is_none());
        let free = numbered.or(named).filter(|i| tasks[*i].origin.is_none());
        let i = free.unwrap_or_else(|| {
            let comm = thread.comm.clone();
            tasks.push(Task { comm, number: thread.tid, pid: thread.pid, ..Task::default() });
            tasks.len() - 1
        });
        let task = &mut tasks[i];
        task.cpu = thread.cpu_pct.map(|pct| pct / 100.0);
        (task.nice, task.origin) = (thread.nice, Some(thread.origin));
    }
}

/// Threads in their order, each with its name and its own number.
fn ordered(mut threads: Vec<Task>) -> Vec<Task> {
    threads.iter_mut().for_each(Task::give_name);
    threads.sort_by(Task::order);
    for (thread, id) in threads.iter_mut().zip(0..) {
        thread.threads = vec![id];
    }
    threads
}

/// Processes in their order, and by thread which it is of. A source without numbers takes threads of one name
/// for a process.
fn processes(threads: &[Task]) -> (Vec<Task>, Vec<RowId>) {
    let mut found: Vec<Task> = Vec::new();
    let mut at: FxHashMap<Key, usize> = FxHashMap::default();
    for (thread, id) in threads.iter().zip(0..) {
        let at = *at.entry(key(thread.pid, &thread.comm)).or_insert_with(|| {
            // Where its first thread is not seen the busiest names it.
            let (comm, number) = (thread.comm.clone(), thread.pid);
            found.push(Task { comm, number, pid: number, ..Task::default() });
            found.len() - 1
        });
        let process = &mut found[at];
        if thread.number.is_some() && thread.number == thread.pid {
            process.comm.clone_from(&thread.comm);
        }
        process.cpu = thread.cpu.map(|cpu| cpu + process.cpu.unwrap_or(0.0)).or(process.cpu);
        process.samples += thread.samples;
        process.origin = process.origin.or(thread.origin);
        process.threads.push(id);
    }
    found.iter_mut().for_each(Task::give_name);
    found.sort_by(Task::order);
    let mut process_of = vec![0; threads.len()];
    for (process, id) in found.iter().zip(0..) {
        process.threads.iter().for_each(|thread| process_of[*thread as usize] = id);
    }
    (found, process_of)
}
