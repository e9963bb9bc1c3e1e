//! From signs to confidence.
//!
//! Every cause starts unlikely ([`PRIOR`]); each sign that holds or fails adds its log-odds; causes
//! that look alike share their odds, as at most one of them holds for the same samples. Then
//! confidence is limited by what it rests on: without figures, with one sign or one kind of
//! evidence, with few samples, or where next to no CPU is concerned, no finding is confident,
//! however many signs agree. A release that has the fix speaks against a cause.

use crate::asked::Asked;
use crate::calibration::{Calibration, Line};
use crate::complaint::{complains, describes_only, is_content};
use crate::condition::{QueryBank, QueryId, Truth};
use crate::corroboration::doubt_what_stands_alone;
use crate::facts::{Family, Function, Kind, Quality, has_fix};
use crate::knowledge::{Cause, IfFalse, Knowledge, Sign, Weight};
use crate::look_alikes::{doubt_look_alikes, rule_out, share_odds};
use crate::root::causes_first;
use crate::rows::{Chosen, choose};
use crate::solidity::solidity;
use crate::words::spoken;
use zwhy_evidence::Evidence;

/// Log-odds of any one cause before anything is seen.
const PRIOR: f64 = -3.0;
/// Measured log-odds that a confident finding needs: one strong sign with a figure.
const MEASURED: f64 = 2.5;
/// Most that can be said when figures are missing.
const UNMEASURED_MOST: f64 = 0.65;
/// Most that can be said by a single sign, or by names and settings of one kind alone.
const THIN_MOST: f64 = 0.5;
/// Log-odds taken from a cause that this release has a fix for: some fixes are taken back or miss a case.
const HAS_FIX: f64 = -3.0;
/// Most that can be said when the CPU concerned hardly matters: what healthy hosts have of everything.
const IMMATERIAL_MOST: f64 = 0.3;
/// Shares of busy CPU and of all CPU below which a cause hardly matters.
const MATERIAL: f64 = 0.05;
const MATERIAL_OF_ALL: f64 = 0.01;
/// Share of busy CPU below which a cause is no certain answer, and the most that is said then: a clock that takes
/// 6 % of busy CPU, or one mutex, is something to look at and not what makes a host slow.
const MAIN: f64 = 0.08;
const NOT_MAIN_MOST: f64 = 0.65;
/// Share of busy CPU below which a cause is not what makes a CPU busy, and the most that samples then say: less
/// than any sign of something that matters.
const NEGLIGIBLE: f64 = 0.01;
const NEGLIGIBLE_MOST: f64 = 0.15;
/// Most that the release, the kernel and the CPU say by themselves: what may be wrong with a host, not what
/// is slow on it, so that anything that was seen comes first.
const SYSTEM_MOST: f64 = 0.15;
/// What names alone say: more than what is known of the system, less than any sign of what was seen.
const TOPIC: f64 = 0.16;
/// From here on what was seen decides, and words are not asked.
const SEEN: f64 = 0.65;
/// By how much few samples lower the most that can be said: at 45 of them to 0.7.
const FEW: f64 = 2.0;
/// Nothing is certain.
pub(crate) const MOST: f64 = 0.97;

/// What became of one cause.
#[derive(Clone, Debug)]
pub struct Verdict<'k> {
    pub cause: &'k Cause,
    /// What its signs are about.
    pub rows: Option<Chosen>,
    /// By sign, in the order of the file.
    pub truths: Vec<Truth>,
    /// What speaks against it and holds, by index into the cause's list.
    pub against: Vec<usize>,
    pub log_odds: f64,
    pub confidence: f64,
    /// Classes ruled out in favour of this one, by index into its look-alikes.
    pub rules_out: Vec<usize>,
    /// Whether this host's release has the fix; `None` where that cannot be told.
    pub fixed: Option<bool>,
    /// Whether that has lowered the confidence.
    pub fix_counts: bool,
    /// Words of the report that belong to it, where they were asked.
    pub words: Vec<String>,
    measured: f64,
    /// Whether what was measured are samples alone.
    counted: bool,
    /// Whether a wait, a counter or a setting speaks for it, so that it need not show on the CPU.
    carried: bool,
    /// Signs that hold and are more than weak, and the kinds of evidence that they rest on.
    signs: usize,
    kinds: usize,
    /// Whether a thread that waits is among it.
    stacks: bool,
    /// Whether all of these tell of the system alone.
    of_system: bool,
}

