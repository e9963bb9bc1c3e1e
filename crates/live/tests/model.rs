//! Intervals in, figures and verdicts out, of hosts whose figures are known.

mod common;

use common::{HOSTILE, SECOND, host};
use std::collections::BTreeSet;
use std::time::Duration;
use zwhy_capture::Capture;
use zwhy_diagnose::Knowledge;
use zwhy_live::{
    BucketFigures, CacheHits, Csv, DbufFigures, FindingLine, Kind, LatencyFigures, Line, MOST_HISTORY, Model,
    PoolFigures, QueueFigures, Replay, Table, Verdict, VerdictLine, WaitFigures, text,
};
use zwhy_report::Style;

const EVERY: Duration = Duration::from_secs(1);

fn played(capture: Capture) -> Model {
    let mut model = Model::new(Knowledge::embedded());
    let replay = Replay::new(capture, EVERY);
    model.set_facts(replay.facts().clone());
    replay.for_each(|slice| model.push(slice));
    model
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * b.abs().max(1.0)
}

#[test]
fn every_sample_reading_and_mark_is_in_one_interval() {
    let capture = host(20, "fio", "tank/db");
    let (samples, readings) = (capture.profile.samples.len(), capture.series.len());
    let slices: Vec<_> = Replay::new(capture, EVERY).collect();
    assert_eq!(slices.len(), 20);
    assert_eq!(slices.iter().map(|s| s.profile.samples.len()).sum::<usize>(), samples);
    assert_eq!(slices.iter().map(|s| s.series.len()).sum::<usize>(), readings);
    assert_eq!(slices.iter().map(|s| s.marks.len()).sum::<usize>(), 1);
    assert!(slices.windows(2).all(|two| two[0].to == two[1].from));
    assert!(slices.iter().all(|s| s.profile.samples.len() == 60), "60 samples a second");
}

#[test]
fn figures_are_those_of_the_host_in_every_interval() {
    let model = played(host(20, "fio", "tank/db"));
    for f in model.history() {
        let cpu = f.cpu.unwrap();
        assert!(close(cpu.user, 0.1) && close(cpu.system, 0.5) && close(cpu.idle, 0.4), "{cpu:?}");
        assert!(f.cpus == 2 && close(f.seconds, 1.0), "{} CPUs, {} s", f.cpus, f.seconds);
        let stage = |name: &str| f.stages.iter().find(|s| s.stage == name).map(|s| s.share);
        assert!(
            close(stage("checksum").unwrap(), 0.25) && close(stage("not zfs").unwrap(), 0.05),
            "{:?}",
            f.stages
        );
        assert_eq!((f.threads[0].name.as_str(), f.threads[0].threads), ("z_rd_int", 1));
        assert!(close(f.threads[0].cpu, 0.5));
        let process = &f.processes[0];
        assert_eq!((process.name.as_str(), process.pid, process.rss_bytes), ("fio", 4000, Some(64 << 20)));
        assert!(close(process.cpu.unwrap(), 0.1) && close(process.read_bytes_s.unwrap(), 40.0 * 1048576.0));
        let dataset = &f.datasets[0];
        assert!(dataset.dataset == "tank/db" && close(dataset.reads_s, 40.0), "{dataset:?}");
        let disk = &f.disks[0];
        assert_eq!((disk.disk.as_str(), disk.pool.as_deref()), ("sda", Some("tank")));
        assert!(
            close(disk.read_ms.unwrap(), 5.0) && close(disk.busy, 0.25) && close(disk.queue, 1.0),
            "{disk:?}"
        );
        let arc = f.arc.unwrap();
        assert!(close(arc.all.hit_pct.unwrap(), 80.0) && close(arc.all.accesses_s, 1250.0), "{arc:?}");
        assert_eq!((arc.size_bytes, arc.target_bytes, arc.prefetch.hit_pct), (3 << 30, Some(4 << 30), None));
        let pool = &f.pools[0];
        assert!(close(pool.sync_ms.unwrap(), 1.5) && close(pool.direct_reads_s.unwrap(), 7.0), "{pool:?}");
        assert_eq!((pool.dirty_most_bytes, pool.direct_writes_s), (Some(4 << 30), None));
        assert_eq!((f.queues[0].queue.as_str(), f.queues[0].pending), ("z_rd_int", 7));
    }
}

