//! The first sentence and what to do: for a tired reader, no surer than the evidence.

use crate::answer::{CONFIDENT, EvidenceLine, Finding, SURE, StageRow};
use crate::bottleneck::MOST_CHARACTERS;
use crate::facts::{FactBase, Query};
use crate::figures::percent;
use crate::knowledge::Knowledge;
use crate::observations::observations;
use crate::remedy::{fill_command, fill_prose};
use crate::rows::Names;
use crate::waiting::{place_of, sleeps};
use crate::whole::{Whole, host_busy};
use crate::wording;
use zwhy_evidence::{Evidence, PctStack};
use zwhy_zfs::thread_base;

/// From here on the first finding is the answer; below, it is only the likeliest.
const TELLING: f64 = 0.6;
/// Candidates that are named when none stands out.
const CANDIDATES: usize = 3;
/// Measures that the first sentence repeats.
const MEASURES: usize = 3;
/// A share below this is no reason to speak of CPU.
const WORTH_A_SHARE: f64 = 0.005;

/// `separating` is the measurement that tells the candidates apart.
pub fn headline(
    findings: &[Finding],
    names: &Names,
    separating: Option<String>,
    knowledge: &Knowledge,
    facts: &FactBase<'_>,
    stages: &[StageRow],
) -> (String, Option<String>) {
    let Some(top) = findings.first() else {
        return (nothing_found(facts, stages), Some(first_request(facts)));
    };
    let cause = knowledge.cause(&top.class);
    let evidence = top.evidence.first().map(in_short).unwrap_or_default();
    // It is a command, or asks for one.
    let separating = separating.map(|text| fill_command(&text, names));
    if top.confidence < TELLING {
        let when = if facts.has_samples() { "If something is slow, look at" } else { "Measure first" };
        // A profile of the CPU says nothing of tasks that only wait.
        let separating = separating.filter(|_| !only_waits(facts));
        let act = separating.map_or_else(|| first_request(facts), |text| format!("{when}: {text}"));
        return (candidates(findings, &evidence, facts, stages), Some(act));
    }
    let fill = |text: &str| fill_prose(text, names);
    let sure = top.confidence >= CONFIDENT;
    let word = top.confidence_word.word();
    let why = match (cause, &top.share) {
        (Some(cause), Some(share)) if share.value >= WORTH_A_SHARE => {
            wording::sentence(&fill(&cause.why), &Whole::of(facts), share, top.confidence_word)
        }
        _ => {
            let probably = match top.confidence {
                c if c >= SURE => "",
                _ if sure => "Probably: ",
                _ => "Perhaps: ",
            };
            // Where it is about a pool or a dataset, which one is told.
            let of_rows = cause.map(|c| c.why.as_str()).filter(|w| w.contains('{') && !w.contains("{share}"));
            let told = of_rows.map_or_else(|| top.title.clone(), fill);
            let told = told.trim_end_matches('.');
            let line = format!("{probably}{told} ({evidence}; confidence {word}).");
            // The evidence is listed below; a first line is read at one glance.
            let short = || format!("{probably}{told} (confidence {word}).");
            let told_apart = of_rows.is_some() && sure;
            if told_apart || line.chars().count() > MOST_CHARACTERS { short() } else { line }
        }
    };
    let act = cause.map(|c| fill(&c.act)).filter(|a| !a.is_empty());
    let act = match &top.upgrade {
        Some(upgrade) if !act.as_ref().is_some_and(|a| a.contains("pgrade")) => {
            Some([act.as_deref().unwrap_or(""), upgrade].join(" ").trim().to_owned())
        }
        _ => act,
    };
    // What is only likely is looked into before anything is changed.
    let first = top.next.first().filter(|_| !sure).map(|n| n.trim_end_matches('.'));
    (why, act.map(|act| first.map_or(act.clone(), |n| format!("Verify first: {n}. If confirmed: {act}"))))
}

/// The first measures of a line of evidence: the rest is read where the evidence is listed.
fn fewer(measures: &str) -> String {
    let all: Vec<&str> = measures.split("; ").collect();
    if all.len() <= MEASURES + 1 {
        return measures.to_owned();
    }
    format!("{}; and {} more", all[..MEASURES].join("; "), all.len() - MEASURES)
}

