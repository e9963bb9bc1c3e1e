//! Whose work is looked at, by `record` and `count` alike: a host, processes, a control group, a command; and
//! holding on to it until it ends.

use crate::command::{Waiting, spawn_waiting};
use crate::error::RecordError;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use zwhy_perf::Family;

/// Whose CPU time is recorded, or whose calls are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Every CPU of the host: every process and the kernel's threads.
    System,
    /// Processes with all their threads, and what they start.
    Pid(Vec<i32>),
    /// All processes of a control group, those too that join it later: its path, or its name below
    /// the mount point of the cgroups.
    Cgroup(PathBuf),
    /// A command with its arguments and all it starts, from its first instruction to its exit.
    Command(Vec<OsString>),
}

impl Target {
    /// As shown to people and kept in the facts.
    pub fn describe(&self) -> String {
        match self {
            Target::System => "system".to_owned(),
            Target::Pid(pids) => {
                let pids: Vec<String> = pids.iter().map(i32::to_string).collect();
                format!("pid {}", pids.join(","))
            }
            Target::Cgroup(group) => format!("cgroup {}", group.display()),
            Target::Command(words) => {
                let words: Vec<_> = words.iter().map(|w| w.to_string_lossy()).collect();
                format!("command {}", words.join(" "))
            }
        }
    }

    /// What makes no sense of it, as a sentence.
    pub(crate) fn problem(&self) -> Option<String> {
        match self {
            Target::Pid(pids) if pids.is_empty() => {
                Some("no process id given; name one with -p or use -a".to_owned())
            }
            Target::Pid(pids) => {
                pids.iter().find(|pid| **pid <= 0).map(|pid| format!("{pid} is not a process id"))
            }
            Target::Command(words) if words.is_empty() => Some("no command given after --".to_owned()),
            _ => None,
        }
    }
}

/// A target that is held: it ends no sooner than this knows.
pub(crate) struct Held {
    /// The processes that were asked for, the command's among them.
    pub pids: Vec<i32>,
    /// All of them have to end, not one that was started.
    of_processes: bool,
    waiting: Option<Waiting>,
    child: Option<Child>,
    exit_status: Option<ExitStatus>,
    /// Become readable when a process ends.
    watches: Vec<OwnedFd>,
    /// There is a descriptor for each process.
    all_watched: bool,
}

impl Held {
    /// Takes hold of the processes; a command is started and waits before its program.
    ///
    /// # Errors
    /// When a process does not exist or the command cannot be started.
    pub(crate) fn take(target: &Target) -> Result<Held, RecordError> {
        let waiting = match target {
            Target::Command(words) => Some(spawn_waiting(words)?),
            _ => None,
        };
        let pids = match target {
            Target::Pid(pids) => pids.clone(),
            _ => waiting.iter().map(|command| command.pid).collect(),
        };
        if let Some(gone) = pids.iter().find(|pid| !lives(**pid)) {
            return Err(RecordError::NoSuchProcess(*gone));
        }
        // Without it (before Linux 5.3) the end of a process is seen a moment later.
        let open = |pid: &i32| Pid::from_raw(*pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        let watches: Vec<OwnedFd> = pids.iter().filter_map(open).collect();
        Ok(Held {
            of_processes: matches!(target, Target::Pid(_)),
            all_watched: watches.len() == pids.len(),
            waiting,
            child: None,
            exit_status: None,
            pids,
            watches,
        })
    }

    /// A command waits for [`Held::release`].
    pub(crate) fn waits(&self) -> bool {
        self.waiting.is_some()
    }

    /// Which processes count: all where none were asked for.
    pub(crate) fn family(&self) -> Family {
        if self.pids.is_empty() { Family::everyone() } else { Family::of(self.pids.iter().copied()) }
    }

    /// The same for who must not see a command before it runs its own program.
    pub(crate) fn family_from_exec(&self) -> Family {
        self.waiting.as_ref().map_or_else(|| self.family(), |command| Family::awaiting(command.pid))
    }

    /// Lets a command run.
    ///
    /// # Errors
    /// When it could not be executed.
    pub(crate) fn release(&mut self) -> Result<(), RecordError> {
        if let Some(waiting) = self.waiting.take() {
            self.child = Some(waiting.release()?);
        }
        Ok(())
    }

    /// Become readable when a process ends.
    pub(crate) fn watches(&self) -> impl Iterator<Item = &OwnedFd> {
        self.watches.iter()
    }

    /// All processes that were asked for have ended; never true of a host or a group.
    pub(crate) fn ended(&mut self) -> bool {
        if let Some(child) = &mut self.child {
            if let Ok(Some(status)) = child.try_wait() {
                self.exit_status = Some(status);
                self.watches.clear();
            }
            return self.exit_status.is_some();
        }
        if !self.of_processes {
            return false;
        }
        if !self.all_watched {
            return !self.pids.iter().any(|pid| lives(*pid));
        }
        self.watches.retain(|fd| {
            let mut fds = [PollFd::new(fd, PollFlags::IN)];
            let none = Timespec { tv_sec: 0, tv_nsec: 0 };
            !poll(&mut fds, Some(&none)).is_ok_and(|ready| ready > 0)
        });
        self.watches.is_empty()
    }

    /// How the command ended.
    pub(crate) fn exit_status(&self) -> Option<ExitStatus> {
        self.exit_status
    }

    /// A command was started.
    pub(crate) fn is_command(&self) -> bool {
        self.child.is_some()
    }

    /// The command that still runs.
    pub(crate) fn running(&self) -> Option<u32> {
        self.child.as_ref().filter(|_| self.exit_status.is_none()).map(Child::id)
    }
}

fn lives(pid: i32) -> bool {
    Path::new(&format!("/proc/{pid}/task")).is_dir()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_waits_until_it_is_released_and_its_end_is_seen() {
        let words = ["sh", "-c", "exit 3"].map(OsString::from).to_vec();
        let mut held = Held::take(&Target::Command(words)).unwrap();
        let pid = held.pids[0];
        assert!(held.waits() && !held.ended() && lives(pid));
        assert!(held.family().counts(pid) && !held.family_from_exec().counts(pid));
        held.release().unwrap();
        while !held.ended() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert_eq!((held.exit_status().and_then(|s| s.code()), held.running()), (Some(3), None));
    }

    #[test]
    fn a_process_that_is_not_there_is_told_and_a_host_never_ends() {
        let gone = Held::take(&Target::Pid(vec![std::process::id() as i32, i32::MAX]));
        assert!(matches!(gone, Err(RecordError::NoSuchProcess(i32::MAX))));
        let mut host = Held::take(&Target::System).unwrap();
        assert!(!host.ended() && host.family().is_everyone());
        let mut own = Held::take(&Target::Pid(vec![std::process::id() as i32])).unwrap();
        assert!(!own.ended());
        assert!(Target::Pid(Vec::new()).problem().is_some() && Target::System.problem().is_none());
    }
}
