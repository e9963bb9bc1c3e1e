//! CPU time of threads, read from /proc every interval.
//!
//! Whose: every thread of a recorded process; of a whole host all ZFS threads, and of the others
//! those that were on a CPU since the last reading, so idle threads cost nothing. A thread that ends
//! between two readings keeps its last reading plus the CPU time of its samples since. Nice values are
//! read beside a thread's first reading and when a recording ends: of ZFS threads all, of others those
//! that are not 0.

use crate::series_pen::SeriesPen;
use rustc_hash::{FxHashMap, FxHashSet};
use std::fs;
use std::path::Path;
use zwhy_capture::SeriesKind;
use zwhy_profile::{Nanos, Profile, ThreadId};
use zwhy_zfs::thread_role;

const NAME: &str = "cpu_ns";
/// A gauge; of threads of a real-time class there is none.
const NICE: &str = "nice";

struct Clock {
    pid: i32,
    /// Last reading.
    cpu_ns: i64,
    /// CPU time of samples after it.
    sampled_ns: u64,
    /// Read at every interval, not only after samples.
    steady: bool,
    /// The series has a first value: a reading, or 0 for a thread that began meanwhile.
    begun: bool,
}

impl Clock {
    fn new(pid: i32, steady: bool) -> Clock {
        Clock { pid, cpu_ns: 0, sampled_ns: 0, steady, begun: false }
    }
}

#[derive(Default)]
pub(crate) struct ThreadClocks {
    clocks: FxHashMap<i32, Clock>,
    /// Readings known from records, written at the next tick.
    events: Vec<(Nanos, i32, i64, bool)>,
}

impl ThreadClocks {
    /// A sample of the thread stands for `ns` of CPU time. tid 0, the idle task, has no clock.
    pub(crate) fn sampled(&mut self, pid: i32, tid: i32, ns: u64) {
        if tid > 0 {
            self.clocks.entry(tid).or_insert(Clock::new(pid, false)).sampled_ns += ns;
        }
    }

    /// A thread took a name; ZFS threads are read steadily from now on.
    pub(crate) fn named(&mut self, pid: i32, tid: i32, comm: &str, of_target: bool) {
        if tid > 0 && (of_target || thread_role(comm).is_some()) {
            self.steady(pid, tid);
        }
    }

    /// A thread of a recorded process was made.
    pub(crate) fn started(&mut self, pid: i32, tid: i32, t: Nanos) {
        self.steady(pid, tid);
        self.begin(tid, t);
    }

    fn steady(&mut self, pid: i32, tid: i32) {
        self.clocks.entry(tid).or_insert(Clock::new(pid, true)).steady = true;
    }

    /// The series of a thread begins with 0 before its first value.
    fn begin(&mut self, tid: i32, t: Nanos) {
        self.events.push((t, tid, 0, false));
        if let Some(clock) = self.clocks.get_mut(&tid) {
            clock.begun = true;
        }
    }

    pub(crate) fn ended(&mut self, tid: i32, t: Nanos) {
        if let Some(clock) = self.clocks.remove(&tid) {
            if !clock.begun {
                self.events.push((before(t), tid, clock.cpu_ns, false));
            }
            let sampled = i64::try_from(clock.sampled_ns).unwrap_or(i64::MAX);
            self.events.push((t, tid, clock.cpu_ns.saturating_add(sampled), true));
        }
    }

    /// Reads every thread of these processes, or with `None` every kernel thread of the host.
    ///
    /// For the start and the end of a recording, when also idle threads are wanted. Returns the
    /// threads found, by tid.
    pub(crate) fn read_all(
        &mut self,
        t: Nanos,
        wanted: Option<&FxHashSet<i32>>,
        profile: &mut Profile,
        pen: &mut SeriesPen,
    ) -> Vec<(i32, ThreadId)> {
        let mut found = Vec::new();
        let pids = match wanted {
            Some(wanted) => wanted.iter().copied().collect(),
            None => numbers_in("/proc"),
        };
        for pid in pids {
            if wanted.is_none() && !is_kernel_thread(pid) {
                continue;
            }
            for tid in numbers_in(format!("/proc/{pid}/task")) {
                let Some(comm) = read_trimmed(&format!("/proc/{pid}/task/{tid}/comm")) else { continue };
                if let Some(ns) = read_cpu_ns(pid, tid) {
                    found.push((tid, profile.thread(pid, tid, &comm)));
                    self.clocks.entry(tid).or_insert(Clock::new(pid, false));
                    self.named(pid, tid, &comm, wanted.is_some());
                    self.put(t, tid, ns, pen);
                    put_nice(t, pid, tid, thread_role(&comm).is_some(), pen);
                }
            }
        }
        found
    }

