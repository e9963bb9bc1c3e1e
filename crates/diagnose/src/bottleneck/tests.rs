//! First lines of recorded hosts: each says what limits, and nobody is accused who does not.

use super::*;
use crate::knowledge::Knowledge;
use crate::{Options, explain};
use serde_json::{Value, json};
use zwhy_evidence::{CaptureFacts, Evidence, Kstat, Line, OriginId, Param, ThreadCpu, VdevLoad};
use zwhy_profile::{Event, FrameKind, Nanos, Sample};

/// Ten seconds of a host with two CPUs.
struct Host {
    evidence: Evidence,
    next_tid: i32,
}

const SECONDS: f64 = 10.0;

impl Host {
    fn new(idle: f64) -> Host {
        let mut host = Host { evidence: Evidence::default(), next_tid: 100 };
        host.fact(json!({
            "kind": "record", "host": { "cpus": 2 },
            "cpu_time": { "idle": idle, "usr": 1.0 - idle },
            "recorder": { "target": "system", "hz": 100.0, "duration_s": SECONDS },
            "pools": [{ "name": "tank", "vdevs": [{ "name": "sda1" }, { "name": "sdb1" }] }],
        }));
        host
    }

    fn fact(&mut self, facts: Value) {
        let mut all = self.evidence.facts.to_value();
        for (name, value) in facts.as_object().into_iter().flatten() {
            all[name] = value.clone();
        }
        let (facts, left_out) = CaptureFacts::from_value(all);
        assert!(left_out.is_empty(), "{left_out:?}");
        self.evidence.facts = facts;
    }

    fn rate(&mut self, source: &str, name: &str, rate: f64) {
        let (source, name, origin) = (source.to_owned(), name.to_owned(), OriginId::default());
        self.evidence.kstats.push(Kstat { source, name, value: rate, rate: Some(rate), origin });
    }

    fn disk(&mut self, name: &str, busy: f64, reads: f64, writes: f64, ms: f64) {
        let source = format!("disk/{name}");
        for (name, rate) in [
            ("reads", reads),
            ("writes", writes),
            ("read_ns", reads * ms * 1e6),
            ("write_ns", writes * ms * 1e6),
            ("io_ns", busy * 1e9),
            ("queue_ns", busy * 1e9),
        ] {
            self.rate(&source, name, rate);
        }
    }

    /// What `zpool iostat` said of a disk in each report.
    fn queues(&mut self, source: &str, figures: &[(&str, i64)]) {
        for (name, value) in figures {
            let points = (1..=9).map(|t| (t * 1_000_000_000, *value)).collect();
            let (source, name) = (source.to_owned(), (*name).to_owned());
            self.evidence.timeline.lines.push(Line { source, name, counter: false, points });
        }
        let loads = VdevLoad::all(&self.evidence.timeline);
        self.evidence.tables = VdevLoad::table(&loads, OriginId::default()).into_iter().collect();
    }

    fn param(&mut self, name: &str, value: &str) {
        let (name, value, origin) = (name.to_owned(), value.to_owned(), OriginId::default());
        self.evidence.params.push(Param { name, value, origin });
    }

    /// A new thread of a process of its own, which was seen over all of the recording.
    fn thread(&mut self, comm: &str, cpu: f64) -> i32 {
        self.next_tid += 1;
        let pid = Some(self.next_tid);
        let thread = ThreadCpu { comm: comm.into(), cpu_pct: Some(cpu * 100.0), pid, ..ThreadCpu::default() };
        self.evidence.threads.push(thread);
        self.sample(self.next_tid, comm, "clone;main", Event::Cpu, (0.0, 0.0), 0);
        self.sample(self.next_tid, comm, "clone;main", Event::Cpu, (SECONDS, 0.0), 0);
        self.next_tid
    }

    fn sample(&mut self, pid: i32, comm: &str, stack: &str, event: Event, at: (f64, f64), count: u32) {
        let profile = &mut self.evidence.profile;
        let kind = FrameKind::Kernel;
        let frames: Vec<_> = stack.split(';').map(|f| profile.frame(f, "zfs", kind)).collect();
        let (thread, stack) = (profile.thread(pid, pid, comm), profile.stack(&frames));
        let (t, weight) = (Nanos((at.0 * 1e9) as i64), Nanos((at.1 * 1e9) as i64));
        profile.samples.push(Sample { t, cpu: 0, thread, stack, event, count, weight });
    }

