//! What is known of the host while it is recorded or counted: its processes and threads, what they map, the
//! names of their code, and the profile that all samplers add to.
//!
//! Invariant: what records tell is taken in order of time, so a number that is given again belongs to the
//! newer process or thread.

use crate::naming::Names;
use crate::processes::Processes;
use crate::series_pen::SeriesPen;
use crate::thread_clock::ThreadClocks;
use rustc_hash::FxHashMap;
use std::fs;
use zwhy_host::ASKING_THREAD;
use zwhy_perf::chain::{self, Space};
use zwhy_perf::{Family, SideBand};
use zwhy_profile::{FrameKind, Move, Nanos, Profile, Samples, StackId, ThreadId};

pub(crate) struct Scene {
    pub profile: Profile,
    pub names: Names,
    pub processes: Processes,
    /// CPU time of threads, where it is recorded.
    pub clocks: Option<ThreadClocks>,
    /// Whose samples are wanted.
    pub family: Family,
    /// Commands that the recorder itself started to ask for facts; nothing of them is kept.
    pub own: Family,
    /// Readings of counters.
    pub pen: SeriesPen,
    threads: FxHashMap<i32, ThreadId>,
    start_ns: u64,
}

impl Scene {
    pub(crate) fn new(
        names: Names,
        processes: Processes,
        clocks: Option<ThreadClocks>,
        family: Family,
    ) -> Scene {
        Scene {
            profile: Profile::new(),
            names,
            processes,
            clocks,
            family,
            own: Family::of([]),
            pen: SeriesPen::default(),
            threads: FxHashMap::default(),
            start_ns: 0,
        }
    }

    pub(crate) fn set_start(&mut self, start_ns: u64) {
        self.start_ns = start_ns;
    }

    /// A time of the monotonic clock, in nanoseconds, as time of the recording.
    pub(crate) fn since_start(&self, time: u64) -> Nanos {
        Nanos(time.saturating_sub(self.start_ns) as i64)
    }

    /// Takes in what a record tells of processes and threads.
    pub(crate) fn told(&mut self, time: u64, told: &SideBand<'_>) {
        match *told {
            SideBand::Comm { pid, tid, exec, comm } => {
                if exec {
                    self.processes.exec(pid);
                    self.family.exec(pid);
                }
                self.rename(pid, tid, &String::from_utf8_lossy(comm));
            }
            SideBand::Mmap(map) if !map.data => self.processes.map(&map),
            SideBand::Fork { pid, ppid, tid, ptid } => self.fork(time, pid, ppid, tid, ptid),
            SideBand::Exit { pid, tid } => self.exit(time, pid, tid),
            _ => {}
        }
    }

    fn rename(&mut self, pid: i32, tid: i32, comm: &str) {
        if self.own.counts(pid) {
            return;
        }
        let thread = self.profile.thread(pid, tid, comm);
        self.threads.insert(tid, thread);
        let of_target = self.family.has(pid);
        self.clocks.iter_mut().for_each(|clocks| clocks.named(pid, tid, comm, of_target));
    }

    fn fork(&mut self, time: u64, pid: i32, ppid: i32, tid: i32, ptid: i32) {
        self.processes.fork(pid, ppid);
        self.family.fork(pid, ppid);
        self.own.fork(pid, ppid);
        if self.own.counts(pid) {
            return;
        }
        let parent = self.thread(ppid, ptid);
        let comm = self.profile.strings.get(self.profile.threads.get(parent).comm).to_owned();
        if ppid == std::process::id() as i32 && pid != ppid && comm == ASKING_THREAD {
            self.own.add(pid);
            return;
        }
        let thread = self.profile.thread(pid, tid, &comm);
        self.threads.insert(tid, thread);
        let t = self.since_start(time);
        if let Some(clocks) = self.clocks.as_mut().filter(|_| self.family.has(pid)) {
            clocks.started(pid, tid, t);
        }
    }

    fn exit(&mut self, time: u64, pid: i32, tid: i32) {
        let t = self.since_start(time);
        self.clocks.iter_mut().for_each(|clocks| clocks.ended(tid, t));
        self.threads.remove(&tid);
        if pid == tid {
            self.processes.exit(pid);
        }
    }

    pub(crate) fn thread(&mut self, pid: i32, tid: i32) -> ThreadId {
        if let Some(thread) = self.threads.get(&tid) {
            return *thread;
        }
        let comm = match tid {
            0 => "swapper".to_owned(),
            _ => read_comm(pid, tid),
        };
        let thread = self.profile.thread(pid, tid, &comm);
        self.threads.insert(tid, thread);
        thread
    }

