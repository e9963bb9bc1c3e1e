//! Command lines after a prompt: they say what the lines below them are.

use crate::blocks::{Block, Line, Sink, Taken, command};

/// One command; later recognisers look at it.
pub struct Command;

impl Block for Command {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        const TOOLS: [&str; 59] = [
            "perf",
            "cat",
            "top",
            "htop",
            "zfs",
            "zpool",
            "arcstat",
            "arc_summary",
            "iostat",
            "vmstat",
            "grep",
            "head",
            "uname",
            "free",
            "slabtop",
            "dtrace",
            "bpftrace",
            "echo",
            "fio",
            "dd",
            "zdb",
            "sysctl",
            "kstat",
            "mdb",
            "mpstat",
            "pidstat",
            "sar",
            "ps",
            "lsblk",
            "modinfo",
            "tail",
            "time",
            "numactl",
            "lscpu",
            "lsmod",
            "dmesg",
            "journalctl",
            "iotop",
            "strace",
            "ioping",
            "biolatency",
            "biolatency-bpfcc",
            "bitesize",
            "zfsdist",
            "funclatency",
            "biosnoop",
            "watch",
            "ls",
            "find",
            "for",
            "while",
            "nproc",
            "dpkg",
            "rpm",
            "apt",
            "modprobe",
            "gstat",
            "prstat",
            "lockstat",
        ];
        let line = lines.first()?;
        let typed = command(&line.text)?;
        let first = typed.trim_start_matches("sudo ").split_whitespace().next()?;
        let base = first.rsplit('/').next()?.trim_end_matches(".py");
        if !TOOLS.contains(&base) {
            return None;
        }
        sink.command = Some(typed.to_owned());
        if super::prose::command_settings(typed, &lines[..1], sink) {
            return Taken::kept(1);
        }
        let mut taken = Taken::default();
        taken.drop("command line", 1);
        Some(taken)
    }
}
