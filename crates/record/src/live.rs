//! The loop of a recording: samplers look in turn, what they found is named, and whoever runs the loop takes
//! it: a capture's writer, a live view, an agent.
//!
//! Invariants: nothing is written and nothing grows but by what the taker has not taken; times are those of
//! the monotonic clock since the start.

use crate::cgroup;
use crate::counted::Counted;
use crate::error::RecordError;
use crate::heap;
use crate::host_watch::{ClockWatch, ModuleWatch};
use crate::naming::Names;
use crate::options::RecordOptions;
use crate::priority::Priority;
use crate::processes::Processes;
use crate::renewing::{Renewals, compact};
use crate::sampler::{self, Cpu, Ended, Look, Part, Sampler, open_cpu_events};
use crate::scene::Scene;
use crate::target::{Held, Target};
use crate::thread_clock::ThreadClocks;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use zwhy_capture::Mark;
use zwhy_evidence::RecorderFacts;
use zwhy_host::{monotonic_ns, numbers_in, thread_cpu};
use zwhy_perf::SETTLE_NS;
use zwhy_profile::Samples;

/// Time to read the mappings of all running processes; those that are left are read when first seen.
const MAPS_BUDGET: Duration = Duration::from_millis(300);

/// What a turn of the loop came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    /// Counters were read.
    pub read: bool,
    /// The target has ended, or the time is up.
    pub over: bool,
    /// All samples up to this time of the recording were taken in.
    pub settled: Duration,
}

pub(crate) struct Live {
    pub held: Held,
    pub scene: Scene,
    samplers: Vec<Box<dyn Sampler>>,
    modules: ModuleWatch,
    clock: ClockWatch,
    /// What happened to the host and was not taken yet.
    pub marks: Vec<Mark>,
    /// Sentences on what is not seen.
    pub caveats: Vec<String>,
    /// CPU time of the recorder.
    pub cpu: Duration,
    /// What was counted when recording began.
    pub first: Counted,
    pub start_unix_s: f64,
    /// Of the thread that records, from the first turn on.
    priority: Option<Priority>,
    renewals: Renewals,
    duration: Option<Duration>,
    interval: Duration,
    next_read: Duration,
    start_ns: u64,
}

impl Live {
    /// Opens the events, starts the command where there is one, and begins to look.
    ///
    /// # Errors
    /// When the target does not exist or the kernel refuses; nothing is left behind then.
    pub(crate) fn start(options: &RecordOptions) -> Result<Live, RecordError> {
        let mut cpu_before = thread_cpu();
        heap::keep_small();
        let held = Held::take(&options.target)?;
        let mut caveats = Vec::new();
        let events = options.sample_cpu.then(|| open_cpu_events(options, &held, &mut caveats)).transpose()?;
        // Looked at first: a module that changes while the symbols are read is seen to change.
        let modules = ModuleWatch::new(&options.proc_root);
        let of_kernel = events.as_ref().is_some_and(|events| !events.sampling.user_only);
        let before_lines = thread_cpu();
        let with_lines = options.lines.then(|| Names::with_lines(of_kernel));
        // That is over when recording begins, and no part of what recording costs.
        cpu_before += thread_cpu().saturating_sub(before_lines);
        let cpu = |events| Box::new(Cpu::new(events, options.user_only)) as Box<dyn Sampler>;
        let mut samplers: Vec<Box<dyn Sampler>> = events.map(cpu).into_iter().collect();
        samplers.extend(sampler::others(options)?);
        let start_ns = monotonic_ns();
        // From here on the rings hold what happens while the rest is made ready.
        samplers.iter_mut().try_for_each(|sampler| sampler.start())?;
        // Before anything slow: a process that ends now takes its mappings with it.
        let processes = learn_processes(&options.target, &held);
        let names = with_lines.unwrap_or_else(|| Names::new(of_kernel));
        let clocks = Some(ThreadClocks::new(&options.proc_root));
        let scene = Scene::new(names, processes, clocks, held.family());
        caveats.extend(samplers.iter().flat_map(|sampler| sampler.caveats_at_start(&scene)));
        let mut live = Live {
            held,
            scene,
            samplers,
            modules,
            clock: ClockWatch::default(),
            marks: Vec::new(),
            caveats,
            cpu: Duration::ZERO,
            first: Counted::default(),
            start_unix_s: 0.0,
            priority: None,
            renewals: Renewals::default(),
            duration: options.duration,
            interval: options.interval,
            next_read: options.interval,
            start_ns,
        };
        live.begin()?;
        live.cpu = thread_cpu().saturating_sub(cpu_before);
        Ok(live)
    }