    /// Threads that were found by reading /proc.
    pub(crate) fn found(&mut self, threads: Vec<(i32, ThreadId)>) {
        for (tid, thread) in threads {
            self.threads.entry(tid).or_insert(thread);
        }
    }

    /// The stack of kernel addresses, leaf first, below a root frame that says what it is of.
    pub(crate) fn kernel_stack(&mut self, root: &str, words: &[u64]) -> StackId {
        let root = self.profile.frame(root, "kernel", FrameKind::Kernel);
        let mut stack = self.profile.stacks.child(StackId::ROOT, root);
        let steps: Vec<u64> =
            chain::steps(words.iter().copied(), Space::Kernel).map(|step| step.at).collect();
        for at in steps.into_iter().rev() {
            let id = self.names.kernel_address(at);
            let frame = self.names.frame(id, 1, &self.processes, &mut self.profile);
            stack = self.profile.stacks.child(stack, frame);
        }
        stack
    }

    /// CPU time in nanoseconds of the threads of this name or role that were read, by tid.
    pub(crate) fn cpu_of(&self, name: &str) -> Vec<(i32, i64)> {
        let mut found = Vec::new();
        for (tid, thread) in &self.threads {
            let comm = self.profile.strings.get(self.profile.threads.get(*thread).comm);
            let named = comm == name || comm.split('/').next() == Some(name);
            if (named || zwhy_zfs::thread_role(comm).is_some_and(|role| role.name == name))
                && let Some(ns) = self.pen.reading(&format!("thread/{tid}"), "cpu_ns")
            {
                found.push((*tid, ns));
            }
        }
        found
    }

    /// Leaves only what these samples refer to in the profile, and gives them its new ids; call it when no
    /// sample waits for its names. Returns the profile as it was.
    pub(crate) fn compact<'a>(&mut self, samples: impl Iterator<Item = &'a mut Samples>) -> Profile {
        let old = std::mem::take(&mut self.profile);
        let mut move_over = Move::new(&old, &mut self.profile);
        for rows in samples {
            rows.stack.iter_mut().for_each(|id| *id = move_over.stack(*id));
            rows.thread.iter_mut().for_each(|id| *id = move_over.thread(*id));
        }
        self.threads.values_mut().for_each(|id| *id = move_over.thread(*id));
        self.names.move_over(|frame| move_over.frame(frame));
        old
    }

    /// Bytes that tables of names hold, about: those of the profile, with the ids that a writer keeps of
    /// their rows.
    pub(crate) fn names_memory(&self) -> usize {
        let Profile { frames, stacks, threads, .. } = &self.profile;
        self.profile.memory() + (frames.len() + stacks.len() + threads.len()) * size_of::<u64>()
    }

    /// Images, processes and addresses that are held.
    #[cfg(test)]
    pub(crate) fn held(&self) -> (usize, usize, usize) {
        let (images, spaces) = self.processes.held();
        (images, spaces, self.names.len())
    }
}

fn read_comm(pid: i32, tid: i32) -> String {
    let path = if pid > 0 { format!("/proc/{pid}/task/{tid}/comm") } else { format!("/proc/{tid}/comm") };
    let bytes = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    text.strip_suffix('\n').unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that no process has.
    const FIRST: i32 = 10_000_000;

    #[test]
    fn a_number_given_again_belongs_to_nobody_who_was_asked_for() {
        let clocks = Some(ThreadClocks::new(std::path::Path::new("/nonexistent")));
        let mut scene = Scene::new(Names::new(false), Processes::default(), clocks, Family::of([FIRST]));
        let (child, other) = (FIRST + 1, FIRST + 2);
        let fork = |pid, ppid| SideBand::Fork { pid, ppid, tid: pid, ptid: ppid };
        let comm = |pid, comm| SideBand::Comm { pid, tid: pid, exec: true, comm };
        scene.told(1, &fork(child, FIRST));
        scene.told(2, &comm(child, b"mine"));
        let mine = scene.thread(child, child);
        assert!(scene.family.counts(child));
        scene.told(3, &SideBand::Exit { pid: child, tid: child });
        scene.told(4, &comm(other, b"shell"));
        scene.told(5, &fork(child, other));
        assert!(!scene.family.counts(child));
        let now = scene.thread(child, child);
        assert_ne!(now, mine);
        assert_eq!(scene.profile.strings.get(scene.profile.threads.get(now).comm), "shell");
    }
}
