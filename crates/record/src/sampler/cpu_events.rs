//! The events that sample CPU time: of which threads, on which CPUs, and what had to be left out.
//!
//! Invariants: a thread is attached once. Per-thread events are opened per CPU because the kernel maps no
//! ring for an inherited event of all CPUs.

use crate::cgroup;
use crate::error::RecordError;
use crate::options::RecordOptions;
use crate::permission;
use crate::target::{Held, Target};
use rustc_hash::{FxHashMap, FxHashSet};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use std::io;
use zwhy_host::doctor::Sampled;
use zwhy_host::{max_sample_rate, numbers_in, online_cpus, raise_descriptor_limit};
use zwhy_perf::ask::{Clock, Sampling};
use zwhy_perf::attr::{Attr, Schema};
use zwhy_perf::open::{Whose, open_event};
use zwhy_perf::{Rings, ring_bytes};

/// New threads may start while others are being attached; so many looks find them.
const ATTACH_ROUNDS: usize = 8;
/// Bytes of a sample with a deep call chain.
const DEEP_SAMPLE: usize = 1200;
/// Bytes of all rings together, which stay in memory; they are emptied ten times a second.
const ALL_RINGS: usize = 32 << 20;

/// Room for about two seconds of deep call chains, 512 KiB (what an unprivileged user may lock) to
/// 8 MiB; on hosts with many CPUs less, but for half a second.
fn room(hz: u32, cpus: usize) -> usize {
    let a_second = hz as usize * DEEP_SAMPLE;
    let least = (a_second / 2).next_power_of_two().max(64 << 10);
    let most = (a_second * 2).next_power_of_two().max(512 << 10);
    ring_bytes(cpus, ALL_RINGS, least..=most.min(8 << 20))
}

/// Which of the samples that an event inherited count.
#[derive(Default)]
pub(crate) struct Attached {
    threads: FxHashSet<i32>,
    /// Thread that each event was opened for, by event id.
    of_event: FxHashMap<u64, i32>,
}

impl Attached {
    /// A thread that started while threads were being attached has its own event and one that it
    /// inherited; only its own counts.
    pub(crate) fn seen_twice(&self, tid: i32, event_id: u64) -> bool {
        let opened_for = self.of_event.get(&event_id);
        self.threads.contains(&tid) && opened_for.is_some_and(|of| *of != tid && *of > 0)
    }
}

pub(crate) struct Session {
    pub sampling: Sampling,
    pub rings: Rings,
    pub attached: Attached,
    cpus: Vec<u32>,
    /// The folder of the control group that all events count.
    cgroup: Option<OwnedFd>,
    target: String,
}

