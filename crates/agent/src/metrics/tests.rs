//! The page of a host that has everything, read strictly; and that alerts and dashboard use nothing else.

use super::strict::{self, Group};
use super::{Metrics, Page};
use crate::findings::{Found, Tracker};
use crate::own::Own;
use crate::spool::{Limits, Spool};
use crate::status::Status;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use zwhy_capture::SeriesKind;
use zwhy_diagnose::Knowledge;
use zwhy_evidence::CaptureFacts;
use zwhy_live::Slice;
use zwhy_profile::{Event, FrameKind, Nanos, Sample};

const HOSTILE: &str = "tank/\"a\\b\n# TYPE x counter\u{1b}[2J";

/// Interval `n` of a host with `pools` pools and `datasets` datasets, all of them busy.
fn slice(n: i64, pools: usize, datasets: usize) -> Slice {
    let s = |n: i64| Duration::from_secs(n as u64 * 5);
    let mut slice = Slice { from: s(n), to: s(n + 1), sample: Duration::from_millis(20), ..Slice::default() };
    let frames = ["zio_execute", "zio_checksum_verify"]
        .map(|name| slice.profile.frame(name, "zfs", FrameKind::Kernel));
    let (stack, thread) = (slice.profile.stack(&frames), slice.profile.thread(300, 300, "z_rd_int"));
    for _ in 0..50 {
        slice.profile.samples.push(Sample::counted(thread, stack, Event::Cpu, 1));
    }
    slice.lost = 1;
    let t = Nanos((n + 1) * 5_000_000_000);
    let mut put = |source: &str, names: &[&str]| {
        for name in names {
            slice.series.push(t, source, name, SeriesKind::Counter, 1000 * (n + 1));
        }
    };
    put(
        "cpu/all",
        &["usr_ns", "nice_ns", "sys_ns", "idle_ns", "iowait_ns", "irq_ns", "softirq_ns", "steal_ns"],
    );
    put("arcstats", &["size", "c", "c_min", "c_max", "evict_skip", "demand_data_hits", "demand_data_iohits"]);
    put("arcstats", &["demand_data_misses", "prefetch_metadata_hits"]);
    put("dmu_tx", &["dmu_tx_dirty_delay", "dmu_tx_dirty_over_max"]);
    put("zil", &["zil_commit_count"]);
    for pool in 0..pools {
        put(&format!("tank{pool}/txgs"), &["txg", "otime", "qtime", "wtime", "stime", "ndirty"]);
        put(&format!("tank{pool}/iostats"), &["arc_read_bytes", "direct_write_bytes"]);
        put(&format!("tank{pool}/state"), &["suspended"]);
    }
    for dataset in 0..datasets {
        put(&format!("tank0/objset-{dataset:#x}"), &["reads", "writes", "nread", "nwritten"]);
    }
    slice
}

fn page(pools: usize, datasets: usize, classes: usize) -> String {
    let dir = tempfile::tempdir().unwrap();
    let limits = Limits { flush: Duration::from_secs(5), ..Limits::default() };
    let mut spool = Spool::open(dir.path(), limits).unwrap();
    let (mut metrics, knowledge) = (Metrics::default(), Knowledge::embedded());
    for n in 0..3 {
        let slice = slice(n, pools, datasets);
        spool.push(&slice, 1e9 + slice.to.as_secs_f64());
        metrics.take(&slice, spool.readings(), &knowledge.anatomy, Some(1));
    }
    let (facts, _) = CaptureFacts::from_value(serde_json::json!({
        "parameters": { "zfs_dirty_data_max": "4294967296" },
        "recorder": { "series": { "objsets": {
            "tank0/objset-0x0": HOSTILE, "tank0/objset-0x1": "tank0/home", "tank0/objset-0x2": "tank0/home"
        } } },
    }));
    let mut tracker = Tracker::default();
    let found =
        |n| Found { class: format!("class-{n}"), confidence: 0.9, share: Some(0.4), ..Found::default() };
    tracker.take(&(0..classes).map(found).collect::<Vec<_>>(), 1e9, 120.0);
    let status = Status {
        findings: tracker.lasting().to_vec(),
        missing: vec!["something".to_owned()],
        started_unix_s: 1e9,
        ..Status::default()
    };
    metrics.page(&Page {
        spool: &spool,
        facts: &facts,
        status: &status,
        own: Own { cpu_s: 1.5, rss_bytes: Some(50 << 20) },
        verdict_unix_s: Some(1e9 + 60.0),
        max_bytes: 1 << 30,
        ship_failures: Some(2),
    })
}

fn read(page: &str) -> BTreeMap<String, Group> {
    strict::read(page).unwrap_or_else(|why| panic!("{why}\n{page}"))
}

fn value(groups: &BTreeMap<String, Group>, name: &str, labels: &[(&str, &str)]) -> f64 {
    let is = |of: &BTreeMap<String, String>| labels.iter().all(|(k, v)| of.get(*k).is_some_and(|x| x == v));
    let rows = &groups.get(name).unwrap_or_else(|| panic!("no {name}")).rows;
    rows.iter().find(|(of, _)| is(of)).unwrap_or_else(|| panic!("no {name} {labels:?}: {rows:?}")).1
}

