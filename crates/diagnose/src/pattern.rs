//! Name patterns of the knowledge files: alternatives split by `|`, each with `*` for any text.
//!
//! A function of the kernel that had other names in other releases is written once, by its present
//! name; the pattern matches the others too.

use serde::Deserialize;
use zwhy_zfs::thread_base;

/// One alternative.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Glob {
    Exact(String),
    /// `text*`
    Prefix(String),
    /// Any other place of `*`: the pieces between the stars, in order.
    Pieces(Vec<String>),
}

impl Glob {
    pub fn new(text: &str) -> Glob {
        match text.split_once('*') {
            None => Glob::Exact(text.to_owned()),
            Some((head, "")) => Glob::Prefix(head.to_owned()),
            Some(_) => Glob::Pieces(text.split('*').map(str::to_owned).collect()),
        }
    }

    pub fn matches(&self, name: &str) -> bool {
        match self {
            Glob::Exact(text) => name == text,
            Glob::Prefix(head) => name.starts_with(head.as_str()),
            Glob::Pieces(pieces) => matches_pieces(pieces, name),
        }
    }
}

fn matches_pieces(pieces: &[String], name: &str) -> bool {
    let [first, middle @ .., last] = pieces else { return false };
    let Some(mut rest) = name.strip_prefix(first.as_str()) else { return false };
    for piece in middle {
        let Some(at) = rest.find(piece.as_str()) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last.as_str())
}

/// Alternatives of [`Glob`]s: `ccm_*|aes_xor_block`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub struct Pattern {
    pub globs: Vec<Glob>,
}

impl std::fmt::Display for Glob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Glob::Exact(text) => f.write_str(text),
            Glob::Prefix(head) => write!(f, "{head}*"),
            Glob::Pieces(pieces) => f.write_str(&pieces.join("*")),
        }
    }
}

impl std::fmt::Display for Pattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, glob) in self.globs.iter().enumerate() {
            if i > 0 {
                f.write_str("|")?;
            }
            write!(f, "{glob}")?;
        }
        Ok(())
    }
}

/// Present names, and what else the same function was called: `_spin_lock` up to Linux 2.6.32,
/// `mspin_lock` from 3.10 to 3.14, ticket locks up to 4.1, `__pv_…` in guests.
const SYNONYMS: [(&str, &[&str]); 7] = [
    ("_raw_spin_lock*", &["_spin_lock*"]),
    ("_raw_spin_lock_irq*", &["_spin_lock_irq*"]),
    ("_raw_spin_lock_irqsave", &["_spin_lock_irqsave"]),
    ("_raw_spin_lock", &["_spin_lock"]),
    ("_raw_spin_unlock_irqrestore", &["_spin_unlock_irqrestore"]),
    ("native_queued_spin_lock_slowpath", &["__pv_queued_spin_lock_slowpath", "__ticket_spin_lock"]),
    ("osq_lock", &["mspin_lock", "mcs_spin_lock"]),
];

fn synonyms(name: &str) -> &'static [&'static str] {
    SYNONYMS.iter().find(|(present, _)| *present == name).map_or(&[], |(_, others)| others)
}

impl From<String> for Pattern {
    fn from(text: String) -> Pattern {
        Pattern::new(&text)
    }
}

impl Pattern {
    pub fn new(text: &str) -> Pattern {
        let written = || text.split('|').map(str::trim).filter(|t| !t.is_empty());
        let globs = written().chain(written().flat_map(|name| synonyms(name).iter().copied()));
        Pattern { globs: globs.map(Glob::new).collect() }
    }

    pub fn matches(&self, name: &str) -> bool {
        self.globs.iter().any(|g| g.matches(name))
    }

    /// Whether a thread is called so, with or without its number.
    pub fn matches_thread(&self, comm: &str) -> bool {
        self.matches(thread_base(comm)) || self.matches(comm)
    }

    /// As [`Pattern::matches`], upper and lower case alike.
    pub fn matches_any_case(&self, text: &str) -> bool {
        self.matches(text) || self.matches(&text.to_lowercase())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text() {
        let p = Pattern::new("ccm_*|aes_xor_block | *-ccm|a*b*c");
        for yes in ["ccm_", "ccm_format", "aes_xor_block", "aes-256-ccm", "abc", "a-b-b-c"] {
            assert!(p.matches(yes), "{yes}");
        }
        for no in ["ccm", "aes_xor_blocks", "aes-ccm-256", "ab", "acb", ""] {
            assert!(!p.matches(no), "{no}");
        }
        assert!(!Pattern::new("").matches(""));
        assert!(Pattern::new("*").matches(""));
        assert!(!Pattern::new("ab*ba").matches("aba"), "pieces do not overlap");
    }

    #[test]
    fn former_names_of_kernel_functions_match() {
        let p = Pattern::new("_raw_spin_lock*|osq_lock");
        for yes in ["_raw_spin_lock_irqsave", "_spin_lock_irqsave", "osq_lock", "mspin_lock"] {
            assert!(p.matches(yes), "{yes}");
        }
        assert!(!p.matches("__ticket_spin_lock"));
    }
}
