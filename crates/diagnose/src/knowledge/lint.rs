//! Checks of the knowledge itself: what is misspelt, missing, or does not do what its tests say.

use super::fixture::Expectation;
use super::{Cause, Knowledge, KnowledgeError, Sign};
use crate::answer::{Answer, CONFIDENT};
use crate::canon::Canon;
use crate::condition::{Comparison, QueryId, comparisons};
use crate::explain::{Options, explain};
use crate::facts::{Argument, CATALOGUE, Query, ResultKind};
use crate::knowledge::{GainRule, Weight};
use std::collections::BTreeSet;
use zwhy_evidence::Evidence;

mod remedy;
mod scope;
mod twice;

/// What one inline test of a cause gave.
#[derive(Clone, Debug, PartialEq)]
pub struct TestOutcome {
    pub class: String,
    pub test: String,
    pub passed: bool,
    /// What was expected and what came, for people.
    pub what: String,
}

/// All that is wrong with the knowledge, files in order.
pub fn lint(knowledge: &Knowledge) -> Vec<KnowledgeError> {
    let mut issues = knowledge.problems.clone();
    let in_table = |what: &String| KnowledgeError { file: "facts.toml".to_owned(), what: what.clone() };
    issues.extend(Canon::embedded().problems.iter().map(in_table));
    let tables = knowledge.tools.tables();
    for cause in &knowledge.causes {
        let mut say = |what: String| issues.push(KnowledgeError { file: cause.file.clone(), what });
        texts(cause, &mut say);
        for query in questions(cause).filter_map(|id| knowledge.bank.get(id)) {
            super::tables::of_query(query, &tables, &mut say);
        }
        signs(cause, knowledge, &mut say);
        twice::lint(cause, knowledge, &mut say);
        others(cause, knowledge, &mut say);
        tests(cause, &mut say);
    }
    issues
}

/// Every question of a cause, each once.
fn questions(cause: &Cause) -> impl Iterator<Item = QueryId> {
    let ruled_out = cause.look_alikes.iter().filter_map(|l| l.ruled_out_when.as_ref());
    let conditions = cause.signs.iter().chain(&cause.against).map(|s| &s.when).chain(ruled_out);
    conditions.flat_map(|c| c.queries.iter().copied()).collect::<BTreeSet<QueryId>>().into_iter()
}

fn texts(cause: &Cause, say: &mut impl FnMut(String)) {
    for (what, text) in [
        ("title", &cause.title),
        ("why", &cause.why),
        ("do", &cause.act),
        ("explanation", &cause.explanation),
        ("affected", &cause.affected),
        ("remedy.text", &cause.remedy.text),
    ] {
        if text.trim().is_empty() {
            say(format!("`{what}` is empty"));
        }
    }
    if !cause.cpu.is_empty() && !cause.why.contains("{share}") {
        say("`why` has no {share}, though [cpu] measures one".to_owned());
    }
    if cause.cpu.is_empty() && cause.why.contains("{share}") {
        say("`why` has a {share}, but there is no [cpu] to measure it".to_owned());
    }
    if cause.references.is_empty() {
        say("no references".to_owned());
    }
    for reference in cause.references.iter().filter(|r| !r.starts_with("https://")) {
        say(format!("reference `{reference}` is no https address"));
    }
    remedy::lint(cause, say);
    scope::names(cause, say);
    gain(cause, say);
}

/// Who is told to do something is told what it brings.
fn gain(cause: &Cause, say: &mut impl FnMut(String)) {
    let does = cause.remedy.changes().any(|change| !change.commands.is_empty());
    match &cause.gain {
        None if does => say("the remedy has commands, but no [gain] says what they bring".to_owned()),
        Some(GainRule::Removes { .. }) if cause.cpu.is_empty() => {
            say("[gain] removes a part of the cause's CPU, but there is no [cpu] to measure it".to_owned());
        }
        _ => {}
    }
}

