//! From samples to counts by caller stack, in order of time, while the probes run.
//!
//! Invariant: memory grows with distinct stacks of threads, not with calls.

use super::pattern::Pattern;
use super::probe::Probe;
use super::session::Session;
use crate::address::AddressId;
use crate::naming::Names;
use crate::processes::Processes;
use crate::scene::Scene;
use rustc_hash::FxHashMap;
use zwhy_perf::attr::Schema;
use zwhy_perf::chain::{self, FIRST_MARK, Space};
use zwhy_perf::record::{self, Record};
use zwhy_perf::{Family, Sample, SideBand, Until};
use zwhy_profile::{Event, FrameId, Nanos, Sample as Row, StackId, ThreadId};

/// Calls of the related caller that are looked at one by one.
const MOST_CALLS: usize = 65_536;

/// What a stack holds besides the function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Below {
    pub under: bool,
    pub per: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Fresh {
    count: u64,
    below: Below,
}

pub(super) struct Tally {
    pub scene: Scene,
    frames: Vec<FrameId>,
    in_kernel: Vec<bool>,
    /// Whether the kernel puts the direct caller into user chains: since 6.12 it does for functions
    /// that begin with a push or an endbr (`is_uprobe_at_func_entry` in arch/x86/events/core.c).
    gives_caller: Vec<bool>,
    /// Index of the first probe of the function that calls are related to.
    per_from: usize,
    under: Option<Pattern>,
    per: Option<Pattern>,
    /// Thread, probe, then addresses from the direct caller to the root.
    fresh: FxHashMap<Box<[u32]>, Fresh>,
    scratch: Vec<u32>,
    chain: Vec<u64>,
    matches: FxHashMap<AddressId, Below>,
    /// Calls by stack, whose leaf is the function, since the start.
    pub totals: FxHashMap<StackId, (u64, Below)>,
    /// Wanted calls by probe.
    pub calls: Vec<u64>,
    /// Samples of all tasks, each one call in `one_in`.
    pub seen: u64,
    pub lost: u64,
    /// One sample stands for so many calls, from this time on.
    one_in: (u64, u64),
    /// Calls below each call of the related function, in order of time.
    pub per_call: Vec<u32>,
    open_call: FxHashMap<i32, usize>,
}

impl Tally {
    /// Probes from `per_from` on are those of the related function.
    pub(super) fn new(
        probes: &[Probe],
        per_from: usize,
        under: Option<Pattern>,
        per: Option<Pattern>,
        family: Family,
    ) -> Tally {
        let names = Names::new(probes.iter().any(Probe::is_kernel));
        let mut scene = Scene::new(names, Processes::default(), None, family);
        Tally {
            frames: probes.iter().map(|p| scene.profile.frame(&p.function, &p.module, p.kind())).collect(),
            in_kernel: probes.iter().map(Probe::is_kernel).collect(),
            gives_caller: vec![true; probes.len()],
            scene,
            per_from,
            under,
            per,
            fresh: FxHashMap::default(),
            scratch: Vec::new(),
            chain: Vec::new(),
            matches: FxHashMap::default(),
            totals: FxHashMap::default(),
            calls: vec![0; probes.len()],
            seen: 0,
            lost: 0,
            one_in: (1, 0),
            per_call: Vec::new(),
            open_call: FxHashMap::default(),
        }
    }

    pub(super) fn one_in(&self) -> u64 {
        self.one_in.0
    }

    pub(super) fn per_from(&self) -> usize {
        self.per_from
    }

    /// Distinct stacks since the last flush.
    pub(super) fn pending(&self) -> usize {
        self.fresh.len()
    }

    /// From `now_ns` on a sample stands for `period` calls; single calls cannot be told apart any more.
    pub(super) fn thin_out(&mut self, period: u64, now_ns: u64) {
        self.one_in = (period, now_ns);
        self.per_call.clear();
        self.open_call.clear();
    }

    /// Takes in what the rings hold, in order of time.
    pub(super) fn drain(&mut self, session: &mut Session, until: Until) {
        session.drain(until, |time, record, schema, probes| self.record(time, &record, schema, probes));
    }

    fn record(&mut self, time: u64, record: &Record<'_>, schema: &Schema, probes: &FxHashMap<u64, usize>) {
        if record.kind != record::SAMPLE {
            match SideBand::of(record) {
                SideBand::Lost(count) | SideBand::LostSamples(count) => self.lost += count,
                told => self.scene.told(time, &told),
            }
            return;
        }
        let Some(sample) = Sample::parse(schema, record.view, record.misc, 0) else { return };
        if let Some(probe) = probes.get(&sample.id) {
            // The return address of the function, where the architecture keeps it on the stack.
            let attr = schema.attrs.get(sample.event as usize);
            let caller = attr.and_then(|attr| sample.user_stack(attr)?.u64(0));
            self.sample(&sample, *probe, caller);
        }
    }

