//! Whether somebody complains: of a host that does its work there is nothing to explain, whatever its words are about.

use crate::prose::prose;
use crate::said::words;

/// Beginnings of words for something that is not as it should be.
const COMPLAINTS: [&str; 78] = [
    "abysmal",
    "ages",
    "awful",
    "bad",
    "bottleneck",
    "bug",
    "burn",
    "cannot",
    "collaps",
    "complain",
    "contention",
    "consum",
    "crash",
    "crawl",
    "deadlock",
    "degrad",
    "drops",
    "dropped",
    "dropping",
    "eating",
    "eats",
    "excess",
    "exhaust",
    "expected",
    "fail",
    "fell",
    "forever",
    "freez",
    "frozen",
    "grind",
    "halt",
    "hang",
    "hiccup",
    "hog",
    "horribl",
    "hours",
    "huge",
    "hung",
    "instead",
    "issue",
    "kills",
    "killed",
    "killer",
    "lag",
    "leak",
    "livelock",
    "long",
    "maxed",
    "minutes",
    "oom",
    "only",
    "painful",
    "panic",
    "pegged",
    "poor",
    "problem",
    "regress",
    "saturat",
    "slow",
    "sluggish",
    "spik",
    "spin",
    "stall",
    "starv",
    "storm",
    "strange",
    "stuck",
    "stutter",
    "suffer",
    "takes",
    "terribl",
    "thrash",
    "timeout",
    "took",
    "trouble",
    "unresponsive",
    "unusable",
    "worse",
];
/// Words that take a complaint back: `no problem`, `nothing slow`, `without any trouble`.
const DENIALS: [&str; 8] = ["no", "not", "nothing", "never", "without", "none", "zero", "nobody"];
/// A sentence has this many words.
const SENTENCE: usize = 5;
/// How far before the complaint they stand.
const BEFORE: usize = 3;

/// Whether a text that a person wrote complains of something.
pub fn complains(said: &str) -> bool {
    let words = words(said);
    let is_denial = |word: &String| DENIALS.contains(&word.as_str()) || word == "t";
    (0..words.len()).any(|at| {
        COMPLAINTS.iter().any(|complaint| words[at].starts_with(complaint))
            && !words[at.saturating_sub(BEFORE)..at].iter().any(is_denial)
    })
}

/// Whether a text has sentences, and none that complains.
pub fn describes_only(said: &str) -> bool {
    words(&prose(said)).len() >= SENTENCE && !complains(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_is_one_unless_it_is_denied() {
        for text in [
            "zfs list is very slow here",
            "It hangs, and no, the disks are fine",
            "Reads take ages",
            "snapshots took 40 minutes",
        ] {
            assert!(complains(text), "{text}");
        }
        for text in [
            "Routine check before the upgrade, nothing is wrong, users are happy",
            "No problems seen; it isn't slow",
            "The DDT fits in RAM several times over.",
            "",
        ] {
            assert!(!complains(text), "{text}");
        }
    }
}
