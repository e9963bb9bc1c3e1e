//! From evidence to the answer.

use crate::answer::{Answer, ConfidenceWord, EvidenceLine, Finding, Quality, RuledOut, SCHEMA, Source};
use crate::asked::Asked;
use crate::bottleneck::{TELLING, Told, bottleneck, first_line};
use crate::breakdown::breakdown;
use crate::calibration::Calibration;
use crate::classify::{Classified, classify};
use crate::condition::Truth;
use crate::facts::FactBase;
use crate::headline::headline;
use crate::knowledge::{Knowledge, Sign};
use crate::measured::figure;
use crate::next::{next_steps, separating};
use crate::remedy::{fill_command, fill_prose, remedy};
use crate::rows::{Names, answers};
use crate::score::{Verdict, judge};
use crate::share::Claims;
use crate::topic::topic;
use crate::whole::Whole;
use crate::{machine, what_if, wording};
use std::borrow::Cow;
use std::collections::BTreeMap;
use zwhy_evidence::{Evidence, ImportStats, Kind};
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
    /// Whether a confidence says how often such findings are right; else what the signs give by themselves.
    pub calibrated: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            name: String::new(),
            stats: None,
            most_findings: 5,
            least_confidence: 0.12,
            calibrated: true,
        }
    }
}

/// Explains what the evidence shows. Pure: the same evidence and knowledge give the same answer.
pub fn explain(evidence: &Evidence, knowledge: &Knowledge, options: &Options) -> Answer {
    explain_classified(evidence, &classify(&evidence.profile, &knowledge.anatomy), knowledge, options)
}

/// As [`explain`], where the profile is classified already, for a picture beside the answer.
pub fn explain_classified(
    evidence: &Evidence,
    classified: &Classified,
    knowledge: &Knowledge,
    options: &Options,
) -> Answer {
    let facts = FactBase::with(evidence, &knowledge.anatomy, Cow::Borrowed(classified));
    let asked = Asked::new(&facts, &knowledge.bank);
    let mut verdicts = judge(knowledge, &asked, options.calibrated.then(Calibration::embedded));
    let found = verdicts.iter().any(|v| v.tells(options.least_confidence));
    // Real samples say themselves what there is, and a report's text has more words than its names.
    if !found
        && !facts.has_samples()
        && evidence.text.is_empty()
        && let Some(topic) = topic(knowledge, &asked)
    {
        verdicts.retain(|v| v.cause.class != topic.cause.class);
        verdicts.insert(0, Verdict::of_topic(topic.cause, topic.names, &asked));
    }
    let mut findings = findings(&verdicts, knowledge, &asked, options);
    // Counters of a host without ZFS fit causes by accident; code of ZFS that runs does not.
    if without_module(evidence) && findings.iter().all(|f| f.share.is_none()) {
        findings.clear();
    }
    let tables = breakdown(&facts);
    let quality = quality(&facts, options.stats.as_ref());
    let shown = &verdicts[..findings.len().min(verdicts.len())];
    let apart = separating(shown, knowledge, &asked);
    let names = shown.first().map(|v| Names::of(v.cause, v.rows.as_ref(), &facts)).unwrap_or_default();
    let said = headline(&findings, &names, apart, knowledge, &facts, &tables.stages);
    let limit = bottleneck(&facts);
    // Where the CPU is not the limit, what takes some of it is hardly the cause.
    let waits = |f: &&Finding| f.confidence >= TELLING && f.share.is_none();
    let told: Vec<&Finding> = findings.iter().filter(waits).collect();
    let told = if told.is_empty() { findings.iter().take(1).collect() } else { told };
    let demand = crate::demand::demand(&facts, limit.as_ref().map(|l| &l.bottleneck));
    let sentences = |finding: &Finding| {
        let verdict = shown.iter().find(|v| v.cause.class == finding.class);
        let names = verdict.map(|v| Names::of(v.cause, v.rows.as_ref(), &facts)).unwrap_or_default();
        let sentence = in_one_sentence(finding, knowledge, &names);
        let left = demand.as_ref().and_then(|demand| demand.time_left(&finding.class));
        let with_time = left.map(|left| format!("{}, {left}.", sentence.trim_end_matches('.')));
        with_time.into_iter().chain([sentence]).collect::<Vec<_>>()
    };
    let cause: Vec<String> = told.into_iter().flat_map(sentences).collect();
    let first = findings.first().and_then(|f| with_share(f, knowledge, &names, &facts));
    let (mut why, mut act) = first_line(said, limit.as_ref(), &findings, &Told { cause, first });
    if without_module(evidence) {
        why = format!("The ZFS module was not loaded on this host while it was recorded. {why}");
        if findings.is_empty() {
            act = Some("Record a host that uses ZFS; zwhy doctor says what is missing here".to_owned());
        }
    }
    let waiting = crate::waiting::waiting(&facts, limit.as_ref().and_then(|l| l.disks.as_deref()));
    let mut answer = Answer {
        zwhy: env!("CARGO_PKG_VERSION").to_owned(),
        schema: SCHEMA,
        source: source(evidence, &facts, options),
        whole: Whole::answer(&facts),
        why,
        act,
        bottleneck: limit.map(|decided| decided.bottleneck),
        demand,
        findings,
        stages: tables.stages,
        origins: tables.origins,
        paths: crate::paths::paths(&facts),
        threads: tables.threads,
        itself: evidence.itself.clone(),
        waiting,
        what_if: None,
        quality,
        stats: options.stats.as_ref().and_then(|s| serde_json::to_value(s).ok()).unwrap_or_default(),
    };
    what_if::bounds(&mut answer, &facts, knowledge);
    answer
}