/// Judges all causes; the likeliest first, those without any sign left out. Without a calibration the
/// confidence is what the signs give by themselves.
pub fn judge<'k>(
    knowledge: &'k Knowledge,
    asked: &Asked<'_>,
    calibration: Option<&Calibration>,
) -> Vec<Verdict<'k>> {
    let mut verdicts: Vec<Verdict> =
        knowledge.causes.iter().filter_map(|cause| Verdict::of(cause, asked)).collect();
    rule_out(&mut verdicts, asked);
    share_odds(&mut verdicts);
    for verdict in &mut verdicts {
        verdict.confidence = verdict.confidence.min(verdict.limit(asked));
    }
    // Stacks of threads that only wait were recorded, too.
    let evidence = asked.facts.evidence;
    let recorded = !evidence.profile.samples.is_empty() && evidence.text.is_empty();
    if let Some(calibration) = calibration {
        // Who complains of nothing may have a host like those that somebody records: most are healthy.
        let quiet = !evidence.text.is_empty() && !complains(&evidence.said);
        let line = if recorded || quiet { &calibration.recordings } else { &calibration.reports };
        calibrate(&mut verdicts, line, Some(&calibration.parts).filter(|_| !recorded), asked);
    }
    add_words(&mut verdicts, knowledge, asked);
    if !recorded {
        doubt_what_was_asked_for(&mut verdicts);
        doubt_without_complaint(&mut verdicts, asked);
    }
    if let Some(calibration) = calibration.filter(|_| !recorded) {
        doubt_what_stands_alone(&mut verdicts, &calibration.corroboration);
    }
    causes_first(&mut verdicts);
    // Of two that are as likely, what healthy hosts show as well is the lesser reason.
    let rank = |v: &Verdict<'_>| (v.confidence, recorded || !v.healthy_too(), v.log_odds);
    verdicts.sort_by(|a, b| {
        rank(b)
            .partial_cmp(&rank(a))
            .unwrap_or(std::cmp::Ordering::Equal)
            .then_with(|| a.cause.class.cmp(&b.cause.class))
    });
    if let Some(calibration) = calibration.filter(|_| !recorded) {
        doubt_look_alikes(&mut verdicts, calibration.look_alikes.most);
    }
    verdicts
}

/// Lets confidences say how often such findings are right.
fn calibrate(verdicts: &mut [Verdict<'_>], line: &Line, parts: Option<&Line>, asked: &Asked<'_>) {
    for verdict in verdicts.iter_mut().filter(|v| !v.of_system) {
        verdict.confidence = line.at(verdict.confidence);
        if let Some(parts) = parts
            && let Some(part) = crate::share::figure(&verdict.cause.cpu, asked.facts)
        {
            verdict.confidence = verdict.confidence.min(parts.at(part));
        }
    }
}

/// Where signs leave a report's cause open, its words count: as one more sign of a cause that has some, and
/// as the only hint at one that has none.
fn add_words<'k>(verdicts: &mut Vec<Verdict<'k>>, knowledge: &'k Knowledge, asked: &Asked<'_>) {
    if asked.facts.evidence.text.is_empty()
        || asked.facts.has_samples()
        || verdicts.iter().any(|v| v.tells(SEEN) && !v.healthy_too())
    {
        return;
    }
    let of_words = &Calibration::embedded().words;
    let most = if complains(&asked.facts.evidence.said) {
        of_words.most_with_signs
    } else {
        of_words.without_complaint
    };
    for spoken in spoken(knowledge, asked) {
        let confidence = spoken.confidence;
        match verdicts.iter_mut().find(|v| v.cause.class == spoken.cause.class) {
            Some(verdict) => {
                // The share of what the signs leave open that words settle.
                let raised = verdict.confidence + (1.0 - verdict.confidence) * confidence;
                verdict.confidence = raised.min(most).max(verdict.confidence);
                verdict.of_system = false;
                verdict.words = spoken.words;
            }
            None => {
                let mut verdict = Verdict::of_words(spoken.cause, confidence, asked);
                verdict.words = spoken.words;
                verdicts.push(verdict);
            }
        }
    }
    // A setting that a report mentions while its words speak of something else.
    for verdict in verdicts.iter_mut().filter(|v| v.words.is_empty() && v.signs == 1 && v.measured == 0.0) {
        verdict.confidence = verdict.confidence.min(of_words.sign_without_words);
    }
}

