//! Sentences on what a recording cannot show, each with what to do.

use std::collections::BTreeMap;
use zwhy_perf::ask::{Clock, Sampling};

/// What was known to be missing when the recording started.
pub(crate) fn at_start(sampling: &Sampling, forced_user_only: bool, kernel_named: bool) -> Vec<String> {
    let mut caveats = Vec::new();
    if sampling.user_only {
        caveats.push(if forced_user_only {
            "the kernel is left out as asked: no kernel stacks, and time in system calls is not counted"
                .to_owned()
        } else {
            "no kernel stacks and no time in the kernel: this user may not see them; run as root, or \
             sysctl kernel.perf_event_paranoid=1"
                .to_owned()
        });
    } else if !kernel_named {
        caveats.push(
            "kernel frames have no names: /proc/kallsyms hides its addresses; run as root or sysctl \
             kernel.kptr_restrict=1 and give CAP_SYSLOG"
                .to_owned(),
        );
    }
    if sampling.clock == Clock::CpuClock && !sampling.user_only {
        caveats.push(
            "no hardware counters here: a timer samples instead, and code that runs with interrupts off \
             is charged to where they are turned on again"
                .to_owned(),
        );
    }
    caveats
}

/// What went wrong on the way.
pub(crate) fn of_samples(lost: &BTreeMap<u32, u64>, throttled: u64) -> Vec<String> {
    let mut caveats = Vec::new();
    let all: u64 = lost.values().sum();
    if all > 0 {
        caveats.push(format!(
            "{all} samples were lost ({}) because the recorder was too slow; lower the rate with -F",
            by_cpu(lost)
        ));
    }
    if throttled > 0 {
        caveats.push(format!(
            "the kernel throttled sampling {} times; lower the rate with -F or raise \
             kernel.perf_cpu_time_max_percent",
            throttled
        ));
    }
    caveats
}

/// Most CPUs named in a sentence.
const CPUS_NAMED: usize = 4;

/// `CPU 3: 120, CPU 0: 4`, most first.
fn by_cpu(lost: &BTreeMap<u32, u64>) -> String {
    let mut rows: Vec<(u32, u64)> = lost.iter().map(|(cpu, n)| (*cpu, *n)).collect();
    rows.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut text: Vec<String> =
        rows.iter().take(CPUS_NAMED).map(|(cpu, n)| format!("CPU {cpu}: {n}")).collect();
    if rows.len() > CPUS_NAMED {
        let rest: u64 = rows[CPUS_NAMED..].iter().map(|(_, n)| n).sum();
        text.push(format!("{} more CPUs: {rest}", rows.len() - CPUS_NAMED));
    }
    text.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_told_by_cpu_most_first() {
        let lost = BTreeMap::from([(0, 4), (1, 9), (2, 1), (3, 1), (4, 1), (5, 2)]);
        assert_eq!(by_cpu(&lost), "CPU 1: 9, CPU 0: 4, CPU 5: 2, CPU 2: 1, 2 more CPUs: 2");
    }
}
