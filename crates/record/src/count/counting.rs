//! Counting from start to stop: probes opened, the command let go, rings drained, cost watched.

use super::error::CountError;
use super::find::{beside, find, frame_pattern};
use super::kernel::KernelFunctions;
use super::options::CountOptions;
use super::overhead::{Budget, Cost, Verdict, measure};
use super::probe::Probe;
use super::session::Session;
use super::tally::Tally;
use crate::target::{Held, Target};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use zwhy_capture::{Writer, part_folder};
use zwhy_evidence::{CaptureFacts, Kind, RecorderFacts};
use zwhy_host::{monotonic_ns, online_cpus, thread_cpu};
use zwhy_perf::Until;
use zwhy_profile::{Event, Nanos, Profile, StackId};

/// Rings are emptied so often: 4 MiB then hold a million calls a second.
const TICK: Duration = Duration::from_millis(20);
/// Time over which the rate of calls is taken.
const LOOK: Duration = Duration::from_millis(100);
const FLUSH: Duration = Duration::from_secs(1);
const MOST_PENDING: usize = 65_536;

/// A function that was counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedFunction {
    pub function: String,
    pub module: String,
    pub calls: u64,
}

/// Calls related to those of a caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerCaller {
    pub caller: String,
    /// Calls of the caller itself.
    pub caller_calls: u64,
    /// Calls of the function with the caller in the stack.
    pub calls: u64,
    /// The same for each call of the caller, in order of time; empty where they were not all seen.
    pub each: Vec<u32>,
}

/// What was counted.
#[derive(Debug)]
pub struct Counted {
    pub functions: Vec<CountedFunction>,
    /// Names of the stacks; one sample of event `count` a stack.
    pub profile: Profile,
    /// Calls by stack, the function at the leaf, and whether the stack holds the caller asked for.
    pub stacks: Vec<(StackId, u64, bool)>,
    pub calls: u64,
    /// Calls with the caller asked for in the stack.
    pub under: Option<(String, u64)>,
    pub per: Option<PerCaller>,
    pub duration: Duration,
    /// Calls of any process whose stack found no room.
    pub lost: u64,
    /// One call in so many was sampled at the end; above 1 the figures are estimates.
    pub one_in: u64,
    /// What one call costs more for being counted, in nanoseconds, where it could be measured.
    pub call_cost_ns: Option<f64>,
    /// Share of the CPU time of all CPUs that calls and recorder took, where it could be measured.
    pub overhead: Option<f64>,
    pub exit_status: Option<ExitStatus>,
    pub path: Option<PathBuf>,
    /// Sentences: what to know of the figures.
    pub notes: Vec<String>,
}

pub struct Counting {
    options: CountOptions,
    probes: Vec<Probe>,
    session: Session,
    tally: Tally,
    budget: Option<Budget>,
    cost: Option<Cost>,
    cpus: usize,
    writer: Option<Writer>,
    held: Held,
    start_ns: u64,
    /// When counting ended by itself.
    stopped: Option<Duration>,
    last_flush: Duration,
    last_look: (Duration, u64),
    cpu_start: Duration,
    notes: Vec<String>,
}

impl Counting {
    /// Finds the functions, measures what a call costs, opens the probes and lets the command go.
    ///
    /// # Errors
    /// When there is no such function, object or process, the kernel refuses, or the capture cannot be
    /// made; nothing is left behind then.
    pub fn start(options: CountOptions) -> Result<Counting, CountError> {
        options.check()?;
        let kernel = KernelFunctions::read();
        let mut notes = Vec::new();
        let mut probes = find(&options.function, &options.target, &kernel)?;
        let per_from = probes.len();
        if let Some(caller) = &options.per {
            probes.extend(find(&beside(&options.function, caller), &options.target, &kernel)?);
        }
        let cpus = online_cpus();
        let wild = frame_pattern(&options.function).is_wild();
        let (session, left_out) = Session::open(&probes, &cpus, wild)?;
        if !left_out.is_empty() {
            let names: Vec<String> = left_out.iter().map(|i| probes[*i].function.clone()).collect();
            notes.push(format!("the kernel allows no probe on {}", names.join(", ")));
        }
        let in_kernel = probes[0].is_kernel();
        let cost = measure(in_kernel.then_some(&kernel), &cpus);
        let budget =
            options.max_overhead.zip(cost).map(|(most, cost)| Budget { cost, most, cpus: cpus.len() });
        if options.max_overhead.is_some() && budget.is_none() {
            notes.push("what a call costs could not be measured: nothing limits the overhead".into());
        }
        let held = Held::take(&options.target)?;
        let writer = options.out.as_deref().map(Writer::create).transpose()?;
        let part = options.out.as_deref().map(part_folder);
        let mut counting = Counting {
            tally: Tally::new(
                &probes,
                per_from,
                options.under.as_deref().map(frame_pattern),
                options.per.as_deref().map(frame_pattern),
                held.family_from_exec(),
            ),
            options,
            probes,
            session,
            budget,
            cost,
            cpus: cpus.len(),
            writer,
            held,
            start_ns: monotonic_ns(),
            stopped: None,
            last_flush: Duration::ZERO,
            last_look: (Duration::ZERO, 0),
            cpu_start: thread_cpu(),
            notes,
        };
        let begun = counting.begin();
        if let (Err(_), Some(folder)) = (&begun, part) {
            // Only ours: it was made a moment ago and holds nothing yet.
            let _ = std::fs::remove_dir_all(folder);
        }
        begun.map(|()| counting)
    }

