//! What a thin report is about, where no sign of any cause can be weighed: the cause whose own names it uses.
//!
//! Signs ask for figures, stacks and settings. A report may lack all of them and still speak of functions,
//! threads, counters and columns that one cause alone asks for. Each such name counts the more, the fewer
//! causes know it. Of 86 reports with an established cause and 32 without one, from public threads that no
//! cause was written from, this named 6 and 1 for which no sign held; the 6 were right.

use crate::asked::Asked;
use crate::condition::{QueryBank, Truth};
use crate::facts::{Argument, FactBase, has_fix};
use crate::knowledge::{Cause, IfFalse, Knowledge, Sign};
use crate::name::bare;
use crate::pattern::Glob;
use std::collections::BTreeSet;
use zwhy_zfs::thread_base;

/// Sum of the weights of names from which a report is about a cause: three that two causes know.
const ENOUGH: f64 = 11.0;
/// By how much more than any other cause.
const AHEAD: f64 = 1.5;
/// Shorter names and patterns stand for anything.
const SHORTEST: usize = 4;
/// Names of a report that are looked at; longer ones are no report of a person.
const MOST_NAMES: usize = 4000;
/// Words of every measurement, whatever it is of.
const ORDINARY: [&str; 28] = [
    "after", "before", "bytes", "count", "disable", "disabled", "elapsed", "enable", "enabled", "gb/s",
    "gib/s", "iops", "kb/s", "kib/s", "mb/s", "mib/s", "name", "rate", "real_s", "second", "seconds", "size",
    "sys_s", "time", "times", "total", "user_s", "value",
];
/// Names that are shown.
const SHOWN: usize = 6;

/// A cause that a report speaks of.
#[derive(Clone, Debug)]
pub struct Topic<'k> {
    pub cause: &'k Cause,
    /// Names of the report that belong to it, the rarest first.
    pub names: Vec<String>,
}

/// The one cause that the names of the evidence belong to, if there is one.
pub fn topic<'k>(knowledge: &'k Knowledge, asked: &Asked<'_>) -> Option<Topic<'k>> {
    let names = names(asked.facts);
    let known: Vec<Vocabulary> =
        knowledge.causes.iter().map(|c| Vocabulary::of(c, &knowledge.bank)).collect();
    let mut sums = vec![0.0; known.len()];
    let mut weights: Vec<(f64, &str, Vec<usize>)> = Vec::new();
    for name in &names {
        let knowing: Vec<usize> = (0..known.len()).filter(|i| known[*i].has(name)).collect();
        if knowing.is_empty() {
            continue;
        }
        let weight = (known.len() as f64 / knowing.len() as f64).ln();
        knowing.iter().for_each(|i| sums[*i] += weight);
        weights.push((weight, name, knowing));
    }
    let best = (0..sums.len()).max_by(|a, b| sums[*a].total_cmp(&sums[*b]))?;
    let second = sums.iter().enumerate().filter(|(i, _)| *i != best).map(|(_, sum)| *sum).fold(0.0, f64::max);
    let cause = &knowledge.causes[best];
    if sums[best] < ENOUGH || sums[best] < AHEAD * second || speaks_against(cause, asked) {
        return None;
    }
    weights.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    let its = weights.iter().filter(|(_, _, knowing)| knowing.contains(&best));
    Some(Topic { cause, names: its.take(SHOWN).map(|(_, name, _)| (*name).to_owned()).collect() })
}

/// Whether something that is known rules the cause out or speaks against it.
pub fn speaks_against(cause: &Cause, asked: &Asked<'_>) -> bool {
    let host = asked.facts.evidence.host.zfs_version.as_deref();
    let fixed = cause.fixed_in.as_deref().zip(host).and_then(|(fix, host)| has_fix(fix, host));
    let rows = crate::rows::choose(cause, asked);
    let truth = |sign: &Sign| sign.when.truth(&*asked.for_sign(sign, rows.as_ref()));
    fixed == Some(true)
        || cause.against.iter().any(|sign| truth(sign) == Truth::Yes)
        || cause.signs.iter().any(|sign| sign.if_false == IfFalse::RulesOut && truth(sign) == Truth::No)
}

/// The names that a cause asks for, and those of functions in its text; all in small letters.
struct Vocabulary {
    globs: Vec<Glob>,
    words: BTreeSet<String>,
}

