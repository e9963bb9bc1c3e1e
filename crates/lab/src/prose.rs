//! Data like text that people write: words of several lengths, few of them common and most of them rare.

use crate::plan::SplitMix;

const WORDS: usize = 8192;
/// Letters about as often as English has them.
const LETTERS: &[u8] =
    b"eeeeeeeeeeeeetttttttttaaaaaaaaooooooooiiiiiiinnnnnnnsssssshhhhhhrrrrrrddddlllluuucccmmmwwffggyyppbbvk";

/// So many bytes of it; gzip-6 makes about two fifths of them.
pub fn prose(random: &mut SplitMix, bytes: usize) -> Vec<u8> {
    let words: Vec<Vec<u8>> = (0..WORDS).map(|_| word(random)).collect();
    let mut text = Vec::with_capacity(bytes + words.len());
    while text.len() < bytes {
        // Zipf's law: a word is as rare as its number is high.
        let part = (random.next() >> 11) as f64 / (1_u64 << 53) as f64;
        let number = (WORDS as f64).powf(part) as usize - 1;
        text.extend_from_slice(&words[number.min(WORDS - 1)]);
        text.extend_from_slice(match random.next() % 16 {
            0 => b".\n",
            1 => b", ",
            _ => b" ",
        });
    }
    text.truncate(bytes);
    text
}

/// Two to nine letters.
fn word(random: &mut SplitMix) -> Vec<u8> {
    let length = 2 + random.next() % 4 + random.next() % 5;
    (0..length).map(|_| LETTERS[(random.next() % LETTERS.len() as u64) as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn few_words_are_common_and_most_are_rare() {
        let text = prose(&mut SplitMix(1), 1 << 20);
        assert_eq!(text.len(), 1 << 20);
        assert_eq!(text, prose(&mut SplitMix(1), 1 << 20));
        let text = String::from_utf8(text).unwrap();
        let mut often: BTreeMap<&str, u32> = BTreeMap::new();
        for word in text.split([' ', ',', '.', '\n']).filter(|word| !word.is_empty()) {
            *often.entry(word).or_default() += 1;
        }
        let mut counts: Vec<u32> = often.into_values().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let all: u32 = counts.iter().sum();
        let common: u32 = counts[..100].iter().sum();
        assert!(counts.len() > WORDS / 2, "{} words", counts.len());
        assert!((0.4..0.65).contains(&(f64::from(common) / f64::from(all))), "{common} of {all}");
    }
}
