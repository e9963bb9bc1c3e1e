//! Figures and questions in words.

use crate::answer::{ConfidenceWord, ShareOf};
use crate::facts::{FactBase, Family, LISTS, Quality, Query, Reading, ResultKind, Value};
use crate::figures::{is_exact, percent, range};
use crate::whole::{OF_HOST, Whole, of_the_whole};
use zwhy_zfs::{Unit, format_bytes, kstat_unit};

/// Puts a share into a sentence with `{share}`, its interval and the confidence at its end.
///
/// Causes speak of the host; in its place stands what the share is of.
pub fn sentence(template: &str, whole: &Whole, share: &ShareOf, confidence: ConfidenceWord) -> String {
    let word = confidence.word();
    let value = percent(share.value, is_exact(share));
    let range = (share.low < share.value || share.value < share.high).then(|| range(share));
    let template = template.trim_end_matches('.');
    // What is in brackets belongs to what stands before it.
    if let Some(of_host) = whole.of_host(share.value).filter(|_| template.contains(OF_HOST)) {
        let value = range.map_or_else(|| value.clone(), |range| format!("{value} ({range})"));
        let text = template.replace(OF_HOST, &format!("{} ({of_host})", whole.text));
        return text.replace("{share}", &value) + &format!(", confidence {word}.");
    }
    let note = match range {
        Some(range) => format!(" ({range}, confidence {word})."),
        None => format!(" (confidence {word})."),
    };
    template.replace(OF_HOST, &whole.text).replace("{share}", &value) + &note
}

/// As [`sentence`], for a line with little room: of the host where that is known, without its interval, and how
/// sure it is only where it is not quite.
pub fn short_sentence(template: &str, whole: &Whole, share: &ShareOf, confidence: ConfidenceWord) -> String {
    let value = percent(share.value, is_exact(share));
    let template = template.trim_end_matches('.');
    let text = match whole.of_host(share.value).filter(|_| template.contains(OF_HOST)) {
        Some(of_host) => template.replace(&format!("{{share}}{OF_HOST}"), &of_host),
        None => template.replace(OF_HOST, &whole.text),
    };
    let text = text.replace("{share}", &value);
    match confidence {
        ConfidenceWord::High => format!("{text}."),
        word => format!("{text}, confidence {}.", word.word()),
    }
}

/// What was read, as a person would write it down.
pub fn measure(query: &Query, reading: &Reading, facts: &FactBase<'_>) -> String {
    if let Some(said) = &reading.said {
        return said.clone();
    }
    if let Some(task) = &reading.task {
        let of_host = Reading { task: None, ..reading.clone() };
        return format!("{}, in {task}", measure(query, &of_host, facts));
    }
    if let Some(told) = facts.told_of_tables(query, reading.value != Value::Truth(false)) {
        return told;
    }
    let row = query.signature();
    let template = if reading.value == Value::Truth(false) { row.denies } else { row.says };
    let said = fill(template, |place| place_in(place, query, reading, facts)).unwrap_or_default();
    match (&reading.value, row.result) {
        // A sentence that has its share already is whole.
        (Value::Number(share), ResultKind::Share) if !template.contains("{share}") => {
            format!("{said}: {}", share_of(query, *share, reading, facts))
        }
        _ => said.trim().to_owned(),
    }
}

/// The template of a row of the catalogue with its places filled; `None` where one of them is not known.
fn fill(template: &str, mut place: impl FnMut(&str) -> Option<String>) -> Option<String> {
    let mut parts = template.split('{');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, text) = part.split_once('}')?;
        out.push_str(&place(name)?);
        out.push_str(text);
    }
    Some(out)
}

