//! The checks, each on its own: what a recording reads, tried or looked up.

use super::outcome::Outcome;
use super::remedy::Trouble;
use super::{Sampled, lines};
use crate::facts::{Output, Patience, Root, module_origin, pool_states, virtualization};
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::Path;
use std::time::Duration;

/// What a check looks at.
#[derive(Clone)]
pub(super) struct Asked {
    pub root: Root,
    /// Tries to sample the whole host.
    pub sample: fn() -> std::io::Result<Sampled>,
}

pub(super) type CheckOf = fn(&Asked) -> Outcome;

/// In the order in which people should mend them.
pub(super) const ALL: [(&str, CheckOf); 12] = [
    ("place", |asked| place(&asked.root)),
    ("CPU samples", samples),
    ("kernel names", |asked| kernel_names(&asked.root)),
    ("wait stacks", |asked| wait_stacks(&asked.root)),
    ("tracepoints", |asked| tracepoints(&asked.root)),
    ("call counts", |asked| call_counts(&asked.root)),
    ("ZFS module", |asked| zfs_module(&asked.root)),
    ("ZFS counters", |asked| zfs_counters(&asked.root)),
    ("ZFS tools", |asked| zfs_tools(&asked.root)),
    ("memory pressure", |asked| memory_pressure(&asked.root)),
    ("source lines", |asked| lines::check(&asked.root)),
    ("kernel lines", |asked| lines::check_kernel(&asked.root)),
];

/// Long enough for `zpool list` on a busy host.
const TOOL: Duration = Duration::from_secs(4);

fn place(root: &Root) -> Outcome {
    let cpuinfo = root.text("/proc/cpuinfo").unwrap_or_default();
    let flags = cpuinfo.lines().find(|l| l.starts_with("flags")).unwrap_or_default();
    let contained = root.exists("/.dockerenv") || root.exists("/run/.containerenv");
    // The kernel's own threads are children of kthreadd, in no other PID namespace than the host's.
    if root.text("/proc/2/comm").as_deref() == Some("kthreadd") {
        return Outcome::ready(match virtualization(root, flags) {
            place if place == "none" => "on the machine itself; kernel threads are seen".to_owned(),
            place => format!("in a {place}; kernel threads are seen"),
        });
    }
    match virtualization(root, flags) {
        place if place.starts_with("container") => {
            Outcome::missing(Trouble::Container, format!("inside a {place}: kernel threads are not seen"))
        }
        _ if contained => {
            Outcome::missing(Trouble::Container, "inside a container: kernel threads are not seen")
        }
        _ => Outcome::missing(Trouble::Container, "kernel threads are not seen: a PID namespace, or hidepid"),
    }
}

/// Tries to sample the whole host, as a recording does.
fn samples(asked: &Asked) -> Outcome {
    let error = match (asked.sample)() {
        Ok(Sampled::ByCycles) => return Outcome::ready("user and kernel, all CPUs, by hardware cycles"),
        Ok(Sampled::ByTimer) => {
            return Outcome::ready("user and kernel, all CPUs, by a timer (no hardware counters)");
        }
        Err(error) => error,
    };
    let root = &asked.root;
    let paranoid = root.text("/proc/sys/kernel/perf_event_paranoid").unwrap_or_else(|| "unknown".into());
    if rustix::process::geteuid().is_root() {
        let found = format!("refused although root ({error}): a seccomp filter, or no CAP_PERFMON");
        return Outcome::missing(Trouble::Container, found);
    }
    Outcome::missing(
        Trouble::Privilege,
        format!("not for this user (kernel.perf_event_paranoid is {paranoid})"),
    )
}

fn kernel_names(root: &Root) -> Outcome {
    let Ok(file) = File::open(root.path("/proc/kallsyms")) else {
        return Outcome::missing(Trouble::NoKallsyms, "the kernel has no /proc/kallsyms");
    };
    let (mut names, mut of_zfs, mut hidden) = (0u64, 0u64, 0u64);
    let mut line = String::new();
    let mut reader = BufReader::with_capacity(1 << 16, file.take(256 << 20));
    while reader.read_line(&mut line).is_ok_and(|n| n > 0) {
        names += 1;
        hidden += u64::from(line.starts_with("0000000000000000 ") || line.starts_with("00000000 "));
        of_zfs += u64::from(line.ends_with("[zfs]\n") || line.ends_with("[spl]\n"));
        line.clear();
    }
    let kptr = root.text("/proc/sys/kernel/kptr_restrict").unwrap_or_else(|| "unknown".into());
    if names == 0 {
        Outcome::missing(Trouble::NoKallsyms, "/proc/kallsyms is empty")
    } else if hidden * 2 > names {
        Outcome::missing(
            Trouble::HiddenNames,
            format!("addresses are hidden (kernel.kptr_restrict is {kptr})"),
        )
    } else {
        Outcome::ready(format!("{names} names, {of_zfs} of zfs and spl; no rebuild is needed"))
    }
}

