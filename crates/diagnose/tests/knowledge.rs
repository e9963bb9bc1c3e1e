//! The knowledge files themselves: they load, are clean, and do what their inline tests say.

use zwhy_diagnose::{CONFIDENT, Knowledge, Options, SourceText, explain, lint, run_tests};
use zwhy_evidence::{Evidence, Param};

#[test]
fn every_file_loads() {
    let knowledge = Knowledge::embedded();
    let problems: Vec<String> = knowledge.problems.iter().map(ToString::to_string).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(!knowledge.causes.is_empty() && knowledge.anatomy.stages().len() > 30);
}

#[test]
fn lint_finds_nothing() {
    let issues: Vec<String> = lint(&Knowledge::embedded())
        .into_iter()
        // A look-alike may be a class that nobody has written down yet.
        .filter(|i| !(i.what.starts_with("look-alike") && i.what.ends_with("is no class")))
        .map(|i| format!("{}: {}", i.file, i.what))
        .collect();
    assert!(issues.is_empty(), "{}", issues.join("\n"));
}

#[test]
fn inline_tests_of_all_causes_pass() {
    let paste = |text: &str| {
        let imported =
            zwhy_formats::import_bytes("report.txt", text.as_bytes().to_vec(), &Default::default());
        imported.map(|i| i.evidence).map_err(|e| e.to_string())
    };
    let failed: Vec<String> = run_tests(&Knowledge::embedded(), &paste)
        .into_iter()
        .filter(|t| !t.passed)
        .map(|t| format!("{} / {}: {}", t.class, t.test, t.what))
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// A cause with the given parts between its texts and its tests.
fn cause(parts: &str) -> Knowledge {
    let text = format!(
        r#"
title = "t"
why = "w"
do = "d"
explanation = "e"
affected = "a"
references = ["https://example.org"]
{parts}
[remedy]
text = "r"
[[tests]]
name = "found"
expect = "listed"
[tests.evidence]
params = {{ a = 1 }}
[[tests]]
name = "absent"
expect = "absent"
[tests.evidence]
"#
    );
    Knowledge::from_texts(&[], &[SourceText::new("c.toml", text)])
}

#[test]
fn lint_names_the_traps() {
    let knowledge = cause(
        r#"
[[signs]]
when = "param('a') == 1"
weight = "strong"
claim = "a"
[[signs]]
when = "param('a') == 1"
weight = "weak"
claim = "again"
[[signs]]
when = "thread_share('z_wr_iss/0') > 5"
weight = "strong"
claim = "per cent"
[[signs]]
when = "seen('zfs_read') || param('a') == 2"
weight = "strong"
claim = "one sample would do"
[[signs]]
when = "seen('zfs_read', '2 %') || calls('zfs_read', 'arc_read') && share('arc_read') > 0.1"
weight = "decisive"
claim = "it says how much"
[[signs]]
when = "calls('zfs_read', 'arc_read')"
weight = "moderate"
claim = "by itself it lists nothing"
[[against]]
when = "cpu_model('Xeon?')"
weight = "strong"
claim = ""
"#,
    );
    assert!(knowledge.problems.is_empty(), "{:?}", knowledge.problems);
    let issues: Vec<String> = lint(&knowledge).into_iter().map(|i| i.what).collect();
    for says in [
        "is there twice",
        "has a number",
        "not per cent",
        "no regular expression",
        "has no claim",
        "from which part of busy CPU on",
    ] {
        assert_eq!(issues.iter().filter(|i| i.contains(says)).count(), 1, "{says}: {issues:#?}");
    }
}

#[test]
fn lint_knows_what_threads_and_processes_answer() {
    let issues = |signs: &[(&str, &str)]| -> Vec<String> {
        let sign = |(when, each): &(&str, &str)| {
            format!("[[signs]]\nwhen = \"{when}\"\neach = \"{each}\"\nweight = \"moderate\"\nclaim = \"c\"\n")
        };
        let knowledge = cause(&signs.iter().map(sign).collect::<String>());
        assert!(knowledge.problems.is_empty(), "{:?}", knowledge.problems);
        let said = lint(&knowledge).into_iter().map(|issue| issue.what);
        said.filter(|what| what.contains(" each ") || what.contains("by itself")).collect()
    };
    let (thread, process) = ("thread_cpu('arc_evict') > 0.9", "part_of('dmu_read', 'zfs_read') > 0.5");
    assert_eq!(issues(&[(thread, "thread"), (process, "process")]), [""; 0]);
    let nothing = issues(&[("kstat('arcstats', 'size') > 1", "thread")]);
    assert!(nothing.len() == 1 && nothing[0].contains("asks nothing that a thread answers"), "{nothing:?}");
    let nothing = issues(&[("thread_cpu('arc_evict') > 0.9", "dataset")]);
    assert!(nothing.len() == 1 && nothing[0].contains("asks nothing that a dataset answers"), "{nothing:?}");
    let both = issues(&[(thread, "thread"), ("prop('sync', 'always')", "dataset")]);
    assert!(both.len() == 1 && both[0].contains("of each dataset and of each thread"), "{both:?}");
}

#[test]
fn lint_asks_what_a_remedy_brings() {
    let sign = "[[signs]]\nwhen = \"param('a') == 1\"\nweight = \"strong\"\nclaim = \"a\"\n";
    let says = |gain: &str, remedy: &str| {
        let text = format!(
            "title = 't'\nwhy = 'w'\ndo = 'd'\nexplanation = 'e'\naffected = 'a'\n\
             references = ['https://example.org']\ntests = []\n{sign}{gain}\n[remedy]\ntext = 'r'\n{remedy}"
        );
        let knowledge = Knowledge::from_texts(&[], &[SourceText::new("c.toml", text)]);
        assert!(knowledge.problems.is_empty(), "{:?}", knowledge.problems);
        lint(&knowledge).iter().any(|issue| issue.what.contains("[gain]"))
    };
    let command = "commands = ['zpool clear tank']";
    assert!(says("", command), "somebody is told to do something");
    assert!(!says("", ""), "who does nothing gains nothing");
    assert!(!says("[gain]\nnone = 'It is about waiting.'", command));
    assert!(says("[gain]\nremoves = [0.5, 0.9]\nwhy = 'x'", command), "there is no CPU of its own");
}

#[test]
fn what_speaks_against_a_cause_is_shown_and_lowers_it() {
    let signs = "[[signs]]\nwhen = \"param('a') == 1\"\nweight = \"strong\"\nclaim = \"for\"\n";
    let against = "[[against]]\nwhen = \"param('b') == 1\"\nweight = \"moderate\"\nclaim = \"contrary\"\n";
    let knowledge = cause(&format!("{signs}{against}"));
    let answer = |b: &str| {
        let mut evidence = Evidence::default();
        let origin = evidence.origin("test");
        for (name, value) in [("a", "1"), ("b", b)] {
            evidence.params.push(Param { name: name.into(), value: value.into(), origin });
        }
        let options = Options { least_confidence: 0.0, ..Options::default() };
        explain(&evidence, &knowledge, &options).findings.remove(0)
    };
    let (without, with) = (answer("0"), answer("1"));
    assert!(without.against.is_empty());
    assert_eq!((with.against[0].claim.as_str(), with.against[0].measure.as_str()), ("contrary", "b = 1"));
    assert!(with.confidence < without.confidence - 0.1, "{} {}", with.confidence, without.confidence);
}

/// The finding of a cause with one sign per given condition, by evidence of a release and a parameter.
fn finding(parts: &str, zfs: &str) -> zwhy_diagnose::Finding {
    let mut evidence = Evidence::default();
    let origin = evidence.origin("test");
    evidence.params.push(Param { name: "a".into(), value: "1".into(), origin });
    evidence.host.zfs_version = Some(zfs.to_owned());
    let options = Options { least_confidence: 0.0, ..Options::default() };
    explain(&evidence, &cause(parts), &options).findings.remove(0)
}

#[test]
fn a_release_with_the_fix_speaks_against_and_an_older_one_is_told_to_upgrade() {
    let sign = "[[signs]]\nwhen = \"param('a') == 1\"\nweight = \"strong\"\nclaim = \"for\"\n";
    let fixed = format!("fixed_in = \"2.1.3 and 2.2 (PR 12896)\"\n{sign}");
    let (old, new) = (finding(&fixed, "2.1.2"), finding(&fixed, "2.1.11"));
    assert!(new.confidence < old.confidence - 0.2, "{} {}", new.confidence, old.confidence);
    assert!(new.against[0].claim.contains("has the fix"), "{:?}", new.against);
    assert!(old.against.is_empty());
    assert_eq!(
        old.upgrade.as_deref(),
        Some("Fixed in 2.1.3 and 2.2 (PR 12896); this host runs 2.1.2: upgrade OpenZFS.")
    );
    assert_eq!(new.upgrade, None);
    // Whoever asks for the release has weighed it already.
    let own = format!("{fixed}[[signs]]\nwhen = \"zfs('<2.1.3')\"\nweight = \"weak\"\nclaim = \"old\"\n");
    assert!(finding(&own, "2.1.11").confidence > new.confidence);
}

#[test]
fn signs_that_show_the_same_count_once() {
    let sign = |figure: u32, shows: &str| {
        format!(
            "[[signs]]\nwhen = \"param('a') < {figure}\"\nweight = \"moderate\"\n{shows}\nclaim = \"for\"\n"
        )
    };
    let one = finding(&sign(2, ""), "2.3").confidence;
    let two = finding(&(sign(2, "") + &sign(3, "")), "2.3").confidence;
    let same = finding(&(sign(2, "shows = \"a\"") + &sign(3, "shows = [\"a\", \"b\"]")), "2.3").confidence;
    assert!(two > one + 0.05 && (same - one).abs() < 1e-9, "{one} {two} {same}");
    // Of several that do not hold, the one that speaks most against it counts.
    let absent = "[[signs]]\nwhen = \"param('a') > 5\"\nweight = \"strong\"\nshows = \"c\"\nclaim = \"no\"\n";
    let once = finding(&(sign(2, "") + absent), "2.3").confidence;
    let twice = finding(&(sign(2, "") + absent + &absent.replace("> 5", "> 6")), "2.3").confidence;
    assert!((once - twice).abs() < 1e-9 && once < one, "{once} {twice} {one}");
}

#[test]
fn thin_evidence_is_never_confident() {
    let sign = |n: usize| {
        format!("[[signs]]\nwhen = \"param('a') > -{n}\"\nweight = \"decisive\"\nclaim = \"for\"\n")
    };
    assert!(finding(&sign(1), "2.3").confidence < CONFIDENT, "one sign");
    let three: String = (1..4).map(sign).collect();
    assert!(finding(&three, "2.3").confidence < CONFIDENT, "settings alone, however many");
}
