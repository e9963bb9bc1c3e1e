//! Files that no importer reads: what each is, by its content, and what to do instead.
//!
//! Invariant: a file that an importer is sure of never comes here; what comes is told by its first
//! bytes alone.

mod json;

use crate::{ErrorKind, FormatError};
use regex::bytes::RegexBuilder;
use serde::Deserialize;
use std::sync::LazyLock;

/// What a file is, and what to do with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    /// Goes after "it is ".
    pub what: String,
    pub hint: String,
}

impl Kind {
    fn new(what: impl Into<String>, hint: impl Into<String>) -> Kind {
        Kind { what: what.into(), hint: hint.into() }
    }

    pub fn error(self, name: &str) -> FormatError {
        FormatError::read(ErrorKind::UnknownFormat, name, format!("it is {}", self.what)).hint(self.hint)
    }
}

/// `kinds.toml`.
static KINDS: LazyLock<Kinds> =
    LazyLock::new(|| toml::from_str(include_str!("kinds.toml")).unwrap_or_default());

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kinds {
    kinds: Vec<ByBytes>,
    json: Vec<ByKeys>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ByBytes {
    #[serde(rename = "match")]
    pattern: String,
    is: String,
    hint: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ByKeys {
    #[serde(default)]
    list: bool,
    keys: Vec<Vec<String>>,
    is: String,
    hint: String,
}

impl ByBytes {
    fn kind(&self, head: &[u8]) -> Option<Kind> {
        // Built when it is needed: such files are few, and none is read after this.
        let pattern =
            RegexBuilder::new(&self.pattern).unicode(false).dot_matches_new_line(true).build().ok()?;
        let found = pattern.captures(head)?;
        let name = found.get(1).map_or("".into(), |m| String::from_utf8_lossy(m.as_bytes()));
        Some(Kind::new(self.is.replace("{1}", &name), self.hint.as_str()))
    }
}

/// A kind of file that holds nothing for any importer, not even as text.
pub(crate) fn refused(head: &[u8]) -> Option<Kind> {
    KINDS.kinds.iter().find_map(|kind| kind.kind(head)).or_else(|| {
        let (list, keys) = json::top(head)?;
        let fits = |kind: &&ByKeys| {
            kind.list == list && kind.keys.iter().any(|all| all.iter().all(|key| keys.contains(key)))
        };
        let kind = KINDS.json.iter().find(fits)?;
        Some(Kind::new(kind.is.as_str(), kind.hint.as_str()))
    })
}

/// JSON in which nothing was found.
pub(crate) fn json_of_no_use(head: &[u8]) -> Option<Kind> {
    json::any(head)
}

/// Bytes that are no text, of no kind with a name; `formats` are those that zwhy reads.
pub(crate) fn binary(head: &[u8], formats: &str) -> Kind {
    if head.iter().all(|b| *b == 0) {
        return Kind::new(
            "nothing but zero bytes",
            "the copy or the recording did not end: copy or record again",
        );
    }
    let first: Vec<String> = head.iter().take(8).map(|b| format!("{b:02x}")).collect();
    Kind::new(
        format!("binary data of no kind that zwhy knows (it begins with {})", first.join(" ")),
        format!(
            "check with `file` what it is; zwhy reads {formats}. --format (export: --input-format) forces one"
        ),
    )
}

#[cfg(test)]
mod tests;
