//! CPU time of threads, read from /proc every interval.
//!
//! Whose: every thread of a recorded process; of a whole host all ZFS threads, and of the others
//! those that were on a CPU since the last reading, so idle threads cost nothing. A thread that ends
//! between two readings keeps its last reading plus the CPU time of its samples since. Nice values are
//! read beside a thread's first reading and when a recording ends: of ZFS threads all, of others those
//! that are not 0.
//!
//! Invariant: one reading looks at no more than [`BATCH`] threads, however many there are; the others
//! are read the next times, in turn, and lose nothing, as the kernel goes on counting.

use crate::series_pen::SeriesPen;
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use zwhy_capture::SeriesKind;
use zwhy_evidence::ThreadClockFacts;
use zwhy_host::{numbers_in, read_trimmed, stat_fields};
use zwhy_perf::Family;
use zwhy_profile::{Nanos, Profile, ThreadId};
use zwhy_zfs::thread_role;

/// Threads read at one time: at some 7 µs each less than a hundredth of one CPU each second.
const BATCH: usize = 1024;
/// Of these, those that were sampled since they were last read, which come first.
const SAMPLED_A_BATCH: usize = 768;
/// Threads read at the start and at the end, and processes looked at to find kernel threads.
const AT_ONCE: usize = 16_384;
/// A thread that cannot be read so many times has ended, and its exit record was lost.
const MOST_MISSED: u8 = 5;

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
    /// Times in a row that it could not be read.
    missed: u8,
}

impl Clock {
    fn new(pid: i32, steady: bool) -> Clock {
        Clock { pid, cpu_ns: 0, sampled_ns: 0, steady, begun: false, missed: 0 }
    }
}

#[derive(Default)]
pub(crate) struct ThreadClocks {
    proc_root: PathBuf,
    clocks: FxHashMap<i32, Clock>,
    /// Readings known from records, written at the next tick.
    events: Vec<(Nanos, i32, i64, bool)>,
    /// The threads after which the next batch begins: of sampled ones and of others.
    next: [i32; 2],
    /// Most threads that were due at one time.
    most_due: usize,
    /// Readings deferred to a later batch.
    deferred: u64,
    /// Threads that were not read at the start or at the end because there were too many.
    left_out: usize,
}

impl ThreadClocks {
    /// `proc_root` is where /proc is.
    pub(crate) fn new(proc_root: &Path) -> ThreadClocks {
        ThreadClocks { proc_root: proc_root.to_owned(), ..ThreadClocks::default() }
    }

    /// `facts.recorder.threads`.
    pub(crate) fn facts(&self) -> ThreadClockFacts {
        ThreadClockFacts {
            batch: Some(BATCH as u64),
            max_due: Some(self.most_due as u64),
            deferred: Some(self.deferred),
            skipped: Some(self.left_out as u64),
            ..ThreadClockFacts::default()
        }
    }

