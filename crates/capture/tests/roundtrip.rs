//! A capture comes back as it was written, from a folder, a file, and from what is left of either.

use proptest::prelude::*;
use std::fs;
use std::io::Write;
use std::path::Path;
use zwhy_capture::{Capture, CaptureError, Mark, Series, SeriesKind, Writer, part_folder};
use zwhy_evidence::{CaptureFacts, HostFacts};
use zwhy_profile::{Event, FoldedStacks, FrameKind, Nanos, Profile, Sample};

/// `rounds` flushes of 100 samples over a few stacks, one series row and one mark each.
fn record(out: &Path, rounds: i64) -> Writer {
    let mut writer = Writer::create(out).unwrap();
    let mut profile = Profile::new();
    for round in 0..rounds {
        for i in 0..100 {
            let names = ["main", ["zio_read", "zio_write", "dbuf_evict"][(i % 3) as usize]];
            let frames = names.map(|n| profile.frame(n, "zfs", FrameKind::Kernel));
            let stack = profile.stack(&frames);
            let thread = profile.thread(1, 7, if round % 2 == 0 { "z_rd_int" } else { "evil\u{1b}[2J\n" });
            profile.samples.push(Sample {
                t: Nanos(round * 1_000 + i),
                cpu: (i % 2) as i32,
                thread,
                stack,
                event: if i == 0 { Event::Wait } else { Event::Cpu },
                count: 1,
                weight: Nanos(10),
            });
        }
        writer.flush(&mut profile).unwrap();
        let mut series = Series::default();
        series.push(Nanos(round), "arcstats", "size", SeriesKind::Gauge, round * -3);
        writer.append_series(&series).unwrap();
        writer.mark(Mark { t: Nanos(round), name: "phase".into(), text: format!("r{round}") }).unwrap();
    }
    let host = HostFacts { name: Some("db7".into()), ..HostFacts::default() };
    writer.set_facts(&CaptureFacts { version: Some(1), host, ..CaptureFacts::default() }).unwrap();
    writer
}

#[test]
fn a_folder_opens_while_it_is_recorded_and_the_file_afterwards() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("x.zwhy");
    let writer = record(&out, 5);
    let live = Capture::open(&part_folder(&out)).unwrap();
    assert!(live.damage.unfinished && live.damage.is_empty());
    writer.finish().unwrap();
    assert!(!part_folder(&out).exists());
    let packed = Capture::open(&out).unwrap();
    assert!(packed.damage.is_empty() && !packed.damage.unfinished);
    for capture in [&live, &packed] {
        assert_eq!(capture.profile.samples.len(), 500);
        assert_eq!(FoldedStacks::text(&capture.profile, Event::Wait), "main;zio_read 5\n");
        assert_eq!(capture.series.iter().map(|r| r.value).collect::<Vec<_>>(), [0, -3, -6, -9, -12]);
        assert_eq!(capture.marks[4].text, "r4");
        assert_eq!(capture.facts.host.name.as_deref(), Some("db7"));
        let names: Vec<_> =
            capture.profile.threads.iter().map(|(_, t)| capture.profile.strings.get(t.comm)).collect();
        assert_eq!(names, ["z_rd_int", "evil\u{1b}[2J\n"]);
    }
}

#[test]
fn nothing_is_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("x.zwhy");
    let first = record(&out, 1);
    assert!(matches!(Writer::create(&out), Err(CaptureError::Exists(_))));
    first.finish().unwrap();
    assert!(matches!(Writer::create(&out), Err(CaptureError::Exists(_))));
}

#[test]
fn other_files_are_refused_with_a_reason() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x");
    for content in [&b""[..], b"PK\x03\x04", b"hello"] {
        fs::write(&path, content).unwrap();
        let error = Capture::open(&path).unwrap_err().to_string();
        assert!(error.contains("is not a zwhy capture"), "{error}");
    }
    assert!(Capture::open(&dir.path().join("absent")).unwrap_err().to_string().contains("check the name"));
    assert!(Capture::open(dir.path()).unwrap_err().to_string().contains("without capture segments"));
}

#[test]
fn a_newer_format_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("x.zwhy");
    let mut zip = zip::ZipWriter::new(fs::File::create(&out).unwrap());
    let stored = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    zip.start_file("manifest.json", stored).unwrap();
    zip.write_all(br#"{"zwhy_capture":9}"#).unwrap();
    zip.finish().unwrap();
    let error = Capture::open(&out).unwrap_err().to_string();
    assert!(error.contains("newer zwhy (capture format 9"), "{error}");
}

#[test]
fn a_cut_file_gives_what_precedes_the_cut_and_counts_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("x.zwhy");
    record(&out, 3).finish().unwrap();
    let whole = fs::read(&out).unwrap();
    let mut seen_partial = false;
    for cut in (60..whole.len()).step_by(37) {
        fs::write(&out, &whole[..cut]).unwrap();
        let Ok(capture) = Capture::open(&out) else { continue };
        assert!(!capture.damage.is_empty(), "cut at {cut} went unnoticed");
        let lost = capture.damage.lost_rows.get("samples").copied().unwrap_or(0);
        let has_manifest = cut > 200;
        if has_manifest {
            assert_eq!(capture.profile.samples.len() as u64 + lost, 300, "cut at {cut}");
        }
        seen_partial |= lost == 0 && capture.damage.lost_rows.contains_key("series");
    }
    assert!(seen_partial, "no cut kept the samples and lost the series");
}

#[test]
fn a_killed_recorder_leaves_whole_segments_only() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("x.zwhy");
    let writer = record(&out, 2);
    let folder = writer.folder().to_owned();
    std::mem::forget(writer);
    fs::write(folder.join("samples-000099.parquet.tmp"), b"half").unwrap();
    fs::write(folder.join("samples-000098.parquet"), b"rubbish").unwrap();
    let capture = Capture::open(&folder).unwrap();
    assert_eq!(capture.profile.samples.len(), 200);
    assert_eq!(capture.damage.unreadable.len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn flipped_bytes_never_panic_and_never_invent_samples(at in 0usize..1_000_000, bit in 0u8..8) {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("x.zwhy");
        record(&out, 2).finish().unwrap();
        let mut bytes = fs::read(&out).unwrap();
        let at = at % bytes.len();
        bytes[at] ^= 1 << bit;
        fs::write(&out, &bytes).unwrap();
        if let Ok(capture) = Capture::open(&out) {
            prop_assert!(capture.profile.samples.len() <= 200);
        }
    }
}
