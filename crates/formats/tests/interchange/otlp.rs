//! OTLP profiles, made by the encoder of opentelemetry-proto in both sample layouts.

use crate::common::{golden, import_as, import_detected, input, survives_damage};
use crate::{describe_all, survives_every_cut};
use proptest::prelude::*;
use zwhy_formats::ErrorKind;
use zwhy_profile::Event;

#[test]
fn both_layouts_say_the_same() {
    let new = import_detected("otlp", &input("otlp/version-1.10.pb"));
    let old = import_detected("otlp", &input("otlp/version-1.8.pb"));
    golden("otlp/version-1.10.txt", &describe_all(&new));
    assert_eq!(describe_all(&new), describe_all(&old));
    let p = &new.evidence.profile;
    assert_eq!((p.total(Event::Cpu), p.total(Event::Wait)), (15, 10_000_000));
    assert_eq!(new.stats.dropped["same samples in another unit"], 1);
}

#[test]
fn versions_before_the_stack_table_are_refused_by_name() {
    // dictionary { string_table: "", attribute_units: { 1: 1 } }, one profile with a sample of locations
    let sample = [0x08, 1, 0x10, 2, 0x1a, 1, 5];
    let profile = [&[0x12, sample.len() as u8][..], &sample].concat();
    let scope = [&[0x12, profile.len() as u8][..], &profile].concat();
    let resource = [&[0x12, scope.len() as u8][..], &scope].concat();
    let dictionary = [0x2a, 0, 0x3a, 2, 0x08, 1];
    let file = [&[0x0a, resource.len() as u8][..], &resource, &[0x12, 6], &dictionary].concat();
    let error = import_as("otlp", &file).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("before 1.8"), "{error}");
}

#[test]
fn damage_never_panics() {
    for name in ["otlp/version-1.10.pb", "otlp/version-1.8.pb"] {
        let good = input(name);
        survives_every_cut("otlp", &good);
        survives_damage("otlp", &good);
        for at in 0..good.len() {
            let mut flipped = good.clone();
            for bit in 0..8 {
                flipped[at] = good[at] ^ (1 << bit);
                let _ = import_as("otlp", &flipped);
            }
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = import_as("otlp", &bytes);
        let _ = import_as("pprof", &bytes);
    }
}
