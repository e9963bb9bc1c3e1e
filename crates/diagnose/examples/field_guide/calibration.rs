//! How often a confidence was right: curve, Brier score, expected calibration error, and a fit beside them.

use std::path::Path;
use zwhy_diagnose::{Calibration, Finding, Knowledge, Options, PhraseFit, ShareOf, explain};
use zwhy_evidence::Evidence;

/// Ends of the bins of confidence; the first holds cases for which nothing was found.
const BINS: [f64; 8] = [0.0, 0.12, 0.3, 0.5, 0.6, 0.7, 0.85, 1.0];

/// Kinds of evidence in a case.
const KINDS: [&str; 7] = super::KEPT;

/// The first finding of one report or case.
struct Answered {
    /// As it is shown.
    confidence: f64,
    /// What the signs give by themselves.
    by_signs: f64,
    right: bool,
    /// Established cause; `None` where nobody knows.
    class: Option<String>,
    /// Where it was written: cases of one thread stay together.
    source: String,
    rests: Rests,
    /// Phrases of the cause that the report says.
    phrases: Vec<String>,
    /// How the report fits the cause by all of its words, where a phrase names it.
    fit: Option<PhraseFit>,
}

/// What a first finding rests on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rests {
    Nothing,
    Signs,
    SignsAndWords,
    Phrase,
    Words,
}

/// First findings of one confidence.
#[derive(Clone, Copy, Default)]
struct Bin {
    cases: u64,
    right: u64,
    sum: f64,
    /// Cases without an established cause.
    unknown: u64,
}

/// Tables of the cases below `folder`, with one kind of evidence at a time, and of the raw reports that
/// `reports` (a folder with `list.tsv` and one text each) has of one `half`.
pub fn calibration(folder: &Path, reports: Option<(&Path, &str)>, knowledge: &Knowledge) {
    let whole = cases(folder, knowledge, false);
    println!("All evidence of a case:\n");
    table(&whole);
    println!("\nOne kind of evidence of a case at a time, where it has several:\n");
    table(&cases(folder, knowledge, true));
    let mut all = whole;
    if let Some((reports, half)) = reports {
        let asked = raw_reports(reports, half, knowledge);
        println!("\nReports as they were written ({half}):\n");
        table(&asked);
        println!("\nBy what the first finding rests on:\n");
        grounds(&asked);
        phrases_by_fit(&asked);
        all.extend(asked);
    }
    fit(&all);
}

fn answered(evidence: &Evidence, class: Option<&str>, source: &str, knowledge: &Knowledge) -> Answered {
    let first = |calibrated| {
        let options = Options {
            calibrated,
            least_confidence: if calibrated { 0.12 } else { 0.0 },
            ..Options::default()
        };
        explain(evidence, knowledge, &options).findings.into_iter().next()
    };
    let shown = first(true);
    // What the signs say of the finding that is shown first.
    let by_signs = first(false).filter(|f| shown.as_ref().is_some_and(|s| s.class == f.class));
    let cause = shown.as_ref().and_then(|f| knowledge.cause(&f.class));
    let phrases: Vec<String> =
        cause.into_iter().flat_map(|c| c.phrases_in(&evidence.said)).map(str::to_owned).collect();
    let rests = shown.as_ref().map_or(Rests::Nothing, |f| rests(f, !phrases.is_empty()));
    let fit = (rests == Rests::Phrase)
        .then(|| PhraseFit::in_text(knowledge, &shown.as_ref()?.class, &evidence.text))
        .flatten();
    Answered {
        confidence: shown.as_ref().map_or(0.0, |f| f.confidence),
        by_signs: by_signs.map_or(0.0, |f| f.confidence),
        right: shown.is_some_and(|f| class.is_some_and(|class| class.split('/').any(|one| one == f.class))),
        class: class.map(str::to_owned),
        source: source.to_owned(),
        rests,
        phrases,
        fit,
    }
}