/// What was measured; of a calculation with many parts what it shows.
fn in_short(line: &EvidenceLine) -> String {
    let claim = line.claim.trim_end_matches('.');
    if line.measure.split("; ").count() <= MEASURES || claim.is_empty() {
        return fewer(&line.measure);
    }
    // The name of a function or a setting keeps its letters.
    match claim.split_once(' ') {
        Some((first, rest)) if first.chars().skip(1).all(char::is_lowercase) => {
            format!("{} {rest}", first.to_lowercase())
        }
        _ => claim.to_owned(),
    }
}

/// What is seen, and what it fits, where no cause is likelier than not.
fn candidates(findings: &[Finding], evidence: &str, facts: &FactBase<'_>, stages: &[StageRow]) -> String {
    let titles: Vec<&str> = findings.iter().take(CANDIDATES).map(|f| f.title.as_str()).collect();
    // Where everything was recorded, weak signs are no more than that.
    if let Some(stage) = of_zfs(stages).filter(|_| facts.has_samples()) {
        let most = format!(
            "No cause stands out: ZFS spends most in {} ({}{}), which is not a fault by itself.",
            stage.stage,
            percent(stage.share.value, false),
            Whole::of(facts).text,
        );
        let signs = format!("{most} There are weak signs of: {}.", titles.join("; "));
        // The findings are listed below, with what they rest on.
        return if signs.chars().count() <= MOST_CHARACTERS { signs } else { most };
    }
    // A release and a kernel say what may be wrong with a host, not what is slow on it.
    if findings.first().is_some_and(of_the_system_alone) {
        return format!(
            "Nothing seen here points to a cause. What is known about this system ({evidence}): {}.",
            titles[0]
        );
    }
    let fits = match titles.as_slice() {
        [one] => format!("one: {one}"),
        several => format!("several: {}", several.join("; or ")),
    };
    let seen =
        if evidence.is_empty() { "What was seen".to_owned() } else { format!("What was seen ({evidence})") };
    format!("Too little evidence to name the cause. {seen} only hints at {fits}.")
}

/// Whether a finding rests on the release, the kernel and the CPU, and on nothing that happened.
fn of_the_system_alone(finding: &Finding) -> bool {
    !finding.evidence.is_empty() && finding.evidence.iter().all(|line| line.source == "host")
}

fn of_zfs(stages: &[StageRow]) -> Option<&StageRow> {
    stages.iter().find(|s| !matches!(s.stage.as_str(), "idle" | "not zfs" | "unknown"))
}

/// Functions that wait for a lock on the CPU.
const SPINNING: &str = "native_queued_spin_lock_slowpath|queued_spin_lock_slowpath|_raw_spin_lock*|osq_lock|\
    mutex_spin_on_owner|mutex_optimistic_spin|rwsem_spin_on_owner|rwsem_optimistic_spin|lock_delay|\
    mutex_vector_enter|__mtx_lock_sleep|_mtx_lock_spin_cookie|_sx_xlock_hard|__rw_wlock_hard";
/// Part of busy CPU from which spinning is what a list shows.
const MUCH_SPINNING: f64 = 0.3;

/// A list without callers that is led by spinning: the lock is the cause, and it is not named.
fn spins(facts: &FactBase<'_>) -> Option<String> {
    if facts.has_samples() || facts.evidence.flat.is_empty() {
        return None;
    }
    let query = Query::new("self_share", vec![SPINNING.to_owned()]).ok()?;
    let share = facts.answer(&query)?.value.number().filter(|share| *share > MUCH_SPINNING)?;
    let names = facts.names(query.patterns.first()?, CANDIDATES).join(", ");
    Some(format!(
        "{} of the CPU spins on locks ({names}); the list does not say on which, and that would be the cause.",
        percent(share, false)
    ))
}

fn nothing_found(facts: &FactBase<'_>, stages: &[crate::answer::StageRow]) -> String {
    if let Some(spins) = spins(facts) {
        return spins;
    }
    match of_zfs(stages) {
        Some(stage) if facts.has_samples() => format!(
            "No known cause: ZFS spends most in {} ({}{}), which is not a sign of a fault by itself.",
            stage.stage,
            percent(stage.share.value, false),
            Whole::of(facts).text
        ),
        Some(stage) => format!(
            "No known cause fits; the ZFS part of the list is mostly in {} ({}).",
            stage.stage,
            percent(stage.share.value, false)
        ),
        None if facts.cpu.all > 0 => {
            let other = host_busy(facts).map_or(String::new(), |busy| {
                format!("; {} of this host's CPU is busy with other work", percent(busy, false))
            });
            format!("ZFS takes none{}{other}.", Whole::of(facts).text)
        }
        None if !facts.evidence.flat.is_empty() && !facts.evidence.trees.iter().any(|t| t.waiting) => {
            format!(
                "No function in the list is called by ZFS alone, so it points to no cause.{}",
                seen(facts)
            )
        }
        None => format!("Too little evidence to name a cause.{}", seen(facts)),
    }
}

