//! The texts for people, byte by byte, for small fixed inputs. `BLESS=1` rewrites them.

use std::collections::BTreeMap;
use std::path::Path;
use zwhy_diagnose::{
    Answer, BackgroundWork, Bottleneck, CallPart, ChoiceAnswer, ConfidenceWord, DatasetDemand, Demand,
    DiskRow, EvidenceLine, Finding, Gain, Knowledge, LabelRow, LimitKind, MachineLimit, PathRow, PathStep,
    ProgramDemand, ProgramTime, Quality, QueueRow, Range, RemedyAnswer, RowAnswer, RuledOut, ShareOf, Source,
    SpeedUp, StageRow, ThreadRow, TimePart, WhatIf, WhoRow, WholeAnswer, classify,
};
use zwhy_evidence::{ImportStats, Itself};
use zwhy_profile::{Event, FrameKind, FunctionTotals, Profile};
use zwhy_report::{DiffReport, DiffSide, Style, answer_markdown, answer_text, functions_text, stats_text};

const COLOUR: fn() -> Style = || Style::for_terminal(true, None, None);

/// Compares with `tests/golden/NAME`.
#[track_caller]
fn golden(name: &str, got: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, got).expect("the golden file");
    }
    let want = std::fs::read_to_string(&path).expect("the golden file; BLESS=1 writes it");
    assert_eq!(got, want, "{name}; if this is better, BLESS=1 keeps it");
}

fn step(function: &str, samples: u64, useful: bool, inside: Vec<PathStep>) -> PathStep {
    PathStep {
        function: function.into(),
        what: "what it does".into(),
        useful,
        samples,
        share: share(samples as f64 / 11_804.0, 0.0, 1.0),
        of_path: samples as f64 / 7000.0,
        inside,
    }
}

fn share(value: f64, low: f64, high: f64) -> ShareOf {
    ShareOf { value, low, high }
}

fn stage(name: &str, samples: u64, share: ShareOf, labels: &[(&str, f64)], who: &[(&str, f64)]) -> StageRow {
    let label = |(label, s): &(&str, f64)| LabelRow { label: (*label).into(), share: ShareOf::figure(*s) };
    let thread = |(thread, share): &(&str, f64)| WhoRow { thread: (*thread).into(), share: *share };
    StageRow {
        stage: name.into(),
        samples,
        share,
        labels: labels.iter().map(label).collect(),
        without: (name != "idle").then(|| SpeedUp {
            at_most: Some(1.0 / (1.0 - share.value)),
            low: 1.0,
            high: None,
        }),
        limits: Vec::new(),
        who: who.iter().map(thread).collect(),
    }
}

fn thread(comm: &str, role: &str, threads: usize, cpu_s: Option<f64>, samples: u64) -> ThreadRow {
    let cpu_share = cpu_s.map(|s| s / 60.0);
    ThreadRow { comm: comm.into(), role: role.into(), threads, cpu_s, cpu_share, samples }
}

/// A disk that a program waits for; names are hostile.
fn slow_disk() -> Bottleneck {
    let part = |waits_for: &str, share| TimePart { waits_for: waits_for.into(), share };
    let program = |program: &str, waits| ProgramTime {
        program: program.into(),
        threads: 4,
        wall_s: 240.0,
        on_cpu: Some(0.021),
        waits,
    };
    let disk = |disk: &str, pool: Option<&str>, busy, read_ms| DiskRow {
        disk: disk.into(),
        pool: pool.map(str::to_owned),
        busy,
        reads_s: 80.2,
        writes_s: 3.0,
        read_bytes_s: 10_485_760.0,
        written_bytes_s: 4096.0,
        read_ms,
        write_ms: Some(0.4),
        queue: 1.02,
    };
    Bottleneck {
        kind: LimitKind::Device,
        text:
            "The CPU is not the limit (31 % idle): dd waits for disk nvme0n1, 100 % busy at 12.4 ms a read."
                .into(),
        what: "nvme0n1".into(),
        cpu_idle: Some(0.306),
        cpu_stolen: None,
        programs: vec![
            program("dd\u{1b}[31m|`x`", vec![part("disk reads", 0.95), part("a lock", 0.01)]),
            program("rsync", vec![part("synchronous writes", 0.5)]),
            program("only in full", vec![]),
        ],
        disks: vec![disk("nvme0n1", Some("ta|nk"), 0.998, Some(12.41)), disk("sdb", None, 0.01, None)],
        queues: vec![QueueRow {
            disk: "nvme0n1".into(),
            pool: "ta|nk".into(),
            queue: "synchronous reads".into(),
            waiting: 38.4,
            active: 9.8,
            limit: Some(10),
            wait_ms: 47.6,
            disk_ms: Some(12.41),
        }],
    }
}

