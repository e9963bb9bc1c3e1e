//! Every tool that comes with zwhy: its patterns build, its samples give what its file says.

use zwhy_paste::Tools;
use zwhy_paste::tool::check_samples;

#[test]
fn all_tools_can_be_used_and_their_samples_hold() {
    let tools = Tools::with(&[], true);
    let mut wrong: Vec<String> = tools.problems.iter().map(ToString::to_string).collect();
    for outcome in check_samples(&tools) {
        wrong
            .extend(outcome.wrong.iter().map(|w| format!("{} sample {}: {w}", outcome.file, outcome.sample)));
    }
    assert!(tools.samples.len() > 20 || !wrong.is_empty(), "{} tools", tools.samples.len());
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

const OWN: &str = r#"
about = "A tool of one's own."
[[blocks]]
table = "poolwatch"
header = { words = ["POOL BUSY"] }
rows = { figures = 1.0 }
emit = [{ to = "kstat", of = "poolwatch", name = "{POOL}", value = "{BUSY}", kind = "number" }]
[[samples]]
text = '''
POOL BUSY
tank 12
'''
gives = ["poolwatch / tank / BUSY = 12", "kstat poolwatch tank = 12"]
"#;

fn with(name: &str, text: &str) -> Tools {
    Tools::with(&[(name.to_owned(), text.to_owned())], false)
}

#[test]
fn a_file_of_ones_own_is_one_more_tool_and_replaces_one_of_the_same_name() {
    let tools = with("poolwatch.toml", OWN);
    assert_eq!(tools.problems, []);
    let own = check_samples(&tools).into_iter().find(|o| o.file == "poolwatch.toml");
    assert_eq!(own.map(|o| o.wrong), Some(Vec::new()));
    let known = Tools::embedded().samples.len();
    assert_eq!((tools.samples.len(), with("dir/iotop.toml", OWN).samples.len()), (known + 1, known));
    assert!(tools.tables().iter().any(|t| t.name == "poolwatch"));
}

/// What is wrong is told with the file, the key and what was found; the other files are still used.
#[test]
fn a_file_that_cannot_be_used_is_told_with_what_is_wrong() {
    for (from, to, told) in [
        ("header = {", "haeder = {", "haeder"),
        ("words = [\"POOL BUSY\"]", "words = []", "`words` or `line`"),
        ("kind = \"number\"", "kind = \"lenght\"", "lenght"),
        ("figures = 1.0", "figures = 7.0", "`rows.figures` is 7"),
        ("figures = 1.0", "line = '('", "pattern `(`"),
        ("{POOL}", "{POOL", "open brace"),
        ("to = \"kstat\"", "to = \"host\"", "no fact of a host"),
        ("table = \"poolwatch\"\n", "", "neither `table` nor `what`"),
        ("POOL BUSY\"", "POOL @busy\"", "@busy"),
    ] {
        let tools = with("own.toml", &OWN.replacen(from, to, 1));
        let said: Vec<String> = tools.problems.iter().map(ToString::to_string).collect();
        assert!(
            said.len() == 1 && said[0].starts_with("own.toml: ") && said[0].contains(told),
            "{to}: {said:?}"
        );
        assert!(tools.blocks.len() > 20);
    }
    let lines = OWN.replacen("header = { words = [\"POOL BUSY\"] }", "lines = [{ match = '^(a)$' }]", 1);
    let lines = lines.replacen("{BUSY}", "{2}", 1).replacen("{POOL}", "{1}", 1);
    assert!(with("own.toml", &lines).problems[0].what.contains("has no {2}"));
}

/// Damaged files and any text: no panic, every line accounted for.
#[test]
fn damaged_files_do_no_harm() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../knowledge/tools");
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |n: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % n.max(1) as u64) as usize
    };
    let mut paths: Vec<_> = std::fs::read_dir(root).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        for _ in 0..2 {
            let mut bytes = text.clone().into_bytes();
            for _ in 0..1 + below(4) {
                let at = below(bytes.len());
                match below(4) {
                    0 => bytes.truncate(at),
                    1 if at < bytes.len() => bytes[at] = b"{}()[]|*+?\\^$\"'\n0"[below(17)],
                    2 => {
                        let end = (at + below(60)).min(bytes.len());
                        bytes.drain(at.min(end)..end);
                    }
                    _ => drop(bytes.splice(at..at, *b"\nlines = []\n")),
                }
            }
            let tools = with(&name, &String::from_utf8_lossy(&bytes));
            assert!(tools.problems.iter().all(|p| p.file == name && !p.what.is_empty()));
            for outcome in check_samples(&tools) {
                assert!(
                    !outcome.wrong.iter().any(|w| w.contains("accounted")),
                    "{name}: {:?}",
                    outcome.wrong
                );
            }
        }
    }
}