fn rests(finding: &Finding, phrase: bool) -> Rests {
    let words = finding.evidence.iter().any(|e| e.source == "words");
    let signs = finding.evidence.iter().any(|e| e.source != "words");
    match (signs, words) {
        (_, false) => Rests::Signs,
        (true, true) => Rests::SignsAndWords,
        (false, true) if phrase => Rests::Phrase,
        (false, true) => Rests::Words,
    }
}

/// How often first findings are right by what they rest on. A phrase may have been written for the report that
/// says it: so they are counted again without those right ones none of whose phrases is right of another report.
fn grounds(asked: &[Answered]) {
    println!(
        "| rests on | reports | named right | 95 % | mean confidence | elsewhere right, too |\n|---|--:|--:|---|--:|--:|"
    );
    let known: Vec<&Answered> = asked.iter().filter(|a| a.class.is_some()).collect();
    let elsewhere = |a: &Answered| {
        known
            .iter()
            .any(|b| b.right && b.source != a.source && b.phrases.iter().any(|p| a.phrases.contains(p)))
    };
    for (rests, name) in [
        (Rests::Signs, "signs alone"),
        (Rests::SignsAndWords, "signs and words"),
        (Rests::Phrase, "a phrase"),
        (Rests::Words, "single words"),
        (Rests::Nothing, "silent"),
    ] {
        let of: Vec<&&Answered> = known.iter().filter(|a| a.rests == rests).collect();
        let right = of.iter().filter(|a| a.right).count();
        let kept: Vec<&&&Answered> =
            of.iter().filter(|a| !a.right || a.phrases.is_empty() || elsewhere(a)).collect();
        let share = ShareOf::counted(right as u64, of.len() as u64);
        let mean = of.iter().map(|a| a.confidence).sum::<f64>() / of.len().max(1) as f64;
        println!(
            "| {name} | {} | {right} ({:.0} %) | {:.0}–{:.0} % | {mean:.2} | {} of {} |",
            of.len(),
            share.value * 100.0,
            share.low * 100.0,
            share.high * 100.0,
            kept.iter().filter(|a| a.right).count(),
            kept.len(),
        );
    }
}

/// Reports that a share of few is drawn towards the share of all: as by so many more of them.
const DRAWN_BY: f64 = 4.0;

/// How often a phrase named the cause, by how the other words fit, and what that makes of one number for all.
fn phrases_by_fit(asked: &[Answered]) {
    let named: Vec<&Answered> = asked.iter().filter(|a| a.class.is_some() && a.fit.is_some()).collect();
    println!("\nFirst findings that a phrase names, by how the report's other words fit the cause:\n");
    println!(
        "| words | reports | named right | 95 % | drawn to the share of all | told |\n|---|--:|--:|---|--:|--:|"
    );
    for (fit, name) in [
        (PhraseFit::Well, "fit no cause better, much of it"),
        (PhraseFit::Little, "fit no cause better, little of it"),
        (PhraseFit::Other, "fit another cause better"),
    ] {
        let of = named.iter().filter(|a| a.fit == Some(fit));
        let (n, right) = (of.clone().count(), of.filter(|a| a.right).count());
        let share = ShareOf::counted(right as u64, n as u64);
        println!(
            "| {name} | {n} | {right} | {:.0}–{:.0} % | {:.2} | {:.2} |",
            share.low * 100.0,
            share.high * 100.0,
            drawn(&named, Some(fit)),
            Calibration::embedded().words.phrase(fit),
        );
    }
    let left_out = |by_fit: bool| {
        brier(named.iter().map(|a| {
            let rest: Vec<&Answered> = named.iter().copied().filter(|b| b.source != a.source).collect();
            (drawn(&rest, a.fit.filter(|_| by_fit)), a.right)
        }))
    };
    println!(
        "\nBrier score: told {:.3}; one number for all, each report left out in turn {:.3}; by fit, likewise {:.3}.",
        brier(named.iter().map(|a| (a.confidence, a.right))),
        left_out(false),
        left_out(true),
    );
}

