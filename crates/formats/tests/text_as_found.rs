//! Text as it is found: of tools that resemble each other, with lines gone, added or in another encoding.

mod common;

use common::{folded, import_detected, input};
use std::path::Path;
use zwhy_evidence::Imported;
use zwhy_formats::{ImportOptions, import_bytes};
use zwhy_profile::{Event, Profile, Unit};

fn detected(bytes: &[u8]) -> Imported {
    let options = ImportOptions { host_symbols: false, ..ImportOptions::default() };
    let imported = import_bytes("x", bytes.to_vec(), &options).expect("readable");
    assert!(imported.stats.balanced(), "{:?}", imported.stats);
    imported
}

/// Thread, root first stack and amount of each sample.
fn rows(p: &Profile, event: Event) -> Vec<(String, String, u64)> {
    let rows = p.samples.iter().enumerate().filter(|(_, s)| s.event == event);
    rows.map(|(row, s)| {
        let comm = p.strings.get(p.threads.get(s.thread).comm).to_owned();
        (comm, p.function_names(s.stack).join(";"), p.amounts().of(row))
    })
    .collect()
}

/// Folders of inputs are called like their formats.
#[test]
fn every_input_is_taken_for_its_own_format() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs");
    let mut seen = 0;
    for folder in std::fs::read_dir(root).expect("inputs").flatten() {
        let format = folder.file_name().to_string_lossy().replace('_', "-");
        for file in std::fs::read_dir(folder.path()).expect("a folder").flatten() {
            let bytes = std::fs::read(file.path()).expect("a file");
            let options = ImportOptions { host_symbols: false, ..ImportOptions::default() };
            let name = file.file_name().to_string_lossy().into_owned();
            match import_bytes(&name, bytes, &options) {
                Ok(imported) => assert_eq!(imported.stats.format, format, "{name}"),
                Err(error) => assert_eq!(format, "pasted", "{name}: {error}"),
            }
            seen += 1;
        }
    }
    assert!(seen > 40, "{seen}");
}

#[test]
fn dtrace_with_empty_user_stacks_is_not_taken_for_perf() {
    let imported = import_detected("dtrace", &input("dtrace/empty-user-stack.txt"));
    assert_eq!(imported.evidence.profile.total(Event::Cpu), 465);
}

#[test]
fn perf_script_without_indentation_and_with_lines_between_is_the_same_profile() {
    let want = detected(&input("perf_script/unindented.txt"));
    assert_eq!((want.stats.read, want.stats.kept), (11, 11));
    let want = folded(&want.evidence.profile, Event::Cpu);
    assert!(want.contains("do_syscall_64;arc_read;zio_read 4\n"), "{want}");
    for (name, odd) in [("blank-lines", 0), ("odd-lines", 2)] {
        let imported = import_detected("perf-script", &input(&format!("perf_script/{name}.txt")));
        let stats = &imported.stats;
        assert_eq!((stats.read, stats.kept, stats.dropped_total()), (11 + odd, 11, odd), "{name}");
        assert_eq!(folded(&imported.evidence.profile, Event::Cpu), want, "{name}");
    }
}

#[test]
fn folded_stacks_between_other_lines_are_all_kept() {
    let imported = import_detected("folded", &input("folded/junk-lines.folded"));
    assert_eq!((imported.stats.read, imported.stats.kept, imported.stats.dropped_total()), (92, 60, 32));
    assert_eq!(imported.evidence.profile.total(Event::Cpu), 60 * 61 / 2);
}

#[test]
fn text_of_windows_is_read_in_both_byte_orders() {
    for name in ["folded/junk-lines.folded", "perf_script/unindented.txt", "perf_report/flat.txt"] {
        let plain = input(name);
        let want = detected(&plain);
        let text = String::from_utf8(plain.clone()).expect("plain text");
        let units = || std::iter::once(0xfeffu16).chain(text.encode_utf16());
        let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
        for bytes in [little, big, [b"\xef\xbb\xbf", &plain[..]].concat()] {
            let imported = detected(&bytes);
            assert_eq!(
                (imported.stats.format.as_str(), imported.stats.kept),
                (want.stats.format.as_str(), want.stats.kept)
            );
            assert_eq!(imported.evidence.flat.len(), want.evidence.flat.len());
            assert_eq!(
                folded(&imported.evidence.profile, Event::Cpu),
                folded(&want.evidence.profile, Event::Cpu)
            );
        }
    }
}

#[test]
fn stackcount_counts_calls_by_process() {
    let imported = import_detected("dtrace", &input("dtrace/bcc-stackcount.txt"));
    let got = rows(&imported.evidence.profile, Event::Count);
    assert_eq!(got.len(), 2, "{got:?}");
    assert_eq!(got[0], ("fio".into(), "[unknown];dbuf_read;arc_read;zio_read;zio_create".into(), 5));
    assert_eq!(got[1], ("txg_sync".into(), "txg_sync_thread;arc_write;zio_write;zio_create".into(), 31));
    assert_eq!(imported.evidence.profile.total(Event::Cpu), 0);
}

