//! CPU time by call chain: each distinct chain kept once, as addresses, until the next flush names it.
//!
//! Invariant: between two flushes memory grows by 16 bytes a sample and by what is distinct: chains,
//! and threads on CPUs; after a flush only distinct frames, stacks and threads stay.

use super::cpu_events::{Attached, Session};
use super::{Ended, Look, Part, Sampler};
use crate::address::AddressId;
use crate::caveats;
use crate::counted::Counted;
use crate::error::RecordError;
use crate::scene::Scene;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::collections::hash_map::Entry;
use std::hash::Hasher;
use std::time::Duration;
use twox_hash::XxHash3_64;
use zwhy_evidence::{Events, RecorderFacts};
use zwhy_perf::ask::Clock;
use zwhy_perf::attr::Schema;
use zwhy_perf::chain::{self, Space};
use zwhy_perf::record::{self, Record};
use zwhy_perf::{Sample, SideBand};
use zwhy_profile::{Event, Nanos, Sample as Row, StackId, ThreadId};

/// One sample whose chain is not named yet.
struct Pending {
    t: Nanos,
    /// Index of its chain.
    chain: u32,
    /// Index of its [`Where`].
    place: u32,
}

const _: () = assert!(size_of::<Pending>() == 16);

/// What many samples have in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Where {
    thread: ThreadId,
    cpu: i32,
    /// CPU time of a sample, 0 where its period is not nanoseconds.
    weight: u64,
}

/// A distinct call chain since the last flush.
struct Chain {
    /// End of its addresses in the arena; it begins where the one before ends.
    end: usize,
    /// Why it was cut short, if it was.
    broken: Option<&'static str>,
    samples: u64,
}

/// Chains and places of the pending samples.
#[derive(Default)]
struct Distinct {
    chains: Vec<Chain>,
    /// By a hash of the raw chain, its process and the era of that.
    chain_ids: FxHashMap<u64, u32>,
    places: Vec<Where>,
    place_ids: FxHashMap<Where, u32>,
    /// Address chains, leaf first.
    arena: Vec<AddressId>,
}

/// Samples that were taken in and wait for their names.
#[derive(Default)]
struct Waiting {
    samples: Vec<Pending>,
    distinct: Distinct,
}

pub(crate) struct Cpu {
    pub session: Session,
    taken: Taken,
    /// The kernel is left out because that was asked for.
    user_only_asked: bool,
}

/// What came of the samples; apart from the session, whose rings they are read from.
#[derive(Default)]
pub(crate) struct Taken {
    waiting: Waiting,
    /// CPU time of a sample where its period is not nanoseconds.
    tick_ns: u64,
    /// A sample's period is nanoseconds of CPU time.
    weigh: bool,
    samples: u64,
    lost_by_cpu: BTreeMap<u32, u64>,
    throttled: u64,
    /// Samples of what the recorder itself started.
    own_samples: u64,
    dropped: BTreeMap<&'static str, u64>,
}

impl Cpu {
    pub(crate) fn new(session: Session, user_only_asked: bool) -> Cpu {
        let taken = Taken::new(session.sampling.hz, session.sampling.clock == Clock::CpuClock);
        Cpu { session, taken, user_only_asked }
    }
}

impl Taken {
    pub(crate) fn new(hz: u32, weigh: bool) -> Taken {
        Taken { tick_ns: 1_000_000_000 / u64::from(hz.max(1)), weigh, ..Taken::default() }
    }

    /// Takes in one record; records must come in order of time.
    pub(crate) fn record(
        &mut self,
        scene: &mut Scene,
        attached: &Attached,
        time: u64,
        record: &Record<'_>,
        schema: &Schema,
    ) {
        if record.kind == record::SAMPLE {
            if let Some(sample) = Sample::parse(schema, record.view, record.misc, 0) {
                self.sample(scene, attached, &sample);
            }
            return;
        }
        match SideBand::of(record) {
            SideBand::Lost(count) | SideBand::LostSamples(count) => {
                let cpu = u32::try_from(schema.trailer(&record.view).cpu).unwrap_or_default();
                *self.lost_by_cpu.entry(cpu).or_default() += count;
            }
            SideBand::Throttle => self.throttled += 1,
            told => scene.told(time, &told),
        }
    }