    fn sample(&mut self, sample: &Sample<'_>, probe: usize, caller: Option<u64>) {
        let stands_for = if sample.time >= self.one_in.1 { self.one_in.0 } else { 1 };
        self.seen += stands_for;
        if !self.scene.family.counts(sample.pid) {
            return;
        }
        self.calls[probe] += stands_for;
        if probe >= self.per_from {
            self.begin_call(sample.tid);
            return;
        }
        let thread = self.scene.thread(sample.pid, sample.tid);
        self.read_chain(sample, probe, thread, caller);
        let known = self.fresh.get_mut(self.scratch.as_slice()).map(|fresh| {
            fresh.count += stands_for;
            fresh.below
        });
        let below = known.unwrap_or_else(|| {
            let below = self.below();
            self.fresh.insert(self.scratch.as_slice().into(), Fresh { count: stands_for, below });
            below
        });
        if below.per
            && let Some(call) = self.open_call.get(&sample.tid).and_then(|at| self.per_call.get_mut(*at))
        {
            *call = call.saturating_add(1);
        }
    }

    fn begin_call(&mut self, tid: i32) {
        if self.one_in.0 == 1 && self.per_call.len() < MOST_CALLS {
            self.open_call.insert(tid, self.per_call.len());
            self.per_call.push(0);
        } else {
            self.open_call.remove(&tid);
        }
    }

    /// Puts thread, probe and callers into `scratch`, by the rules of `zwhy_perf::chain`; the first address is
    /// the function itself.
    fn read_chain(&mut self, sample: &Sample<'_>, probe: usize, thread: ThreadId, caller: Option<u64>) {
        self.scratch.clear();
        self.scratch.extend([thread.0, probe as u32]);
        let mut words = std::mem::take(&mut self.chain);
        words.clear();
        words.extend(sample.words());
        let own = words.iter().position(|word| *word < FIRST_MARK).unwrap_or(words.len());
        if let (false, Some(caller)) = (self.in_kernel[probe], caller) {
            self.gives_caller[probe] &= words.get(own + 1) == Some(&caller);
            if !self.gives_caller[probe] {
                words.insert((own + 1).min(words.len()), caller);
            }
        }
        let Scene { names, processes, .. } = &mut self.scene;
        let begin = if self.in_kernel[probe] { Space::Kernel } else { Space::User };
        for step in chain::steps(words.iter().copied(), begin).skip(1) {
            let id = match step.space {
                Space::User | Space::Unknown => names.user_address(processes, sample.pid, step.at),
                Space::Guest => names.guest(),
                Space::Kernel | Space::Hypervisor => names.kernel_address(step.at),
            };
            if let Some(reason) = names.breaks_chain(id).filter(|_| !step.exact) {
                *names.unresolved.entry(reason).or_default() += 1;
                break;
            }
            let twice = self.scratch.len() > 2 && self.scratch.last() == Some(&id.0);
            if !twice || !names.is_nameless(id) {
                self.scratch.push(id.0);
            }
        }
        self.chain = words;
    }

    /// What is among the callers in `scratch`.
    fn below(&mut self) -> Below {
        let mut below = Below::default();
        if self.under.is_none() && self.per.is_none() {
            return below;
        }
        for at in 2..self.scratch.len() {
            let id = AddressId(self.scratch[at]);
            let found = self.matches.get(&id).copied().unwrap_or_else(|| {
                let Scene { names, processes, profile, .. } = &mut self.scene;
                let frame = names.frame(id, 1, processes, profile);
                let name = profile.function_of(frame);
                let is = |p: &Option<Pattern>| p.as_ref().is_some_and(|p| p.matches_frame(name));
                let found = Below { under: is(&self.under), per: is(&self.per) };
                self.matches.insert(id, found);
                found
            });
            below.under |= found.under;
            below.per |= found.per;
        }
        below
    }

    /// Names what was counted since the last call, and leaves it as samples of the profile that begin
    /// at `t`.
    pub(super) fn flush(&mut self, t: Nanos) {
        let Scene { names, processes, profile, .. } = &mut self.scene;
        let callers = self.fresh.keys().flat_map(|key| key[2..].iter().map(|id| AddressId(*id)));
        names.name_by_image(&callers.collect::<Vec<_>>(), processes, profile);
        for (key, fresh) in std::mem::take(&mut self.fresh) {
            let mut stack = StackId::ROOT;
            for id in key[2..].iter().rev() {
                let frame = names.frame(AddressId(*id), 1, processes, profile);
                stack = profile.stacks.child(stack, frame);
            }
            stack = profile.stacks.child(stack, self.frames[key[1] as usize]);
            let total = self.totals.entry(stack).or_default();
            total.0 += fresh.count;
            total.1 = fresh.below;
            profile.samples.push(Row {
                t,
                cpu: -1,
                thread: ThreadId(key[0]),
                stack,
                event: Event::Count,
                count: u32::try_from(fresh.count).unwrap_or(u32::MAX),
                weight: Nanos(0),
            });
        }
        processes.flushed();
    }
}
