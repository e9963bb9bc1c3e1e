//! What a step takes of the host: CPU of this process and of the kernel's threads, bytes of the disks.
//!
//! OpenZFS works in threads of the kernel, some of which end when they are idle: they are looked at all the
//! while, so that what such a thread used counts as well.

use super::guard::name_of;
use super::host::{Roots, read};
use crate::engine::clocks::{PhaseClocks, Snapshot, field};
use crate::result::ThreadGroup;
use std::collections::BTreeMap;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use zwhy_host::numbers_in;

/// kthreadd, the parent of all of them.
const KTHREADD: &str = "2";
/// Threads that read and write files which play disks.
const FILE_DISKS: &str = "z_vdev_file";
/// A task queue lets an idle thread go every few seconds (`spl_taskq_thread_timeout_ms`, `taskq_thread_should_stop`).
const EVERY: Duration = Duration::from_secs(1);

/// What a thread has used since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Used {
    cpu_s: f64,
    read: u64,
    written: u64,
}

/// By number and start: numbers are used again, and a kworker is called after what it works on.
type Threads = BTreeMap<(i32, u64), (String, Used)>;

/// The pool's disks.
#[derive(Clone, Debug)]
pub enum Disks {
    Files,
    /// Their numbers.
    Devices(Vec<u64>),
}

/// A step that is measured.
pub struct Measuring {
    roots: Roots,
    disks: Disks,
    own: Snapshot,
    before: Threads,
    moved: (u64, u64),
    stop: Sender<()>,
    watch: Option<JoinHandle<Threads>>,
}

impl Measuring {
    pub fn begin(roots: &Roots, disks: &Disks) -> Measuring {
        let before = threads(roots);
        let (stop, stopped) = channel();
        let watched = roots.clone();
        let watch = std::thread::Builder::new().name("lab-watch".into()).spawn(move || {
            let mut seen = Threads::new();
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(EVERY) {
                seen.extend(threads(&watched));
            }
            seen
        });
        Measuring {
            roots: roots.clone(),
            disks: disks.clone(),
            before,
            moved: devices(roots, disks),
            stop,
            watch: watch.ok(),
            own: Snapshot::begin(),
        }
    }

    pub fn end(self) -> PhaseClocks {
        let mut clocks = self.own.until(&Snapshot::end());
        let moved = devices(&self.roots, &self.disks);
        let now = threads(&self.roots);
        // Fails only when it has ended.
        let _ = self.stop.send(());
        let mut seen = self.watch.and_then(|watch| watch.join().ok()).unwrap_or_default();
        seen.extend(now);
        let (groups, all) = between(&self.before, &seen);
        clocks.system_s += all.cpu_s;
        clocks.threads.retain(|group| group.comm != "lab-watch");
        clocks.threads.extend(groups);
        ThreadGroup::sort(&mut clocks.threads);
        (clocks.read_bytes, clocks.written_bytes) = match self.disks {
            Disks::Files => (all.read, all.written),
            Disks::Devices(_) => (moved.0.saturating_sub(self.moved.0), moved.1.saturating_sub(self.moved.1)),
        };
        clocks
    }
}

/// Groups by name with what they used, and the sum.
fn between(before: &Threads, after: &Threads) -> (Vec<ThreadGroup>, Used) {
    let mut all = Used::default();
    let mut busy = Vec::new();
    for (thread, (comm, used)) in after {
        let base = before.get(thread).map(|(_, used)| *used).unwrap_or_default();
        let cpu_s = used.cpu_s - base.cpu_s;
        all.read += used.read.saturating_sub(base.read);
        all.written += used.written.saturating_sub(base.written);
        all.cpu_s += cpu_s.max(0.0);
        busy.push((comm, cpu_s));
    }
    (ThreadGroup::of(busy.into_iter()), all)
}

/// Threads of the kernel. Those that end while this reads are left out.
fn threads(roots: &Roots) -> Threads {
    numbers_in(&roots.proc).into_iter().filter_map(|pid| thread(roots, pid)).collect()
}

fn thread(roots: &Roots, pid: i32) -> Option<((i32, u64), (String, Used))> {
    let folder = roots.proc.join(pid.to_string());
    let stat = read(&folder.join("stat"))?;
    // The name is in parentheses, and may hold some.
    let (head, rest) = stat.rsplit_once(')')?;
    let comm = head.split_once('(')?.1;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    if fields.get(1) != Some(&KTHREADD) {
        return None;
    }
    // Nanoseconds on the CPU; where the kernel does not keep them, ticks of user and system time.
    let exact = read(&folder.join("schedstat"))
        .and_then(|text| Some(text.split_ascii_whitespace().next()?.parse::<f64>().ok()? / 1e9));
    let ticks = || -> Option<f64> {
        let tick = |at: usize| fields.get(at)?.parse::<f64>().ok();
        Some((tick(11)? + tick(12)?) / rustix::param::clock_ticks_per_second() as f64)
    };
    let mut used = Used { cpu_s: exact.or_else(ticks)?, ..Used::default() };
    if comm.starts_with(FILE_DISKS) {
        let io = read(&folder.join("io")).unwrap_or_default();
        (used.read, used.written) = (field(&io, "rchar:"), field(&io, "wchar:"));
    }
    Some(((pid, fields.get(19)?.parse().ok()?), (comm.to_owned(), used)))
}

