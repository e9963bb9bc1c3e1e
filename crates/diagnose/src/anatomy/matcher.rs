//! From a function name to what the anatomy knows of it: exact names by hash, prefixes by one
//! binary search.

use rustc_hash::FxHashMap;

/// Exact names and prefixes, each with a value; an exact name wins, then the longest prefix.
#[derive(Clone, Debug)]
pub struct NameMap<T> {
    exact: FxHashMap<String, T>,
    /// Sorted; `parent` is the longest other prefix that this one starts with.
    prefixes: Vec<Prefix<T>>,
}

#[derive(Clone, Debug)]
struct Prefix<T> {
    text: String,
    value: T,
    parent: Option<usize>,
}

impl<T: Copy> NameMap<T> {
    /// Builds from `(pattern, value)`; a pattern ends in `*` or is an exact name. Of two equal
    /// patterns the first stays.
    pub fn new(patterns: impl IntoIterator<Item = (String, T)>) -> NameMap<T> {
        let mut exact = FxHashMap::default();
        let mut prefixes: Vec<Prefix<T>> = Vec::new();
        for (pattern, value) in patterns {
            match pattern.strip_suffix('*') {
                Some(head) => prefixes.push(Prefix { text: head.to_owned(), value, parent: None }),
                None => {
                    exact.entry(pattern).or_insert(value);
                }
            }
        }
        prefixes.sort_by(|a, b| a.text.cmp(&b.text));
        prefixes.dedup_by(|later, first| later.text == first.text);
        for i in 1..prefixes.len() {
            let mut at = Some(i - 1);
            while let Some(k) = at {
                if prefixes[i].text.starts_with(&prefixes[k].text) {
                    break;
                }
                at = prefixes[k].parent;
            }
            prefixes[i].parent = at;
        }
        NameMap { exact, prefixes }
    }

    pub fn get(&self, name: &str) -> Option<T> {
        if let Some(value) = self.exact.get(name) {
            return Some(*value);
        }
        // Every prefix of `name` is a prefix of the greatest entry that is not after `name`.
        let mut at = self.prefixes.partition_point(|p| p.text.as_str() <= name).checked_sub(1);
        while let Some(i) = at {
            let prefix = &self.prefixes[i];
            if name.starts_with(&prefix.text) {
                return Some(prefix.value);
            }
            at = prefix.parent;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn exact_wins_then_the_longest_prefix() {
        let map = NameMap::new([
            ("zio_*".to_owned(), 1),
            ("zio_crypt_*".to_owned(), 2),
            ("zio_crypt_key".to_owned(), 3),
            ("zil_*".to_owned(), 4),
        ]);
        assert_eq!(map.get("zio_crypt_key"), Some(3));
        assert_eq!(map.get("zio_crypt_key_wrap"), Some(2));
        assert_eq!(map.get("zio_cryptic"), Some(1));
        assert_eq!((map.get("zil_"), map.get("zi"), map.get("")), (Some(4), None, None));
    }

    proptest! {
        #[test]
        fn finds_what_a_plain_search_finds(
            patterns in proptest::collection::vec("[ab]{0,4}\\*?", 0..12),
            name in "[abc]{0,6}",
        ) {
            let map = NameMap::new(patterns.iter().cloned().zip(0usize..));
            let plain = patterns.iter().position(|p| *p == name).or_else(|| {
                let fits = |p: &str| p.strip_suffix('*').filter(|h| name.starts_with(h)).map(str::len);
                let longest = patterns.iter().filter_map(|p| fits(p)).max()?;
                patterns.iter().position(|p| fits(p) == Some(longest))
            });
            prop_assert_eq!(map.get(&name), plain);
        }
    }
}
