//! Kernel messages that tell an event: hung tasks, lockups, the OOM killer, failed allocations, warnings.

/// One event of a kernel log.
#[derive(Clone, Debug, PartialEq)]
pub struct LogEvent {
    pub what: &'static str,
    /// The task it befell, if it is named.
    pub task: String,
    /// How long it had lasted, in seconds.
    pub seconds: Option<u64>,
}

/// Reads one line, with or without time stamps.
pub fn read(text: &str) -> Option<LogEvent> {
    let event = |what, task: &str, seconds| Some(LogEvent { what, task: task.to_owned(), seconds });
    if let Some((_, rest)) = text.split_once("INFO: task ")
        && let Some((who, rest)) = rest.split_once(" blocked for more than ")
    {
        let comm = who.rsplit_once(':').map_or(who, |(comm, _)| comm);
        return event("hung task", comm, leading(rest));
    }
    if text.contains("soft lockup") || text.contains("hard LOCKUP") {
        let what = if text.contains("soft") { "soft lockup" } else { "hard lockup" };
        let who = text.rsplit_once('[').and_then(|(_, r)| r.split_once(']')).map_or("", |(who, _)| who);
        let comm = who.rsplit_once(':').map_or("", |(comm, _)| comm);
        return event(what, comm, text.split_once("stuck for ").and_then(|(_, r)| leading(r)));
    }
    if text.contains("self-detected stall") || text.contains("stalls on CPUs") {
        return event("rcu stall", "", None);
    }
    if let Some((before, _)) = text.split_once(" invoked oom-killer") {
        return event("oom-killer invoked", before.rsplit([' ', ']']).next().unwrap_or(""), None);
    }
    // Of a group that reached its own limit: the host need not be short of memory.
    if text.contains("Memory cgroup out of memory") || text.contains("CONSTRAINT_MEMCG") {
        return event("limit of a memory cgroup reached", "", None);
    }
    if let Some((_, rest)) = text.split_once("Killed process ") {
        let comm = rest.split_once('(').and_then(|(_, r)| r.split_once(')')).map_or("", |(comm, _)| comm);
        return event("oom kill", comm, None);
    }
    if let Some((before, _)) = text.split_once(": page allocation failure") {
        return event("page allocation failure", before.rsplit([' ', ']']).next().unwrap_or(""), None);
    }
    if text.contains("page allocation stalls for ") {
        return event("page allocation stall", "", None);
    }
    if text.contains("WARNING: CPU: ") && text.contains(" at ") {
        return event("kernel warning", "", None);
    }
    if text.contains("MMP writes to pool") || text.contains("MMP suspending pool") {
        return event("mmp writes to pool have not succeeded", "", None);
    }
    if text.contains("PANIC at ") || text.contains("VERIFY") && text.contains("failed (") {
        return event("zfs panic", "", None);
    }
    if text.contains("perf: interrupt took too long") {
        return event("perf throttled", "", None);
    }
    if text.contains("clocksource: ") && text.contains("unstable") {
        return event("clocksource unstable", "", None);
    }
    let (what, device) = of_disk(text)?;
    event(what, device, None)
}

/// A disk that fails or does not answer, as Linux (libata, SCSI, NVMe, the block layer) and FreeBSD (CAM) tell it, and its
/// name.
fn of_disk(text: &str) -> Option<(&'static str, &str)> {
    let from = |at: usize| {
        let rest = &text[at..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        &rest[..end]
    };
    if let Some(at) = text.find(" error, dev ") {
        let what = if text.contains("medium error") { "medium error" } else { "disk i/o error" };
        return Some((what, from(at + " error, dev ".len())));
    }
    if let Some(at) = text.find("ata").filter(|at| text[at + 3..].starts_with(|c: char| c.is_ascii_digit())) {
        if text.contains("resetting link") {
            return Some(("ata link reset", from(at)));
        }
        if text.contains(": exception Emask ") {
            return Some(("ata exception (i/o error)", from(at)));
        }
    }
    if let Some(at) = text.find("nvme nvme").map(|at| at + "nvme ".len())
        && (text.contains(" timeout, ") || text.contains("controller is down"))
    {
        return Some(("disk timeout", from(at)));
    }
    let scsi = text.contains("attempting task abort") || text.contains("timing out command, waited");
    if let Some(at) = text.find("[sd").filter(|_| scsi) {
        return Some(("disk timeout", from(at + 1)));
    }
    if text.contains("CAM status: Command timeout") {
        let device = text.find('(').map_or("", |at| from(at + 1));
        return Some(("disk timeout", device));
    }
    None
}

/// The number at the start of a text.
fn leading(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_name_their_task() {
        for (text, what, task, seconds) in [
            (
                "[1.000000] INFO: task txg_sync:12 blocked for more than 120 seconds.",
                "hung task",
                "txg_sync",
                Some(120),
            ),
            (
                "watchdog: BUG: soft lockup - CPU#2 stuck for 22s! [arc_prune:77]",
                "soft lockup",
                "arc_prune",
                Some(22),
            ),
            (
                "[91.5] blk_update_request: I/O error, dev sdc, sector 81231 op 0x1:(WRITE)",
                "disk i/o error",
                "sdc",
                None,
            ),
            ("critical medium error, dev sdab, sector 9123", "medium error", "sdab", None),
            ("[1.2] ata4: hard resetting link", "ata link reset", "ata4", None),
            (
                "[1.2] ata4.00: exception Emask 0x0 SAct 0x0 SErr 0x0 action 0x6 frozen",
                "ata exception (i/o error)",
                "ata4",
                None,
            ),
            ("nvme nvme0: I/O 91 QID 3 timeout, aborting", "disk timeout", "nvme0", None),
            ("sd 0:0:4:0: [sde] tag#7 timing out command, waited 180s", "disk timeout", "sde", None),
            ("(ada1:ahcich1:0:0:0): CAM status: Command timeout", "disk timeout", "ada1", None),
            ("[  9.000000] nfsd invoked oom-killer: gfp_mask=0xcc0", "oom-killer invoked", "nfsd", None),
            ("Out of memory: Killed process 12 (mysqld) total-vm:1kB", "oom kill", "mysqld", None),
            (
                "Memory cgroup out of memory: Killed process 20117 (java) total-vm:41208812kB",
                "limit of a memory cgroup reached",
                "",
                None,
            ),
            (
                "kworker/0:1: page allocation failure: order:4, mode:0x40",
                "page allocation failure",
                "kworker/0:1",
                None,
            ),
            (
                "Aug 19 03:12:24 oss04 kernel: WARNING: MMP writes to pool 'ost4' have not succeeded in over 15218 ms",
                "mmp writes to pool have not succeeded",
                "",
                None,
            ),
            ("WARNING: CPU: 2 PID: 1 at fs/x.c:12 f+0x1/0x2", "kernel warning", "", None),
        ] {
            let got = read(text).unwrap();
            assert_eq!((got.what, got.task.as_str(), got.seconds), (what, task, seconds), "{text}");
        }
        assert_eq!(read("I had a warning at home"), None);
    }
}
