//! Kernel stacks of sleeping ZFS threads and of blocked tasks, read from /proc some times a second.
//!
//! Invariants: looking costs at most [`BUDGET`] of one CPU, on hosts of any number of threads: what
//! does not fit is looked at less often. A sample's weight is the time since its thread was last
//! looked at, so weights stay times of waiting. A thread that did not run in between still has the
//! same stack, which is not read again. Nothing here fails: what is gone or unreadable is skipped,
//! and [`WaitSampler::unreadable`] says when nothing can be read at all.

use super::put_wait;
use super::stack_text::functions;
use crate::sampler::{Ended, Look, Part, Sampler};
use crate::scene::Scene;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use zwhy_evidence::{RecorderFacts, WaitFacts};
use zwhy_host::thread_cpu;
use zwhy_host::{numbers_in, read_trimmed, stat_fields};
use zwhy_perf::Family;
use zwhy_profile::{FrameKind, Nanos, Profile, StackId, ThreadId};
use zwhy_zfs::thread_role;

/// CPU time spent on looking, in parts of a thousand of one CPU.
const BUDGET: u64 = 10;
/// A look after a longer pause stands for no more than this, as what was between is not known.
const LONGEST_GAP: i64 = 1_000_000_000;
/// Threads looked at; those beyond are left to the search.
const MOST_WATCHED: usize = 16_384;
/// A task that was not blocked for so many looks is left to the search again.
const FORGET_AFTER: u8 = 40;

/// A thread that is looked at.
struct Watched {
    pid: i32,
    tid: i32,
    thread: ThreadId,
    /// Looked at for as long as it lives, not only while it is blocked.
    of_zfs: bool,
    last: Option<Glance>,
    not_blocked: u8,
}

/// What was found when it was last looked at.
#[derive(Clone)]
struct Glance {
    t: Nanos,
    /// Counters of the scheduler, which change whenever the thread runs.
    schedstat: String,
    stack: Option<StackId>,
}

#[derive(Default)]
pub(crate) struct WaitSampler {
    proc_root: PathBuf,
    period: Duration,
    next: Duration,
    watched: Vec<Watched>,
    known: FxHashSet<i32>,
    /// Where the round over watched threads goes on.
    cursor: usize,
    /// Processes still to be searched for blocked tasks and ZFS threads.
    search: Vec<i32>,
    stacks: FxHashMap<String, StackId>,
    unreadable: Option<String>,
    /// The first search is done.
    searched: bool,
    looks: u64,
    rounds_cut: u64,
    /// Times that a thread was found and there was no room to look at it.
    left_out: u64,
    samples: u64,
}

impl WaitSampler {
    pub(crate) fn new(proc_root: &Path, hz: u32) -> WaitSampler {
        let own = proc_root.join("self/stack");
        WaitSampler {
            proc_root: proc_root.to_owned(),
            period: Duration::from_secs(1) / hz.max(1),
            unreadable: fs::read(&own).err().map(|e| format!("{}: {e}", own.display())),
            ..WaitSampler::default()
        }
    }

    /// Looks when it is time, and adds what waits to the samples of `profile`.
    ///
    /// `wanted` are the processes whose blocked tasks count. Those of `own`, which the recorder started,
    /// never do.
    fn tick(&mut self, elapsed: Duration, wanted: &Family, own: &Family, profile: &mut Profile) {
        if self.unreadable.is_some() || elapsed < self.next {
            return;
        }
        self.next = elapsed + self.period;
        let t = Nanos(i64::try_from(elapsed.as_nanos()).unwrap_or(i64::MAX));
        let before = thread_cpu();
        let budget = self.period * BUDGET as u32 / 1000;
        // At the very start all threads are searched for; afterwards a little in each round.
        let first = !std::mem::replace(&mut self.searched, true);
        let searching = if first { Duration::from_millis(100) } else { budget / 2 };
        self.search_for(searching, wanted, own, profile);
        let spent = || {
            thread_cpu().saturating_sub(before).saturating_sub(if first { searching } else { Duration::ZERO })
        };
        for round in 0..self.watched.len() {
            if spent() > budget && round > 0 {
                self.rounds_cut += 1;
                break;
            }
            self.cursor = if self.cursor + 1 < self.watched.len() { self.cursor + 1 } else { 0 };
            self.look(self.cursor, t, profile);
        }
        let known = &mut self.known;
        self.watched.retain(|w| {
            let keep = w.not_blocked < FORGET_AFTER;
            if !keep {
                known.remove(&w.tid);
            }
            keep
        });
    }