/// All that is known are stacks of tasks that wait.
fn only_waits(facts: &FactBase<'_>) -> bool {
    let (trees, flat) = (&facts.evidence.trees, &facts.evidence.flat);
    !facts.has_samples() && flat.is_empty() && !trees.is_empty() && trees.iter().all(|t| t.waiting)
}

/// What to do next where no measurement of a cause is asked for: by the kind of evidence there is.
fn first_request(facts: &FactBase<'_>) -> String {
    if facts.has_samples() {
        return "If something is slow, record while it is slow: zwhy record -a -d 60 -o host.zwhy".to_owned();
    }
    let tables = &facts.evidence.tables;
    let hung = tables.iter().any(|t| {
        t.tool == "kernel log" && t.rows.iter().any(|r| r.first().is_some_and(|what| what == "hung task"))
    });
    let asleep = |t: &PctStack| t.waiting || t.frames.last().is_some_and(|leaf| sleeps(leaf));
    if hung || facts.evidence.trees.iter().any(asleep) {
        if of_freebsd(facts) {
            return "Waiting uses no CPU, and what is waited for may be another thread: while it hangs, collect \
                    the stacks of all threads (procstat -kka) and zpool iostat -vlqy POOL 5 2"
                .to_owned();
        }
        return "Waiting uses no CPU, and what is waited for may be another task: while it hangs, collect the \
                stacks of all blocked tasks (echo w > /proc/sysrq-trigger; dmesg) and zpool iostat -vlqy POOL 5 2; \
                while it is only slow: zwhy record --off-cpu -a -d 30 -o host.zwhy"
            .to_owned();
    }
    if tables.iter().any(|t| t.tool.starts_with("zpool iostat -l")) {
        return "See which queue the requests wait in (zpool iostat -vqy POOL 5 2), and record beside it what ZFS \
                does meanwhile: zwhy record -a -d 30 -o host.zwhy"
            .to_owned();
    }
    const DISKS: [&str; 5] = ["zpool iostat", "zpool status", "iostat", "iotop", "gstat"];
    let disks = tables.iter().any(|t| DISKS.iter().any(|d| t.tool.starts_with(d)));
    if disks && facts.evidence.flat.is_empty() && facts.evidence.threads.is_empty() {
        return "Tell slow disks from a busy CPU first: zpool iostat -vly POOL 5 2 (one disk with a longer disk_wait \
                than its neighbours holds up the pool) beside top -H; if CPUs are busy: zwhy record -a -d 30 -o \
                host.zwhy"
            .to_owned();
    }
    "Record the host while it happens: zwhy record -a -d 30 -o host.zwhy".to_owned()
}

/// Whether the host is one of FreeBSD, whose stacks of sleeping threads end in `mi_switch`.
fn of_freebsd(facts: &FactBase<'_>) -> bool {
    let evidence = facts.evidence;
    let leaf = |t: &PctStack| t.frames.last().is_some_and(|leaf| leaf == "mi_switch");
    evidence.host.os.as_deref().is_some_and(|os| os.contains("FreeBSD")) || evidence.trees.iter().any(leaf)
}

/// What there is, when it says nothing by itself.
fn seen(facts: &FactBase<'_>) -> String {
    const MOST: usize = 4;
    let evidence = facts.evidence;
    let threads = busy_threads(evidence).into_iter();
    let rows = evidence.flat.iter().map(|r| r.symbol.clone());
    let leaves = evidence.trees.iter().filter_map(|t| {
        let leaf = t.frames.last()?;
        // Who called what puts a thread to sleep says more than how it sleeps.
        let names: Vec<&str> = t.frames.iter().rev().map(String::as_str).collect();
        let inside = if sleeps(leaf) { place_of(&names).0 } else { leaf.clone() };
        let comm = t.comm.as_deref().filter(|c| (t.waiting || sleeps(leaf)) && !c.is_empty());
        Some(comm.map_or_else(|| inside.clone(), |comm| format!("{} waits in {inside}", thread_base(comm))))
    });
    let read = observations(evidence);
    let is_told = |name: &str| read.told.iter().any(|told| told == name);
    let tables = evidence
        .tables
        .iter()
        .filter(|t| t.tool != "quantiles" && !is_told(&t.tool))
        .map(|t| format!("a table of {}", t.tool));
    let kstats = evidence.kstats.iter().filter(|k| !is_told(&k.source));
    let kstats = kstats.map(|k| format!("the kstat {}", k.source));
    let properties = counted(evidence.properties.len(), "property", "properties");
    let params = counted(evidence.params.len(), "parameter", "parameters");
    let mut all: Vec<String> = Vec::new();
    let sentences = read.sentences.iter().cloned();
    let named = threads.chain(rows).chain(leaves);
    let listed = tables.chain(kstats).chain([properties, params]);
    for item in named.chain(sentences).chain(listed) {
        if all.len() < MOST && !item.is_empty() && !all.contains(&item) {
            all.push(item);
        }
    }
    let between = if read.sentences.is_empty() { ", " } else { "; " };
    if all.is_empty() { String::new() } else { format!(" What was seen: {}.", all.join(between)) }
}

