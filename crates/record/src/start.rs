//! Opening the target: which events on which threads, and what had to be left out.

use crate::cgroup;
use crate::command::{Waiting, spawn_waiting};
use crate::error::RecordError;
use crate::options::{RecordOptions, Target};
use crate::perf::attr::{Clock, Sampling};
use crate::perf::session::Session;
use rustc_hash::FxHashSet;
use std::path::Path;
use zwhy_host::numbers_in;
use zwhy_host::{max_sample_rate, online_cpus, raise_descriptor_limit};

/// Events are open, nothing is sampled yet.
pub(crate) struct Opened {
    pub session: Session,
    /// Processes that are recorded; `None`: all.
    pub wanted: Option<FxHashSet<i32>>,
    pub command: Option<Waiting>,
    /// Sentences on what was adapted.
    pub limits: Vec<String>,
}

/// New threads may start while others are being attached; so many looks find them.
const ATTACH_ROUNDS: usize = 8;
/// Bytes of a sample with a deep call chain.
const DEEP_SAMPLE: usize = 1200;

pub(crate) fn open(options: &RecordOptions) -> Result<Opened, RecordError> {
    let mut limits = Vec::new();
    let want = Sampling {
        hz: allowed_rate(options.hz, &mut limits),
        clock: Clock::Cycles,
        user_only: options.user_only,
        inherit: matches!(options.target, Target::Pid(_) | Target::Command(_)),
        on_exec: matches!(options.target, Target::Command(_)),
        count_lost: true,
    };
    raise_descriptor_limit();
    let cpus = online_cpus();
    let ring = ring_bytes(want.hz, cpus.len());
    let (session, wanted, command) = match &options.target {
        Target::System => (Session::system(want, &cpus, ring)?, None, None),
        Target::Cgroup(group) => {
            let (folder, path) = cgroup::open(group)?;
            let name = format!("cgroup {}", path.display());
            (Session::cgroup(want, &cpus, ring, folder, &name)?, None, None)
        }
        Target::Pid(pids) => {
            let (session, pids) = open_processes(pids, want, &cpus, ring, &mut limits)?;
            (session, Some(pids), None)
        }
        Target::Command(words) => {
            let mut session = Session::threads(want, &cpus, ring, "the command")?;
            let waiting = spawn_waiting(words)?;
            session.attach(waiting.pid)?;
            (session, Some(FxHashSet::from_iter([waiting.pid])), Some(waiting))
        }
    };
    Ok(Opened { session, wanted, command, limits })
}

fn open_processes(
    pids: &[i32],
    want: Sampling,
    cpus: &[u32],
    ring: usize,
    limits: &mut Vec<String>,
) -> Result<(Session, FxHashSet<i32>), RecordError> {
    if let Some(gone) = pids.iter().find(|pid| !Path::new(&format!("/proc/{pid}/task")).is_dir()) {
        return Err(RecordError::NoSuchProcess(*gone));
    }
    let wanted = FxHashSet::from_iter(pids.iter().copied());
    let names: Vec<String> = pids.iter().map(i32::to_string).collect();
    let mut session = Session::threads(want, cpus, ring, &format!("process {}", names.join(", ")))?;
    match attach_all(&mut session, pids) {
        Ok(()) if session.events() == 0 => Err(RecordError::NoSuchProcess(pids[0])),
        Ok(()) => Ok((session, wanted)),
        // Too many threads for one event each: sample all CPUs and keep what is wanted.
        Err(error @ RecordError::Perf { .. }) => {
            drop(session);
            let want = Sampling { inherit: false, ..want };
            let session = Session::system(want, cpus, ring).map_err(|_| error)?;
            limits.push("the target has too many threads for one event each; all CPUs are sampled and other processes left out".into());
            Ok((session, wanted))
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
fn allowed_rate(hz: u32, limits: &mut Vec<String>) -> u32 {
    match max_sample_rate() {
        Some(most) if most > 0 && hz > most => {
            limits.push(format!(
                "the kernel allows {most} samples a second (kernel.perf_event_max_sample_rate), not {hz}; \
                 raise it with sysctl for a higher rate"
            ));
            most
        }
        _ => hz,
    }
}

/// Bytes of all rings together, which stay in memory; they are emptied ten times a second.
const ALL_RINGS: usize = 32 << 20;

/// Room for about two seconds of deep call chains, 512 KiB (what an unprivileged user may lock) to
/// 8 MiB; on hosts with many CPUs less, but for half a second.
fn ring_bytes(hz: u32, cpus: usize) -> usize {
    let a_second = hz as usize * DEEP_SAMPLE;
    let share = (ALL_RINGS / cpus.max(1) + 1).next_power_of_two() / 2;
    let least = (a_second / 2).next_power_of_two().max(64 << 10);
    let wanted = (a_second * 2).next_power_of_two().max(512 << 10);
    wanted.min(share.max(least)).min(8 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_grow_with_the_rate() {
        assert_eq!(ring_bytes(99, 2), 512 << 10);
        assert_eq!(ring_bytes(999, 2), 4 << 20);
        assert_eq!(ring_bytes(4999, 2), 8 << 20);
        assert_eq!(ring_bytes(99, 64), 512 << 10);
        assert_eq!(ring_bytes(99, 65), 256 << 10);
        assert_eq!(ring_bytes(99, 1024), 64 << 10);
        assert_eq!(ring_bytes(999, 256), 1 << 20);
        assert_eq!(ring_bytes(1, 8192), 64 << 10);
    }
}
