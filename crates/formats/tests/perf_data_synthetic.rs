//! perf.data files that the tests write themselves: what must be read, and what damage may cost.

#[path = "support/perf_data_writer.rs"]
mod writer;

use proptest::prelude::*;
use writer::{Attr, KERNEL_MARK, TEXT, USER_MARK, Writer, usual};
use zwhy_formats::{ErrorKind, ImportOptions, Imported, import_bytes};
use zwhy_profile::{Event, FoldedStacks};

/// No symbols of the machine that runs the tests.
fn options() -> ImportOptions {
    ImportOptions { host_symbols: false, ..ImportOptions::default() }
}

fn read_with(bytes: &[u8], options: &ImportOptions) -> Imported {
    let imported = import_bytes("test.data", bytes.to_vec(), options).expect("readable");
    assert!(imported.stats.balanced(), "{:?}", imported.stats);
    imported
}

fn read(bytes: &[u8]) -> Imported {
    read_with(bytes, &options())
}

fn folded(imported: &Imported) -> String {
    FoldedStacks::text(&imported.evidence.profile, Event::Cpu)
}

fn comms(imported: &Imported) -> Vec<(i32, i32, String)> {
    let p = &imported.evidence.profile;
    let of = |s: zwhy_profile::Sample| {
        let t = p.threads.get(s.thread);
        (t.pid, t.tid, p.strings.get(t.comm).to_owned())
    };
    p.samples.iter().map(of).collect()
}

fn warned(imported: &Imported, text: &str) -> bool {
    imported.stats.warnings.iter().any(|w| w.contains(text))
}

#[test]
fn file_pipe_and_killed_file_of_both_byte_orders_are_one_profile() {
    let expected = folded(&read(&usual(false, 30).file().bytes));
    assert!(expected.contains("app+0x10;kernel+0x1f;kernel+0x0 1\n"), "{expected}");
    for big in [false, true] {
        let w = usual(big, 30);
        for (form, written) in [("file", w.file()), ("pipe", w.pipe()), ("killed", w.killed())] {
            let imported = read(&written.bytes);
            let stats = &imported.stats;
            assert_eq!(
                (stats.read, stats.kept, stats.lost, stats.lost_bytes),
                (30, 30, 0, 0),
                "{form} {big}"
            );
            assert_eq!(folded(&imported), expected, "{form} {big}");
            assert_eq!(warned(&imported, "ended before it closed"), form == "killed");
            let host = imported.evidence.host.name.as_deref();
            assert_eq!(host, if form == "killed" { None } else { Some("db7") });
        }
    }
}

#[test]
fn threads_have_their_names_and_the_idle_task_is_kept() {
    let imported = read(&usual(false, 3).file().bytes);
    let expected = [(10, 10, "app"), (20, 20, "z_rd_int"), (0, 0, "swapper")];
    assert_eq!(comms(&imported), expected.map(|(p, t, c)| (p, t, c.to_owned())));
    let samples = &imported.evidence.profile.samples;
    assert_eq!(samples.cpu, [0, 1, 1]);
    assert_eq!(samples.weight[0].0, 1_000_000);
}

#[test]
fn a_thread_inherits_its_name_and_a_process_its_mappings() {
    let mut w = usual(false, 0);
    w.sample(30, 31, 50, 0, &[USER_MARK, 0x40_0100]);
    w.fork(30, 10, 30, 10, 100);
    w.fork(30, 30, 31, 30, 110);
    w.sample(30, 31, 150, 0, &[USER_MARK, 0x40_0100]);
    // Another program: the old mapping is gone, a new one has its place.
    w.comm(30, 31, 200, b"other", true);
    w.mmap2(30, 210, (0x40_0000, 0x1000, 0x2000), b"/nowhere/other", None);
    w.sample(30, 31, 250, 0, &[USER_MARK, 0x40_0100]);
    w.sample(10, 10, 260, 0, &[USER_MARK, 0x40_0100]);
    let imported = read(&w.file().bytes);
    let names: Vec<String> = comms(&imported).into_iter().map(|(_, _, comm)| comm).collect();
    assert_eq!(names, ["app", "app", "other", "app"]);
    assert_eq!(folded(&imported), "app+0x100 3\nother+0x2100 1\n");
}

