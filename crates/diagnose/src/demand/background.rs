//! Work of pools in the background, from what `zpool status` and the pool's properties said when recording began, and
//! from the queues of their disks.

use super::BackgroundWork;
use crate::bottleneck::{Bottleneck, ProgramTime};
use crate::facts::FactBase;
use zwhy_evidence::VdevLoad;
use zwhy_zfs::{Vdev, VdevWork, WaitsFor};

/// Part of what the disks work on, from which work that nobody told of is worth a line, and from which it can be felt.
const WORTH_A_LINE: f64 = 0.02;
const FELT: f64 = 0.1;
/// Part of its time that a program waits for disks, from which it is slowed by other work on them.
const WAITS: f64 = 0.1;
/// Reports of which a mean says something.
const FEWEST: usize = 2;
/// Queues of a disk, as names of `zwhy_zfs::IOSTAT_NAMES` begin.
const QUEUES: [&str; 7] =
    ["syncq_read", "syncq_write", "asyncq_read", "asyncq_write", "scrubq", "trimq", "rebuildq"];

/// Scans, trims and the like that are under way, and space that is being freed.
pub(super) fn background(facts: &FactBase<'_>, limit: Option<&Bottleneck>) -> Vec<BackgroundWork> {
    let loads = facts.vdev_loads();
    let mut rows = told(facts);
    rows.extend(seen(&rows, loads));
    for row in &mut rows {
        row.disk_share = queue_of(&row.work).and_then(|queue| share(loads, &row.pool, queue));
        if row.disk_share.is_some_and(|share| share >= FELT) {
            row.slows = slowed(limit, &row.pool);
        }
    }
    rows
}

/// What `zpool status` and `zpool get` told.
fn told(facts: &FactBase<'_>) -> Vec<BackgroundWork> {
    let mut rows = Vec::new();
    for pool in facts.evidence.facts.pools.iter().flatten() {
        let name = pool.name.clone().unwrap_or_default();
        let moves = pool.moves.iter().flatten().map(String::as_str);
        rows.extend(pool.scan.as_deref().into_iter().chain(moves).filter_map(|text| under_way(text, &name)));
        let vdevs = pool.vdevs.as_deref().unwrap_or_default();
        rows.extend(of_disks("trim", vdevs, |vdev| vdev.trim, &name));
        rows.extend(of_disks("initialize", vdevs, |vdev| vdev.initialize, &name));
        let freeing = pool.properties.as_ref().and_then(|p| p.get("freeing")?.parse::<f64>().ok());
        if let Some(bytes) = freeing.filter(|bytes| *bytes > 0.0) {
            let (work, left_bytes) = ("freeing of destroyed data".to_owned(), Some(bytes));
            rows.push(BackgroundWork { work, pool: name, left_bytes, ..BackgroundWork::default() });
        }
    }
    rows
}

/// `scrub in progress, 12.3 % done, 00:10:00 to go`, or as `zpool status` prints it.
fn under_way(scan: &str, pool: &str) -> Option<BackgroundWork> {
    let (work, rest) = scan.split_once(" in progress")?;
    let before =
        |mark: &str| rest.split_once(mark).map(|(before, _)| before.trim_end().trim_end_matches('%'));
    let last_word = |text: &str| text.trim_end().rsplit([' ', ',']).next().map(str::to_owned);
    let done = before("done").and_then(last_word).and_then(|n| n.parse::<f64>().ok());
    Some(BackgroundWork {
        work: work.trim().to_owned(),
        pool: pool.to_owned(),
        done: done.filter(|n| n.is_finite()).map(|percent| (percent / 100.0).clamp(0.0, 1.0)),
        left_s: before("to go").and_then(|text| seconds(text.rsplit(',').next()?)),
        ..BackgroundWork::default()
    })
}

