//! A host of which every figure is known: captures are made of it here, and what comes out is compared with it.
#![allow(dead_code)] // each test file uses a part

use zwhy_capture::{Capture, Mark, Series, SeriesKind};
use zwhy_evidence::CaptureFacts;
use zwhy_profile::{Event, FrameKind, Nanos, Profile, Sample};

pub const SECOND: i64 = 1_000_000_000;
pub const HZ: u64 = 100;

/// What is hostile in a name: it moves the cursor, sets a colour, ends a line, turns text round.
pub const HOSTILE: &str = "a\u{1b}[2J\u{1b}]0;x\u{7}\n\u{202e}b";

/// Two CPUs for `seconds`: in each, half a second of system time and a tenth of user time, 1,000 hits of the ARC and
/// 250 misses, 40 reads of 1 MiB each from a dataset and from a disk, and samples of checksums and of a program.
pub fn host(seconds: i64, program: &str, dataset: &str) -> Capture {
    let mut profile = Profile::new();
    let read = ["taskq_thread", "zio_execute", "zio_checksum_verify", "fletcher_4_native"];
    let frames = read.map(|name| profile.frame(name, "zfs", FrameKind::Kernel));
    let checksum = profile.stack(&frames);
    let frames = ["_start", "main"].map(|name| profile.frame(name, program, FrameKind::User));
    let computing = profile.stack(&frames);
    let reader = profile.thread(300, 300, "z_rd_int");
    let busy = profile.thread(4000, 4000, program);
    for n in 0..seconds * 60 {
        let (thread, stack) = if n % 60 < 50 { (reader, checksum) } else { (busy, computing) };
        let t = Nanos(n * SECOND / 60 + 1);
        profile.samples.push(Sample {
            t,
            cpu: 0,
            thread,
            stack,
            event: Event::Cpu,
            count: 1,
            weight: Nanos(0),
        });
    }
    let mut series = Series::default();
    for second in 0..=seconds {
        let t = Nanos(second * SECOND);
        let mut put = |source: &str, kind, rows: &[(&str, i64)]| {
            rows.iter().for_each(|(name, value)| series.push(t, source, name, kind, *value));
        };
        let (counter, gauge) = (SeriesKind::Counter, SeriesKind::Gauge);
        for cpu in ["cpu/all", "cpu/0", "cpu/1"] {
            let of = if cpu == "cpu/all" { 2 } else { 1 };
            let ns = |tenths: i64| second * of * tenths * SECOND / 20;
            put(cpu, counter, &[("usr_ns", ns(2)), ("sys_ns", ns(10)), ("idle_ns", ns(8))]);
        }
        let (mib, n) = (1i64 << 20, second * 40);
        put("arcstats", counter, &[("hits", second * 1000), ("misses", second * 250)]);
        put(
            "arcstats",
            counter,
            &[("demand_data_hits", second * 1000), ("demand_data_misses", second * 250)],
        );
        put("tank/objset-0x36", counter, &[("reads", n), ("nread", n * mib), ("writes", 0), ("nwritten", 0)]);
        put("disk/sda", counter, &[("reads", n), ("read_bytes", n * mib), ("writes", 0), ("discards", 0)]);
        put(
            "disk/sda",
            counter,
            &[("read_ns", n * 5_000_000), ("io_ns", second * SECOND / 4), ("queue_ns", second * SECOND)],
        );
        put("thread/300", counter, &[("cpu_ns", second * SECOND / 2)]);
        put("thread/4000", counter, &[("cpu_ns", second * SECOND / 10)]);
        put("process/4000", counter, &[("read_calls_bytes", n * mib), ("write_calls_bytes", 0)]);
        // Gauges that do not change are written at their beginning and at their end, as the recorder does.
        if second == 0 || second == seconds {
            put("arcstats", gauge, &[("size", 3 << 30), ("c", 4 << 30), ("c_max", 8 << 30)]);
            put("process/4000", gauge, &[("rss_bytes", 64 << 20)]);
            put("taskq/z_rd_int.0", gauge, &[("tasks_pending", 3), ("threads_active", 1)]);
            put("taskq/z_rd_int.1", gauge, &[("tasks_pending", 4), ("threads_active", 1)]);
            put("tank/txgs", gauge, &[("stime", 1_500_000), ("ndirty", 10 * mib), ("otime", 5 * SECOND)]);
        }
        put("tank/txgs", counter, &[("txg", 100 + second)]);
        put(
            "tank/iostats",
            counter,
            &[("direct_read_count", second * 7), ("direct_read_bytes", second * mib)],
        );
    }
    let (facts, _) = CaptureFacts::from_value(serde_json::json!({
        "kind": "record", "start_unix_s": 1.0e9, "cpu_time": { "usr": 0.1, "sys": 0.5, "idle": 0.4 },
        "zfs": { "module_loaded": true, "version": "2.3.2" },
        "parameters": { "zfs_dirty_data_max": "4294967296" },
        "pools": [{ "name": "tank", "vdevs": [{ "name": "sda", "kind": "disk" }] }],
        "recorder": {
            "hz": HZ as f64, "duration_s": seconds as f64, "interval_s": 1.0, "target": "system", "pid": 99,
            "series": { "objsets": { "tank/objset-0x36": dataset } },
        },
    }));
    let mark = |t| Mark { t: Nanos(t), name: "module".into(), text: "zfs loaded".into() };
    Capture { profile, series, marks: vec![mark(SECOND / 2)], facts, ..Capture::default() }
}