fn wait_stacks(root: &Root) -> Outcome {
    // Of this thread: that of the process, if it just runs elsewhere, has none at that moment.
    match std::fs::read(root.path("/proc/thread-self/stack")) {
        Ok(text) if !text.is_empty() => Outcome::ready("/proc/PID/stack can be read"),
        Ok(_) => Outcome::missing(Trouble::Privilege, "/proc/PID/stack is empty for this user"),
        Err(e) if e.kind() == ErrorKind::NotFound => {
            Outcome::missing(Trouble::NoStacks, "this kernel has no /proc/PID/stack")
        }
        Err(_) => Outcome::missing(Trouble::Privilege, "only root may read /proc/PID/stack"),
    }
}

fn tracepoints(root: &Root) -> Outcome {
    let folders = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
    let event = |folder: &&&str| root.text(&format!("{folder}/events/sched/sched_switch/id")).is_some();
    match folders.iter().find(event) {
        Some(folder) => Outcome::ready(format!("tracefs at {folder}")),
        None if !rustix::process::geteuid().is_root() => {
            Outcome::missing(Trouble::Privilege, "only root may use tracefs: no off-CPU time, no counts")
        }
        None => Outcome::missing(Trouble::Tracefs, "tracefs is not mounted: no off-CPU time"),
    }
}

fn call_counts(root: &Root) -> Outcome {
    let has = |probe: &str| root.number(&format!("/sys/bus/event_source/devices/{probe}/type")).is_some();
    // Lockdown for confidentiality refuses kprobes; samples and tracepoints it lets pass.
    let lockdown = root.text("/sys/kernel/security/lockdown").unwrap_or_default();
    if has("kprobe") && has("uprobe") && lockdown.contains("[confidentiality]") {
        let found = "programs only: the kernel is locked down for confidentiality";
        return Outcome::missing(Trouble::Lockdown, found);
    }
    match (has("kprobe"), has("uprobe")) {
        (true, true) => Outcome::ready("functions of the kernel and of programs (kprobe, uprobe)"),
        (false, true) => Outcome::missing(Trouble::NoProbes, "programs only: this kernel has no kprobes"),
        (true, false) => Outcome::missing(Trouble::NoProbes, "kernel only: this kernel has no uprobes"),
        (false, false) => Outcome::missing(Trouble::NoProbes, "this kernel has no kprobes and no uprobes"),
    }
}

fn zfs_module(root: &Root) -> Outcome {
    if !root.exists("/sys/module/zfs") {
        return Outcome::missing(Trouble::NoModule, "not loaded: there is no ZFS activity to record");
    }
    let version = root.text("/sys/module/zfs/version").unwrap_or_else(|| "of unknown version".into());
    Outcome::ready(format!("{version}, {}", module_origin(root)))
}

