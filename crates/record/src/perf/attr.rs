//! What is asked of the kernel: one `perf_event_attr` for all events of a recording.
//!
//! Invariant: the sample layout chosen here is the one that `record` reads.

use perf_event_open_sys::bindings as sys;

/// Fields of each sample, in the order of `perf_event_open(2)`: identifier, ip, tid, time, cpu,
/// period, call chain.
pub(crate) const SAMPLE_TYPE: u64 = (sys::PERF_SAMPLE_IDENTIFIER
    | sys::PERF_SAMPLE_IP
    | sys::PERF_SAMPLE_TID
    | sys::PERF_SAMPLE_TIME
    | sys::PERF_SAMPLE_CPU
    | sys::PERF_SAMPLE_PERIOD
    | sys::PERF_SAMPLE_CALLCHAIN) as u64;

/// What drives the sampling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// CPU cycles counted by the hardware; idle CPUs give no samples.
    Cycles,
    /// A timer of the kernel, for machines without counters; idle CPUs give samples of the idle task.
    CpuClock,
}

impl Clock {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Clock::Cycles => "cycles",
            Clock::CpuClock => "cpu-clock",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Sampling {
    pub hz: u32,
    pub clock: Clock,
    /// No kernel samples and no kernel part of call chains.
    pub user_only: bool,
    /// Follow new threads and processes of the attached ones.
    pub inherit: bool,
    /// Start when the attached process calls exec, else on [`super::session::Session::enable`].
    pub on_exec: bool,
    /// Ask for the count of lost samples (Linux 6.0 and later).
    pub count_lost: bool,
}

impl Sampling {
    pub(crate) fn attr(&self) -> sys::perf_event_attr {
        let mut attr =
            sys::perf_event_attr { size: size_of::<sys::perf_event_attr>() as u32, ..Default::default() };
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
        attr.sample_type = SAMPLE_TYPE;
        attr.__bindgen_anon_1.sample_freq = u64::from(self.hz);
        attr.set_freq(1);
        attr.set_disabled(1);
        attr.set_inherit(u64::from(self.inherit));
        attr.set_enable_on_exec(u64::from(self.on_exec));
        attr.set_exclude_kernel(u64::from(self.user_only));
        attr.set_exclude_callchain_kernel(u64::from(self.user_only));
        attr.set_exclude_hv(1);
        attr.set_mmap(1);
        attr.set_mmap2(1);
        attr.set_comm(1);
        attr.set_comm_exec(1);
        attr.set_task(1);
        attr.set_sample_id_all(1);
        attr.set_use_clockid(1);
        attr.clockid = rustix::time::ClockId::Monotonic as i32;
        if self.count_lost {
            attr.read_format = u64::from(sys::PERF_FORMAT_LOST);
        }
        attr
    }
}