    fn waits(&mut self, pid: i32, comm: &str, stack: &str, seconds: f64) {
        self.sample(pid, comm, stack, Event::Wait, (1.0, seconds), 1);
    }

    fn works(&mut self, pid: i32, comm: &str, stack: &str, samples: u32) {
        self.sample(pid, comm, stack, Event::Cpu, (1.0, 0.0), samples);
    }

    fn why(&self) -> String {
        let answer = explain(&self.evidence, &Knowledge::embedded(), &Options::default());
        assert!(answer.why.chars().count() <= MOST_CHARACTERS, "{}", answer.why);
        answer.why
    }

    fn limit(&self) -> Bottleneck {
        explain(&self.evidence, &Knowledge::embedded(), &Options::default()).bottleneck.expect("a bottleneck")
    }
}

const READS: &str =
    "do_syscall_64;zfs_read;dmu_read_uio_dnode;dmu_buf_hold_array_by_dnode;zio_wait;__cv_wait_io;schedule";

#[test]
fn a_slow_disk_and_who_waits_for_it() {
    let mut host = Host::new(0.64);
    host.disk("sda", 0.998, 80.0, 1.0, 12.4);
    host.disk("sdb", 0.05, 1.0, 0.5, 0.2);
    let reader = host.thread("rand-read", 0.02);
    host.waits(reader, "rand-read", READS, 9.5);
    // Threads of ZFS that wait for work wait for nothing.
    for (comm, stack) in [
        ("txg_sync", "kthread;txg_sync_thread;txg_thread_wait;__cv_timedwait_idle;schedule"),
        ("txg_quiesce", "kthread;txg_quiesce_thread;__cv_wait_idle;schedule"),
        ("z_rd_int_0", "kthread;taskq_thread;schedule"),
    ] {
        host.waits(7, comm, stack, 10.0);
    }
    let line =
        "The CPU is not the limit (64 % idle): rand-read waits for disk sda, 100 % busy at 12.4 ms a read.";
    assert_eq!(host.why(), line);
    let answer = explain(&host.evidence, &Knowledge::embedded(), &Options::default());
    let waiting: Vec<_> = answer.waiting.iter().map(|w| (&*w.thread, &*w.waits_for, &*w.on)).collect();
    assert_eq!(waiting, [("rand-read", "disk reads", "disk sda")]);
    let limit = answer.bottleneck.unwrap();
    assert_eq!((limit.kind, limit.what.as_str()), (LimitKind::Device, "sda"));
    let program = &limit.programs[0];
    assert_eq!((program.program.as_str(), program.threads), ("rand-read", 1));
    assert!((program.waits[0].share - 0.95).abs() < 0.01, "{program:?}");
    assert_eq!(limit.disks[0].pool.as_deref(), Some("tank"));
    // Without waiting samples the counters say the same.
    host.evidence.profile.samples.retain(|s| s.event == Event::Cpu);
    host.works(reader, "rand-read", "entry_SYSCALL_64;do_syscall_64;zfs_read;dmu_read_uio_dnode", 20);
    assert_eq!(host.why(), line);
}

#[test]
fn a_program_that_sleeps_of_itself_waits_for_no_disk() {
    let mut host = Host::new(0.8);
    host.disk("sda", 0.3, 1.0, 40.0, 7.0);
    host.rate("zil", "zil_commit_count", 3.0);
    let writer = host.thread("writer", 0.05);
    host.works(writer, "writer", "do_syscall_64;zfs_write;dmu_write_uio_dnode", 50);
    let told = host.why();
    assert!(told.contains("writer waits for"), "nobody recorded its waits: {told}");
    host.waits(
        writer,
        "writer",
        "do_syscall_64;__x64_sys_clock_nanosleep;common_nsleep;do_nanosleep;schedule",
        9.0,
    );
    let told = host.why();
    assert!(!told.contains("waits for"), "{told}");
    // It was preempted in the kernel: that is no wait for a lock.
    host.waits(writer, "writer", "do_syscall_64;zfs_write;mutex_lock;__cond_resched;schedule", 4.0);
    let told = host.why();
    assert!(!told.contains("waits"), "{told}");
}

