//! The first pass over a file: everything but the samples themselves.

use super::features::Features;
use super::gap::{Gap, Why};
use super::kernel_names::{KernelCode, KernelMap};
use super::known::ImageKey;
use super::spaces::Change;
use super::user_names::UserNames;
use super::walk::Item;
use crate::periods::Periods;
use std::collections::{BTreeMap, BTreeSet};
use zwhy_perf::attr::Schema;
use zwhy_perf::chain::Space;
use zwhy_perf::record::{self, Record};
use zwhy_perf::{Identity, Mmap, NewMapping, SideBand};
use zwhy_profile::{Event, StringTable};

/// What the second pass and the report need to know.
#[derive(Default)]
pub struct Survey {
    pub changes: Vec<(u64, Change)>,
    pub kernel_maps: Vec<KernelMap>,
    pub kernel_code: Vec<KernelCode>,
    pub user: UserNames,
    pub features: Features,
    pub samples: u64,
    pub samples_by_event: Vec<u64>,
    periods_by_event: Vec<Periods>,
    pub first: u64,
    pub last: u64,
    /// Records that hold no samples and were passed over, by type.
    pub skipped: BTreeMap<&'static str, u64>,
    pub aux_bytes: u64,
    pub lost: Lost,
    /// Processes that are called as perf is.
    perfs: BTreeSet<i32>,
    /// A sample is of the idle task: whole CPUs were recorded.
    idle: bool,
    /// Time of the latest record, for records that carry none.
    now: u64,
}

/// What is known to be missing.
#[derive(Clone, Debug, Default)]
pub struct Lost {
    /// Counted by the kernel when a ring buffer was full (LOST).
    pub by_kernel: u64,
    /// Counted by event (LOST_SAMPLES).
    pub by_event: u64,
    pub gaps: u64,
    pub cut_bytes: u64,
    pub damaged_bytes: u64,
    pub compressed_bytes: u64,
    pub beyond_limit_bytes: u64,
    pub first_gap: Option<u64>,
}

impl Lost {
    pub fn bytes(&self) -> u64 {
        self.cut_bytes + self.damaged_bytes + self.compressed_bytes + self.beyond_limit_bytes
    }
}

impl Survey {
    pub fn new(user: UserNames, features: Features) -> Survey {
        Survey { user, features, first: u64::MAX, ..Survey::default() }
    }

    pub fn take(&mut self, schema: &Schema, strings: &mut StringTable, item: Item<'_>) {
        match item {
            Item::Sample(sample) => {
                self.samples += 1;
                let event = sample.event as usize;
                if self.samples_by_event.len() <= event {
                    self.samples_by_event.resize(event + 1, 0);
                    self.periods_by_event.resize(event + 1, Periods::default());
                }
                self.samples_by_event[event] += 1;
                self.periods_by_event[event].add(sample.period);
                self.first = self.first.min(sample.time);
                self.last = self.last.max(sample.time);
                self.now = self.now.max(sample.time);
                self.idle |= sample.tid == 0;
            }
            Item::Record(r) => self.record(schema, strings, &r),
            Item::Gap(gap) => self.gap(&gap),
        }
    }

    fn record(&mut self, schema: &Schema, strings: &mut StringTable, r: &Record<'_>) {
        let time = schema.time_of_other(&r.view).unwrap_or(self.now);
        let view = &r.view;
        match SideBand::of(r) {
            SideBand::Mmap(map) => self.mapping(time, &map),
            SideBand::Comm { pid, tid, exec, comm } => {
                if is_perf(comm) {
                    self.perfs.insert(pid);
                }
                let comm = strings.intern(&String::from_utf8_lossy(comm));
                self.changes.push((time, Change::Comm { pid, tid, comm, exec }));
            }
            SideBand::Fork { pid, ppid: parent, tid, ptid: parent_tid } => {
                // Kernels with sample_id_all off still have the time in the record itself.
                let with_trailer = schema.attrs.first().is_some_and(|a| a.sample_id_all);
                let time = if with_trailer { time } else { view.u64(24).unwrap_or(time) };
                self.changes.push((time, Change::Fork { pid, parent, tid, parent_tid }));
            }
            SideBand::Lost(count) => self.lost.by_kernel = self.lost.by_kernel.saturating_add(count),
            SideBand::LostSamples(count) => self.lost.by_event = self.lost.by_event.saturating_add(count),
            SideBand::Exit { .. } | SideBand::Throttle => {}
            SideBand::SwitchedIn | SideBand::Other => self.other(r),
        }
    }

