//! The tracepoint `sched:sched_switch`: its layout in tracefs, its perf event, its records.
//!
//! Facts: offsets of fields differ between kernels and are read from the `format` file; the bits of
//! `prev_state` are those of `__trace_sched_switch_state` (include/trace/events/sched.h, Linux 4.14
//! and later). Coming back to a CPU is read from `PERF_RECORD_SWITCH_CPU_WIDE`, not from `next_pid`:
//! the tracepoint was seen to stay silent for the idle task of a CPU (Linux 6.18, `perf record` too),
//! which hides the ends of sleeps; and both records have thread ids of the recorder's pid namespace.

use crate::error::RecordError;
use rustix::fd::OwnedFd;
use std::fs;
use std::path::Path;
use zwhy_perf::ask::event_of;
use zwhy_perf::attr::{Attr, Schema, has};
use zwhy_perf::open::set_filter;
use zwhy_perf::record::{self, Record};
use zwhy_perf::{Sample, SideBand, sys};

/// Where tracefs is mounted: its own place, and the older one below debugfs.
const TRACEFS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
/// Why a thread left its CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Why {
    /// It could have gone on: another thread was given the CPU.
    Preempted,
    /// It sleeps and a signal may wake it, or it is idle as kernel threads are.
    Sleeping,
    /// It sleeps until what it waits for is there (state D).
    Uninterruptible,
    /// Stopped by a signal or a debugger.
    Stopped,
}

impl Why {
    /// `None` for a thread that has ended.
    fn of_state(bits: u64) -> Option<Why> {
        match bits {
            _ if bits & 0x30 != 0 => None,
            _ if bits & 0x02 != 0 => Some(Why::Uninterruptible),
            _ if bits & 0x81 != 0 => Some(Why::Sleeping),
            _ if bits & 0x0c != 0 => Some(Why::Stopped),
            _ => Some(Why::Preempted),
        }
    }

    /// The root frame of its stacks.
    pub(super) fn frame(self) -> &'static str {
        match self {
            Why::Preempted => "[preempted]",
            Why::Sleeping => "[sleeping]",
            Why::Uninterruptible => "[uninterruptible]",
            Why::Stopped => "[stopped]",
        }
    }
}

/// Where the fields are in the raw data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    id: u64,
    /// Offset and size.
    prev_state: (usize, usize),
}

impl Layout {
    /// # Errors
    /// When tracefs is not mounted, may not be read, or has another form.
    pub(super) fn read() -> Result<Layout, RecordError> {
        let refused = |found: String, remedy: &str| RecordError::Permission {
            target: "context switches (--off-cpu)".to_owned(),
            found,
            remedy: remedy.to_owned(),
        };
        let mut found = "tracefs is not mounted".to_owned();
        for root in TRACEFS {
            let format = Path::new(root).join("events/sched/sched_switch/format");
            match fs::read_to_string(&format) {
                Ok(text) => {
                    let odd = || refused(format!("{} has an unknown form", format.display()), "use --wait");
                    return Layout::parse(&text).ok_or_else(odd);
                }
                Err(e) if e.kind() == std::io::ErrorKind::PermissionDenied => {
                    found = format!("{} may not be read", format.display());
                }
                Err(_) => {}
            }
        }
        Err(refused(found, "as root: mount -t tracefs tracefs /sys/kernel/tracing; or use --wait"))
    }

    fn parse(text: &str) -> Option<Layout> {
        let id = text.lines().find_map(|l| l.strip_prefix("ID:"))?.trim().parse().ok()?;
        let field = |name: &str| -> Option<(usize, usize)> {
            let line = text.lines().find(|l| {
                let declared = l.trim().strip_prefix("field:").and_then(|l| l.split(';').next());
                declared.and_then(|d| d.split_whitespace().last()) == Some(name)
            })?;
            let number = |key: &str| -> Option<usize> {
                line.split(';').find_map(|part| part.trim().strip_prefix(key))?.parse().ok()
            };
            Some((number("offset:")?, number("size:")?))
        };
        let prev_state = field("prev_state")?;
        matches!(prev_state.1, 4 | 8).then_some(Layout { id, prev_state })
    }

    /// Its event is readable when the ring, of so many bytes, is half full.
    pub(super) fn attr(&self, ring_bytes: usize) -> sys::perf_event_attr {
        let mut attr = event_of(has::TID | has::TIME | has::CPU | has::CALLCHAIN | has::RAW);
        attr.type_ = sys::PERF_TYPE_TRACEPOINT;
        attr.config = self.id;
        attr.set_watermark(1);
        attr.__bindgen_anon_2.wakeup_watermark = u32::try_from(ring_bytes / 2).unwrap_or(u32::MAX);
        attr.__bindgen_anon_1.sample_period = 1;
        attr.set_exclude_callchain_user(1);
        attr.set_context_switch(1);
        attr
    }

