//! import(export(p)) == p, for what each format can carry.

use crate::common::import_as;
use proptest::prelude::*;
use std::collections::BTreeMap;
use zwhy_evidence::Evidence;
use zwhy_formats::{ExportOptions, export};
use zwhy_profile::{Event, Frame, FrameKind, Nanos, Profile, Sample};

/// A thread and a stack, root first, as text; `reasons` and `lines` as far as the format has them.
type Key = (String, i32, i32, Vec<(String, String, &'static str, String, u32, String)>);

/// Counts and times of one event by thread and stack.
fn sums(p: &Profile, event: Event, reasons: bool) -> BTreeMap<Key, (u64, i64)> {
    let mut sums: BTreeMap<Key, (u64, i64)> = BTreeMap::new();
    for s in p.samples.iter().filter(|s| s.event == event) {
        let text = |id| p.strings.get(id).to_owned();
        let frames = p.stacks.leaf_to_root(s.stack).map(|f| {
            let f = p.frames.get(f);
            let reason = if reasons { text(f.reason) } else { String::new() };
            (text(f.function), text(f.module), f.kind.name(), text(f.file), f.line, reason)
        });
        let t = p.threads.get(s.thread);
        let sum = sums.entry((text(t.comm), t.pid, t.tid, frames.collect())).or_default();
        sum.0 += u64::from(s.count);
        sum.1 += s.weight.0;
    }
    sums
}

fn without_weights(sums: BTreeMap<Key, (u64, i64)>) -> BTreeMap<Key, u64> {
    sums.into_iter().map(|(key, (count, _))| (key, count)).collect()
}

fn there_and_back(format: &str, p: &Profile, event: Event) -> Profile {
    let evidence = Evidence { profile: p.clone(), ..Evidence::default() };
    let mut out = Vec::new();
    export(&evidence, format, &ExportOptions { event, ..ExportOptions::default() }, "out", &mut out)
        .expect("exports");
    let imported =
        import_as(format, &out).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&out)));
    assert_eq!(imported.stats.lost + imported.stats.dropped_total(), 0, "{:?}", imported.stats);
    imported.evidence.profile
}

/// What a random frame is made of.
#[derive(Clone, Debug)]
struct AnyFrame {
    name: String,
    place: u8,
    inlined: bool,
    line: u32,
}

#[derive(Clone, Debug)]
struct AnySample {
    thread: u8,
    frames: Vec<AnyFrame>,
    count: u32,
    weight: i64,
    t: i64,
}

fn frame(name: &'static str) -> impl Strategy<Value = AnyFrame> {
    (name, 0u8..6, any::<bool>(), prop_oneof![Just(0u32), 1u32..9000])
        .prop_map(|(name, place, inlined, line)| AnyFrame { name, place, inlined, line })
}

fn samples(name: &'static str) -> impl Strategy<Value = Vec<AnySample>> {
    let sample =
        (0u8..5, prop::collection::vec(frame(name), 1..8), 1u32..9, 0i64..1_000_000, 0i64..1_000_000_000_000);
    let sample =
        sample.prop_map(|(thread, frames, count, weight, t)| AnySample { thread, frames, count, weight, t });
    prop::collection::vec(sample, 1..20)
}