/// The share that was right of those with this fit, drawn towards the share of all; without a fit the latter.
fn drawn(of: &[&Answered], fit: Option<PhraseFit>) -> f64 {
    let right = |these: &[&Answered]| these.iter().filter(|a| a.right).count() as f64;
    let base = right(of) / of.len().max(1) as f64;
    let these: Vec<&Answered> = of.iter().copied().filter(|a| fit.is_some() && a.fit == fit).collect();
    (right(&these) + DRAWN_BY * base) / (these.len() as f64 + DRAWN_BY)
}

fn cases(folder: &Path, knowledge: &Knowledge, apart: bool) -> Vec<Answered> {
    let mut all = Vec::new();
    for (part, solved) in [("cases", true), ("unresolved", false)] {
        for entry in std::fs::read_dir(folder.join(part)).into_iter().flatten().flatten() {
            let kinds: Vec<&str> =
                KINDS.into_iter().filter(|kind| super::case_of(&entry.path(), &[*kind]).is_some()).collect();
            let parts: Vec<Vec<&str>> = match apart {
                true if kinds.len() > 1 => kinds.iter().map(|kind| vec![*kind]).collect(),
                true => Vec::new(),
                false => vec![KINDS.to_vec()],
            };
            let source = entry.file_name().to_string_lossy().into_owned();
            for (evidence, class, _) in parts.iter().filter_map(|kept| super::case_of(&entry.path(), kept)) {
                all.push(answered(&evidence, solved.then_some(&class), &source, knowledge));
            }
        }
    }
    all
}

/// `list.tsv` has id, link, kind, class (or several with `/` where the report cannot tell them apart), who, half; a
/// class of `unknown` is one that nobody knows. A half of `all` is every one.
fn raw_reports(folder: &Path, half: &str, knowledge: &Knowledge) -> Vec<Answered> {
    let list = std::fs::read_to_string(folder.join("list.tsv")).unwrap_or_default();
    let rows = list.lines().skip(1).map(|line| line.split('\t').collect::<Vec<_>>());
    let mut all = Vec::new();
    for row in rows.filter(|row| row.len() >= 6 && (row[5] == half || half == "all")) {
        let Ok(text) = std::fs::read_to_string(folder.join(format!("{}.txt", row[0]))) else { continue };
        let evidence = super::paste(&text).unwrap_or_default();
        let class = (row[3] != "unknown").then_some(row[3]);
        all.push(answered(&evidence, class, row[1], knowledge));
    }
    all
}

fn table(answered: &[Answered]) {
    let mut bins = [Bin::default(); BINS.len()];
    for a in answered {
        let bin = &mut bins[BINS.iter().position(|end| a.confidence <= *end).unwrap_or(BINS.len() - 1)];
        if a.class.is_none() {
            bin.unknown += 1;
            continue;
        }
        bin.cases += 1;
        bin.right += u64::from(a.right);
        bin.sum += a.confidence;
    }
    println!("| confidence | cases | mean confidence | named right | 95 % | nobody knows |");
    println!("|---|--:|--:|--:|---|--:|");
    for (i, bin) in bins.iter().enumerate() {
        let from = if i == 0 { "nothing found".to_owned() } else { format!("{}–{}", BINS[i - 1], BINS[i]) };
        if bin.cases == 0 {
            println!("| {from} | 0 | | | | {} |", bin.unknown);
            continue;
        }
        let share = ShareOf::counted(bin.right, bin.cases);
        let (mean, pct) = (bin.sum / bin.cases as f64, share.value * 100.0);
        let range = format!("{:.0}–{:.0} %", share.low * 100.0, share.high * 100.0);
        println!(
            "| {from} | {} | {mean:.2} | {} ({pct:.0} %) | {range} | {} |",
            bin.cases, bin.right, bin.unknown
        );
    }
    let known: Vec<&Answered> = answered.iter().filter(|a| a.class.is_some()).collect();
    let of = known.len().max(1) as f64;
    let shown = |a: &&Answered| (a.confidence, a.right);
    let off = bins.iter().map(|b| (b.sum - b.right as f64).abs()).sum::<f64>() / of;
    println!(
        "\nFirst right: {} of {}. Brier score of the first finding: {:.3}. Expected calibration error: {off:.3}.",
        known.iter().filter(|a| a.right).count(),
        known.len(),
        brier(known.iter().map(shown)),
    );
}

