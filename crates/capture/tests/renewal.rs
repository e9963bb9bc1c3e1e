//! A recorder may reset its tables of names at any flush: the capture stays the same.

use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use zwhy_capture::{Capture, Writer, part_folder};
use zwhy_profile::{Event, FrameKind, Nanos, Profile, Sample};

/// A sample: its function names from the root, and its thread.
type Taken = (Vec<u8>, i32);

/// Writes samples, some before each flush; after a flush that says so, names are reset.
fn write(out: &Path, flushes: &[(Vec<Taken>, bool)], renew: bool) -> Writer {
    let mut writer = Writer::create(out).unwrap();
    let mut profile = Profile::new();
    let mut t = 0;
    for (samples, anew) in flushes {
        for (names, tid) in samples {
            let frames: Vec<_> =
                names.iter().map(|n| profile.frame(&format!("f{n}"), "zfs", FrameKind::Kernel)).collect();
            let stack = profile.stack(&frames);
            let thread = profile.thread(1, *tid, &format!("a\n\u{1b}{tid}"));
            t += 1;
            let (event, weight) = (Event::Cpu, Nanos(i64::from(*tid)));
            profile.samples.push(Sample { t: Nanos(t), cpu: 0, thread, stack, event, count: 1, weight });
        }
        writer.flush(&mut profile).unwrap();
        if *anew && renew {
            profile = Profile::new();
            writer.reset_names();
        }
    }
    writer
}

/// Every sample by time: function names, thread and weight.
fn samples(capture: &Capture) -> BTreeMap<i64, (String, i32, String, i64)> {
    assert!(capture.damage.is_empty(), "{:?}", capture.damage);
    let p = &capture.profile;
    let of = |s: Sample| {
        let thread = p.threads.get(s.thread);
        let names = p.function_names(s.stack).join(";");
        (s.t.0, (names, thread.tid, p.strings.get(thread.comm).to_owned(), s.weight.0))
    };
    p.samples.iter().map(of).collect()
}

/// Rows by table, as the file says in its manifest.
fn rows(path: &Path) -> serde_json::Value {
    let mut zip = zip::ZipArchive::new(std::fs::File::open(path).unwrap()).unwrap();
    let manifest: serde_json::Value = serde_json::from_reader(zip.by_name("manifest.json").unwrap()).unwrap();
    manifest["rows"].clone()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn names_written_many_times_read_back_as_if_written_once(
        flushes in prop::collection::vec(
            (prop::collection::vec((prop::collection::vec(0u8..6, 0..7), 1i32..5), 1..12), any::<bool>()),
            1..12,
        ),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let (once, often) = (dir.path().join("once.zwhy"), dir.path().join("often.zwhy"));
        let (plain, renewed) = (write(&once, &flushes, false), write(&often, &flushes, true));
        let want = samples(&Capture::open(&part_folder(&once)).unwrap());
        prop_assert_eq!(want.len(), flushes.iter().map(|(s, _)| s.len()).sum::<usize>());
        // While it is recorded, rows are there more than once.
        prop_assert_eq!(&samples(&Capture::open(&part_folder(&often)).unwrap()), &want);
        plain.finish().unwrap();
        renewed.finish().unwrap();
        prop_assert_eq!(&samples(&Capture::open(&often).unwrap()), &want);
        prop_assert_eq!(rows(&often), rows(&once), "each name once in the file");
    }
}