#[test]
fn a_host_that_is_full_or_computes_is_no_fault_of_a_disk() {
    let mut host = Host::new(0.5);
    host.disk("sda", 0.01, 1.0, 1.0, 0.2);
    let program = host.thread("simulation", 0.99);
    host.works(program, "simulation", "main;step", 990);
    assert_eq!(
        host.why(),
        "simulation computes: one of its threads takes 99 % of a CPU for work of its own; ZFS is idle: it takes 0 % of this host's."
    );
    assert_eq!(host.limit().kind, LimitKind::Client);

    let mut host = Host::new(0.97);
    host.disk("sda", 0.01, 1.0, 1.0, 0.2);
    let shell = host.thread("bash", 0.01);
    host.works(shell, "bash", "main;step", 10);
    assert_eq!(
        host.why(),
        "ZFS is idle: it takes 0 % of the CPU, its disks are 1 % busy at most, and no program waits for it."
    );
    assert_eq!(host.limit().kind, LimitKind::Idle);
}

#[test]
fn a_lock_memory_and_held_back_writes_are_told_apart() {
    let of = |stack: &str| {
        let mut host = Host::new(0.4);
        host.disk("sda", 0.99, 1.0, 150.0, 6.0);
        let writer = host.thread("writer", 0.1);
        host.waits(writer, "writer", stack, 7.0);
        (host.limit().kind, host.why())
    };
    let lead = "The CPU is not the limit (40 % idle): ";
    for (stack, kind, line) in [
        (
            "zfs_write;dmu_tx_assign;dmu_tx_wait;schedule_hrtimeout_range",
            LimitKind::Throttle,
            "writer is held back 70 % of its time, as it writes faster than the pool: disk sda is 99 % busy at 6.0 ms a write.",
        ),
        (
            "zfs_fsync;zil_commit;zil_commit_impl;__cv_timedwait_io;schedule",
            LimitKind::Device,
            "writer waits for synchronous writes to disk sda, 99 % busy at 6.0 ms a write. \
             Synchronous writes wait for log blocks on the pool's data disks.",
        ),
        (
            "zfs_create;dmu_object_alloc_impl;__mutex_lock.constprop.0;schedule",
            LimitKind::Lock,
            "writer waits 70 % of its time for a lock (dmu_object_alloc_impl).",
        ),
        (
            "zfs_write;arc_get_data_abd;arc_wait_for_eviction;__cv_wait;schedule",
            LimitKind::Memory,
            "writer waits 70 % of its time for memory.",
        ),
    ] {
        // With a cause there is no room for more.
        let line = if line.contains(". ") { line.to_owned() } else { format!("{lead}{line}") };
        assert_eq!(of(stack), (kind, line), "{stack}");
    }
}

#[test]
fn what_fills_a_disk_beside_a_writer_is_told_with_its_being_held_back() {
    let mut host = Host::new(0.93);
    host.disk("sda", 0.85, 1.0, 40.0, 128.0);
    host.rate("dmu_tx", "dmu_tx_dirty_delay", 40.0);
    let writer = host.thread("writer-of-logs", 0.05);
    host.waits(writer, "writer-of-logs", "zfs_write;dmu_tx_assign;dmu_tx_wait;schedule_hrtimeout_range", 5.1);
    let zfs = host.thread("zfs", 0.05);
    host.works(zfs, "zfs", "do_syscall_64;zfsdev_ioctl;zfs_ioc_recv_new;dmu_recv_stream", 60);
    host.waits(7, "receive_writer", "kthread;receive_writer_thread;dmu_tx_assign;dmu_tx_wait", 9.0);
    let told = host.why();
    assert!(
        told.starts_with("writer-of-logs is held back 51 % of its time: disk sda is 85 % busy"),
        "{told}"
    );
    assert!(told.ends_with("A zfs receive into tank runs at the same time."), "{told}");
}

