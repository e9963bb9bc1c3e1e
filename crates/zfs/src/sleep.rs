//! Functions that put a thread to sleep for others: who called them says why it waits.
//!
//! Linux `kernel/sched`, OpenZFS `module/os/linux/spl/spl-condvar.c`, and FreeBSD `kern/kern_synch.c`,
//! `kern/kern_condvar.c`, illumos `disp/disp.c`.

/// By their whole name.
const NAMES: [&str; 7] =
    ["_switch", "schedule", "__schedule", "io_schedule", "prepare_to_wait", "_sleep", "pause_sbt"];

/// By how their names begin: each comes in several forms.
const BEGINS: [&str; 20] = [
    "__switch_to",
    "schedule_",
    "io_schedule_",
    "prepare_to_wait_",
    "do_nanosleep",
    "hrtimer_nanosleep",
    "wait_for_completion",
    "__wait_for_common",
    "bit_wait",
    "wait_on_bit",
    "__wait_on_bit",
    "out_of_line_wait_on_bit",
    "cv_wait",
    "cv_timedwait",
    "cv_reltimedwait",
    "__cv_wait",
    "__cv_timedwait",
    "_cv_wait",
    "_cv_timedwait",
    "sleepq_",
];

/// The switch to another thread, which a thread also makes that is only made to pause.
const SWITCHES: [&str; 6] =
    ["mi_switch", "sched_switch", "preempt_schedule", "__preempt_schedule", "critical_exit", "swtch"];

/// Whether a thread in this function sleeps.
pub fn puts_to_sleep(function: &str) -> bool {
    NAMES.contains(&function) || BEGINS.iter().any(|begin| function.starts_with(begin))
}

/// Whether a function only leads away from the CPU, asleep or not: its caller is what the thread was about.
pub fn leaves_the_cpu(function: &str) -> bool {
    puts_to_sleep(function) || SWITCHES.iter().any(|begin| function.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_wakes_others_or_only_pauses_does_not_sleep() {
        for name in [
            "schedule",
            "schedule_timeout",
            "__cv_timedwait_io",
            "_cv_wait",
            "sleepq_wait",
            "__switch_to_asm",
        ] {
            assert!(puts_to_sleep(name), "{name}");
        }
        for name in ["scheduler_tick", "__cv_broadcast", "cv_signal", "preempt_schedule_common", "zio_wait"] {
            assert!(!puts_to_sleep(name), "{name}");
        }
        assert!(
            leaves_the_cpu("preempt_schedule_common")
                && leaves_the_cpu("mi_switch")
                && leaves_the_cpu("swtch")
        );
        assert!(!leaves_the_cpu("scheduler_tick") && !leaves_the_cpu("zio_wait"));
    }
}