/// Finds the best sampling that the kernel grants: cycles before the timer, kernel before user only.
///
/// `whose` is this process, or the host or a group, which have no user-only fallback.
fn probe(mut want: Sampling, whose: Whose<'_>, cpu: i32, target: &str) -> Result<Sampling, RecordError> {
    let wide = !matches!(whose, Whose::Thread(0..));
    loop {
        let Err(error) = open_event(&mut want.attr(), whose, cpu) else { return Ok(want) };
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
    let mut want = trial(Clock::Cycles);
    let cpu = online_cpus().first().map_or(0, |c| *c as i32);
    if open_event(&mut want.attr(), Whose::Thread(-1), cpu).is_ok() {
        return Ok(Sampled::ByCycles);
    }
    want.clock = Clock::CpuClock;
    open_event(&mut want.attr(), Whose::Thread(-1), cpu).map(|_| Sampled::ByTimer)
}

/// Opens an event as a recording of the caller's own processes does, and closes it again.
///
/// # Errors
/// When the kernel refuses, with what helps.
pub fn try_sampling_own() -> Result<(), RecordError> {
    probe(trial(Clock::CpuClock), Whose::Thread(0), -1, "this program").map(drop)
}

/// What is opened only to see whether the kernel grants it.
fn trial(clock: Clock) -> Sampling {
    Sampling { hz: 99, clock, user_only: false, inherit: false, on_exec: false, count_lost: false }
}

/// Opens the events of a target that is held; sentences on what was adapted go to `caveats`.
pub(crate) fn open(
    options: &RecordOptions,
    held: &Held,
    caveats: &mut Vec<String>,
) -> Result<Session, RecordError> {
    let want = Sampling {
        hz: allowed_rate(options.hz, caveats),
        clock: Clock::Cycles,
        user_only: options.user_only,
        inherit: matches!(options.target, Target::Pid(_) | Target::Command(_)),
        on_exec: matches!(options.target, Target::Command(_)),
        count_lost: true,
    };
    raise_descriptor_limit();
    let cpus = online_cpus();
    let ring = room(want.hz, cpus.len());
    match &options.target {
        Target::System => Session::system(want, &cpus, ring),
        Target::Cgroup(group) => {
            let (folder, path) = cgroup::open(group)?;
            let name = format!("cgroup {}", path.display());
            Session::cgroup(want, &cpus, ring, folder, &name)
        }
        Target::Pid(_) => {
            let all = Sampling { inherit: false, ..want };
            let by_cpu = options.by_cpu.then(|| Session::system(all, &cpus, ring).ok()).flatten();
            by_cpu.map_or_else(|| open_processes(&held.pids, want, &cpus, ring, caveats), Ok)
        }
        Target::Command(_) => {
            let mut session = Session::threads(want, &cpus, ring, "the command")?;
            for pid in &held.pids {
                session.attach(*pid)?;
            }
            Ok(session)
        }
    }
}

fn open_processes(
    pids: &[i32],
    want: Sampling,
    cpus: &[u32],
    ring: usize,
    caveats: &mut Vec<String>,
) -> Result<Session, RecordError> {
    let names: Vec<String> = pids.iter().map(i32::to_string).collect();
    let mut session = Session::threads(want, cpus, ring, &format!("process {}", names.join(", ")))?;
    match attach_all(&mut session, pids) {
        Ok(()) if session.rings.events() == 0 => Err(RecordError::NoSuchProcess(pids[0])),
        Ok(()) => Ok(session),
        // Too many threads for one event each: sample all CPUs and keep what is wanted.
        Err(error @ RecordError::Perf { .. }) => {
            drop(session);
            let want = Sampling { inherit: false, ..want };
            let session = Session::system(want, cpus, ring).map_err(|_| error)?;
            caveats.push("the target has too many threads for one event each; all CPUs are sampled and other processes left out".into());
            Ok(session)
        }
        Err(error) => Err(error),
    }
}

/// Attaches every thread of these processes, those too that start meanwhile.
fn attach_all(session: &mut Session, pids: &[i32]) -> Result<(), RecordError> {
    for _ in 0..ATTACH_ROUNDS {
        let mut new = false;
        for pid in pids {
            for tid in numbers_in(format!("/proc/{pid}/task")) {
                new |= session.attach(tid)?;
            }
        }
        if !new {
            break;
        }
    }
    Ok(())
}

/// The rate asked for, or the kernel's ceiling.
fn allowed_rate(hz: u32, caveats: &mut Vec<String>) -> u32 {
    match max_sample_rate() {
        Some(most) if most > 0 && hz > most => {
            caveats.push(format!(
                "the kernel allows {most} samples a second (kernel.perf_event_max_sample_rate), not {hz}; \
                 raise it with sysctl for a higher rate"
            ));
            most
        }
        _ => hz,
    }
}

impl Session {
    /// One event on each CPU, for all threads of the host.
    fn system(want: Sampling, cpus: &[u32], ring: usize) -> Result<Session, RecordError> {
        let first = cpus.first().copied().unwrap_or(0) as i32;
        let sampling = probe(want, Whose::Thread(-1), first, "the whole host")?;
        let mut session = Session::empty(sampling, cpus, ring, "the whole host".to_owned());
        session.open_on_cpus(-1)?;
        Ok(session)
    }

    /// One event on each CPU, for all threads of a control group.
    fn cgroup(
        want: Sampling,
        cpus: &[u32],
        ring: usize,
        folder: OwnedFd,
        target: &str,
    ) -> Result<Session, RecordError> {
        let first = cpus.first().copied().unwrap_or(0) as i32;
        let sampling = probe(want, Whose::Cgroup(folder.as_fd()), first, target)?;
        let mut session = Session::empty(sampling, cpus, ring, target.to_owned());
        session.cgroup = Some(folder);
        session.open_on_cpus(-1)?;
        Ok(session)
    }

    /// A session to which threads are attached one by one.
    fn threads(want: Sampling, cpus: &[u32], ring: usize, target: &str) -> Result<Session, RecordError> {
        let probed = probe(Sampling { on_exec: false, ..want }, Whose::Thread(0), -1, target)?;
        let sampling = Sampling { on_exec: want.on_exec, ..probed };
        Ok(Session::empty(sampling, cpus, ring, target.to_owned()))
    }

    pub(crate) fn empty(sampling: Sampling, cpus: &[u32], ring: usize, target: String) -> Session {
        let schema = Schema::of_one(Attr::of(&sampling.attr()));
        Session {
            sampling,
            rings: Rings::new(schema, ring),
            attached: Attached::default(),
            cpus: cpus.to_vec(),
            cgroup: None,
            target,
        }
    }

    /// Samples a thread and all it starts from now on; `false` when it is attached already or has ended.
    fn attach(&mut self, tid: i32) -> Result<bool, RecordError> {
        if !self.attached.threads.insert(tid) {
            return Ok(false);
        }
        self.open_on_cpus(tid)
    }

    /// `false` when the thread has ended.
    fn open_on_cpus(&mut self, tid: i32) -> Result<bool, RecordError> {
        for cpu in self.cpus.clone() {
            let whose = self.cgroup.as_ref().map_or(Whose::Thread(tid), |g| Whose::Cgroup(g.as_fd()));
            let refused = |error| permission::explain(error, &self.target, tid < 0);
            let fd = match open_event(&mut self.sampling.attr(), whose, cpu as i32) {
                Ok(fd) => fd,
                // The CPU or the thread went away since it was listed.
                Err(e) if Errno::from_io_error(&e) == Some(Errno::NODEV) => continue,
                Err(e) if Errno::from_io_error(&e) == Some(Errno::SRCH) => return Ok(false),
                Err(e) => return Err(refused(e)),
            };
            let id = self.rings.add(fd, cpu).map_err(refused)?;
            self.attached.of_event.insert(id, tid);
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_grow_with_the_rate() {
        assert_eq!(room(99, 2), 512 << 10);
        assert_eq!(room(999, 2), 4 << 20);
        assert_eq!(room(4999, 2), 8 << 20);
        assert_eq!(room(99, 64), 512 << 10);
        assert_eq!(room(99, 65), 256 << 10);
        assert_eq!(room(99, 1024), 64 << 10);
        assert_eq!(room(999, 256), 1 << 20);
        assert_eq!(room(1, 8192), 64 << 10);
    }
}