#[test]
fn a_page_says_what_was_seen() {
    let groups = read(&page(1, 3, 1));
    // Three intervals of 50 samples, of a fiftieth of a second each.
    let spent = value(&groups, "zwhy_cpu_seconds_total", &[("stage", "checksum")]);
    assert!((spent - 3.0).abs() < 1e-9, "{spent}");
    assert_eq!(value(&groups, "zwhy_samples_total", &[]), 150.0);
    assert_eq!(value(&groups, "zwhy_samples_lost_total", &[]), 3.0);
    assert_eq!(value(&groups, "zwhy_host_cpu_seconds_total", &[("mode", "sys")]), 3e-6);
    assert_eq!(
        value(&groups, "zwhy_arc_accesses_total", &[("kind", "demand_data"), ("result", "miss")]),
        3000.0
    );
    assert_eq!(value(&groups, "zwhy_pool_txg_sync_seconds", &[("pool", "tank0")]), 3e-6);
    assert_eq!(value(&groups, "zwhy_dirty_limit_bytes", &[]), 4294967296.0);
    // Of a counter that was there before the agent only the growth is its own.
    let of = [("dataset", HOSTILE), ("op", "read")];
    assert_eq!(value(&groups, "zwhy_dataset_bytes_total", &of), 2000.0);
    assert_eq!(value(&groups, "zwhy_finding_confidence", &[("class", "class-0")]), 0.9);
    assert_eq!(value(&groups, "zwhy_agent_rows_written_total", &[("table", "samples")]), 150.0);
    let dropped = [("reason", "not_written"), ("table", "samples")];
    assert_eq!(value(&groups, "zwhy_agent_rows_dropped_total", &dropped), 0.0);
}

#[test]
fn the_page_is_bounded_whatever_the_host_has() {
    let few = page(1, 3, 1).lines().count();
    let many = page(500, 3000, 500).lines().count();
    let most = few + 64 * 9 + 51 * 4 + 30 * 3;
    assert!(many <= most, "{many} lines, at most {most}");
    let groups = read(&page(500, 3000, 500));
    assert!(value(&groups, "zwhy_dataset_bytes_total", &[("dataset", "(other)"), ("op", "read")]) > 0.0);
    assert_eq!((value(&groups, "zwhy_pools", &[]), value(&groups, "zwhy_findings", &[])), (500.0, 500.0));
}

#[test]
fn a_host_without_zfs_has_a_page_too() {
    let dir = tempfile::tempdir().unwrap();
    let spool = Spool::open(dir.path(), Limits::default()).unwrap();
    let (facts, status) = (CaptureFacts::default(), Status::default());
    let own = Own { cpu_s: 0.1, rss_bytes: None };
    let empty = Page {
        spool: &spool,
        facts: &facts,
        status: &status,
        own,
        verdict_unix_s: None,
        max_bytes: 1,
        ship_failures: None,
    };
    let groups = read(&Metrics::default().page(&empty));
    assert!(!groups.contains_key("zwhy_arc_size_bytes") && !groups.contains_key("zwhy_agent_resident_bytes"));
    assert_eq!(value(&groups, "zwhy_pools", &[]), 0.0);
}

fn packaging(name: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging")).join(name)
}

/// Every word that begins with `zwhy_`.
fn used(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        // A package is called zwhy_0.1.0.
        .filter(|word| {
            word.strip_prefix("zwhy_").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))
        })
        .collect()
}

#[test]
fn alerts_and_dashboard_use_only_metrics_that_exist() {
    let groups = read(&page(1, 3, 1));
    for (name, least) in [("prometheus.rules", 8), ("grafana-dashboard.json", 25)] {
        let text = std::fs::read_to_string(packaging(name)).unwrap();
        let used = used(&text);
        assert!(used.len() >= least, "{name}: {used:?}");
        for metric in used {
            assert!(groups.contains_key(metric), "{name}: {metric} does not exist");
        }
    }
    let documented = std::fs::read_to_string(packaging("../docs/AGENT.md")).unwrap();
    for metric in groups.keys() {
        assert!(documented.contains(&format!("`{metric}")), "docs/AGENT.md does not tell of {metric}");
    }
    for metric in used(&documented) {
        assert!(groups.contains_key(metric), "docs/AGENT.md tells of {metric}, which does not exist");
    }
    let board: serde_json::Value =
        serde_json::from_slice(&std::fs::read(packaging("grafana-dashboard.json")).unwrap()).unwrap();
    let panels = board["panels"].as_array().unwrap();
    let has_query = |panel: &serde_json::Value| panel["targets"][0]["expr"].is_string();
    assert!(
        panels.iter().all(|panel| panel["title"].is_string() && (panel["type"] == "row" || has_query(panel)))
    );
}

/// Runs promtool; `None` where there is none.
fn promtool(args: &[&str], input: &str) -> Option<(bool, String)> {
    let tool = std::env::var_os("ZWHY_PROMTOOL").unwrap_or_else(|| "promtool".into());
    let mut command = Command::new(tool);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().ok()?;
    child.stdin.take()?.write_all(input.as_bytes()).unwrap();
    let done = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    Some((done.status.success(), text))
}

#[test]
fn promtool_has_nothing_to_say() {
    let rules = packaging("prometheus.rules");
    let Some((fine, text)) = promtool(&["check", "metrics"], &page(2, 60, 3)) else {
        let _ = writeln!(std::io::stderr(), "skipped: no promtool (Debian's package prometheus has it)");
        return;
    };
    assert!(fine && text.trim().is_empty(), "{text}");
    let (fine, text) = promtool(&["check", "rules", rules.to_str().unwrap()], "").unwrap();
    assert!(fine && text.contains("SUCCESS"), "{text}");
}