#[test]
fn remapped_code_changes_its_meaning_at_that_time() {
    let mut w = usual(false, 0);
    // Written in this order by buffers of two CPUs; time decides.
    w.sample(10, 10, 300, 0, &[USER_MARK, 0x40_0800]);
    w.mmap2(10, 200, (0x40_0800, 0x100, 0x8000), b"/nowhere/plugin.so", None);
    w.sample(10, 10, 100, 0, &[USER_MARK, 0x40_0800]);
    w.sample(10, 10, 300, 0, &[USER_MARK, 0x40_0700]);
    let imported = read(&w.file().bytes);
    assert_eq!(folded(&imported), "plugin.so+0x8000 1\napp+0x800 1\napp+0x700 1\n");
    let times: Vec<i64> = imported.evidence.profile.samples.t.iter().map(|t| t.0).collect();
    assert_eq!(times, [0, 200, 200]);
}

#[test]
fn kallsyms_of_the_file_names_kernel_and_bpf_code_and_another_is_refused() {
    let dir = tempfile::tempdir().expect("temp dir");
    let path = dir.path().join("kallsyms");
    let symbols = |base: u64| {
        let line = |offset: u64, name: &str| format!("{:016x} T {name}\n", base + offset);
        [line(0, "_text"), line(0, "_stext"), line(0x20, "zio_execute"), line(0x100, "_etext")].concat()
    };
    let mut w = usual(false, 0);
    let mut ksymbol = w.u64(0xffff_ffff_c000_0000).to_vec();
    ksymbol.extend(w.u32(0x100));
    ksymbol.extend([1, 0, 0, 0]);
    ksymbol.extend(b"bpf_prog_abc_trace\0");
    w.other(17, 0, 5, ksymbol);
    w.sample(20, 20, 10, 0, &[KERNEL_MARK, 0xffff_ffff_c000_0010, TEXT + 0x31]);
    let bytes = w.file().bytes;
    std::fs::write(&path, symbols(TEXT)).expect("write");
    let with = ImportOptions { kallsyms: Some(path.clone()), ..options() };
    let imported = read_with(&bytes, &with);
    assert_eq!(folded(&imported), "zio_execute;bpf_prog_abc_trace 1\n");
    let p = &imported.evidence.profile;
    assert!(
        p.frames.iter().any(|(id, _)| p.function_of(id) == "bpf_prog_abc_trace" && p.module_of(id) == "bpf")
    );
    std::fs::write(&path, symbols(TEXT + 0x20_0000)).expect("write");
    let imported = read_with(&bytes, &with);
    assert_eq!(folded(&imported), "kernel+0x30;bpf_prog_abc_trace 1\n");
    assert!(warned(&imported, "is of another boot or kernel"), "{:?}", imported.stats.warnings);
}

#[test]
fn a_file_cut_at_any_byte_keeps_all_before_and_counts_the_rest() {
    for big in [false, true] {
        for written in [usual(big, 12).file(), usual(big, 12).killed()] {
            let data = written.boundaries[0];
            let end = *written.boundaries.last().expect("records");
            let has_size = written.bytes.len() > end;
            for cut in data..end {
                let imported = read(&written.bytes[..cut]);
                let whole = written.boundaries.iter().filter(|b| **b <= cut).count() - 1;
                let kept = written.is_sample[..whole].iter().filter(|s| **s).count() as u64;
                assert_eq!(imported.stats.kept, kept, "cut at {cut}");
                let after = if has_size { end } else { cut };
                assert_eq!(
                    imported.stats.lost_bytes,
                    (after - written.boundaries[whole]) as u64,
                    "cut at {cut}"
                );
                assert_eq!(imported.stats.lost > 0, after > written.boundaries[whole], "cut at {cut}");
            }
        }
    }
}

#[test]
fn a_cut_header_is_an_error_that_says_where() {
    let bytes = usual(false, 3).file().bytes;
    for cut in 0..usual(false, 3).file().boundaries[0] {
        let error = import_bytes("x", bytes[..cut].to_vec(), &options()).expect_err("too short");
        assert!(
            matches!(error.kind(), ErrorKind::Damaged | ErrorKind::Empty | ErrorKind::UnknownFormat),
            "{error}"
        );
    }
}