/// A profile of what all formats can carry: inlined frames stand on the frame whose module they have.
fn profile(samples: &[AnySample], event: Event) -> Profile {
    const PLACES: [(&str, FrameKind); 6] = [
        ("kernel", FrameKind::Kernel),
        ("zfs", FrameKind::Kernel),
        ("libc.so.6", FrameKind::User),
        ("fio", FrameKind::User),
        ("", FrameKind::Unknown),
        ("spl", FrameKind::Kernel),
    ];
    const THREADS: [(&str, i32, i32); 5] = [
        ("fio", 98, 99),
        ("z_wr_iss", 4711, 4711),
        ("swapper/0", 0, 0),
        ("Web Content", 7, 8),
        ("fio", 98, 100),
    ];
    let mut p = Profile::new();
    for s in samples {
        let (comm, pid, tid) = THREADS[usize::from(s.thread)];
        let thread = p.thread(pid, tid, comm);
        let mut below = None;
        let mut frames = Vec::new();
        for f in &s.frames {
            let (module, mut kind) = match below {
                Some(module) if f.inlined => (module, FrameKind::Inlined),
                _ => PLACES[usize::from(f.place)],
            };
            if kind == FrameKind::Inlined && module.is_empty() {
                kind = FrameKind::Unknown;
            }
            below = Some(module);
            let frame = Frame {
                function: p.strings.intern(&f.name),
                module: p.strings.intern(module),
                file: p.strings.intern(if f.line > 0 { "module/zfs/zio.c" } else { "" }),
                line: f.line,
                kind,
                ..Frame::default()
            };
            frames.push(p.frames.intern(frame));
        }
        let stack = p.stack(&frames);
        let (t, weight) = (Nanos(s.t), Nanos(s.weight));
        p.samples.push(Sample { t, cpu: 3, thread, stack, event, count: s.count, weight });
    }
    p
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn pprof(samples in samples("\\PC{1,12}|[=+@;,\"\\\\\n\r\t<>&]{1,4}"), event in prop::sample::select(&Event::ALL[..])) {
        let p = profile(&samples, event);
        let back = there_and_back("pprof", &p, event);
        prop_assert_eq!(sums(&back, event, true), sums(&p, event, true));
    }

    #[test]
    fn speedscope(samples in samples("\\PC{1,12}|[=+@;,\"\\\\\n\r\t<>&]{1,4}"), event in prop::sample::select(&Event::ALL[..])) {
        let p = profile(&samples, event);
        let back = there_and_back("speedscope", &p, event);
        prop_assert_eq!(without_weights(sums(&back, event, true)), without_weights(sums(&p, event, true)));
    }

    #[test]
    fn firefox(samples in samples("\\PC{1,12}|[=+@;,\"\\\\\n\r\t<>&]{1,4}")) {
        let p = profile(&samples, Event::Cpu);
        let back = there_and_back("firefox", &p, Event::Cpu);
        prop_assert_eq!(sums(&back, Event::Cpu, true), sums(&p, Event::Cpu, true));
        let times = |p: &Profile| {
            let mut t: Vec<i64> = p.samples.t.iter().map(|t| t.0).collect();
            t.sort_unstable();
            t
        };
        prop_assert_eq!(times(&back), times(&p));
        let waits = profile(&samples, Event::Wait);
        let back = there_and_back("firefox", &waits, Event::Wait);
        prop_assert_eq!(without_weights(sums(&back, Event::Wait, true)), without_weights(sums(&waits, Event::Wait, true)));
    }

    /// Names as symbols are: no control characters, no offset or module at the end.
    #[test]
    fn perf_script(samples in samples("[a-zA-Z_][a-zA-Z0-9_:<>,&*~$@.]{0,10}")) {
        let p = profile(&samples, Event::Cpu);
        let back = there_and_back("perf-script", &p, Event::Cpu);
        // Times are written as periods when all samples have one.
        if p.samples.iter().all(|s| s.weight.0 >= i64::from(s.count)) {
            prop_assert_eq!(sums(&back, Event::Cpu, true), sums(&p, Event::Cpu, true));
        } else {
            let counts = |p| without_weights(sums(p, Event::Cpu, true));
            prop_assert_eq!(counts(&back), counts(&p));
        }
        prop_assert_eq!(back.samples.cpu.iter().filter(|c| **c != 3).count(), 0);
        let span = |p: &Profile| {
            let t = || p.samples.t.iter().map(|t| t.0);
            t().max().unwrap() - t().min().unwrap()
        };
        prop_assert_eq!(span(&back), span(&p));
    }
}

#[test]
fn speedscope_carries_reasons_and_every_kind() {
    let mut p = Profile::new();
    for (i, kind) in FrameKind::ALL.into_iter().enumerate() {
        let frame = Frame {
            function: p.strings.intern("zfs+0x12"),
            module: p.strings.intern("zfs"),
            reason: p.strings.intern("no symbol at this address"),
            kind,
            ..Frame::default()
        };
        let frame = p.frames.intern(frame);
        let stack = p.stack(&[frame]);
        let thread = p.thread(-1, -1, "");
        p.samples.push_counted(thread, stack, Event::Cpu, i as u32 + 1);
    }
    let back = there_and_back("speedscope", &p, Event::Cpu);
    assert_eq!(sums(&back, Event::Cpu, true), sums(&p, Event::Cpu, true));
}

#[test]
fn counts_beyond_a_row_survive() {
    let mut p = Profile::new();
    let frame = p.frame("f", "fio", FrameKind::User);
    let (stack, thread) = (p.stack(&[frame]), p.thread(1, 1, "t"));
    for _ in 0..3 {
        p.samples.push_counted(thread, stack, Event::Cpu, u32::MAX);
    }
    for format in ["pprof", "speedscope", "firefox"] {
        assert_eq!(
            there_and_back(format, &p, Event::Cpu).total(Event::Cpu),
            3 * u64::from(u32::MAX),
            "{format}"
        );
    }
}

/// Drawings of flame graphs have samples at their root: no format may lose them.
#[test]
fn samples_without_a_stack_are_carried_everywhere() {
    let mut p = Profile::new();
    let frame = p.frame("f", "fio", FrameKind::User);
    let (stack, thread) = (p.stack(&[frame]), p.thread(-1, -1, ""));
    p.samples.push_counted(thread, stack, Event::Cpu, 3);
    p.samples.push_counted(thread, Default::default(), Event::Cpu, 4);
    for format in ["pprof", "speedscope", "firefox", "perf-script"] {
        let back = there_and_back(format, &p, Event::Cpu);
        assert_eq!(crate::common::folded(&back, Event::Cpu), "[unknown] 4\nf 3\n", "{format}");
    }
}
