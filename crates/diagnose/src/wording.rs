//! Figures and questions in words.

use crate::answer::{ConfidenceWord, ShareOf};
use crate::facts::{FactBase, Function, Quality, Query, Reading, ResultKind, Value};
use crate::whole::{OF_HOST, Whole};
use zwhy_zfs::{Unit, format_bytes, kstat_unit};

/// `63 %`, `0.4 %`, `11.7 %`: a decimal where it is known or the number is small.
pub fn percent(share: f64, exact: bool) -> String {
    let pct = share * 100.0;
    let whole = (pct - pct.round()).abs() < 1e-9;
    if whole || (pct >= 10.0 && !exact) { format!("{pct:.0} %") } else { format!("{pct:.1} %") }
}

/// Whether the interval is so narrow that tenths of a per cent mean something.
fn is_exact(share: &ShareOf) -> bool {
    share.high - share.low < 0.02
}

/// `59–67 %`
pub fn range(share: &ShareOf) -> String {
    let one = |v: f64| percent(v, is_exact(share));
    format!("{}–{}", one(share.low).trim_end_matches(" %"), one(share.high))
}

/// Puts a share into a sentence with `{share}`, its interval and the confidence at its end.
///
/// Causes speak of the host; in its place stands what the share is of.
pub fn sentence(template: &str, whole: &Whole, share: &ShareOf, confidence: ConfidenceWord) -> String {
    let word = confidence_word(confidence);
    let value = percent(share.value, is_exact(share));
    let range = (share.low < share.value || share.value < share.high).then(|| range(share));
    let template = template.trim_end_matches('.');
    // What is in brackets belongs to what stands before it.
    if let Some(of_host) = whole.of_host.as_ref().filter(|_| template.contains(OF_HOST)) {
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

pub fn confidence_word(word: ConfidenceWord) -> &'static str {
    match word {
        ConfidenceWord::High => "high",
        ConfidenceWord::Medium => "medium",
        ConfidenceWord::Low => "low",
    }
}

/// What was read, as a person would write it down.
pub fn measure(query: &Query, reading: &Reading, facts: &FactBase<'_>) -> String {
    if let Some(said) = &reading.said {
        return said.clone();
    }
    if let Some(told) = facts.told_of_tables(query, reading.value != Value::Truth(false)) {
        return told;
    }
    let what = setting(query, facts);
    match (&reading.value, query.signature().result) {
        (Value::Number(n), ResultKind::Share) => share_measure(query, *n, reading.quality, facts),
        (Value::Number(n), _) => number_measure(query, *n, facts),
        (Value::Text(text), _) if query.function == Function::CellText => {
            format!("{what}, {} of {} = {text}", query.argument(2), query.argument(1))
        }
        (Value::Text(text), _) => format!("{what} = {text}"),
        (Value::Truth(truth), _) => truth_measure(query, *truth, reading, facts),
    }
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
    use Function as F;
    let asked = query.argument(0);
    match query.function {
        F::Param | F::Chosen | F::Offered | F::Picked => {
            query.patterns.first().and_then(|p| facts.setting_told(p)).unwrap_or_else(|| asked.to_owned())
        }
        F::Fact => fact_name(asked, facts),
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

fn share_measure(query: &Query, share: f64, quality: Quality, facts: &FactBase<'_>) -> String {
    use Function as F;
    let whole = match query.function {
        F::PartOf => format!("of the CPU of {}", names(query, 1, facts)),
        F::LabelIn => format!("of the CPU of stage {}", query.argument(1)),
        F::WaitShare => "of waiting time".to_owned(),
        F::Busy => return format!("{} of CPU samples are not idle", percent(share, false)),
        F::KernelShare => return format!("{} of busy CPU is spent in the kernel", percent(share, false)),
        _ => "of busy CPU".to_owned(),
    };
    let what = match query.function {
        F::Under => format!("{} below {}", names(query, 0, facts), names(query, 1, facts)),
        F::UnderNot => {
            let not = query.argument(2).replace('|', ", ");
            format!("{} below {} and not below {not}", names(query, 0, facts), names(query, 1, facts))
        }
        F::CalledBy => {
            format!("{} called directly by {}", names(query, 0, facts), names(query, 1, facts))
        }
        F::InThread => format!("{} on {}", names(query, 0, facts), query.argument(1)),
        F::Share | F::SelfShare | F::PartOf | F::WaitShare => names(query, 0, facts),
        _ => query.argument(0).to_owned(),
    };
    let of_busy = !matches!(query.function, F::PartOf | F::LabelIn | F::WaitShare);
    let part = (share * facts.cpu.busy as f64).round() as u64;
    let counted = ShareOf::sampled(&facts.cpu.sampling, part, facts.cpu.busy);
    if quality == Quality::Counted && of_busy {
        let range = match counted.low < counted.high {
            true => format!(" ({})", range(&counted)),
            false => String::new(),
        };
        format!("{what}: {}{range} {whole}", percent(share, is_exact(&counted)))
    } else {
        let pasted = if quality == Quality::Unclear { ", as pasted" } else { "" };
        format!("{what}: {} {whole}{pasted}", percent(share, true))
    }
}

fn number_measure(query: &Query, n: f64, facts: &FactBase<'_>) -> String {
    use Function as F;
    let name = setting(query, facts);
    match query.function {
        F::ThreadMax => format!("the busiest {}: {} of one CPU", threads(query, facts), percent(n, false)),
        F::ThreadCpu => {
            let many = query.patterns.first().map_or(0, |p| facts.threads_listed(p));
            let together = if many > 1 { format!(" ({many} threads)") } else { String::new() };
            format!("{}{together}: {} of one CPU", threads(query, facts), percent(n, false))
        }
        F::ThreadNice => format!("nice value of {}: {n:.0}", threads(query, facts)),
        F::Count => format!("{n:.0} {name}"),
        F::ThreadCount => format!("{name}: {n:.0} threads"),
        F::Kstat => format!("{name}.{} = {}", query.argument(1), amount(query, n)),
        F::Rate => format!("{name}.{}: {} a second", query.argument(1), amount(query, n)),
        F::Param | F::PropNumber => format!("{name} = {}", plain(n)),
        F::Cell => format!("{}, {} of {} = {}", name, query.argument(2), query.argument(1), plain(n)),
        F::Fact if query.argument(0).ends_with("_pct") => format!("{name}: {} %", plain(n)),
        F::Fact if query.argument(0).ends_with("_bytes") => format!("{name}: {}", format_bytes(n as u64)),
        F::Fact => format!("{name}: {}", plain(n)),
        _ => format!("{} = {}", query.text(), plain(n)),
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

fn truth_measure(query: &Query, truth: bool, reading: &Reading, facts: &FactBase<'_>) -> String {
    use Function as F;
    let host = &facts.evidence.host;
    let known = |text: &Option<String>| text.clone().unwrap_or_default();
    let (a, b) = (setting(query, facts), query.argument(1));
    let (is, not) = if truth { ("", "") } else { ("no ", "not ") };
    match query.function {
        F::Calls if truth => {
            let callers = names(query, 0, facts);
            let calls = if callers.contains(", ") { "call" } else { "calls" };
            format!("{callers} {calls} {}{}", names(query, 1, facts), at_least(query, reading))
        }
        F::Calls => format!("{a} does not call {b}{}", at_least(query, reading)),
        F::Seen => format!("{} {not}seen{}", names(query, 0, facts), at_least(query, reading)),
        F::Offered => format!("{a} offers {is}{b}"),
        F::Picked => format!("{a} {is}looked at"),
        F::ColumnHas => format!("{b} of {a} {} {}", if truth { "has" } else { "has no" }, query.argument(2)),
        F::Waits => format!("{is}thread waits in {}", names(query, 0, facts)),
        F::Named => format!("{} {not}named", names(query, 0, facts)),
        F::ThreadNamed => format!("thread {} {not}named", threads(query, facts)),
        F::ThreadSeen if truth => format!("thread {}", threads(query, facts)),
        F::ThreadSeen => format!("no thread {a}"),
        F::Prop => match facts.property_like(&a, &crate::pattern::Pattern::new(b)).filter(|_| truth) {
            Some((value, Some(dataset))) => format!("{a} is {value} on {dataset}"),
            Some((value, None)) => format!("{a} is {value}"),
            None => format!("{a} is {not}{}", b.replace('|', " or ")),
        },
        F::ZfsVersion => format!("OpenZFS {}", known(&host.zfs_version)),
        F::KernelVersion => format!("kernel {}", known(&host.kernel)),
        F::Os => format!("{} {}", known(&host.os), known(&host.kernel)).trim().to_owned(),
        F::CpuFlag => format!("this CPU has {is}{a}"),
        F::CpuModel => known(&host.cpu_model),
        F::Fact => format!("{a}: {}", if truth { "yes" } else { "no" }),
        _ => format!("{} is {truth}", query.text()),
    }
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

/// How to get what a question needs, as a command where there is one.
pub fn how_to_get(query: &Query) -> String {
    use Function as F;
    let name = query.argument(0);
    match query.function {
        F::Share
        | F::SelfShare
        | F::Under
        | F::UnderNot
        | F::CalledBy
        | F::PartOf
        | F::Calls
        | F::Seen
        | F::Named
        | F::Stage
        | F::Label
        | F::LabelIn
        | F::InThread
        | F::ThreadShare
        | F::Busy
        | F::KernelShare => {
            "record call graphs while it happens: zwhy record -a -d 30 -o host.zwhy".to_owned()
        }
        F::ThreadCpu | F::ThreadMax | F::ThreadCount | F::ThreadNice | F::ThreadSeen | F::ThreadNamed => {
            "CPU of each thread while it happens: top -H -b -n 1".to_owned()
        }
        F::Waits | F::WaitShare => {
            "what the stuck threads wait in: cat /proc/PID/stack, or echo w > /proc/sysrq-trigger".to_owned()
        }
        F::Kstat => format!("cat /proc/spl/kstat/zfs/{name}"),
        F::Rate => format!("cat /proc/spl/kstat/zfs/{name} twice, ten seconds apart"),
        F::Param | F::Chosen | F::Offered | F::Picked => {
            let first = name.split('|').next().unwrap_or(name);
            format!("cat /sys/module/*/parameters/{first}")
        }
        F::Prop | F::PropNumber => format!("zfs get -t filesystem,volume {name}"),
        F::ZfsVersion => "zfs version".to_owned(),
        F::KernelVersion | F::Os => "uname -a".to_owned(),
        F::CpuFlag | F::CpuModel => "lscpu".to_owned(),
        F::Table
        | F::ColumnMax
        | F::ColumnMin
        | F::ColumnSum
        | F::Cell
        | F::CellText
        | F::ColumnHas
        | F::Growth => {
            // Where any tool will do there is nothing to name.
            let tool = name.split('|').map(|t| t.replace('*', " ")).find(|t| !t.trim().is_empty());
            tool.map_or(String::new(), |tool| format!("the output of {}", tool.trim()))
        }
        F::Count if name == "snapshots" => "zfs list -H -t snapshot -o name | wc -l".to_owned(),
        F::Count if name == "datasets" => "zfs list -H -o name | wc -l".to_owned(),
        F::Fact | F::Count => "zwhy record -a -d 30 -o host.zwhy".to_owned(),
    }
}