fn signs(cause: &Cause, knowledge: &Knowledge, say: &mut impl FnMut(String)) {
    if !cause.signs.iter().any(|s| s.weight != Weight::Weak) {
        say("no sign weighs more than weak".to_owned());
    }
    for (i, sign) in cause.signs.iter().chain(&cause.against).enumerate() {
        if cause.signs[..i.min(cause.signs.len())].iter().any(|other| other.when.text == sign.when.text) {
            say(format!("sign `{}` is there twice: it would be counted twice", sign.when.text));
        }
        if sign.claim.trim().is_empty() {
            say(format!("sign `{}` has no claim", sign.when.text));
        }
        if sign.when.queries.is_empty() {
            say(format!("sign `{}` asks nothing of the evidence", sign.when.text));
        }
        if !sign.when.is_well_typed(&knowledge.bank) {
            say(format!("sign `{}` does not come to true or false: check the types", sign.when.text));
        }
        names(sign, knowledge, say);
        scope::sign(sign, knowledge, say);
        impossible(sign, say);
        if matches!(sign.weight, Weight::Decisive | Weight::Strong)
            && sign.when.rests_on(&knowledge.bank, asks_for_presence)
        {
            say(format!(
                "sign `{}` weighs much and holds by presence alone: say from which part of busy CPU on, as in \
                 seen('f', '2 %')",
                sign.when.text
            ));
        }
    }
    for look_alike in &cause.look_alikes {
        let Some(condition) = &look_alike.ruled_out_when else { continue };
        if !condition.is_well_typed(&knowledge.bank) {
            say(format!("`{}` does not come to true or false", condition.text));
        }
    }
}

/// Whether a function is asked for, and not how much of it counts.
fn asks_for_presence(query: &Query) -> bool {
    query.least.is_none() && query.signature().optional.contains(&Argument::Least)
}

/// Names in questions that nothing knows.
fn names(sign: &Sign, knowledge: &Knowledge, say: &mut impl FnMut(String)) {
    let queries: Vec<&Query> = sign.when.queries.iter().filter_map(|id| knowledge.bank.get(*id)).collect();
    for query in queries {
        for (argument, kind) in query.arguments.iter().zip(query.signature().kinds()) {
            super::traps::of_pattern(argument, *kind, say);
        }
        for (argument, kind) in query.arguments.iter().zip(query.signature().kinds()) {
            match kind {
                Argument::Stage if knowledge.anatomy.stage(argument).is_none() => {
                    say(format!("no stage is called `{argument}`"));
                }
                Argument::Label if knowledge.anatomy.label(argument).is_none() => {
                    say(format!("no label is called `{argument}`"));
                }
                Argument::Functions => functions(argument, knowledge, say),
                Argument::KstatSource => {
                    let last = argument.rsplit('/').next().unwrap_or(argument);
                    if !last.contains('*') && !zwhy_zfs::is_kstat(last) {
                        say(format!("no kstat is called `{argument}`"));
                    }
                }
                Argument::Property | Argument::KstatName if argument.contains(['*', '|', ' ']) => {
                    say(format!("`{argument}` must be one plain name"));
                }
                Argument::Parameter if argument.contains(' ') || argument == "*" => {
                    say(format!("`{argument}` must be names without blanks"));
                }
                Argument::Pointer if !argument.starts_with('/') => {
                    say(format!("`{argument}` is no JSON pointer: it starts with /"));
                }
                _ => {}
            }
        }
    }
}

/// Comparisons of shares with figures that no share has.
fn impossible(sign: &Sign, say: &mut impl FnMut(String)) {
    for Comparison { function, argument, figure } in comparisons(&sign.when.text) {
        let range =
            Canon::embedded().get(&argument).filter(|_| function == "fact").map(|fact| fact.unit.range());
        if range.is_some_and(|range| range.is_none_or(|range| !range.contains(&figure))) {
            say(format!("fact `{argument}` is compared with {figure}, which its unit cannot be"));
        }
        let share = CATALOGUE.iter().any(|s| s.name == function && s.result == ResultKind::Share);
        if share && !(0.0..=1.0).contains(&figure) {
            say(format!("`{function}` is compared with {figure}: shares are 0 to 1, not per cent"));
        }
    }
}

