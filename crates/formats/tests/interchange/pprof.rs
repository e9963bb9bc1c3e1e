//! pprof of real and of hostile writers.

use crate::common::{self, golden, import_as, import_detected, input, survives_damage};
use crate::{describe_all, survives_every_cut};
use proptest::prelude::*;
use std::io::Read;
use zwhy_formats::ErrorKind;
use zwhy_profile::{Event, FrameKind};

/// Appends a protobuf field: a number, or bytes.
fn number(out: &mut Vec<u8>, field: u64, value: u64) {
    varint(out, field << 3);
    varint(out, value);
}

fn bytes(out: &mut Vec<u8>, field: u64, value: &[u8]) {
    varint(out, field << 3 | 2);
    varint(out, value.len() as u64);
    out.extend_from_slice(value);
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value > 0x7f {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn message(build: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    build(&mut out);
    out
}

/// A profile of value types (names and units), a period and samples (locations, values).
fn profile(types: &[(&str, &str)], period: u64, samples: &[(&[u64], &[i64])]) -> Vec<u8> {
    let mut strings = vec!["", "zio_read", "[zfs]", "memcpy", "nanoseconds", "=evil;\u{1b}[31m\n"];
    let mut out = Vec::new();
    for (name, unit) in types {
        let at = strings.len() as u64;
        strings.extend([*name, *unit]);
        let value_type = message(|m| {
            number(m, 1, at);
            number(m, 2, at + 1);
        });
        bytes(&mut out, 1, &value_type);
    }
    for (locations, values) in samples {
        let sample = message(|m| {
            // The first list packed, the second one number a field: both are allowed.
            bytes(m, 1, &message(|p| locations.iter().for_each(|l| varint(p, *l))));
            values.iter().for_each(|v| number(m, 2, *v as u64));
        });
        bytes(&mut out, 2, &sample);
    }
    let mapping = message(|m| {
        number(m, 1, 1);
        number(m, 2, 0x1000);
        number(m, 5, 2);
    });
    bytes(&mut out, 3, &mapping);
    let function = |id: u64, name: u64| {
        message(|m| {
            number(m, 1, id);
            number(m, 2, name);
        })
    };
    bytes(&mut out, 5, &function(1, 1));
    bytes(&mut out, 5, &function(2, 3));
    bytes(&mut out, 5, &function(3, 5));
    let line = |function: u64| message(|m| number(m, 1, function));
    // 1: memcpy inlined into zio_read; 2: an address without a name; 3: a hostile name
    bytes(
        &mut out,
        4,
        &message(|m| {
            number(m, 1, 1);
            number(m, 2, 1);
            bytes(m, 4, &line(2));
            bytes(m, 4, &line(1));
        }),
    );
    bytes(
        &mut out,
        4,
        &message(|m| {
            number(m, 1, 2);
            number(m, 2, 1);
            number(m, 3, 0x1234);
        }),
    );
    bytes(
        &mut out,
        4,
        &message(|m| {
            number(m, 1, 3);
            bytes(m, 4, &line(3));
        }),
    );
    for text in strings {
        bytes(&mut out, 6, text.as_bytes());
    }
    if period > 0 {
        bytes(&mut out, 11, &message(|m| number(m, 2, 4)));
        number(&mut out, 12, period);
    }
    out
}

#[test]
fn go_cpu_profile_with_labels() {
    let imported = import_detected("pprof", &input("pprof/go-cpu-labels.pb.gz"));
    golden("pprof/go-cpu-labels.txt", &describe_all(&imported));
    // `go tool pprof -top` on the file: 170 ms in all, 40 ms in deflate itself.
    let p = &imported.evidence.profile;
    assert_eq!(p.total(Event::Cpu), 17);
    assert_eq!(p.samples.weight.iter().map(|w| w.0).sum::<i64>(), 170_000_000);
}

#[test]
fn inlined_lines_modules_and_addresses() {
    let types = [("samples", "count"), ("cpu", "nanoseconds")];
    let imported = import_detected(
        "pprof",
        &profile(&types, 0, &[(&[1, 2], &[2, 20]), (&[9, 3], &[1, 10]), (&[], &[1, 1])]),
    );
    golden("pprof/inlined-unnamed-unknown.txt", &describe_all(&imported));
    let p = &imported.evidence.profile;
    let kinds: Vec<_> = p.stacks.leaf_to_root(p.samples.stack[0]).map(|f| p.frames.get(f).kind).collect();
    assert_eq!(kinds, [FrameKind::Inlined, FrameKind::Kernel, FrameKind::Kernel]);
}

/// Event, unit, total amount, samples (`None` where their number is not known) and warnings.
fn taken(bytes: &[u8]) -> (Event, String, u64, Option<u64>, Vec<String>) {
    let imported = import_as("pprof", bytes).unwrap();
    let p = &imported.evidence.profile;
    let event = Event::ALL.into_iter().find(|e| p.samples.total(*e) > 0).unwrap();
    let sampling = p.sampling(event);
    let samples = sampling.counted.then_some(sampling.samples);
    (event, p.measure(event).unit.name().to_owned(), sampling.amount, samples, imported.stats.warnings)
}

#[test]
fn the_right_column_is_taken_and_the_others_are_named() {
    let heap = [("alloc_objects", "count"), ("alloc_space", "bytes")];
    let (event, unit, total, samples, said) = taken(&profile(&heap, 0, &[(&[1], &[3, 4096])]));
    assert_eq!((event, unit.as_str(), total, samples), (Event::Count, "bytes", 4096, None));
    assert!(said[0].contains("alloc_objects") && said[1].contains("not of CPU time"), "{said:?}");

    let mutex = [("contentions", "count"), ("delay", "nanoseconds")];
    let (event, unit, total, samples, _) =
        taken(&profile(&mutex, 0, &[(&[1], &[3, 4096]), (&[2], &[9, 100])]));
    assert_eq!((event, unit.as_str(), total, samples), (Event::Wait, "nanoseconds", 4196, Some(12)));

    // CPU time goes before wall clock time, in whatever order they stand.
    let both = [("cpu", "nanoseconds"), ("wall", "nanoseconds")];
    let (_, _, total, _, said) = taken(&profile(&both, 0, &[(&[1], &[5, 900])]));
    assert!(total == 5 && said[0].contains("`wall`"), "{total} {said:?}");

    // perf_to_profile: cycles are what pprof shows, the samples are beside them.
    let cycles = [("cycles_sample", "count"), ("cycles_event", "count")];
    let (_, unit, total, samples, _) = taken(&profile(&cycles, 0, &[(&[1], &[1, 7]), (&[2], &[1, 900])]));
    assert_eq!((unit.as_str(), total, samples), ("cycles", 907, Some(2)));
}

/// A period says how many samples there were, never what they amount to.
#[test]
fn times_without_a_count_are_kept_to_the_unit() {
    let samples: &[(&[u64], &[i64])] = &[(&[1], &[37]), (&[2], &[963])];
    let cpu = [("cpu", "milliseconds")];
    let (event, unit, total, counted, said) = taken(&profile(&cpu, 10_000_000, samples));
    assert_eq!((event, unit.as_str(), total, counted), (Event::Cpu, "nanoseconds", 1_000_000_000, Some(100)));
    assert!(said[0].contains("period, 10.0 ms"), "{said:?}");
    let p = import_as("pprof", &profile(&cpu, 10_000_000, samples)).unwrap().evidence.profile;
    let own = zwhy_profile::StackTotals::of(&p, Event::Cpu).own;
    assert!(own.contains(&37_000_000) && own.contains(&963_000_000), "{own:?}");

    let (_, _, total, counted, said) = taken(&profile(&cpu, 0, samples));
    assert_eq!((total, counted), (1_000_000_000, None));
    assert!(said[0].contains("no intervals"), "{said:?}");
    // A period that is larger than most samples is no divisor.
    let (_, _, total, counted, _) = taken(&profile(&[("wall", "nanoseconds")], 1_000_000, samples));
    assert_eq!((total, counted), (1000, Some(2)));
    let wall = [("wall", "nanoseconds")];
    let many: &[(&[u64], &[i64])] = &[(&[1], &[i64::MAX / 2]), (&[2], &[14_723_000_000])];
    let (_, _, total, _, said) = taken(&profile(&wall, 0, many));
    assert_eq!(total, i64::MAX as u64 / 2 + 14_723_000_000);
    assert!(said[0].contains("sleeping threads"), "{said:?}");
}

#[test]
fn values_that_are_no_samples_are_dropped_by_reason() {
    let types = [("samples", "count")];
    let samples: &[(&[u64], &[i64])] = &[(&[1], &[1]), (&[1], &[0]), (&[1], &[-5]), (&[1], &[])];
    let imported = import_as("pprof", &profile(&types, 0, samples)).unwrap();
    assert_eq!((imported.stats.read, imported.stats.kept, imported.stats.dropped_total()), (4, 1, 3));
    assert_eq!(imported.stats.dropped.len(), 3);
    let error = import_as("pprof", &profile(&types, 0, &samples[1..])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Empty);
    assert!(error.to_string().contains("negative value"), "{error}");
}

#[test]
fn few_bytes_cannot_make_many_frames() {
    // One location of 256 lines, named thousands of times by each of many samples.
    let types = [("samples", "count")];
    let mut out = profile(&types, 0, &[]);
    bytes(
        &mut out,
        4,
        &message(|m| {
            number(m, 1, 100);
            (0..5000).for_each(|_| bytes(m, 4, &message(|l| number(l, 1, 1))));
        }),
    );
    for i in 0..2000u64 {
        let mut ids = vec![100; 200];
        ids[2 + i as usize % 60] = 1;
        ids[i as usize / 60] = 2;
        bytes(
            &mut out,
            2,
            &message(|m| {
                bytes(m, 1, &message(|p| ids.iter().for_each(|l| varint(p, *l))));
                number(m, 2, 1);
            }),
        );
    }
    let imported = import_as("pprof", &out).unwrap();
    assert!(imported.evidence.profile.stacks.len() < 2 * out.len() + (1 << 21));
    assert_eq!(imported.stats.read, 2000);
    let cut = imported.stats.warnings.iter().any(|w| w.contains("deeper"));
    assert!(cut && imported.stats.dropped_total() > 0, "{:?}", imported.stats);
}

#[test]
fn a_cut_file_keeps_what_stands_before_the_cut() {
    let types = [("samples", "count")];
    let good = profile(&types, 0, &[(&[1], &[1]), (&[3], &[2])]);
    let imported = import_as("pprof", &good[..good.len() - 3]).unwrap();
    assert_eq!((imported.stats.kept, imported.stats.lost), (2, 1));
    assert!(imported.stats.lost_bytes > 0);
    survives_every_cut("pprof", &good);
    let mut real = Vec::new();
    flate2::read::GzDecoder::new(&input("pprof/go-cpu-labels.pb.gz")[..]).read_to_end(&mut real).unwrap();
    survives_every_cut("pprof", &real);
    survives_damage("pprof", &real);
    survives_damage("pprof", &good);
    survives_damage("pprof", &input("pprof/go-cpu-labels.pb.gz"));
}

#[test]
fn other_formats_are_not_taken_for_pprof() {
    for name in ["otlp/version-1.10.pb", "folded/decimals.folded", "speedscope/evented.json"] {
        let imported = zwhy_formats::import_bytes("x", input(name), &Default::default()).unwrap();
        assert_ne!(imported.stats.format, "pprof", "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_messages_are_answered(
        fields in prop::collection::vec((1u64..20, prop::collection::vec(any::<u8>(), 0..30)), 0..30),
    ) {
        let mut out = profile(&[("samples", "count")], 0, &[(&[1], &[1])]);
        for (field, value) in fields {
            bytes(&mut out, field, &value);
        }
        let imported = import_as("pprof", &out);
        prop_assert!(imported.is_err() || common::folded(&imported.unwrap().evidence.profile, Event::Cpu).contains("zio_read"));
    }
}
