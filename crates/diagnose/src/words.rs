//! Which causes a report speaks of, by its words: a rank for what no sign can weigh.
//!
//! The words of the report are looked up in the causes' own texts and in the names that their signs ask
//! for, with the weights of BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and
//! Beyond", 2009): a word counts the more the fewer causes have it, and the less the longer a text is.
//! Words are no measurement. They rank candidates and are never more than a hint; samples are not asked
//! for words, as they say themselves what there is.

use crate::asked::Asked;
use crate::calibration::Calibration;
use crate::condition::QueryBank;
use crate::knowledge::{Cause, Knowledge};
use crate::topic::speaks_against;
use rustc_hash::{FxHashMap, FxHashSet};

/// How fast a word that is repeated stops counting, and how much a long text is held against it; the
/// usual values of BM25.
const REPEATED: f64 = 1.2;
const LENGTH: f64 = 0.6;
/// A title says best what a cause is about, the first line of the answer next.
const OF_TITLE: f64 = 3.0;
const OF_WHY: f64 = 2.0;
/// Below this score a report and a cause share ordinary words only: four words that every second cause has.
const ENOUGH: f64 = 10.0;
/// From this score on a report speaks of a cause at some length: three times what makes a candidate.
const MUCH: f64 = 3.0 * ENOUGH;
/// Part of the best score from which a cause is still a candidate.
const NEAR: f64 = 0.6;
/// Shorter words are articles and units.
const SHORTEST: usize = 3;
/// Parts of a name (`z_wr_int`) that are words by themselves have this length.
const SHORTEST_PART: usize = 4;
/// A stem has this length at least.
const SHORTEST_STEM: usize = 4;
/// Different words of a report that are looked at; longer ones are no report of a person.
const MOST_WORDS: usize = 4000;
/// Words that are shown.
const SHOWN: usize = 6;

/// A cause that a report speaks of.
#[derive(Clone, Debug)]
pub struct Spoken<'k> {
    pub cause: &'k Cause,
    /// How often such words name the cause.
    pub confidence: f64,
    /// Words of the report that belong to it, the weightiest first.
    pub words: Vec<String>,
}

/// The causes that fit best by words, at most three; none where the report says too little.
pub fn spoken<'k>(knowledge: &'k Knowledge, asked: &Asked<'_>) -> Vec<Spoken<'k>> {
    let said = said(&asked.facts.evidence.text);
    if said.is_empty() {
        return Vec::new();
    }
    let single = &Calibration::embedded().words.single;
    let library = Library::of(knowledge);
    let scores: Vec<f64> = library.texts.iter().map(|text| library.score(text, &said)).collect();
    let possible = |at: &usize| !speaks_against(&knowledge.causes[*at], asked);
    let mut spoken = by_phrases(knowledge, asked, &scores, possible);
    let mut ranked: Vec<(usize, f64)> = scores.into_iter().enumerate().collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let best = ranked.first().map_or(0.0, |(_, score)| *score);
    let near = ranked.into_iter().filter(|(_, score)| *score >= ENOUGH.max(NEAR * best)).map(|(at, _)| at);
    let of_words: Vec<usize> = near
        .filter(|at| spoken.iter().all(|s| s.cause.class != knowledge.causes[*at].class))
        .filter(possible)
        .take(single.len())
        .collect();
    for at in of_words {
        let Some(confidence) = single.get(spoken.len()) else { break };
        let words = library.shared(&library.texts[at], &said);
        spoken.push(Spoken { cause: &knowledge.causes[at], confidence: *confidence, words });
    }
    spoken
}

/// The causes of whose phrases the report says one, those first that fit by all of its words: three words that stand
/// near each other weigh less than what the rest speaks of.
fn by_phrases<'k>(
    knowledge: &'k Knowledge,
    asked: &Asked<'_>,
    scores: &[f64],
    possible: impl Fn(&usize) -> bool,
) -> Vec<Spoken<'k>> {
    let of_words = &Calibration::embedded().words;
    let words = crate::said::words(&crate::prose::prose(&asked.facts.evidence.text));
    let mut heard: Vec<(usize, usize, Vec<String>)> = Vec::new();
    for (at, cause) in knowledge.causes.iter().enumerate() {
        let phrases = cause.said.iter().filter_map(|p| p.heard(&words).map(|words| (p.parts(), words)));
        if let Some((parts, words)) = phrases.max_by_key(|(parts, _)| *parts) {
            heard.push((at, parts, words));
        }
    }
    heard.sort_by(|a, b| scores[b.0].total_cmp(&scores[a.0]).then(b.1.cmp(&a.1)).then(a.0.cmp(&b.0)));
    heard.retain(|(at, _, _)| possible(at));
    let first = heard.first().map(|(at, _, _)| of_words.phrase(PhraseFit::of(*at, scores)));
    let ranked = heard.into_iter().zip(first.into_iter().chain(of_words.phrase_after.iter().copied()));
    ranked
        .map(|((at, _, words), confidence)| Spoken { cause: &knowledge.causes[at], confidence, words })
        .collect()
}