/// Function names that the anatomy does not know, by their fixed part.
fn functions(argument: &str, knowledge: &Knowledge, say: &mut impl FnMut(String)) {
    for name in argument.split('|').map(str::trim) {
        if name.starts_with('*') {
            say(format!("`{name}` begins with a star: that is slow and matches too much"));
            continue;
        }
        if !knowledge.anatomy.knows(name) {
            say(format!("function `{name}` is in no anatomy file: misspelt, or add it there"));
        }
    }
}

fn others(cause: &Cause, knowledge: &Knowledge, say: &mut impl FnMut(String)) {
    for other in &cause.look_alikes {
        if knowledge.cause(&other.class).is_none() {
            say(format!("look-alike `{}` is no class", other.class));
        }
        if other.tell.trim().is_empty() {
            say(format!("look-alike `{}` does not say how to tell it apart", other.class));
        }
    }
    for class in &cause.explains {
        match knowledge.cause(class) {
            None => say(format!("it explains `{class}`, which is no class")),
            Some(other) if other.explains.contains(&cause.class) => {
                say(format!("it and `{class}` explain each other: neither can be told first"));
            }
            Some(_) => {}
        }
    }
    if let Some(stage) = cause.cpu.stage.as_deref()
        && knowledge.anatomy.stage(stage).is_none()
    {
        say(format!("[cpu] names stage `{stage}`, which is not there"));
    }
}

fn tests(cause: &Cause, say: &mut impl FnMut(String)) {
    let tests = match cause.tests() {
        Ok(tests) => tests,
        Err(what) => return say(what),
    };
    let has = |wanted: &[Expectation]| tests.iter().any(|t| wanted.contains(&t.expect));
    if !has(&[Expectation::Confident, Expectation::Candidate, Expectation::Listed]) {
        say("no test where the cause is found".to_owned());
    }
    if !has(&[Expectation::Absent]) {
        say("no test where the cause is absent".to_owned());
    }
    for test in &tests {
        for line in test.evidence.evidence().1 {
            say(format!("test `{}`: `{line}` is not of the line's format", test.name));
        }
    }
}

/// Reads a pasted report as the program does; else says why not.
pub type Paste<'a> = &'a dyn Fn(&str) -> Result<Evidence, String>;

/// Runs the inline tests of all causes against all knowledge; `paste` reads those that are pasted reports.
pub fn run_tests(knowledge: &Knowledge, paste: Paste<'_>) -> Vec<TestOutcome> {
    let mut outcomes = Vec::new();
    for cause in &knowledge.causes {
        let mut say = |test: &str, passed: bool, what: String| {
            outcomes.push(TestOutcome { class: cause.class.clone(), test: test.to_owned(), passed, what });
        };
        let tests = cause.tests().unwrap_or_else(|what| {
            say("all", false, what);
            Vec::new()
        });
        for test in &tests {
            let evidence = match test.evidence.pasted().map(paste) {
                None => test.evidence.evidence().0,
                Some(Ok(evidence)) => evidence,
                Some(Err(what)) => {
                    say(&test.name, false, what);
                    continue;
                }
            };
            // What the signs say; how often that is right is measured on cases, not written down with them.
            let options = Options { calibrated: false, ..Options::default() };
            let answer = explain(&evidence, knowledge, &options);
            let at = answer.findings.iter().position(|f| f.class == cause.class);
            let confidence = at.map_or(0.0, |i| answer.findings[i].confidence);
            let passed = match test.expect {
                Expectation::Confident => at == Some(0) && confidence >= CONFIDENT,
                Expectation::Candidate => at == Some(0) && (0.15..CONFIDENT).contains(&confidence),
                Expectation::Listed => at.is_some(),
                Expectation::Absent => confidence < 0.3,
            };
            say(&test.name, passed, format!("expected {:?}, got {}", test.expect, summary(&answer)));
        }
    }
    outcomes
}

fn summary(answer: &Answer) -> String {
    let found: Vec<String> =
        answer.findings.iter().map(|f| format!("{} {:.2}", f.class, f.confidence)).collect();
    if found.is_empty() { "nothing".to_owned() } else { found.join(", ") }
}
