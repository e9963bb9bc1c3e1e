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