/// Bytes read from and written to devices since the host started.
fn devices(roots: &Roots, disks: &Disks) -> (u64, u64) {
    /// The kernel's sector, whatever the device has.
    const SECTOR: u64 = 512;
    let Disks::Devices(numbers) = disks else { return (0, 0) };
    let one = |number: &u64| {
        let stat = read(&roots.sys.join("dev/block").join(name_of(*number)).join("stat")).unwrap_or_default();
        let fields: Vec<u64> = stat.split_ascii_whitespace().filter_map(|f| f.parse().ok()).collect();
        let at = |index: usize| fields.get(index).copied().unwrap_or(0) * SECTOR;
        (at(2), at(6))
    };
    numbers.iter().map(one).fold((0, 0), |sum, (read, written)| (sum.0 + read, sum.1 + written))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    fn thread_at(proc: &Path, pid: i32, parent: i32, comm: &str, cpu_ms: u64, rchar: u64) {
        let folder = proc.join(pid.to_string());
        fs::create_dir_all(&folder).unwrap();
        fs::write(
            folder.join("stat"),
            format!("{pid} ({comm}) S {parent} 0 0 0 -1 69238880 0 0 0 0 7 3 0 0 20 0 1 0 77\n"),
        )
        .unwrap();
        fs::write(folder.join("schedstat"), format!("{} 5 6\n", cpu_ms * 1_000_000)).unwrap();
        fs::write(folder.join("io"), format!("rchar: {rchar}\nwchar: 0\n")).unwrap();
    }

    #[test]
    fn threads_of_the_kernel_count_and_others_do_not() {
        let dir = tempfile::tempdir().unwrap();
        let roots = Roots { proc: dir.path().into(), sys: dir.path().join("sys") };
        thread_at(dir.path(), 100, 2, "z_rd_int_0", 1000, 0);
        thread_at(dir.path(), 101, 2, "z_vdev_file_1", 0, 4096);
        thread_at(dir.path(), 102, 1, "mysqld", 1000, 0);
        thread_at(dir.path(), 104, 2, "kworker/0:1-mm_percpu_wq", 7000, 0);
        let measuring = Measuring::begin(&roots, &Disks::Files);
        thread_at(dir.path(), 100, 2, "z_rd_int_0", 1500, 0);
        thread_at(dir.path(), 101, 2, "z_vdev_file_1", 0, 12288);
        thread_at(dir.path(), 102, 1, "mysqld", 9000, 0);
        // It is called after its work.
        thread_at(dir.path(), 104, 2, "kworker/0:1-events", 7000, 0);
        thread_at(dir.path(), 103, 2, "txg_sync", 250, 0);
        let clocks = measuring.end();
        assert!(clocks.system_s >= 0.75 && clocks.system_s < 2.0, "{clocks:?}");
        let busy: Vec<&str> = clocks.threads.iter().map(|t| t.comm.as_str()).take(2).collect();
        assert_eq!((busy, clocks.read_bytes), (vec!["z_rd_int", "txg_sync"], 8192));
    }

    #[test]
    fn ticks_are_read_where_there_is_nothing_better() {
        let dir = tempfile::tempdir().unwrap();
        let roots = Roots { proc: dir.path().into(), sys: dir.path().into() };
        thread_at(dir.path(), 7, 2, "a (b) c", 0, 0);
        fs::remove_file(dir.path().join("7/schedstat")).unwrap();
        let used = threads(&roots)[&(7, 77)].1;
        assert!(
            (used.cpu_s - 10.0 / rustix::param::clock_ticks_per_second() as f64).abs() < 1e-9,
            "{used:?}"
        );
    }

    #[test]
    fn sectors_of_devices_are_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let roots = Roots { proc: dir.path().into(), sys: dir.path().into() };
        let folder = dir.path().join("dev/block/259:1");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("stat"), " 5 0 16 1 7 0 32 4 0 5 5\n").unwrap();
        let disks = Disks::Devices(vec![rustix::fs::makedev(259, 1)]);
        assert_eq!(devices(&roots, &disks), (8192, 16384));
    }
}
