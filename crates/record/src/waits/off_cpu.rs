//! Time off the CPU by kernel stack, from the context switches of the whole host.
//!
//! Invariants: every wait of at least [`LEAST`] becomes one sample of event `wait` at its end, whose
//! weight is its length and whose root frame says why; shorter ones are counted by thread. What found
//! no room is counted. Of a control group the processes count that were in it when it was last read, at
//! most a second before. Of threads that were away when recording began those are seen that were blocked (state D);
//! others not until they leave again.

use super::begun::{Begun, Blocked, blocked};
use super::pairing::{MOST_AWAY, Pairing, Wait};
use super::put_wait;
use super::switches::{Layout, What, Why};
use crate::cgroup;
use crate::error::RecordError;
use crate::options::RecordOptions;
use crate::permission;
use crate::sampler::{Ended, Look, Part, Sampler};
use crate::scene::Scene;
use crate::target::Target;
use rustc_hash::{FxHashMap, FxHashSet};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use zwhy_evidence::{RecorderFacts, ShortWaits, ThreadWaits, WaitFacts};
use zwhy_host::online_cpus;
use zwhy_perf::open::{Whose, open_event};
use zwhy_perf::{Rings, ring_bytes};
use zwhy_profile::{FrameKind, Profile, StackId};

/// Shorter waits are counted by thread and get no sample.
const LEAST: Duration = Duration::from_millis(1);
/// Room of all CPUs together, and of one: 3,000 to 13,000 switches of 310 bytes. A ring that is half
/// full is emptied at once, so the room is for the time until the recorder is given a CPU.
const ALL_RINGS: usize = 64 << 20;
const RING_BYTES: std::ops::RangeInclusive<usize> = 1 << 20..=4 << 20;
/// Threads with the most time in short waits that the facts name.
const THREADS_NAMED: usize = 20;
/// Named stacks that are kept; beyond, they are named again.
const MOST_STACKS: usize = 16_384;
/// Who is in a control group is read again after this time, and after so many times what reading took.
const MEMBERS_PAUSE: Duration = Duration::from_secs(1);
const MEMBERS_REST: u32 = 50;

/// Processes of a control group. Context switches are not seen by group: they are those of all.
struct Group {
    path: PathBuf,
    members: FxHashSet<i32>,
    next: Instant,
}

impl Group {
    fn of(path: &Path) -> Group {
        let mut group = Group { path: path.to_owned(), members: FxHashSet::default(), next: Instant::now() };
        group.refresh();
        group
    }

    fn refresh(&mut self) {
        let begin = Instant::now();
        if begin >= self.next {
            self.members = cgroup::members(&self.path).into_iter().collect();
            self.next = begin + MEMBERS_PAUSE.max(begin.elapsed() * MEMBERS_REST);
        }
    }
}

pub(crate) struct OffCpu {
    layout: Layout,
    rings: Rings,
    /// Rings say when they are half full. No more when a CPU has gone, whose event is always ready.
    tell: bool,
    pairing: Pairing,
    /// Threads that have been blocked since recording began.
    begun: Begun,
    proc_root: PathBuf,
    /// Whose waits count, where a control group is recorded.
    group: Option<Group>,
    stacks: FxHashMap<(Why, Arc<[u64]>), StackId>,
    samples: u64,
}