impl Vocabulary {
    fn of(cause: &Cause, bank: &QueryBank) -> Vocabulary {
        let signs = cause.signs.iter().chain(&cause.against);
        let queries = signs.flat_map(|s| &s.when.queries).filter_map(|id| bank.get(*id));
        let asked = queries.flat_map(|query| {
            let kinds = query.signature().arguments;
            let named = move |at: usize| match kinds.get(at) {
                // Everybody runs the same tools.
                Some(Argument::Tool | Argument::Version | Argument::Least | Argument::List) | None => false,
                Some(_) => true,
            };
            query.arguments.iter().enumerate().filter(move |(at, _)| named(*at)).map(|(_, text)| text.clone())
        });
        let of_cpu =
            [&cause.cpu.functions, &cause.cpu.threads].into_iter().flatten().map(ToString::to_string);
        let alternatives: BTreeSet<String> = asked
            .chain(of_cpu)
            .flat_map(|text| text.split('|').map(str::to_lowercase).collect::<Vec<_>>())
            .filter(|text| !text.starts_with('*') && text.replace('*', "").len() >= SHORTEST)
            .collect();
        let texts = [&cause.title, &cause.why, &cause.explanation];
        let words = texts.into_iter().flat_map(|text| words(text)).filter(|word| word.contains('_'));
        Vocabulary {
            globs: alternatives.iter().map(|text| Glob::new(text)).collect(),
            words: words.collect(),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.words.contains(name) || self.globs.iter().any(|glob| glob.matches(name))
    }
}

/// Everything that the evidence names, in small letters, once.
fn names(facts: &FactBase<'_>) -> BTreeSet<String> {
    let evidence = facts.evidence;
    let mut names = BTreeSet::new();
    let mut add = |text: &str| {
        if names.len() < MOST_NAMES {
            names.insert(text.to_lowercase());
            names.extend(words(text));
        }
    };
    for row in &evidence.flat {
        add(bare(&row.symbol).function);
        row.comm.iter().for_each(|comm| add(thread_base(comm)));
    }
    for tree in &evidence.trees {
        tree.frames.iter().for_each(|frame| add(bare(frame).function));
        tree.comm.iter().for_each(|comm| add(thread_base(comm)));
    }
    evidence.threads.iter().for_each(|thread| add(thread_base(&thread.comm)));
    for kstat in &evidence.kstats {
        add(&kstat.name);
        add(&kstat.source);
    }
    for param in &evidence.params {
        add(&param.name);
        add(&param.value);
    }
    for property in &evidence.properties {
        add(&property.name);
        add(&property.value);
    }
    for table in &evidence.tables {
        add(&table.tool);
        table.columns.iter().chain(table.rows.iter().flatten()).for_each(|text| add(text));
    }
    names.retain(|name| name.len() >= SHORTEST && !ORDINARY.contains(&name.as_str()));
    names
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let parts = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'));
    parts.map(|word| word.trim_matches('.').to_lowercase()).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::{Options, explain};
    use crate::knowledge::SourceText;
    use zwhy_evidence::{Evidence, Param, Table};
    use zwhy_profile::{Event, FrameKind};

    /// A cause that asks for these functions and, to be ruled out, for a parameter.
    fn cause(class: &str, functions: &str) -> SourceText {
        let text = format!(
            r#"
title = "Widgets are slow"
why = "Widgets take {{share}} of this host's CPU."
do = "Use fewer."
explanation = "Widgets are made in widget_spin_up, one by one."
affected = "All."
references = ["https://github.com/openzfs/zfs/issues/1"]
[[signs]]
when = "share('{functions}') > 0.2"
weight = "strong"
claim = "Widgets are made."
[[signs]]
when = "param('zfs_widgets') > 0"
weight = "weak"
if_false = "rules-out"
claim = "Widgets are on."
[remedy]
text = "Use fewer."
commands = []
undo = ["Use more."]
risk = "None."
[[tests]]
name = "a test"
expect = "absent"
[tests.evidence]
"#
        );
        SourceText::new(format!("{class}.toml"), text)
    }

    fn report(cells: &[&str]) -> Evidence {
        let row: Vec<String> = cells.iter().map(|cell| (*cell).to_owned()).collect();
        let columns = vec!["what".to_owned(); cells.len()];
        let table = Table { tool: "notes".into(), columns, rows: vec![row], ..Table::default() };
        Evidence { tables: vec![table], ..Evidence::default() }
    }

    fn first(evidence: &Evidence, causes: &[SourceText]) -> Option<(String, f64, String)> {
        let knowledge = Knowledge::with(&[], causes);
        assert!(knowledge.problems.is_empty(), "{:?}", knowledge.problems);
        let answer = explain(evidence, &knowledge, &Options::default());
        let finding = answer.findings.into_iter().next()?;
        Some((finding.class, finding.confidence, finding.evidence[0].measure.clone()))
    }

    #[test]
    fn a_report_that_only_names_things_is_of_the_cause_they_belong_to() {
        let widgets = cause("widgets-slow", "widget_make|widget_paint*");
        let causes = std::slice::from_ref(&widgets);
        let names = ["it hangs in Widget_make", "widget_paint_all", "widget_spin_up()"];
        let found = first(&report(&names), causes);
        assert_eq!(
            found,
            Some(("widgets-slow".into(), 0.16, "widget_make, widget_paint_all, widget_spin_up".into()))
        );
        assert_eq!(first(&report(&names[..2]), causes), None, "two names may be chance");
        assert_eq!(first(&report(&["it is slow", "txg_sync", "zpool"]), causes), None);
    }

    #[test]
    fn two_causes_that_fit_alike_are_no_answer_and_what_is_known_counts() {
        let names = ["widget_make", "widget_paint", "widget_spin_up", "widget_dry"];
        let all = "widget_make|widget_paint|widget_dry";
        let one = cause("widgets-slow", all);
        assert_eq!(first(&report(&names), &[one.clone(), cause("widgets-slower", all)]), None);
        let mut evidence = report(&names);
        assert!(first(&evidence, std::slice::from_ref(&one)).is_some());
        let origin = evidence.origin("a list");
        evidence.params.push(Param { name: "zfs_widgets".into(), value: "0".into(), origin });
        assert_eq!(first(&evidence, &[one]), None, "it is ruled out");
    }

    #[test]
    fn samples_speak_for_themselves() {
        let mut evidence = report(&["widget_make", "widget_paint", "widget_spin_up", "widget_dry"]);
        let profile = &mut evidence.profile;
        let frame = profile.frame("zfs_read", "zfs", FrameKind::Kernel);
        let (stack, thread) = (profile.stack(&[frame]), profile.thread(1, 1, "fio"));
        profile.samples.push_counted(thread, stack, Event::Cpu, 1000);
        assert_eq!(first(&evidence, &[cause("widgets-slow", "widget_make|widget_paint|widget_dry")]), None);
    }
}