    /// Lets the command run where there is one, and has all look for the first time.
    fn begin(&mut self) -> Result<(), RecordError> {
        if self.held.waits() {
            self.start_ns = monotonic_ns();
            self.held.release()?;
        }
        self.scene.set_start(self.start_ns);
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.start_unix_s = unix.saturating_sub(self.elapsed()).as_secs_f64();
        self.look(Part::Begin);
        self.first = self.counted();
        Ok(())
    }

    /// Time since the start.
    pub(crate) fn elapsed(&self) -> Duration {
        Duration::from_nanos(monotonic_ns().saturating_sub(self.start_ns))
    }

    /// Waits up to `timeout`, then has all take in what came.
    pub(crate) fn turn(&mut self, timeout: Duration) -> Turn {
        // Here, not before: the recorded command and the tools of ZFS have been started.
        self.priority.get_or_insert_with(Priority::raise);
        self.wait(timeout);
        let ended = self.held.ended();
        let over = self.duration.is_some_and(|duration| self.elapsed() >= duration);
        let elapsed = self.look(Part::Middle);
        let read = elapsed >= self.next_read;
        if read {
            self.next_read = elapsed + self.interval;
            self.watch_host();
        }
        Turn { read, over: ended || over, settled: elapsed.saturating_sub(Duration::from_nanos(SETTLE_NS)) }
    }

    /// Has all samplers look that are due.
    pub(crate) fn look(&mut self, part: Part) -> Duration {
        let now_ns = monotonic_ns();
        let elapsed = Duration::from_nanos(now_ns.saturating_sub(self.start_ns));
        let look = Look { now_ns, elapsed, part };
        for sampler in self.samplers.iter_mut().filter(|s| part != Part::Middle || s.due() <= elapsed) {
            sampler.take(&mut self.scene, look);
        }
        elapsed
    }

    /// Sleeps until the time is up or a sampler is due, but wakes when a process of the target ends or a ring
    /// fills up.
    fn wait(&mut self, timeout: Duration) {
        let elapsed = self.elapsed();
        let due = self.samplers.iter().map(|s| s.due()).filter(|due| *due > Duration::ZERO);
        let until = due.chain(self.duration).min().unwrap_or(Duration::MAX);
        let timeout = timeout.min(until.saturating_sub(elapsed));
        let of_target = self.held.watches().count();
        let wakes = self.samplers.iter().flat_map(|s| s.wakes());
        let fds = self.held.watches().chain(wakes);
        let mut fds: Vec<PollFd<'_>> = fds.map(|fd| PollFd::new(fd, PollFlags::IN)).collect();
        let time = Timespec { tv_sec: timeout.as_secs() as _, tv_nsec: timeout.subsec_nanos() as _ };
        // A signal only makes this turn shorter.
        let _ = poll(&mut fds, Some(&time));
        let gone = PollFlags::HUP | PollFlags::ERR;
        if fds[of_target..].iter().any(|fd| fd.revents().intersects(gone)) {
            self.samplers.iter_mut().for_each(|s| s.wake_no_more());
        }
    }