    pub(crate) fn sample(&mut self, scene: &mut Scene, attached: &Attached, sample: &Sample<'_>) {
        if !scene.family.counts(sample.pid) {
            return; // of a process that is not asked for, when the whole host had to be sampled
        }
        if scene.own.counts(sample.pid) {
            self.own_samples += 1;
            return; // what `zpool` and `zfs` do for the recorder is not the host's load
        }
        if attached.seen_twice(sample.tid, sample.id) {
            *self.dropped.entry("sampled twice").or_default() += 1;
            return;
        }
        let thread = scene.thread(sample.pid, sample.tid);
        let cpu_time = if self.weigh { sample.period } else { self.tick_ns };
        if let Some(clocks) = &mut scene.clocks {
            clocks.sampled(sample.pid, sample.tid, cpu_time);
        }
        let chain = self.waiting.chain_of(scene, sample);
        self.samples += 1;
        let place = Where { thread, cpu: sample.cpu, weight: if self.weigh { sample.period } else { 0 } };
        let distinct = &mut self.waiting.distinct;
        distinct.chains[chain as usize].samples += 1;
        let next = distinct.places.len() as u32;
        let place = *distinct.place_ids.entry(place).or_insert_with(|| {
            distinct.places.push(place);
            next
        });
        let t = scene.since_start(sample.time);
        self.waiting.samples.push(Pending { t, chain, place });
    }

    pub(crate) fn name(&mut self, scene: &mut Scene) {
        std::mem::take(&mut self.waiting).name(scene);
    }
}

impl Waiting {
    /// The chain of a sample; one that was seen since the last flush is not looked into again.
    fn chain_of(&mut self, scene: &mut Scene, sample: &Sample<'_>) -> u32 {
        let era = scene.processes.era(sample.pid);
        let key = [u64::from(era.0), sample.pid as u64, u64::from(sample.mode)];
        let mut hasher = XxHash3_64::new();
        key.iter().for_each(|word| hasher.write(&word.to_ne_bytes()));
        hasher.write(sample.chain.bytes);
        if sample.chain.is_empty() {
            hasher.write(&sample.ip.to_ne_bytes());
        }
        let next = self.distinct.chains.len() as u32;
        match self.distinct.chain_ids.entry(hasher.finish()) {
            Entry::Occupied(known) => return *known.get(),
            Entry::Vacant(new) => new.insert(next),
        };
        let broken = self.chain(scene, sample);
        self.distinct.chains.push(Chain { end: self.distinct.arena.len(), broken, samples: 0 });
        next
    }

    /// Appends the chain's addresses by the rules of `zwhy_perf::chain`. Returns why it was cut short.
    fn chain(&mut self, scene: &mut Scene, sample: &Sample<'_>) -> Option<&'static str> {
        let Scene { names, processes, .. } = scene;
        let arena = &mut self.distinct.arena;
        let begin = arena.len();
        let (leaf, rest) = chain::leaf(sample);
        for step in std::iter::once(leaf).chain(chain::callers(chain::words(rest), leaf.space)) {
            let id = match step.space {
                Space::User | Space::Unknown => names.user_address(processes, sample.pid, step.at),
                Space::Guest => names.guest(),
                Space::Kernel | Space::Hypervisor => names.kernel_address(step.at),
            };
            if let Some(reason) = names.breaks_chain(id).filter(|_| !step.exact) {
                return Some(reason);
            }
            // Addresses that fold into one nameless frame are shown once in a row.
            if arena.len() == begin || arena.last() != Some(&id) || !names.is_nameless(id) {
                arena.push(id);
            }
        }
        None
    }

    /// Names the chains of all samples and moves them into the profile.
    fn name(self, scene: &mut Scene) {
        let Waiting { samples, distinct: Distinct { chains, places, arena, .. } } = self;
        let Scene { names, processes, profile, .. } = scene;
        names.name_by_image(&arena, processes, profile);
        let mut stacks = Vec::with_capacity(chains.len());
        let mut from = 0;
        for chain in chains {
            let mut stack = StackId::ROOT;
            for id in arena[from..chain.end].iter().rev() {
                let frame = names.frame(*id, chain.samples, processes, profile);
                stack = profile.stacks.child(stack, frame);
                for inlined in names.inlined(*id) {
                    stack = profile.stacks.child(stack, *inlined);
                }
            }
            if let Some(reason) = chain.broken {
                *names.unresolved.entry(reason).or_default() += chain.samples;
            }
            from = chain.end;
            stacks.push(stack);
        }
        profile.samples.reserve(samples.len());
        for sample in samples {
            let Where { thread, cpu, weight } = places[sample.place as usize];
            profile.samples.push(Row {
                t: sample.t,
                cpu,
                thread,
                stack: stacks[sample.chain as usize],
                event: Event::Cpu,
                count: 1,
                weight: Nanos(weight as i64),
            });
        }
    }
}

impl Sampler for Cpu {
    fn due(&self) -> Duration {
        Duration::ZERO
    }