#[test]
fn a_disk_that_is_slower_than_its_neighbours_is_told_as_that() {
    let mut host = Host::new(0.64);
    host.disk("sda", 0.998, 80.0, 1.0, 12.4);
    host.disk("sdb", 0.05, 80.0, 1.0, 0.31);
    let reader = host.thread("rand-read", 0.02);
    host.waits(reader, "rand-read", READS, 9.5);
    assert_eq!(
        host.why(),
        "The CPU is not the limit (64 % idle): rand-read waits for disk sda, 40 times slower than its neighbours \
         (12.4 ms a read)."
    );
    let (times, said) = super::alone_slow(&host.evidence).expect("two disks of a pool");
    assert_eq!(format!("{times:.0}"), "40");
    let said = said.expect("one is slow");
    assert_eq!(said, "disk sda takes 12.4 ms an operation, the next slowest of tank 0.3 ms");
    // What works in the background is told with how long it will take.
    let mut pool = json!({ "name": "tank", "vdevs": [{ "name": "sda1" }, { "name": "sdb1" }] });
    pool["scan"] = json!("scrub in progress, 25.0 % done, 03:00:00 to go");
    host.fact(json!({ "pools": [pool] }));
    host.evidence.properties.push(zwhy_evidence::Property {
        dataset: Some("tank".into()),
        name: "scan".into(),
        value: "scrub in progress, 25.0 % done, 03:00:00 to go".into(),
        origin: OriginId::default(),
    });
    let told = host.why();
    assert!(told.ends_with("A scrub of tank runs at the same time, about 3 h to go."), "{told}");
    // Where two are slow, none is alone.
    host.disk("sdc", 0.6, 60.0, 1.0, 6.2);
    host.fact(json!({ "pools": [{ "name": "tank", "vdevs": [{ "name": "sda1" }, { "name": "sdb1" }, { "name": "sdc1" }] }] }));
    let alone = super::alone_slow(&host.evidence).map(|(times, _)| format!("{times:.0}"));
    assert_eq!(alone.as_deref(), Some("2"));
    // One that reads is not slower than one whose cache takes writes.
    let mut mixed = Host::new(0.64);
    mixed.disk("sda", 0.9, 80.0, 0.0, 12.4);
    mixed.disk("sdb", 0.05, 0.0, 80.0, 0.31);
    assert!(super::alone_slow(&mixed.evidence).is_none_or(|(times, _)| times == 1.0));
    // A log device is another kind of disk on purpose.
    let vdevs = json!([{ "name": "sda1" }, { "name": "sdb1", "class": "logs" }]);
    host.fact(json!({ "pools": [{ "name": "tank", "vdevs": vdevs }] }));
    assert!(!host.why().contains("slower"), "{}", host.why());
}

#[test]
fn a_program_that_takes_memory_and_a_stopped_group_are_named() {
    let mut host = Host::new(0.5);
    host.disk("sda", 0.9, 80.0, 1.0, 9.0);
    let hog = host.thread("hog", 0.1);
    let mib = 1_048_576.0;
    for (source, name, value) in [
        ("arcstats", "size", 128.0 * mib),
        ("arcstats", "c", 128.0 * mib),
        ("arcstats", "c_min", 128.0 * mib),
        ("arcstats", "c_max", 2048.0 * mib),
        ("arcstats", "misses", 80.0),
        ("meminfo", "MemTotal", 4096.0 * mib),
        ("meminfo", "MemAvailable", 64.0 * mib),
    ] {
        host.rate(source, name, value);
    }
    host.rate(&format!("process/{hog}"), "rss_bytes", 3584.0 * mib);
    let why = "The CPU is not the limit (50 % idle): hog holds 3.5 GiB of the 4.0 GiB of memory, so the ARC (ZFS's \
               cache) has 128 MiB left.";
    assert_eq!(host.limit().text, why);
    // Two at once are both told.
    let writer = host.thread("writer", 0.9);
    host.works(writer, "writer", "kthread;zio_execute;zio_write_compress;gzip_compress;longest_match", 400);
    host.fact(json!({ "datasets": [{ "name": "tank/logs", "properties": { "compression": "gzip-9" } }] }));
    let both = host.why();
    assert!(both.starts_with("gzip compression takes ") && both.contains("hog holds 3.5 GiB"), "{both}");
    // With memory to spare it is the disk.
    host.rate("meminfo", "MemAvailable", 2048.0 * mib);
    assert_eq!(host.limit().kind, LimitKind::Device);

    let mut host = Host::new(0.8);
    for (name, value) in
        [("nr_periods", 10.0), ("nr_throttled", 9.5), ("cpu_quota_ns", 2e7), ("cpu_period_ns", 1e8)]
    {
        host.rate("cgroup/system.slice/batch", name, value);
    }
    let line = "may use 20 % of one CPU (cpu.max) and is stopped in 95 % of its periods.";
    assert_eq!(host.why(), format!("The CPU is not the limit (80 % idle): control group batch {line}"));
    let copy = host.thread("copy", 0.2);
    host.rate("cgroup/system.slice/batch", "busiest_pid", f64::from(copy));
    assert_eq!(
        host.why(),
        format!("The CPU is not the limit (80 % idle): control group batch (copy) {line}")
    );
}

