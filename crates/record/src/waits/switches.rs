//! The tracepoint `sched:sched_switch`: its layout in tracefs, its perf event, its records.
//!
//! Facts: offsets of fields differ between kernels and are read from the `format` file; the bits of
//! `prev_state` are those of `__trace_sched_switch_state` (include/trace/events/sched.h, Linux 4.14
//! and later). Coming back to a CPU is read from `PERF_RECORD_SWITCH_CPU_WIDE`, not from `next_pid`:
//! the tracepoint was seen to stay silent for the idle task of a CPU (Linux 6.18, `perf record` too),
//! which hides the ends of sleeps; and both records have thread ids of the recorder's pid namespace.
//! Invariant: reading never goes past a record's own size.

use crate::error::RecordError;
use crate::perf::open::set_filter;
use crate::perf::record::record_len;
use perf_event_open_sys::bindings as sys;
use rustix::fd::OwnedFd;
use std::fs;
use std::path::Path;

/// Where tracefs is mounted: its own place, and the older one below debugfs.
const TRACEFS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
/// Fields of each sample, in the order of `perf_event_open(2)`: tid, time, cpu, call chain, raw.
const SAMPLE_TYPE: u64 = (sys::PERF_SAMPLE_TID
    | sys::PERF_SAMPLE_TIME
    | sys::PERF_SAMPLE_CPU
    | sys::PERF_SAMPLE_CALLCHAIN
    | sys::PERF_SAMPLE_RAW) as u64;

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
        let mut attr =
            sys::perf_event_attr { size: size_of::<sys::perf_event_attr>() as u32, ..Default::default() };
        attr.type_ = sys::PERF_TYPE_TRACEPOINT;
        attr.config = self.id;
        attr.sample_type = SAMPLE_TYPE;
        attr.set_watermark(1);
        attr.__bindgen_anon_2.wakeup_watermark = u32::try_from(ring_bytes / 2).unwrap_or(u32::MAX);
        attr.__bindgen_anon_1.sample_period = 1;
        attr.set_exclude_callchain_user(1);
        attr.set_context_switch(1);
        attr.set_sample_id_all(1);
        attr.set_use_clockid(1);
        attr.clockid = rustix::time::ClockId::Monotonic as i32;
        attr
    }

    /// Has the kernel write nothing when the idle task leaves a CPU, which is not a wait: on a host with
    /// little to do that is every other switch. A kernel that refuses writes more, and no less.
    pub(super) fn leave_idle_out(&self, event: &OwnedFd) {
        let _ = set_filter(event, c"prev_pid != 0");
    }

    /// Reads one whole record; `None` for what is neither a switch nor a loss.
    pub(super) fn record<'a>(&self, record: &'a [u8]) -> Option<Switch<'a>> {
        record_len(record)?;
        let kind = u32::from_ne_bytes(record.get(..4)?.try_into().ok()?);
        let misc = u32::from(u16::from_ne_bytes(record.get(4..6)?.try_into().ok()?));
        let body = record.get(8..)?;
        let word = |at: usize| -> Option<u64> {
            Some(u64::from_ne_bytes(body.get(at..at.checked_add(8)?)?.try_into().ok()?))
        };
        match kind {
            // Identifier and count, then tid, time and cpu as behind every record.
            sys::PERF_RECORD_LOST => Some(Switch { time: word(24)?, what: What::Lost(word(8)?) }),
            // The thread on the other side, then tid, time and cpu of the one that comes.
            sys::PERF_RECORD_SWITCH_CPU_WIDE if misc & sys::PERF_RECORD_MISC_SWITCH_OUT == 0 => {
                let tid = (word(8)? >> 32) as u32 as i32;
                Some(Switch { time: word(16)?, what: What::Came { tid } })
            }
            sys::PERF_RECORD_SAMPLE => {
                let chain_end = 32usize.checked_add(usize::try_from(word(24)?).ok()?.checked_mul(8)?)?;
                let chain = body.get(32..chain_end)?;
                let raw = body.get(chain_end.checked_add(4)?..)?;
                let half = |bytes: &[u8], at: usize| -> Option<i32> {
                    Some(i32::from_ne_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
                };
                let state = match self.prev_state {
                    (at, 4) => u64::from(half(raw, at)? as u32),
                    (at, _) => u64::from_ne_bytes(raw.get(at..at.checked_add(8)?)?.try_into().ok()?),
                };
                Some(Switch {
                    time: word(8)?,
                    what: What::Left {
                        pid: half(body, 0)?,
                        tid: half(body, 4)?,
                        why: Why::of_state(state),
                        chain,
                    },
                })
            }
            _ => None,
        }
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
        assert_eq!(layout.record(&bytes), Some(Switch { time: 99, what }));
        assert!((0..bytes.len()).all(|cut| layout.record(&bytes[..cut]).is_none()));
        let came = |misc: u32| {
            let mut bytes = sys::PERF_RECORD_SWITCH_CPU_WIDE.to_ne_bytes().to_vec();
            bytes.extend((misc as u16).to_ne_bytes());
            bytes.extend(40u16.to_ne_bytes());
            bytes.extend([7i32, 8, 11, 12].map(i32::to_ne_bytes).concat());
            bytes.extend([99u64, 1].map(u64::to_ne_bytes).concat());
            bytes
        };
        let what = What::Came { tid: 12 };
        assert_eq!(layout.record(&came(0)), Some(Switch { time: 99, what }));
        assert_eq!(layout.record(&came(sys::PERF_RECORD_MISC_SWITCH_OUT)), None);
    }

    #[test]
    fn states_are_told_apart() {
        let of = |bits| Why::of_state(bits);
        assert_eq!([of(0), of(0x100)], [Some(Why::Preempted); 2]);
        assert_eq!([of(1), of(0x80)], [Some(Why::Sleeping); 2]);
        assert_eq!((of(4), of(0x10), of(0x20)), (Some(Why::Stopped), None, None));
    }
}