    /// A sentence on what is not in the series.
    pub(crate) fn limits(&self) -> Option<String> {
        (self.deferred > 0).then(|| {
            format!(
                "up to {} threads were to be read at once; {BATCH} were each time, in turn: their CPU \
                 time is right, but seen at longer intervals",
                self.most_due
            )
        })
    }

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
        family: &Family,
        profile: &mut Profile,
        pen: &mut SeriesPen,
    ) -> Vec<(i32, ThreadId)> {
        let mut found = Vec::new();
        let mut pids: Vec<i32> = match family.pids() {
            Some(pids) => pids.collect(),
            None => kernel_threads(&self.proc_root),
        };
        pids.sort_unstable();
        let mut threads = Vec::new();
        for pid in pids {
            let tids = numbers_in(self.proc_root.join(format!("{pid}/task")));
            threads.extend(tids.into_iter().map(|tid| (pid, tid)));
        }
        self.left_out = self.left_out.max(threads.len().saturating_sub(AT_ONCE));
        threads.truncate(AT_ONCE);
        for (pid, tid) in threads {
            let Some(comm) = self.read(pid, tid, "comm") else { continue };
            if let Some(ns) = self.read_cpu_ns(pid, tid) {
                found.push((tid, profile.thread(pid, tid, &comm)));
                self.clocks.entry(tid).or_insert(Clock::new(pid, false));
                self.named(pid, tid, &comm, !family.is_everyone());
                self.put(t, tid, ns, pen);
                self.put_nice(t, pid, tid, thread_role(&comm).is_some(), pen);
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
        for (pid, tid) in self.due() {
            let read = self.read_cpu_ns(pid, tid);
            let Some(clock) = self.clocks.get_mut(&tid) else { continue };
            clock.missed = if read.is_some() { 0 } else { clock.missed + 1 };
            let (first, lost) = (clock.cpu_ns == 0, clock.missed >= MOST_MISSED);
            match read {
                Some(ns) => {
                    self.put(t, tid, ns, pen);
                    if first {
                        self.put_nice(t, pid, tid, false, pen);
                    }
                }
                None if lost => self.ended(tid, t),
                // One that is gone by now keeps its samples until its exit record comes.
                None => {}
            }
        }
    }

    /// The threads to read now: process and thread.
    fn due(&mut self) -> Vec<(i32, i32)> {
        let [mut sampled, mut others] = [Vec::new(), Vec::new()];
        for (tid, clock) in self.clocks.iter().filter(|(_, c)| c.steady || c.sampled_ns > 0) {
            let list = if clock.sampled_ns > 0 { &mut sampled } else { &mut others };
            list.push((clock.pid, *tid));
        }
        let due = sampled.len() + others.len();
        self.most_due = self.most_due.max(due);
        // Each group takes what the other leaves.
        let room = BATCH - others.len().min(BATCH - SAMPLED_A_BATCH);
        take_batch(&mut sampled, room, &mut self.next[0]);
        take_batch(&mut others, BATCH - sampled.len(), &mut self.next[1]);
        self.deferred += (due - sampled.len() - others.len()) as u64;
        sampled.extend(others);
        sampled
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

    /// CPU time of a thread since it started: exact where the kernel keeps it, else in clock ticks.
    fn read_cpu_ns(&self, pid: i32, tid: i32) -> Option<i64> {
        let exact = self.read(pid, tid, "schedstat");
        if let Some(ns) = exact.and_then(|text| text.split(' ').next()?.parse().ok()) {
            return Some(ns);
        }
        let stat = self.read(pid, tid, "stat")?;
        let ticks: i64 = stat_fields(&stat)?.skip(11).take(2).filter_map(|f| f.parse::<i64>().ok()).sum();
        let hz = rustix::param::clock_ticks_per_second().max(1) as i64;
        Some(ticks.saturating_mul(1_000_000_000 / hz))
    }

    fn put_nice(&self, t: Nanos, pid: i32, tid: i32, zero_too: bool, pen: &mut SeriesPen) {
        let stat = self.read(pid, tid, "stat");
        if let Some(nice) = stat.as_deref().and_then(nice_of).filter(|nice| *nice != 0 || zero_too) {
            pen.put(t, &format!("thread/{tid}"), NICE, SeriesKind::Gauge, nice);
        }
    }

    fn read(&self, pid: i32, tid: i32, file: &str) -> Option<String> {
        read_trimmed(self.proc_root.join(format!("{pid}/task/{tid}/{file}")))
    }
}

/// The moment before, for the value that a reading grew from.
fn before(t: Nanos) -> Nanos {
    Nanos(t.0.saturating_sub(1))
}

/// Leaves `room` of these threads, those that follow `next` in a circle of their numbers.
fn take_batch(threads: &mut Vec<(i32, i32)>, room: usize, next: &mut i32) {
    if threads.len() <= room {
        return;
    }
    let after = next.wrapping_add(1);
    let distance = |(_, tid): &(i32, i32)| tid.wrapping_sub(after).cast_unsigned();
    threads.select_nth_unstable_by_key(room, distance);
    threads.truncate(room);
    if let Some((_, last)) = threads.iter().max_by_key(|thread| distance(thread)) {
        *next = *last;
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

/// Kernel threads: the children of kthreadd, process 2.
fn kernel_threads(proc_root: &Path) -> Vec<i32> {
    let kthreadd = proc_root.join("2/task/2");
    // Where the kernel lists them, the other processes of the host need not be looked at.
    if read_trimmed(kthreadd.join("comm")).as_deref() == Some("kthreadd")
        && let Some(children) = read_trimmed(kthreadd.join("children"))
    {
        let children = children.split_ascii_whitespace().filter_map(|pid| pid.parse().ok());
        return std::iter::once(2).chain(children).collect();
    }
    let parent = |stat: String| stat_fields(&stat)?.nth(1)?.parse::<i32>().ok();
    let mut pids = numbers_in(proc_root);
    pids.sort_unstable();
    pids.truncate(AT_ONCE);
    pids.retain(|pid| {
        let stat = || read_trimmed(proc_root.join(format!("{pid}/stat")));
        *pid == 2 || stat().and_then(parent) == Some(2)
    });
    pids
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustc_hash::FxHashSet;
    use std::fs;

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
    fn own_cpu_time_is_read_and_this_is_no_kernel_thread() {
        let pid = std::process::id() as i32;
        let clocks = ThreadClocks::new(Path::new("/proc"));
        assert!(clocks.read_cpu_ns(pid, pid).is_some());
        assert!(!kernel_threads(Path::new("/proc")).contains(&pid));
        assert_eq!(clocks.read_cpu_ns(i32::MAX, 1), None);
    }

    #[test]
    fn a_hundred_thousand_threads_are_read_in_turn_and_none_is_forgotten() {
        let root = tempfile::tempdir().unwrap();
        let (shared, tasks) = (root.path().join("shared"), root.path().join("7/task"));
        fs::create_dir_all(&tasks).unwrap();
        fs::create_dir(&shared).unwrap();
        fs::write(shared.join("comm"), "a\nb\u{1b}[31m\n").unwrap();
        let now = |second: i64| fs::write(shared.join("schedstat"), format!("{second} 0 1\n")).unwrap();
        now(0);
        for tid in 1..=100_000 {
            std::os::unix::fs::symlink(&shared, tasks.join(tid.to_string())).unwrap();
        }
        let (mut clocks, mut pen, mut profile) =
            (ThreadClocks::new(root.path()), SeriesPen::default(), Profile::new());
        let found = clocks.read_all(Nanos(0), &Family::of([7]), &mut profile, &mut pen);
        assert_eq!((found.len(), pen.series.len()), (AT_ONCE, AT_ONCE));
        let comm = profile.threads.get(found[0].1).comm;
        assert_eq!(profile.strings.get(comm), "a\nb\u{1b}[31m");
        // All others are known once they are sampled.
        let known: FxHashSet<i32> = found.iter().map(|(tid, _)| *tid).collect();
        let others: Vec<i32> = (1..=20_000).filter(|tid| !known.contains(tid)).collect();
        others.iter().for_each(|tid| clocks.sampled(7, *tid, 5));
        let all = known.len() + others.len();
        let mut seen = FxHashSet::default();
        for second in 1..=90 {
            now(second);
            pen.series.clear();
            clocks.tick(Nanos(second), &mut pen);
            let read: Vec<String> =
                pen.series.iter().filter(|r| r.t.0 == second).map(|r| r.source.to_owned()).collect();
            assert!(!read.is_empty() && read.len() <= BATCH, "{} at once", read.len());
            seen.extend(read);
        }
        assert_eq!(seen.len(), all);
        let facts = clocks.facts();
        assert_eq!((facts.max_due, facts.skipped), (Some(all as u64), Some(83_616)));
        assert!(clocks.limits().is_some_and(|l| l.contains("in turn")));
    }

    #[test]
    fn a_thread_whose_end_was_lost_ends_after_some_readings() {
        let (mut clocks, mut pen) = (ThreadClocks::new(Path::new("/nonexistent")), SeriesPen::default());
        clocks.started(1, 5, Nanos(10));
        clocks.sampled(1, 5, 300);
        for second in 1..=i64::from(MOST_MISSED) + 1 {
            assert_eq!(clocks.clocks.len(), usize::from(second <= i64::from(MOST_MISSED)));
            clocks.tick(Nanos(second * 100), &mut pen);
        }
        let rows: Vec<_> = pen.series.iter().map(|r| (r.t.0, r.value)).collect();
        assert_eq!(rows, [(10, 0), (500, 300)]);
    }

    #[test]
    fn kernel_threads_are_found_with_the_list_of_the_kernel_and_without() {
        let root = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("2/task/2/comm", "kthreadd\n");
        put("2/stat", "2 (kthreadd) S 0 0");
        put("9/stat", "9 (a) (b) S 2 0");
        put("10/stat", "10 (bash) S 1 0");
        assert_eq!(kernel_threads(root.path()), [2, 9]);
        put("2/task/2/children", "9 11 12 ");
        assert_eq!(kernel_threads(root.path()), [2, 9, 11, 12]);
        // In a container process 2 may be anything.
        put("2/task/2/comm", "bash\n");
        assert_eq!(kernel_threads(root.path()), [2, 9]);
    }

    #[test]
    fn a_thread_that_ended_between_readings_keeps_what_its_samples_say() {
        let (mut clocks, mut pen) = (ThreadClocks::new(Path::new("/proc")), SeriesPen::default());
        clocks.started(i32::MAX, 5, Nanos(10));
        clocks.sampled(i32::MAX, 5, 300);
        clocks.ended(5, Nanos(20));
        clocks.tick(Nanos(30), &mut pen);
        let rows: Vec<_> = pen.series.iter().map(|r| (r.t.0, r.source.to_owned(), r.value)).collect();
        assert_eq!(rows, [(10, "thread/5".to_owned(), 0), (20, "thread/5".to_owned(), 300)]);
    }

    #[test]
    fn of_a_thread_that_was_there_before_only_its_samples_count() {
        let (mut clocks, mut pen) = (ThreadClocks::new(Path::new("/proc")), SeriesPen::default());
        let pid = std::process::id() as i32;
        clocks.sampled(pid, pid, 1);
        clocks.tick(Nanos(30), &mut pen);
        // A test that is run with nice has that too.
        let times = pen.series.iter().filter(|r| r.name == NAME);
        let rows: Vec<_> = times.map(|r| (r.t.0, r.value)).collect();
        assert!(matches!(rows[..], [(29, first), (30, now)] if now == first + 1), "{rows:?}");
        clocks.sampled(i32::MAX, 6, 300);
        clocks.ended(6, Nanos(40));
        clocks.tick(Nanos(50), &mut pen);
        let rows: Vec<_> =
            pen.series.iter().filter(|r| r.source == "thread/6").map(|r| (r.t.0, r.value)).collect();
        assert_eq!(rows, [(39, 0), (40, 300)]);
    }
}