#[test]
fn one_thread_and_a_hypervisor_are_limits_too() {
    let mut host = Host::new(0.45);
    let sync = host.thread("txg_sync", 0.97);
    host.works(sync, "txg_sync", "kthread;txg_sync_thread;spa_sync", 970);
    let why = "One thread is the limit (45 % of the CPU is idle): txg_sync takes 97 % of one CPU, which writes \
               transaction groups to disk, one at a time.";
    assert_eq!(host.limit().text, why);
    // A role that is too long for the line is told without its parts.
    let mut host = Host::new(0.45);
    host.thread("z_rd_int_3", 0.97);
    let why = "One thread is the limit (45 % of the CPU is idle): z_rd_int takes 97 % of one CPU, which finishes reads.";
    assert_eq!(host.limit().text, why);
    let mut host = Host::new(0.1);
    host.fact(json!({ "cpu_time": { "idle": 0.1, "steal": 0.5 } }));
    assert_eq!(host.why(), "The hypervisor holds this host back: it gave 50 % of its CPU time to others.");
}

#[test]
fn what_is_not_known_is_not_made_up() {
    // No counters of the host, or of somebody's file: nothing is said of a limit.
    let mut host = Host::new(0.64);
    host.fact(json!({ "cpu_time": {} }));
    let knowledge = Knowledge::embedded();
    assert!(explain(&host.evidence, &knowledge, &Options::default()).bottleneck.is_none());
    let mut host = Host::new(0.64);
    host.fact(json!({ "kind": "import" }));
    assert!(explain(&host.evidence, &knowledge, &Options::default()).bottleneck.is_none());
    // Next to no CPU is left, and it is not known who used it.
    let mut host = Host::new(0.15);
    host.disk("sda", 0.4, 100.0, 1.0, 4.0);
    assert!(explain(&host.evidence, &knowledge, &Options::default()).bottleneck.is_none());
}

#[test]
fn a_host_with_room_left_is_told_as_that() {
    let mut host = Host::new(0.5);
    host.disk("sda", 0.4, 100.0, 1.0, 4.0);
    assert_eq!(host.why(), "Nothing is at its limit: 50 % of the CPU is idle, disks are 40 % busy at most.");
    host.fact(json!({ "recorder": {
        "target": "system", "hz": 100.0, "duration_s": SECONDS, "wait": { "method": "sched:sched_switch" } } }));
    let told = host.why();
    assert!(told.ends_with("disks are 40 % busy at most, and no program waits long for ZFS."), "{told}");
    // Tasks that wait for a disk, whoever they are, and a part of the host.
    host.rate("pressure/io", "some_ns", 5e8);
    assert!(!host.why().contains("Nothing is at its limit"));
    let mut host = Host::new(0.5);
    host.fact(json!({ "recorder": { "target": "pid 7", "hz": 100.0, "duration_s": SECONDS } }));
    assert!(!host.why().contains("Nothing is at its limit"));
}

