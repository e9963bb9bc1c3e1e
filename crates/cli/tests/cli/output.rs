//! Where results go: files that appear whole or not at all, pipes, names that are hostile.

use crate::inputs;
use crate::support::{call, obeyed, run, zwhy};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use serde_json::Value;
use std::fs::{self, File};
use std::process::Stdio;

#[test]
fn a_written_file_is_named_on_standard_output() {
    let folder = inputs::bare_folder();
    for (args, file) in [
        ("report ccm.folded -o page.html", "page.html"),
        ("flame ccm.folded -o graph.svg", "graph.svg"),
        ("flame ccm.folded -o graph.html", "graph.html"),
    ] {
        assert_eq!(call(folder.path(), args).ok(), format!("{file}\n"));
        assert!(fs::metadata(folder.path().join(file)).is_ok_and(|m| m.len() > 0), "{args}");
    }
    call(folder.path(), "diff ccm.folded plain.folded -o diff.svg").ok();
    call(folder.path(), "diff ccm.folded plain.folded -o diff.html").ok();
    let left = fs::read_dir(folder.path())
        .expect("the folder")
        .filter_map(|e| e.ok()?.file_name().into_string().ok());
    assert_eq!(left.filter(|name| name.ends_with(".tmp")).count(), 0);
}

#[test]
fn a_page_of_several_inputs_holds_each_of_them() {
    let folder = inputs::bare_folder();
    let page = call(folder.path(), "report ccm.folded plain.folded -o -").ok();
    for id in ["inputs", "answer", "flame", "answer.1", "flame.1"] {
        assert_eq!(page.matches(&format!("type=\"application/zwhy\" id=\"{id}\">")).count(), 1, "{id}");
    }
    let twice = call(folder.path(), "report - ccm.folded - -o -");
    assert!(twice.err.contains("standard input (-) is named twice"), "{twice:?}");
    let missing = call(folder.path(), "report ccm.folded nowhere.folded -o page.html");
    assert!(missing.err.contains("nowhere.folded"), "{missing:?}");
    assert!(!folder.path().join("page.html").exists());
}

#[test]
fn the_page_of_a_comparison_has_the_figures_of_its_json() {
    let folder = inputs::bare_folder();
    call(folder.path(), "diff ccm.folded plain.folded -o compared.html").ok();
    let html = fs::read_to_string(folder.path().join("compared.html")).expect("the page");
    let (_, rest) = html.split_once("id=\"compare\">").expect("a comparison");
    let packed = STANDARD.decode(rest.split('<').next().unwrap_or_default()).expect("base64");
    let shown: Value = serde_json::from_reader(GzDecoder::new(packed.as_slice())).expect("JSON");
    let mut told = call(folder.path(), "diff --json ccm.folded plain.folded").json();
    // Of the functions the page has those that changed most.
    let most = shown["diff"]["functions"].as_array().expect("functions").len();
    assert!(most > 5, "{shown}");
    told["functions"].as_array_mut().expect("functions").truncate(most);
    assert_eq!(shown["diff"], told);
}

#[test]
fn a_hyphen_is_standard_output_and_nothing_else_is_there() {
    let folder = inputs::bare_folder();
    let page = call(folder.path(), "report ccm.folded -o -").ok();
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    for args in
        ["flame ccm.folded -o -", "diff ccm.folded plain.folded -o -", "export ccm.folded --format svg"]
    {
        let picture = call(folder.path(), args).ok();
        assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"), "{args}");
    }
}

#[test]
fn a_place_that_cannot_be_written_is_an_error() {
    let folder = inputs::bare_folder();
    for (args, ending) in
        [("report ccm.folded -o", "html"), ("flame ccm.folded -o", "svg"), ("export ccm.folded -o", "folded")]
    {
        fs::create_dir(folder.path().join("folder.".to_owned() + ending)).expect("a folder");
        for place in ["folder", "nosuch/x", "/proc/x"].map(|place| format!("{place}.{ending}")) {
            let line = call(folder.path(), &format!("{args} {place}")).failed(1);
            assert!(line.contains("cannot write") && line.contains(&place), "{args}: {line}");
        }
    }
    let line = call(folder.path(), "import ccm.folded -o nosuch/x.zwhy").failed(1);
    assert!(line.contains("nosuch/x.zwhy"), "{line}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = inputs::bare_folder();
    for args in ["explain ccm.folded", "export ccm.folded", "report ccm.folded -o -", "knowledge list"] {
        let mut command = zwhy(folder.path());
        command.args(args.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("the program ends");
        assert_eq!(output.status.code(), Some(0), "{args}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args}");
    }
}

#[test]
fn a_full_disk_under_standard_output_is_an_error() {
    let folder = inputs::bare_folder();
    for args in ["explain ccm.folded", "export ccm.folded", "report ccm.folded -o -"] {
        let full = File::options().write(true).open("/dev/full").expect("/dev/full");
        let output =
            zwhy(folder.path()).args(args.split(' ')).stdout(full).output().expect("the program runs");
        assert_eq!(output.status.code(), Some(1), "{args}");
        assert!(
            String::from_utf8_lossy(&output.stderr).contains("cannot write to standard output"),
            "{args}"
        );
    }
}

#[test]
fn hostile_names_reach_no_terminal_and_no_markup() {
    let folder = inputs::bare_folder();
    for args in [
        "explain hostile.folded",
        "explain -v hostile.folded",
        "explain --markdown hostile.folded",
        "top-functions hostile.folded",
        "diff hostile.folded ccm.folded -n 100",
        "import hostile.folded -o hostile.zwhy",
        "explain -v hostile.zwhy",
    ] {
        let ran = call(folder.path(), args);
        assert_eq!((obeyed(&ran.out), obeyed(&ran.err)), (vec![], vec![]), "{args}: {ran:?}");
        ran.ok();
    }
    for args in
        ["flame hostile.folded -o -", "report hostile.folded -o -", "diff hostile.folded ccm.folded -o -"]
    {
        let out = call(folder.path(), args).ok();
        assert!(!out.contains("<script>alert"), "{args}");
        assert!(!out.contains(['\u{1b}', '\u{7}', '\u{9b}', '\u{7f}']), "{args}");
    }
    let listed = call(folder.path(), "top-functions --json -n 100 hostile.folded").json();
    let names: Vec<&str> =
        listed["functions"].as_array().expect("rows").iter().filter_map(|r| r["function"].as_str()).collect();
    assert!(names.contains(&"a\u{1b}[2Jred"), "JSON keeps names as they are: {names:?}");
}

#[test]
fn commands_to_copy_quote_the_file_name() {
    let folder = inputs::bare_folder();
    fs::copy(folder.path().join("ccm.folded"), folder.path().join("a b;c.folded")).expect("a copy");
    let text = run(folder.path(), ["explain", "a b;c.folded"]).ok();
    assert!(text.contains("zwhy explain -v 'a b;c.folded'\n"), "{text}");
}