/// Work that each disk does by itself: all of it is done when the last disk is.
fn of_disks(
    work: &str,
    vdevs: &[Vdev],
    of: impl Fn(&Vdev) -> Option<VdevWork>,
    pool: &str,
) -> Option<BackgroundWork> {
    let mut found = Vec::new();
    let mut rest: Vec<&Vdev> = vdevs.iter().collect();
    while let Some(vdev) = rest.pop() {
        found.extend(of(vdev));
        rest.extend(&vdev.children);
    }
    let done: f64 = found.iter().map(|work| work.done_pct as f64 / 100.0).sum();
    let left = found.iter().map(|work| work.left_s).collect::<Option<Vec<u64>>>();
    (!found.is_empty()).then(|| BackgroundWork {
        work: work.to_owned(),
        pool: pool.to_owned(),
        done: Some((done / found.len() as f64).clamp(0.0, 1.0)),
        left_s: left.and_then(|left| left.into_iter().max()).map(|seconds| seconds as f64),
        ..BackgroundWork::default()
    })
}

/// What stands in the queues although nobody told of it: autotrim, and what began later.
fn seen(told: &[BackgroundWork], loads: &[VdevLoad]) -> Vec<BackgroundWork> {
    let pools = loads.iter().filter(|load| load.disk.is_empty());
    let works = [("trimq", "trim"), ("scrubq", "scrub or resilver"), ("rebuildq", "rebuild")];
    let row = |pool: &str, queue: &str, work: &str| {
        let known = |row: &BackgroundWork| row.pool == pool && queue_of(&row.work) == Some(queue);
        let share = share(loads, pool, queue).filter(|share| *share >= WORTH_A_LINE);
        (share.is_some() && !told.iter().any(known)).then(|| BackgroundWork {
            work: work.to_owned(),
            pool: pool.to_owned(),
            ..BackgroundWork::default()
        })
    };
    pools.flat_map(|pool| works.iter().filter_map(|(queue, work)| row(&pool.pool, queue, work))).collect()
}

/// The queue in which a kind of work stands; initialising and freeing have none that is told.
fn queue_of(work: &str) -> Option<&'static str> {
    match work {
        "trim" => Some("trimq"),
        "scrub" | "resilver" | "scrub or resilver" => Some("scrubq"),
        "rebuild" => Some("rebuildq"),
        _ => None,
    }
}

/// Of the requests that the disks of a pool worked on, those of one queue.
fn share(loads: &[VdevLoad], pool: &str, queue: &str) -> Option<f64> {
    let disks = loads.iter().filter(|load| load.pool == pool && !load.disk.is_empty());
    let active = |load: &VdevLoad, queue: &str| load.mean(&format!("{queue}_active"));
    let (mut own, mut all) = (0.0, 0.0);
    for load in disks.filter(|load| load.reports >= FEWEST) {
        own += active(load, queue);
        all += QUEUES.iter().map(|queue| active(load, queue)).sum::<f64>();
    }
    (all > 0.0).then(|| own / all)
}

/// Programs that wait for disks of the pool.
fn slowed(limit: Option<&Bottleneck>, pool: &str) -> Vec<String> {
    const OF_DISKS: [WaitsFor; 5] =
        [WaitsFor::Read, WaitsFor::Write, WaitsFor::Disk, WaitsFor::IntentLog, WaitsFor::Txg];
    let Some(limit) = limit else { return Vec::new() };
    // Whose disk a program waits for is only known where one pool is busy.
    if limit.disks.iter().any(|disk| disk.pool.as_deref().is_some_and(|of| of != pool) && disk.busy >= FELT) {
        return Vec::new();
    }
    let waits = |program: &&ProgramTime| {
        let of_disks = program.waits.iter().filter(|p| OF_DISKS.iter().any(|w| w.words() == p.waits_for));
        of_disks.map(|part| part.share).sum::<f64>() >= WAITS
    };
    limit.programs.iter().filter(waits).map(|program| program.program.clone()).collect()
}

/// `90 s`, `25 min`, `3 h`, `4 days`.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.0} h", s / 3600.0),
        s => format!("{:.0} days", s / 86_400.0),
    }
}

