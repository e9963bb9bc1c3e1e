//! What is asked of the kernel: the `perf_event_attr` of events.
//!
//! Invariant: all events stamp their records with the monotonic clock, samples and others alike.

use crate::attr::has;
use crate::sys;

/// Fields of each sample of CPU time.
const SAMPLE_TYPE: u64 =
    has::IDENTIFIER | has::IP | has::TID | has::TIME | has::CPU | has::PERIOD | has::CALLCHAIN;

/// An event of which nothing is said yet but the fields of its samples, and the clock of its records.
pub fn event_of(sample_type: u64) -> sys::perf_event_attr {
    let mut attr =
        sys::perf_event_attr { size: size_of::<sys::perf_event_attr>() as u32, ..Default::default() };
    attr.sample_type = sample_type;
    attr.set_sample_id_all(1);
    attr.set_use_clockid(1);
    attr.clockid = rustix::time::ClockId::Monotonic as i32;
    attr
}

/// Has an event tell of mappings, names, starts and ends of processes too.
pub fn with_side_band(attr: &mut sys::perf_event_attr) {
    attr.set_mmap(1);
    attr.set_mmap2(1);
    attr.set_comm(1);
    attr.set_comm_exec(1);
    attr.set_task(1);
}

/// What drives the sampling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// CPU cycles counted by the hardware; idle CPUs give no samples.
    Cycles,
    /// A timer of the kernel, for machines without counters; idle CPUs give samples of the idle task.
    CpuClock,
}

impl Clock {
    pub fn name(self) -> &'static str {
        match self {
            Clock::Cycles => "cycles",
            Clock::CpuClock => "cpu-clock",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    pub hz: u32,
    pub clock: Clock,
    /// No kernel samples and no kernel part of call chains.
    pub user_only: bool,
    /// Follow new threads and processes of the attached ones.
    pub inherit: bool,
    /// Start when the attached process calls exec, else when it is enabled.
    pub on_exec: bool,
    /// Ask for the count of lost samples (Linux 6.0 and later).
    pub count_lost: bool,
}

impl Sampling {
    pub fn attr(&self) -> sys::perf_event_attr {
        let mut attr = event_of(SAMPLE_TYPE);
        match self.clock {
            Clock::Cycles => {
                attr.type_ = sys::PERF_TYPE_HARDWARE;
                attr.config = u64::from(sys::PERF_COUNT_HW_CPU_CYCLES);
            }
            Clock::CpuClock => {
                attr.type_ = sys::PERF_TYPE_SOFTWARE;
                attr.config = u64::from(sys::PERF_COUNT_SW_CPU_CLOCK);
            }
        }
        attr.__bindgen_anon_1.sample_freq = u64::from(self.hz);
        attr.set_freq(1);
        attr.set_disabled(1);
        attr.set_inherit(u64::from(self.inherit));
        attr.set_enable_on_exec(u64::from(self.on_exec));
        attr.set_exclude_kernel(u64::from(self.user_only));
        attr.set_exclude_callchain_kernel(u64::from(self.user_only));
        attr.set_exclude_hv(1);
        with_side_band(&mut attr);
        if self.count_lost {
            attr.read_format = u64::from(sys::PERF_FORMAT_LOST);
        }
        attr
    }
}