#[test]
fn the_verdict_of_a_whole_capture_is_that_of_explain() {
    let knowledge = Knowledge::embedded();
    let capture = host(8, "fio", "tank/db");
    let whole = Verdict::of(capture.clone(), Duration::from_secs(8), &knowledge);
    let mut model = played(capture);
    let of_window = model.decide().unwrap();
    assert_eq!(of_window.answer.why, whole.answer.why);
    assert_eq!(of_window.answer.act, whole.answer.act);
    assert!(whole.answer.why.contains("40 % of the CPU is idle"), "{}", whole.answer.why);
}

#[test]
fn a_window_has_the_rates_of_its_seconds_and_gauges_from_before_it() {
    let model = played(host(50, "fio", "tank/db"));
    let capture = model.capture(Duration::from_secs(10), Duration::from_secs(30)).unwrap();
    assert_eq!(capture.profile.samples.len(), 600);
    assert!(capture.profile.samples.t.iter().all(|t| (0..=10 * SECOND).contains(&t.0)));
    let recorder = &capture.facts.recorder;
    assert_eq!((recorder.duration_s, recorder.samples), (Some(10.0), Some(600)));
    assert!(close(capture.facts.start_unix_s.unwrap(), 1.0e9 + 20.0));
    assert!(close(capture.facts.cpu_time["idle"], 0.4), "{:?}", capture.facts.cpu_time);
    let evidence = capture.into_imported("x").evidence;
    let rate = |source, name| evidence.kstat(source, name).and_then(|k| k.rate).unwrap();
    assert!(close(rate("arcstats", "hits"), 1000.0) && close(rate("disk/sda", "reads"), 40.0));
    assert_eq!(evidence.kstat("arcstats", "c_max").unwrap().value, (8i64 << 30) as f64);
    let reader = evidence.threads.iter().find(|t| t.comm == "z_rd_int").unwrap();
    assert!(close(reader.cpu_pct.unwrap(), 50.0), "{reader:?}");
}

#[test]
fn a_thread_that_became_another_program_has_its_newest_name() {
    let mut capture = host(6, "sh", "tank/db");
    let profile = &mut capture.profile;
    let renamed = profile.thread(4000, 4000, "fio");
    for row in 0..profile.samples.len() {
        if profile.samples.t[row].0 > SECOND && profile.threads.get(profile.samples.thread[row]).tid == 4000 {
            profile.samples.thread[row] = renamed;
        }
    }
    let model = played(capture);
    assert_eq!(model.history().back().unwrap().processes[0].name, "fio");
    let whole = model.capture(Duration::from_secs(6), Duration::from_secs(6)).unwrap();
    let names: Vec<&str> = whole
        .profile
        .threads
        .iter()
        .filter(|(_, thread)| thread.tid == 4000)
        .map(|(_, thread)| whole.profile.strings.get(thread.comm))
        .collect();
    assert_eq!(names, ["sh", "fio"], "the newest is the last");
}

#[test]
fn an_hour_is_bounded_and_its_old_seconds_are_gone() {
    let mut model = Model::new(Knowledge::embedded());
    let one = host(1, "fio", "tank/db");
    let mut slice = Replay::new(one, EVERY).next().unwrap();
    for second in 0..3600u64 {
        (slice.from, slice.to) = (Duration::from_secs(second), Duration::from_secs(second + 1));
        model.push(slice.clone());
    }
    assert_eq!((model.history().len(), model.seen()), (MOST_HISTORY, 3600));
    let (from, to) = model.kept().unwrap();
    assert_eq!((from.as_secs(), to.as_secs()), (3540, 3600));
    assert!(model.capture(Duration::from_secs(10), Duration::from_secs(100)).is_none());
}

#[test]
fn hostile_names_are_harmless_wherever_they_become_text() {
    let mut model = played(host(12, HOSTILE, HOSTILE));
    model.missing.push(format!("nothing of {HOSTILE}"));
    model.decide();
    let shown = text(&model, Style::PLAIN);
    let hostile = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
    assert!(!shown.chars().any(hostile), "{shown}");
    assert!(shown.contains("a\\u{1b}[2J"), "{shown}");
    let table = Table::of(Kind::Datasets, model.history().back().unwrap());
    assert!(table.rows[0][0].text.contains("\\n\\u{202e}b"), "{table:?}");
    let json = serde_json::to_string(&model.line().unwrap()).unwrap();
    assert!(!json.chars().any(char::is_control), "one line");
}

