//! A recording from start to stop: rings drained, counters read and segments written in turn.
//!
//! Invariant: after an error of the writer the folder holds all segments written before.

mod own_facts;
mod renewing;
mod saving;
mod waiting;
mod watching;

use self::renewing::Renewals;
use crate::cgroup;
use crate::collect::Collector;
use crate::command::Waiting;
use crate::error::RecordError;
use crate::heap;
use crate::host_watch::{ClockWatch, ModuleWatch};
use crate::limits;
use crate::naming::Names;
use crate::options::{RecordOptions, Target};
use crate::perf::attr::Clock;
use crate::perf::session::Session;
use crate::priority::Priority;
use crate::proc_stat::HostCpu;
use crate::processes::Processes;
use crate::recent::{Counted, MOST_BYTES, Recent};
use crate::series::Pollers;
use crate::series_pen::SeriesPen;
use crate::start::{Opened, open};
use crate::summary::{Progress, Status, Summary};
use crate::thread_clock::ThreadClocks;
use crate::triggers::Watch;
use crate::waits::{OffCpu, WaitSampler};
use rustc_hash::FxHashSet;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use zwhy_capture::{Mark, Writer};
use zwhy_host::Facts;
use zwhy_host::numbers_in;
use zwhy_host::{monotonic_ns, online_cpus, peak_rss, thread_cpu};
use zwhy_profile::Nanos;

/// Longest sleep between two drains, so that stopping feels immediate.
const TICK: Duration = Duration::from_millis(100);
/// Segments are written every interval at first, later less often, to keep their number small.
const EARLY: Duration = Duration::from_secs(60);
const LATE_FLUSH: Duration = Duration::from_secs(5);
const MOST_PENDING: usize = 65_536;
/// How long the end waits for commands of ZFS that do not answer.
const FACTS_PATIENCE: Duration = Duration::from_secs(10);
/// Time to read the mappings of all running processes; those that are left are read when first seen.
const MAPS_BUDGET: Duration = Duration::from_millis(300);

/// A running recording.
pub struct Recording {
    options: RecordOptions,
    session: Session,
    collector: Collector,
    writer: Writer,
    pen: SeriesPen,
    pollers: Pollers,
    waits: Option<WaitSampler>,
    off_cpu: Option<OffCpu>,
    modules: ModuleWatch,
    clock: ClockWatch,
    recent: Option<Recent>,
    watches: Vec<Watch>,
    /// A trigger fired: write and, unless repeated, end at this time.
    write_at: Option<Duration>,
    /// Captures that were written while the recording went on, until they are told.
    saved: Vec<PathBuf>,
    files: u32,
    /// Of the last seconds being written: when they began and what was counted before.
    window: Option<(Duration, Counted)>,
    renewals: Renewals,
    /// Of the thread that records, from the first poll on.
    priority: Option<Priority>,
    child: Option<Child>,
    exit_status: Option<ExitStatus>,
    /// Become readable when a process of the target ends.
    pidfds: Vec<OwnedFd>,
    /// There is a descriptor for each process that was asked for.
    all_watched: bool,
    start_ns: u64,
    start_unix_s: f64,
    next_read: Duration,
    last_flush: Duration,
    cpu: Duration,
    host_cpu: Option<(HostCpu, HostCpu)>,
    facts: Facts,
    more_facts: Option<Receiver<(Facts, Duration)>>,
    limits: Vec<String>,
    finished: bool,
}

fn pollers(options: &RecordOptions) -> Pollers {
    let pollers = Pollers::new(&options.proc_root);
    if options.ask_zfs { pollers } else { pollers.without_host_zfs() }
}

impl Recording {
    /// Opens the events, starts the command where there is one, and begins to record.
    ///
    /// # Errors
    /// When options make no sense, the file cannot be made, the target does not exist or the kernel
    /// refuses; nothing is left behind then.
    pub fn start(options: RecordOptions) -> Result<Recording, RecordError> {
        let cpu_before = thread_cpu();
        heap::keep_small();
        options.check()?;
        let writer = Writer::create(&options.out)?;
        let folder = writer.folder().to_owned();
        let started = open(&options).and_then(|opened| Recording::begin(options, writer, opened, cpu_before));
        if started.is_err() {
            // Only ours: it was made a moment ago and holds nothing but perhaps first facts.
            let _ = std::fs::remove_dir_all(&folder);
        }
        started
    }