/// What a cause says, with this host's names; of one that is told by its share of CPU its title.
fn in_one_sentence(finding: &Finding, knowledge: &Knowledge, names: &Names) -> String {
    let why = knowledge.cause(&finding.class).map(|cause| cause.why.as_str());
    let why = why.filter(|why| !why.contains("{share}"));
    why.map_or_else(|| format!("{}.", finding.title), |why| fill_prose(why, names))
}

/// What a cause says with its share of CPU, in short; `None` of one without.
fn with_share(
    finding: &Finding,
    knowledge: &Knowledge,
    names: &Names,
    facts: &FactBase<'_>,
) -> Option<String> {
    let why = &knowledge.cause(&finding.class)?.why;
    let share = finding.share.as_ref().filter(|_| why.contains("{share}"))?;
    Some(wording::short_sentence(&fill_prose(why, names), &Whole::of(facts), share, finding.confidence_word))
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
    let names = Names::of(cause, verdict.rows.as_ref(), facts);
    let command = |text: &String| fill_command(text, &names);
    let (rows, rows_more, rows_unseen) = answers(verdict.rows.as_ref(), facts);
    Finding {
        class: cause.class.clone(),
        title: cause.title.clone(),
        confidence: (verdict.confidence * 1000.0).round() / 1000.0,
        confidence_word: ConfidenceWord::of(verdict.confidence),
        share: claims.claim(&cause.cpu, verdict.rows.as_ref(), facts),
        rows,
        rows_more,
        rows_unseen,
        without: None,
        limits: machine::of_finding(cause, facts),
        evidence: evidence_lines(verdict, knowledge, asked),
        against: against_lines(verdict, knowledge, asked),
        explanation: cause.explanation.clone(),
        remedy: remedy(cause, asked, verdict.rows.as_ref(), &names),
        gain: None,
        next: next_steps(verdict, all, knowledge, asked).iter().map(command).collect(),
        rules_out: rules_out(verdict),
        experiment: cause.experiment.clone(),
        references: cause.references.clone(),
        affected: cause.affected.clone(),
        fixed_in: cause.fixed_in.clone(),
        upgrade: upgrade(verdict, asked),
    }
}

/// One line a sign that holds, the weightiest first.
fn evidence_lines(verdict: &Verdict<'_>, knowledge: &Knowledge, asked: &Asked<'_>) -> Vec<EvidenceLine> {
    let mut signs: Vec<&Sign> = with_truth(verdict, Truth::Yes).collect();
    signs.sort_by(|a, b| b.weight.when_true().total_cmp(&a.weight.when_true()));
    let line = |sign: &Sign| evidence_line(sign, knowledge, &asked.for_sign(sign, verdict.rows.as_ref()));
    let words = (!verdict.words.is_empty()).then(|| words_line(&verdict.words));
    signs.into_iter().map(line).chain(words).collect()
}

/// What the words of a report add.
fn words_line(words: &[String]) -> EvidenceLine {
    EvidenceLine {
        claim: "The report speaks of what belongs to this cause.".to_owned(),
        measure: words.join(", "),
        source: "words".to_owned(),
        ..EvidenceLine::default()
    }
}

