//! Files that no importer reads: what each is, by its content, and what to do instead.
//!
//! Invariant: a file that an importer is sure of never comes here; what comes is told by its first
//! bytes alone.

mod json;
mod magic;
mod markup;

use crate::{ErrorKind, FormatError};

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

/// A kind of file that holds nothing for any importer, not even as text.
pub(crate) fn refused(head: &[u8]) -> Option<Kind> {
    magic::known(head).or_else(|| markup::known(head)).or_else(|| json::known(head)).or_else(|| ghc(head))
}

/// The report of GHC's profiler: its table's last column would be read as counts.
fn ghc(head: &[u8]) -> Option<Kind> {
    let title = head.split(|b| *b == b'\n').next()?;
    let found = memchr::memmem::find(title, b"Time and Allocation Profiling Report").is_some();
    found.then(|| {
        Kind::new(
            "a report of GHC's profiler (.prof)",
            "inferno-collapse-ghcprof makes folded stacks of it; give those",
        )
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
