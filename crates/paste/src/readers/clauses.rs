//! The statements that a line of prose makes, and which of them are of this host and of now.

use crate::words::WORDS;

/// Parts of a line that make one statement each.
pub fn clauses(text: &str) -> impl Iterator<Item = &str> {
    let text = text.trim().trim_start_matches(['*', '-', '•', ' ', '|']);
    text.split(['!', ';']).flat_map(|part| part.split(". "))
}

/// A question, advice, a condition, a comparison, or another time.
pub fn is_hedged(clause: &str) -> bool {
    let lower = clause.to_ascii_lowercase();
    let words: Vec<&str> = lower.split(|c: char| c.is_whitespace() || matches!(c, ',' | '(' | ')')).collect();
    let hedges = |at: usize| {
        let word = words[at].trim_matches(['.', ':', '"']);
        word.ends_with("n't")
            || word.ends_with("n’t")
            || WORDS.hedges.has(word) && !(word == "from" && names_a_source(&words[at + 1..]))
    };
    clause.contains('?') || clause.contains("http") || (0..words.len()).any(hedges)
}

/// `ZFS 2.1.0 from zfsonlinux.org repo`, `from backports`: where it was got, not what it was before.
fn names_a_source(behind: &[&str]) -> bool {
    const SOURCES: [&str; 9] =
        ["repo", "repos", "repository", "backports", "ppa", "git", "source", "packages", "elrepo"];
    behind
        .iter()
        .take(3)
        .any(|word| SOURCES.contains(word) || word.ends_with(".org") || word.ends_with("-backports"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_its_statements() {
        let of = |text| clauses(text).map(str::trim).collect::<Vec<_>>();
        assert_eq!(of("* atime is off. It is slow; very"), ["atime is off", "It is slow", "very"]);
        assert_eq!(of("zfs 2.1.5 here"), ["zfs 2.1.5 here"], "a version is no end");
    }

    #[test]
    fn what_may_not_be_of_this_host_is_hedged() {
        for text in [
            "is recordsize=1M good?",
            "you should set it",
            "It isn’t set",
            "faster than 2.1",
            "It WAS, (before)",
        ] {
            assert!(is_hedged(text), "{text}");
        }
        assert!(!is_hedged("recordsize is 1M and the pool is slow"));
        assert!(!is_hedged("ZFS 2.1.0 from zfsonlinux.org repo on CentOS 8"));
        assert!(is_hedged("recordsize was raised from 16K to 1M"));
    }
}
