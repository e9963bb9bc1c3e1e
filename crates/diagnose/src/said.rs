//! What people say of a cause before anybody has measured: a few words that stand near each other.
//!
//! A phrase lists what has to be said, in any order: `snapshot* list|listing minutes|slow`. Each part is a word,
//! several of which one is enough (`|`), words that follow one another (`sync+disabled`), or the beginning of a
//! word (`snapshot*`); `@slow` and `@cpu` are the many words for that. Parts count where they stand within [`NEAR`] words: a report that speaks of snapshots at
//! its top and of a list at its end says nothing of listing snapshots.

use crate::knowledge::Cause;
use std::sync::{Arc, LazyLock};

/// Words within which all parts of a phrase have to stand: some three sentences.
const NEAR: usize = 50;
/// Words of a report that are read; longer ones are no report of a person.
const MOST_WORDS: usize = 30_000;
/// Fewer parts fit too many reports.
const FEWEST_PARTS: usize = 2;

/// Words that take back the word before which they stand: `no dedup`.
const NO: [&str; 4] = ["no", "not", "without", "never"];
/// Words that take back what stands before them, up to so many words away: `atime is off`, `scrub speed is normal`.
const TAKEN_BACK: [(&str, usize); 6] =
    [("disabled", 2), ("off", 2), ("normal", 3), ("fine", 3), ("ok", 3), ("okay", 3)];

/// Words for the same complaint, by their name in a phrase.
const GROUPS: [(&str, &str); 2] = [
    (
        "@slow",
        "slow*|hang*|hung|stall*|freez*|frozen|unresponsive|crawl*|long|longer|minutes|hours|forever|ages|eternity|\
         terribl*|poor*|abysmal|lag*|block*|stuck|degrad*|unusable|latency|latencies|throttl*|bottleneck*|worse|seconds|\
         performance|painful*|delay*|lock*|timeout*|timed+out|time+out|times+out|pause*|sluggish|creep*|weeks|stutter*|spike*|\
         hiccup*|snail*|horribl*|awful*|dismal|halt*|grind*",
    ),
    ("@cpu", "cpu|cpus|load|core|cores|100|spin*|pegged|saturat*|hot"),
];

/// The groups ready for use: nearly every phrase has one.
static WHOLE_GROUPS: LazyLock<[(&str, Alternatives); 2]> =
    LazyLock::new(|| GROUPS.map(|(name, words)| (name, alternatives(words))));

impl Cause {
    /// The phrases of this cause that a text says, as they are written in its file.
    pub fn phrases_in(&self, text: &str) -> Vec<&str> {
        let words = words(text);
        self.said.iter().filter(|p| p.heard(&words).is_some()).map(|p| p.text.as_str()).collect()
    }
}

/// What has to be said, in any order.
#[derive(Clone, Debug)]
pub struct Phrase {
    /// As it is written in the cause's file.
    pub text: String,
    parts: Vec<Alternatives>,
}

/// Words that follow one another.
type Run = Vec<Word>;

/// Runs of which one has to stand; phrases share those of the groups.
type Alternatives = Arc<[Run]>;

#[derive(Clone, Debug)]
struct Word {
    text: String,
    /// Whether it is the beginning of a word.
    begins: bool,
}

impl Word {
    fn is(&self, word: &str) -> bool {
        if self.begins { word.starts_with(&self.text) } else { word == self.text }
    }
}

impl Phrase {
    /// # Errors
    /// A sentence that says what is wrong with the phrase.
    pub fn read(text: &str) -> Result<Phrase, String> {
        let bad = |word: &Word| {
            word.text.is_empty() || word.text.chars().any(|c| c.is_ascii_uppercase() || !is_word(c))
        };
        let of = |part: &str| {
            // Nothing is wrong in those, and they are long.
            if let Some((_, runs)) = WHOLE_GROUPS.iter().find(|(name, _)| *name == part) {
                return Ok(runs.clone());
            }
            let runs = match part.contains('@') {
                true => alternatives(
                    &GROUPS.iter().fold(part.to_owned(), |part, (name, words)| part.replace(name, words)),
                ),
                false => alternatives(part),
            };
            match runs.iter().flatten().any(bad) {
                true => Err(format!(
                    "`{text}`: words are in small letters, with `|`, `+` and `*` at the end alone"
                )),
                false => Ok(runs),
            }
        };
        let parts: Vec<Alternatives> = text.split_whitespace().map(of).collect::<Result<_, String>>()?;
        if parts.len() < FEWEST_PARTS {
            return Err(format!("`{text}`: one word fits too many reports"));
        }
        Ok(Phrase { text: text.to_owned(), parts })
    }