#[test]
fn a_damaged_record_costs_itself_and_reading_goes_on() {
    let written = usual(false, 60).file();
    for record in 0..written.is_sample.len() {
        for (byte, value) in [(0, 0xff), (3, 0x7f), (6, 0), (6, 3), (6, 0xf8), (7, 0xff)] {
            let mut bytes = written.bytes.clone();
            bytes[written.boundaries[record] + byte] = value;
            let imported = read(&bytes);
            // The record and, when its size reaches into them, what it covers.
            let least = 60 - 2 - u64::from(byte == 6 && value == 0xf8) * 2;
            assert!(imported.stats.kept >= least, "record {record} byte {byte}: {:?}", imported.stats);
            assert!(imported.stats.kept == 60 || imported.stats.lost_bytes > 0, "{:?}", imported.stats);
        }
    }
}

#[test]
fn lengths_that_lie_cost_no_memory() {
    let w = usual(false, 6);
    let mut liar = w.clone();
    // A call chain of 2^60 frames.
    let mut body = liar.words(&[TEXT]);
    body.extend(liar.pair(1, 1));
    body.extend(liar.words(&[5, 100, 0, 1, 1 << 60]));
    liar.raw(9, 1, &body);
    // Hardware trace of 10 GB behind a record, and tracing data of 4 GB.
    let trace = liar.words(&[10 << 30, 0, 0, 0, 0]);
    liar.raw(71, 0, &trace);
    liar.raw(66, 0, &[0xff; 8]);
    for i in 0..6 {
        liar.sample(10, 10, 2_000_000 + i, 0, &[KERNEL_MARK, TEXT]);
    }
    let imported = read(&liar.file().bytes);
    assert_eq!((imported.stats.kept, imported.stats.lost), (12, 1), "{:?}", imported.stats);
    // Sections of the header that claim 10 GB: features are lost, samples are not; events are needed.
    let file = w.file();
    for at in [80, 16, 24, 32, 40, 48] {
        let mut bytes = file.bytes.clone();
        bytes[at..at + 8].copy_from_slice(&(10u64 << 30).to_le_bytes());
        if let Ok(imported) = import_bytes("x", bytes, &options()) {
            assert!(imported.stats.balanced());
        }
    }
    for chunk in (*file.boundaries.last().expect("end")..file.bytes.len() - 8).step_by(8) {
        let mut bytes = file.bytes.clone();
        bytes[chunk..chunk + 8].fill(0xff);
        assert_eq!(read(&bytes).stats.kept, 6);
    }
}

#[test]
fn the_deepest_stack_a_record_can_hold_is_kept_and_a_limit_cuts_it() {
    let mut w = usual(false, 0);
    let mut chain = vec![USER_MARK];
    // No call returns to the first byte of a mapping: what is before it is no code.
    chain.extend((0..8_000).map(|i| 0x40_0001 + (i % 4095)));
    w.sample(10, 10, 10, 0, &chain);
    let imported = read(&w.file().bytes);
    assert_eq!(imported.evidence.profile.stacks.len(), 8_001);
    let mut limited = options();
    limited.limits.max_depth = 100;
    let imported = read_with(&w.file().bytes, &limited);
    assert_eq!(imported.evidence.profile.stacks.len(), 101);
    assert!(warned(&imported, "deeper than the limit"));
}

#[test]
fn hostile_names_are_only_text() {
    let mut w = usual(false, 0);
    w.comm(10, 10, 5, b"\xff\xfe<script>\x1b[2J;", false);
    w.mmap2(10, 5, (0x50_0000, 0x1000, 0), b"../../etc/\xc3\x28\n;x", Some(&[7; 20]));
    w.mmap2(10, 5, (0x60_0000, 0x1000, 0), b"/dev/zero", Some(&[7; 20]));
    w.mmap2(10, 5, (0x70_0000, 0x1000, 0), b"", Some(&[]));
    w.sample(10, 10, 10, 0, &[USER_MARK, 0x50_0000, 0x60_0001, 0x70_0001, 3]);
    let imported = read_with(&w.file().bytes, &ImportOptions::default());
    assert_eq!(imported.stats.kept, 1);
    assert_eq!(comms(&imported)[0].2, "\u{fffd}\u{fffd}<script>\u{1b}[2J;");
    assert_eq!(folded(&imported).matches('\n').count(), 1);
}