#[test]
fn tools_that_add_up_microseconds_give_time_asleep() {
    type Row = (&'static str, &'static str, u64);
    let cases: [(&str, &[Row]); 4] = [
        (
            "wakeuptime",
            &[
                ("txg_sync", "taskq_thread;zio_execute;zio_done;__wake_up", 400_120_000),
                ("fio", "txg_quiesce_thread;__wake_up", 88_000),
            ],
        ),
        (
            "offcputime",
            &[
                ("postgres", "zfs_fsync;txg_wait_synced;cv_wait_common;schedule", 2_500_000),
                ("z_null_iss/0", "kthread;taskq_thread;schedule", 40_000),
            ],
        ),
        (
            "offcputime-pid",
            &[
                ("postgres", "zil_commit;cv_wait_common;schedule;finish_task_switch", 1_200_000),
                ("Web Content", "sleep_loop;do_nanosleep;finish_task_switch", 7_000),
            ],
        ),
        ("offwaketime", &[("cksum", "dmu_read;zio_wait;cv_wait_common;schedule", 56_529_000)]),
    ];
    for (name, want) in cases {
        let imported = import_detected("dtrace", &input(&format!("dtrace/bcc-{name}.txt")));
        let p = &imported.evidence.profile;
        let got = rows(p, Event::Wait);
        let got: Vec<_> = got.iter().map(|(comm, stack, n)| (comm.as_str(), stack.as_str(), *n)).collect();
        assert_eq!(got, want, "{name}");
        assert_eq!((&p.measure(Event::Wait).unit, p.measure(Event::Wait).counted), (&Unit::Nanos, false));
    }
}

#[test]
fn stacks_of_other_processors_say_what_a_task_waits_in() {
    for (name, want) in [
        ("arm64", "ret_from_fork;kthread;spa_sync;zio_wait;cv_wait_common;schedule;__schedule;__switch_to"),
        ("ppc64", "system_call_exception;txg_wait_synced;cv_wait_common;schedule;__schedule;__switch_to"),
    ] {
        let imported = import_detected("kernel-stacks", &input(&format!("kernel_stacks/{name}.txt")));
        let trees = &imported.evidence.trees;
        assert!(trees.iter().any(|t| t.waiting && t.frames.join(";") == want), "{name}: {trees:?}");
        if name == "arm64" {
            let lockup = trees.iter().find(|t| !t.waiting).expect("a lockup");
            assert_eq!(lockup.frames.join(";"), "kthread;arc_prune_task;zio_wait");
        }
        assert!(trees.iter().all(|t| !t.frames.iter().any(|f| f.starts_with('.'))), "{name}");
    }
}

#[test]
fn perf_report_by_thread_and_module_is_read() {
    let imported = import_detected("perf-report", &input("perf_report/comm-dso.txt"));
    let rows: Vec<_> = imported.evidence.flat.iter().collect();
    let row = |i: usize| (rows[i].pct, rows[i].comm.as_deref(), rows[i].module.as_deref());
    assert_eq!(rows.len(), 4);
    assert_eq!(row(0), (Some(61.25), Some("z_rd_int"), Some("zfs")));
    assert_eq!(row(3), (Some(1.05), Some("fio"), Some("libc.so.6")));
    let tree = &imported.evidence.trees[0];
    assert_eq!(tree.frames.join(";"), "ret_from_fork;kthread;taskq_thread;zio_execute;zio_checksum_verify");
    assert_eq!(tree.pct, Some(61.25));
}

#[test]
fn sentences_with_a_colon_and_a_list_of_disks_are_no_samples() {
    for text in [
        "Fix premature arc growth.\nthe arc grows under memory pressure: a memory tug-o-war under I/O.\n",
        "zfs is slow.\narc under pressure: bad memory\n",
        "zpool status on ZFS:\n  pool: tank\n state: ONLINE\nconfig:\n\n        NAME   STATE     READ WRITE CKSUM\n\
         \x20       tank   ONLINE       0     0     0\n          sda    ONLINE       0     0     0  block size: 512B \
         configured, 4096B native\n",
    ] {
        let read = detected(text.as_bytes());
        assert_eq!(
            (read.stats.format.as_str(), read.evidence.profile.samples.len()),
            ("pasted", 0),
            "{text}"
        );
    }
}

#[test]
fn a_sentence_with_a_semicolon_and_a_figure_at_its_end_is_no_folded_stack() {
    let text = b"ARC of ZFS drops to its minimum although much memory is free; that began with kernel 5.4\n";
    let imported = detected(text);
    assert!(imported.stats.format == "pasted" && imported.evidence.profile.samples.is_empty());
    let stacks =
        b"Web Content;Compositor thread; of the page;draw (long name of a function) 12\nmain;a b c;d 3\n";
    assert_eq!(detected(stacks).stats.format, "folded");
}

#[test]
fn the_progress_of_a_scan_is_read_without_the_rest_of_zpool_status() {
    let scan = |text: &str| {
        let imported = detected(text.as_bytes());
        let scan = imported.evidence.properties.iter().find(|p| p.name == "scan");
        scan.map(|p| (p.dataset.clone(), p.value.clone()))
    };
    let told = "It takes ages:\n  scan: resilver in progress since Thu Jun 18 14:25:34 2020\n    512G scanned out of \
                20.1T at 18.2M/s, 313h21m to go\n    60.1G resilvered, 2.49% done\n\nWhat can I do with ZFS?\n";
    let (pool, value) = scan(told).expect("read");
    assert!(pool.is_none() && value.contains("18.2M/s, 313h21m to go 60.1G resilvered"), "{value}");
    assert!(
        scan("zfs:\n7.19G scanned out of 10.2T at 46.0M/s, 64h23m to go\n1.73G resilvered, 0.07% done\n")
            .is_some()
    );
    for none in
        ["zfs\n  scan: scrub repaired 0B in 01:02:03 with 0 errors\n", "zfs\n9 scanned files a second\n"]
    {
        assert_eq!(scan(none), None, "{none}");
    }
}
