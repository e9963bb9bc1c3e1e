//! Firefox profiles: tables per thread (as samply writes them) and shared, flag columns, Gecko rows.

use crate::common::{golden, import_as, import_detected, input, survives_damage};
use crate::{describe_all, survives_every_cut};

const INPUTS: [&str; 5] = [
    "processed-55-tables-per-thread",
    "processed-75-shared-tables",
    "gecko-rows",
    "gecko-3-nested-texts",
    "cleopatra-threads",
];

/// An input as text.
fn text(name: &str) -> String {
    String::from_utf8(input(&format!("firefox/{name}.json"))).unwrap()
}

#[test]
fn goldens() {
    for name in INPUTS {
        let imported = import_detected("firefox", &input(&format!("firefox/{name}.json")));
        golden(&format!("firefox/{name}.txt"), &describe_all(&imported));
    }
}

/// Version 3 of Gecko held objects and other processes as JSON inside texts.
#[test]
fn gecko_3_says_the_same_as_later_versions() {
    let folded = |name: &str| {
        let imported = import_detected("firefox", text(name).as_bytes());
        crate::common::folded(&imported.evidence.profile, zwhy_profile::Event::Cpu)
    };
    let (new, old) = (folded("gecko-rows"), folded("gecko-3-nested-texts"));
    // Later versions say where in the object the mapped part begins.
    assert_eq!(old.replace("libxul.so+0x3e8", "libxul.so+0x3f8"), new);
}

#[test]
fn a_damaged_text_loses_its_process_alone() {
    let good = text("gecko-3-nested-texts");
    let whole = import_detected("firefox", good.as_bytes()).stats;
    let broken = good.replace(r#""{\"meta\""#, r#""{\"meta"#);
    assert_ne!(broken, good);
    let stats = import_detected("firefox", broken.as_bytes()).stats;
    assert_eq!((stats.read, stats.kept), (whole.read - 1, whole.kept - 1));
    assert!(stats.lost_bytes > 300 && stats.lost_known().is_none(), "{stats:?}");
    assert!(stats.warnings.iter().any(|w| w.starts_with("1 profiles of other processes are damaged")));
    let broken = good.replace(r#""[{\"name\""#, r#""[{\"name"#);
    assert_ne!(broken, good);
    let stats = import_detected("firefox", broken.as_bytes()).stats;
    assert!(stats.warnings.iter().any(|w| w.contains("addresses of its process have no module")));
    // A text in a text in a text is not followed.
    let deep = good.replace(r#"\"threads\": ["#, r#"\"threads\": [\"{}\", "#);
    assert_eq!(import_detected("firefox", deep.as_bytes()).stats.read, whole.read - 1);
}

#[test]
fn the_oldest_profiles_hold_samples_or_threads() {
    let several = text("cleopatra-threads");
    let stats = import_detected("firefox", several.as_bytes()).stats;
    assert_eq!((stats.read, stats.kept), (7, 5));
    assert_eq!(stats.dropped["sample without a stack"], 1);
    assert_eq!(stats.dropped["stack that is not in the file"], 1);
    // Before there were threads.
    let start = several.find(r#"{"threads""#).unwrap();
    let end = several.find(",\n  \"symbolicationTable").unwrap();
    let list = r#"[{"frames": [0, 2], "extraInfo": {"time": 7}}, {"frames": [0, 2], "extraInfo": {}}]"#;
    let one = [&several[..start], list, &several[end..]].concat();
    let p = import_detected("firefox", one.as_bytes()).evidence.profile;
    assert_eq!(crate::common::folded(&p, zwhy_profile::Event::Cpu), "(root);read 2\n");
    // A sample without a time is an interval after the one before it.
    assert_eq!(p.samples.iter().map(|s| s.t.0).collect::<Vec<_>>(), [7_000_000, 8_000_000]);
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