/// Two programs, a dataset and a scrub; names are hostile.
fn who_asks() -> Demand {
    let call = |call: &str, share| CallPart { call: call.into(), share };
    let reader = ProgramDemand {
        program: "dd\u{1b}[31m|`x`".into(),
        owner: Some("container a|b".into()),
        processes: 3,
        read_bytes_s: Some(10_485_760.0),
        written_bytes_s: Some(512.0),
        memory_bytes: Some(2_097_152.0),
        zfs_part: Some(0.913),
        calls: vec![call("reads", 0.972), call("other calls", 0.028)],
    };
    let unread = ProgramDemand { program: "nfsd".into(), processes: 1, ..ProgramDemand::default() };
    let dataset = DatasetDemand {
        dataset: "ta|nk/db".into(),
        owner: Some("guest web1".into()),
        reads_s: 80.2,
        writes_s: 3.0,
        read_bytes_s: 5_242_880.0,
        written_bytes_s: 8192.0,
        commits_s: Some(1.5),
    };
    let scrub = BackgroundWork {
        work: "scrub".into(),
        pool: "ta|nk".into(),
        done: Some(0.123),
        left_bytes: None,
        left_s: Some(5400.0),
        disk_share: Some(0.624),
        slows: vec!["dd\u{1b}[31m|`x`".into()],
    };
    let freeing = BackgroundWork {
        work: "freeing of destroyed data".into(),
        pool: "tank".into(),
        left_bytes: Some(4096.0),
        ..BackgroundWork::default()
    };
    Demand { programs: vec![reader, unread], datasets: vec![dataset], background: vec![scrub, freeing] }
}