#[test]
fn a_thread_that_had_another_name_when_it_began_is_still_of_the_kernel() {
    let mut host = Host::new(0.4);
    let trim = host.thread("vdev_trim", 0.1);
    host.sample(trim, "zpool", "vdev_trim_thread;vdev_trim_ranges;__cv_wait", Event::Wait, (1.0, 8.0), 1);
    assert!(host.limit().programs.is_empty(), "{:?}", host.limit().programs);
}

#[test]
fn names_as_long_as_a_line_leave_the_line_short() {
    let mut host = Host::new(0.64);
    let long = "a\u{1b}[31m".repeat(30);
    host.disk(&long, 0.99, 80.0, 1.0, 12.4);
    let reader = host.thread(&long, 0.02);
    host.waits(reader, &long, READS, 9.5);
    assert!(host.why().chars().count() <= MOST_CHARACTERS);
}

#[test]
fn a_slow_disk_is_found_by_its_device_whatever_the_pool_calls_it() {
    let mut host = Host::new(0.64);
    let disk = |name: &str, device: &str| json!({ "name": name, "device": device });
    host.fact(json!({ "pools": [{ "name": "tank", "vdevs": [
        { "name": "mirror-0", "children": [disk("ata-ST4000_A", "sda1"), disk("wwn-0x5000c5", "sdb")] },
    ] }] }));
    host.disk("sda", 0.99, 80.0, 1.0, 40.0);
    host.disk("sdb", 0.4, 80.0, 1.0, 1.0);
    let reader = host.thread("rand-read", 0.02);
    host.waits(reader, "rand-read", READS, 9.5);
    let line = "The CPU is not the limit (64 % idle): rand-read waits for disk sda, 40 times slower than its \
                neighbours (40.0 ms a read).";
    assert_eq!(host.why(), line);
    // The queues of ZFS say the same, and nothing of them stands out.
    for (name, ms) in [("ata-ST4000_A", 40), ("wwn-0x5000c5", 1)] {
        let source = format!("vdev/tank/{name}");
        host.queues(&source, &[("reads_s", 80), ("disk_read_ns", ms * 1_000_000), ("syncq_read_active", 1)]);
    }
    assert_eq!(host.why(), line);
    let slowest = VdevLoad::all(&host.evidence.timeline);
    let slowest = slowest.iter().max_by(|a, b| a.mean("disk_read_ns").total_cmp(&b.mean("disk_read_ns")));
    assert_eq!(slowest.map(|load| load.disk.as_str()), Some("ata-ST4000_A"));
    assert!(host.limit().queues.is_empty());
}

#[test]
fn a_queue_that_zfs_keeps_short_is_told_beside_the_disk() {
    let mut host = Host::new(0.64);
    host.disk("sda", 0.998, 3000.0, 1.0, 0.3);
    let reader = host.thread("rand-read", 0.02);
    host.waits(reader, "rand-read", READS, 9.5);
    for (class, limit) in
        [("sync_read", "1"), ("sync_write", "10"), ("async_read", "3"), ("async_write", "10")]
    {
        host.param(&format!("zfs_vdev_{class}_max_active"), limit);
    }
    let figures = [
        ("reads_s", 3000),
        ("disk_read_ns", 300_000),
        ("syncq_read_ns", 4_000_000),
        ("syncq_read_pending", 14),
        ("syncq_read_active", 1),
    ];
    host.queues("vdev/tank/sda1", &figures);
    let line = "Not the CPU (64 % idle): rand-read waits for disk sda, 100 % busy at 0.30 ms a read. ZFS allows the \
                disks of tank few requests at once (zfs_vdev_*_max_active).";
    assert_eq!(host.why(), line);
    let queues = host.limit().queues;
    assert_eq!((queues.len(), queues[0].disk.as_str(), queues[0].limit), (1, "sda1", Some(1)));
    // The same disk, given as many as it can take.
    host.evidence.timeline.lines.clear();
    host.queues("vdev/tank/sda1", &[("reads_s", 3000), ("disk_read_ns", 300_000), ("syncq_read_active", 3)]);
    assert!(!host.why().contains("max_active") && host.limit().queues.is_empty(), "{}", host.why());
}
