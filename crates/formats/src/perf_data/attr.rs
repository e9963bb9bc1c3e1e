//! perf_event_attr: what one event samples, and where the fields of its samples are.

use super::bytes::View;
use rustc_hash::FxHashMap;

/// `sample_type` bits (linux/perf_event.h).
pub mod has {
    pub const IP: u64 = 1 << 0;
    pub const TID: u64 = 1 << 1;
    pub const TIME: u64 = 1 << 2;
    pub const ADDR: u64 = 1 << 3;
    pub const READ: u64 = 1 << 4;
    pub const CALLCHAIN: u64 = 1 << 5;
    pub const ID: u64 = 1 << 6;
    pub const CPU: u64 = 1 << 7;
    pub const PERIOD: u64 = 1 << 8;
    pub const STREAM_ID: u64 = 1 << 9;
    pub const RAW: u64 = 1 << 10;
    pub const BRANCH_STACK: u64 = 1 << 11;
    pub const REGS_USER: u64 = 1 << 12;
    pub const STACK_USER: u64 = 1 << 13;
    pub const IDENTIFIER: u64 = 1 << 16;
}

pub mod read {
    pub const ENABLED: u64 = 1 << 0;
    pub const RUNNING: u64 = 1 << 1;
    pub const ID: u64 = 1 << 2;
    pub const GROUP: u64 = 1 << 3;
    pub const LOST: u64 = 1 << 4;
}

const FLAG_FREQ: u64 = 1 << 10;
const FLAG_SAMPLE_ID_ALL: u64 = 1 << 18;
const FLAG_EXCLUDE_USER: u64 = 1 << 4;
const FLAG_EXCLUDE_KERNEL: u64 = 1 << 5;

/// Size of the first published perf_event_attr; no smaller one exists.
pub const LEAST_ATTR: usize = 64;

#[derive(Clone, Debug)]
pub struct Attr {
    pub kind: u32,
    pub config: u64,
    /// Samples a second if `frequency`, else events a sample.
    pub rate: u64,
    pub frequency: bool,
    pub sample_type: u64,
    pub read_format: u64,
    pub sample_id_all: bool,
    pub exclude_user: bool,
    pub exclude_kernel: bool,
    pub branch_type: u64,
    pub regs_user: u64,
    pub fields: Fields,
    /// As the recorder named it; empty where the file does not say.
    pub name: String,
}

/// Offsets of the fixed fields from the start of a sample record; 0 where a field is absent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fields {
    pub id: usize,
    pub ip: usize,
    pub tid: usize,
    pub time: usize,
    pub cpu: usize,
    pub period: usize,
    /// Where the fields of variable size begin.
    pub end: usize,
}

impl Fields {
    fn of(sample_type: u64) -> Fields {
        let mut at = super::record::HEADER;
        let mut next = |bit: u64| {
            if sample_type & bit == 0 {
                return 0;
            }
            at += 8;
            at - 8
        };
        let identifier = next(has::IDENTIFIER);
        let ip = next(has::IP);
        let tid = next(has::TID);
        let time = next(has::TIME);
        next(has::ADDR);
        let id = next(has::ID);
        next(has::STREAM_ID);
        let cpu = next(has::CPU);
        let period = next(has::PERIOD);
        Fields { id: if identifier > 0 { identifier } else { id }, ip, tid, time, cpu, period, end: at }
    }
}

impl Attr {
    /// Reads an attr from the start of `view`, which may be longer or shorter than this version's.
    pub fn parse(view: View<'_>) -> Option<Attr> {
        if view.len() < LEAST_ATTR {
            return None;
        }
        let flags = view.bit_field(40)?;
        let sample_type = view.u64(24)?;
        Some(Attr {
            kind: view.u32(0)?,
            config: view.u64(8)?,
            rate: view.u64(16)?,
            frequency: flags & FLAG_FREQ != 0,
            sample_type,
            read_format: view.u64(32)?,
            sample_id_all: flags & FLAG_SAMPLE_ID_ALL != 0,
            exclude_user: flags & FLAG_EXCLUDE_USER != 0,
            exclude_kernel: flags & FLAG_EXCLUDE_KERNEL != 0,
            branch_type: view.u64(72).unwrap_or(0),
            regs_user: view.u64(80).unwrap_or(0),
            fields: Fields::of(sample_type),
            name: String::new(),
        })
    }

