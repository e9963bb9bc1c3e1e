//! All events of a recording and one ring per CPU.
//!
//! Invariants: every event of a CPU writes to that CPU's ring; a thread is attached once. Per-thread
//! events are opened per CPU because the kernel maps no ring for an inherited event of all CPUs.

use super::attr::{Clock, Sampling};
use super::open::{Whose, disable, enable, event_id, join, open_event};
use super::permission;
use super::ring::Ring;
use crate::error::RecordError;
use rustc_hash::{FxHashMap, FxHashSet};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::io;
use zwhy_host::doctor::Sampled;
use zwhy_host::online_cpus;

const SMALLEST_RING: usize = 64 << 10;

struct Event {
    fd: OwnedFd,
    cpu: u32,
}

struct CpuRing {
    cpu: u32,
    /// Index of the event that owns the mapping.
    owner: usize,
    ring: Ring,
}

pub(crate) struct Session {
    pub sampling: Sampling,
    events: Vec<Event>,
    rings: Vec<CpuRing>,
    cpus: Vec<u32>,
    ring_bytes: usize,
    attached: FxHashSet<i32>,
    /// The folder of the control group that all events count.
    cgroup: Option<OwnedFd>,
    /// Thread that each event was opened for, by event id.
    thread_of_event: FxHashMap<u64, i32>,
    target: String,
}

/// Finds the best sampling that the kernel grants: cycles before the timer, kernel before user only.
///
/// `whose` is this process, or the host or a group, which have no user-only fallback.
fn probe(mut want: Sampling, whose: Whose<'_>, cpu: i32, target: &str) -> Result<Sampling, RecordError> {
    let wide = !matches!(whose, Whose::Thread(0..));
    loop {
        let Err(error) = open_event(&want, whose, cpu) else { return Ok(want) };
        let errno = Errno::from_io_error(&error).unwrap_or(Errno::INVAL);
        match errno {
            Errno::ACCESS | Errno::PERM if !want.user_only && !wide => want.user_only = true,
            Errno::ACCESS | Errno::PERM | Errno::NOSYS | Errno::MFILE | Errno::NFILE => {
                return Err(permission::explain(error, target, wide));
            }
            _ if want.count_lost => want.count_lost = false,
            _ if want.clock == Clock::Cycles => {
                want.clock = Clock::CpuClock;
                want.count_lost = true;
            }
            _ => return Err(permission::explain(error, target, wide)),
        }
    }
}

/// Opens an event as a recording of the whole host does, and closes it again: what would drive it.
///
/// # Errors
/// When the kernel refuses.
pub fn try_sampling() -> io::Result<Sampled> {
    let mut want = Sampling {
        hz: 99,
        clock: Clock::Cycles,
        user_only: false,
        inherit: false,
        on_exec: false,
        count_lost: false,
    };
    let cpu = online_cpus().first().map_or(0, |c| *c as i32);
    if open_event(&want, Whose::Thread(-1), cpu).is_ok() {
        return Ok(Sampled::ByCycles);
    }
    want.clock = Clock::CpuClock;
    open_event(&want, Whose::Thread(-1), cpu).map(|_| Sampled::ByTimer)
}

impl Session {
    /// Opens one event on each CPU, for all threads of the host.
    pub(crate) fn system(want: Sampling, cpus: &[u32], ring_bytes: usize) -> Result<Session, RecordError> {
        let first = cpus.first().copied().unwrap_or(0) as i32;
        let sampling = probe(want, Whose::Thread(-1), first, "the whole host")?;
        let mut session = Session::empty(sampling, cpus, ring_bytes, "the whole host".to_owned());
        session.open_on_cpus(-1)?;
        Ok(session)
    }

    /// Opens one event on each CPU, for all threads of a control group.
    pub(crate) fn cgroup(
        want: Sampling,
        cpus: &[u32],
        ring_bytes: usize,
        folder: OwnedFd,
        target: &str,
    ) -> Result<Session, RecordError> {
        let first = cpus.first().copied().unwrap_or(0) as i32;
        let sampling = probe(want, Whose::Cgroup(folder.as_fd()), first, target)?;
        let mut session = Session::empty(sampling, cpus, ring_bytes, target.to_owned());
        session.cgroup = Some(folder);
        session.open_on_cpus(-1)?;
        Ok(session)
    }

    /// Prepares to sample single threads; see [`Session::attach`].
    pub(crate) fn threads(
        want: Sampling,
        cpus: &[u32],
        ring_bytes: usize,
        target: &str,
    ) -> Result<Session, RecordError> {
        let probed = probe(Sampling { on_exec: false, ..want }, Whose::Thread(0), -1, target)?;
        let sampling = Sampling { on_exec: want.on_exec, ..probed };
        Ok(Session::empty(sampling, cpus, ring_bytes, target.to_owned()))
    }