/// Samples that are left, and those of the recorder, of a file with these processes; all have one.
fn set_aside(whole_host: bool, names: &[(i32, &[u8])]) -> (u64, Option<u64>) {
    let mut w = Writer::new(false);
    w.kernel();
    for (pid, name) in names {
        w.comm(*pid, *pid, 0, name, false);
        w.sample(*pid, *pid, 10, 0, &[KERNEL_MARK, TEXT + 64]);
    }
    if whole_host {
        w.sample(0, 0, 20, 1, &[KERNEL_MARK, TEXT + 128]);
    }
    let mut evidence = read(&w.file().bytes).evidence;
    evidence.set_recorder_aside();
    (evidence.profile.total(Event::Cpu), evidence.itself.map(|itself| itself.samples))
}

#[test]
fn perf_is_set_aside_only_where_it_is_surely_the_recorder() {
    let (app, perf) = ((10, &b"app"[..]), (30, &b"perf"[..]));
    assert_eq!(set_aside(true, &[app, perf]), (2, Some(1)));
    assert_eq!(set_aside(true, &[app, (30, b"perf_6.1")]), (2, Some(1)));
    assert_eq!(set_aside(true, &[app, perf, (31, b"perf")]), (4, None), "either may be it");
    assert_eq!(set_aside(false, &[app, perf]), (2, None), "what was asked for may be a perf");
    assert_eq!(set_aside(true, &[app, (30, b"perfd"), (32, b"perf_x")]), (4, None));
}

#[test]
fn what_the_recorder_lost_is_counted_once() {
    let mut w = usual(false, 3);
    let lost = w.words(&[100, 40]);
    w.other(2, 0, 9, lost.clone()).other(2, 0, 9, lost);
    assert_eq!(read(&w.file().bytes).stats.lost, 80);
    // Newer perf adds at its end what it knows by event: the same samples again.
    w.attrs[0].read_format = 1 << 4;
    let by_event = w.words(&[85]);
    w.other(13, 0, 9, by_event.clone());
    // Samples that a filter of the user left out are not lost.
    w.other(13, 1 << 15, 9, by_event);
    assert_eq!(read(&w.file().bytes).stats.lost, 85);
}

#[test]
fn records_without_samples_are_counted_and_trace_data_is_jumped_over() {
    let mut w = usual(false, 3);
    let words = w.words(&[1, 2]);
    w.other(16, 0, 1, words.clone()).other(19, 0, 1, words.clone()).other(19, 0, 1, words);
    let mut trace = w.words(&[4096, 0, 0, 0, 0]);
    trace = w.record(71, 0, &trace);
    trace.resize(trace.len() + 4096, 9);
    w.records.push(trace);
    w.sample(10, 10, 2_000_000, 0, &[KERNEL_MARK, TEXT]);
    let imported = read(&w.file().bytes);
    assert_eq!((imported.stats.kept, imported.stats.lost_bytes), (4, 0));
    let skipped = "1 AUX trace, 2 cgroup, 1 namespace (4096 bytes of hardware trace)";
    assert!(warned(&imported, skipped), "{:?}", imported.stats.warnings);
}

#[test]
fn events_of_cpu_time_are_cpu_samples_and_others_counts() {
    let mut w = usual(false, 0);
    w.attrs.push(Attr { kind: 1, config: 2, id: 200, ..Attr::cpu_clock() });
    w.sample_of(0, 10, 10, 1, 0, &[USER_MARK, 0x40_0000], &[]);
    w.sample_of(1, 10, 10, 2, 0, &[USER_MARK, 0x40_0000], &[]);
    let imported = read(&w.file().bytes);
    assert_eq!(imported.evidence.profile.samples.event, [Event::Cpu, Event::Count]);
    assert!(
        warned(&imported, "cpu-clock (1 samples), page-faults (1 samples)"),
        "{:?}",
        imported.stats.warnings
    );
    // Alone, the other event is what the file is about.
    w.records.remove(w.records.len() - 2);
    let imported = read(&w.file().bytes);
    assert_eq!(imported.evidence.profile.samples.event, [Event::Cpu]);
    assert!(warned(&imported, "no event of this file samples CPU time"));
}

