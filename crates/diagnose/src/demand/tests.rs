//! Who asks: by counters of datasets and processes, and by samples of calls.

use crate::knowledge::Knowledge;
use crate::{Demand, Options, explain};
use serde_json::json;
use zwhy_evidence::{CaptureFacts, Evidence, Kstat, Line, OriginId};
use zwhy_profile::{Event, FrameKind, Nanos, Sample};

fn rate(evidence: &mut Evidence, source: &str, name: &str, rate: f64) {
    let (source, name, origin) = (source.to_owned(), name.to_owned(), OriginId::default());
    evidence.kstats.push(Kstat { source, name, value: rate, rate: Some(rate), origin });
}

fn works(evidence: &mut Evidence, pid: i32, comm: &str, stack: &str, count: u32) {
    let profile = &mut evidence.profile;
    let frames: Vec<_> = stack.split(';').map(|f| profile.frame(f, "zfs", FrameKind::Kernel)).collect();
    let (thread, stack) = (profile.thread(pid, pid, comm), profile.stack(&frames));
    let (t, weight, event) = (Nanos(1), Nanos(0), Event::Cpu);
    profile.samples.push(Sample { t, cpu: 0, thread, stack, event, count, weight });
}

fn demand(evidence: &Evidence) -> Option<Demand> {
    explain(evidence, &Knowledge::embedded(), &Options::default()).demand
}

fn host() -> Evidence {
    let mut evidence = Evidence::default();
    let (facts, left_out) = CaptureFacts::from_value(json!({
        "kind": "record",
        "recorder": {
            "target": "system", "hz": 100.0, "duration_s": 10.0, "pid": 99,
            "owners": { "process/7": "container 3f2ab1c9d0e4", "dataset/tank/vm-101": "guest web1" },
            "series": { "objsets": { "tank/objset-0x36": "tank/db", "tank/objset-0x40": "tank/vm-101" } },
        },
        "pools": [
            { "name": "tank", "scan": "scrub in progress, 25.0 % done, 00:10:00 to go",
              "properties": { "freeing": "4096" } },
            { "name": "rpool", "scan": "scrub repaired 0B", "moves": ["removal of sda in progress, 50.0 % done"], "properties": { "freeing": "0" } },
        ],
    }));
    assert!(left_out.is_empty(), "{left_out:?}");
    evidence.facts = facts;
    evidence
}

#[test]
fn programs_are_told_by_what_they_moved_and_by_their_calls() {
    let mut evidence = host();
    for pid in [5, 6, 7] {
        works(&mut evidence, pid, "postgres", "do_syscall_64;zpl_iter_read;zfs_read;dmu_read_uio_dnode", 20);
        rate(&mut evidence, &format!("process/{pid}"), "rss_bytes", 1e8);
        rate(&mut evidence, &format!("process/{pid}"), "read_calls_bytes", 1e6);
    }
    works(&mut evidence, 5, "postgres", "do_syscall_64;zfs_write;zil_commit;zil_commit_impl", 20);
    // Threads of ZFS, the recorder, and who does not use ZFS are nobody who asks.
    works(&mut evidence, 20, "z_wr_iss", "kthread;taskq_thread;zio_execute;zio_write_compress", 500);
    works(&mut evidence, 99, "zwhy", "do_syscall_64;zfs_write;dmu_write_uio_dnode", 50);
    works(&mut evidence, 30, "java", "start_thread;JavaMain", 50);
    let found = demand(&evidence).expect("a demand").programs;
    let rows: Vec<_> =
        found.iter().map(|p| (&*p.program, p.owner.as_deref(), p.processes, p.read_bytes_s)).collect();
    let container = Some("container 3f2ab1c9d0e4");
    assert_eq!(rows, [("postgres", None, 2, Some(2e6)), ("postgres", container, 1, Some(1e6))]);
    assert_eq!((found[0].zfs_part, found[0].memory_bytes), (Some(0.75), Some(2e8)));
    let calls: Vec<_> = found[0].calls.iter().map(|c| (&*c.call, (c.share * 100.0).round())).collect();
    assert_eq!(calls, [("reads", 67.0), ("commits", 33.0)]);
}

