//! What goes out, byte by byte, and read by others.

use crate::common::{golden, import_as};
use crate::describe_all;
use zwhy_evidence::{CaptureFacts, Evidence, RecorderFacts};
use zwhy_formats::{ErrorKind, ExportOptions, export, exporters};
use zwhy_profile::{Event, Frame, FrameKind, Nanos, Profile, Sample};

/// A small profile with everything: threads, inlined and unnamed frames, hostile names, times.
fn evidence() -> Evidence {
    let mut p = Profile::new();
    let start = p.frame("entry_SYSCALL_64_after_hwframe", "kernel", FrameKind::Kernel);
    let read = p.frame("zfs_read", "zfs", FrameKind::Kernel);
    let inlined = Frame {
        function: p.strings.intern("abd_copy_to_buf"),
        module: p.strings.intern("zfs"),
        file: p.strings.intern("module/zfs/abd.c"),
        line: 12,
        kind: FrameKind::Inlined,
        ..Frame::default()
    };
    let inlined = p.frames.intern(inlined);
    let unnamed = Frame {
        function: p.strings.intern("libc.so.6+0x12"),
        module: p.strings.intern("libc.so.6"),
        kind: FrameKind::User,
        reason: p.strings.intern("no symbol at this address"),
        ..Frame::default()
    };
    let unnamed = p.frames.intern(unnamed);
    let hostile = p.frame("=HYPERLINK(\"x\",1);a\n\u{1b}[31m", "", FrameKind::Unknown);
    let threads = [p.thread(98, 99, "fio worker"), p.thread(4711, 4711, "z_wr_iss"), p.thread(-1, -1, "")];
    let stacks =
        [p.stack(&[start, read, inlined]), p.stack(&[start, read]), p.stack(&[unnamed]), p.stack(&[hostile])];
    for (t, cpu, thread, stack, event, count, weight) in [
        (2_000_000, 1, 0, 0, Event::Cpu, 2, 2_000_000),
        (1_500_000, 0, 1, 1, Event::Cpu, 1, 1_000_000),
        (4_000_000, -1, 0, 2, Event::Cpu, 1, 0),
        (5_000_000, 0, 2, 3, Event::Cpu, 1, 1_000_000),
        (6_000_000, 0, 0, 0, Event::Cpu, 1, 1_000_000),
        (3_000_000, 0, 1, 1, Event::Wait, 7, 9_000_000),
    ] {
        let (t, weight) = (Nanos(t), Nanos(weight));
        p.samples.push(Sample {
            t,
            cpu,
            thread: threads[thread],
            stack: stacks[stack],
            event,
            count,
            weight,
        });
    }
    let mut evidence = Evidence { profile: p, ..Evidence::default() };
    evidence.origin("nas.zwhy");
    let recorder = RecorderFacts { hz: Some(99.0), duration_s: Some(2.5), ..RecorderFacts::default() };
    evidence.facts =
        CaptureFacts { start_unix_s: Some(1_700_000_000.0), recorder, ..CaptureFacts::default() };
    evidence
}

fn out(format: &str, event: Event) -> Vec<u8> {
    let mut out = Vec::new();
    export(&evidence(), format, &ExportOptions { event, ..ExportOptions::default() }, "out", &mut out)
        .expect("exports");
    out
}

#[test]
fn goldens() {
    for (format, name) in [("perf-script", "perf-script.txt"), ("csv", "functions.csv")] {
        golden(&format!("export/{name}"), &String::from_utf8(out(format, Event::Cpu)).unwrap());
    }
    for (format, event, name) in [
        ("speedscope", Event::Cpu, "speedscope.json"),
        ("firefox", Event::Cpu, "firefox.json"),
        ("firefox", Event::Wait, "firefox-event-wait.json"),
    ] {
        let value: serde_json::Value = serde_json::from_slice(&out(format, event)).unwrap();
        let text =
            serde_json::to_string_pretty(&value).unwrap().replace(env!("CARGO_PKG_VERSION"), "VERSION");
        golden(&format!("export/{name}"), &format!("{text}\n"));
    }
    let imported = import_as("pprof", &out("pprof", Event::Cpu)).unwrap();
    golden("export/pprof-imported.txt", &describe_all(&imported));
}

#[test]
fn every_exporter_takes_an_empty_profile_and_has_its_own_name() {
    let mut names: Vec<&str> = exporters().iter().map(|e| e.name).collect();
    for exporter in exporters() {
        let mut out = Vec::new();
        export(&Evidence::default(), exporter.name, &ExportOptions::default(), "out", &mut out)
            .expect("exports");
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), exporters().len());
}

/// inferno's own reader of perf script text agrees on every sample.
#[test]
fn inferno_reads_the_perf_script_text() {
    use inferno::collapse::{Collapse, perf};
    let mut folded = Vec::new();
    let mut folder = perf::Folder::default();
    folder.collapse(&out("perf-script", Event::Cpu)[..], &mut folded).unwrap();
    let folded = String::from_utf8(folded).unwrap();
    let total: u64 = folded.lines().map(|l| l.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum();
    assert_eq!(total, 6, "{folded}");
    assert!(
        folded.contains("fio_worker;entry_SYSCALL_64_after_hwframe;zfs_read;abd_copy_to_buf 3\n"),
        "{folded}"
    );
}

#[test]
fn text_of_too_many_samples_is_refused() {
    let mut e = evidence();
    let (thread, stack) = (e.profile.samples.thread[0], e.profile.samples.stack[0]);
    e.profile.samples.push_counted(thread, stack, Event::Cpu, 60_000_000);
    let error = export(&e, "perf-script", &ExportOptions::default(), "out", &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.to_string().contains("use pprof or folded"), "{error}");
}
