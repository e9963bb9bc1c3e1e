//! The causes' own texts, to look the words of a report up in.
//!
//! Two measures rank the causes, and their sum ranks better than either (docs/CALIBRATION.md, "Two measures of words").
//! BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009) looks at the stems of
//! the subject alone: a word counts the more the fewer causes have it. The cosine of term weights (Rocchio, "Relevance
//! feedback in information retrieval", 1971) looks at all of them: a cause is the mean direction of its texts, so what
//! people say of it counts as much as what explains it, and a long report is held against none.

use crate::condition::QueryBank;
use crate::knowledge::{Cause, Knowledge};
use crate::stems::{Counts, Said, stems};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// How fast a word that is repeated stops counting, and how much a long text is held against it; the
/// usual values of BM25.
const REPEATED: f64 = 1.2;
const LENGTH: f64 = 0.6;
/// A title says best what a cause is about, the first line of the answer next.
const OF_TITLE: f64 = 3.0;
const OF_WHY: f64 = 2.0;
/// Words that are shown.
const SHOWN: usize = 6;

/// How a report fits the causes, in their order.
pub struct Fits {
    /// Score of BM25: how much of a cause the report speaks of.
    pub spoken: Vec<f64>,
    /// Both measures together, each as a part of its best: 2 for the cause that is best by both. What ranks the causes.
    pub rank: Vec<f64>,
}

/// Weights of stems, together of length 1; in their order, so that sums are the same on every machine.
type Direction = BTreeMap<String, f64>;

/// What one cause's texts say.
struct Text {
    /// Times that each stem stands there, for BM25.
    stems: FxHashMap<String, f64>,
    length: f64,
    /// Mean direction of its texts.
    direction: Direction,
}

/// The texts of all causes, in their order.
pub struct Library {
    texts: Vec<Text>,
    /// Weight of a stem of the subject among causes, for BM25: the logarithm of how rare it is.
    rarity: FxHashMap<String, f64>,
    /// The same of every stem among all texts, for directions.
    weights: FxHashMap<String, f64>,
    mean_length: f64,
}

impl Library {
    pub fn of(knowledge: &Knowledge) -> Library {
        let told: Vec<[Counts; 2]> = knowledge.causes.iter().map(|c| told(c, &knowledge.bank)).collect();
        let weights = weights(told.iter().flatten());
        let texts: Vec<Text> = knowledge
            .causes
            .iter()
            .zip(&told)
            .map(|(cause, told)| Text::of(cause, &knowledge.bank, mean_direction(told, &weights)))
            .collect();
        let mut having: FxHashMap<String, f64> = FxHashMap::default();
        for stem in texts.iter().flat_map(|text| text.stems.keys()) {
            *having.entry(stem.clone()).or_default() += 1.0;
        }
        let own = own_words(knowledge);
        having.retain(|stem, _| own.contains(stem));
        let all = texts.len() as f64;
        let rarity = having.into_iter().map(|(stem, n)| (stem, (1.0 + (all - n + 0.5) / (n + 0.5)).ln()));
        let length: f64 = texts.iter().map(|text| text.length).sum();
        Library { rarity: rarity.collect(), mean_length: (length / all.max(1.0)).max(1.0), weights, texts }
    }

    /// How a report fits each cause.
    pub fn fits(&self, said: &Said) -> Fits {
        let spoken: Vec<f64> = self.texts.iter().map(|text| self.score(text, said)).collect();
        let report = direction(&said.counts, &self.weights);
        let like: Vec<f64> = self.texts.iter().map(|text| cosine(&report, &text.direction)).collect();
        let part = |of: &[f64], at: usize| match of.iter().copied().fold(0.0, f64::max) {
            0.0 => 0.0,
            best => of[at] / best,
        };
        Fits { rank: (0..spoken.len()).map(|at| part(&spoken, at) + part(&like, at)).collect(), spoken }
    }

    fn of_word(&self, text: &Text, stem: &str) -> f64 {
        let (Some(times), Some(rarity)) = (text.stems.get(stem), self.rarity.get(stem)) else { return 0.0 };
        let long = 1.0 - LENGTH + LENGTH * text.length / self.mean_length;
        rarity * times * (REPEATED + 1.0) / (times + REPEATED * long)
    }

    fn score(&self, text: &Text, said: &Said) -> f64 {
        said.words.iter().map(|(stem, _)| self.of_word(text, stem)).sum()
    }

    /// Words of a report that belong to a cause, the weightiest first.
    pub fn shared(&self, at: usize, said: &Said) -> Vec<String> {
        let mut shared: Vec<(f64, &String)> = said
            .words
            .iter()
            .map(|(stem, word)| (self.of_word(&self.texts[at], stem), word))
            .filter(|(w, _)| *w > 0.0)
            .collect();
        shared.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        let mut words: Vec<String> = Vec::new();
        for (_, word) in shared {
            if words.len() < SHOWN && !words.contains(word) {
                words.push(word.clone());
            }
        }
        words
    }
}

impl Text {
    fn of(cause: &Cause, bank: &QueryBank, direction: Direction) -> Text {
        let mut text = Text { stems: FxHashMap::default(), length: 0.0, direction };
        text.add(&cause.title, OF_TITLE);
        text.add(&cause.why, OF_WHY);
        for part in [&cause.explanation, &cause.act, &cause.class] {
            text.add(part, 1.0);
        }
        cause.said.iter().for_each(|phrase| text.add(&phrase.text, 1.0));
        for part in asked_for(cause, bank) {
            text.add(part, 1.0);
        }
        text
    }

    fn add(&mut self, words: &str, times: f64) {
        for (stem, _) in stems(words) {
            *self.stems.entry(stem).or_default() += times;
            self.length += times;
        }
    }
}