/// A host whose reads decrypt AES-CCM, with a second finding and a thread whose name is hostile.
fn ccm_host() -> Answer {
    let evidence = |claim: &str, measure: &str| EvidenceLine {
        claim: claim.into(),
        measure: measure.into(),
        figures: Vec::new(),
        source: "samples".into(),
        frames: Vec::new(),
    };
    let ccm = Finding {
        class: "crypto-ccm-not-accelerated".into(),
        title: "AES-CCM encryption runs in slow per-block code".into(),
        confidence: 0.96,
        confidence_word: ConfidenceWord::High,
        share: Some(share(0.631, 0.592, 0.670)),
        rows: vec![
            RowAnswer {
                kind: "dataset".into(),
                name: "tank/games".into(),
                read_bytes_s: Some(209_715_200.0),
                written_bytes_s: Some(0.0),
                cpus: None,
                part: Some(0.98),
            },
            RowAnswer {
                kind: "dataset".into(),
                name: "tank/\u{1b}[31mred".into(),
                read_bytes_s: None,
                written_bytes_s: None,
                cpus: None,
                part: None,
            },
        ],
        rows_more: 3,
        rows_unseen: 0,
        without: Some(SpeedUp { at_most: Some(11.0), low: 9.2, high: Some(14.3) }),
        limits: vec![MachineLimit {
            work: "aes-256-gcm".into(),
            mb_s: 4100.0,
            source: "measured with ring".into(),
            achieved_mb_s: Some(200.0),
            text: "200 MB/s of the 4,100 MB/s that one CPU here decrypts (aes-256-gcm, measured with ring)".into(),
        }],
        evidence: vec![
            evidence("The CCM mode code is on the CPU.", "ccm_mode_decrypt_contiguous_blocks: 63.1 % (59.2–67.0 %)"),
            evidence("A dataset is encrypted with CCM.", "encryption is aes-256-ccm on tank/games"),
            evidence("The FPU state is saved for each block.", "kfpu_begin, kfpu_end: 29.0 %"),
            evidence("No fast code was chosen.", ""),
            evidence("One more that only -v shows.", "1 of 1"),
        ],
        against: Vec::new(),
        explanation: "CCM goes through generic C for every block of 16 bytes: it encrypts one block, XORs it \
                      into the tag and copies it, and each call saves and restores the FPU state."
            .into(),
        gain: Some(Gain {
            zfs_cpu_less: Some(Range { low: 0.47, high: 0.75 }),
            cpu_less: Some(Range { low: 0.41, high: 0.67 }),
            faster: None,
            reason: "GCM has fast code.".into(),
            text: "The same work should take ZFS 47 to 75 % less CPU. GCM has fast code.".into(),
        }),
        remedy: RemedyAnswer {
            text: "Send the dataset into a new one with aes-256-gcm.".into(),
            commands: vec![
                "zfs snapshot tank/games@move".into(),
                "zfs send -R tank/games@move | zfs receive -o encryption=aes-256-gcm -o keyformat=passphrase tank/gcm"
                    .into(),
            ],
            complete: true,
            place: vec!["3 more datasets need the same commands.".into()],
            look: vec!["zfs get encryption tank/games".into()],
            undo: vec!["zfs destroy -r tank/gcm".into()],
            choices: vec![ChoiceAnswer {
                text: "Keep the old dataset, and encrypt only new data.".into(),
                commands: vec!["zfs create -o encryption=aes-256-gcm tank/new".into()],
                undo: vec!["zfs destroy tank/new".into()],
            }],
            advice: vec!["A CPU with AVX does GCM ten times as fast.".into()],
            undo_note: "The old dataset is not touched.".into(),
            rewrite: Some("encryption only applies to what is written from now on.".into()),
            risk: "Needs free space for a second copy.".into(),
        },
        next: vec!["zfs get -t filesystem,volume encryption".into(), "zpool list".into()],
        rules_out: vec![RuledOut { class: "crypto-fpu-save-per-block".into(), why: "That one is GCM.".into() }],
        experiment: Some("encryption".into()),
        references: vec!["https://github.com/openzfs/zfs/pull/9749".into()],
        affected: "0.8.0 and later".into(),
        fixed_in: None,
        upgrade: None,
    };
    let copy = Finding {
        class: "abd-extra-copy-on-read".into(),
        title: "Small blocks in scatter buffers are copied to a linear one for each read of theirs".into(),
        confidence: 0.5,
        confidence_word: ConfidenceWord::Medium,
        share: None,
        without: Some(SpeedUp { at_most: None, low: 1.0, high: None }),
        limits: Vec::new(),
        evidence: Vec::new(),
        against: vec![evidence("Blocks are as large as their buffers.", "recordsize = 1048576")],
        experiment: None,
        gain: None,
        ..ccm.clone()
    };
    Answer {
        zwhy: "0.1.0".into(),
        schema: 1,
        source: Source {
            name: "tank.zwhy".into(),
            kind: "record".into(),
            host: Some("db7".into()),
            kernel: Some("6.1.0".into()),
            os: Some("Debian 12".into()),
            zfs_version: Some("2.3.2".into()),
            duration_s: Some(60.0),
            hz: Some(99.0),
            samples: Some(11_804),
            amount: 11_804,
            unit: "samples".to_owned(),
            lost: Some(2),
            zfs_in_use: Some(true),
        },
        whole: Some(WholeAnswer {
            what: "this host's CPU, idle time included".into(),
            cpu_s: Some(82.75),
            of_host: None,
            idle: true,
        }),
        why: "AES-CCM decryption takes 63 % of this host's CPU (59–67 %, confidence high).".into(),
        act: Some("Move tank/games to aes-256-gcm; the cipher of a dataset cannot be changed in place.".into()),
        bottleneck: Some(slow_disk()),
        demand: Some(who_asks()),
        findings: vec![ccm, copy],
        stages: vec![
            stage("decrypt", 7448, share(0.631, 0.592, 0.670), &[("FPU state", 0.29)], &[("z_rd_int", 1.0)]),
            stage("copy", 744, share(0.063, 0.058, 0.068), &[("copy", 0.01)], &[("dd", 0.7), ("z_rd_int", 0.3)]),
            stage("idle", 3600, share(0.305, 0.297, 0.313), &[], &[("swapper", 1.0)]),
            stage("zil", 8, share(0.0007, 0.0003, 0.0013), &[], &[("dd", 1.0)]),
            stage("dsl", 4, share(0.0003, 0.0001, 0.0009), &[], &[("dd", 1.0)]),
        ],
        origins: Vec::new(),
        paths: vec![PathRow {
            name: "Reading files".into(),
            root: "zfs_read".into(),
            samples: 7000,
            share: share(0.593, 0.584, 0.602),
            steps: vec![
                step("dmu_buf_hold_array_by_dnode", 6000, false, vec![step("dbuf_hold", 500, false, Vec::new())]),
                step("uiomove", 800, true, Vec::new()),
                step("zfs_rangelock_exit", 3, false, Vec::new()),
            ],
            rest: 197,
        }],
        waiting: Vec::new(),
        threads: vec![
            thread("z_rd_int", "finishes reads: verifies checksums, decrypts, decompresses, reconstructs", 4, Some(37.5), 7600),
            thread("swapper", "", 2, None, 3612),
            thread("dd\u{1b}[31m|`x`", "", 1, Some(0.25), 592),
            thread("arc_prune", "asks file systems to release metadata", 1, Some(0.0), 0),
        ],
        itself: Some(Itself {
            program: "zwhy".into(),
            cpu_s: Some(0.52),
            of_one_cpu: Some(0.0087),
            samples: 51,
        }),
        what_if: Some(WhatIf { busy: Some(0.694), assumption: "If the CPU limits, and nothing else.".into() }),
        quality: Quality {
            read: 11_810,
            kept: 11_804,
            // A blank line is told in JSON and to nobody else.
            dropped: BTreeMap::from([("no thread".to_owned(), 4), ("blank line".to_owned(), 9)]),
            lost: Some(2),
            unit: "samples".into(),
            unresolved: BTreeMap::new(),
            warnings: vec!["no hardware counters here: a timer samples instead, and code that runs with interrupts off is charged to where they are turned on again".into()],
            ..Quality::default()
        },
        stats: serde_json::Value::Null,
    }
}