/// How a report whose words include a phrase of a cause fits that cause by all of its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhraseFit {
    /// No cause fits better, and there is much of it.
    Well,
    /// No cause fits better, but there is little of it.
    Little,
    /// The words speak more of another cause.
    Other,
}

impl PhraseFit {
    fn of(at: usize, scores: &[f64]) -> PhraseFit {
        match scores[at] {
            own if scores.iter().any(|other| *other > own) => PhraseFit::Other,
            own if own >= MUCH => PhraseFit::Well,
            _ => PhraseFit::Little,
        }
    }

    /// Of a cause of this class and a report's text; `None` for a class that there is not.
    pub fn in_text(knowledge: &Knowledge, class: &str, text: &str) -> Option<PhraseFit> {
        let at = knowledge.causes.iter().position(|cause| cause.class == class)?;
        let (library, said) = (Library::of(knowledge), said(text));
        let scores: Vec<f64> = library.texts.iter().map(|text| library.score(text, &said)).collect();
        Some(PhraseFit::of(at, &scores))
    }
}

/// How often a cause's texts have each stem.
struct Text {
    stems: FxHashMap<String, f64>,
    length: f64,
}

impl Text {
    fn of(cause: &Cause, bank: &QueryBank) -> Text {
        let mut text = Text { stems: FxHashMap::default(), length: 0.0 };
        text.add(&cause.title, OF_TITLE);
        text.add(&cause.why, OF_WHY);
        for part in [&cause.explanation, &cause.act, &cause.class] {
            text.add(part, 1.0);
        }
        cause.said.iter().for_each(|phrase| text.add(&phrase.text, 1.0));
        for sign in &cause.signs {
            text.add(&sign.claim, 1.0);
            for query in sign.when.queries.iter().filter_map(|id| bank.get(*id)) {
                query.arguments.iter().for_each(|argument| text.add(argument, 1.0));
            }
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

/// The texts of all causes, in their order.
struct Library {
    texts: Vec<Text>,
    /// Weight of a stem: the logarithm of how rare it is.
    rarity: FxHashMap<String, f64>,
    mean_length: f64,
}

impl Library {
    fn of(knowledge: &Knowledge) -> Library {
        let texts: Vec<Text> = knowledge.causes.iter().map(|c| Text::of(c, &knowledge.bank)).collect();
        let mut having: FxHashMap<String, f64> = FxHashMap::default();
        for stem in texts.iter().flat_map(|text| text.stems.keys()) {
            *having.entry(stem.clone()).or_default() += 1.0;
        }
        let own = own_words(knowledge);
        having.retain(|stem, _| own.contains(stem));
        let all = texts.len() as f64;
        let rarity = having.into_iter().map(|(stem, n)| (stem, (1.0 + (all - n + 0.5) / (n + 0.5)).ln()));
        let length: f64 = texts.iter().map(|text| text.length).sum();
        Library { rarity: rarity.collect(), mean_length: (length / all.max(1.0)).max(1.0), texts }
    }

    fn of_word(&self, text: &Text, stem: &str) -> f64 {
        let (Some(times), Some(rarity)) = (text.stems.get(stem), self.rarity.get(stem)) else { return 0.0 };
        let long = 1.0 - LENGTH + LENGTH * text.length / self.mean_length;
        rarity * times * (REPEATED + 1.0) / (times + REPEATED * long)
    }

    fn score(&self, text: &Text, said: &Said) -> f64 {
        said.iter().map(|(stem, _)| self.of_word(text, stem)).sum()
    }

    fn shared(&self, text: &Text, said: &Said) -> Vec<String> {
        let mut shared: Vec<(f64, &String)> = said
            .iter()
            .map(|(stem, word)| (self.of_word(text, stem), word))
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

/// Stems with the first word that had each.
type Said = Vec<(String, String)>;

/// What the report says, each stem once.
fn said(text: &str) -> Said {
    let mut seen = FxHashSet::default();
    let mut said: Said = Vec::new();
    for (stem, word) in stems(&crate::prose::prose(text)) {
        if said.len() < MOST_WORDS && seen.insert(stem.clone()) {
            said.push((stem, word));
        }
    }
    said
}

/// Words of a text with their stems, in small letters; a name is whole and in parts.
fn stems(text: &str) -> impl Iterator<Item = (String, String)> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|word| word.len() >= SHORTEST && !is_figure(word)).flat_map(|word| {
        let word = word.to_lowercase();
        let parts: Vec<String> = match word.contains('_') {
            true => word.split('_').filter(|p| p.len() >= SHORTEST_PART).map(str::to_owned).collect(),
            false => Vec::new(),
        };
        let whole = if parts.is_empty() && !word.contains('_') { stem(&word) } else { word.clone() };
        let parts = parts.into_iter().map(|part| (stem(&part), part));
        std::iter::once((whole, word)).chain(parts).collect::<Vec<_>>()
    })
}

/// Counts, addresses and checksums.
fn is_figure(word: &str) -> bool {
    let hex = word.strip_prefix("0x").unwrap_or(word);
    word.bytes().all(|b| b.is_ascii_digit())
        || (hex.len() >= 8 || hex.len() < word.len()) && hex.bytes().all(|b| b.is_ascii_hexdigit())
}

/// A word without its ending: `deleting`, `deleted` and `deletes` are one.
fn stem(word: &str) -> String {
    const ENDINGS: [&str; 9] = ["ations", "ation", "ings", "ing", "ied", "ies", "ed", "es", "s"];
    let cut = ENDINGS.iter().filter_map(|e| word.strip_suffix(e)).find(|rest| rest.len() >= SHORTEST_STEM);
    cut.unwrap_or(word).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{Answer, CONFIDENT};
    use crate::explain::{Options, explain};
    use zwhy_evidence::Evidence;
    use zwhy_profile::{Event, FrameKind};

    fn asked(text: &str) -> Answer {
        let evidence = Evidence { text: text.to_owned(), ..Evidence::default() };
        explain(&evidence, &Knowledge::embedded(), &Options::default())
    }

    #[test]
    fn words_have_one_stem() {
        let stems = |text: &str| stems(text).map(|(stem, _)| stem).collect::<Vec<_>>();
        assert_eq!(stems("deleting deleted Deletes"), ["delet", "delet", "delet"]);
        assert_eq!(
            stems("z_wr_int, txg_sync; 123 0xffff88 ffffffff81284e2d"),
            ["z_wr_int", "txg_sync", "sync"]
        );
        assert_eq!(stems("arc a is his"), ["arc", "his"]);
    }

    #[test]
    fn a_report_in_words_gets_the_candidates_that_fit_and_what_tells_them_apart() {
        let answer = asked(
            "Listing snapshots is slow: zfs list -t snapshot of one dataset with thousands of snapshots takes minutes.",
        );
        assert_eq!(answer.findings[0].class, "zfs-list-per-snapshot-properties");
        assert!(answer.findings.len() <= 3 && answer.findings[0].confidence < CONFIDENT);
        assert_eq!(answer.findings[0].evidence[0].source, "words");
        assert!(answer.why.contains("Too little evidence"), "{}", answer.why);
        assert!(answer.act.is_some_and(|act| act.starts_with("Measure first")));
    }

    #[test]
    fn a_phrase_says_more_where_the_other_words_speak_of_the_same() {
        let words = &Calibration::embedded().words;
        let first = |text: &str| {
            let answer = asked(text);
            (answer.findings[0].class.clone(), answer.findings[0].confidence)
        };
        let long = "Listing snapshots is slow: zfs list -t snapshot -o name,used,creation of one dataset with \
                    thousands of snapshots takes minutes, as the properties of each snapshot are read from disk; \
                    sorting by name alone is fast, and strace shows ZFS_IOC_OBJSET_STATS for every snapshot";
        let (class, confidence) = first(long);
        assert_eq!(
            (class.as_str(), confidence),
            ("zfs-list-per-snapshot-properties", words.phrase_fits_well)
        );
        let (class, confidence) = first("zfs list -t snapshot takes minutes");
        assert_eq!(
            (class.as_str(), confidence),
            ("zfs-list-per-snapshot-properties", words.phrase_fits_little)
        );
    }

    #[test]
    fn all_words_tell_how_a_report_fits_a_cause() {
        let knowledge = Knowledge::embedded();
        let text = "While a scrub runs everything is slow. It is not the scrub: rrw teardown lock \
                    z_teardown_lock contention of many readers in zfs_enter on one cache line of the lock.";
        let fit = |class: &str| PhraseFit::in_text(&knowledge, class, text);
        assert_eq!(fit("rrw-teardown-lock-contention"), Some(PhraseFit::Well));
        assert_eq!(fit("scrub-running"), Some(PhraseFit::Other));
        assert_eq!(fit("nothing-of-the-kind"), None);
    }

    #[test]
    fn ordinary_words_are_no_hint() {
        for text in ["it is slow", "zfs is slow here, please help", "the server has two disks and a pool", ""]
        {
            assert!(asked(text).findings.is_empty(), "{text}");
        }
    }

    #[test]
    fn samples_speak_for_themselves() {
        let text = "zfs list -t snapshot takes minutes with thousands of snapshots";
        let mut evidence = Evidence { text: text.to_owned(), ..Evidence::default() };
        let profile = &mut evidence.profile;
        let frame = profile.frame("zfs_read", "zfs", FrameKind::Kernel);
        let (stack, thread) = (profile.stack(&[frame]), profile.thread(1, 1, "fio"));
        profile.samples.push_counted(thread, stack, Event::Cpu, 1000);
        let answer = explain(&evidence, &Knowledge::embedded(), &Options::default());
        assert!(answer.findings.iter().all(|f| f.evidence.iter().all(|e| e.source != "words")));
    }
}
