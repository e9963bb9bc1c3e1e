//! Firefox profiles: tables per thread (as samply writes them) and shared, flag columns, Gecko rows.

use crate::common::{golden, import_as, import_detected, input, survives_damage};
use crate::{describe_all, survives_every_cut};

const INPUTS: [&str; 3] = ["processed-55-tables-per-thread", "processed-75-shared-tables", "gecko-rows"];

#[test]
fn goldens() {
    for name in INPUTS {
        let imported = import_detected("firefox", &input(&format!("firefox/{name}.json")));
        golden(&format!("firefox/{name}.txt"), &describe_all(&imported));
    }
}

#[test]
fn damage_never_panics() {
    for name in INPUTS {
        let good = input(&format!("firefox/{name}.json"));
        survives_every_cut("firefox", &good);
        survives_damage("firefox", &good);
    }
}

/// Numbers are what indexes are made of: each digit replaced by each of a few others.
#[test]
fn hostile_indexes_never_panic() {
    for name in INPUTS {
        let good = input(&format!("firefox/{name}.json"));
        let digits: Vec<usize> = (0..good.len()).filter(|i| good[*i].is_ascii_digit()).collect();
        for at in digits {
            for digit in [&b"9"[..], b"-1", b"4294967295", b"1e300"] {
                let file = [&good[..at], digit, &good[at + 1..]].concat();
                let _ = import_as("firefox", &file);
            }
        }
    }
}

#[test]
fn chains_longer_than_the_limit_are_cut() {
    let n = 20_000;
    let prefix: Vec<String> =
        (0..n).map(|i: usize| i.checked_sub(1).map_or("null".into(), |p| p.to_string())).collect();
    let file = format!(
        r#"{{"meta":{{"preprocessedProfileVersion":57}},"shared":{{"stringArray":["f"]}},"threads":[{{"name":"t","pid":"1","tid":1,
        "stackTable":{{"frame":[{}],"prefix":[{}]}},"frameTable":{{"func":[0]}},"funcTable":{{"name":[0]}},
        "samples":{{"stack":[{},{},3],"length":3}}}}]}}"#,
        vec!["0"; n].join(","),
        prefix.join(","),
        n - 1,
        n - 2
    );
    let imported = import_as("firefox", file.as_bytes()).unwrap();
    let p = &imported.evidence.profile;
    let depths: Vec<u32> = p.samples.stack.iter().map(|s| p.stacks.depth(*s)).collect();
    assert_eq!(depths, [16_384, 16_384, 4]);
    assert!(imported.stats.warnings[0].starts_with("2 stacks are deeper"), "{:?}", imported.stats.warnings);
}