/// No samples, no threads, nothing found: figures of a pasted text.
fn nothing_found() -> Answer {
    Answer {
        source: Source { name: "pasted.txt".into(), ..Source::default() },
        why: "Too little evidence to name a cause.".into(),
        act: Some("Record the host while it happens: zwhy record -a -d 30 -o host.zwhy".into()),
        bottleneck: None,
        demand: None,
        findings: Vec::new(),
        stages: Vec::new(),
        paths: Vec::new(),
        waiting: Vec::new(),
        threads: Vec::new(),
        itself: None,
        whole: None,
        quality: Quality { lost: Some(0), ..Quality::default() },
        ..ccm_host()
    }
}

#[test]
fn explain() {
    golden("explain.txt", &answer_text(&ccm_host(), false, "my tank.zwhy", Style::PLAIN));
}

#[test]
fn explain_in_the_width_there_is() {
    let answer = ccm_host();
    for columns in [40, 160] {
        let text = answer_text(&answer, true, "my tank.zwhy", Style::PLAIN.wide(columns));
        let longest = text.lines().filter(|line| !is_one_word(line)).map(|l| l.chars().count()).max();
        assert!(longest <= Some(columns), "{columns}: {longest:?}\n{text}");
        golden(&format!("explain-v-{columns}-columns.txt"), &text);
    }
}

