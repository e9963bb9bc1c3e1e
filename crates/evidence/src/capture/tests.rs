//! Facts of older captures open, what this version does not know survives, what is broken is told.

use super::*;
use serde_json::json;

const OLD: &[u8] = include_bytes!("old_facts.json");

#[test]
fn facts_of_an_old_capture_are_read_by_their_old_names() {
    let (facts, left_out) = CaptureFacts::from_slice(OLD).unwrap();
    assert_eq!(left_out, [""; 0]);
    assert_eq!(
        (facts.kind, facts.version, facts.start_unix_s),
        (Some(Kind::Record), Some(1), Some(1_700_000_000.5))
    );
    assert_eq!((facts.host.cpus, facts.host.os.as_deref()), (Some(4), None));
    assert_eq!(facts.parameters["zfs_prefetch_disable"], "0");
    let RecorderFacts {
        hz,
        lost_by_cpu,
        name_resets,
        own_samples_excluded,
        series,
        threads,
        wait,
        other,
        ..
    } = &facts.recorder;
    assert_eq!((*hz, *name_resets, *own_samples_excluded), (Some(99.0), Some(4), Some(5)));
    assert_eq!(lost_by_cpu.as_ref().unwrap()[&3], 2);
    let series = series.as_ref().unwrap();
    let told = (series.datasets_skipped, series.datasets_deferred, series.kstat_lines_unparsed);
    assert_eq!(told, (Some(1), Some(2), Some(6)));
    let threads = threads.as_ref().unwrap();
    let told = (threads.batch, threads.max_due, threads.deferred, threads.skipped);
    assert_eq!(told, (Some(1024), Some(2000), Some(976), Some(7)));
    let wait = wait.as_ref().unwrap();
    assert_eq!(
        (wait.method.as_deref(), wait.min_s, wait.max_threads),
        (Some("sched:sched_switch"), Some(0.001), Some(65536))
    );
    assert_eq!(
        (wait.skipped, wait.unfinished, wait.short.as_ref().unwrap().waits),
        (Some(9), Some(8), Some(10))
    );
    assert!(other.is_empty() && wait.other.is_empty() && threads.other.is_empty() && series.other.is_empty());
    assert_eq!(facts.dataset_counts.as_ref().unwrap().unparsed_lines, Some(2));
    assert_eq!(facts.snapshots.as_ref().unwrap().total(), 4002.0);
    assert_eq!(facts.pool("tank").unwrap().vdevs.as_ref().unwrap()[0].children[0].name, "sda");
    assert_eq!(facts.dataset("tank/a").unwrap().sources.as_ref().unwrap()["compression"], "local");
}

#[test]
fn what_is_written_reads_back_and_members_of_other_versions_survive() {
    let (facts, _) = CaptureFacts::from_slice(OLD).unwrap();
    let written = serde_json::to_vec(&facts).unwrap();
    let (back, left_out) = CaptureFacts::from_slice(&written).unwrap();
    assert_eq!(left_out, [""; 0]);
    let (value, again) = (facts.to_value(), back.to_value());
    assert_eq!(value, again);
    assert_eq!((&value["to_come"]["unit"], &value["zfs"]["to_come"]), (&json!("parsec"), &json!(1)));
    assert!(value["recorder"]["names_begun_anew"].is_null(), "written under its new name");
    assert!(value["host"].get("os").is_none() && value.get("experiment").is_none(), "absent, not null");
}

#[test]
fn members_of_a_wrong_type_are_told_and_the_rest_is_kept() {
    let broken = json!({
        "kind": "tape",
        "host": { "cpus": "many", "kernel": "6.1" },
        "pools": [{ "name": "tank", "capacity_pct": "full" }, { "name": "dozer" }],
        "recorder": { "hz": 99, "lost": -1 },
        "snapshots": [1, 2, 3],
    });
    let (facts, left_out) = CaptureFacts::from_slice(broken.to_string().as_bytes()).unwrap();
    assert_eq!(left_out, ["host.cpus", "kind", "1 entries of pools", "recorder.lost"]);
    assert_eq!((facts.host.kernel.as_deref(), facts.recorder.hz), (Some("6.1"), Some(99.0)));
    assert_eq!(facts.pools.unwrap()[0].name.as_deref(), Some("dozer"));
    assert_eq!(facts.snapshots.unwrap().total(), 3.0);
    assert!(CaptureFacts::from_slice(b"[1]").is_err() && CaptureFacts::from_slice(b"{\"kind\"").is_err());
}

#[test]
fn pointers_reach_what_fields_hold() {
    let (facts, _) = CaptureFacts::from_slice(OLD).unwrap();
    for (pointer, value) in [
        ("/host/clocksource", json!("hpet")),
        ("/pools/0/capacity_pct", json!(91.0)),
        ("/pools/0/properties/ashift", json!("12")),
        ("/zfs/in_use", json!(true)),
        ("/zfs/to_come", json!(1)),
        ("/to_come/unit", json!("parsec")),
        ("/recorder/hz", json!(99.0)),
        ("/kind", json!("record")),
    ] {
        assert_eq!(facts.pointer(pointer), Some(value), "{pointer}");
    }
    for absent in ["/pools/1/name", "/host/none", "/", "", "/pools/x", "/nothing/at/all"] {
        assert_eq!(facts.pointer(absent), None, "{absent}");
    }
}

#[test]
fn what_the_caller_knows_is_put_over_what_was_found() {
    let (mut facts, _) = CaptureFacts::from_slice(OLD).unwrap();
    let zfs = ZfsFacts { in_user_space: Some(true), version: Some("2.3.2".into()), ..ZfsFacts::default() };
    facts.put(CaptureFacts {
        kind: Some(Kind::Lab),
        zfs,
        pools: Some(Vec::new()),
        ..CaptureFacts::default()
    });
    assert_eq!((facts.kind, facts.pools.as_ref().map(Vec::len)), (Some(Kind::Lab), Some(0)));
    assert_eq!((facts.zfs.version.as_deref(), facts.zfs.module_loaded), (Some("2.3.2"), Some(true)));
    assert!(facts.datasets.is_some() && !facts.is_empty() && CaptureFacts::default().is_empty());
}