    /// Without any event yet.
    pub(crate) fn empty(sampling: Sampling, cpus: &[u32], ring_bytes: usize, target: String) -> Session {
        Session {
            sampling,
            events: Vec::new(),
            rings: Vec::new(),
            cpus: cpus.to_vec(),
            ring_bytes,
            attached: FxHashSet::default(),
            cgroup: None,
            thread_of_event: FxHashMap::default(),
            target,
        }
    }

    /// Samples a thread and all it starts from now on; `false` when it is attached already or has ended.
    pub(crate) fn attach(&mut self, tid: i32) -> Result<bool, RecordError> {
        if !self.attached.insert(tid) {
            return Ok(false);
        }
        self.open_on_cpus(tid)
    }

    /// `false` when the thread has ended.
    fn open_on_cpus(&mut self, tid: i32) -> Result<bool, RecordError> {
        let refused = |error, target: &str| permission::explain(error, target, tid < 0);
        for cpu in self.cpus.clone() {
            let whose = self.cgroup.as_ref().map_or(Whose::Thread(tid), |g| Whose::Cgroup(g.as_fd()));
            let fd = match open_event(&self.sampling, whose, cpu as i32) {
                Ok(fd) => fd,
                // The CPU or the thread went away since it was listed.
                Err(e) if Errno::from_io_error(&e) == Some(Errno::NODEV) => continue,
                Err(e) if Errno::from_io_error(&e) == Some(Errno::SRCH) => return Ok(false),
                Err(e) => return Err(refused(e, &self.target)),
            };
            let id = event_id(fd.as_fd()).map_err(|e| refused(e, &self.target))?;
            self.events.push(Event { fd, cpu });
            self.thread_of_event.insert(id, tid);
            self.output(cpu).map_err(|e| refused(e, &self.target))?;
        }
        Ok(true)
    }

    /// Gives the newest event a ring: the one of its CPU, or a new one.
    fn output(&mut self, cpu: u32) -> io::Result<()> {
        let newest = self.events.len() - 1;
        let event = &self.events[newest].fd;
        if let Some(ring) = self.rings.iter().find(|r| r.cpu == cpu) {
            return join(event.as_fd(), self.events[ring.owner].fd.as_fd());
        }
        // An unprivileged user may lock kernel.perf_event_mlock_kb in all; take less rather than fail.
        loop {
            match Ring::map(event, self.ring_bytes) {
                Ok(ring) => {
                    self.rings.push(CpuRing { cpu, owner: newest, ring });
                    return Ok(());
                }
                Err(Errno::PERM | Errno::NOMEM) if self.ring_bytes > SMALLEST_RING => self.ring_bytes /= 2,
                Err(e) => return Err(e.into()),
            }
        }
    }

    /// The thread that an event was opened for: -1 for all, `None` for an unknown event.
    pub(crate) fn thread_of_event(&self, id: u64) -> Option<i32> {
        self.thread_of_event.get(&id).copied()
    }

    pub(crate) fn is_attached(&self, tid: i32) -> bool {
        self.attached.contains(&tid)
    }

    pub(crate) fn ring_bytes(&self) -> usize {
        self.ring_bytes
    }

    pub(crate) fn rings(&self) -> usize {
        self.rings.len()
    }

    pub(crate) fn events(&self) -> usize {
        self.events.len()
    }

    pub(crate) fn enable(&self) -> io::Result<()> {
        self.events.iter().try_for_each(|e| enable(e.fd.as_fd()))
    }

    pub(crate) fn disable(&self) {
        for event in &self.events {
            // An event whose thread has ended is off already.
            let _ = disable(event.fd.as_fd());
        }
    }

    /// Copies everything out of all rings.
    pub(crate) fn drain(&mut self, out: &mut Vec<u8>) {
        for ring in &mut self.rings {
            ring.ring.drain(out);
        }
    }

    /// Samples that found no room, by CPU, as the kernel counted them; empty on kernels before 6.0.
    pub(crate) fn lost(&self) -> BTreeMap<u32, u64> {
        let mut lost = BTreeMap::new();
        if self.sampling.count_lost {
            for event in &self.events {
                let mut words = [0u8; 16];
                if rustix::io::read(&event.fd, &mut words).is_ok_and(|n| n == 16) {
                    let count = u64::from_ne_bytes(words[8..].try_into().unwrap_or_default());
                    *lost.entry(event.cpu).or_default() += count;
                }
            }
        }
        lost
    }
}
