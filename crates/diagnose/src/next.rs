//! What to measure next: what a cause still lacks, and what tells several apart.

use crate::answer::CONFIDENT;
use crate::asked::Asked;
use crate::condition::Truth;
use crate::knowledge::{Knowledge, Sign};
use crate::score::Verdict;
use crate::wording;

/// Commands or sentences named under "next", at most.
const NEXT: usize = 3;
/// Candidates that a measurement is asked to tell apart.
const CANDIDATES: usize = 3;

/// The evidence that is missing, weightiest first, and how to tell it from what looks alike.
pub fn next_steps(
    verdict: &Verdict<'_>,
    all: &[Verdict<'_>],
    knowledge: &Knowledge,
    asked: &Asked<'_>,
) -> Vec<String> {
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
    for sign in missing(verdict) {
        add(way(sign, knowledge, &asked.for_sign(sign, verdict.rows.as_ref())), &mut next);
    }
    next
}

/// Signs that the evidence does not decide, the weightiest first.
fn missing<'v>(verdict: &'v Verdict<'_>) -> Vec<&'v Sign> {
    let signs = verdict.cause.signs.iter().zip(&verdict.truths);
    let mut missing: Vec<&Sign> = signs.filter(|(_, t)| **t == Truth::Unknown).map(|(s, _)| s).collect();
    missing.sort_by(|a, b| b.weight.when_true().total_cmp(&a.weight.when_true()));
    missing
}

/// How to get what a sign needs; empty where nothing can be named.
fn way(sign: &Sign, knowledge: &Knowledge, asked: &Asked<'_>) -> String {
    if !sign.ask.is_empty() {
        return sign.ask.clone();
    }
    let unknown = sign.when.unanswered(asked);
    unknown.and_then(|id| knowledge.bank.get(id)).map(wording::how_to_get).unwrap_or_default()
}

/// The one measurement that tells most about the likeliest causes, and what each would show in it.
///
/// Of all ways to get what is missing, the one with the largest sum of weights over the candidates,
/// each counted by its weightiest sign.
pub fn separating(verdicts: &[Verdict<'_>], knowledge: &Knowledge, asked: &Asked<'_>) -> Option<String> {
    struct Way<'v> {
        text: String,
        weight: f64,
        /// Title and claim of each candidate that would show something there.
        shows: Vec<(&'v str, &'v str)>,
    }
    let mut ways: Vec<Way> = Vec::new();
    for verdict in verdicts.iter().take(CANDIDATES) {
        let mut seen: Vec<String> = Vec::new();
        for sign in missing(verdict) {
            let way = way(sign, knowledge, &asked.for_sign(sign, verdict.rows.as_ref()));
            if way.is_empty() || seen.contains(&way) {
                continue;
            }
            seen.push(way.clone());
            let shows = (verdict.cause.title.as_str(), sign.claim.as_str());
            let weight = sign.weight.when_true();
            match ways.iter_mut().find(|w| w.text == way) {
                Some(same) => {
                    same.weight += weight;
                    same.shows.push(shows);
                }
                None => ways.push(Way { text: way, weight, shows: vec![shows] }),
            }
        }
    }
    // Of equals the first: it belongs to the likelier cause.
    let best =
        ways.into_iter().reduce(|best, other| if other.weight > best.weight { other } else { best })?;
    let top = verdicts.first()?.cause.title.as_str();
    let shown = best.shows.iter().take(2).map(|(title, claim)| {
        let who = if *title == top { "the first".to_owned() } else { format!("“{title}”") };
        format!("{who} would show: {}", lower(claim))
    });
    let shown = shown.collect::<Vec<_>>().join("; ");
    let text = format!("{} ({shown})", best.text.trim_end_matches('.'));
    Some(text + ".")
}

/// A claim inside a sentence: `A stack shows …` begins small, `CCM functions …` stays.
fn lower(claim: &str) -> String {
    let claim = claim.trim_end_matches('.');
    let mut chars = claim.chars();
    match (chars.next(), chars.next()) {
        (Some(first), Some(second)) if first.is_uppercase() && !second.is_uppercase() && second != '_' => {
            first.to_lowercase().collect::<String>() + &claim[first.len_utf8()..]
        }
        _ => claim.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_fit_into_sentences() {
        assert_eq!(lower("A stack shows it."), "a stack shows it");
        assert_eq!(lower("CCM functions are there."), "CCM functions are there");
        assert_eq!(lower(""), "");
    }
}