    fn caveats_at_start(&self, scene: &Scene) -> Vec<String> {
        caveats::at_start(&self.session.sampling, self.user_only_asked, scene.names.kernel_named())
    }

    fn start(&mut self) -> Result<(), RecordError> {
        if self.session.sampling.on_exec {
            return Ok(()); // the kernel does, when the command runs its program
        }
        self.session.rings.enable().map_err(RecordError::io("switch sampling on"))
    }

    fn stop(&mut self) {
        self.session.rings.disable();
    }

    fn take(&mut self, scene: &mut Scene, look: Look) {
        if matches!(look.part, Part::Begin | Part::Cut) {
            return;
        }
        let (taken, Session { rings, attached, .. }) = (&mut self.taken, &mut self.session);
        rings.drain(look.until(), |time, record, schema| {
            taken.record(scene, attached, time, &record, schema);
        });
    }

    fn name(&mut self, scene: &mut Scene) {
        self.taken.name(scene);
    }

    fn pending(&self) -> usize {
        self.taken.waiting.samples.len()
    }

    /// What waits holds threads of the profile: call it when nothing does.
    fn progress(&self) -> (u64, u64) {
        (self.taken.samples, self.taken.lost_by_cpu.values().sum())
    }

    fn count(&self, counted: &mut Counted) {
        counted.samples += self.taken.samples;
        // The greater of what records told and what the kernel counted.
        counted.lost_by_cpu.clone_from(&self.taken.lost_by_cpu);
        let by_kernel =
            if self.session.sampling.count_lost { self.session.rings.lost() } else { BTreeMap::new() };
        for (cpu, count) in by_kernel {
            let told = counted.lost_by_cpu.entry(cpu).or_default();
            *told = count.max(*told);
        }
        counted.lost_by_cpu.retain(|_, count| *count > 0);
    }

    fn facts(&self, facts: &mut RecorderFacts, scene: &Scene, end: Option<&Ended<'_>>) {
        let Session { sampling, rings, .. } = &self.session;
        facts.hz = Some(f64::from(sampling.hz));
        facts.event = Some(sampling.clock.name().to_owned());
        facts.user_only = Some(sampling.user_only);
        facts.ring_bytes = Some(rings.all_bytes() as u64);
        facts.events = Some(Events::Opened(rings.events() as u64));
        let Some(end) = end else { return };
        let taken = &self.taken;
        let by_reason = |(reason, count): (&&str, &u64)| ((*reason).to_owned(), *count);
        facts.samples = Some(taken.samples.saturating_sub(end.before.samples));
        facts.lost = Some(end.lost.values().sum());
        facts.lost_by_cpu = Some(end.lost.clone());
        facts.dropped = Some(taken.dropped.iter().map(by_reason).collect());
        facts.unresolved = Some(scene.names.unresolved.iter().map(by_reason).collect());
        facts.throttled = Some(taken.throttled);
        facts.own_samples_excluded = Some(taken.own_samples);
        facts.lines = scene.names.lines().map(|lines| lines.facts());
    }

    fn caveats(&self, scene: &Scene, lost: &BTreeMap<u32, u64>) -> Vec<String> {
        let mut caveats = caveats::of_samples(lost, self.taken.throttled);
        caveats.extend(scene.names.lines().into_iter().flat_map(|lines| lines.limits()));
        caveats
    }
}
