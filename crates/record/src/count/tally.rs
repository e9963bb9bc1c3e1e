//! From samples to counts by caller stack, in order of time, while the probes run.
//!
//! Invariant: memory grows with distinct stacks of threads, not with calls.

use super::pattern::Pattern;
use super::probe::Probe;
use super::sample::ProbeSample;
use super::session::Session;
use crate::naming::{AddressId, Names};
use crate::perf::record::{Record, parse, record_len};
use crate::processes::Processes;
use perf_event_open_sys::bindings as sys;
use rustc_hash::{FxHashMap, FxHashSet};
use std::fs;
use zwhy_profile::{Event, FrameId, Nanos, Profile, Sample as Row, StackId, ThreadId};

/// A record may be stamped and not yet be in its ring; what is younger than this waits a round.
const SETTLE_NS: u64 = 10_000_000;
/// Anything at or above is a context mark, not an address.
const FIRST_CONTEXT: u64 = sys::PERF_CONTEXT_MAX;
/// Calls of the related caller that are looked at one by one.
const MOST_CALLS: usize = 65_536;

/// What a stack holds besides the function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Below {
    pub under: bool,
    pub per: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Fresh {
    count: u64,
    below: Below,
}

/// Which tasks count.
pub(super) struct Wanted {
    /// Processes; `None`: all.
    pub pids: Option<FxHashSet<i32>>,
    /// A command that counts from its exec on.
    pub awaited: Option<i32>,
}

pub(super) struct Tally {
    pub profile: Profile,
    names: Names,
    processes: Processes,
    wanted: Wanted,
    threads: FxHashMap<i32, ThreadId>,
    frames: Vec<FrameId>,
    in_kernel: Vec<bool>,
    /// Whether the kernel puts the direct caller into user chains: since 6.12 it does for functions
    /// that begin with a push or an endbr (`is_uprobe_at_func_entry` in arch/x86/events/core.c).
    gives_caller: Vec<bool>,
    /// Index of the first probe of the function that calls are related to.
    per_from: usize,
    under: Option<Pattern>,
    per: Option<Pattern>,
    /// Thread, probe, then addresses from the direct caller to the root.
    fresh: FxHashMap<Box<[u32]>, Fresh>,
    scratch: Vec<u32>,
    chain: Vec<u64>,
    matches: FxHashMap<AddressId, Below>,
    /// Records that are too young.
    bytes: Vec<u8>,
    /// Calls by stack, whose leaf is the function, since the start.
    pub totals: FxHashMap<StackId, (u64, Below)>,
    /// Wanted calls by probe.
    pub calls: Vec<u64>,
    /// Samples of all tasks, each one call in `one_in`.
    pub seen: u64,
    pub lost: u64,
    /// One sample stands for so many calls, from this time on.
    one_in: (u64, u64),
    /// Calls below each call of the related function, in order of time.
    pub per_call: Vec<u32>,
    open_call: FxHashMap<i32, usize>,
}

impl Tally {
    /// Probes from `per_from` on are those of the related function.
    pub(super) fn new(
        probes: &[Probe],
        per_from: usize,
        under: Option<Pattern>,
        per: Option<Pattern>,
        processes: Processes,
        wanted: Wanted,
    ) -> Tally {
        let mut profile = Profile::new();
        Tally {
            frames: probes.iter().map(|p| profile.frame(&p.function, &p.module, p.kind())).collect(),
            in_kernel: probes.iter().map(Probe::is_kernel).collect(),
            gives_caller: vec![true; probes.len()],
            names: Names::new(probes.iter().any(Probe::is_kernel)),
            profile,
            processes,
            wanted,
            threads: FxHashMap::default(),
            per_from,
            under,
            per,
            fresh: FxHashMap::default(),
            scratch: Vec::new(),
            chain: Vec::new(),
            matches: FxHashMap::default(),
            bytes: Vec::new(),
            totals: FxHashMap::default(),
            calls: vec![0; probes.len()],
            seen: 0,
            lost: 0,
            one_in: (1, 0),
            per_call: Vec::new(),
            open_call: FxHashMap::default(),
        }
    }

    pub(super) fn one_in(&self) -> u64 {
        self.one_in.0
    }

    pub(super) fn wanted(&mut self) -> &mut Wanted {
        &mut self.wanted
    }

    pub(super) fn per_from(&self) -> usize {
        self.per_from
    }

    /// Distinct stacks since the last flush.
    pub(super) fn pending(&self) -> usize {
        self.fresh.len()
    }