    /// Looks through some more processes for ZFS threads and blocked tasks.
    fn search_for(&mut self, budget: Duration, wanted: &Family, own: &Family, profile: &mut Profile) {
        let before = thread_cpu();
        if self.search.is_empty() {
            self.search = numbers_in(&self.proc_root);
        }
        while thread_cpu().saturating_sub(before) < budget {
            let Some(pid) = self.search.pop() else { break };
            let counts = wanted.counts(pid) && !own.counts(pid);
            for tid in numbers_in(self.proc_root.join(pid.to_string()).join("task")) {
                if self.known.contains(&tid) {
                    continue;
                }
                let Some(stat) = self.read(pid, tid, "stat") else { continue };
                let comm = comm_of(&stat).unwrap_or_default();
                let of_zfs = thread_role(comm).is_some();
                let blocked = stat_fields(&stat).and_then(|mut f| f.next()) == Some("D");
                if !(of_zfs || (blocked && counts)) {
                    continue;
                }
                if self.watched.len() >= MOST_WATCHED {
                    self.left_out += 1;
                } else {
                    let thread = profile.thread(pid, tid, comm);
                    self.known.insert(tid);
                    self.watched.push(Watched { pid, tid, thread, of_zfs, last: None, not_blocked: 0 });
                }
            }
        }
    }

    fn look(&mut self, at: usize, t: Nanos, profile: &mut Profile) {
        let Watched { pid, tid, thread, of_zfs, ref last, .. } = self.watched[at];
        let last = last.clone();
        self.looks += 1;
        let schedstat = self.read(pid, tid, "schedstat").unwrap_or_default();
        let stack = match &last {
            Some(look) if !schedstat.is_empty() && look.schedstat == schedstat => look.stack,
            _ => self.read_stack(pid, tid, of_zfs, profile),
        };
        let gap = last.map_or(0, |look| t.0 - look.t.0);
        let gap = if gap > 0 { gap.min(LONGEST_GAP) } else { self.period.as_nanos() as i64 };
        let watched = &mut self.watched[at];
        watched.last = Some(Glance { t, schedstat, stack });
        let Some(stack) = stack else {
            watched.not_blocked = watched.not_blocked.saturating_add(1);
            return;
        };
        watched.not_blocked = 0;
        self.samples += 1;
        put_wait(profile, t, thread, stack, gap.unsigned_abs());
    }

    /// The stack of a thread that sleeps (of others: is blocked); `None` when it does not.
    fn read_stack(&mut self, pid: i32, tid: i32, of_zfs: bool, profile: &mut Profile) -> Option<StackId> {
        let stat = self.read(pid, tid, "stat")?;
        let state = stat_fields(&stat)?.next()?;
        if !(state == "D" || of_zfs && matches!(state, "S" | "I")) {
            return None;
        }
        let text = self.read(pid, tid, "stack")?;
        if let Some(stack) = self.stacks.get(&text) {
            return Some(*stack);
        }
        let mut stack = StackId::ROOT;
        for (function, module) in functions(&text).collect::<Vec<_>>().into_iter().rev() {
            let frame = profile.frame(function, module, FrameKind::Kernel);
            stack = profile.stacks.child(stack, frame);
        }
        if stack == StackId::ROOT {
            return None; // it began to run
        }
        // Texts are many only where code offsets are: forgetting them costs a parse each.
        if self.stacks.len() >= 10_000 {
            self.stacks.clear();
        }
        self.stacks.insert(text, stack);
        Some(stack)
    }

    fn read(&self, pid: i32, tid: i32, file: &str) -> Option<String> {
        let root = self.proc_root.to_str()?;
        read_trimmed(format!("{root}/{pid}/task/{tid}/{file}"))
    }

    /// A sentence on what is not in the capture.
    pub(crate) fn unreadable(&self) -> Option<String> {
        let why = self.unreadable.as_ref()?;
        Some(format!(
            "what waits is not recorded: kernel stacks cannot be read ({why}); run as root on a kernel \
             with CONFIG_STACKTRACE"
        ))
    }
}

impl Sampler for WaitSampler {
    fn due(&self) -> Duration {
        if self.unreadable.is_some() { Duration::MAX } else { self.next }
    }

    fn take(&mut self, scene: &mut Scene, look: Look) {
        if look.part == Part::Middle {
            let Scene { family, own, profile, .. } = scene;
            self.tick(look.elapsed, family, own, profile);
        }
    }

    fn renumber(&mut self, old: &Profile, new: &mut Profile) {
        self.stacks.clear();
        for watched in &mut self.watched {
            let row = old.threads.get(watched.thread);
            watched.thread = new.thread(row.pid, row.tid, old.strings.get(row.comm));
            watched.last.iter_mut().for_each(|look| look.schedstat.clear());
        }
    }

    fn facts(&self, facts: &mut RecorderFacts, _: &Scene, end: Option<&Ended<'_>>) {
        if end.is_some() {
            facts.wait = Some(WaitFacts {
                method: Some("/proc/PID/stack".to_owned()),
                hz: Some(1.0 / self.period.as_secs_f64()),
                threads: Some(self.watched.len() as u64),
                rounds: Some(self.looks),
                rounds_truncated: Some(self.rounds_cut),
                skipped: Some(self.left_out),
                samples: Some(self.samples),
                ..WaitFacts::default()
            });
        }
    }

    fn caveats_at_start(&self, _: &Scene) -> Vec<String> {
        self.unreadable().into_iter().collect()
    }

    fn caveats(&self, _: &Scene, _: &BTreeMap<u32, u64>) -> Vec<String> {
        Vec::new()
    }
}