/// What a cause's signs claim and ask for.
fn asked_for<'k>(cause: &'k Cause, bank: &'k QueryBank) -> impl Iterator<Item = &'k str> {
    cause.signs.iter().flat_map(move |sign| {
        let queries = sign.when.queries.iter().filter_map(move |id| bank.get(*id));
        std::iter::once(sign.claim.as_str())
            .chain(queries.flat_map(|q| q.arguments.iter().map(String::as_str)))
    })
}

/// The two texts of a cause: what explains it and tells it, and what people say of it.
fn told(cause: &Cause, bank: &QueryBank) -> [Counts; 2] {
    let mut texts = [Counts::default(), Counts::default()];
    let [explained, said] = &mut texts;
    let add = |to: &mut Counts, words: &str| {
        stems(words).for_each(|(stem, _)| *to.entry(stem).or_default() += 1.0);
    };
    for part in [&cause.title, &cause.title, &cause.why, &cause.explanation, &cause.class] {
        add(explained, part);
    }
    asked_for(cause, bank).for_each(|part| add(explained, part));
    cause.said.iter().for_each(|phrase| add(said, &phrase.text));
    texts
}

/// How rare each stem is among texts; a text that is empty is none.
fn weights<'t>(texts: impl Iterator<Item = &'t Counts>) -> FxHashMap<String, f64> {
    let (mut having, mut all): (FxHashMap<&str, f64>, f64) = (FxHashMap::default(), 0.0);
    for text in texts.filter(|text| !text.is_empty()) {
        all += 1.0;
        text.keys().for_each(|stem| *having.entry(stem).or_default() += 1.0);
    }
    having.into_iter().map(|(stem, n)| (stem.to_owned(), ((1.0 + all) / (1.0 + n)).ln() + 1.0)).collect()
}

/// The direction of a text; repeated words count by the logarithm of how often.
fn direction(counts: &Counts, weights: &FxHashMap<String, f64>) -> Direction {
    let weighed = counts
        .iter()
        .filter_map(|(stem, n)| weights.get(stem).map(|weight| (stem.clone(), (1.0 + n.ln()) * weight)));
    of_length_1(weighed.collect())
}

fn mean_direction(texts: &[Counts], weights: &FxHashMap<String, f64>) -> Direction {
    let mut sum = Direction::default();
    for text in texts {
        direction(text, weights).into_iter().for_each(|(stem, x)| *sum.entry(stem).or_default() += x);
    }
    of_length_1(sum)
}

fn of_length_1(mut direction: Direction) -> Direction {
    let length = direction.values().map(|x| x * x).sum::<f64>().sqrt();
    if length > 0.0 {
        direction.values_mut().for_each(|x| *x /= length);
    }
    direction
}

fn cosine(a: &Direction, b: &Direction) -> f64 {
    a.iter().filter_map(|(stem, x)| b.get(stem).map(|y| x * y)).sum()
}

/// Stems of the subject: what titles, classes and phrases say and signs ask for. Of an explanation's other words
/// (`else`, `big`, `processes`) some are rare among causes and say nothing all the same.
fn own_words(knowledge: &Knowledge) -> FxHashSet<String> {
    let mut own = FxHashSet::default();
    let mut add = |text: &str| own.extend(stems(text).map(|(stem, _)| stem));
    for cause in &knowledge.causes {
        [&cause.title, &cause.class].into_iter().for_each(|text| add(text));
        cause.said.iter().for_each(|phrase| add(&phrase.text));
        for query in cause.signs.iter().flat_map(|s| &s.when.queries).filter_map(|id| knowledge.bank.get(*id))
        {
            query.arguments.iter().for_each(|argument| add(argument));
        }
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(knowledge: &Knowledge, text: &str) -> String {
        let fits = Library::of(knowledge).fits(&Said::of(text));
        let best = (0..fits.rank.len()).max_by(|a, b| fits.rank[*a].total_cmp(&fits.rank[*b]));
        knowledge.causes[best.expect("causes")].class.clone()
    }

    #[test]
    fn what_explains_a_cause_and_what_people_say_of_it_both_find_it() {
        let knowledge = Knowledge::embedded();
        for cause in knowledge.causes.iter().step_by(10) {
            assert_eq!(first(&knowledge, &format!("{} {}", cause.title, cause.explanation)), cause.class);
        }
        assert_eq!(
            first(&knowledge, "sanoid takes an hour to list all snapshots"),
            "zfs-list-per-snapshot-properties"
        );
    }

    #[test]
    fn a_report_without_a_known_word_fits_nothing() {
        let fits = Library::of(&Knowledge::embedded()).fits(&Said::of("qwertz uiopq 1234"));
        assert!(fits.rank.iter().chain(&fits.spoken).all(|fit| *fit == 0.0));
    }

    #[test]
    fn the_best_by_both_measures_has_2_and_none_has_more() {
        let knowledge = Knowledge::embedded();
        let scrub = knowledge.causes.iter().position(|c| c.class == "scrub-running").expect("a cause");
        let fits =
            Library::of(&knowledge).fits(&Said::of("scrub scrub_speed dsl_scan_visitbp pool scrub issued"));
        assert!(fits.rank.iter().all(|rank| (0.0..=2.0).contains(rank)));
        assert_eq!(fits.rank[scrub], 2.0);
    }

    #[test]
    fn words_that_are_shown_are_those_of_the_cause() {
        let knowledge = Knowledge::embedded();
        let scrub = knowledge.causes.iter().position(|c| c.class == "scrub-running").expect("a cause");
        let shared = Library::of(&knowledge).shared(scrub, &Said::of("that a scrub"));
        assert_eq!(shared.first().map(String::as_str), Some("scrub"));
    }
}