    /// Looks whether kernel modules changed or the clock was set since the last time, and keeps the kernel's
    /// names true.
    fn watch_host(&mut self) {
        let t = self.scene.since_start(monotonic_ns());
        let changes = self.modules.look();
        if !changes.is_empty() {
            // What is in the rings belongs to the time before, too.
            self.look(Part::Middle);
            self.scene.names.modules_changed();
            self.name();
            self.scene.names.settle();
            self.samplers.iter_mut().for_each(|s| s.forget_names());
        }
        let mut mark = |name: &str, text| self.marks.push(Mark { t, name: name.to_owned(), text });
        changes.into_iter().for_each(|text| mark("module", text));
        self.clock.look().into_iter().for_each(|text| mark("clock", text));
    }

    /// Gives names to all that waits for them: the profile then holds every sample up to now.
    pub(crate) fn name(&mut self) {
        self.samplers.iter_mut().for_each(|s| s.name(&mut self.scene));
        self.scene.processes.flushed();
        self.scene.names.trim(&self.scene.processes);
    }

    /// Samples that wait for names.
    pub(crate) fn pending(&self) -> usize {
        self.samplers.iter().map(|s| s.pending()).sum()
    }

    /// Call it when all was taken: forgets names where they are many. `true`: ids were reset.
    pub(crate) fn keep_small(&mut self) -> bool {
        self.renewals.taken(&mut self.scene, &mut self.samplers)
    }

    /// Leaves of all names only those that these samples refer to, and live threads and recent addresses.
    pub(crate) fn compact<'a>(&mut self, kept: impl Iterator<Item = &'a mut Samples>) {
        compact(&mut self.scene, kept, &mut self.samplers);
    }

    /// Looks for the last time; returns when the samplers ended.
    pub(crate) fn end(&mut self) -> Duration {
        self.samplers.iter_mut().for_each(|s| s.stop());
        let ended = self.elapsed();
        self.look(Part::End);
        self.held.ended();
        self.scene.pen.close();
        ended
    }

    /// The thread goes on to do other things.
    pub(crate) fn lower_priority(&mut self) {
        self.priority.take().into_iter().for_each(Priority::lower);
    }

    pub(crate) fn nice(&self) -> Option<i32> {
        self.priority.map(|priority| priority.nice)
    }

    /// Samples up to now, and losses as far as they were told.
    pub(crate) fn progress(&self) -> (u64, u64) {
        self.samplers.iter().map(|s| s.progress()).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
    }

    pub(crate) fn counted(&self) -> Counted {
        let mut counted = Counted { cpu: self.cpu, ..Counted::default() };
        self.samplers.iter().for_each(|s| s.count(&mut counted));
        counted
    }

    /// What all samplers have to say of themselves.
    pub(crate) fn facts(&self, end: Option<&Ended<'_>>) -> RecorderFacts {
        let mut facts = RecorderFacts::default();
        self.samplers.iter().for_each(|s| s.facts(&mut facts, &self.scene, end));
        facts.name_resets = end.map(|_| self.renewals.count);
        facts
    }

    /// Sentences on what was not seen, at the end.
    pub(crate) fn caveats_at_end(&self, lost: &BTreeMap<u32, u64>) -> Vec<String> {
        let of_samplers = self.samplers.iter().flat_map(|s| s.caveats(&self.scene, lost));
        self.modules.limits().into_iter().chain(of_samplers).collect()
    }
}

/// Reads what is mapped where; of a command nothing is, its records will tell.
fn learn_processes(target: &Target, held: &Held) -> Processes {
    let pids = match target {
        Target::Command(_) => Vec::new(),
        Target::Cgroup(group) => cgroup::members(group),
        Target::Pid(_) => held.pids.clone(),
        Target::System => numbers_in("/proc"),
    };
    let mut processes = Processes::default();
    let before = thread_cpu();
    for pid in pids {
        processes.learn(pid);
        if thread_cpu().saturating_sub(before) > MAPS_BUDGET {
            break;
        }
    }
    processes
}