/// A scrub or a resilver that runs is a fact, and seldom why somebody writes: he knows of it, or it is what he complains of.
fn doubt_what_was_asked_for(verdicts: &mut [Verdict<'_>]) {
    let most = Calibration::embedded().words.most_with_signs;
    for verdict in verdicts.iter_mut().filter(|v| v.healthy_too()) {
        verdict.confidence = verdict.confidence.min(most);
    }
}

/// What healthy hosts show as well is no cause of anything as long as nobody complains.
fn doubt_without_complaint(verdicts: &mut [Verdict<'_>], asked: &Asked<'_>) {
    let Evidence { text, said, .. } = asked.facts.evidence;
    let content = is_content(said);
    if text.is_empty() || complains(said) && !content {
        return;
    }
    let described = describes_only(said);
    let most = Calibration::embedded().words.without_complaint;
    // Who pastes the stacks of a host looks for something.
    let setting = |v: &Verdict| described && v.measured == 0.0 && !v.stacks;
    for verdict in verdicts.iter_mut().filter(|v| content || v.healthy_too() || setting(v)) {
        verdict.confidence = verdict.confidence.min(most);
    }
}

pub(crate) fn odds(log_odds: f64) -> f64 {
    log_odds.clamp(-20.0, 20.0).exp()
}

impl<'k> Verdict<'k> {
    fn of(cause: &'k Cause, asked: &Asked<'_>) -> Option<Verdict<'k>> {
        let rows = choose(cause, asked);
        let rows = rows.as_ref();
        let asked_by = |sign: &Sign| asked.for_sign(sign, rows);
        let truths: Vec<Truth> = cause.signs.iter().map(|s| s.when.truth(&*asked_by(s))).collect();
        let rules_out =
            |(sign, truth): (&Sign, &Truth)| *truth == Truth::No && sign.if_false == IfFalse::RulesOut;
        if cause.signs.iter().zip(&truths).any(rules_out) {
            return None;
        }
        let weights: Vec<f64> = cause
            .signs
            .iter()
            .zip(&truths)
            .map(|(sign, truth)| weigh(sign, *truth, &asked_by(sign)))
            .collect();
        let (mut log_odds, mut measured) = (PRIOR, 0.0);
        let (mut holding, mut kinds) = (0, Vec::new());
        let (mut counted, mut figures, mut of_system, mut carried) = (false, false, true, false);
        for (at, (sign, truth)) in cause.signs.iter().zip(&truths).enumerate() {
            if !is_strongest(at, cause, &weights) {
                continue;
            }
            let weight = weights[at];
            log_odds += weight;
            match truth {
                Truth::Yes => {
                    let asked = &*asked_by(sign);
                    if is_measured(&sign.when.queries, asked) {
                        measured += weight;
                        let qualities =
                            sign.when.queries.iter().filter_map(|q| asked.reading(*q)).map(|r| r.quality);
                        for quality in qualities {
                            counted |= quality == Quality::Counted;
                            figures |= quality == Quality::Figure;
                        }
                    }
                    if sign.weight != Weight::Weak {
                        holding += 1;
                        of_system &= tells_of_the_system(&sign.when.queries, asked);
                        carried |= carries(&sign.when.reasons(asked), asked);
                        kinds.extend(kinds_of(&sign.when.queries, asked));
                    }
                }
                Truth::No | Truth::Unknown => {}
            }
        }
        if holding == 0 {
            return None;
        }
        let holds = |i: &usize| {
            let sign = &cause.against[*i];
            sign.when.truth(&*asked_by(sign)) == Truth::Yes
        };
        let against: Vec<usize> = (0..cause.against.len()).filter(holds).collect();
        log_odds -= against.iter().map(|i| cause.against[*i].weight.when_true()).sum::<f64>();
        let stacks = kinds.contains(&Kind::Waiting);
        let host = asked.facts.evidence.host.zfs_version.as_deref();
        let fixed = cause.fixed_in.as_deref().zip(host).and_then(|(fix, host)| has_fix(fix, host));
        let fix_counts = fixed == Some(true) && !asks_for_release(cause, asked.bank);
        if fix_counts {
            log_odds += HAS_FIX;
        }
        kinds.sort_unstable();
        kinds.dedup();
        Some(Verdict {
            cause,
            rows: rows.cloned(),
            truths,
            against,
            log_odds,
            confidence: odds(log_odds) / (1.0 + odds(log_odds)),
            rules_out: Vec::new(),
            fixed,
            fix_counts,
            words: Vec::new(),
            measured,
            counted: counted && !figures,
            carried,
            signs: holding,
            kinds: kinds.len(),
            stacks,
            of_system,
        })
    }

    /// Whether it is worth showing for something that was seen.
    pub fn tells(&self, least: f64) -> bool {
        self.confidence >= least && !self.of_system
    }

    /// Whether more than words speak for it.
    pub(crate) fn has_signs(&self) -> bool {
        self.signs > 0
    }

    /// Whether healthy hosts show all that speaks for it, too, but for what makes it only a little likelier.
    fn healthy_too(&self) -> bool {
        let holds = |(sign, truth): &(&Sign, &Truth)| **truth == Truth::Yes && sign.weight != Weight::Weak;
        self.cause.signs.iter().zip(&self.truths).filter(holds).all(|(sign, _)| sign.healthy_too)
    }

    /// Of a cause that the names in the evidence belong to.
    pub fn of_topic(cause: &'k Cause, names: Vec<String>, asked: &Asked<'_>) -> Verdict<'k> {
        Verdict { words: names, ..Verdict::of_words(cause, TOPIC, asked) }
    }

    /// Of a cause that a report speaks of, without a sign that could be weighed.
    fn of_words(cause: &'k Cause, confidence: f64, asked: &Asked<'_>) -> Verdict<'k> {
        let rows = choose(cause, asked);
        let truth = |sign: &Sign| sign.when.truth(&*asked.for_sign(sign, rows.as_ref()));
        Verdict {
            cause,
            truths: cause.signs.iter().map(truth).collect(),
            rows,
            against: Vec::new(),
            log_odds: (confidence / (1.0 - confidence)).ln(),
            confidence,
            rules_out: Vec::new(),
            fixed: None,
            fix_counts: false,
            words: Vec::new(),
            measured: 0.0,
            counted: false,
            carried: false,
            signs: 0,
            kinds: 0,
            stacks: false,
            of_system: false,
        }
    }

    /// The most that the kind of evidence allows.
    fn limit(&self, asked: &Asked<'_>) -> f64 {
        let mut most = if self.of_system { SYSTEM_MOST } else { MOST };
        if self.measured < MEASURED {
            most = most.min(UNMEASURED_MOST);
            if self.signs == 1 || (self.measured == 0.0 && self.kinds == 1) {
                most = most.min(THIN_MOST);
            }
        }
        let cpu = &asked.facts.cpu;
        if cpu.busy > 0 && (self.counted || !self.cause.cpu.is_empty()) {
            // Forty samples make nobody sure, whatever they show.
            most = most.min(1.0 - FEW / cpu.sampling.samples_in(cpu.busy).sqrt());
        }
        if cpu.busy > 0 && !self.cause.cpu.is_empty() {
            let part = crate::share::samples(&self.cause.cpu, asked.facts) as f64;
            if part / (cpu.busy as f64) < MAIN {
                most = most.min(NOT_MAIN_MOST);
            }
            if part / (cpu.busy as f64) < MATERIAL || part / (cpu.all as f64) < MATERIAL_OF_ALL {
                most = most.min(IMMATERIAL_MOST);
            }
            if part / (cpu.busy as f64) < NEGLIGIBLE && !self.carried {
                most = most.min(NEGLIGIBLE_MOST);
            }
        }
        most.max(0.0)
    }
}