    /// From `now_ns` on a sample stands for `period` calls; single calls cannot be told apart any more.
    pub(super) fn thin_out(&mut self, period: u64, now_ns: u64) {
        self.one_in = (period, now_ns);
        self.per_call.clear();
        self.open_call.clear();
    }

    /// Takes in what the rings hold up to about `now_ns`; with `last`, all of it.
    pub(super) fn drain(&mut self, session: &mut Session, now_ns: u64, last: bool) {
        let mut bytes = std::mem::take(&mut self.bytes);
        session.drain(&mut bytes);
        let mut order: Vec<(u64, usize, usize)> = Vec::new();
        let mut at = 0;
        while let Some(len) = bytes.get(at..).and_then(record_len) {
            let record = &bytes[at..at + len];
            let time = ProbeSample::parse(record).map_or_else(|| parse(record).time, |s| s.time);
            order.push((time, at, len));
            at += len;
        }
        order.sort_by_key(|(time, ..)| *time);
        let horizon = if last { u64::MAX } else { now_ns.saturating_sub(SETTLE_NS) };
        let mut young = Vec::new();
        for (time, at, len) in order {
            let record = &bytes[at..at + len];
            match (time > horizon, ProbeSample::parse(record)) {
                (true, _) => young.extend_from_slice(record),
                (false, Some(sample)) => self.sample(&sample, session),
                (false, None) => self.side_band(parse(record).record),
            }
        }
        self.bytes = young;
    }

    fn side_band(&mut self, record: Record<'_>) {
        match record {
            Record::Comm { pid, tid, exec, comm } => {
                if exec {
                    self.processes.exec(pid);
                    if self.wanted.awaited == Some(pid) {
                        self.wanted.awaited = None;
                        self.wanted.pids.get_or_insert_default().insert(pid);
                    }
                }
                let thread = self.profile.thread(pid, tid, &String::from_utf8_lossy(comm));
                self.threads.insert(tid, thread);
            }
            Record::Mmap { pid, start, len, offset, inode, path } => {
                let path = if path == b"//anon" { "".into() } else { String::from_utf8_lossy(path) };
                self.processes.map(pid, start, len, offset, inode, &path);
            }
            Record::Fork { pid, ppid, tid, ptid } => {
                self.processes.fork(pid, ppid);
                if let Some(wanted) = &mut self.wanted.pids
                    && pid != ppid
                {
                    // The id may have been that of a process which has ended.
                    if wanted.contains(&ppid) {
                        wanted.insert(pid)
                    } else {
                        wanted.remove(&pid)
                    };
                }
                let parent = self.threads.get(&ptid).map(|t| self.profile.threads.get(*t).comm);
                if let Some(comm) = parent {
                    let comm = self.profile.strings.get(comm).to_owned();
                    let thread = self.profile.thread(pid, tid, &comm);
                    self.threads.insert(tid, thread);
                }
            }
            Record::Exit { pid, tid } => {
                self.threads.remove(&tid);
                if pid == tid {
                    self.processes.exit(pid);
                }
            }
            Record::Lost(count) => self.lost += count,
            Record::Sample(_) | Record::Throttle | Record::Other => {}
        }
    }

    fn sample(&mut self, sample: &ProbeSample<'_>, session: &Session) {
        let Some(probe) = session.probe_of_event(sample.event_id) else { return };
        let stands_for = if sample.time >= self.one_in.1 { self.one_in.0 } else { 1 };
        self.seen += stands_for;
        if self.wanted.awaited.is_some()
            || self.wanted.pids.as_ref().is_some_and(|wanted| !wanted.contains(&sample.pid))
        {
            return;
        }
        self.calls[probe] += stands_for;
        if probe >= self.per_from {
            self.begin_call(sample.tid);
            return;
        }
        let thread = self.thread(sample.pid, sample.tid);
        self.read_chain(sample, probe, thread);
        let known = self.fresh.get_mut(self.scratch.as_slice()).map(|fresh| {
            fresh.count += stands_for;
            fresh.below
        });
        let below = known.unwrap_or_else(|| {
            let below = self.below();
            self.fresh.insert(self.scratch.as_slice().into(), Fresh { count: stands_for, below });
            below
        });
        if below.per
            && let Some(call) = self.open_call.get(&sample.tid).and_then(|at| self.per_call.get_mut(*at))
        {
            *call = call.saturating_add(1);
        }
    }

