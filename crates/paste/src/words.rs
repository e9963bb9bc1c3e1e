//! The lists of `knowledge/words.toml`, by which sentences and reports are told; what each list is stands there.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// All lists.
pub static WORDS: LazyLock<Words> =
    LazyLock::new(|| toml::from_str(include_str!("../words.toml")).unwrap_or_default());

/// Words, or beginnings or ends of some.
#[derive(Debug, Default, Deserialize, PartialEq)]
pub struct List(Vec<String>);

impl List {
    pub fn has(&self, word: &str) -> bool {
        self.0.iter().any(|own| own == word)
    }

    /// The one that a text begins with.
    pub fn beginning(&self, text: &str) -> Option<&str> {
        self.0.iter().map(String::as_str).find(|own| text.starts_with(own))
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

#[derive(Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Words {
    pub hedges: List,
    pub tried: List,
    pub helped: List,
    pub links: List,
    pub busy: List,
    pub others_memory: List,
    pub arcstats: List,
    pub kernel_parameters: List,
    pub share_links: List,
    pub profiles: List,
    pub waiting: List,
    pub spellings: Vec<(String, List)>,
    pub settings: BTreeMap<String, List>,
    pub quantity_ends: List,
    pub kernel_marks: List,
    pub parameters: List,
    pub commands: List,
    pub histogram_tools: List,
    pub kstats: List,
    pub kstat_marks: Vec<(String, String)>,
    pub fio_lines: List,
    pub pool_fields: List,
    pub zfs_beginnings: List,
    pub zfs_words: List,
    pub zfs_pairs: Vec<(String, String)>,
    pub other_pools: List,
    pub other_storage: List,
    pub perf_comments: List,
    pub dumps: List,
    pub thread_starts: List,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_every_list_and_no_other() {
        assert_ne!(*WORDS, Words::default());
        assert!(WORDS.hedges.has("would") && WORDS.dumps.beginning("RAX: 0").is_some());
    }
}
