//! Samples as sums: by stack, name of thread and ten seconds.

use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::time::Duration;
use zwhy_profile::{Event, Move, Nanos, Profile, Sample, Samples, StackId, StringId, Thread, ThreadId};
use zwhy_zfs::thread_role;

/// What one sum is of.
const SPAN: Duration = Duration::from_secs(10);
/// A process that was seen for so long stays one of its own.
const LONG: Duration = Duration::from_secs(60);

/// What samples of one sum have in common; samples that say their time are not added to those that do not.
type Key = (Nanos, ThreadId, StackId, Event, bool);

#[derive(Default)]
struct Sums(FxHashMap<Key, (u64, i64)>);

impl Sums {
    fn add(&mut self, t: Nanos, sample: &Sample) {
        let key = (t, sample.thread, sample.stack, sample.event, sample.weight.0 != 0);
        let (count, weight) = self.0.entry(key).or_default();
        *count += u64::from(sample.count);
        *weight = weight.saturating_add(sample.weight.0);
    }

    fn into_samples(self) -> Samples {
        let mut samples = Samples::default();
        for ((t, thread, stack, event, _), (mut count, mut weight)) in self.0 {
            // More than a row can count is more than one row.
            loop {
                let part = u32::try_from(count).unwrap_or(u32::MAX);
                samples.push(Sample { t, cpu: -1, thread, stack, event, count: part, weight: Nanos(weight) });
                (count, weight) = (count - u64::from(part), 0);
                if count == 0 {
                    break;
                }
            }
        }
        samples
    }
}

/// Puts the sums of a file of `seconds` that begins at `base` nanoseconds behind those before, and its threads.
pub(super) fn add(from: &Profile, base: i64, seconds: f64, to: &mut Profile) {
    let span = SPAN.as_nanos() as i64;
    let end = (seconds * 1e9) as i64;
    let mut sums = Sums::default();
    for sample in from.samples.iter() {
        let begin = sample.t.0.div_euclid(span) * span;
        // Its middle, so that a time that is off by a moment stays in the same file.
        let middle = (begin + (begin + span).min(end).max(begin)) / 2;
        sums.add(Nanos(base.saturating_add(middle)), &sample);
    }
    let mut moving = Move::new(from, to);
    for (id, _) in from.threads.iter() {
        moving.thread(id);
    }
    let rows: Vec<Sample> = sums
        .into_samples()
        .iter()
        .map(|s| Sample { thread: moving.thread(s.thread), stack: moving.stack(s.stack), ..s })
        .collect();
    rows.into_iter().for_each(|row| to.samples.push(row));
}

/// Whose threads of one name count as one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Whose<'a> {
    Process(i32),
    /// Threads of ZFS.
    Kernel,
    /// Processes that lived only for a moment, by their name and what they ran in.
    Brief(Option<&'a str>, Option<&'a str>),
}

/// Keeps the main threads of the processes in `to`: they have the names of these.
pub(super) fn keep_names(from: &Profile, to: &mut Profile) {
    let pids: FxHashSet<i32> = to.threads.iter().map(|(_, thread)| thread.pid).collect();
    let is_main = |thread: &Thread| thread.pid == thread.tid && pids.contains(&thread.pid);
    for (_, thread) in from.threads.iter().filter(|(_, thread)| is_main(thread)) {
        to.thread(thread.pid, thread.tid, from.strings.get(thread.comm));
    }
}

/// Makes one of the threads of one name: of a process; of ZFS; of processes that lived only for a moment. It gets the
/// numbers of the busiest of them. `own` is the recorder's process, `owners` say what a process runs in.
pub(super) fn by_name(profile: &mut Profile, own: Option<i32>, owners: &BTreeMap<String, String>) {
    let mut counts = vec![0u64; profile.threads.len()];
    let mut seen: FxHashMap<i32, (Nanos, Nanos)> = FxHashMap::default();
    for sample in profile.samples.iter() {
        counts[sample.thread.index()] += u64::from(sample.count);
        let span = seen.entry(profile.threads.get(sample.thread).pid).or_insert((sample.t, sample.t));
        *span = (span.0.min(sample.t), span.1.max(sample.t));
    }
    let lived =
        |pid: i32| seen.get(&pid).is_some_and(|(first, last)| last.0 - first.0 >= LONG.as_nanos() as i64);
    let mains = profile.threads.iter().filter(|(_, thread)| thread.pid == thread.tid);
    let names: FxHashMap<i32, &str> =
        mains.map(|(_, thread)| (thread.pid, profile.strings.get(thread.comm))).collect();
    let whose = |thread: Thread| -> Whose<'_> {
        let comm = profile.strings.get(thread.comm);
        if thread.pid == thread.tid && thread_role(comm).is_some() {
            Whose::Kernel
        } else if Some(thread.pid) == own || thread.pid <= 0 || lived(thread.pid) {
            Whose::Process(thread.pid)
        } else {
            let owner = owners.get(&format!("process/{}", thread.pid)).map(String::as_str);
            Whose::Brief(names.get(&thread.pid).copied(), owner)
        }
    };
    let mut busiest: FxHashMap<(StringId, Whose<'_>), ThreadId> = FxHashMap::default();
    let sampled = || profile.threads.iter().filter(|(id, _)| counts[id.index()] > 0);
    for (id, thread) in sampled() {
        let known = busiest.entry((thread.comm, whose(thread))).or_insert(id);
        if counts[id.index()] > counts[known.index()] {
            *known = id;
        }
    }
    let mut is_now: Vec<ThreadId> = profile.threads.iter().map(|(id, _)| id).collect();
    for (id, thread) in sampled() {
        is_now[id.index()] = busiest[&(thread.comm, whose(thread))];
    }
    let mut sums = Sums::default();
    for sample in profile.samples.iter() {
        sums.add(sample.t, &Sample { thread: is_now[sample.thread.index()], ..sample });
    }
    profile.samples = sums.into_samples();
}