    fn begin(
        options: RecordOptions,
        writer: Writer,
        opened: Opened,
        cpu_before: Duration,
    ) -> Result<Recording, RecordError> {
        let Opened { session, wanted, command, mut limits } = opened;
        // Looked at first: a module that changes while the symbols are read is seen to change.
        let modules = ModuleWatch::new(&options.proc_root);
        let of_kernel = !session.sampling.user_only;
        let before_lines = thread_cpu();
        let with_lines = options.lines.then(|| Names::with_lines(of_kernel));
        // That is over when recording begins, and no part of what recording costs.
        let cpu_before = cpu_before + thread_cpu().saturating_sub(before_lines);
        let off_cpu = open_off_cpu(&options)?;
        let start_ns = monotonic_ns();
        if command.is_none() {
            // From here on the rings hold what happens while the rest is made ready.
            session.enable().map_err(RecordError::io("switch sampling on"))?;
        }
        // Before anything slow: a process that ends now takes its mappings with it.
        let processes = learn_processes(&options.target, wanted.as_ref());
        let names = with_lines.unwrap_or_else(|| Names::new(of_kernel));
        limits.extend(limits::at_start(&session, options.user_only, names.kernel_named()));
        let weigh = session.sampling.clock == Clock::CpuClock;
        let clocks = ThreadClocks::new(&options.proc_root);
        let collector = Collector::new(names, processes, clocks, wanted, session.sampling.hz, weigh);
        let mut recording = Recording {
            pollers: pollers(&options),
            waits: options.wait_hz.map(|hz| WaitSampler::new(&options.proc_root, hz)),
            off_cpu,
            modules,
            clock: ClockWatch::default(),
            recent: options.keep_last.as_ref().map(|last| Recent::new(last.span, MOST_BYTES)),
            watches: options
                .keep_last
                .iter()
                .flat_map(|l| l.triggers.iter().cloned().map(Watch::new))
                .collect(),
            write_at: None,
            saved: Vec::new(),
            files: 1,
            window: None,
            renewals: Renewals::default(),
            priority: None,
            more_facts: None,
            facts: zwhy_host::quick(),
            options,
            session,
            collector,
            writer,
            pen: SeriesPen::default(),
            child: None,
            exit_status: None,
            pidfds: Vec::new(),
            all_watched: false,
            start_ns,
            start_unix_s: 0.0,
            next_read: Duration::ZERO,
            last_flush: Duration::ZERO,
            cpu: Duration::ZERO,
            host_cpu: None,
            limits,
            finished: false,
        };
        recording.limits.extend(recording.waits.as_ref().and_then(WaitSampler::limits));
        recording.watch_target(command)?;
        recording.read_counters(true);
        recording.write_facts(None)?;
        if recording.options.ask_zfs {
            recording.ask_tools();
        }
        // The text of the kernel's symbols and what was made of it are gone by now.
        heap::give_back();
        recording.cpu = thread_cpu().saturating_sub(cpu_before);
        Ok(recording)
    }

    /// Lets the command run where there is one, and keeps hold of the processes that end the recording.
    fn watch_target(&mut self, command: Option<Waiting>) -> Result<(), RecordError> {
        let pids = match &self.options.target {
            Target::Pid(pids) => pids.clone(),
            Target::Command(_) => command.iter().map(|c| c.pid).collect(),
            Target::System | Target::Cgroup(_) => Vec::new(),
        };
        for pid in pids.iter().copied().filter_map(Pid::from_raw) {
            // Without it (before Linux 5.3) the end of a process is seen a moment later.
            self.pidfds.extend(pidfd_open(pid, PidfdFlags::empty()));
        }
        self.all_watched = self.pidfds.len() == pids.len();
        if let Some(waiting) = command {
            self.start_ns = monotonic_ns();
            self.child = Some(waiting.release()?);
        }
        self.collector.set_start(self.start_ns);
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.start_unix_s = unix.saturating_sub(self.elapsed()).as_secs_f64();
        Ok(())
    }

    /// Asks the tools of ZFS aside: they may take seconds, or for ever.
    fn ask_tools(&mut self) {
        let (send, receive) = channel();
        let mut facts = self.facts.clone();
        std::thread::spawn(move || {
            let before = thread_cpu();
            zwhy_host::ask_tools(&mut facts);
            // The recording may have ended already.
            let _ = send.send((facts, thread_cpu().saturating_sub(before)));
        });
        self.more_facts = Some(receive);
    }

    /// Time since the start.
    pub fn elapsed(&self) -> Duration {
        Duration::from_nanos(monotonic_ns().saturating_sub(self.start_ns))
    }

    pub fn status(&self) -> Status {
        Status {
            elapsed: self.elapsed(),
            samples: self.collector.samples,
            lost: self.collector.lost_by_cpu.values().sum(),
            bytes_written: self.writer.bytes_written(),
        }
    }

    /// Names this moment.
    pub fn mark(&mut self, name: &str, text: &str) -> Result<(), RecordError> {
        self.mark_at(monotonic_ns(), name, text)
    }

