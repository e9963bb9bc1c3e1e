//! From ring records to a profile: records of all CPUs in order of time, processes and threads
//! followed, each distinct call chain kept once, as addresses, until the next flush names it.
//!
//! Invariant: between two flushes memory grows by 16 bytes a sample and by what is distinct: chains,
//! and threads on CPUs; after a flush only distinct frames, stacks and threads stay.

use crate::moving::Move;
use crate::naming::{AddressId, Names};
use crate::perf::record::{Record, Sample, Timed, parse, record_len};
use crate::perf::session::Session;
use crate::processes::Processes;
use crate::series_pen::SeriesPen;
use crate::source_lines::SourceLines;
use crate::thread_clock::ThreadClocks;
use perf_event_open_sys::bindings as sys;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::collections::hash_map::Entry;
use std::fs;
use std::hash::Hasher;
use twox_hash::XxHash3_64;
use zwhy_host::ASKING_THREAD;
use zwhy_profile::{Event, FrameKind, Nanos, Profile, Sample as Row, Samples, StackId, ThreadId};

/// A record may be stamped and not yet be in its ring; what is younger than this waits a round.
const SETTLE_NS: u64 = 10_000_000;
/// Anything at or above is a context mark, not an address.
const FIRST_CONTEXT: u64 = sys::PERF_CONTEXT_MAX;

/// One sample whose chain is not named yet.
struct Pending {
    t: Nanos,
    /// Index of its chain.
    chain: u32,
    /// Index of its [`Where`].
    place: u32,
}

const _: () = assert!(size_of::<Pending>() == 16);

/// What many samples have in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Where {
    thread: ThreadId,
    cpu: i32,
    /// CPU time of a sample, 0 where its period is not nanoseconds.
    weight: u64,
}

/// A distinct call chain since the last flush.
struct Chain {
    /// End of its addresses in the arena; it begins where the one before ends.
    end: usize,
    /// Why it was cut short, if it was.
    broken: Option<&'static str>,
    samples: u64,
}

/// Chains and places of the pending samples.
#[derive(Default)]
struct Distinct {
    chains: Vec<Chain>,
    /// By a hash of the raw chain, its process, and how often mappings had changed by then.
    chain_ids: FxHashMap<u64, u32>,
    places: Vec<Where>,
    place_ids: FxHashMap<Where, u32>,
    /// Address chains, leaf first.
    arena: Vec<AddressId>,
}

pub(crate) struct Collector {
    pub profile: Profile,
    names: Names,
    processes: Processes,
    pub clocks: ThreadClocks,
    /// Processes whose samples are wanted; `None`: all.
    pub wanted: Option<FxHashSet<i32>>,
    /// Commands that the recorder itself started to ask for facts; nothing of them is kept.
    pub own: FxHashSet<i32>,
    threads: FxHashMap<i32, ThreadId>,
    pending: Vec<Pending>,
    distinct: Distinct,
    /// Changes of any process's mappings: an address may mean something else after one.
    mappings: u64,
    /// Bytes of records that are too young, and room for the next drain.
    bytes: Vec<u8>,
    start_ns: u64,
    /// CPU time of a sample where its period is not nanoseconds.
    tick_ns: u64,
    weigh: bool,
    pub samples: u64,
    pub lost_by_cpu: BTreeMap<u32, u64>,
    pub throttled: u64,
    /// Samples of [`Collector::own`].
    pub own_samples: u64,
    pub dropped: BTreeMap<&'static str, u64>,
}

impl Collector {
    /// `weigh` is true when a sample's period is nanoseconds of CPU time.
    pub(crate) fn new(
        names: Names,
        processes: Processes,
        clocks: ThreadClocks,
        wanted: Option<FxHashSet<i32>>,
        hz: u32,
        weigh: bool,
    ) -> Collector {
        Collector {
            profile: Profile::new(),
            names,
            processes,
            clocks,
            wanted,
            own: FxHashSet::default(),
            threads: FxHashMap::default(),
            pending: Vec::new(),
            distinct: Distinct::default(),
            mappings: 0,
            bytes: Vec::new(),
            start_ns: 0,
            tick_ns: 1_000_000_000 / u64::from(hz.max(1)),
            weigh,
            samples: 0,
            lost_by_cpu: BTreeMap::new(),
            throttled: 0,
            own_samples: 0,
            dropped: BTreeMap::new(),
        }
    }