/// The name in a stat line, which may itself hold brackets.
fn comm_of(stat: &str) -> Option<&str> {
    stat.get(stat.find('(')? + 1..stat.rfind(')')?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zwhy_profile::{Event, Sample};

    const STACK: &str = "[<0>] cv_wait_common+0x1/0x2 [spl]\n[<0>] zio_wait+0x3/0x4 [zfs]\n\
                         [<0>] spa_sync+0x3/0x4 [zfs]\n[<0>] kthread+0x1/0x2\n";

    fn thread(root: &Path, pid: i32, comm: &str, state: &str, runs: u32, stack: &str) {
        let folder = root.join(format!("{pid}/task/{pid}"));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("stat"), format!("{pid} ({comm}) {state} 2 0 0 0")).unwrap();
        fs::write(folder.join("schedstat"), format!("1 2 {runs}\n")).unwrap();
        fs::write(folder.join("stack"), stack).unwrap();
    }

    fn none() -> Family {
        Family::of([])
    }

    fn root() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("self")).unwrap();
        fs::write(root.path().join("self/stack"), "").unwrap();
        root
    }

    fn waited(profile: &Profile, comm: &str) -> Vec<(i64, String)> {
        let of = |s: &Sample| profile.strings.get(profile.threads.get(s.thread).comm) == comm;
        let row = |s: Sample| (s.weight.0 / 1_000_000, profile.function_names(s.stack).join(";"));
        profile.samples.iter().filter(of).map(row).collect()
    }

    #[test]
    fn sleeping_zfs_threads_and_blocked_tasks_are_seen_and_others_are_not() {
        let root = root();
        thread(root.path(), 10, "txg_sync", "D", 1, STACK);
        thread(root.path(), 11, "a) (b\n", "D", 1, STACK);
        thread(root.path(), 12, "bash", "S", 1, STACK);
        thread(root.path(), 13, "z_rd_int_0", "R", 1, STACK);
        let (mut waits, mut profile) = (WaitSampler::new(root.path(), 20), Profile::new());
        waits.tick(Duration::ZERO, &Family::everyone(), &none(), &mut profile);
        // The stack file of a thread that did not run is not read again.
        fs::remove_file(root.path().join("10/task/10/stack")).unwrap();
        waits.tick(Duration::from_millis(49), &Family::everyone(), &none(), &mut profile);
        waits.tick(Duration::from_millis(60), &Family::everyone(), &none(), &mut profile);
        let stack = "kthread;spa_sync;zio_wait;cv_wait_common".to_owned();
        assert_eq!(waited(&profile, "txg_sync"), [(50, stack.clone()), (60, stack.clone())]);
        assert_eq!(waited(&profile, "a) (b\n").len(), 2);
        assert_eq!(profile.samples.len(), 4);
        assert_eq!(profile.total(Event::Cpu), 0);
    }

    #[test]
    fn threads_that_end_are_forgotten_and_gaps_are_not_made_up() {
        let root = root();
        thread(root.path(), 10, "txg_sync", "S", 1, STACK);
        let (mut waits, mut profile) = (WaitSampler::new(root.path(), 10), Profile::new());
        waits.tick(Duration::ZERO, &Family::everyone(), &none(), &mut profile);
        waits.tick(Duration::from_secs(3600), &Family::everyone(), &none(), &mut profile);
        let weights: Vec<i64> = profile.samples.weight.iter().map(|w| w.0 / 1_000_000).collect();
        assert_eq!(weights, [100, 1000]);
        fs::remove_dir_all(root.path().join("10")).unwrap();
        for second in 0..50 {
            waits.tick(Duration::from_secs(3700 + second), &Family::everyone(), &none(), &mut profile);
        }
        assert!(waits.watched.is_empty() && waits.known.is_empty());
        assert_eq!(profile.samples.len(), 2);
    }

    #[test]
    fn only_blocked_tasks_of_the_target_count() {
        let root = root();
        thread(root.path(), 10, "app", "D", 1, STACK);
        thread(root.path(), 11, "other", "D", 1, STACK);
        let (mut waits, mut profile) = (WaitSampler::new(root.path(), 20), Profile::new());
        waits.tick(Duration::ZERO, &Family::of([10]), &none(), &mut profile);
        assert_eq!((waited(&profile, "app").len(), profile.samples.len()), (1, 1));
        // Nor does what the recorder started.
        let (mut waits, mut profile) = (WaitSampler::new(root.path(), 20), Profile::new());
        waits.tick(Duration::ZERO, &Family::everyone(), &Family::of([10]), &mut profile);
        assert_eq!((waited(&profile, "app").len(), profile.samples.len()), (0, 1));
    }

    #[test]
    fn stacks_that_may_not_be_read_are_a_sentence() {
        let root = tempfile::tempdir().unwrap();
        let mut waits = WaitSampler::new(root.path(), 20);
        waits.tick(Duration::ZERO, &Family::everyone(), &none(), &mut Profile::new());
        assert!(waits.unreadable().is_some_and(|l| l.contains("run as root")));
        assert_eq!(waits.due(), Duration::MAX);
    }
}