    fn begin(&mut self) -> Result<(), CountError> {
        self.session.enable()?;
        self.start_ns = monotonic_ns();
        self.cpu_start = thread_cpu();
        Ok(self.held.release()?)
    }

    pub fn elapsed(&self) -> Duration {
        Duration::from_nanos(monotonic_ns().saturating_sub(self.start_ns))
    }

    /// Calls counted so far.
    pub fn calls(&self) -> u64 {
        self.tally.calls.iter().sum()
    }

    /// Counts until the target ends, the duration is over or `stop` is set; `progress` is told the
    /// calls so far about every second.
    pub fn run(
        &mut self,
        stop: &AtomicBool,
        mut progress: impl FnMut(Duration, u64),
    ) -> Result<(), CountError> {
        let mut told = Duration::ZERO;
        while !stop.load(Ordering::Relaxed) && self.poll()? {
            if self.elapsed().saturating_sub(told) >= Duration::from_secs(1) {
                told = self.elapsed();
                progress(told, self.calls());
            }
        }
        Ok(())
    }

    /// Waits a moment and takes in what came; `false` when counting is over.
    fn poll(&mut self) -> Result<bool, CountError> {
        let left = self.options.duration.map_or(TICK, |d| d.saturating_sub(self.elapsed()));
        self.wait(TICK.min(left));
        let ended = self.held.ended();
        let over = self.options.duration.is_some_and(|d| self.elapsed() >= d);
        self.tally.drain(&mut self.session, Until::Settled(monotonic_ns()));
        if self.stopped.is_none() {
            self.watch_cost()?;
        }
        if self.elapsed() >= self.last_flush + FLUSH || self.tally.pending() >= MOST_PENDING {
            self.flush()?;
        }
        // A command that still runs is waited for, so that its exit status is told.
        let given_up = self.stopped.is_some() && !self.held.is_command();
        Ok(!(ended || over || given_up))
    }

    fn wait(&self, timeout: Duration) {
        let mut fds: Vec<PollFd<'_>> = self.held.watches().map(|fd| PollFd::new(fd, PollFlags::IN)).collect();
        let time = Timespec { tv_sec: timeout.as_secs() as _, tv_nsec: timeout.subsec_nanos() as _ };
        // A signal only makes this round shorter.
        let _ = poll(&mut fds, Some(&time));
    }

    fn watch_cost(&mut self) -> Result<(), CountError> {
        let Some(budget) = self.budget else { return Ok(()) };
        let (before, calls_before) = self.last_look;
        let now = self.elapsed();
        if now < before + LOOK {
            return Ok(());
        }
        let calls = self.all_calls();
        self.last_look = (now, calls);
        let rate = calls.saturating_sub(calls_before) as f64 / (now - before).as_secs_f64();
        let samples = self.tally.seen / self.tally.one_in();
        let own = thread_cpu().saturating_sub(self.cpu_start).as_secs_f64();
        let allowed = budget.most * 100.0;
        match budget.judge(now, budget.spent(calls, samples), own, rate, self.tally.one_in()) {
            Verdict::Fine => {}
            Verdict::Thin(period) => {
                self.session.set_period(period)?;
                self.tally.thin_out(period, monotonic_ns());
            }
            Verdict::Stop => {
                self.session.disable();
                self.tally.drain(&mut self.session, Until::TheEnd);
                self.session.close(self.probes.len());
                self.stopped = Some(now);
                self.notes.push(format!(
                    "counting stopped after {:.1} s: {rate:.0} calls a second would take more than {allowed} % \
                     of all CPUs; allow more with --max-overhead, or count a function that is called less",
                    now.as_secs_f64()
                ));
            }
        }
        Ok(())
    }

    /// Calls of all tasks, as the kernel counted them.
    fn all_calls(&self) -> u64 {
        self.session.hits(self.probes.len()).iter().sum()
    }

    fn flush(&mut self) -> Result<(), CountError> {
        let t = Nanos(i64::try_from(self.last_flush.as_nanos()).unwrap_or(i64::MAX));
        self.last_flush = self.elapsed();
        self.tally.flush(t);
        match &mut self.writer {
            Some(writer) => writer.flush(&mut self.tally.scene.profile)?,
            None => self.tally.scene.profile.samples.clear(),
        }
        Ok(())
    }

