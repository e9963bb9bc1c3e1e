//! Functions that put a thread to sleep for others (`knowledge/threads/sleep.toml`): who called them says why it waits.

use crate::data::{is_listed, table};
use serde::Deserialize;
use std::sync::LazyLock;

/// Functions by name; a star at the end stands for any ending.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table<'a> {
    #[serde(borrow)]
    sleep: Vec<&'a str>,
    switch: Vec<&'a str>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| table(include_str!("../threads/sleep.toml")));

/// Whether a thread in this function sleeps.
pub fn puts_to_sleep(function: &str) -> bool {
    is_listed(function, &TABLE.sleep)
}

/// Whether a function only leads away from the CPU, asleep or not: its caller is what the thread was about.
pub fn leaves_the_cpu(function: &str) -> bool {
    puts_to_sleep(function) || is_listed(function, &TABLE.switch)
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