/// What cannot be broken: an address, a name, a command that is written as one.
fn is_one_word(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("zwhy ") || line.split(' ').filter(|word| word.len() > 12).count() == 1
}

#[test]
fn explain_verbose() {
    golden("explain-v.txt", &answer_text(&ccm_host(), true, "tank.zwhy", Style::PLAIN));
}

#[test]
fn explain_in_colour() {
    golden("explain-colour.txt", &answer_text(&ccm_host(), false, "tank.zwhy", COLOUR()));
}

#[test]
fn explain_of_standard_input_with_nothing_found() {
    golden("explain-nothing.txt", &answer_text(&nothing_found(), false, "-", Style::PLAIN));
}

#[test]
fn explain_of_a_lab_capture_does_not_send_to_the_lab() {
    let mut answer = ccm_host();
    answer.source.kind = "lab".into();
    let text = answer_text(&answer, false, "x.zwhy", Style::PLAIN);
    assert!(!text.contains("zwhy lab run"), "{text}");
}

#[test]
fn markdown() {
    golden("explain.md", &answer_markdown(&ccm_host()));
}

/// Stacks with threads: `(thread, root first, samples)`.
fn profile(stacks: &[(&str, &[&str], u32)]) -> Profile {
    let mut profile = Profile::new();
    for (tid, (comm, names, count)) in stacks.iter().enumerate() {
        let tid = i32::try_from(tid).expect("few threads") + 1;
        let module = if *comm == "swapper" { "kernel" } else { "zfs" };
        let frames: Vec<_> = names.iter().map(|n| profile.frame(n, module, FrameKind::Kernel)).collect();
        let stack = profile.stack(&frames);
        let thread = profile.thread(tid, tid, comm);
        profile.samples.push_counted(thread, stack, Event::Cpu, *count);
    }
    profile
}

fn before() -> Profile {
    profile(&[
        ("z_rd_int", &["zio_execute", "zio_decrypt", "aes_encrypt_block"], 700),
        ("dd", &["zfs_read", "uiomove"], 60),
        ("swapper", &["do_idle", "intel_idle"], 100),
    ])
}

fn after() -> Profile {
    profile(&[
        ("z_rd_int", &["zio_execute", "zio_decrypt", "gcm_decrypt\u{1b}[2J"], 520),
        ("dd", &["zfs_read", "uiomove"], 64),
        ("swapper", &["do_idle", "intel_idle"], 28_000),
    ])
}

fn compared(before: &Profile, after: &Profile) -> DiffReport {
    let anatomy = Knowledge::embedded().anatomy;
    let classified = [before, after].map(|profile| classify(profile, &anatomy));
    let side = |profile, classified| DiffSide { profile, classified };
    DiffReport::new(side(before, &classified[0]), side(after, &classified[1]))
}

#[test]
fn diff() {
    let report = compared(&before(), &after());
    let text = report.text(20, usize::MAX, Style::PLAIN);
    golden("diff.txt", &text);
    let verdict = text.split("\n\n").next().expect("a verdict");
    assert!(!verdict.contains("idle"), "the idle loop changes most, and says least: {verdict}");
}

#[test]
fn diff_of_the_same() {
    let report = compared(&before(), &before());
    golden("diff-same-n-1.txt", &report.text(1, usize::MAX, Style::PLAIN));
}

#[test]
fn top_functions() {
    let profile = after();
    let totals = FunctionTotals::of(&profile, Event::Cpu);
    golden("top-functions.txt", &functions_text(&profile, &totals, usize::MAX, Style::PLAIN));
    golden("top-functions-44-columns.txt", &functions_text(&profile, &totals, 44, Style::PLAIN));
}

#[test]
fn import_stats() {
    let mut stats = ImportStats::new("perf.data", "samples");
    (stats.read, stats.kept, stats.lost, stats.lost_bytes) = (1204, 1190, 4, 312);
    stats.drop("AUX data", 10);
    stats.warnings.push("the file is cut: record 1,204 claims 70,000 bytes, 312 are left".into());
    golden("import-stats.txt", &stats_text("perf\u{1b}.data", &stats));
}