    /// Ends counting; with a capture, packs it. A command that still runs is left running.
    pub fn stop(mut self) -> Result<Counted, CountError> {
        let duration = self.stopped.unwrap_or_else(|| self.elapsed());
        self.session.disable();
        self.tally.drain(&mut self.session, Until::TheEnd);
        self.held.ended();
        self.flush()?;
        let hits = self.session.hits(self.probes.len());
        let all: u64 = hits.iter().sum();
        let one_in = self.tally.one_in();
        // Sampled one by one, every call without a sample was lost, whatever records told of it.
        let lost = if one_in == 1 { all.saturating_sub(self.tally.seen) } else { self.tally.lost * one_in };
        if self.options.target == Target::System {
            self.tally.calls = hits;
        }
        self.note_limits(one_in, lost);
        if self.held.running().is_some() {
            self.notes.push("the command still runs; what it calls from now on is not counted".into());
        }
        let overhead = self.cost.map(|cost| {
            let budget = Budget { cost, most: 1.0, cpus: self.cpus };
            let own = thread_cpu().saturating_sub(self.cpu_start).as_secs_f64();
            let spent = budget.spent(all, self.tally.seen / one_in) + own;
            budget.share(spent, duration)
        });
        let mut counted = self.result(duration, lost, overhead);
        if let Some(mut writer) = self.writer.take() {
            writer.set_facts(&self.facts(&counted))?;
            counted.path = Some(writer.finish()?);
        }
        Ok(counted)
    }

    fn note_limits(&mut self, one_in: u64, lost: u64) {
        if one_in > 1 {
            self.notes.push(format!(
                "calls came too fast to look at each: one in {one_in} was sampled with its stack, so shares \
                 are estimates; allow more with --max-overhead"
            ));
        }
        if lost > 0 {
            self.notes.push(format!(
                "{lost} calls are without stack because they came faster than they could be read; figures \
                 by caller leave them out"
            ));
        }
        if self.probes.iter().any(|p| !p.is_kernel()) {
            self.notes.push(
                "callers beyond the direct one are seen only through code built with frame pointers".into(),
            );
        }
    }

    fn result(&mut self, duration: Duration, lost: u64, overhead: Option<f64>) -> Counted {
        let per_from = self.tally.per_from();
        let calls = &self.tally.calls;
        let function = |(probe, calls): (&Probe, &u64)| CountedFunction {
            function: probe.function.clone(),
            module: probe.module.clone(),
            calls: *calls,
        };
        let functions: Vec<_> = self.probes[..per_from].iter().zip(calls).map(function).collect();
        let totals = &self.tally.totals;
        let mut stacks: Vec<_> = totals.iter().map(|(stack, (n, below))| (*stack, *n, below.under)).collect();
        stacks.sort_by_key(|(stack, count, _)| (std::cmp::Reverse(*count), *stack));
        let sum = |wanted: fn(&super::tally::Below) -> bool| -> u64 {
            totals.values().filter(|(_, below)| wanted(below)).map(|(n, _)| n).sum()
        };
        let one_in = self.tally.one_in();
        let per = self.options.per.as_ref().map(|caller| PerCaller {
            caller: caller.clone(),
            caller_calls: calls[per_from..].iter().sum(),
            calls: sum(|below| below.per),
            // One call that is missing would shift all that follow.
            each: if lost == 0 { std::mem::take(&mut self.tally.per_call) } else { Vec::new() },
        });
        let mut counted = Counted {
            calls: functions.iter().map(|f| f.calls).sum(),
            functions,
            profile: Profile::new(),
            under: self.options.under.as_ref().map(|caller| (caller.clone(), sum(|below| below.under))),
            stacks,
            per,
            duration,
            lost,
            one_in,
            call_cost_ns: self.cost.map(|c| if one_in > 1 { c.count_ns } else { c.sample_ns }),
            overhead,
            exit_status: self.held.exit_status(),
            path: None,
            notes: std::mem::take(&mut self.notes),
        };
        counted.profile = std::mem::take(&mut self.tally.scene.profile);
        let nobody = counted.profile.thread(-1, -1, "");
        counted.profile.samples.clear();
        for (stack, count, _) in &counted.stacks {
            let count = u32::try_from(*count).unwrap_or(u32::MAX);
            counted.profile.samples.push_counted(nobody, *stack, Event::Count, count);
        }
        counted
    }

    fn facts(&self, counted: &Counted) -> CaptureFacts {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let functions = counted.functions.iter().map(|f| format!("{}:{}", f.module, f.function));
        let recorder = RecorderFacts {
            event: Some("count".to_owned()),
            count: Some(self.options.function.clone()),
            functions: Some(functions.collect()),
            duration_s: Some(counted.duration.as_secs_f64()),
            samples: Some(self.tally.totals.values().map(|(n, _)| n).sum()),
            calls: Some(counted.calls),
            lost: Some(counted.lost),
            one_in: Some(counted.one_in),
            limits: Some(counted.notes.clone()),
            ..RecorderFacts::default()
        };
        CaptureFacts {
            version: Some(zwhy_capture::FORMAT_VERSION),
            zwhy: Some(env!("CARGO_PKG_VERSION").to_owned()),
            kind: Some(Kind::Count),
            start_unix_s: Some(unix.saturating_sub(self.elapsed()).as_secs_f64()),
            recorder,
            ..zwhy_host::quick().values
        }
    }
}