impl OffCpu {
    /// Begins to see the context switches of the host; those of a control group where one is recorded.
    ///
    /// # Errors
    /// When the tracepoint may not be read or the kernel refuses its event.
    pub(crate) fn of(options: &RecordOptions) -> Result<OffCpu, RecordError> {
        let group = match &options.target {
            Target::Cgroup(group) => Some(Group::of(group)),
            _ => None,
        };
        let layout = Layout::read()?;
        let refused = |e| permission::explain(e, "context switches (--off-cpu)", true);
        let cpus = online_cpus();
        let bytes = ring_bytes(cpus.len(), ALL_RINGS, RING_BYTES);
        let mut rings = Rings::new(layout.schema(), bytes);
        for cpu in cpus {
            let event = match open_event(&mut layout.attr(bytes), Whose::Thread(-1), cpu as i32) {
                // The CPU went away since it was listed.
                Err(e) if Errno::from_io_error(&e) == Some(Errno::NODEV) => continue,
                other => other.map_err(refused)?,
            };
            layout.leave_idle_out(&event);
            rings.add(event, cpu).map_err(refused)?;
        }
        let least = u64::try_from(LEAST.as_nanos()).unwrap_or(u64::MAX);
        Ok(OffCpu {
            layout,
            rings,
            tell: true,
            pairing: Pairing::new(least),
            begun: Begun::default(),
            proc_root: options.proc_root.clone(),
            group,
            stacks: FxHashMap::default(),
            samples: 0,
        })
    }

    /// Takes in what the rings hold, in order of time.
    fn drain(&mut self, look: Look, scene: &mut Scene) {
        if let Some(group) = &mut self.group {
            group.refresh();
        }
        let OffCpu { layout, rings, pairing, group, begun, .. } = self;
        let members = group.as_ref().map(|group| &group.members);
        let (mut waits, mut ended) = (Vec::new(), Vec::new());
        rings.drain(look.until(), |time, record, schema| {
            let Some(switch) = layout.switch(time, &record, schema) else { return };
            match switch.what {
                What::Came { tid } => ended.extend(begun.remove(&tid).map(|thread| (tid, thread, time))),
                // When it came back is not known.
                What::Left { tid, .. } => pairing.forgotten += u64::from(begun.remove(&tid).is_some()),
                What::Lost(_) => {
                    pairing.forgotten += begun.len() as u64;
                    begun.clear();
                }
            }
            let wanted =
                |pid| members.map_or_else(|| scene.family.counts(pid), |members| members.contains(&pid));
            waits.extend(pairing.take(&switch, wanted));
        });
        for wait in waits {
            self.sample(&wait, scene);
        }
        for (tid, thread, until) in ended {
            self.sample_begun(tid, &thread, until, scene);
        }
    }

    /// What threads waited up to now that have been blocked since the beginning.
    fn cut_begun(&mut self, now_ns: u64, scene: &mut Scene) {
        let mut begun = std::mem::take(&mut self.begun);
        let mut threads: Vec<(&i32, &mut Blocked)> = begun.iter_mut().collect();
        threads.sort_unstable_by_key(|(tid, _)| **tid);
        for (tid, thread) in threads {
            self.sample_begun(*tid, thread, now_ns, scene);
            thread.since = now_ns.max(thread.since);
        }
        self.begun = begun;
    }

    fn sample_begun(&mut self, tid: i32, thread: &Blocked, until: u64, scene: &mut Scene) {
        let ns = until.saturating_sub(thread.since);
        if scene.own.counts(thread.pid) || Duration::from_nanos(ns) < LEAST {
            return;
        }
        let root = (Why::Uninterruptible.frame(), "kernel");
        let mut stack = StackId::ROOT;
        let frames = thread.stack.iter().map(|(name, module)| (name.as_str(), module.as_str()));
        for (name, module) in std::iter::once(root).chain(frames) {
            let frame = scene.profile.frame(name, module, FrameKind::Kernel);
            stack = scene.profile.stacks.child(stack, frame);
        }
        self.put(scene, (thread.pid, tid), stack, until, ns);
    }

    fn sample(&mut self, wait: &Wait, scene: &mut Scene) {
        if scene.own.counts(wait.pid) {
            return;
        }
        if self.stacks.len() >= MOST_STACKS {
            self.stacks.clear();
        }
        let key = (wait.why, wait.chain.clone());
        let stack =
            *self.stacks.entry(key).or_insert_with(|| scene.kernel_stack(wait.why.frame(), &wait.chain));
        self.put(scene, (wait.pid, wait.tid), stack, wait.until, wait.until.saturating_sub(wait.since));
    }

