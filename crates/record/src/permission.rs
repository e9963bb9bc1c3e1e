//! Why the kernel refused to sample, and the exact command that helps.

use crate::error::RecordError;
use rustix::io::Errno;
use std::fs;
use std::io;
use zwhy_host::paranoid;

const CAP_SYS_ADMIN: u32 = 21;
const CAP_PERFMON: u32 = 38;

/// What of this process and host decides whether it may sample.
struct Standing {
    paranoid: i32,
    capable: bool,
    seccomp: bool,
}

impl Standing {
    fn read() -> Standing {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let field = |name: &str| {
            status.lines().find_map(|l| l.strip_prefix(name)).map(str::trim).unwrap_or_default().to_owned()
        };
        let effective = u64::from_str_radix(&field("CapEff:"), 16).unwrap_or(0);
        Standing {
            paranoid: paranoid().unwrap_or(2),
            capable: effective & (1 << CAP_SYS_ADMIN | 1 << CAP_PERFMON) != 0,
            seccomp: field("Seccomp:") == "2",
        }
    }
}

/// Turns a refused `perf_event_open` into an error that says what to do.
pub(crate) fn explain(error: io::Error, target: &str, system: bool) -> RecordError {
    let hint = match Errno::from_io_error(&error) {
        Some(Errno::ACCESS | Errno::PERM) => return refused(Standing::read(), target, system),
        Some(Errno::NOSYS) => {
            "; this kernel has no perf events (CONFIG_PERF_EVENTS), or the container forbids them"
        }
        Some(Errno::MFILE | Errno::NFILE) => {
            "; raise the limit with ulimit -n, or record the whole host with -a"
        }
        _ => "",
    };
    RecordError::Perf { target: target.to_owned(), source: error, hint }
}

fn refused(standing: Standing, target: &str, system: bool) -> RecordError {
    let Standing { paranoid, capable, seccomp } = standing;
    let (found, remedy) = if capable && seccomp {
        (
            "this process has the privilege, but a seccomp filter forbids perf_event_open".to_owned(),
            "run outside of the container, or start it with --security-opt seccomp=unconfined",
        )
    } else if system {
        (
            format!("the whole host may only be sampled by root (kernel.perf_event_paranoid is {paranoid})"),
            "run as root, give CAP_PERFMON and CAP_SYSLOG (setcap cap_perfmon,cap_syslog+ep), or \
             sysctl kernel.perf_event_paranoid=-1",
        )
    } else if paranoid > 2 {
        (
            format!("kernel.perf_event_paranoid is {paranoid}: only root may sample"),
            "run as root, or sysctl kernel.perf_event_paranoid=2",
        )
    } else if seccomp {
        (
            "a seccomp filter may forbid perf_event_open".to_owned(),
            "run outside of the container, or start it with --security-opt seccomp=unconfined",
        )
    } else {
        (
            "it belongs to another user".to_owned(),
            "run as root or as the owner of the process, or give CAP_PERFMON and CAP_SYS_PTRACE",
        )
    };
    RecordError::Permission { target: target.to_owned(), found, remedy: remedy.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_names_its_remedy() {
        let base = || Standing { paranoid: 2, capable: false, seccomp: false };
        for (standing, system, word) in [
            (base(), true, "cap_perfmon"),
            (base(), false, "owner of the process"),
            (Standing { paranoid: 4, ..base() }, false, "perf_event_paranoid=2"),
            (Standing { capable: true, seccomp: true, ..base() }, true, "seccomp=unconfined"),
        ] {
            let text = refused(standing, "system", system).to_string();
            assert!(text.contains(word), "{text}");
        }
    }
}