fn zfs_counters(root: &Root) -> Outcome {
    let arcstats = root.path("/proc/spl/kstat/zfs/arcstats");
    match std::fs::read(&arcstats) {
        Ok(_) => Outcome::ready("/proc/spl/kstat can be read"),
        Err(_) if !root.exists("/sys/module/zfs") => {
            Outcome::missing(Trouble::NoModule, "none: the module is not loaded")
        }
        Err(e) if e.kind() == ErrorKind::PermissionDenied => {
            Outcome::missing(Trouble::Privilege, "/proc/spl/kstat is not for this user")
        }
        Err(e) => Outcome::missing(Trouble::Container, format!("{} cannot be read: {e}", shown(&arcstats))),
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn zfs_tools(root: &Root) -> Outcome {
    let suspended: Vec<String> =
        pool_states(root).into_iter().filter(|(_, s)| *s == "SUSPENDED").map(|(pool, _)| pool).collect();
    if !suspended.is_empty() {
        let found = format!("pool {} is suspended: commands on it hang", suspended.join(", "));
        return Outcome::missing(Trouble::SuspendedPool, found);
    }
    let patience = Patience::of(TOOL);
    // Without the module zpool would only complain, or load it.
    let command =
        if root.exists("/sys/module/zfs") { ("zpool", ["list", "-Hp"]) } else { ("zfs", ["version", "-j"]) };
    match patience.run(command.0, &command.1, TOOL) {
        Output::NotInstalled => Outcome::missing(Trouble::NoTools, "zpool and zfs are not installed"),
        Output::TimedOut(_) => {
            Outcome::missing(Trouble::SuspendedPool, "zpool list hangs; is a pool suspended?")
        }
        Output::Text(text) if command.0 == "zpool" => {
            let pools = text.lines().count();
            let noun = if pools == 1 { "pool" } else { "pools" };
            Outcome::ready(format!("zpool and zfs answer; {pools} {noun}"))
        }
        Output::Failed(why) if command.0 == "zpool" => {
            let why = why.lines().next().unwrap_or("no reason given").to_owned();
            Outcome::missing(Trouble::Privilege, format!("zpool list failed: {why}"))
        }
        // Old versions have no `zfs version -j`; they are installed all the same.
        Output::Text(_) | Output::Failed(_) => Outcome::ready("installed"),
    }
}

fn memory_pressure(root: &Root) -> Outcome {
    if root.text("/proc/pressure/memory").is_some() {
        Outcome::ready("/proc/pressure, vmstat and meminfo can be read")
    } else {
        Outcome::optional(Some(Trouble::NoPressure), "no /proc/pressure; vmstat and meminfo are read instead")
    }
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;
    use std::fs;

    fn host(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let root = Root::at(dir.path());
        (dir, root)
    }

    #[test]
    fn hidden_and_shown_kernel_names_are_told_apart() {
        let (_dir, root) = host(&[
            ("proc/kallsyms", "0000000000000000 T a\n0000000000000000 t b [zfs]\n"),
            ("proc/sys/kernel/kptr_restrict", "2\n"),
        ]);
        let outcome = kernel_names(&root);
        assert_eq!((outcome.state, outcome.trouble), (State::Missing, Some(Trouble::HiddenNames)));
        assert!(outcome.found.contains("kptr_restrict is 2"));
        let (_dir, root) = host(&[("proc/kallsyms", "ffffffff81000000 T a\nffffffffc0000000 t b\t[zfs]\n")]);
        assert!(kernel_names(&root).found.starts_with("2 names, 1 of zfs"));
        let (_dir, root) = host(&[]);
        assert_eq!(kernel_names(&root).trouble, Some(Trouble::NoKallsyms));
    }

    #[test]
    fn a_suspended_pool_is_told_without_asking_it() {
        let (_dir, root) = host(&[
            ("sys/module/zfs/version", "2.3.2-1\n"),
            ("proc/spl/kstat/zfs/tank/state", "SUSPENDED\n"),
            ("proc/spl/kstat/zfs/ok/state", "ONLINE\n"),
        ]);
        let outcome = zfs_tools(&root);
        assert_eq!(outcome.trouble, Some(Trouble::SuspendedPool));
        assert!(outcome.found.contains("tank") && !outcome.found.contains("ok,"), "{}", outcome.found);
    }

    #[test]
    fn an_empty_host_lacks_what_it_has_not() {
        let (_dir, root) = host(&[]);
        for (check, trouble) in [
            (zfs_module as fn(&Root) -> Outcome, Trouble::NoModule),
            (zfs_counters, Trouble::NoModule),
            (call_counts, Trouble::NoProbes),
            (wait_stacks, Trouble::NoStacks),
        ] {
            let outcome = check(&root);
            assert_eq!(
                (outcome.state, outcome.trouble),
                (State::Missing, Some(trouble)),
                "{}",
                outcome.found
            );
        }
        assert_eq!(memory_pressure(&root).state, State::Optional);
    }

    #[test]
    fn containers_are_known_by_their_marks() {
        let (_dir, root) = host(&[("run/systemd/container", "lxc\n")]);
        assert_eq!(place(&root).trouble, Some(Trouble::Container));
        let (_dir, root) = host(&[(".dockerenv", "")]);
        assert_eq!(place(&root).trouble, Some(Trouble::Container));
        let (_dir, root) = host(&[(".dockerenv", ""), ("proc/2/comm", "kthreadd\n")]);
        assert_eq!(place(&root).state, State::Ready, "one that shares the host's processes");
    }
}