/// What a sign adds to the log-odds.
fn weigh(sign: &Sign, truth: Truth, asked: &Asked<'_>) -> f64 {
    match (truth, sign.if_false) {
        (Truth::Yes, _) => sign.weight.when_true() * solidity(&sign.when, asked.bank, asked),
        (Truth::No, IfFalse::Weakens) => sign.weight.when_false(),
        (Truth::No, _) | (Truth::Unknown, _) => 0.0,
    }
}

/// Whether none of the signs that show the same says more: one that holds, else the one that speaks most
/// against the cause; of equals the first.
fn is_strongest(at: usize, cause: &Cause, weights: &[f64]) -> bool {
    let says = |i: usize| (weights[i] > 0.0, weights[i].abs());
    let more = |i: usize| match says(i).partial_cmp(&says(at)) {
        Some(std::cmp::Ordering::Greater) => true,
        Some(std::cmp::Ordering::Equal) => i < at,
        _ => false,
    };
    let same = |i: usize| cause.signs[i].shows.iter().any(|group| cause.signs[at].shows.contains(group));
    !(0..weights.len()).any(|i| i != at && same(i) && more(i))
}

/// Whether any answer behind a condition is a figure rather than a name or a setting.
fn is_measured(queries: &[QueryId], asked: &Asked<'_>) -> bool {
    queries.iter().filter_map(|q| asked.reading(*q)).any(|r| r.quality <= Quality::Unclear)
}