#[test]
fn a_copied_user_stack_gives_the_innermost_user_frame() {
    let mut w = usual(false, 0);
    let registers = 1 << 7 | 1 << 8; // stack pointer, instruction pointer
    w.attrs[0] = Attr {
        sample_type: writer::USUAL | writer::REGS_USER | writer::STACK_USER,
        regs_user: registers,
        ..w.attrs[0]
    };
    let tail = [w.words(&[2, 0x7fff_0000, 0x40_0123, 64]), vec![0; 64], w.words(&[64])].concat();
    w.sample_of(0, 10, 10, 5, 0, &[KERNEL_MARK, TEXT + 8], &tail);
    w.sample_of(0, 10, 10, 6, 0, &[USER_MARK, 0x40_0123], &tail);
    let none = w.words(&[0, 0]);
    w.sample_of(0, 20, 20, 7, 0, &[KERNEL_MARK, TEXT + 8], &none);
    let imported = read(&w.file().bytes);
    assert_eq!(folded(&imported), "app+0x123 1\napp+0x123;kernel+0x8 1\nkernel+0x8 1\n");
    assert!(warned(&imported, "3 samples hold a copy of the user stack"));
}

#[test]
fn compressed_records_are_one_stream_cut_anywhere() {
    let w = usual(false, 200);
    let expected = folded(&read(&w.file().bytes));
    for second_form in [false, true] {
        for payload in [13, 100, 65_000] {
            let imported = read(&w.compressed(payload, second_form).file().bytes);
            assert_eq!((imported.stats.kept, imported.stats.lost), (200, 0), "{:?}", imported.stats);
            assert_eq!(folded(&imported), expected);
        }
    }
}

#[test]
fn a_compressed_record_whose_size_ran_over_is_read() {
    let mut w = usual(false, 0);
    let mut noise = 1u64;
    for i in 0..5_000u64 {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        w.sample(10, 10, i, 0, &[USER_MARK, 0x40_0000 + (noise >> 52), noise >> 1]);
    }
    let stream = zstd::encode_all(&w.records.concat()[..], 1).expect("zstd");
    let mut out = Writer { records: Vec::new(), ..w.clone() };
    // 16 + 65,520 bytes are 65,536: one more than the size field holds.
    assert!(stream.len() > 65_520, "{}", stream.len());
    stream.chunks(65_520).for_each(|part| out.add_compressed(part, true));
    let imported = read(&out.file().bytes);
    assert_eq!((imported.stats.kept, imported.stats.lost), (5_000, 0), "{:?}", imported.stats);
}

#[test]
fn a_missing_compressed_record_loses_what_follows_until_a_new_stream() {
    let first = usual(false, 500);
    let mut out = first.compressed(100, true);
    out.records.remove(out.records.len() / 2);
    out.records.extend(first.compressed(300, true).records);
    let imported = read(&out.file().bytes);
    let stats = &imported.stats;
    assert!(stats.kept > 500 && stats.kept < 1_000 && stats.lost > 0 && stats.lost_bytes > 0, "{stats:?}");
    assert!(warned(&imported, "cannot be decompressed") || warned(&imported, "are damaged"));
}

#[test]
fn a_decompression_bomb_stops_at_the_limit() {
    let w = usual(false, 2_000);
    let bytes = w.compressed(400, true).file().bytes;
    let mut limited = options();
    limited.limits.max_decompressed = 50_000;
    let imported = read_with(&bytes, &limited);
    assert!(imported.stats.kept < 2_000 && imported.stats.lost > 0, "{:?}", imported.stats);
    assert!(warned(&imported, "more than the limit"));
}

#[test]
fn gzipped_files_are_read() {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(&usual(true, 9).file().bytes).expect("memory");
    assert_eq!(read(&encoder.finish().expect("memory")).stats.kept, 9);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Whatever is done to the records, every sample that is left whole between two whole
    /// neighbours on each side is kept, and the books balance.
    #[test]
    fn damage_never_unbalances_the_books(
        big: bool,
        form in 0..3,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        cut: prop::sample::Index,
    ) {
        let w = usual(big, 40);
        let written = match form { 0 => w.file(), 1 => w.pipe(), _ => w.compressed(200, big).file() };
        let mut bytes = written.bytes;
        let data = written.boundaries[0];
        for (at, value) in &edits {
            let at = data + at.index(bytes.len() - data);
            bytes[at] = *value;
        }
        bytes.truncate(bytes.len() - cut.index(bytes.len() - data) / 4);
        if let Ok(imported) = import_bytes("x", bytes, &options()) {
            prop_assert!(imported.stats.balanced());
            prop_assert!(imported.stats.kept <= 40 + edits.len() as u64);
            prop_assert_eq!(imported.evidence.profile.samples.len() as u64, imported.stats.kept);
        }
    }
}