/// Threads by name, those with most CPU first: `3 threads z_wr_iss with 23 % of a CPU`.
fn busy_threads(evidence: &Evidence) -> Vec<String> {
    let mut found: Vec<(&str, usize, Option<f64>)> = Vec::new();
    for thread in &evidence.threads {
        let name = thread_base(&thread.comm);
        match found.iter_mut().find(|(n, ..)| *n == name) {
            Some((_, threads, cpu)) => {
                *threads += 1;
                *cpu = cpu.zip(thread.cpu_pct).map(|(a, b)| a + b).or(*cpu).or(thread.cpu_pct);
            }
            None => found.push((name, 1, thread.cpu_pct)),
        }
    }
    found.sort_by(|a, b| b.2.unwrap_or(0.0).total_cmp(&a.2.unwrap_or(0.0)));
    let told = |(name, threads, cpu): (&str, usize, Option<f64>)| {
        let what = if threads == 1 { format!("thread {name}") } else { format!("{threads} threads {name}") };
        let cpu = cpu.map(|pct| format!(" with {} of a CPU", percent(pct / 100.0, false)));
        what + &cpu.unwrap_or_default()
    };
    found.into_iter().map(told).collect()
}

/// `1 property`, `3 properties`; empty of none.
fn counted(n: usize, one: &str, many: &str) -> String {
    match n {
        0 => String::new(),
        1 => format!("1 {one}"),
        n => format!("{n} {many}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_calculation_is_told_by_what_it_shows() {
        let line = |claim: &str, measure: &str| EvidenceLine {
            claim: claim.to_owned(),
            measure: measure.to_owned(),
            figures: Vec::new(),
            source: String::new(),
            frames: Vec::new(),
        };
        for (claim, measure, expected) in [
            ("Groups are short.", "a = 1; b = 2", "a = 1; b = 2"),
            ("Groups are short.", "a = 1; b = 2; c = 3; d = 4", "groups are short"),
            ("ZFS waits.", "a = 1; b = 2; c = 3; d = 4", "ZFS waits"),
            ("", "a = 1; b = 2; c = 3; d = 4", "a = 1; b = 2; c = 3; d = 4"),
        ] {
            assert_eq!(in_short(&line(claim, measure)), expected);
        }
    }

    #[test]
    fn threads_of_a_name_are_told_together() {
        use zwhy_evidence::ThreadCpu;
        let thread = |comm: &str, cpu_pct| ThreadCpu { comm: comm.into(), cpu_pct, ..ThreadCpu::default() };
        let threads = vec![
            thread("txg_sync", None),
            thread("z_wr_iss_1", Some(7.5)),
            thread("z_wr_iss_2", Some(7.5)),
            thread("zthr_procedure", Some(33.0)),
        ];
        let told = busy_threads(&Evidence { threads, ..Evidence::default() });
        let want = [
            "thread zthr_procedure with 33 % of a CPU",
            "2 threads z_wr_iss with 15 % of a CPU",
            "thread txg_sync",
        ];
        assert_eq!(told, want);
    }

    #[test]
    fn a_sentence_repeats_few_measures() {
        assert_eq!(fewer("a is 1; b is 2; c is 3; d is 4"), "a is 1; b is 2; c is 3; d is 4");
        assert_eq!(fewer("a is 1; b is 2; c is 3; d is 4; e is 5"), "a is 1; b is 2; c is 3; and 2 more");
        assert_eq!(fewer(""), "");
    }
}
