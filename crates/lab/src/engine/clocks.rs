//! What a process and its threads have used so far, read from the kernel's clocks.

use crate::result::ThreadGroup;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use zwhy_profile::Nanos;

/// CPU of a phase and the clocks around it.
#[derive(Clone, Debug, Default)]
pub struct PhaseClocks {
    pub begin_ns: i64,
    pub end_ns: i64,
    pub user_s: f64,
    pub system_s: f64,
    pub read_bytes: u64,
    pub written_bytes: u64,
    pub threads: Vec<ThreadGroup>,
    /// The most memory that the process held at once, in bytes, where that is OpenZFS's own.
    pub peak_bytes: Option<u64>,
}

impl PhaseClocks {
    pub fn wall_s(&self) -> f64 {
        (self.end_ns - self.begin_ns) as f64 / 1e9
    }

    /// Puts in what a group of threads used that may have ended before the clocks were read.
    pub fn set_group(&mut self, group: ThreadGroup) {
        self.threads.retain(|g| g.comm != group.comm);
        self.threads.push(group);
        ThreadGroup::sort(&mut self.threads);
    }

    pub fn cpu_s(&self) -> f64 {
        self.user_s + self.system_s
    }
}

/// All clocks of this process at one time.
pub struct Snapshot {
    now: Nanos,
    user_s: f64,
    system_s: f64,
    read_bytes: u64,
    written_bytes: u64,
    threads: BTreeMap<i32, (String, f64)>,
}

/// The clock that recordings carry.
pub fn monotonic() -> Nanos {
    Nanos(zwhy_host::monotonic_ns().cast_signed())
}

impl Snapshot {
    /// The clock of the process is read last, so that reading the threads' (OpenZFS has hundreds) is no work of what
    /// follows.
    pub fn begin() -> Snapshot {
        Snapshot { threads: own_threads(), ..Snapshot::of_process() }
    }

    /// The clock of the process is read first.
    pub fn end() -> Snapshot {
        let process = Snapshot::of_process();
        Snapshot { threads: own_threads(), ..process }
    }

    // The kernel's own account, to the microsecond; no safe wrapper gives it.
    #[allow(unsafe_code)]
    fn of_process() -> Snapshot {
        let io = fs::read_to_string("/proc/self/io").unwrap_or_default();
        // SAFETY: fills the structure it is given.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_SELF, &mut usage);
            usage
        };
        Snapshot {
            now: monotonic(),
            user_s: seconds(usage.ru_utime),
            system_s: seconds(usage.ru_stime),
            read_bytes: field(&io, "rchar:"),
            written_bytes: field(&io, "wchar:"),
            threads: BTreeMap::new(),
        }
    }

    pub fn until(&self, end: &Snapshot) -> PhaseClocks {
        PhaseClocks {
            begin_ns: self.now.0,
            end_ns: end.now.0,
            user_s: end.user_s - self.user_s,
            system_s: end.system_s - self.system_s,
            read_bytes: end.read_bytes.saturating_sub(self.read_bytes),
            written_bytes: end.written_bytes.saturating_sub(self.written_bytes),
            threads: used_between(&self.threads, &end.threads),
            peak_bytes: None,
        }
    }
}

fn seconds(time: libc::timeval) -> f64 {
    time.tv_sec as f64 + time.tv_usec as f64 / 1e6
}

pub fn field(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|l| l.strip_prefix(name));
    line.and_then(|v| v.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

fn own_threads() -> BTreeMap<i32, (String, f64)> {
    threads(Path::new("/proc/self/task"))
}

/// Thread → name and CPU seconds. Threads that end while this reads are left out.
pub fn threads(tasks: &Path) -> BTreeMap<i32, (String, f64)> {
    let thread = |tid: i32| {
        let folder = tasks.join(tid.to_string());
        let comm = fs::read_to_string(folder.join("comm")).ok()?;
        // Nanoseconds on the CPU, then waiting for it, then time slices.
        let schedstat = fs::read_to_string(folder.join("schedstat")).ok()?;
        let ns: f64 = schedstat.split_ascii_whitespace().next()?.parse().ok()?;
        Some((tid, (comm.trim_end().to_owned(), ns / 1e9)))
    };
    zwhy_host::numbers_in(tasks).into_iter().filter_map(thread).collect()
}

/// CPU by thread name, most first; names that used nothing are left out.
pub fn used_between(
    before: &BTreeMap<i32, (String, f64)>,
    after: &BTreeMap<i32, (String, f64)>,
) -> Vec<ThreadGroup> {
    let used = |(tid, (comm, cpu)): (&i32, &'_ (String, f64))| {
        (comm.clone(), cpu - before.get(tid).map_or(0.0, |(_, cpu)| *cpu))
    };
    ThreadGroup::of(after.iter().map(used))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_one_kind_are_one_group_and_new_threads_count_from_zero() {
        let thread = |comm: &str, cpu: f64| (comm.to_owned(), cpu);
        let before = BTreeMap::from([(1, thread("main", 1.0)), (2, thread("z_rd_int_0", 2.0))]);
        let after = BTreeMap::from([
            (1, thread("main", 1.0)),
            (2, thread("z_rd_int_0", 2.5)),
            (3, thread("z_rd_int_1", 0.25)),
            (4, thread("reader", 0.125)),
        ]);
        let groups = used_between(&before, &after);
        let expected = [("z_rd_int", 2, 0.75), ("reader", 1, 0.125)];
        let expected = expected.map(|(c, threads, cpu_s)| ThreadGroup { comm: c.into(), threads, cpu_s });
        assert_eq!(groups, expected);
    }

    #[test]
    fn numbers_that_belong_to_a_name_stay() {
        assert_eq!(zwhy_zfs::thread_base("dp_sync_taskq"), "dp_sync_taskq");
        assert_eq!(zwhy_zfs::thread_base("z_wr_iss/12"), "z_wr_iss");
        assert_eq!(zwhy_zfs::thread_base("thread4"), "thread4");
    }

    #[test]
    fn this_process_is_seen_using_cpu() {
        let begin = Snapshot::begin();
        let mut x = 0_u64;
        while monotonic().0 - begin.now.0 < 30_000_000 {
            x = std::hint::black_box(x + 1);
        }
        let used = begin.until(&Snapshot::end());
        assert!(used.cpu_s() > 0.0 && used.wall_s() >= 0.03 && !used.threads.is_empty());
    }
}