/// What lowered the confidence: what the cause names, and a release that has the fix.
fn against_lines(verdict: &Verdict<'_>, knowledge: &Knowledge, asked: &Asked<'_>) -> Vec<EvidenceLine> {
    let against = verdict.against.iter().filter_map(|i| verdict.cause.against.get(*i));
    let line = |sign: &Sign| evidence_line(sign, knowledge, &asked.for_sign(sign, verdict.rows.as_ref()));
    let mut lines: Vec<EvidenceLine> = against.map(line).collect();
    let release = asked.facts.evidence.host.zfs_version.as_ref().filter(|_| verdict.fix_counts);
    if let Some((release, fixed_in)) = release.zip(verdict.cause.fixed_in.as_ref()) {
        lines.push(EvidenceLine {
            claim: format!("This release has the fix of {fixed_in}."),
            measure: format!("OpenZFS {release}"),
            source: "host".to_owned(),
            ..EvidenceLine::default()
        });
    }
    lines
}

/// `Fixed in 2.2 (PR 13244); this host runs 2.1.5: upgrade OpenZFS.`
fn upgrade(verdict: &Verdict<'_>, asked: &Asked<'_>) -> Option<String> {
    let release = asked.facts.evidence.host.zfs_version.as_ref().filter(|_| verdict.fixed == Some(false))?;
    let fixed_in = verdict.cause.fixed_in.as_ref()?;
    Some(format!("Fixed in {fixed_in}; this host runs {release}: upgrade OpenZFS."))
}

fn with_truth<'v>(verdict: &'v Verdict<'_>, truth: Truth) -> impl Iterator<Item = &'v Sign> {
    verdict.cause.signs.iter().zip(&verdict.truths).filter(move |(_, t)| **t == truth).map(|(s, _)| s)
}

fn evidence_line(sign: &Sign, knowledge: &Knowledge, asked: &Asked<'_>) -> EvidenceLine {
    let mut line = EvidenceLine { claim: sign.claim.clone(), ..EvidenceLine::default() };
    let mut measures: Vec<String> = Vec::new();
    let reasons = sign.when.reasons(asked);
    for id in &reasons {
        let (Some(query), Some(reading)) = (knowledge.bank.get(*id), asked.reading(*id)) else { continue };
        // What is not so, and has to be, adds nothing to the line.
        let negative = matches!(reading.value, crate::facts::Value::Truth(false));
        if negative && reasons.len() > 1 {
            continue;
        }
        let measure = wording::measure(query, reading, asked.facts);
        if !measures.contains(&measure) {
            measures.push(measure);
            line.figures.push(figure(query, reading, asked.facts));
        }
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

/// Whether a recorded host had no ZFS module; an experiment brings ZFS along in user space.
fn without_module(evidence: &Evidence) -> bool {
    evidence.facts.kind == Some(Kind::Record) && evidence.facts.zfs.module_loaded == Some(false)
}

fn rules_out(verdict: &Verdict<'_>) -> Vec<RuledOut> {
    let alike = verdict.rules_out.iter().filter_map(|i| verdict.cause.look_alikes.get(*i));
    alike.map(|l| RuledOut { class: l.class.clone(), why: l.tell.clone() }).collect()
}

fn source(evidence: &Evidence, facts: &FactBase<'_>, options: &Options) -> Source {
    let (host, known) = (&evidence.host, &evidence.facts);
    let sampling = &facts.cpu.sampling;
    let pools = known.pools.as_ref().map(|p| !p.is_empty());
    Source {
        name: options.name.clone(),
        kind: known.kind.map_or("", Kind::name).to_owned(),
        host: host.name.clone(),
        kernel: host.kernel.clone(),
        os: host.os.clone(),
        zfs_version: host.zfs_version.clone(),
        duration_s: known.recorder.duration_s,
        hz: known.recorder.hz,
        samples: sampling.counted.then_some(sampling.samples),
        amount: sampling.amount,
        unit: evidence.profile.measure(Event::Cpu).unit.name().to_owned(),
        lost: options.stats.as_ref().map_or(Some(0), ImportStats::lost_known),
        zfs_in_use: known.zfs.in_use.or(pools),
    }
}

fn quality(facts: &FactBase<'_>, stats: Option<&ImportStats>) -> Quality {
    let profile = &facts.evidence.profile;
    let mut unresolved: BTreeMap<String, u64> = BTreeMap::new();
    for (stack, own) in facts.cpu.own.iter().enumerate().filter(|(_, own)| **own > 0) {
        let Some(frame) = profile.stacks.frame(StackId(stack as u32)) else { continue };
        let reason = profile.strings.get(profile.frames.get(frame).reason);
        if !reason.is_empty() && !facts.cpu.classified.is_idle(StackId(stack as u32)) {
            *unresolved.entry(reason.to_owned()).or_default() += own;
        }
    }
    let quality = stats.map(Quality::from).unwrap_or_else(|| {
        let kept = Event::ALL.into_iter().map(|e| profile.samples.total(e)).sum();
        Quality { read: kept, kept, lost: Some(0), ..Quality::default() }
    });
    Quality { unresolved, ..quality }
}
