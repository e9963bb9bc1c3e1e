//! A host of which every row is known: sample N has weight N, so that each can be told from all others.
#![allow(dead_code)] // each test file uses a part

use std::time::Duration;
use zwhy_capture::{Capture, Mark, SeriesKind};
use zwhy_live::Slice;
use zwhy_profile::{Event, FrameKind, Nanos, Sample};

pub const SECOND: i64 = 1_000_000_000;
/// When the host's clock says that the recording begins.
pub const START: f64 = 1_795_375_953.0;

/// The interval `[from, from + 5 s)` with `samples` samples numbered from `first` on, and 4 readings.
pub fn slice(from: i64, first: i64, samples: i64) -> Slice {
    let mut slice = Slice {
        from: Duration::from_secs(from as u64),
        to: Duration::from_secs(from as u64 + 5),
        sample: Duration::from_millis(20),
        ..Slice::default()
    };
    let profile = &mut slice.profile;
    let frames =
        ["zio_execute", "zio_checksum_verify"].map(|name| profile.frame(name, "zfs", FrameKind::Kernel));
    let (stack, thread) = (profile.stack(&frames), profile.thread(300, 300, "z_rd_int"));
    for n in 0..samples {
        let t = Nanos(from * SECOND + 5 * SECOND * n / samples.max(1));
        let weight = Nanos(first + n);
        profile.samples.push(Sample { t, weight, ..Sample::counted(thread, stack, Event::Cpu, 1) });
    }
    let end = Nanos((from + 5) * SECOND);
    for (source, name, value) in [
        ("cpu/all", "sys_ns", end.0 / 2),
        ("cpu/all", "idle_ns", end.0 / 2),
        ("arcstats", "hits", end.0 / SECOND * 1000),
        ("thread/300", "cpu_ns", end.0 / 2),
    ] {
        slice.series.push(end, source, name, SeriesKind::Counter, value);
    }
    slice
}

/// The same with a reading that never changes, as the recorder hands it out: once.
pub fn first_slice(samples: i64) -> Slice {
    let mut slice = slice(0, 0, samples);
    slice.series.push(Nanos(0), "arcstats", "c_max", SeriesKind::Gauge, 8 << 30);
    slice.marks.push(Mark { t: Nanos(SECOND), name: "module".into(), text: "zfs loaded".into() });
    slice
}

/// Numbers of the samples of a capture, in order.
pub fn numbers(capture: &Capture) -> Vec<i64> {
    let mut numbers: Vec<i64> = capture.profile.samples.weight.iter().map(|weight| weight.0).collect();
    numbers.sort_unstable();
    numbers
}
