//! The words of a text without their endings, which is what reports and causes are compared by.

use rustc_hash::FxHashMap;

/// Shorter words are articles and units.
const SHORTEST: usize = 3;
/// Parts of a name (`z_wr_int`) that are words by themselves have this length.
const SHORTEST_PART: usize = 4;
/// A stem has this length at least.
const SHORTEST_STEM: usize = 4;
/// Different words of a report that are looked at; longer ones are no report of a person.
const MOST_WORDS: usize = 4000;

/// How often a text has each stem.
pub type Counts = FxHashMap<String, f64>;

/// What a report says.
pub struct Said {
    /// Each stem once, with the first word that had it, in the order of the report.
    pub words: Vec<(String, String)>,
    /// How often each of them stands there.
    pub counts: Counts,
}

impl Said {
    /// Of a report's text, without what tools printed.
    pub fn of(text: &str) -> Said {
        let (mut words, mut counts) = (Vec::new(), Counts::default());
        for (stem, word) in stems(&crate::prose::prose(text)) {
            match counts.get_mut(&stem) {
                Some(count) => *count += 1.0,
                None if words.len() < MOST_WORDS => {
                    counts.insert(stem.clone(), 1.0);
                    words.push((stem, word));
                }
                None => {}
            }
        }
        Said { words, counts }
    }
}

/// Words of a text with their stems, in small letters; a name is whole and in parts.
pub fn stems(text: &str) -> impl Iterator<Item = (String, String)> {
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
    fn a_report_says_each_stem_once_and_how_often() {
        let said = Said::of("Scrubs, a scrub, scrubbing txg_sync");
        let stems: Vec<&str> = said.words.iter().map(|(stem, _)| stem.as_str()).collect();
        assert_eq!(stems, ["scrub", "scrubb", "txg_sync", "sync"]);
        assert_eq!((said.counts["scrub"], said.counts["scrubb"]), (2.0, 1.0));
    }
}