    pub(crate) fn mark_at(&mut self, at_ns: u64, name: &str, text: &str) -> Result<(), RecordError> {
        let t = Nanos(at_ns.saturating_sub(self.start_ns) as i64);
        let mark = Mark { t, name: name.to_owned(), text: text.to_owned() };
        if let Some(recent) = &mut self.recent {
            recent.marks.push((Duration::from_nanos(t.0.max(0) as u64), mark));
            return Ok(());
        }
        Ok(self.writer.mark(mark)?)
    }

    /// Records until the target ends, the duration is over or `stop` is set.
    pub fn run(&mut self, stop: &AtomicBool, progress: &mut dyn Progress) -> Result<(), RecordError> {
        let mut told = Duration::ZERO;
        while !stop.load(Ordering::Relaxed) && self.poll(TICK)? {
            if self.elapsed().saturating_sub(told) >= Duration::from_secs(1) {
                told = self.elapsed();
                progress.update(self.status());
            }
            self.saved.drain(..).for_each(|path| progress.saved(&path));
        }
        Ok(())
    }

    /// Waits up to `timeout`, then takes in what came; `false` when the recording is over.
    pub fn poll(&mut self, timeout: Duration) -> Result<bool, RecordError> {
        if self.finished {
            return Ok(false);
        }
        let cpu_before = thread_cpu();
        // Here, not before: the recorded command and the tools of ZFS have been started.
        self.priority.get_or_insert_with(Priority::raise);
        let left = self.options.duration.map_or(timeout, |d| d.saturating_sub(self.elapsed()));
        let elapsed = self.elapsed();
        let look = self.waits.as_ref().map_or(left, |waits| waits.due_in(elapsed));
        self.wait(timeout.min(left).min(look));
        let ended = self.target_ended();
        let over = self.options.duration.is_some_and(|d| self.elapsed() >= d);
        self.collector.drain(&mut self.session, monotonic_ns(), false);
        self.take_waits(false);
        let result = self.write_when_due();
        let result = result.and_then(|()| self.write_when_asked());
        self.finished = self.finished || ended || over || result.is_err();
        self.cpu += thread_cpu().saturating_sub(cpu_before);
        result.map(|()| !self.finished)
    }

    /// Sleeps, but wakes when a process of the target ends or a ring fills up.
    fn wait(&mut self, timeout: Duration) {
        let rings = self.off_cpu.iter().flat_map(OffCpu::rings_to_wait_for);
        let fds = self.pidfds.iter().chain(rings);
        let mut fds: Vec<PollFd<'_>> = fds.map(|fd| PollFd::new(fd, PollFlags::IN)).collect();
        let time = Timespec { tv_sec: timeout.as_secs() as _, tv_nsec: timeout.subsec_nanos() as _ };
        // A signal only makes this round shorter.
        let _ = poll(&mut fds, Some(&time));
        let gone = PollFlags::HUP | PollFlags::ERR;
        let hung = fds[self.pidfds.len()..].iter().any(|fd| fd.revents().intersects(gone));
        if hung {
            self.off_cpu.iter_mut().for_each(OffCpu::wait_no_more);
        }
    }

    /// All processes that were asked for have ended.
    fn target_ended(&mut self) -> bool {
        if let Some(child) = &mut self.child {
            if let Ok(Some(status)) = child.try_wait() {
                self.exit_status = Some(status);
            }
            return self.exit_status.is_some();
        }
        let Target::Pid(pids) = &self.options.target else { return false };
        if !self.all_watched {
            return pids.iter().all(|pid| !std::path::Path::new(&format!("/proc/{pid}")).exists());
        }
        self.pidfds.retain(|fd| {
            let mut fds = [PollFd::new(fd, PollFlags::IN)];
            let none = Timespec { tv_sec: 0, tv_nsec: 0 };
            !poll(&mut fds, Some(&none)).is_ok_and(|ready| ready > 0)
        });
        self.pidfds.is_empty()
    }

    fn write_when_due(&mut self) -> Result<(), RecordError> {
        let elapsed = self.elapsed();
        if elapsed >= self.next_read {
            self.read_counters(false);
            self.watch_host()?;
            self.check_triggers()?;
            self.take_more_facts(Duration::ZERO);
        }
        let pause =
            if elapsed < EARLY { self.options.interval } else { self.options.interval.max(LATE_FLUSH) };
        if elapsed >= self.last_flush + pause || self.collector.pending() >= MOST_PENDING {
            self.last_flush = elapsed;
            self.flush()?;
        }
        Ok(())
    }

