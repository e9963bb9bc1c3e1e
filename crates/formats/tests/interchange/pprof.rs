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

#[test]
fn the_right_column_is_taken_and_the_others_are_named() {
    let heap = [("alloc_objects", "count"), ("alloc_space", "bytes")];
    let imported = import_as("pprof", &profile(&heap, 0, &[(&[1], &[3, 4096])])).unwrap();
    assert_eq!(imported.evidence.profile.total(Event::Count), 3);
    assert!(imported.stats.warnings[0].contains("alloc_space"), "{:?}", imported.stats.warnings);

    let mutex = [("contentions", "count"), ("delay", "nanoseconds")];
    let imported = import_as("pprof", &profile(&mutex, 0, &[(&[1], &[3, 4096])])).unwrap();
    assert_eq!(
        (imported.evidence.profile.total(Event::Wait), imported.evidence.profile.samples.weight[0].0),
        (3, 4096)
    );

    // Times alone: with a period they say how many samples there were.
    let cpu = [("cpu", "milliseconds")];
    let imported = import_as("pprof", &profile(&cpu, 10_000_000, &[(&[1], &[30]), (&[2], &[10])])).unwrap();
    assert_eq!(imported.evidence.profile.total(Event::Cpu), 4);
    let imported = import_as("pprof", &profile(&cpu, 0, &[(&[1], &[30]), (&[2], &[20])])).unwrap();
    assert_eq!(imported.evidence.profile.total(Event::Cpu), 5);
    assert!(imported.stats.warnings[0].contains("10000 us"), "{:?}", imported.stats.warnings);
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
