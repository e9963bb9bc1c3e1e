//! perf_event_attr: what one event samples, and where the fields of its samples are.

use crate::bytes::View;
use crate::record;
#[cfg(unix)]
use crate::sys;
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

#[derive(Clone, Debug, Default)]
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
        let mut at = record::HEADER;
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

    /// What was asked of the kernel.
    #[cfg(unix)]
    pub fn of(asked: &sys::perf_event_attr) -> Attr {
        Attr {
            kind: asked.type_,
            config: asked.config,
            frequency: asked.freq() != 0,
            read_format: asked.read_format,
            sample_id_all: asked.sample_id_all() != 0,
            exclude_user: asked.exclude_user() != 0,
            exclude_kernel: asked.exclude_kernel() != 0,
            branch_type: asked.branch_sample_type,
            regs_user: asked.sample_regs_user,
            ..Attr::of_sample_type(asked.sample_type)
        }
    }

    /// An event whose samples have these fields, and whose other records end with them.
    pub fn of_sample_type(sample_type: u64) -> Attr {
        let fields = Fields::of(sample_type);
        Attr { sample_type, sample_id_all: true, fields, ..Attr::default() }
    }

    /// The recorder's name, or one by type and number.
    pub fn title(&self) -> String {
        if !self.name.is_empty() {
            return self.name.clone();
        }
        const HARDWARE: &str = "cycles instructions cache-references cache-misses branches branch-misses \
            bus-cycles stalled-cycles-frontend stalled-cycles-backend ref-cycles";
        const SOFTWARE: &str = "cpu-clock task-clock page-faults context-switches cpu-migrations minor-faults \
            major-faults alignment-faults emulation-faults dummy bpf-output cgroup-switches";
        let names = [HARDWARE, SOFTWARE].get(self.kind as usize).copied().unwrap_or_default();
        // The upper half of a hardware event's config names the PMU of a hybrid CPU.
        let number = if self.kind == 0 { self.config & 0xffff_ffff } else { self.config };
        let known = usize::try_from(number).ok().and_then(|n| names.split_whitespace().nth(n));
        known.map_or_else(|| format!("event {}:{:#x}", self.kind, self.config), str::to_owned)
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

/// All events of a file or a session, and whose samples carry which id.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    pub attrs: Vec<Attr>,
    pub ids: FxHashMap<u64, u32>,
}

/// What the kernel writes behind every record that is no sample (`sample_id_all`); -1 and `None` where it
/// was not asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trailer {
    pub tid: i32,
    pub time: Option<u64>,
    pub cpu: i32,
}

impl Schema {
    /// Of a session whose events are all alike.
    pub fn of_one(attr: Attr) -> Schema {
        Schema { attrs: vec![attr], ids: FxHashMap::default() }
    }

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

    /// Time of a sample record.
    #[inline]
    pub fn time_of_sample(&self, view: &View<'_>) -> Option<u64> {
        let (_, attr) = self.of_sample(view)?;
        if attr.fields.time == 0 { None } else { view.u64(attr.fields.time) }
    }

    /// The event that wrote a record that is no sample, if its trailer tells of anything.
    fn of_other(&self, view: &View<'_>) -> Option<&Attr> {
        let first = self.attrs.first().filter(|attr| attr.sample_id_all)?;
        let mut attr = first;
        if self.attrs.len() > 1 && first.sample_type & has::IDENTIFIER != 0 {
            let id = view.u64(view.len().checked_sub(8)?)?;
            attr = self.ids.get(&id).and_then(|i| self.attrs.get(*i as usize)).unwrap_or(first);
        }
        Some(attr)
    }

    /// Time of a record that is no sample, from its trailer.
    pub fn time_of_other(&self, view: &View<'_>) -> Option<u64> {
        view.u64(place_in_trailer(self.of_other(view)?, view, has::TIME)?)
    }

    /// Thread, time and CPU of a record that is no sample.
    pub fn trailer(&self, view: &View<'_>) -> Trailer {
        let attr = self.of_other(view);
        let place = |bit: u64| place_in_trailer(attr?, view, bit);
        Trailer {
            tid: place(has::TID).and_then(|at| view.i32(at + 4)).unwrap_or(-1),
            time: place(has::TIME).and_then(|at| view.u64(at)),
            cpu: place(has::CPU).and_then(|at| view.i32(at)).unwrap_or(-1),
        }
    }
}

/// Where a field of the trailer is, counted from the end of the record: fields have 8 bytes each.
fn place_in_trailer(attr: &Attr, view: &View<'_>, field: u64) -> Option<usize> {
    const FIELDS: [u64; 6] = [has::TID, has::TIME, has::ID, has::STREAM_ID, has::CPU, has::IDENTIFIER];
    let from = FIELDS.iter().position(|bit| *bit == field)?;
    let fields = FIELDS[from..].iter().filter(|bit| attr.sample_type & **bit != 0).count();
    (attr.sample_type & field != 0).then(|| view.len().checked_sub(8 * fields)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Order;

    #[test]
    fn a_trailer_is_read_from_its_end() {
        let bytes: Vec<u8> = [7u64, 5 << 32 | 4, 99, 11, 3, 12].map(u64::to_le_bytes).concat();
        let view = View::new(&bytes, Order::Little);
        let schema = |bits| Schema::of_one(Attr::of_sample_type(bits));
        let all = has::TID | has::TIME | has::ID | has::CPU | has::IDENTIFIER;
        assert_eq!(schema(all).trailer(&view), Trailer { tid: 5, time: Some(99), cpu: 3 });
        assert_eq!(schema(has::IP).trailer(&view), Trailer { tid: -1, time: None, cpu: -1 });
        assert_eq!(schema(has::TIME).time_of_other(&view), Some(12));
        let cut = View::new(&bytes[..16], Order::Little);
        assert_eq!(schema(all).trailer(&cut), Trailer { tid: -1, time: None, cpu: 7 });
    }
}
