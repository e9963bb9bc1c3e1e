//! Each wrong file through the whole import: what the message says.

use crate::{ErrorKind, ImportOptions, import_bytes};
use std::io::Write;

fn told(bytes: &[u8]) -> String {
    let error = import_bytes("x", bytes.to_vec(), &ImportOptions::default()).expect_err("no profile");
    assert!(matches!(error.kind(), ErrorKind::UnknownFormat | ErrorKind::Empty), "{error}");
    error.to_string()
}

fn elf(kind: u8) -> Vec<u8> {
    let mut bytes = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    bytes.extend([kind, 0, 62, 0]);
    bytes.resize(200, 0);
    bytes
}

fn tar() -> Vec<u8> {
    let mut bytes = b"notes.txt".to_vec();
    bytes.resize(257, 0);
    bytes.extend(b"ustar\x0000");
    bytes.resize(1024, 0);
    bytes
}

fn send_stream() -> Vec<u8> {
    let mut bytes = vec![0; 8];
    bytes.extend(0x2_f5ba_cbac_u64.to_le_bytes());
    bytes.resize(312, 0);
    bytes
}

#[test]
fn binary_files_are_named_and_say_what_to_do() {
    let cases: &[(&[u8], &str, &str)] = &[
        (&elf(2), "it is a program or library (ELF)", "zwhy record -- PROGRAM"),
        (&elf(1), "an object file or kernel module (ELF)", "zwhy record -a"),
        (&elf(4), "a core dump (ELF)", "zwhy record -p PID"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a PNG picture", "the SVG"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF\0", "a JPEG picture", "the SVG"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "a PDF document", "copy the text"),
        (b"PK\x03\x04\x14\0\0\0\x08\0", "a zip archive", "unpack it"),
        (b"BZh91AY&SY\x01\x02", "a bzip2 file", "bunzip2 -c"),
        (b"7z\xbc\xaf\x27\x1c\0\x04", "a 7-Zip archive", "unpack it"),
        (&tar(), "a tar archive", "tar -xf"),
        (b"SQLite format 3\0\x10\0\x01\x01", "an SQLite database", "folded stacks"),
        (b"\xca\xfe\xba\xbe\0\0\0\x41\0\x1d", "a Java class", "zwhy record -- java"),
        (b"\xca\xfe\xba\xbe\0\0\0\x02\x01\0\0\x07", "a program for macOS", "zwhy record"),
        (&send_stream(), "a stream of `zfs send`", "while it is sent"),
        (b"\x17\x08\x44tracing6\0\0\x08", "a trace.dat of trace-cmd", "perf record"),
        (&[0; 5000], "nothing but zero bytes", "again"),
        (
            b"\x01\x9e\x83\x00\xff\xfe\xfd\x03\x04",
            "begins with 01 9e 83 00 ff fe fd 03",
            "zwhy reads perf.data",
        ),
    ];
    for (bytes, what, hint) in cases {
        let text = told(bytes);
        assert!(text.contains(what) && text.contains(hint), "{text}");
        assert!(!text.contains("none of its"), "{text}");
    }
}

#[test]
fn compressed_ones_too() {
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(&tar()).unwrap();
    let text = told(&gz.finish().unwrap());
    assert!(text.contains("a tar archive"), "{text}");
}

#[test]
fn markup_is_named() {
    let cases = [
        ("<!DOCTYPE html>\n<html><body>arc_evict 30 %</body></html>", "an HTML page", "copy the text"),
        ("\u{feff}<HTML lang=en><title>zwhy report</title>", "a page that zwhy wrote", "the capture"),
        ("<html><svg width=\"10\"></svg>", "an HTML page with a drawing", "save the SVG"),
        (
            "<?xml version=\"1.0\"?>\n<!-- <a> --><!DOCTYPE x>\n<trace-query-result><node/>",
            "XML whose first element is <trace-query-result>",
            "inferno-collapse-xctrace",
        ),
        ("<?xml version=\"1.0\"?><plist version=\"1.0\">", "first element is <plist>", "flame graphs as SVG"),
    ];
    for (text, what, hint) in cases {
        let told = told(text.as_bytes());
        assert!(told.contains(what) && told.contains(hint), "{told}");
    }
}

#[test]
fn json_is_told_by_its_kind_or_its_keys() {
    let cases = [
        (
            r#"{"nodes":[{"id":1,"callFrame":{"functionName":"(root)"}}],"startTime":1,"samples":[1]}"#,
            "a CPU profile of Node.js or Chrome (.cpuprofile)",
            "speedscope reads it",
        ),
        (r#"{"traceEvents":[{"ph":"X"}]}"#, "a trace in Chrome's format", "zwhy record"),
        (r#"[{"name":"a","ph":"B","ts":1}]"#, "a trace in Chrome's format", "zwhy record"),
        (
            r#"{"first": {"inner": 1}, "second\"": [{"x": "}"}], "third": "a,b"}"#,
            r#"its keys are `first`, `second\"`, `third`"#,
            "of JSON zwhy reads speedscope files",
        ),
        (
            r#"[{"a": 1, "b": 2}, {"c": 3}]"#,
            "a list; the keys of its first object are `a`, `b`",
            "speedscope",
        ),
        ("[1, 2, 3]", "JSON of no kind that zwhy reads: a list", "speedscope"),
        ("{}", "an object without keys", "speedscope"),
        // Cut short.
        (r#"{"alpha": [1, 2, {"be"#, "its keys are `alpha`", "speedscope"),
    ];
    for (json, what, hint) in cases {
        let told = told(json.as_bytes());
        assert!(told.contains(what) && told.contains(hint), "{told}");
    }
}

#[test]
fn keys_of_a_stranger_reach_no_terminal_unclean() {
    let told = told(b"{\"a\x1b[31mred\": 1}");
    assert!(!told.contains('\x1b') && told.contains("red"), "{told}");
}

#[test]
fn text_that_only_looks_like_json_is_read_as_text() {
    for text in ["[1234.5] nonsense here\n", "{ not json at all\n", "[nobody knows] this\n"] {
        let told = told(text.as_bytes());
        assert!(told.contains("none of its 1 lines"), "{told}");
    }
}

#[test]
fn a_full_pool_of_other_storage_is_no_pool_of_zfs() {
    let told = told(b"My ceph pool is 85% full, osds are nearfull and writes are slow.\n");
    assert!(told.contains("none of its 1 lines"), "{told}");
}

#[test]
fn a_report_of_ghc_is_named() {
    let table = "\tSun Aug  6 14:50 2023 Time and Allocation Profiling Report  (Final)\n\n\t   app +RTS -p\n\n\
        COST CENTRE MODULE SRC no. entries %time %alloc %time %alloc\n\n\
        MAIN MAIN <built-in> 337 0 0.0 0.0 100.0 100.0\n main Main app.hs:3:1-9 675 1 2.0 0.1 99.0 99.0\n";
    let told = told(table.as_bytes());
    assert!(told.contains("GHC") && told.contains("inferno-collapse-ghcprof"), "{told}");
}

#[test]
fn every_kind_has_a_pattern_that_can_be_built() {
    let kinds = &super::KINDS;
    assert!(kinds.kinds.len() > 30 && kinds.json.len() > 5);
    for kind in &kinds.kinds {
        let built = regex::bytes::RegexBuilder::new(&kind.pattern).unicode(false).build();
        assert!(built.is_ok(), "{built:?}");
    }
}