#[cfg(test)]
mod tests {
    use super::*;
    use zwhy_profile::FrameKind;

    const S: i64 = 1_000_000_000;

    /// Threads and the number of their samples, by name.
    fn threads(profile: &Profile) -> BTreeMap<(String, i32, i32), u64> {
        let mut told = BTreeMap::new();
        for sample in profile.samples.iter() {
            let thread = profile.threads.get(sample.thread);
            let key = (profile.strings.get(thread.comm).to_owned(), thread.pid, thread.tid);
            *told.entry(key).or_default() += u64::from(sample.count);
        }
        told
    }

    #[test]
    fn samples_of_ten_seconds_are_one_row_and_none_is_lost() {
        let mut from = Profile::new();
        let frame = from.frame("zio_execute", "zfs", FrameKind::Kernel);
        let (stack, thread) = (from.stack(&[frame]), from.thread(300, 300, "z_rd_int"));
        let mut put = |t: i64, event, weight: i64| {
            let sample = Sample::counted(thread, stack, event, 1);
            from.samples.push(Sample { t: Nanos(t), cpu: 3, weight: Nanos(weight), ..sample });
        };
        for n in 0..23 {
            put(n * S, Event::Cpu, n);
        }
        put(5 * S, Event::Wait, 7);
        let mut to = Profile::new();
        add(&from, 100 * S, 23.0, &mut to);
        let mut rows: Vec<_> =
            to.samples.iter().map(|s| (s.t.0 - 100 * S, s.event, s.count, s.weight.0, s.cpu)).collect();
        rows.sort_by_key(|row| (row.0, row.1 as u8, row.2));
        let (cpu, wait) = (Event::Cpu, Event::Wait);
        // The sample without a time stays apart.
        let wanted = [
            (5 * S, cpu, 1, 0, -1),
            (5 * S, cpu, 9, 45, -1),
            (5 * S, wait, 1, 7, -1),
            (15 * S, cpu, 10, 145, -1),
            (43 * S / 2, cpu, 3, 63, -1),
        ];
        assert_eq!(rows, wanted);
    }

    #[test]
    fn threads_of_one_name_are_one_where_nothing_is_said_that_is_not_so() {
        let mut profile = Profile::new();
        let mut put = |pid: i32, tid: i32, comm: &str, t: i64, count: u32| {
            let thread = profile.thread(pid, tid, comm);
            let sample = Sample::counted(thread, StackId::ROOT, Event::Cpu, count);
            profile.samples.push(Sample { t: Nanos(t * S), ..sample });
        };
        for (tid, count) in [(300, 1), (301, 5), (302, 2)] {
            put(tid, tid, "z_wr_iss", 5, count);
        }
        // A service with two processes that go on, and compilers that come and go, some of them in a container.
        for t in [5, 95] {
            put(4000, 4000, "nginx", t, 2);
            put(4000, 4001, "nginx", t, 1);
            put(5000, 5000, "nginx", t, 3);
            put(77, 78, "zwhy", t, 1);
        }
        put(88, 88, "zwhy", 5, 9);
        // Threads of one name, of processes of two names.
        for (pid, main) in [(7000, "lab"), (7001, "lab"), (7002, "fio")] {
            put(pid, pid, main, 5, 1);
            put(pid, pid + 100, "worker", 5, 1);
        }
        for pid in 6000..6010 {
            put(pid, pid, "cc1", 5 + i64::from(pid - 6000) * 10, if pid == 6004 { 4 } else { 1 });
        }
        let owners: BTreeMap<String, String> =
            (6000..6003).map(|pid| (format!("process/{pid}"), "container a".to_owned())).collect();
        let before = profile.samples.total(Event::Cpu);
        by_name(&mut profile, Some(77), &owners);
        let wanted = [
            (("cc1", 6000, 6000), 3),
            (("cc1", 6004, 6004), 10),
            (("fio", 7002, 7002), 1),
            (("lab", 7000, 7000), 2),
            (("nginx", 4000, 4000), 6),
            (("nginx", 5000, 5000), 6),
            (("worker", 7000, 7100), 2),
            (("worker", 7002, 7102), 1),
            (("z_wr_iss", 301, 301), 8),
            (("zwhy", 77, 78), 2),
            (("zwhy", 88, 88), 9),
        ];
        let wanted = wanted.map(|((comm, pid, tid), count)| ((comm.to_owned(), pid, tid), count));
        assert_eq!(threads(&profile), BTreeMap::from(wanted));
        assert_eq!(profile.samples.total(Event::Cpu), before);
        let mut few = Profile::new();
        few.thread(7000, 7100, "worker");
        keep_names(&profile, &mut few);
        let kept: Vec<(i32, i32)> = few.threads.iter().map(|(_, thread)| (thread.pid, thread.tid)).collect();
        assert_eq!(kept, [(7000, 7100), (7000, 7000)], "the process has its name");
    }

    #[test]
    fn a_count_beyond_a_row_is_more_than_one() {
        let mut sums = Sums::default();
        let sample = Sample::counted(ThreadId(0), StackId::ROOT, Event::Cpu, u32::MAX);
        (0..3).for_each(|_| sums.add(Nanos(0), &sample));
        let samples = sums.into_samples();
        assert_eq!((samples.len(), samples.total(Event::Cpu)), (3, 3 * u64::from(u32::MAX)));
    }
}
