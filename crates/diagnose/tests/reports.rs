//! What a report's figures are worth: a small part of the CPU, causes that look alike, rivals, and what follows from a cause.

use zwhy_diagnose::{Knowledge, Options, SourceText, explain};
use zwhy_evidence::{Evidence, FlatRow};
use zwhy_profile::{Event, FrameKind};

const SURE: &str = "one two three";

/// A cause of `function` with a strong sign for each of these settings and its share, the first one of another weight;
/// it looks like `alike`.
fn cause(function: &str, weight: &str, alike: Option<&str>) -> SourceText {
    let signs: String = SURE
        .split(' ')
        .zip([weight, "strong", "strong"])
        .map(|(setting, weight)| {
            let when = format!("param('{setting}') > 0 && share('{function}') > 0.01");
            format!("[[signs]]\nwhen = \"{when}\"\nweight = \"{weight}\"\nclaim = \"c\"\n")
        })
        .collect();
    let alike = alike.map_or(String::new(), |a| format!("[[look_alikes]]\nclass = \"{a}\"\ntell = \"t\"\n"));
    let text = format!(
        "title = \"{function}\"\nwhy = \"w {{share}}\"\ndo = \"d\"\nexplanation = \"e\"\naffected = \"a\"\n\
         references = [\"https://example.org\"]\n{signs}{alike}[cpu]\nfunctions = \"{function}\"\n\
         [remedy]\ntext = \"r\"\n[[tests]]\nname = \"x\"\nexpect = \"absent\"\n[tests.evidence]\n"
    );
    SourceText::new(format!("{function}.toml"), text)
}

/// Classes and confidences of findings, in their order; where a function takes some per cent as a report has it, or as many
/// of a recording's thousand samples.
fn found(causes: &[SourceText], functions: &[(&str, u32)], recorded: bool) -> Vec<(String, f64)> {
    let knowledge = Knowledge::from_texts(&[], causes);
    assert!(knowledge.problems.is_empty(), "{:?}", knowledge.problems);
    let mut evidence = Evidence::default();
    let origin = evidence.origin("test");
    for setting in SURE.split(' ') {
        let (name, value) = (setting.to_owned(), "1".to_owned());
        evidence.params.push(zwhy_evidence::Param { name, value, origin });
    }
    let rest = 100 - functions.iter().map(|(_, pct)| pct).sum::<u32>();
    for (symbol, pct) in functions.iter().chain(&[("work", rest)]) {
        if recorded {
            let profile = &mut evidence.profile;
            let frame = profile.frame(symbol, "", FrameKind::Unknown);
            let (stack, thread) = (profile.stack(&[frame]), profile.thread(1, 1, "worker"));
            profile.samples.push_counted(thread, stack, Event::Cpu, pct * 10);
        } else {
            let (pct, symbol) = (Some(f64::from(*pct)), (*symbol).to_owned());
            evidence.flat.push(FlatRow { pct, symbol, origin, ..FlatRow::default() });
        }
    }
    let answer = explain(&evidence, &knowledge, &Options::default());
    answer.findings.into_iter().map(|f| (f.class, f.confidence)).collect()
}

#[test]
fn a_small_part_of_the_cpu_is_no_confident_answer_to_a_report() {
    let confidence =
        |pct: u32, recorded: bool| found(&[cause("fa", "strong", None)], &[("fa", pct)], recorded)[0].1;
    assert!(confidence(60, false) > 0.9, "{}", confidence(60, false));
    assert!((0.8..0.95).contains(&confidence(20, false)), "{}", confidence(20, false));
    assert!((0.6..0.7).contains(&confidence(9, false)), "{}", confidence(9, false));
    // A recording counts what the host does, whoever asks for what.
    assert!(confidence(20, true) > 0.9, "{}", confidence(20, true));
}

#[test]
fn of_two_likely_causes_that_look_alike_neither_is_confident() {
    let functions = [("fa", 40), ("fb", 25), ("fc", 9)];
    // `fb` has a weaker sign than `fa`, or each of the two would be behind `fc`, which takes little.
    let causes =
        |alike| [cause("fa", "strong", alike), cause("fb", "moderate", None), cause("fc", "strong", None)];
    let alike = found(&causes(Some("fb")), &functions, false);
    let order: Vec<&str> = alike.iter().map(|(class, _)| class.as_str()).collect();
    assert_eq!(order, ["fa", "fc", "fb"], "{alike:?}");
    assert!(alike.iter().all(|(_, c)| (0.5..0.7).contains(c)), "{alike:?}");
    assert!(alike.windows(2).all(|two| two[0].1 >= two[1].1), "{alike:?}");
}

#[test]
fn of_two_that_are_as_likely_neither_is_confident_unless_one_follows_from_the_other() {
    let functions = [("fa", 40), ("fb", 45)];
    let rivals = found(&[cause("fa", "strong", None), cause("fb", "strong", None)], &functions, false);
    assert!(rivals.len() == 2 && rivals.iter().all(|(_, c)| (0.6..0.7).contains(c)), "{rivals:?}");
    let mut root = cause("fa", "strong", None);
    root.text = root.text.replacen("references =", "explains = [\"fb\"]\nreferences =", 1);
    let follows = found(&[root, cause("fb", "strong", None)], &functions, false);
    assert_eq!(follows[0].0, "fa", "{follows:?}");
    assert!(follows[0].1 > 0.9 && follows[1].1 > 0.9 && follows[1].1 <= follows[0].1, "{follows:?}");
}

#[test]
fn two_lines_of_evidence_are_too_few_for_a_confident_answer() {
    let mut thin = cause("fa", "strong", None);
    thin.text = thin.text.replace("param('three') > 0", "param('three') > 1");
    let report = found(&[thin], &[("fa", 60)], false);
    assert!((0.6..0.7).contains(&report[0].1), "{report:?}");
}

/// Most hosts that somebody records are healthy, and so are those of which nobody complains.
#[test]
fn of_who_complains_of_nothing_a_finding_is_told_as_of_a_recording() {
    let told = |said: &str| {
        // One moderate sign and nothing else.
        let text = cause("fa", "moderate", None).text.replace("weight = \"strong\"", "weight = \"weak\"");
        let knowledge = Knowledge::from_texts(&[], &[SourceText::new("fa.toml".to_owned(), text)]);
        let mut evidence = Evidence { text: said.to_owned(), said: said.to_owned(), ..Evidence::default() };
        let origin = evidence.origin("test");
        let (name, value) = ("one".to_owned(), "1".to_owned());
        evidence.params.push(zwhy_evidence::Param { name, value, origin });
        for (symbol, pct) in [("fa", 40.0), ("work", 60.0)] {
            let symbol = symbol.to_owned();
            evidence.flat.push(FlatRow { pct: Some(pct), symbol, origin, ..FlatRow::default() });
        }
        let answer = explain(&evidence, &knowledge, &Options::default());
        answer.findings.first().map_or(0.0, |f| f.confidence)
    };
    assert!(told("Writes to this pool are slow") > 0.4, "{}", told("Writes to this pool are slow"));
    assert!(told("perf top of this pool") <= 0.3, "{}", told("perf top of this pool"));
}
