//! JSON that tries to take the machine.

use crate::common::import_as;
use zwhy_formats::{ErrorKind, ImportOptions, Limits, import_bytes};

#[test]
fn nesting_is_refused_and_limits_are_kept() {
    for format in ["speedscope", "firefox"] {
        for deep in [
            "[".repeat(1_000_000),
            r#"{"a":"#.repeat(200_000),
            format!(r#"{{"threads":{}"#, "[".repeat(500_000)),
        ] {
            let error = import_as(format, deep.as_bytes()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Damaged, "{format}");
        }
        let options = ImportOptions {
            format: Some(format.to_owned()),
            limits: Limits { max_decompressed: 100, ..Limits::default() },
            ..ImportOptions::default()
        };
        let error = import_bytes("x", vec![b' '; 101], &options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge);
    }
}

#[test]
fn bytes_that_are_no_text_spoil_only_a_name() {
    let mut file = crate::common::input("speedscope/evented.json");
    let at = file.windows(6).position(|w| w == b"memcpy").unwrap();
    file[at] = 0xff;
    let imported = import_as("speedscope", &file).unwrap();
    assert!(
        crate::common::folded(&imported.evidence.profile, zwhy_profile::Event::Cpu).contains("\u{fffd}emcpy")
    );
}

/// Two bytes of `{}` may not become a kilobyte each.
#[test]
fn lists_of_nothing_are_refused_before_they_fill_memory() {
    let many = vec!["{}"; 5_000_000].join(",");
    for (format, file) in [
        ("speedscope", format!(r#"{{"profiles":[{many}]}}"#)),
        ("speedscope", format!(r#"{{"shared":{{"frames":[{many}]}}}}"#)),
        ("firefox", format!(r#"{{"threads":[{many}]}}"#)),
        ("firefox", format!(r#"{{"libs":[{many}]}}"#)),
        ("firefox", format!(r#"{{"processes":[{many}]}}"#)),
    ] {
        let error = import_as(format, file.as_bytes()).unwrap_err();
        assert!(error.to_string().contains("more objects than are read"), "{error}");
    }
}