#[test]
fn datasets_are_told_by_their_own_counters_and_guests_by_their_volumes() {
    let mut evidence = host();
    for (objset, written, commits) in [("0x36", 9e5, Some(40.0)), ("0x40", 1e6, None), ("0x99", 1e9, None)] {
        let source = format!("tank/objset-{objset}");
        rate(&mut evidence, &source, "writes", 100.0);
        rate(&mut evidence, &source, "nwritten", written);
        commits.into_iter().for_each(|n| rate(&mut evidence, &source, "zil_commit_count", n));
    }
    let found = demand(&evidence).expect("a demand");
    // An objset that nobody named is nobody's.
    let rows: Vec<_> =
        found.datasets.iter().map(|d| (&*d.dataset, d.owner.as_deref(), d.commits_s)).collect();
    assert_eq!(rows, [("tank/vm-101", Some("guest web1"), None), ("tank/db", None, Some(40.0))]);
    let rows: Vec<_> =
        found.background.iter().map(|w| (&*w.work, &*w.pool, w.left_s, w.left_bytes)).collect();
    let freeing = ("freeing of destroyed data", "tank", None, Some(4096.0));
    let removal = ("removal of sda", "rpool", None, None);
    assert_eq!(rows, [("scrub", "tank", Some(600.0), None), freeing, removal]);
}

#[test]
fn nothing_is_made_up_where_nobody_asks() {
    assert_eq!(demand(&Evidence::default()), None);
}

/// Readings of `zpool iostat` of one disk, the same in each report.
fn queues(evidence: &mut Evidence, source: &str, figures: &[(&str, i64)]) {
    for (name, value) in figures {
        let points = (1..=5).map(|t| (t * 1_000_000_000, *value)).collect();
        let (source, name) = (source.to_owned(), (*name).to_owned());
        evidence.timeline.lines.push(Line { source, name, counter: false, points });
    }
}

#[test]
fn a_trim_says_how_far_it_is_what_it_takes_and_who_waits_meanwhile() {
    let mut evidence = host();
    let disk = |name: &str, trim: serde_json::Value| json!({ "name": name, "kind": "disk", "trim": trim });
    let sda = disk("sda", json!({ "done_pct": 20, "left_s": 90 }));
    let sdb = disk("sdb", json!({ "done_pct": 40, "left_s": 300 }));
    let mirror = json!({ "name": "mirror-0", "kind": "mirror", "children": [sda, sdb] });
    let (facts, _) = CaptureFacts::from_value(json!({ "pools": [{ "name": "tank", "vdevs": [mirror] }] }));
    evidence.facts.pools = facts.pools;
    queues(&mut evidence, "vdev/tank", &[("trimq_active", 4)]);
    queues(&mut evidence, "vdev/tank/sda", &[("trimq_active", 2), ("syncq_read_active", 1)]);
    queues(&mut evidence, "vdev/tank/sdb", &[("trimq_active", 1)]);
    let found = demand(&evidence).expect("a demand").background;
    let row = found.iter().find(|w| w.work == "trim").expect("a trim");
    assert_eq!((row.done.map(|d| (d * 100.0).round()), row.left_s), (Some(30.0), Some(300.0)));
    assert_eq!(row.disk_share, Some(0.75));
    assert_eq!(found.len(), 1, "what the queues show is the same trim: {found:?}");
    assert!(row.slows.is_empty(), "nobody is known to wait");
}

#[test]
fn what_began_after_the_recording_is_seen_in_the_queues() {
    let mut evidence = host();
    queues(&mut evidence, "vdev/rpool", &[("trimq_active", 1), ("scrubq_active", 1)]);
    queues(
        &mut evidence,
        "vdev/rpool/sdc",
        &[("trimq_active", 1), ("scrubq_active", 1), ("syncq_read_active", 2)],
    );
    // Next to nothing, and of a pool that told of its scrub.
    queues(&mut evidence, "vdev/tank", &[("scrubq_active", 9)]);
    queues(&mut evidence, "vdev/tank/sda", &[("scrubq_active", 9), ("syncq_read_active", 1)]);
    let found = demand(&evidence).expect("a demand").background;
    let rows: Vec<_> = found.iter().map(|w| (&*w.work, &*w.pool, w.disk_share)).collect();
    let freeing = ("freeing of destroyed data", "tank", None);
    let (trim, scrub) = (("trim", "rpool", Some(0.25)), ("scrub or resilver", "rpool", Some(0.25)));
    let removal = ("removal of sda", "rpool", None);
    assert_eq!(rows, [("scrub", "tank", Some(0.9)), freeing, removal, trim, scrub]);
}
