//! Sentences on what a recording cannot show, each with what to do.

use crate::collect::Collector;
use crate::perf::attr::Clock;
use crate::perf::session::Session;
use crate::series::Pollers;

/// What was known to be missing when the recording started.
pub(crate) fn at_start(session: &Session, forced_user_only: bool, kernel_named: bool) -> Vec<String> {
    let mut limits = Vec::new();
    if session.sampling.user_only {
        limits.push(if forced_user_only {
            "the kernel is left out as asked: no kernel stacks, and time in system calls is not counted"
                .to_owned()
        } else {
            "no kernel stacks and no time in the kernel: this user may not see them; run as root, or \
             sysctl kernel.perf_event_paranoid=1"
                .to_owned()
        });
    } else if !kernel_named {
        limits.push(
            "kernel frames have no names: /proc/kallsyms hides its addresses; run as root or sysctl \
             kernel.kptr_restrict=1 and give CAP_SYSLOG"
                .to_owned(),
        );
    }
    if session.sampling.clock == Clock::CpuClock && !session.sampling.user_only {
        limits.push(
            "no hardware counters here: a timer samples instead, and code that runs with interrupts off \
             is charged to where they are turned on again"
                .to_owned(),
        );
    }
    limits
}

/// What went wrong on the way.
pub(crate) fn at_end(collector: &Collector, series: &Pollers, lost: u64) -> Vec<String> {
    let mut limits = Vec::new();
    if lost > 0 {
        limits.push(format!(
            "{lost} samples were lost because the recorder was too slow; lower the rate with -F"
        ));
    }
    if collector.throttled > 0 {
        limits.push(format!(
            "the kernel throttled sampling {} times; lower the rate with -F or raise \
             kernel.perf_cpu_time_max_percent",
            collector.throttled
        ));
    }
    limits.extend(series.limits());
    limits
}