    /// Writes what records told, then reads the steady threads and those sampled since last time.
    pub(crate) fn tick(&mut self, t: Nanos, pen: &mut SeriesPen) {
        for (t, tid, ns, last) in std::mem::take(&mut self.events) {
            let source = format!("thread/{tid}");
            pen.put(t, &source, NAME, SeriesKind::Counter, ns);
            if last {
                pen.end(&source);
            }
        }
        let due: Vec<(i32, i32)> = self
            .clocks
            .iter()
            .filter(|(_, c)| c.steady || c.sampled_ns > 0)
            .map(|(tid, c)| (c.pid, *tid))
            .collect();
        for (pid, tid) in due {
            let first = self.clocks.get(&tid).is_some_and(|clock| clock.cpu_ns == 0);
            // One that is gone by now keeps its samples until its exit record comes.
            if let Some(ns) = read_cpu_ns(pid, tid) {
                self.put(t, tid, ns, pen);
                if first {
                    put_nice(t, pid, tid, false, pen);
                }
            }
        }
    }

    fn put(&mut self, t: Nanos, tid: i32, ns: i64, pen: &mut SeriesPen) {
        let source = format!("thread/{tid}");
        if let Some(clock) = self.clocks.get_mut(&tid) {
            // A thread that was there before and is first read now: only its samples tell how much
            // of its time belongs to the recording.
            if !clock.begun && clock.sampled_ns > 0 {
                let sampled = i64::try_from(clock.sampled_ns).unwrap_or(i64::MAX);
                pen.put(before(t), &source, NAME, SeriesKind::Counter, ns.saturating_sub(sampled).max(0));
            }
            clock.begun = true;
            clock.cpu_ns = ns;
            clock.sampled_ns = 0;
        }
        pen.put(t, &source, NAME, SeriesKind::Counter, ns);
    }
}

/// The moment before, for the value that a reading grew from.
fn before(t: Nanos) -> Nanos {
    Nanos(t.0.saturating_sub(1))
}

/// CPU time of a thread since it started: exact where the kernel keeps it, else in clock ticks.
fn read_cpu_ns(pid: i32, tid: i32) -> Option<i64> {
    let exact = read_trimmed(&format!("/proc/{pid}/task/{tid}/schedstat"));
    if let Some(ns) = exact.and_then(|text| text.split(' ').next()?.parse().ok()) {
        return Some(ns);
    }
    let stat = read_trimmed(&format!("/proc/{pid}/task/{tid}/stat"))?;
    let ticks: i64 = stat_fields(&stat)?.skip(11).take(2).filter_map(|f| f.parse::<i64>().ok()).sum();
    let hz = rustix::param::clock_ticks_per_second().max(1) as i64;
    Some(ticks.saturating_mul(1_000_000_000 / hz))
}

fn put_nice(t: Nanos, pid: i32, tid: i32, zero_too: bool, pen: &mut SeriesPen) {
    let stat = read_trimmed(&format!("/proc/{pid}/task/{tid}/stat"));
    if let Some(nice) = stat.as_deref().and_then(nice_of).filter(|nice| *nice != 0 || zero_too) {
        pen.put(t, &format!("thread/{tid}"), NICE, SeriesKind::Gauge, nice);
    }
}

/// The nice value in a stat line; `None` for real-time classes (FIFO, RR, deadline), which have none.
///
/// Fields after the name: 16 is nice, 38 the policy (proc(5)).
fn nice_of(stat: &str) -> Option<i64> {
    let fields: Vec<&str> = stat_fields(stat)?.collect();
    let real_time = matches!(*fields.get(38)?, "1" | "2" | "6");
    let nice = fields.get(16)?.parse().ok()?;
    (!real_time && (-20..=19).contains(&nice)).then_some(nice)
}

