//! From evidence to the answer.

use crate::anatomy::IDLE;
use crate::answer::{
    Answer, CONFIDENT, ConfidenceWord, EvidenceLine, Finding, Quality, RemedyAnswer, RuledOut, SCHEMA, Source,
};
use crate::breakdown::breakdown;
use crate::condition::Truth;
use crate::facts::FactBase;
use crate::knowledge::{Knowledge, Sign};
use crate::score::{Asked, Verdict, judge};
use crate::share::Claims;
use crate::{machine, what_if, wording};
use std::collections::BTreeMap;
use zwhy_evidence::{Evidence, ImportStats};
use zwhy_profile::{Event, StackId};

/// How to explain.
#[derive(Clone, Debug)]
pub struct Options {
    /// What the source is called.
    pub name: String,
    /// What the importer took in; part of the answer's data quality.
    pub stats: Option<ImportStats>,
    pub most_findings: usize,
    /// Findings below this confidence are not shown.
    pub least_confidence: f64,
}

impl Default for Options {
    fn default() -> Options {
        Options { name: String::new(), stats: None, most_findings: 5, least_confidence: 0.12 }
    }
}

/// Commands or sentences named under "next", at most.
const NEXT: usize = 3;
/// From here on the first finding is the answer; below, it is only the likeliest.
const TELLING: f64 = 0.4;

/// Explains what the evidence shows. Pure: the same evidence and knowledge give the same answer.
pub fn explain(evidence: &Evidence, knowledge: &Knowledge, options: &Options) -> Answer {
    let facts = FactBase::new(evidence, &knowledge.anatomy);
    let asked = Asked::new(&facts, &knowledge.bank);
    let verdicts = judge(knowledge, &asked);
    let mut findings = findings(&verdicts, knowledge, &asked, options);
    let tables = breakdown(&facts);
    let quality = quality(&facts, options.stats.as_ref());
    let (why, act) = top_line(&mut findings, knowledge, &facts, &tables.stages);
    let mut answer = Answer {
        zwhy: env!("CARGO_PKG_VERSION").to_owned(),
        schema: SCHEMA,
        source: source(evidence, &facts, options),
        why,
        act,
        findings,
        stages: tables.stages,
        origins: tables.origins,
        paths: crate::paths::paths(&facts),
        threads: tables.threads,
        what_if: None,
        quality,
        stats: options.stats.as_ref().and_then(|s| serde_json::to_value(s).ok()).unwrap_or_default(),
    };
    what_if::bounds(&mut answer, &facts);
    answer
}