/// What stands in a place of a sentence about an answer.
fn place_in(place: &str, query: &Query, reading: &Reading, facts: &FactBase<'_>) -> Option<String> {
    let host = &facts.evidence.host;
    let known = |text: &Option<String>| text.clone().unwrap_or_default();
    let number = reading.value.number().unwrap_or_default();
    let (name, at) = argument_of(place);
    Some(match name {
        "names" => names(query, at, facts),
        "calls" if names(query, 0, facts).contains(", ") => "call".to_owned(),
        "calls" => "calls".to_owned(),
        "threads" => threads(query, facts),
        "many" => match query.patterns.first().map_or(0, |p| facts.threads_listed(p)) {
            many if many > 1 => format!(" ({many} threads)"),
            _ => String::new(),
        },
        "share" => percent(number, false),
        "whole" => format!("{number:.0}"),
        "value" => value(query, &reading.value),
        "least" => at_least(query, reading),
        "setting" => setting(query, facts),
        "property" => match facts.property_like(query.argument(0), query.patterns.get(1)?) {
            Some((value, Some(dataset))) => format!("{value} on {dataset}"),
            Some((value, None)) => value.to_owned(),
            None => query.argument(1).replace('|', " or "),
        },
        "zfs" => known(&host.zfs_version),
        "kernel" => known(&host.kernel),
        "os" => known(&host.os),
        "cpu" => known(&host.cpu_model),
        "arch" => facts.architecture().unwrap_or("unknown").to_owned(),
        "question" => query.text(),
        _ => return of_arguments(name, at, query),
    })
}

/// `names 1` is the place `names` of the argument 1, `1` the argument itself.
fn argument_of(place: &str) -> (&str, usize) {
    match place.rsplit_once(' ') {
        Some((name, at)) => (name, at.parse().unwrap_or_default()),
        None => place.parse().map_or((place, 0), |at| ("", at)),
    }
}

/// Places that need the question alone.
fn of_arguments(name: &str, at: usize, query: &Query) -> Option<String> {
    let text = query.argument(at);
    Some(match name {
        "" => text.to_owned(),
        "list" if query.signature().family == Family::Lists => {
            LISTS.iter().find(|(list, _)| *list == text)?.1.to_owned()
        }
        "list" => text.replace('|', ", "),
        "or" => text.replace('|', " or "),
        "first" => text.split('|').next().unwrap_or(text).to_owned(),
        // Where any tool will do there is nothing to name.
        "tool" => {
            let tool = text.split('|').map(|t| t.replace('*', " ")).find(|t| !t.trim().is_empty())?;
            tool.trim().to_owned()
        }
        _ => return None,
    })
}

/// `63 % (59–67 %)`: a share and how sure it is; what it is of only where that is not the whole that all shares
/// of the answer are of.
fn share_of(query: &Query, share: f64, reading: &Reading, facts: &FactBase<'_>) -> String {
    if let Some(counted) = of_the_whole(query, share, reading, facts) {
        let range = match counted.low < counted.high {
            true => format!(" ({})", range(&counted)),
            false => String::new(),
        };
        format!("{}{range}", percent(counted.value, is_exact(&counted)))
    } else {
        let whole = whole(query, reading, facts);
        let pasted = if reading.quality == Quality::Unclear { ", as pasted" } else { "" };
        format!("{} {whole}{pasted}", percent(share, true))
    }
}

/// What a share is of, in words.
pub(crate) fn whole(query: &Query, reading: &Reading, facts: &FactBase<'_>) -> String {
    fill(query.signature().of, |place| place_in(place, query, reading, facts)).unwrap_or_default()
}

/// An answer with its unit.
fn value(query: &Query, value: &Value) -> String {
    let (family, asked) = (query.signature().family, query.argument(0));
    match value {
        Value::Truth(truth) => if *truth { "yes" } else { "no" }.to_owned(),
        Value::Text(text) => text.clone(),
        Value::Number(n) if family == Family::Kstats => amount(query, *n),
        Value::Number(n) if family == Family::Facts && asked.ends_with("_pct") => format!("{} %", plain(*n)),
        Value::Number(n) if family == Family::Facts && asked.ends_with("_bytes") => format_bytes(*n as u64),
        Value::Number(n) => plain(*n),
    }
}

/// How to get what a question needs, as a command where there is one.
pub fn how_to_get(query: &Query) -> String {
    let (row, named) = (query.signature(), |place: &str| {
        let (name, at) = argument_of(place);
        of_arguments(name, at, query)
    });
    fill(row.get, named).unwrap_or_default()
}

/// The functions that an argument matched, heaviest first; the pattern itself where none did.
fn names(query: &Query, argument: usize, facts: &FactBase<'_>) -> String {
    const MOST: usize = 3;
    let Some(pattern) = query.patterns.get(argument) else { return String::new() };
    let mut found = facts.names(pattern, MOST + 1);
    if found.is_empty() {
        return query.argument(argument).replace('|', ", ");
    }
    let more = found.len() > MOST;
    found.truncate(MOST);
    found.join(", ") + if more { ", …" } else { "" }
}

