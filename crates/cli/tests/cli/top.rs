//! `zwhy top` without a terminal: a capture played again, and the host as whoever runs the tests may see it.

use crate::support::{call, run};
use std::path::Path;
use zwhy_capture::{Series, SeriesKind, Writer};
use zwhy_evidence::CaptureFacts;
use zwhy_profile::{Event, FrameKind, Nanos, Profile, Sample};

/// Four seconds in which half of one CPU's time is system time, spent in a checksum by a thread of ZFS.
fn capture(path: &Path) {
    let mut profile = Profile::new();
    let frames =
        ["zio_execute", "zio_checksum_verify"].map(|name| profile.frame(name, "zfs", FrameKind::Kernel));
    let (stack, thread) = (profile.stack(&frames), profile.thread(300, 300, "z_rd_int"));
    let mut series = Series::default();
    for second in 0..=4i64 {
        let (t, ns) = (Nanos(second * 1_000_000_000), second * 500_000_000);
        for cpu in ["cpu/all", "cpu/0"] {
            series.push(t, cpu, "sys_ns", SeriesKind::Counter, ns);
            series.push(t, cpu, "idle_ns", SeriesKind::Counter, ns);
        }
        for n in (0..50).filter(|_| second < 4) {
            let t = Nanos(t.0 + n * 20_000_000 + 1);
            profile.samples.push(Sample { t, ..Sample::counted(thread, stack, Event::Cpu, 1) });
        }
    }
    let (facts, _) = CaptureFacts::from_value(serde_json::json!({
        "kind": "record", "cpu_time": { "sys": 0.5, "idle": 0.5 },
        "recorder": { "hz": 100.0, "duration_s": 4.0, "interval_s": 1.0, "target": "system" },
    }));
    let mut writer = Writer::create(path).unwrap();
    writer.set_facts(&facts).unwrap();
    writer.flush(&mut profile).unwrap();
    writer.append_series(&series).unwrap();
    writer.finish().unwrap();
}

#[test]
fn a_capture_is_played_again_line_by_line() {
    let folder = tempfile::tempdir().unwrap();
    capture(&folder.path().join("a.zwhy"));
    let out = call(folder.path(), "top --json a.zwhy").ok();
    let lines: Vec<serde_json::Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 4);
    for line in &lines {
        assert_eq!(line["cpu"]["system"], 0.5, "{line}");
        assert_eq!(
            (&line["samples"], &line["stages"][0]["stage"]),
            (&50.into(), &"checksum".into()),
            "{line}"
        );
        let share = line["stages"][0]["share"].as_f64().unwrap();
        assert!((share - 0.5).abs() < 1e-9, "{line}");
    }
    assert!(lines[0]["verdict"].is_null() && lines[3]["verdict"]["span_s"] == 4.0);
    let told = call(folder.path(), "explain --json a.zwhy").json();
    assert_eq!(lines[3]["verdict"]["why"], told["why"], "the words of explain");
    let text = call(folder.path(), "top --once a.zwhy").ok();
    assert!(text.starts_with("WHY") && text.contains("50.0 % system") && text.contains("checksum"), "{text}");
    assert!(lines.iter().all(|line| line.get("latency").is_none()), "nobody asked");
    let line = call(folder.path(), "top --once --json --latency a.zwhy").json();
    let missing = serde_json::json!(["latency histograms: a capture has none"]);
    assert_eq!((&line["latency"], &line["missing"]), (&serde_json::Value::Null, &missing), "{line}");
    let two = call(folder.path(), "top --json -i 2 a.zwhy").ok();
    assert_eq!(two.lines().count(), 2, "longer intervals: {two}");
}

#[test]
fn rows_of_csv_have_a_name_for_each_figure() {
    let folder = tempfile::tempdir().unwrap();
    capture(&folder.path().join("a.zwhy"));
    let out = call(folder.path(), "top --csv a.zwhy").ok();
    let rows: Vec<Vec<&str>> = out.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 5, "{out}");
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{out}");
    let of = |row: usize, name: &str| rows[row][rows[0].iter().position(|n| *n == name).unwrap()];
    assert_eq!([1, 2, 3, 4].map(|row| of(row, "system")), ["0.5"; 4]);
    assert_eq!((of(4, "at_s"), of(4, "stage checksum"), of(4, "stage copy")), ("4", "0.5", "0"));
    assert_eq!(of(4, "disk_read_bytes_s"), "0", "{out}");
    assert_eq!((of(4, "arc_size_bytes"), of(4, "unix_s")), ("", ""), "what is not known is empty");
    call(folder.path(), "top --csv --json a.zwhy").failed(2);
    call(folder.path(), "top --csv --latency a.zwhy").failed(2);
}

#[test]
fn what_cannot_be_played_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("notes.txt"), "a\n").unwrap();
    let error = call(folder.path(), "top --once notes.txt").failed(1);
    assert!(error.contains("notes.txt is not a zwhy capture"), "{error}");
    assert!(error.contains("`zwhy explain notes.txt` reads the rest"), "{error}");
    let absent = call(folder.path(), "top --once absent.zwhy").failed(1);
    assert!(absent.contains("absent.zwhy") && !absent.contains("zwhy explain"), "{absent}");
    call(folder.path(), "top --once -i 0.01").failed(2);
}

#[test]
fn the_host_is_watched_by_whoever_may_see_what() {
    let folder = tempfile::tempdir().unwrap();
    let line = run(folder.path(), ["top", "--once", "--json", "--latency"]).json();
    // Five seconds where something beside this test makes the cause clear, else ten.
    assert!(line["at_s"].as_f64().is_some_and(|at| at >= 5.0), "{line}");
    assert!(line["verdict"]["why"].as_str().is_some_and(|why| !why.is_empty()), "{line}");
    let cpu = line["cpu"].as_object().expect("/proc/stat can be read by all");
    let sum: f64 = cpu.values().filter_map(serde_json::Value::as_f64).sum();
    assert!((sum - 1.0).abs() < 1e-6, "{line}");
    let told = |word: &str| {
        line["missing"].as_array().is_some_and(|m| m.iter().any(|s| s.as_str().unwrap().contains(word)))
    };
    assert!(line["samples"].as_u64() > Some(0) || told("cannot sample"), "{line}");
    assert!(
        line["latency"].is_array() || line["latency"].is_null() && told("latency histograms: "),
        "{line}"
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is written");
}
