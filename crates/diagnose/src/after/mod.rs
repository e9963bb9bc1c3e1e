//! Did it help? Two recordings, one from before a change and one from after it, compared by what was found,
//! what the work cost and what was set otherwise.
//!
//! Invariant: no verdict where the two are not comparable; every doubt is said.

mod answer;
mod cost;
mod doubts;
mod findings;
mod promise;
mod settings;
mod words;

#[cfg(test)]
mod tests;

pub use answer::{
    AfterAnswer, Cost, Difference, Doubt, FindingChange, Kept, Outcome, Promise, Seen, SettingChange, State,
    Times, Work,
};
pub use cost::Done;
pub use words::{change as change_words, figure as figure_words, rate as rate_words};

use crate::answer::{Answer, SCHEMA};
use crate::classify::Classified;
use crate::facts::FactBase;
use crate::knowledge::Knowledge;
use std::borrow::Cow;
use zwhy_evidence::Evidence;

/// One of the two recordings, explained.
pub struct Side<'a> {
    pub evidence: &'a Evidence,
    pub classified: &'a Classified,
    pub answer: Answer,
    /// What the load itself counted, where that is known from elsewhere.
    pub done: Option<Done>,
}

const NOTE: &str = "Intervals are 95 %: of how many samples there are and how unevenly they fell over the \
    recording. That two runs of the same load differ is not in them; where it matters, record each side twice.";

/// Whether the change between the two helped. Pure, as [`crate::explain`] is.
pub fn did_it_help(before: &Side<'_>, after: &Side<'_>, knowledge: &Knowledge) -> AfterAnswer {
    let sides = [before, after];
    let bases = sides.map(|s| FactBase::with(s.evidence, &knowledge.anatomy, Cow::Borrowed(s.classified)));
    let facts = [&bases[0], &bases[1]];
    let done = [0, 1].map(|side: usize| sides[side].done.or_else(|| cost::told(facts[side])));
    let work = cost::work(facts, done);
    let sources = sides.map(|s| &s.answer.source);
    let mut answer = AfterAnswer {
        zwhy: env!("CARGO_PKG_VERSION").to_owned(),
        schema: SCHEMA,
        outcome: Outcome::CannotTell,
        verdict: String::new(),
        before: sources[0].clone(),
        after: sources[1].clone(),
        findings: findings::findings(sides, facts, knowledge),
        cost: cost::cost(facts, sources, work.as_ref()),
        settings: settings::settings(before.evidence, after.evidence),
        doubts: doubts::doubts(sides, facts, work.as_ref()),
        promise: None,
        work,
        note: NOTE.to_owned(),
    };
    answer.outcome = words::outcome(&answer);
    answer.promise = promise::promise(&before.answer, &answer);
    answer.verdict = words::verdict(&answer);
    answer
}