    /// Has the kernel write nothing when the idle task leaves a CPU, which is not a wait: on a host with
    /// little to do that is every other switch. A kernel that refuses writes more, and no less.
    pub(super) fn leave_idle_out(&self, event: &OwnedFd) {
        let _ = set_filter(event, c"prev_pid != 0");
    }

    /// How its records are laid out.
    pub(super) fn schema(&self) -> Schema {
        Schema::of_one(Attr::of(&self.attr(0)))
    }

    /// What a record tells; `None` for what is neither a switch nor a loss.
    pub(super) fn switch<'a>(&self, time: u64, record: &Record<'a>, schema: &Schema) -> Option<Switch<'a>> {
        let what = match record.kind {
            record::SAMPLE => {
                let sample = Sample::parse(schema, record.view, record.misc, 0)?;
                let raw = sample.raw(schema.attrs.first()?)?;
                let state = match self.prev_state {
                    (at, 4) => u64::from(raw.u32(at)?),
                    (at, _) => raw.u64(at)?,
                };
                let (pid, tid, chain) = (sample.pid, sample.tid, sample.chain.bytes);
                What::Left { pid, tid, why: Why::of_state(state), chain }
            }
            _ => match SideBand::of(record) {
                SideBand::SwitchedIn => What::Came { tid: schema.trailer(&record.view).tid },
                SideBand::Lost(count) => What::Lost(count),
                _ => return None,
            },
        };
        Some(Switch { time, what })
    }
}

/// One record and when it was written, in nanoseconds of the monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Switch<'a> {
    pub time: u64,
    pub what: What<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What<'a> {
    /// A thread came to a CPU.
    Came { tid: i32 },
    /// A thread left its CPU.
    Left {
        pid: i32,
        tid: i32,
        /// `None`: it has ended.
        why: Option<Why>,
        /// Kernel addresses of the thread that left, leaf first, with the kernel's context marks.
        chain: &'a [u8],
    },
    /// So many records found no room.
    Lost(u64),
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: &str = "name: sched_switch\nID: 372\nformat:\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
        \tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
        \tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n\
        \tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n\
        \tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n\nprint fmt: \"x\"\n";

    #[test]
    fn a_switch_is_read_by_the_format_of_the_kernel_and_a_cut_one_is_not() {
        let layout = Layout::parse(FORMAT).unwrap();
        assert_eq!(layout, Layout { id: 372, prev_state: (32, 8) });
        let mut raw = [0u8; 68];
        raw[32..40].copy_from_slice(&2u64.to_ne_bytes());
        let mut bytes = sys::PERF_RECORD_SAMPLE.to_ne_bytes().to_vec();
        let chain = 0xaau64.to_ne_bytes();
        bytes.extend([0, 0]);
        bytes.extend((8 + 40 + 4 + raw.len() as u16).to_ne_bytes());
        bytes.extend([11i32.to_ne_bytes(), 12i32.to_ne_bytes()].concat());
        bytes.extend([99u64.to_ne_bytes(), 1u64.to_ne_bytes(), 1u64.to_ne_bytes(), chain].concat());
        bytes.extend((raw.len() as u32).to_ne_bytes());
        bytes.extend(raw);
        let what = What::Left { pid: 11, tid: 12, why: Some(Why::Uninterruptible), chain: &chain };
        let schema = layout.schema();
        let read = |bytes| layout.switch(99, &Record::first(bytes)?, &schema);
        assert_eq!(read(&bytes), Some(Switch { time: 99, what }));
        assert!((0..bytes.len()).all(|cut| read(&bytes[..cut]).is_none()));
        let came = |misc: u32| {
            let mut bytes = sys::PERF_RECORD_SWITCH_CPU_WIDE.to_ne_bytes().to_vec();
            bytes.extend((misc as u16).to_ne_bytes());
            bytes.extend(40u16.to_ne_bytes());
            bytes.extend([7i32, 8, 11, 12].map(i32::to_ne_bytes).concat());
            bytes.extend([99u64, 1].map(u64::to_ne_bytes).concat());
            bytes
        };
        let what = What::Came { tid: 12 };
        let (back, away) = (came(0), came(sys::PERF_RECORD_MISC_SWITCH_OUT));
        assert_eq!(read(&back), Some(Switch { time: 99, what }));
        assert_eq!(read(&away), None);
    }

    #[test]
    fn states_are_told_apart() {
        let of = |bits| Why::of_state(bits);
        assert_eq!([of(0), of(0x100)], [Some(Why::Preempted); 2]);
        assert_eq!([of(1), of(0x80)], [Some(Why::Sleeping); 2]);
        assert_eq!((of(4), of(0x10), of(0x20)), (Some(Why::Stopped), None, None));
    }
}