#[test]
fn tables_are_sorted_by_figures_or_words_and_filtered_by_names() {
    let mut model = Model::new(Knowledge::embedded());
    let mut capture = host(2, "fio", "tank/db");
    for (disk, reads) in [("sdb", 80), ("sdc", 20)] {
        for (t, n) in [(0, 0), (SECOND, reads), (2 * SECOND, 2 * reads)] {
            let kind = zwhy_capture::SeriesKind::Counter;
            capture.series.push(zwhy_profile::Nanos(t), &format!("disk/{disk}"), "reads", kind, n);
        }
    }
    Replay::new(capture, EVERY).for_each(|slice| model.push(slice));
    let mut table = Table::of(Kind::Disks, model.history().back().unwrap());
    let names = |table: &Table| table.rows.iter().map(|row| row[0].text.clone()).collect::<Vec<_>>();
    assert_eq!(names(&table), ["sda", "sdb", "sdc"], "the busiest, then by name");
    table.sort(3, false);
    assert_eq!(names(&table), ["sdb", "sda", "sdc"]);
    table.sort(0, true);
    assert_eq!(names(&table), ["sdc", "sdb", "sda"]);
    table.filter("DB");
    assert_eq!(names(&table), ["sdb"]);
}

/// Names of all fields of an object and of those in it.
fn fields(value: &serde_json::Value, into: &mut BTreeSet<String>) {
    match value {
        serde_json::Value::Object(object) => {
            into.extend(object.keys().cloned());
            // The answer's own documents have these.
            object
                .iter()
                .filter(|(name, _)| *name != "bottleneck")
                .for_each(|(_, value)| fields(value, into));
        }
        serde_json::Value::Array(rows) => rows.iter().for_each(|row| fields(row, into)),
        _ => {}
    }
}

#[test]
fn every_field_and_column_is_documented_and_no_other() {
    let docs = std::fs::read_to_string("../../docs/TOP.md").unwrap();
    let (_, docs) = docs.split_once("## JSON and CSV").unwrap();
    let (of_json, of_csv) = docs.split_once("`--csv` has").unwrap();
    let named = |text: &str| -> BTreeSet<String> {
        let rows = text.lines().filter(|line| line.starts_with("| `"));
        let quoted = rows.flat_map(|row| row.split('`').skip(1).step_by(2)).map(str::to_owned);
        quoted.filter(|name| name.bytes().all(|b| b.is_ascii_lowercase() || b"_0259".contains(&b))).collect()
    };
    let mut model = played(host(20, "fio", "tank/db"));
    model.decide();
    // With all that a host may have, and a finding.
    let mut figures = model.history().back().unwrap().clone();
    figures.pools.push(PoolFigures::default());
    figures.queues.push(QueueFigures::default());
    figures.arc.as_mut().unwrap().l2 = Some(CacheHits::default());
    figures.dbuf = Some(DbufFigures::default());
    let finding = Some(FindingLine { class: "c", title: "t", confidence: 0.9, share: None });
    let verdict = VerdictLine { finding, ..model.verdict().unwrap().line() };
    let buckets = vec![BucketFigures { most_ns: 1, requests: 1 }];
    let wait =
        WaitFigures { wait: "scrub", requests: 1, p50_ns: 1, p90_ns: 1, p99_ns: 1, max_ns: 1, buckets };
    let latency = LatencyFigures { vdev: "tank".to_owned(), seconds: 1.0, waits: vec![wait] };
    let latency = Some(Some(vec![latency]));
    let line = Line { figures: &figures, verdict: Some(verdict), latency, missing: Vec::new() };
    let line = serde_json::to_value(line).unwrap();
    let mut known = BTreeSet::new();
    fields(&line, &mut known);
    let mut told = named(of_json);
    told.remove("zfs_dirty_data_max");
    assert_eq!(told, known);
    let header = Csv::new(&model).header();
    let columns = header.trim_end().split(',').map(str::to_owned).filter(|name| !name.starts_with("stage "));
    assert_eq!(named(of_csv), columns.collect());
    assert!(header.contains(",stage "), "{header}");
}