    /// Records that only files have, and those that hold nothing of use.
    fn other(&mut self, r: &Record<'_>) {
        let view = &r.view;
        match r.kind {
            record::KSYMBOL => {
                const UNREGISTER: u16 = 1;
                if let (Some(start), Some(len), Some(flags)) = (view.u64(8), view.u32(16), view.u16(22))
                    && flags & UNREGISTER == 0
                {
                    let name = String::from_utf8_lossy(view.c_bytes(24)).into_owned();
                    let end = start.saturating_add(u64::from(len));
                    self.kernel_code.push(KernelCode { start, end, name });
                }
            }
            record::FEATURE => {
                if let Some(feature) = view.u64(8) {
                    self.features.take(feature, view.from(16));
                }
            }
            record::BUILD_ID => self.features.build_id(*view),
            kind => {
                if kind == record::AUXTRACE {
                    self.aux_bytes = self.aux_bytes.saturating_add(view.u64(8).unwrap_or(0));
                }
                if !record::is_housekeeping(kind) {
                    *self.skipped.entry(record::name(kind)).or_default() += 1;
                }
            }
        }
    }

    fn mapping(&mut self, time: u64, map: &Mmap<'_>) {
        let Mmap { pid, start, len, offset, .. } = *map;
        let space = Space::of_mode(map.mode);
        if space == Space::Kernel || (pid == -1 && space != Space::Guest) {
            let name = String::from_utf8_lossy(map.path);
            self.kernel_maps.push(KernelMap::new(start, len, offset, &name));
            return;
        }
        // Of guests nothing is named, and no code is in mappings that cannot be executed.
        if space == Space::Guest || map.data {
            return;
        }
        let mut key = ImageKey { path: map.path.to_vec(), build_id: None, inode: None };
        match map.identity {
            Identity::BuildId(id) => key.build_id = Some(id.to_vec()),
            Identity::Inode(inode) => key.inode = Some(inode),
            Identity::Unknown => {}
        }
        let image = self.user.image(key);
        self.changes.push((time, Change::Map { pid, map: NewMapping { start, len, offset, image } }));
    }

    fn gap(&mut self, gap: &Gap) {
        let lost = &mut self.lost;
        lost.gaps += u64::from(!gap.continues);
        let bytes = match gap.why {
            Why::Cut => &mut lost.cut_bytes,
            Why::Damaged => &mut lost.damaged_bytes,
            Why::Compression => &mut lost.compressed_bytes,
            Why::Limit => &mut lost.beyond_limit_bytes,
        };
        *bytes = bytes.saturating_add(gap.bytes);
        lost.first_gap.get_or_insert(gap.at);
    }

    /// The process that recorded, where that is certain: all CPUs were recorded, and one process alone was
    /// called `perf`. At its start perf names every process that runs, itself too.
    pub fn recorder(&self) -> Option<i32> {
        let mut perfs = self.perfs.iter();
        perfs.next().copied().filter(|pid| perfs.next().is_none() && self.idle && *pid > 0)
    }

    /// Periods of the samples of one event.
    pub fn periods(&self, event: usize) -> Periods {
        self.periods_by_event.get(event).copied().unwrap_or_default()
    }

    /// What the samples of each event count as.
    ///
    /// Events that are spread over CPU time are CPU samples. Where there are none, the first event
    /// with samples takes their place, so that its profile can be seen; all others are counts.
    pub fn events(&self, schema: &Schema) -> Vec<Event> {
        let sampled = |i: usize| self.samples_by_event.get(i).is_some_and(|n| *n > 0);
        let any_cpu = schema.attrs.iter().enumerate().any(|(i, a)| sampled(i) && a.is_cpu_time());
        let stand_in = if any_cpu { None } else { (0..schema.attrs.len()).find(|i| sampled(*i)) };
        let of = |(i, attr): (usize, &zwhy_perf::attr::Attr)| {
            if attr.is_cpu_time() || stand_in == Some(i) { Event::Cpu } else { Event::Count }
        };
        schema.attrs.iter().enumerate().map(of).collect()
    }
}

/// `perf`, or with the kernel's version as distributions have it: `perf_6.1`, `perf-5.15`.
fn is_perf(comm: &[u8]) -> bool {
    match comm.strip_prefix(b"perf") {
        Some([]) => true,
        Some([b'_' | b'-', digit, ..]) => digit.is_ascii_digit(),
        _ => false,
    }
}
