//! Which causes a report speaks of, by its words: a rank for what no sign can weigh.
//!
//! The words of the report are looked up in the causes' own texts and in the names that their signs ask
//! for (`library.rs`); a phrase of a cause (`said.rs`) raises it. Words are no measurement. They rank candidates
//! and are never more than a hint; samples are not asked for words, as they say themselves what there is.

use crate::asked::Asked;
use crate::calibration::Calibration;
use crate::complaint::complains;
use crate::knowledge::{Cause, Knowledge};
use crate::library::{Fits, Library};
use crate::stems::Said;
use crate::topic::speaks_against;

/// Below this score a report and a cause share ordinary words only: four words that every second cause has.
const ENOUGH: f64 = 10.0;
/// From this score on a report speaks of a cause at some length: three times what makes a candidate.
const MUCH: f64 = 3.0 * ENOUGH;
/// What a phrase of a cause adds to its rank, of which 2 is the most.
const PHRASE: f64 = 0.2;
/// Part of the best rank from which a cause is still a candidate.
const NEAR: f64 = 0.6;

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
    let said = Said::of(&asked.facts.evidence.text);
    if said.words.is_empty() {
        return Vec::new();
    }
    let of_words = &Calibration::embedded().words;
    let library = Library::of(knowledge);
    let fits = library.fits(&said);
    let heard = heard(knowledge, &asked.facts.evidence.said);
    let of = |at: usize| fits.rank[at] + if heard[at].is_some() { PHRASE } else { 0.0 };
    let best = fits.rank.iter().copied().fold(0.0, f64::max);
    let enough =
        |at: &usize| heard[*at].is_some() || fits.spoken[*at] >= ENOUGH && fits.rank[*at] >= NEAR * best;
    let mut ranked: Vec<usize> = (0..knowledge.causes.len()).filter(enough).collect();
    ranked.sort_by(|a, b| of(*b).total_cmp(&of(*a)).then(a.cmp(b)));
    // Asked one after the other, as three are enough.
    let mut possible =
        ranked.into_iter().filter(|at| !speaks_against(&knowledge.causes[*at], asked)).peekable();
    let Some(first) = possible.peek().copied() else { return Vec::new() };
    // Without a complaint, or without a sentence at all, words say little whatever they are.
    let most = if complains(&asked.facts.evidence.said) { 1.0 } else { of_words.without_complaint };
    let confidences: Vec<f64> = match &heard[first] {
        Some(_) => {
            let fit = of_words.phrase(PhraseFit::of(first, &fits));
            std::iter::once(fit).chain(of_words.phrase_after.iter().copied()).collect()
        }
        None => of_words.single.clone(),
    };
    // The confidences come first, so that no cause is asked for beyond them.
    confidences
        .into_iter()
        .map(|confidence| confidence.min(most))
        .zip(possible)
        .map(|(confidence, at)| {
            let words = heard[at].clone().unwrap_or_else(|| library.shared(at, &said));
            Spoken { cause: &knowledge.causes[at], confidence, words }
        })
        .collect()
}

/// Of each cause the words of the report that are a phrase of it: of the longest one that is said.
fn heard(knowledge: &Knowledge, text: &str) -> Vec<Option<Vec<String>>> {
    let words = crate::said::words(&crate::prose::prose(text));
    let of = |cause: &Cause| {
        let phrases = cause.said.iter().filter_map(|p| p.heard(&words).map(|words| (p.parts(), words)));
        phrases.max_by_key(|(parts, _)| *parts).map(|(_, words)| words)
    };
    knowledge.causes.iter().map(of).collect()
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
    fn of(at: usize, fits: &Fits) -> PhraseFit {
        if fits.rank.iter().any(|other| *other > fits.rank[at]) {
            PhraseFit::Other
        } else if fits.spoken[at] >= MUCH {
            PhraseFit::Well
        } else {
            PhraseFit::Little
        }
    }

    /// Of a cause of this class and a report's text; `None` for a class that there is not.
    pub fn in_text(knowledge: &Knowledge, class: &str, text: &str) -> Option<PhraseFit> {
        let at = knowledge.causes.iter().position(|cause| cause.class == class)?;
        Some(PhraseFit::of(at, &Library::of(knowledge).fits(&Said::of(text))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{Answer, CONFIDENT};
    use crate::explain::{Options, explain};
    use zwhy_evidence::Evidence;
    use zwhy_profile::{Event, FrameKind};

    fn asked(text: &str) -> Answer {
        let evidence = Evidence { text: text.to_owned(), said: text.to_owned(), ..Evidence::default() };
        explain(&evidence, &Knowledge::embedded(), &Options::default())
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
        let (class, confidence) = first("zfs list of snapshots takes minutes as each is read");
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
        let mut evidence = Evidence { text: text.to_owned(), said: text.to_owned(), ..Evidence::default() };
        let profile = &mut evidence.profile;
        let frame = profile.frame("zfs_read", "zfs", FrameKind::Kernel);
        let (stack, thread) = (profile.stack(&[frame]), profile.thread(1, 1, "fio"));
        profile.samples.push_counted(thread, stack, Event::Cpu, 1000);
        let answer = explain(&evidence, &Knowledge::embedded(), &Options::default());
        assert!(answer.findings.iter().all(|f| f.evidence.iter().all(|e| e.source != "words")));
    }
}