/// `00:01:42`, `2 days 03:00:00`, `10h30m`.
fn seconds(text: &str) -> Option<f64> {
    let (days, clock) = match text.trim().split_once(" days ") {
        Some((days, clock)) => (days.trim().parse::<f64>().ok()?, clock),
        None => (0.0, text.trim()),
    };
    let parts = clock.trim_end_matches('m').split([':', 'h']).map(|n| n.parse::<f64>().ok());
    let parts: Vec<f64> = parts.collect::<Option<_>>()?;
    let of_day = match parts.as_slice() {
        [hours, minutes] => hours * 3600.0 + minutes * 60.0,
        [hours, minutes, seconds] => hours * 3600.0 + minutes * 60.0 + seconds,
        _ => return None,
    };
    Some(days * 86_400.0 + of_day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_a_scan_is_read_from_all_forms() {
        let text = "scrub in progress since Sun Nov 22 14:00:00 2026 1.00G / 2.00G scanned at 10.0M/s, 512M / 2.00G \
                    issued at 5.00M/s 0B repaired, 25.00% done, 00:05:07 to go";
        for (scan, work, done, left) in [
            (text, "scrub", Some(0.25), Some(307.0)),
            (
                "resilver in progress, 12.5 % done, 2 days 01:00:00 to go",
                "resilver",
                Some(0.125),
                Some(176_400.0),
            ),
            (
                "resilver in progress since x 1.2G scanned out of 3G at 9M/s, 10h30m to go",
                "resilver",
                None,
                Some(37_800.0),
            ),
            ("scrub in progress, 3.0 % done", "scrub", Some(0.03), None),
            (
                "expansion of raidz1-0 in progress since x 1.0G / 4.0G copied at 9M/s, 25.00% done, 1 days 00:00:00 to go",
                "expansion of raidz1-0",
                Some(0.25),
                Some(86_400.0),
            ),
            (
                "removal of sda in progress since x 1G copied out of 4G at 9M/s, 25.00% done, 0h5m to go",
                "removal of sda",
                Some(0.25),
                Some(300.0),
            ),
        ] {
            let row = under_way(scan, "tank").expect(scan);
            assert_eq!((row.work.as_str(), row.done, row.left_s), (work, done, left), "{scan}");
        }
        assert_eq!(under_way("scrub repaired 0B in 00:00:01 with 0 errors", "tank"), None);
        assert_eq!(under_way("scrub paused, 3.0 % done", "tank"), None);
    }

    #[test]
    fn who_waits_for_disks_is_slowed_where_no_other_pool_is_busy() {
        use crate::bottleneck::{DiskRow, LimitKind, TimePart};
        let program = |name: &str, waits_for: &str, share| ProgramTime {
            program: name.to_owned(),
            threads: 1,
            wall_s: 10.0,
            on_cpu: None,
            waits: vec![TimePart { waits_for: waits_for.to_owned(), share }],
        };
        let disk = |disk: &str, pool: &str| {
            let rate = |name: &str| if name == "io_ns" { 9e8 } else { 1.0 };
            DiskRow::of_rates(disk, Some(pool), rate).unwrap()
        };
        let mut limit = Bottleneck {
            kind: LimitKind::Device,
            text: String::new(),
            what: String::new(),
            cpu_idle: None,
            cpu_stolen: None,
            programs: vec![
                program("db", "disk reads", 0.6),
                program("log", "synchronous writes", 0.2),
                program("cron", "disk reads", 0.01),
                program("web", "a lock", 0.9),
            ],
            disks: vec![disk("sda", "tank")],
            queues: Vec::new(),
        };
        assert_eq!(slowed(Some(&limit), "tank"), ["db", "log"]);
        limit.disks.push(disk("sdb", "rpool"));
        assert!(slowed(Some(&limit), "tank").is_empty() && slowed(None, "tank").is_empty());
    }
}