fn brier(all: impl Iterator<Item = (f64, bool)>) -> f64 {
    let (mut sum, mut n) = (0.0, 0.0_f64);
    for (p, right) in all {
        sum += (p - f64::from(u8::from(right))).powi(2);
        n += 1.0;
    }
    sum / n.max(1.0)
}

/// Two numbers: `logit(right) = a + b * logit(by signs)`.
#[derive(Clone, Copy)]
struct Logistic {
    a: f64,
    b: f64,
}

fn logit(p: f64) -> f64 {
    let p = p.clamp(0.02, 0.98);
    (p / (1.0 - p)).ln()
}

impl Logistic {
    fn at(self, p: f64) -> f64 {
        1.0 / (1.0 + (-(self.a + self.b * logit(p))).exp())
    }

    /// Largest likelihood by Newton's steps; held to the identity as by one case of each kind.
    fn fit(of: &[&Answered]) -> Logistic {
        const STEPS: usize = 50;
        const HELD: f64 = 1.0;
        let mut line = Logistic { a: 0.0, b: 1.0 };
        for _ in 0..STEPS {
            let (mut ga, mut gb) = (-HELD * line.a, -HELD * (line.b - 1.0));
            let (mut haa, mut hab, mut hbb) = (HELD, 0.0, HELD);
            for a in of {
                let (x, p) = (logit(a.by_signs), line.at(a.by_signs));
                let (rest, weight) = (f64::from(u8::from(a.right)) - p, p * (1.0 - p));
                ga += rest;
                gb += rest * x;
                haa += weight;
                hab += weight * x;
                hbb += weight * x * x;
            }
            let determinant = haa * hbb - hab * hab;
            line.a += (hbb * ga - hab * gb) / determinant;
            line.b += (haa * gb - hab * ga) / determinant;
        }
        line
    }
}

/// The fit of a logistic to findings that rest on signs, cross-validated, beside the line in use.
fn fit(all: &[Answered]) {
    let of: Vec<&Answered> =
        all.iter().filter(|a| a.class.is_some() && a.by_signs >= 0.12 && a.rests == Rests::Signs).collect();
    if of.len() < 10 {
        return;
    }
    let line = Logistic::fit(&of);
    println!("\nLogistic fit to {} findings by signs: a = {:.2}, b = {:.2}.\n", of.len(), line.a, line.b);
    println!("| by signs | fitted | line in use |\n|--:|--:|--:|");
    for p in [0.15, 0.25, 0.35, 0.5, 0.65, 0.8, 0.95] {
        println!("| {p:.2} | {:.2} | {:.2} |", line.at(p), Calibration::embedded().reports.at(p));
    }
    println!(
        "\nBrier score: as the signs say {:.3}, line in use {:.3}",
        brier(of.iter().map(|a| (a.by_signs, a.right))),
        brier(of.iter().map(|a| (a.confidence, a.right)))
    );
    let by_class = |a: &Answered| a.class.clone().unwrap_or_default();
    for (what, score) in
        [("class", left_out(&of, by_class)), ("source", left_out(&of, |a: &Answered| a.source.clone()))]
    {
        println!("Brier score of the fit, each {what} left out in turn: {score:.3}");
    }
}

/// Brier score of fits that have not seen the group they are asked for.
fn left_out(of: &[&Answered], group: impl Fn(&Answered) -> String) -> f64 {
    let asked = of.iter().map(|a| {
        let rest: Vec<&Answered> = of.iter().copied().filter(|b| group(b) != group(a)).collect();
        (Logistic::fit(&rest).at(a.by_signs), a.right)
    });
    brier(asked)
}
