//! Where threads wait, for what, and who ends it, as a table apart from CPU time.
//!
//! Invariant: a thread that waits for work is not in the table; nothing waits for it.

use crate::answer::WaitRow;
use crate::facts::FactBase;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use zwhy_profile::{Profile, StackId};
use zwhy_zfs::{WaitsFor, thread_base, waits_for};

/// Where a stack waits, and for what.
struct Place {
    inside: String,
    waits: Option<WaitsFor>,
}

/// Rows by waiting time, longest first. `disks` are those that everybody waits for, in words.
pub(crate) fn waiting(facts: &FactBase<'_>, disks: Option<&str>) -> Vec<WaitRow> {
    let profile = &facts.evidence.profile;
    let mut places: FxHashMap<StackId, Option<Place>> = FxHashMap::default();
    let mut rows: BTreeMap<(String, &str), WaitRow> = BTreeMap::new();
    for wait in &facts.times().waits {
        let place = places.entry(wait.stack).or_insert_with(|| place(profile, wait.stack));
        let Some(Place { inside, waits }) = place else { continue };
        let thread = thread_base(profile.strings.get(profile.threads.get(wait.thread).comm));
        let row = rows.entry((inside.clone(), thread)).or_insert_with(|| {
            let classified = &facts.cpu.classified;
            let stage = classified.stage_of(wait.stack, wait.thread);
            WaitRow {
                inside: inside.clone(),
                waits_for: waits.map_or("", WaitsFor::words).to_owned(),
                on: waits.map_or(String::new(), |waits| who_ends(waits, thread, disks)),
                stage: classified.stage_name(stage).to_owned(),
                thread: thread.to_owned(),
                role: zwhy_zfs::thread_role(thread).map_or("", |r| r.what).to_owned(),
                samples: 0,
                wait_s: 0.0,
            }
        });
        row.samples += wait.samples;
        row.wait_s += wait.ns as f64 / 1e9;
    }
    let mut rows: Vec<WaitRow> = rows.into_values().collect();
    rows.sort_by(|a, b| {
        let time = b.wait_s.total_cmp(&a.wait_s).then(b.samples.cmp(&a.samples));
        time.then_with(|| (&a.inside, &a.thread).cmp(&(&b.inside, &b.thread)))
    });
    rows
}

/// Who ends such a wait, as far as that is the same everywhere: a disk, or a thread of ZFS.
fn who_ends(waits: WaitsFor, thread: &str, disks: Option<&str>) -> String {
    match waits {
        WaitsFor::Txg | WaitsFor::DirtyData if thread != "txg_sync" => "txg_sync".to_owned(),
        WaitsFor::Memory if thread != "arc_evict" => "arc_evict, kswapd".to_owned(),
        waits if waits.is_disk() => disks.unwrap_or_default().to_owned(),
        _ => String::new(),
    }
}

/// The function that waits with its caller; `None` for one that waits for work.
fn place(profile: &Profile, stack: StackId) -> Option<Place> {
    let names: Vec<&str> = profile.stacks.leaf_to_root(stack).map(|f| profile.function_of(f)).collect();
    let waits = waits_for(&names);
    let (inside, idle) = place_of(&names);
    (!idle && waits != Some(WaitsFor::Work)).then_some(Place { inside, waits })
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

    fn placed(root_first: &[&str]) -> Option<(String, &'static str)> {
        let mut profile = Profile::new();
        let frames: Vec<_> = root_first.iter().map(|n| profile.frame(n, "zfs", FrameKind::Kernel)).collect();
        let stack = profile.stack(&frames);
        let Place { inside, waits } = place(&profile, stack)?;
        Some((inside, waits.map_or("", WaitsFor::words)))
    }

    #[test]
    fn who_waits_is_told_from_how_it_sleeps() {
        let sync = ["kthread", "txg_sync_thread", "spa_sync", "zio_wait", "__cv_timedwait_io", "io_schedule"];
        assert_eq!(placed(&sync), Some(("spa_sync > zio_wait".to_owned(), "disk writes")));
        let idle = ["kthread", "txg_sync_thread", "txg_thread_wait", "__cv_wait_idle", "cv_wait_common"];
        assert_eq!(placed(&idle), None);
        // Where the compiler put the function that waits into its caller.
        assert_eq!(placed(&["kthread", "txg_quiesce_thread", "__cv_wait_idle", "schedule"]), None);
        assert_eq!(placed(&["kthread", "taskq_thread", "schedule"]), None);
        assert_eq!(placed(&["kthread", "kcompactd", "schedule_timeout", "schedule"]), None);
        assert_eq!(placed(&["rcu_gp_kthread", "rcu_gp_fqs_loop", "schedule_timeout", "schedule"]), None);
        let arm =
            ["txg_sync_thread", "spa_sync", "zio_wait", "__cv_wait", "schedule", "__schedule", "__switch_to"];
        assert_eq!(placed(&arm), Some(("spa_sync > zio_wait".to_owned(), "disk writes")));
        assert_eq!(placed(&["schedule"]), Some(("schedule".to_owned(), "")));
    }
}