    fn begin_call(&mut self, tid: i32) {
        if self.one_in.0 == 1 && self.per_call.len() < MOST_CALLS {
            self.open_call.insert(tid, self.per_call.len());
            self.per_call.push(0);
        } else {
            self.open_call.remove(&tid);
        }
    }

    /// Puts thread, probe and callers into `scratch`.
    ///
    /// The first address is the function itself. A chain ends where its next caller cannot be code.
    fn read_chain(&mut self, sample: &ProbeSample<'_>, probe: usize, thread: ThreadId) {
        self.scratch.clear();
        self.scratch.extend([thread.0, probe as u32]);
        let mut chain = std::mem::take(&mut self.chain);
        chain.clear();
        chain.extend(sample.chain());
        let own = chain.iter().position(|a| *a < FIRST_CONTEXT).unwrap_or(chain.len());
        if let (false, Some(caller)) = (self.in_kernel[probe], sample.caller) {
            self.gives_caller[probe] &= chain.get(own + 1) == Some(&caller);
            if !self.gives_caller[probe] {
                chain.insert((own + 1).min(chain.len()), caller);
            }
        }
        let mut user = !self.in_kernel[probe];
        let mut entered = true;
        for (at, address) in chain.iter().copied().enumerate() {
            if address >= FIRST_CONTEXT {
                user = address == sys::PERF_CONTEXT_USER;
                entered = at < own;
                continue;
            }
            if at == own {
                continue;
            }
            // What the kernel was entered from is an address itself; a caller is inside its call.
            let leaf = !std::mem::replace(&mut entered, true);
            let address = if leaf { address } else { address.saturating_sub(1) };
            let id = if user {
                self.names.user_address(&mut self.processes, sample.pid, address)
            } else {
                self.names.kernel_address(address)
            };
            if let Some(reason) = self.names.breaks_chain(id).filter(|_| !leaf) {
                *self.names.unresolved.entry(reason).or_default() += 1;
                break;
            }
            let twice = self.scratch.len() > 2 && self.scratch.last() == Some(&id.0);
            if !twice || !self.names.is_nameless(id) {
                self.scratch.push(id.0);
            }
        }
        self.chain = chain;
    }

    /// What is among the callers in `scratch`.
    fn below(&mut self) -> Below {
        let mut below = Below::default();
        if self.under.is_none() && self.per.is_none() {
            return below;
        }
        for at in 2..self.scratch.len() {
            let id = AddressId(self.scratch[at]);
            let found = self.matches.get(&id).copied().unwrap_or_else(|| {
                let frame = self.names.frame(id, 1, &self.processes, &mut self.profile);
                let name = self.profile.function_of(frame);
                let is = |p: &Option<Pattern>| p.as_ref().is_some_and(|p| p.matches_frame(name));
                let found = Below { under: is(&self.under), per: is(&self.per) };
                self.matches.insert(id, found);
                found
            });
            below.under |= found.under;
            below.per |= found.per;
        }
        below
    }

    fn thread(&mut self, pid: i32, tid: i32) -> ThreadId {
        if let Some(thread) = self.threads.get(&tid) {
            return *thread;
        }
        let bytes = fs::read(format!("/proc/{pid}/task/{tid}/comm")).unwrap_or_default();
        let comm = String::from_utf8_lossy(&bytes);
        let thread = self.profile.thread(pid, tid, comm.strip_suffix('\n').unwrap_or(&comm));
        self.threads.insert(tid, thread);
        thread
    }

    /// Names what was counted since the last call, and leaves it as samples of the profile that begin
    /// at `t`.
    pub(super) fn flush(&mut self, t: Nanos) {
        for (key, fresh) in std::mem::take(&mut self.fresh) {
            let mut stack = StackId::ROOT;
            for id in key[2..].iter().rev() {
                let frame = self.names.frame(AddressId(*id), 1, &self.processes, &mut self.profile);
                stack = self.profile.stacks.child(stack, frame);
            }
            stack = self.profile.stacks.child(stack, self.frames[key[1] as usize]);
            let total = self.totals.entry(stack).or_default();
            total.0 += fresh.count;
            total.1 = fresh.below;
            self.profile.samples.push(Row {
                t,
                cpu: -1,
                thread: ThreadId(key[0]),
                stack,
                event: Event::Count,
                count: u32::try_from(fresh.count).unwrap_or(u32::MAX),
                weight: Nanos(0),
            });
        }
        self.processes.flushed();
    }
}