/// The threads that a question is about, as the evidence names them.
fn threads(query: &Query, facts: &FactBase<'_>) -> String {
    let found = query.patterns.first().map(|p| facts.thread_names(p)).unwrap_or_default();
    if found.is_empty() { query.argument(0).replace('|', ", ") } else { found.join(", ") }
}

/// The parameter that answers as it was given; else the question's first argument.
fn setting(query: &Query, facts: &FactBase<'_>) -> String {
    let asked = query.argument(0);
    match query.signature().family {
        Family::Parameters => {
            query.patterns.first().and_then(|p| facts.setting_told(p)).unwrap_or_else(|| asked.to_owned())
        }
        Family::Facts => fact_name(asked, facts),
        _ => asked.to_owned(),
    }
}

/// `/pools/0/capacity_pct` is the capacity of tank, `/host/clocksource` the clocksource.
fn fact_name(pointer: &str, facts: &FactBase<'_>) -> String {
    let (of, name) = pointer.rsplit_once('/').unwrap_or(("", pointer));
    let name = name.trim_end_matches("_pct").trim_end_matches("_bytes").replace('_', " ");
    match facts.evidence.facts.pointer(&format!("{of}/name")).as_ref().and_then(|name| name.as_str()) {
        Some(whose) if of.starts_with("/pools/") => format!("{name} of {whose}"),
        _ => name,
    }
}

pub(crate) fn amount(query: &Query, n: f64) -> String {
    match kstat_unit(query.argument(0), query.argument(1)) {
        Unit::Bytes if n >= 0.0 => format_bytes(n as u64),
        Unit::Nanos => format!("{:.1} ms", n / 1e6),
        _ => plain(n),
    }
}

/// Whole numbers without a fraction, others with two digits.
pub(crate) fn plain(n: f64) -> String {
    if n.fract() == 0.0 { format!("{n:.0}") } else { format!("{n:.2}") }
}

/// The least share that counts, where the question has one and a share answered it: a name and a wait have none.
fn at_least(query: &Query, reading: &Reading) -> String {
    let of_a_share = match reading.quality {
        Quality::Counted => reading.interval.is_some(),
        quality => quality != Quality::Named,
    };
    query
        .least
        .filter(|_| of_a_share)
        .map_or(String::new(), |least| format!(" for {} or more", percent(least, true)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{Argument, CATALOGUE, Signature};

    /// The question with a sample argument of each kind.
    fn question(row: &Signature) -> Query {
        let sample = |kind: &Argument| match kind {
            Argument::Version => "<2.2",
            Argument::List => "snapshots",
            Argument::Pointer => "/host/kernel",
            _ => "zio_*|arc_read",
        };
        let arguments = row.arguments.iter().map(|kind| sample(kind).to_owned()).collect();
        Query::new(row.name, arguments).expect("arguments of its own kinds")
    }

    #[test]
    fn every_question_is_worded_and_can_be_got() {
        let evidence = zwhy_evidence::Evidence::default();
        let knowledge = crate::knowledge::Knowledge::embedded();
        let facts = FactBase::new(&evidence, &knowledge.anatomy);
        for row in CATALOGUE {
            let query = question(row);
            let reading = Reading::number(0.5, Quality::Counted, "samples").expect("a figure");
            for template in [row.says, row.denies, row.of] {
                let filled = fill(template, |place| place_in(place, &query, &reading, &facts));
                assert!(filled.is_some(), "{}: a place of `{template}` has no meaning", row.name);
            }
            assert!(!how_to_get(&query).is_empty(), "{}: {}", row.name, row.get);
        }
    }

    #[test]
    fn what_a_question_needs_is_named_by_its_arguments() {
        let get = |name: &str, arguments: &[&str]| {
            how_to_get(
                &Query::new(name, arguments.iter().map(|a| (*a).to_owned()).collect()).expect("a question"),
            )
        };
        assert_eq!(get("count", &["snapshots"]), "zfs list -H -t snapshot -o name | wc -l");
        assert_eq!(get("param", &["zfs_arc_max|arc_max"]), "cat /sys/module/*/parameters/zfs_arc_max");
        assert_eq!(get("column_max", &["zpool iostat*", "r"]), "the output of zpool iostat");
        assert_eq!(get("column_max", &["*", "r"]), "", "any tool will do");
        assert_eq!(
            get("rate", &["arcstats", "hits"]),
            "cat /proc/spl/kstat/zfs/arcstats twice, ten seconds apart"
        );
    }
}
