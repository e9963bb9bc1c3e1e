//! What can be recorded on this host, what names and lines there are, and what helps where something
//! is missing.
//!
//! Invariants: nothing is changed; every check has its time, so a suspended pool costs a sentence and
//! not an answer; a remedy is a command that the distribution's own tools know.

mod checks;
mod distro;
mod lines;
mod outcome;
mod remedy;

pub use distro::Distro;
pub use remedy::{Remedy, Trouble};

use crate::facts::Root;
use checks::Asked;
use std::io;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// All checks together; those that have not answered by then are told so.
const PATIENCE: Duration = Duration::from_secs(14);

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum State {
    /// It can be recorded.
    Ready,
    /// It cannot be recorded as things are.
    Missing,
    /// Good to have; recordings and answers do without.
    Optional,
    /// The check did not answer in time.
    Unknown,
}

impl State {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// What drives the samples of the whole host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampled {
    ByCycles,
    /// A timer of the kernel, where there are no hardware counters.
    ByTimer,
}

/// One thing that a recording needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Two or three words.
    pub name: &'static str,
    pub state: State,
    /// What was found, as one sentence without full stop. May quote files of the host.
    pub found: String,
    pub trouble: Option<Trouble>,
}

/// The answer.
#[derive(Clone, Debug)]
pub struct Doctor {
    pub host: String,
    pub kernel: String,
    pub distro: Distro,
    /// Root asks: commands then come without `sudo`, which bare systems and Proxmox VE do not have.
    pub root: bool,
    pub checks: Vec<Check>,
}

impl Doctor {
    /// `true` when everything can be recorded.
    pub fn is_ready(&self) -> bool {
        self.checks.iter().all(|c| matches!(c.state, State::Ready | State::Optional))
    }

    /// The remedy for each trouble, each once, in the order of the checks.
    pub fn remedies(&self) -> Vec<Remedy> {
        let mut seen = Vec::new();
        for trouble in self.checks.iter().filter_map(|c| c.trouble) {
            // With the module come the tools.
            let served = trouble == Trouble::NoTools && seen.contains(&Trouble::NoModule);
            if !seen.contains(&trouble) && !served {
                seen.push(trouble);
            }
        }
        seen.into_iter().map(|trouble| self.typed(remedy::remedy(trouble, self.distro))).collect()
    }

    /// With the commands as who asks can type them.
    fn typed(&self, mut remedy: Remedy) -> Remedy {
        for command in remedy.commands.iter_mut().filter(|command| self.root && command.contains("sudo ")) {
            *command = command.replace("sudo ", "");
        }
        remedy
    }
}

/// Looks at this host; `distro` overrides what os-release says. Takes at most some 12 seconds.
///
/// `sample` tries to sample the whole host once; nothing stays open.
pub fn examine(distro: Option<Distro>, sample: fn() -> io::Result<Sampled>) -> Doctor {
    made(&checks::ALL, distro, sample, PATIENCE)
}

/// As [`examine`], only with the checks that take milliseconds and decide whether a recording shows ZFS at all.
pub fn glance(sample: fn() -> io::Result<Sampled>) -> Doctor {
    let quick: Vec<_> = checks::ALL.into_iter().filter(|(name, _)| GLANCE.contains(name)).collect();
    made(&quick, None, sample, Duration::from_secs(1))
}

/// The checks of [`glance`], none of which runs a program or reads a long file.
const GLANCE: [&str; 4] = ["place", "CPU samples", "ZFS module", "ZFS counters"];

fn made(
    wanted: &[(&'static str, checks::CheckOf)],
    distro: Option<Distro>,
    sample: fn() -> io::Result<Sampled>,
    patience: Duration,
) -> Doctor {
    let root = Root::host();
    let until = Instant::now() + patience;
    let checks = wanted.iter().map(|(name, check)| {
        let (send, receive) = channel();
        // A file or command of a suspended pool may never answer; its thread is left behind then.
        let (check, asked) = (*check, Asked { root: root.clone(), sample });
        std::thread::spawn(move || send.send(check(&asked)));
        (*name, receive)
    });
    let waiting: Vec<_> = checks.collect();
    let checks = waiting.into_iter().map(|(name, receive)| {
        match receive.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(outcome) => outcome.named(name),
            Err(_) => Check {
                name,
                state: State::Unknown,
                found: "no answer in time; does a pool hang? See dmesg".to_owned(),
                trouble: None,
            },
        }
    });
    let checks = checks.collect();
    Doctor {
        host: root.text("/proc/sys/kernel/hostname").unwrap_or_default(),
        kernel: root.text("/proc/sys/kernel/osrelease").unwrap_or_default(),
        distro: distro.unwrap_or_else(|| Distro::of_host(&root)),
        root: rustix::process::geteuid().is_root(),
        checks,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_needs_no_sudo() {
        let check = |trouble| Check {
            name: "x",
            state: State::Missing,
            found: String::new(),
            trouble: Some(trouble),
        };
        let commands = |root| {
            let checks = vec![check(Trouble::NoModule), check(Trouble::NoLines)];
            let doctor = Doctor { host: "".into(), kernel: "".into(), distro: Distro::Proxmox, root, checks };
            doctor.remedies().into_iter().flat_map(|r| r.commands).collect::<Vec<_>>().join("\n")
        };
        let (user, root) = (commands(false), commands(true));
        assert!(user.contains("sudo apt install zfsutils-linux") && !root.contains("sudo"), "{user}\n{root}");
        assert_eq!(user.replace("sudo ", ""), root);
    }

    #[test]
    fn a_glance_has_the_checks_that_decide() {
        let seen = glance(|| Ok(Sampled::ByTimer));
        let names: Vec<&str> = seen.checks.iter().map(|c| c.name).collect();
        assert_eq!(names, GLANCE);
        let samples = seen.checks.iter().find(|c| c.name == "CPU samples");
        assert!(samples.is_some_and(|c| c.state == State::Ready), "{samples:?}");
    }

    #[test]
    fn this_host_is_examined_and_every_lack_has_a_remedy() {
        let doctor = examine(None, || Err(io::ErrorKind::PermissionDenied.into()));
        assert!(doctor.checks.iter().any(|c| c.name == "CPU samples" && c.state == State::Missing));
        assert_eq!(doctor.checks.len(), checks::ALL.len());
        assert!(!doctor.kernel.is_empty());
        for check in &doctor.checks {
            assert!(!check.found.is_empty(), "{check:?}");
            assert!(check.state != State::Missing || check.trouble.is_some(), "{check:?}");
        }
        let missing = doctor.checks.iter().any(|c| matches!(c.state, State::Missing | State::Unknown));
        assert_eq!(doctor.is_ready(), !missing);
    }
}
