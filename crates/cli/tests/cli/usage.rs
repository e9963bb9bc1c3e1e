//! Wrong usage exits 2 and says what would be right, before anything is read or written.

use crate::inputs;
use crate::support::{call, run};
use std::fs;

#[test]
fn wrong_calls_exit_2() {
    let folder = inputs::bare_folder();
    let wrong = [
        "bogus",
        "record",
        "record -a -p 1 -o x.zwhy",
        "record -F 0 -a -o x.zwhy",
        "record -F 5000 -a -o x.zwhy",
        "record -d soon -a -o x.zwhy",
        "record -d -1 -a -o x.zwhy",
        "record -d NaN -a -o x.zwhy",
        "record -p 0 -o x.zwhy",
        "explain",
        "explain --json --markdown ccm.folded",
        "explain --format nosuch ccm.folded",
        "explain --what-if compress ccm.folded",
        "explain --what-if offload=magic ccm.folded",
        "explain --what-if offload=compress --json ccm.folded",
        "report ccm.folded",
        "report ccm.folded -o x.pdf",
        "report ccm.folded -o x.svg",
        "report ccm.folded -o x.zwhy",
        "export ccm.folded -o x.svg",
        "export ccm.folded --format svg -o x.html",
        "export ccm.folded --format pprof -o x.json",
        "import ccm.folded -o x.json",
        "import --bundle ccm.folded -o x.html",
        "import --bundle ccm.folded -o -",
        "record -o x.html -- true",
        "record -o x.svg -a",
        "record -o - -- true",
        "record -o /dev/stdout -- true",
        "count strlen -o x.svg -- true",
        "count strlen -o - -- true",
        "lab run encryption -o x.html",
        "ask disk-full -o x.html",
        "flame ccm.folded -o x.png",
        "flame ccm.folded -o x",
        "diff ccm.folded",
        "diff ccm.folded plain.folded -o x.png",
        "export --format nosuch ccm.folded",
        "import -o x.zwhy",
        "import ccm.folded",
        "import --bundle ccm.folded plain.folded -o x",
        "lab",
        "lab run",
        "lab run nosuch",
        "knowledge",
        "knowledge show",
        "knowledge show nosuch",
    ];
    let before = fs::read_dir(folder.path()).expect("the folder").count();
    for args in wrong {
        let ran = call(folder.path(), args);
        assert_eq!(ran.code, Some(2), "{args}: {ran:?}");
        assert_eq!(ran.out, "", "{args}");
        assert!(!ran.err.is_empty(), "{args}");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), before, "nothing was written");
}

#[test]
fn without_arguments_the_commands_are_listed() {
    let folder = inputs::bare_folder();
    let ran = run::<&str>(folder.path(), []);
    assert_eq!(ran.code, Some(2));
    for command in ["record", "explain", "report", "flame", "diff", "lab", "knowledge"] {
        assert!(ran.err.contains(command), "{ran:?}");
    }
}

#[test]
fn an_unknown_name_lists_the_known_ones() {
    let folder = inputs::bare_folder();
    let error = |args: &str| call(folder.path(), args).failed(2);
    let known = [
        ("explain --format nosuch ccm.folded", ["perf.data", "folded", "pasted"]),
        ("export --format nosuch ccm.folded", ["pprof", "speedscope", "svg"]),
        ("flame ccm.folded -o x.png", ["x.png", "X.svg", "X.html"]),
        ("report ccm.folded -o x.pdf", ["x.pdf", "a PDF", "X.html"]),
        ("report ccm.folded -o x.svg", ["x.svg", "an SVG picture", "X.html"]),
        ("export ccm.folded -o x.svg", ["x.svg", "X.folded", "--format svg"]),
        ("export ccm.folded -o x.json", ["X.folded", "--format", "speedscope"]),
        ("import ccm.folded -o x.html", ["an HTML page", "a capture", "X.zwhy"]),
        ("lab run nosuch", ["nosuch", "encryption", ".toml"]),
        ("knowledge show nosuch", ["nosuch", "zwhy knowledge", "list"]),
        ("record", ["-a", "-p PID", "-- CMD"]),
    ];
    for (args, names) in known {
        let line = error(args);
        assert!(names.iter().all(|name| line.contains(name)), "{args}: {line}");
    }
}
