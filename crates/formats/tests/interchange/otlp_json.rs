//! OTLP as JSON: the same profiles as protobuf, in the spellings that its writers have.

use crate::common::{golden, import_as, import_detected, input, survives_damage};
use crate::{describe_all, survives_every_cut};
use zwhy_formats::ErrorKind;
use zwhy_profile::Event;

const FILE: &str = "otlp/profiles.json";

fn text() -> String {
    String::from_utf8(input(FILE)).unwrap()
}

#[test]
fn it_says_the_same_as_protobuf() {
    let json = import_detected("otlp", &input(FILE));
    golden("otlp/version-1.10.txt", &describe_all(&json));
    // Version 1.8 had other names, the protocol has others again, and one line is as good as many.
    let old = text().replace("\"samples\"", "\"sample\"").replace("\"lines\"", "\"line\"");
    golden("otlp/version-1.10.txt", &describe_all(&import_detected("otlp", old.as_bytes())));
    let snake = text()
        .replace("resourceProfiles", "resource_profiles")
        .replace("stackIndex", "stack_index")
        .replace("typeStrindex", "type_strindex");
    golden("otlp/version-1.10.txt", &describe_all(&import_detected("otlp", snake.as_bytes())));
    let line: String = text().lines().map(str::trim).collect();
    golden("otlp/version-1.10.txt", &describe_all(&import_detected("otlp", line.as_bytes())));
}

#[test]
fn the_collector_writes_one_message_a_line() {
    let line: String = text().lines().map(str::trim).collect();
    let one = import_detected("otlp", line.as_bytes());
    let three = import_detected("otlp", format!("{line}\n{line}\n{line}\n").as_bytes());
    assert_eq!((three.stats.read, three.stats.kept), (3 * one.stats.read, 3 * one.stats.kept));
    let total = |i: &zwhy_formats::Imported| i.evidence.profile.total(Event::Cpu);
    assert_eq!(total(&three), 3 * total(&one));
    // The last line cut.
    let cut = import_detected("otlp", format!("{line}\n{}", &line[..line.len() / 2]).as_bytes());
    assert_eq!((cut.stats.kept, cut.stats.cut_at), (one.stats.kept, Some(line.len() as u64 + 1)));
    assert_eq!(cut.stats.lost_bytes, line.len() as u64 / 2);
    assert!(cut.stats.warnings.iter().any(|w| w.contains("no valid JSON")), "{:?}", cut.stats.warnings);
}

#[test]
fn cells_that_cannot_be_lose_their_sample_alone() {
    let good = import_detected("otlp", &input(FILE)).stats;
    for (from, to) in [
        (r#""values": ["7"]"#, r#""values": ["seven"]"#),
        (r#""values": ["7"]"#, r#""values": [{}]"#),
        (r#""values": ["7"]"#, r#""values": 7"#),
        (r#""values": ["7"]"#, r#""values": [7.5]"#),
    ] {
        assert!(text().contains(from));
        let stats = import_detected("otlp", text().replace(from, to).as_bytes()).stats;
        assert_eq!((stats.read, stats.kept, stats.lost), (good.read, good.kept - 1, 1), "{to}");
    }
    let negative = text().replace(r#""values": ["7"]"#, r#""values": ["-7"]"#);
    assert_eq!(import_detected("otlp", negative.as_bytes()).stats.dropped["negative value"], 1);
    // An entry of a table that is nothing keeps its place.
    let hole = text().replacen(r#""functionTable": [{}"#, r#""functionTable": [null"#, 1);
    assert_ne!(hole, text());
    golden("otlp/version-1.10.txt", &describe_all(&import_detected("otlp", hole.as_bytes())));
}

#[test]
fn what_cannot_be_read_is_said() {
    let error = import_as("otlp", &input(FILE)[..900]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Damaged);
    assert!(error.to_string().contains("line "), "{error}");
    let old = text().replace("stackTable", "locationIndices");
    let error = import_as("otlp", old.as_bytes()).unwrap_err();
    assert!(error.to_string().contains("before 1.8"), "{error}");
    let none = import_as("otlp", br#"{"resourceProfiles": []}"#).unwrap_err();
    assert_eq!(none.kind(), ErrorKind::Empty, "{none}");
    // A message without names beside one with them.
    let nameless = text().replace("dictionary", "dictionaries").replace('\n', "");
    assert!(import_as("otlp", nameless.as_bytes()).unwrap_err().to_string().contains("no dictionary"));
    let both = import_detected("otlp", format!("{nameless}\n{}", text()).as_bytes());
    assert_eq!(both.stats.lost_bytes, nameless.len() as u64);
    assert!(both.stats.warnings.iter().any(|w| w.contains("no dictionary")), "{:?}", both.stats.warnings);
    for (signal, what) in [("Spans", "traces"), ("Metrics", "metrics"), ("Logs", "logs")] {
        let other = format!(r#"{{"resource{signal}": [{{"resource": {{}}}}]}}"#);
        let error = zwhy_formats::import_bytes("x", other.into_bytes(), &Default::default()).unwrap_err();
        assert!(error.to_string().contains(&format!("OpenTelemetry {what}")), "{error}");
    }
}

#[test]
fn damage_never_panics() {
    let good = input(FILE);
    survives_every_cut("otlp", &good);
    survives_damage("otlp", &good);
    let digits: Vec<usize> = (0..good.len()).filter(|i| good[*i].is_ascii_digit()).collect();
    for at in digits {
        for digit in [&b"-1"[..], b"4294967295", b"18446744073709551615", b"1e300", b"{}", b"null"] {
            let _ = import_as("otlp", &[&good[..at], digit, &good[at + 1..]].concat());
        }
    }
}