fn findings(
    verdicts: &[Verdict<'_>],
    knowledge: &Knowledge,
    asked: &Asked<'_>,
    options: &Options,
) -> Vec<Finding> {
    let mut claims = Claims::default();
    let shown = verdicts.iter().filter(|v| v.confidence >= options.least_confidence);
    shown.take(options.most_findings).map(|v| finding(v, verdicts, knowledge, asked, &mut claims)).collect()
}

fn finding(
    verdict: &Verdict<'_>,
    all: &[Verdict<'_>],
    knowledge: &Knowledge,
    asked: &Asked<'_>,
    claims: &mut Claims,
) -> Finding {
    let cause = verdict.cause;
    let facts = asked.facts;
    let remedy = &cause.remedy;
    let command = |text: &String| fill_names(text, COMMAND, cause.dataset.as_ref(), facts);
    let prose = |text: &String| fill_names(text, PROSE, cause.dataset.as_ref(), facts);
    Finding {
        class: cause.class.clone(),
        title: cause.title.clone(),
        confidence: (verdict.confidence * 1000.0).round() / 1000.0,
        confidence_word: ConfidenceWord::of(verdict.confidence),
        share: claims.claim(&cause.cpu, facts),
        without: None,
        limits: machine::of_finding(cause, facts),
        evidence: evidence_lines(verdict, knowledge, asked),
        against: verdict
            .against
            .iter()
            .map(|i| evidence_line(&cause.against[*i], knowledge, asked))
            .collect(),
        explanation: cause.explanation.clone(),
        remedy: RemedyAnswer {
            text: prose(&remedy.text),
            commands: remedy.commands.iter().map(command).collect(),
            undo: command(&remedy.undo),
            risk: remedy.risk.clone(),
        },
        next: next_steps(verdict, all, knowledge, asked).iter().map(command).collect(),
        rules_out: rules_out(verdict),
        experiment: cause.experiment.clone(),
        references: cause.references.clone(),
        affected: cause.affected.clone(),
        fixed_in: cause.fixed_in.clone(),
    }
}

/// One line a sign that holds, the weightiest first.
fn evidence_lines(verdict: &Verdict<'_>, knowledge: &Knowledge, asked: &Asked<'_>) -> Vec<EvidenceLine> {
    let mut signs: Vec<&Sign> = with_truth(verdict, Truth::Yes).collect();
    signs.sort_by(|a, b| b.weight.when_true().total_cmp(&a.weight.when_true()));
    signs.into_iter().map(|sign| evidence_line(sign, knowledge, asked)).collect()
}

fn with_truth<'v>(verdict: &'v Verdict<'_>, truth: Truth) -> impl Iterator<Item = &'v Sign> {
    verdict.cause.signs.iter().zip(&verdict.truths).filter(move |(_, t)| **t == truth).map(|(s, _)| s)
}

fn evidence_line(sign: &Sign, knowledge: &Knowledge, asked: &Asked<'_>) -> EvidenceLine {
    let mut line = EvidenceLine {
        claim: sign.claim.clone(),
        measure: String::new(),
        source: String::new(),
        frames: Vec::new(),
    };
    let mut measures: Vec<String> = Vec::new();
    for id in &sign.when.queries {
        let (Some(query), Some(reading)) = (knowledge.bank.get(*id), asked.reading(*id)) else { continue };
        // Of alternatives, those that are not so add nothing to the line.
        let negative = matches!(reading.value, crate::facts::Value::Truth(false));
        if negative && sign.when.queries.len() > 1 {
            continue;
        }
        measures.push(wording::measure(query, reading, asked.facts));
        if line.source.is_empty() {
            line.source.clone_from(&reading.origin);
        }
        for frame in asked.facts.frames(query, 4) {
            if !line.frames.contains(&frame) {
                line.frames.push(frame);
            }
        }
    }
    line.measure = measures.join("; ");
    line
}

/// The evidence that is missing, weightiest first, and how to tell it from what looks alike.
fn next_steps(
    verdict: &Verdict<'_>,
    all: &[Verdict<'_>],
    knowledge: &Knowledge,
    asked: &Asked<'_>,
) -> Vec<String> {
    let mut missing: Vec<&Sign> = with_truth(verdict, Truth::Unknown).collect();
    missing.sort_by(|a, b| b.weight.when_true().total_cmp(&a.weight.when_true()));
    let mut next: Vec<String> = Vec::new();
    let add = |text: String, next: &mut Vec<String>| {
        if !text.is_empty() && next.len() < NEXT && !next.contains(&text) {
            next.push(text);
        }
    };
    for other in &verdict.cause.look_alikes {
        let rival = all.iter().find(|v| v.cause.class == other.class && v.confidence >= 0.3);
        if let Some(rival) = rival
            && verdict.confidence < CONFIDENT
        {
            add(format!("to tell it from “{}”: {}", rival.cause.title, other.tell), &mut next);
        }
    }
    for sign in missing {
        if !sign.ask.is_empty() {
            add(sign.ask.clone(), &mut next);
            continue;
        }
        let unknown = sign.when.queries.iter().find(|id| asked.reading(**id).is_none());
        let text = unknown.and_then(|id| knowledge.bank.get(*id)).map(wording::how_to_get);
        add(text.unwrap_or_default(), &mut next);
    }
    next
}

fn rules_out(verdict: &Verdict<'_>) -> Vec<RuledOut> {
    let alike = verdict.rules_out.iter().filter_map(|i| verdict.cause.look_alikes.get(*i));
    alike.map(|l| RuledOut { class: l.class.clone(), why: l.tell.clone() }).collect()
}

/// What stands for a dataset and a pool whose name is not known: a word to fill in by hand in a
/// command, plain words in a sentence.
const COMMAND: [&str; 2] = ["DATASET", "POOL"];
const PROSE: [&str; 2] = ["the dataset", "the pool"];

/// Fills `{dataset}` and `{pool}` with names of this host.
fn fill_names(
    text: &str,
    unknown: [&str; 2],
    dataset: Option<&(String, crate::pattern::Pattern)>,
    facts: &FactBase<'_>,
) -> String {
    if !text.contains('{') {
        return text.to_owned();
    }
    let of_property = dataset.and_then(|(name, like)| facts.datasets_with(name, like).first().copied());
    let first_pool = || facts.evidence.facts["pools"][0]["name"].as_str();
    let pool = of_property.map(|d| d.split('/').next().unwrap_or(d)).or_else(first_pool);
    // A name goes into a command line: only what ZFS allows in names may.
    let safe = |name: &&str| {
        !name.is_empty()
            && !name.starts_with('-')
            && name.chars().all(|c| c.is_alphanumeric() || "_-.:/@".contains(c))
    };
    let of_property = of_property.filter(safe);
    let pool = pool.filter(safe);
    text.replace("{dataset}", of_property.unwrap_or(unknown[0])).replace("{pool}", pool.unwrap_or(unknown[1]))
}

/// The first sentence and what to do.
fn top_line(
    findings: &mut [Finding],
    knowledge: &Knowledge,
    facts: &FactBase<'_>,
    stages: &[crate::answer::StageRow],
) -> (String, Option<String>) {
    let Some(top) = findings.first() else {
        return (nothing_found(facts, stages), Some(first_request(facts)));
    };
    let cause = knowledge.cause(&top.class);
    let evidence = top.evidence.first().map(|e| e.measure.clone()).unwrap_or_default();
    let word = wording::confidence_word(top.confidence_word);
    if top.confidence < TELLING {
        let others: Vec<&str> = findings[1..].iter().take(2).map(|f| f.title.as_str()).collect();
        let or = if others.is_empty() { String::new() } else { format!(", or {}", others.join(", or ")) };
        let why = format!("No cause stands out; the evidence fits: {}{or} ({evidence}).", top.title);
        return (why, top.next.first().map(|n| format!("Measure first: {n}")));
    }
    let fill = |text: &str| fill_names(text, PROSE, cause.and_then(|c| c.dataset.as_ref()), facts);
    let sure = top.confidence >= CONFIDENT;
    let why = match (cause, &top.share) {
        (Some(cause), Some(share)) if share.value > 0.0 => {
            wording::sentence(&fill(&cause.why), share, top.confidence_word)
        }
        _ if sure => format!("{} ({evidence}; confidence {word}).", top.title),
        _ => format!("Probably: {} ({evidence}; confidence {word}).", top.title),
    };
    let act = cause.map(|c| fill(&c.act)).filter(|a| !a.is_empty());
    let first = top.next.first().filter(|_| !sure);
    (why, act.map(|act| first.map_or(act.clone(), |n| format!("{act} Make sure first: {n}"))))
}

fn nothing_found(facts: &FactBase<'_>, stages: &[crate::answer::StageRow]) -> String {
    let zfs = stages.iter().find(|s| !matches!(s.stage.as_str(), "idle" | "not zfs" | "unknown"));
    match zfs {
        Some(stage) if facts.has_samples() => format!(
            "No known cause: ZFS spends most in {} ({} of all CPU), which is no sign of a fault by itself.",
            stage.stage,
            wording::percent(stage.share.value, false)
        ),
        Some(stage) => format!("No known cause fits; most of what the list shows is {}.", stage.stage),
        None if facts.cpu.all > 0 => {
            let busy = facts.cpu.busy as f64 / facts.cpu.all as f64;
            format!(
                "ZFS takes no CPU here; {} of the CPU is busy with other work.",
                wording::percent(busy, false)
            )
        }
        None => "The evidence is too little to name a cause.".to_owned(),
    }
}

fn first_request(facts: &FactBase<'_>) -> String {
    if facts.has_samples() {
        "If something is slow, record while it is: zwhy record -a -d 60 -o host.zwhy".to_owned()
    } else {
        "Record the host while it happens: zwhy record -a -d 30 -o host.zwhy".to_owned()
    }
}

fn source(evidence: &Evidence, facts: &FactBase<'_>, options: &Options) -> Source {
    let (host, known) = (&evidence.host, &evidence.facts);
    let pools = known["pools"].as_array().map(|p| !p.is_empty());
    Source {
        name: options.name.clone(),
        kind: known["kind"].as_str().unwrap_or("").to_owned(),
        host: host.name.clone(),
        kernel: host.kernel.clone(),
        os: host.os.clone(),
        zfs_version: host.zfs_version.clone(),
        duration_s: known["recorder"]["duration_s"].as_f64(),
        hz: known["recorder"]["hz"].as_f64(),
        samples: facts.cpu.all,
        lost: options.stats.as_ref().map_or(0, |s| s.lost),
        zfs_in_use: known["zfs"]["in_use"].as_bool().or(pools),
    }
}

fn quality(facts: &FactBase<'_>, stats: Option<&ImportStats>) -> Quality {
    let profile = &facts.evidence.profile;
    let mut unresolved: BTreeMap<String, u64> = BTreeMap::new();
    for (stack, own) in facts.cpu.own.iter().enumerate().filter(|(_, own)| **own > 0) {
        let Some(frame) = profile.stacks.frame(StackId(stack as u32)) else { continue };
        let reason = profile.strings.get(profile.frames.get(frame).reason);
        if !reason.is_empty() && facts.cpu.classified.node_stage[stack] != IDLE {
            *unresolved.entry(reason.to_owned()).or_default() += own;
        }
    }
    let stats = stats.cloned().unwrap_or_else(|| {
        let kept = Event::ALL.into_iter().map(|e| profile.total(e)).sum();
        ImportStats { read: kept, kept, ..ImportStats::default() }
    });
    Quality {
        read: stats.read,
        kept: stats.kept,
        dropped: stats.dropped,
        lost: stats.lost,
        unresolved,
        warnings: stats.warnings,
    }
}
