//! speedscope files of others: events, weights of all units, frames that name objects.

use crate::common::{golden, import_as, import_detected, input, survives_damage};
use crate::{describe_all, survives_every_cut};
use zwhy_formats::{ErrorKind, import_bytes};

#[test]
fn goldens() {
    for name in ["evented", "sampled-of-perf"] {
        let imported = import_detected("speedscope", &input(&format!("speedscope/{name}.json")));
        golden(&format!("speedscope/{name}.txt"), &describe_all(&imported));
    }
}

#[test]
fn damage_never_panics() {
    for name in ["evented", "sampled-of-perf"] {
        let good = input(&format!("speedscope/{name}.json"));
        survives_every_cut("speedscope", &good);
        survives_damage("speedscope", &good);
    }
}

#[test]
fn a_cut_file_is_refused_with_its_place() {
    let good = input("speedscope/sampled-of-perf.json");
    let error = import_as("speedscope", &good[..300]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Damaged);
    assert!(error.to_string().contains("at byte 300"), "{error}");
}

#[test]
fn deep_stacks_are_cut_and_counted() {
    let stack = vec!["0"; 20_000].join(",");
    let events: String = (0..3000).map(|i| format!(r#"{{"type":"O","at":{i},"frame":0}},"#)).collect();
    let file = format!(
        r#"{{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{{"frames":[{{"name":"f"}}]}},"profiles":[
        {{"type":"sampled","name":"a","unit":"none","startValue":0,"endValue":1,"samples":[[{stack}]],"weights":[5]}},
        {{"type":"evented","name":"b","unit":"none","startValue":0,"endValue":3000,"events":[{}]}}]}}"#,
        events.trim_end_matches(',')
    );
    let imported = import_as("speedscope", file.as_bytes()).unwrap();
    let p = &imported.evidence.profile;
    assert_eq!(p.stacks.depth(p.samples.stack[0]), 16_384);
    assert_eq!(imported.stats.warnings.len(), 1);
    assert_eq!(p.samples.len(), 1 + 3000);
}

#[test]
fn no_weight_at_all_is_an_error() {
    let empty = r#"{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[]},"profiles":[]}"#;
    let error = import_bytes("x", empty.into(), &Default::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Empty);
}