    fn read_counters(&mut self, idle_too: bool) {
        let t = Nanos(monotonic_ns().saturating_sub(self.start_ns) as i64);
        self.next_read = self.elapsed() + self.options.interval;
        self.collector.read_clocks(t, idle_too, &mut self.pen);
        if let Some(now) = self.pollers.poll(t, &mut self.pen) {
            self.host_cpu = Some((self.host_cpu.map_or(now, |(first, _)| first), now));
        }
    }

    fn flush(&mut self) -> Result<(), RecordError> {
        self.collector.name_pending();
        if self.recent.is_some() {
            self.keep(false);
            return Ok(());
        }
        self.writer.flush(&mut self.collector.profile)?;
        if !self.pen.series.is_empty() {
            self.writer.append_series(&self.pen.series)?;
            self.pen.series.clear();
            self.pen.trim();
        }
        self.keep_small();
        Ok(())
    }

    fn take_more_facts(&mut self, patience: Duration) {
        let Some(receive) = &self.more_facts else { return };
        if let Ok((facts, cpu)) = receive.recv_timeout(patience) {
            self.facts = facts;
            self.cpu += cpu;
            self.more_facts = None;
        }
    }

    /// Ends the recording and packs the capture.
    ///
    /// A command that still runs is left running.
    /// # Errors
    /// When the last segments or the file cannot be written; the folder then holds the rest.
    pub fn stop(mut self) -> Result<Summary, RecordError> {
        let cpu_before = thread_cpu();
        let mut duration = self.elapsed();
        self.session.disable();
        self.collector.drain(&mut self.session, monotonic_ns(), true);
        self.take_waits(true);
        self.target_ended();
        self.read_counters(true);
        self.pen.close();
        self.take_more_facts(FACTS_PATIENCE);
        if self.more_facts.is_some() {
            self.limits.push("zpool and zfs did not answer; pools and datasets are not recorded".into());
        }
        let mut lost_by_cpu = self.lost_by_cpu();
        if self.recent.is_some() {
            (duration, lost_by_cpu) = self.write_recent()?;
        }
        let lost = lost_by_cpu.values().sum();
        self.limits.extend(self.modules.limits());
        self.limits.extend(limits::at_end(&self.collector, &self.pollers, &lost_by_cpu));
        if let (Some(child), None) = (&self.child, self.exit_status) {
            self.limits.push(format!(
                "the command still runs as process {}; the capture ends before it",
                child.id()
            ));
        }
        if self.recent.is_none() {
            self.flush()?;
        }
        self.cpu += thread_cpu().saturating_sub(cpu_before);
        let window = self.window.as_ref().map(|(_, before)| before.clone()).unwrap_or_default();
        let (cpu, samples) =
            (self.cpu.saturating_sub(window.cpu), self.collector.samples.saturating_sub(window.samples));
        let cpu_share = cpu.as_secs_f64() / duration.as_secs_f64().max(1e-9);
        self.write_facts(Some((duration, &lost_by_cpu)))?;
        let mut warnings = std::mem::take(&mut self.limits);
        warnings.extend(std::mem::take(&mut self.facts.limits));
        warnings.extend(self.watches.iter().map(Watch::account));
        // Packing takes memory of its own.
        let Recording { writer, exit_status, collector, session, pen, pollers, priority, .. } = self;
        priority.into_iter().for_each(Priority::lower);
        drop((collector, session, pen, pollers));
        heap::give_back();
        let path = writer.finish()?;
        Ok(Summary {
            bytes: std::fs::metadata(&path).map_or(0, |m| m.len()),
            path,
            samples,
            lost,
            duration,
            cpu,
            cpu_share,
            peak_rss: peak_rss(),
            exit_status,
            warnings,
        })
    }

    /// The greater of what records told and what the kernel counted, by CPU.
    fn lost_by_cpu(&self) -> BTreeMap<u32, u64> {
        let mut lost = self.collector.lost_by_cpu.clone();
        for (cpu, count) in self.session.lost() {
            let told = lost.entry(cpu).or_default();
            *told = count.max(*told);
        }
        lost.retain(|_, count| *count > 0);
        lost
    }
}

fn open_off_cpu(options: &RecordOptions) -> Result<Option<OffCpu>, RecordError> {
    let group = match &options.target {
        Target::Cgroup(group) => Some(group.as_path()),
        _ => None,
    };
    options.off_cpu.then(|| OffCpu::open(&online_cpus(), group)).transpose()
}

/// Reads what is mapped where; of a command nothing is, its records will tell.
fn learn_processes(target: &Target, wanted: Option<&FxHashSet<i32>>) -> Processes {
    let pids = match (target, wanted) {
        (Target::Command(_), _) => Vec::new(),
        (Target::Cgroup(group), _) => cgroup::members(group),
        (_, Some(wanted)) => wanted.iter().copied().collect(),
        (_, None) => numbers_in("/proc"),
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