    pub(crate) fn set_start(&mut self, start_ns: u64) {
        self.start_ns = start_ns;
    }

    /// Source lines, where they are asked for.
    pub(crate) fn lines(&self) -> Option<&SourceLines> {
        self.names.lines()
    }

    /// Frames without a name by reason, one count a sample and frame.
    pub(crate) fn unresolved(&self) -> &BTreeMap<&'static str, u64> {
        &self.names.unresolved
    }

    pub(crate) fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Reads the CPU time of threads; at the start and the end also that of idle ones.
    pub(crate) fn read_clocks(&mut self, t: Nanos, idle_too: bool, pen: &mut SeriesPen) {
        self.clocks.tick(t, pen);
        if idle_too {
            let found = self.clocks.read_all(t, self.wanted.as_ref(), &mut self.profile, pen);
            for (tid, thread) in found {
                self.threads.entry(tid).or_insert(thread);
            }
        }
    }

    /// Takes in what the rings hold up to about `now_ns`; with `last`, all of it.
    pub(crate) fn drain(&mut self, session: &mut Session, now_ns: u64, last: bool) {
        let mut bytes = std::mem::take(&mut self.bytes);
        session.drain(&mut bytes);
        let mut order: Vec<(u64, usize)> = Vec::new();
        let mut at = 0;
        while let Some(len) = bytes.get(at..).and_then(record_len) {
            order.push((parse(&bytes[at..at + len]).time, at));
            at += len;
        }
        order.sort_by_key(|(time, _)| *time);
        let horizon = if last { u64::MAX } else { now_ns.saturating_sub(SETTLE_NS) };
        let mut young = Vec::new();
        for (time, at) in order {
            let Some(record) = record_len(&bytes[at..]).map(|len| &bytes[at..at + len]) else { continue };
            if time > horizon {
                young.extend_from_slice(record);
            } else {
                self.take(parse(record), session);
            }
        }
        self.bytes = young;
    }

    /// Takes in one record; records must come in order of time.
    pub(crate) fn take(&mut self, timed: Timed<'_>, session: &Session) {
        match timed.record {
            Record::Sample(sample) => self.sample(timed.time, timed.cpu, &sample, session),
            Record::Comm { pid, tid, exec, comm } => {
                if exec {
                    self.mappings += 1;
                    self.processes.exec(pid);
                }
                self.rename(pid, tid, &String::from_utf8_lossy(comm));
            }
            Record::Mmap { pid, start, len, offset, inode, path } => {
                self.mappings += 1;
                self.processes.map(pid, start, len, offset, inode, &mapped_path(path));
            }
            Record::Fork { pid, ppid, tid, ptid } => self.fork(timed.time, pid, ppid, tid, ptid),
            Record::Exit { pid, tid } => self.exit(timed.time, pid, tid),
            Record::Lost(count) => *self.lost_by_cpu.entry(timed.cpu).or_default() += count,
            Record::Throttle => self.throttled += 1,
            Record::Other => {}
        }
    }

    fn sample(&mut self, time: u64, cpu: u32, sample: &Sample<'_>, session: &Session) {
        if self.wanted.as_ref().is_some_and(|wanted| !wanted.contains(&sample.pid)) {
            return; // of a process that is not asked for, when the whole host had to be sampled
        }
        if self.own.contains(&sample.pid) {
            self.own_samples += 1;
            return; // what `zpool` and `zfs` do for the recorder is not the host's load
        }
        // A thread that started while threads were being attached has its own event and one that it
        // inherited; only its own counts.
        let opened_for = session.thread_of_event(sample.event_id);
        if session.is_attached(sample.tid) && opened_for.is_some_and(|tid| tid != sample.tid && tid > 0) {
            *self.dropped.entry("sampled twice").or_default() += 1;
            return;
        }
        let thread = self.thread(sample.pid, sample.tid);
        let cpu_time = if self.weigh { sample.period } else { self.tick_ns };
        self.clocks.sampled(sample.pid, sample.tid, cpu_time);
        let chain = self.chain_of(sample);
        self.samples += 1;
        let cpu = i32::try_from(cpu).unwrap_or(-1);
        let place = Where { thread, cpu, weight: if self.weigh { sample.period } else { 0 } };
        let distinct = &mut self.distinct;
        distinct.chains[chain as usize].samples += 1;
        let next = distinct.places.len() as u32;
        let place = *distinct.place_ids.entry(place).or_insert_with(|| {
            distinct.places.push(place);
            next
        });
        let t = Nanos(time.saturating_sub(self.start_ns) as i64);
        self.pending.push(Pending { t, chain, place });
    }

    /// The chain of a sample; one that was seen since the last flush is not looked into again.
    fn chain_of(&mut self, sample: &Sample<'_>) -> u32 {
        let key = [self.mappings, sample.pid as u64, u64::from(sample.guest)];
        let mut hasher = XxHash3_64::new();
        key.iter().for_each(|word| hasher.write(&word.to_ne_bytes()));
        hasher.write(sample.raw_chain());
        let next = self.distinct.chains.len() as u32;
        match self.distinct.chain_ids.entry(hasher.finish()) {
            Entry::Occupied(known) => return *known.get(),
            Entry::Vacant(new) => new.insert(next),
        };
        let mut broken = None;
        if sample.guest {
            let guest = self.names.guest();
            self.distinct.arena.push(guest);
        } else {
            broken = self.chain(sample);
        }
        self.distinct.chains.push(Chain { end: self.distinct.arena.len(), broken, samples: 0 });
        next
    }

    /// Appends the chain's addresses; of callers the address inside the call instruction. Returns why
    /// it was cut short.
    ///
    /// A chain ends where its next caller cannot be code: what follows is chance, and would only
    /// split equal stacks.
    fn chain(&mut self, sample: &Sample<'_>) -> Option<&'static str> {
        let begin = self.distinct.arena.len();
        let mut user = false;
        let mut leaf = true;
        for address in sample.chain() {
            if address >= FIRST_CONTEXT {
                user = address == sys::PERF_CONTEXT_USER;
                leaf = true;
                continue;
            }
            let caller = !std::mem::take(&mut leaf);
            let at = if caller { address.saturating_sub(1) } else { address };
            let id = if user {
                self.names.user_address(&mut self.processes, sample.pid, at)
            } else {
                self.names.kernel_address(at)
            };
            if let Some(reason) = self.names.breaks_chain(id).filter(|_| caller) {
                return Some(reason);
            }
            // Addresses that fold into one nameless frame are shown once in a row.
            let arena = &mut self.distinct.arena;
            if arena.len() == begin || arena.last() != Some(&id) || !self.names.is_nameless(id) {
                arena.push(id);
            }
        }
        None
    }

    /// The stack of kernel addresses, leaf first, below a root frame that says what it is of.
    pub(crate) fn kernel_stack(&mut self, root: &str, chain: &[u64]) -> StackId {
        let root = self.profile.frame(root, "kernel", FrameKind::Kernel);
        let mut stack = self.profile.stacks.child(StackId::ROOT, root);
        let mut addresses = chain.iter().copied().filter(|address| *address < FIRST_CONTEXT);
        let leaf = addresses.next();
        // Of callers the address inside the call instruction.
        let callers: Vec<u64> = addresses.map(|address| address.saturating_sub(1)).collect();
        for address in callers.into_iter().rev().chain(leaf) {
            let id = self.names.kernel_address(address);
            let frame = self.names.frame(id, 1, &self.processes, &mut self.profile);
            stack = self.profile.stacks.child(stack, frame);
        }
        stack
    }

    fn rename(&mut self, pid: i32, tid: i32, comm: &str) {
        if self.own.contains(&pid) {
            return;
        }
        let thread = self.profile.thread(pid, tid, comm);
        self.threads.insert(tid, thread);
        let of_target = self.wanted.as_ref().is_some_and(|wanted| wanted.contains(&pid));
        self.clocks.named(pid, tid, comm, of_target);
    }

    fn fork(&mut self, time: u64, pid: i32, ppid: i32, tid: i32, ptid: i32) {
        if pid != ppid {
            // The id may have been another process's.
            self.mappings += 1;
        }
        self.processes.fork(pid, ppid);
        if let Some(wanted) = &mut self.wanted
            && wanted.contains(&ppid)
        {
            wanted.insert(pid);
        }
        if self.own.contains(&ppid) {
            self.own.insert(pid);
            return;
        }
        self.own.remove(&pid); // the id was once that of a command
        let parent = self.thread(ppid, ptid);
        let comm = self.profile.strings.get(self.profile.threads.get(parent).comm).to_owned();
        if ppid == std::process::id() as i32 && pid != ppid && comm == ASKING_THREAD {
            self.own.insert(pid);
            return;
        }
        let thread = self.profile.thread(pid, tid, &comm);
        self.threads.insert(tid, thread);
        if self.wanted.as_ref().is_some_and(|wanted| wanted.contains(&pid)) {
            self.clocks.started(pid, tid, self.since_start(time));
        }
    }

    fn exit(&mut self, time: u64, pid: i32, tid: i32) {
        self.clocks.ended(tid, self.since_start(time));
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

    pub(crate) fn since_start(&self, time: u64) -> Nanos {
        Nanos(time.saturating_sub(self.start_ns) as i64)
    }

    /// CPU time in nanoseconds of the threads of this name or role that were read, by tid.
    pub(crate) fn cpu_of(&self, name: &str, pen: &SeriesPen) -> Vec<(i32, i64)> {
        let mut found = Vec::new();
        for (tid, thread) in &self.threads {
            let comm = self.profile.strings.get(self.profile.threads.get(*thread).comm);
            let named = comm == name || comm.split('/').next() == Some(name);
            if (named || zwhy_zfs::thread_role(comm).is_some_and(|role| role.name == name))
                && let Some(ns) = pen.reading(&format!("thread/{tid}"), "cpu_ns")
            {
                found.push((*tid, ns));
            }
        }
        found
    }

    /// Leaves only what these samples refer to in the profile, and gives them its new ids; call it
    /// when no sample is pending.
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

    /// Kernel modules came, went or moved: names what was seen up to now, then trusts the new ones.
    pub(crate) fn modules_changed(&mut self) {
        self.names.modules_changed();
        self.name_pending();
        self.names.settle();
    }

    /// Bytes that tables of names hold, about: those of the profile, with the ids that the writer keeps
    /// of their rows.
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

    /// Names the chains of all pending samples and moves them into the profile.
    pub(crate) fn name_pending(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        let Distinct { chains, places, arena, .. } = std::mem::take(&mut self.distinct);
        self.names.name_by_image(&arena, &self.processes, &mut self.profile);
        let mut stacks = Vec::with_capacity(chains.len());
        let mut from = 0;
        for chain in chains {
            let mut stack = StackId::ROOT;
            for id in arena[from..chain.end].iter().rev() {
                let frame = self.names.frame(*id, chain.samples, &self.processes, &mut self.profile);
                stack = self.profile.stacks.child(stack, frame);
                for inlined in self.names.inlined(*id) {
                    stack = self.profile.stacks.child(stack, *inlined);
                }
            }
            if let Some(reason) = chain.broken {
                *self.names.unresolved.entry(reason).or_default() += chain.samples;
            }
            from = chain.end;
            stacks.push(stack);
        }
        self.profile.samples.reserve(pending.len());
        for sample in pending {
            let Where { thread, cpu, weight } = places[sample.place as usize];
            self.profile.samples.push(Row {
                t: sample.t,
                cpu,
                thread,
                stack: stacks[sample.chain as usize],
                event: Event::Cpu,
                count: 1,
                weight: Nanos(weight as i64),
            });
        }
        self.processes.flushed();
        self.names.trim(&self.processes);
    }
}

/// The path of a mapping as /proc/PID/maps would show it.
fn mapped_path(path: &[u8]) -> String {
    match path {
        b"//anon" => String::new(),
        path => String::from_utf8_lossy(path).into_owned(),
    }
}

fn read_comm(pid: i32, tid: i32) -> String {
    let path = if pid > 0 { format!("/proc/{pid}/task/{tid}/comm") } else { format!("/proc/{tid}/comm") };
    let bytes = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    text.strip_suffix('\n').unwrap_or(&text).to_owned()
}