/// Fields of a stat line after the name, which may itself hold blanks and brackets; first is the state.
pub(crate) fn stat_fields(stat: &str) -> Option<impl Iterator<Item = &str>> {
    Some(stat.get(stat.rfind(')')? + 1..)?.split_ascii_whitespace())
}

/// Kernel threads are children of kthreadd, process 2.
fn is_kernel_thread(pid: i32) -> bool {
    let parent = |stat: String| stat_fields(&stat)?.nth(1)?.parse::<i32>().ok();
    pid == 2 || read_trimmed(&format!("/proc/{pid}/stat")).and_then(parent) == Some(2)
}

/// Names of entries that are numbers; none where the folder cannot be read.
pub(crate) fn numbers_in(folder: impl AsRef<Path>) -> Vec<i32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|e| e.file_name().to_str()?.parse().ok()).collect()
}

pub(crate) fn read_trimmed(path: &str) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    Some(text.strip_suffix('\n').unwrap_or(&text).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stat_line_with_brackets_in_the_name_is_read() {
        let line = "7 (a) b (c) S 2 0 0 0 -1 69238880 0 0 0 0 3 4 0 0 20 0 1 0 1";
        let fields: Vec<&str> = stat_fields(line).unwrap().collect();
        assert_eq!(&fields[..2], ["S", "2"]);
        assert_eq!(&fields[11..13], ["3", "4"]);
        assert!(stat_fields("cut").is_none());
    }

    #[test]
    fn nice_values_are_read_and_real_time_threads_have_none() {
        let line = |nice: i32, policy: u32| {
            let middle = "0 0 0 -1 69238880 0 0 0 0 3 4 0 0 20";
            let rest = "0 ".repeat(21);
            format!("7 (a) b (c) S 2 {middle} {nice} {rest}{policy} 0 0")
        };
        assert_eq!([nice_of(&line(19, 0)), nice_of(&line(-5, 3))], [Some(19), Some(-5)]);
        assert_eq!([nice_of(&line(0, 1)), nice_of("7 (cut) S 2")], [None, None]);
        let own = read_trimmed("/proc/thread-self/stat").unwrap();
        assert_eq!(nice_of(&own), Some(i64::from(rustix::process::getpriority_process(None).unwrap())));
    }

    #[test]
    fn own_cpu_time_grows_and_this_is_no_kernel_thread() {
        let pid = std::process::id() as i32;
        assert!(read_cpu_ns(pid, pid).is_some());
        assert!(!is_kernel_thread(pid));
        assert_eq!(read_cpu_ns(i32::MAX, 1), None);
    }

    #[test]
    fn a_thread_that_ended_between_readings_keeps_what_its_samples_say() {
        let (mut clocks, mut pen) = (ThreadClocks::default(), SeriesPen::default());
        clocks.started(i32::MAX, 5, Nanos(10));
        clocks.sampled(i32::MAX, 5, 300);
        clocks.ended(5, Nanos(20));
        clocks.tick(Nanos(30), &mut pen);
        let rows: Vec<_> = pen.series.iter().map(|r| (r.t.0, r.source.to_owned(), r.value)).collect();
        assert_eq!(rows, [(10, "thread/5".to_owned(), 0), (20, "thread/5".to_owned(), 300)]);
    }

    #[test]
    fn of_a_thread_that_was_there_before_only_its_samples_count() {
        let (mut clocks, mut pen) = (ThreadClocks::default(), SeriesPen::default());
        let pid = std::process::id() as i32;
        clocks.sampled(pid, pid, 1);
        clocks.tick(Nanos(30), &mut pen);
        let rows: Vec<_> = pen.series.iter().map(|r| (r.t.0, r.value)).collect();
        assert!(matches!(rows[..], [(29, first), (30, now)] if now == first + 1), "{rows:?}");
        clocks.sampled(i32::MAX, 6, 300);
        clocks.ended(6, Nanos(40));
        clocks.tick(Nanos(50), &mut pen);
        let rows: Vec<_> =
            pen.series.iter().filter(|r| r.source == "thread/6").map(|r| (r.t.0, r.value)).collect();
        assert_eq!(rows, [(39, 0), (40, 300)]);
    }
}