/// Whether only the release, the kernel, the system or the CPU answered a condition.
fn tells_of_the_system(queries: &[QueryId], asked: &Asked<'_>) -> bool {
    let answered = queries.iter().filter(|q| asked.reading(**q).is_some());
    answered.filter_map(|q| asked.bank.get(*q)).all(|q| q.signature().family == Family::Host)
}

/// Whether something other than samples of the CPU is among the reasons why a condition holds: a wait, a
/// counter, the time of a thread, a setting.
fn carries(reasons: &[QueryId], asked: &Asked<'_>) -> bool {
    reasons.iter().any(|id| {
        let (Some(query), Some(reading)) = (asked.bank.get(*id), asked.reading(*id)) else { return false };
        let family = query.signature().family;
        family != Family::Host && (reading.quality != Quality::Counted || family == Family::Waits)
    })
}

/// Whether the cause weighs the release itself: its author knows more than the version of the fix.
fn asks_for_release(cause: &Cause, bank: &QueryBank) -> bool {
    let signs = cause.signs.iter().chain(&cause.against);
    let mut queries = signs.flat_map(|s| &s.when.queries).filter_map(|id| bank.get(*id));
    queries.any(|q| q.function == Function::ZfsVersion)
}

/// The kinds that answered the questions of a condition.
fn kinds_of<'a>(queries: &'a [QueryId], asked: &'a Asked<'_>) -> impl Iterator<Item = Kind> + 'a {
    let answered = queries.iter().filter(|q| asked.reading(**q).is_some());
    answered.filter_map(|q| asked.bank.get(*q)).map(|query| query.signature().family.kind())
}
