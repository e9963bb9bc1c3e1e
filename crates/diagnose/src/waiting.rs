//! Where threads wait, as a table apart from CPU time.
//!
//! Invariant: a thread that only waits for work is idle and said so; its time is never shown as a
//! delay of anything.

use crate::answer::WaitRow;
use crate::facts::FactBase;
use std::collections::BTreeMap;
use zwhy_profile::{Event, Profile, StackId, Unit};
use zwhy_zfs::thread_base;

/// Rows by waiting time, longest first; what is idle comes last.
pub(crate) fn waiting(facts: &FactBase<'_>) -> Vec<WaitRow> {
    let profile = &facts.evidence.profile;
    let timed = matches!(profile.measure(Event::Wait).unit, Unit::Samples | Unit::Nanos);
    let mut rows: BTreeMap<(bool, String, &str), WaitRow> = BTreeMap::new();
    for sample in profile.samples.iter().filter(|s| s.event == Event::Wait) {
        let (inside, idle) = place(profile, sample.stack);
        let thread = thread_base(profile.strings.get(profile.threads.get(sample.thread).comm));
        let row = rows.entry((idle, inside.clone(), thread)).or_insert_with(|| {
            let classified = &facts.cpu.classified;
            let stage = classified.stage_of(sample.stack, sample.thread);
            WaitRow {
                inside,
                stage: classified.stage_name(stage).to_owned(),
                thread: thread.to_owned(),
                role: zwhy_zfs::thread_role(thread).map_or("", |r| r.what).to_owned(),
                samples: 0,
                wait_s: 0.0,
                idle,
            }
        });
        row.samples += u64::from(sample.count);
        row.wait_s += if timed { sample.weight.0 as f64 / 1e9 } else { 0.0 };
    }
    let mut rows: Vec<WaitRow> = rows.into_values().collect();
    rows.sort_by(|a, b| {
        let time = b.wait_s.total_cmp(&a.wait_s).then(b.samples.cmp(&a.samples));
        a.idle.cmp(&b.idle).then(time).then_with(|| (&a.inside, &a.thread).cmp(&(&b.inside, &b.thread)))
    });
    rows
}

/// The function that waits with its caller, and whether it waits for work.
fn place(profile: &Profile, stack: StackId) -> (String, bool) {
    let names: Vec<&str> = profile.stacks.leaf_to_root(stack).map(|f| profile.function_of(f)).collect();
    place_of(&names)
}

/// Whether a function only puts the thread to sleep, or has no name.
pub(crate) fn sleeps(name: &str) -> bool {
    name.starts_with('[') || zwhy_zfs::leaves_the_cpu(name)
}

/// The same of names, innermost first.
pub(crate) fn place_of(names: &[&str]) -> (String, bool) {
    let mut waiters = names.iter().filter(|name| !sleeps(name));
    match (waiters.next(), waiters.next()) {
        (Some(waiter), _) if zwhy_zfs::waits_for_work(waiter) => ((*waiter).to_owned(), true),
        (Some(waiter), Some(caller)) => (format!("{caller} > {waiter}"), false),
        (Some(waiter), None) => ((*waiter).to_owned(), false),
        _ => (names.first().map_or("(no stack)", |n| n).to_owned(), false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zwhy_profile::FrameKind;

    fn placed(root_first: &[&str]) -> (String, bool) {
        let mut profile = Profile::new();
        let frames: Vec<_> = root_first.iter().map(|n| profile.frame(n, "zfs", FrameKind::Kernel)).collect();
        let stack = profile.stack(&frames);
        place(&profile, stack)
    }

    #[test]
    fn who_waits_is_told_from_how_it_sleeps() {
        let sync = ["kthread", "txg_sync_thread", "spa_sync", "zio_wait", "__cv_timedwait_io", "io_schedule"];
        assert_eq!(placed(&sync), ("spa_sync > zio_wait".to_owned(), false));
        let idle = ["kthread", "txg_sync_thread", "txg_thread_wait", "__cv_wait_idle", "cv_wait_common"];
        assert_eq!(placed(&idle), ("txg_thread_wait".to_owned(), true));
        assert_eq!(placed(&["kthread", "taskq_thread", "schedule"]), ("taskq_thread".to_owned(), true));
        let arm =
            ["txg_sync_thread", "spa_sync", "zio_wait", "__cv_wait", "schedule", "__schedule", "__switch_to"];
        assert_eq!(placed(&arm), ("spa_sync > zio_wait".to_owned(), false));
        assert_eq!(placed(&["schedule"]), ("schedule".to_owned(), false));
    }
}