    fn put(&mut self, scene: &mut Scene, (pid, tid): (i32, i32), stack: StackId, until: u64, ns: u64) {
        self.samples += 1;
        let (t, thread) = (scene.since_start(until), scene.thread(pid, tid));
        put_wait(&mut scene.profile, t, thread, stack, ns);
    }

    fn counted(&self) -> WaitFacts {
        let Pairing { short, left_out, lost, forgotten, .. } = &self.pairing;
        let mut rows: Vec<_> = short.iter().collect();
        rows.sort_by_key(|(tid, short)| (std::cmp::Reverse(short.ns), **tid));
        let seconds = |ns: u64| ns as f64 / 1e9;
        let threads = rows.iter().take(THREADS_NAMED).map(|(tid, short)| ThreadWaits {
            tid: Some(**tid),
            waits: Some(short.count),
            seconds: Some(seconds(short.ns)),
            ..ThreadWaits::default()
        });
        let short = ShortWaits {
            waits: Some(rows.iter().map(|(_, short)| short.count).sum()),
            seconds: Some(seconds(rows.iter().map(|(_, short)| short.ns).sum())),
            threads: Some(threads.collect()),
            ..ShortWaits::default()
        };
        WaitFacts {
            samples: Some(self.samples),
            short: Some(short),
            skipped: Some(*left_out),
            lost: Some(*lost),
            unfinished: Some(*forgotten),
            ..WaitFacts::default()
        }
    }

    /// A sentence on what is not in the capture.
    fn missing(&self) -> Option<String> {
        let Pairing { left_out, lost, forgotten, .. } = &self.pairing;
        (left_out + lost + forgotten > 0).then(|| {
            format!(
                "waiting is longer than shown: of {} waits {forgotten} have no known end, {lost} context \
                 switches were lost, and {left_out} waits were left out because the buffer was full",
                self.samples
                    + forgotten
                    + left_out
                    + self.pairing.short.values().map(|s| s.count).sum::<u64>()
            )
        })
    }
}

impl Sampler for OffCpu {
    fn due(&self) -> Duration {
        Duration::ZERO
    }

    fn take(&mut self, scene: &mut Scene, look: Look) {
        let waits = match look.part {
            Part::Begin => {
                let members = self.group.as_ref().map(|group| &group.members);
                let wanted =
                    |pid| members.map_or_else(|| scene.family.counts(pid), |members| members.contains(&pid));
                self.begun = blocked(&self.proc_root, look.now_ns, wanted);
                return;
            }
            // What threads waited up to now that still wait; what follows is a wait of its own.
            Part::Cut => {
                self.cut_begun(look.now_ns, scene);
                self.pairing.cut(look.now_ns)
            }
            Part::Middle => {
                self.drain(look, scene);
                Vec::new()
            }
            Part::End => {
                self.drain(look, scene);
                self.cut_begun(look.now_ns, scene);
                self.pairing.finish(look.now_ns)
            }
        };
        for wait in waits {
            self.sample(&wait, scene);
        }
    }

    fn renumber(&mut self, _: &Profile, _: &mut Profile) {
        self.stacks = FxHashMap::default();
    }

    fn forget_names(&mut self) {
        self.stacks = FxHashMap::default();
    }

    fn wakes(&self) -> Vec<&OwnedFd> {
        self.rings.owners().filter(|_| self.tell).collect()
    }

    fn wake_no_more(&mut self) {
        self.tell = false;
    }

    /// Of the last seconds without what was counted since recording began.
    fn facts(&self, facts: &mut RecorderFacts, _: &Scene, end: Option<&Ended<'_>>) {
        let Some(end) = end else { return };
        let counted = if end.last_seconds { WaitFacts::default() } else { self.counted() };
        facts.wait = Some(WaitFacts {
            method: Some("sched:sched_switch".to_owned()),
            min_s: Some(LEAST.as_secs_f64()),
            max_threads: Some(MOST_AWAY as u64),
            ..counted
        });
    }

    fn caveats(&self, _: &Scene, _: &BTreeMap<u32, u64>) -> Vec<String> {
        self.missing().into_iter().collect()
    }
}