    /// How much has to be said for it.
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// The words that say it, in their order; `None` where a part is missing or stands too far away.
    pub fn heard(&self, words: &[String]) -> Option<Vec<String>> {
        let mut hits: Vec<(usize, usize)> = Vec::new();
        for (part, runs) in self.parts.iter().enumerate() {
            let at = (0..words.len()).filter(|at| runs.iter().any(|run| self.stands(run, words, *at)));
            let before = hits.len();
            hits.extend(at.map(|at| (at, part)));
            if hits.len() == before {
                return None;
            }
        }
        hits.sort_unstable();
        let (mut from, mut counts, mut missing) = (0, vec![0_usize; self.parts.len()], self.parts.len());
        for to in 0..hits.len() {
            let count = &mut counts[hits[to].1];
            missing -= usize::from(*count == 0);
            *count += 1;
            while hits[to].0 - hits[from].0 > NEAR {
                counts[hits[from].1] -= 1;
                missing += usize::from(counts[hits[from].1] == 0);
                from += 1;
            }
            if missing == 0 {
                return Some(first_of_each(&hits[from..=to], self.parts.len(), words));
            }
        }
        None
    }

    /// Whether the words stand at this place and nothing takes them back, unless the phrase asks for that itself.
    fn stands(&self, run: &Run, words: &[String], at: usize) -> bool {
        let asks_for =
            |word: &str| self.parts.iter().flat_map(|runs| runs.iter()).flatten().any(|own| own.is(word));
        let after = &words[words.len().min(at + run.len())..];
        let no = || words[..at].last().is_some_and(|word| NO.contains(&word.as_str()) && !asks_for(word));
        let taken_back = || {
            let mut those = TAKEN_BACK.iter().filter(|(word, _)| !asks_for(word));
            those.any(|(word, within)| after.iter().take(*within).any(|said| said == word))
        };
        stands(run, &words[at..]) && !no() && !taken_back()
    }
}

/// The last word of each part within the hits: the nearest ones, in the order of the text.
fn first_of_each(hits: &[(usize, usize)], parts: usize, words: &[String]) -> Vec<String> {
    let mut at: Vec<usize> = (0..parts)
        .filter_map(|part| hits.iter().rev().find(|(_, p)| *p == part))
        .map(|(at, _)| *at)
        .collect();
    at.sort_unstable();
    at.dedup();
    at.into_iter().map(|at| words[at].clone()).collect()
}

fn alternatives(part: &str) -> Alternatives {
    part.split('|').map(|run| run.split('+').map(word).collect()).collect()
}

fn word(text: &str) -> Word {
    match text.strip_suffix('*') {
        Some(text) => Word { text: text.to_owned(), begins: true },
        None => Word { text: text.to_owned(), begins: false },
    }
}

fn stands(run: &Run, words: &[String]) -> bool {
    run.len() <= words.len() && run.iter().zip(words).all(|(word, said)| word.is(said))
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The words of a text, in small letters and in their order.
pub fn words(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !is_word(c)).filter(|word| !word.is_empty());
    parts.take(MOST_WORDS).map(str::to_ascii_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(phrase: &str, text: &str) -> Option<String> {
        Phrase::read(phrase).unwrap().heard(&words(text)).map(|words| words.join(" "))
    }

    #[test]
    fn all_parts_are_said_in_any_order() {
        let phrase = "snapshot* list|listing minutes|slow";
        assert_eq!(heard(phrase, "Slow: to list 900 snapshots.").as_deref(), Some("slow list snapshots"));
        assert_eq!(heard(phrase, "a list of snapshots"), None);
        assert_eq!(heard(phrase, ""), None);
    }

    #[test]
    fn words_that_follow_one_another_and_beginnings() {
        assert_eq!(heard("sync+disabled nfs", "over NFS; with sync=disabled").as_deref(), Some("nfs sync"));
        assert_eq!(heard("sync+disabled nfs", "over NFS; disabled, then sync"), None);
        assert_eq!(heard("list slow", "listing is slow"), None, "a word is whole without a star");
    }

    #[test]
    fn parts_that_stand_far_apart_say_nothing() {
        let far = |n: usize| format!("snapshots {} list", "and ".repeat(n));
        assert!(heard("snapshot* list", &far(NEAR - 1)).is_some());
        assert!(heard("snapshot* list", &far(NEAR)).is_none());
        let again = format!("list snapshots {} snapshots", "and ".repeat(NEAR * 2));
        assert!(heard("snapshot* list", &again).is_some(), "any two that are near");
    }

    #[test]
    fn what_is_taken_back_is_not_said() {
        let phrase = "scrub*|dedup|atime slow";
        for text in
            ["slow, scrub speed is normal", "slow with no dedup", "slow; atime=off", "slow (dedup disabled)"]
        {
            assert_eq!(heard(phrase, text), None, "{text}");
        }
        assert!(heard(phrase, "slow with dedup; compression is off").is_some());
        assert!(heard("sync+disabled slow", "slow unless sync=disabled").is_some(), "the phrase asks for it");
    }

    #[test]
    fn what_fits_everything_or_nothing_is_refused() {
        for bad in ["", "slow", "Slow list", "slow li*st", "slow ||list", "slow a++b", "slow *"] {
            assert!(Phrase::read(bad).is_err(), "{bad}");
        }
    }
}