    /// The recorder's name, or one by type and number.
    pub fn title(&self) -> String {
        if !self.name.is_empty() {
            return self.name.clone();
        }
        const SOFTWARE: [&str; 12] = [
            "cpu-clock",
            "task-clock",
            "page-faults",
            "context-switches",
            "cpu-migrations",
            "minor-faults",
            "major-faults",
            "alignment-faults",
            "emulation-faults",
            "dummy",
            "bpf-output",
            "cgroup-switches",
        ];
        const HARDWARE: [&str; 10] = [
            "cycles",
            "instructions",
            "cache-references",
            "cache-misses",
            "branches",
            "branch-misses",
            "bus-cycles",
            "stalled-cycles-frontend",
            "stalled-cycles-backend",
            "ref-cycles",
        ];
        let names: &[&str] = match self.kind {
            0 => &HARDWARE,
            1 => &SOFTWARE,
            _ => &[],
        };
        // The upper half of a hardware event's config names the PMU of a hybrid CPU.
        let number = if self.kind == 0 { self.config & 0xffff_ffff } else { self.config };
        let known = usize::try_from(number).ok().and_then(|n| names.get(n));
        known.map_or_else(|| format!("event {}:{:#x}", self.kind, self.config), |n| (*n).to_owned())
    }

    /// Its period is in nanoseconds of CPU time.
    pub fn is_clock(&self) -> bool {
        self.kind == 1 && self.config <= 1
    }

    /// Its samples are spread evenly over CPU time.
    pub fn is_cpu_time(&self) -> bool {
        let title = self.title();
        self.is_clock()
            || (self.kind == 0 && matches!(self.config & 0xffff_ffff, 0 | 9))
            || (self.kind >= 4 && title.contains("cycles") && !title.contains("stall"))
    }
}

/// All events of a file and whose samples carry which id.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    pub attrs: Vec<Attr>,
    pub ids: FxHashMap<u64, u32>,
}

impl Schema {
    pub fn add(&mut self, attr: Attr, ids: impl Iterator<Item = u64>) {
        let index = self.attrs.len() as u32;
        self.attrs.push(attr);
        self.ids.extend(ids.map(|id| (id, index)));
    }

    /// The event of a sample record. An id that no event has falls to the first event, as perf does.
    #[inline]
    pub fn of_sample(&self, view: &View<'_>) -> Option<(u32, &Attr)> {
        let first = self.attrs.first()?;
        if self.attrs.len() == 1 || first.fields.id == 0 {
            return Some((0, first));
        }
        // perf puts the id at one place in all events of a file, else they could not be told apart.
        let index = view.u64(first.fields.id).and_then(|id| self.ids.get(&id)).copied().unwrap_or(0);
        Some((index, self.attrs.get(index as usize)?))
    }

    /// Time of a record that is no sample, from its trailer (`sample_id_all`).
    pub fn time_of_other(&self, view: &View<'_>) -> Option<u64> {
        let first = self.attrs.first()?;
        if !first.sample_id_all {
            return None;
        }
        let mut attr = first;
        if self.attrs.len() > 1 && first.sample_type & has::IDENTIFIER != 0 {
            let id = view.u64(view.len().checked_sub(8)?)?;
            attr = self.ids.get(&id).and_then(|i| self.attrs.get(*i as usize)).unwrap_or(first);
        }
        if attr.sample_type & has::TIME == 0 {
            return None;
        }
        // Fields of the trailer after the time, in order, 8 bytes each.
        let after = [has::ID, has::STREAM_ID, has::CPU, has::IDENTIFIER];
        let back = 8 * (1 + after.iter().filter(|bit| attr.sample_type & **bit != 0).count());
        view.u64(view.len().checked_sub(back)?)
    }
}
