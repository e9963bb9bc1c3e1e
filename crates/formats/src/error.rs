//! Why a file could not be read or written: what was done, to what, where, what was found, what to try.

use std::fmt;

/// What went wrong, for callers that decide by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The operating system refused to read or write.
    Io,
    /// No importer recognises the content, or the forced one does not exist.
    UnknownFormat,
    /// The format is known, this variant of it is not read.
    Unsupported,
    /// The content contradicts its format and nothing of it could be kept.
    Damaged,
    /// A limit of [`crate::Limits`] was reached.
    TooLarge,
    /// The content is valid and holds no samples or other evidence.
    Empty,
}

/// Where in the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    Byte(u64),
    /// First line is 1.
    Line(u64),
    /// First record is 1.
    Record {
        number: u64,
        byte: u64,
    },
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Position::Byte(byte) => write!(f, "at byte {byte}"),
            Position::Line(line) => write!(f, "line {line}"),
            Position::Record { number, byte } => write!(f, "record {number} at byte {byte}"),
        }
    }
}

/// One failed import or export.
///
/// Prints as `cannot read NAME: POSITION: found; hint`.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct FormatError(Box<Details>);

#[derive(Debug)]
struct Details {
    kind: ErrorKind,
    doing: &'static str,
    name: String,
    position: Option<Position>,
    found: String,
    hint: String,
}

impl FormatError {
    /// Reading `name` failed because of `found` (a clause without a full stop).
    pub fn read(kind: ErrorKind, name: impl Into<String>, found: impl Into<String>) -> Self {
        Self::new(kind, "read", name.into(), found.into())
    }

    /// Writing `name` failed because of `found`.
    pub fn write(kind: ErrorKind, name: impl Into<String>, found: impl Into<String>) -> Self {
        Self::new(kind, "write", name.into(), found.into())
    }

    /// Reading `name` was refused by the operating system.
    pub fn read_io(name: impl Into<String>, error: &std::io::Error) -> Self {
        Self::read(ErrorKind::Io, name, error.to_string())
    }

    /// Writing `name` was refused by the operating system.
    pub fn write_io(name: impl Into<String>, error: &std::io::Error) -> Self {
        Self::write(ErrorKind::Io, name, error.to_string())
    }

    /// Nothing can be written there.
    pub(crate) fn place(error: &zwhy_place::PlaceError) -> Self {
        Self::write(ErrorKind::Io, error.path.display().to_string(), error.reason.to_string())
    }

    fn new(kind: ErrorKind, doing: &'static str, name: String, found: String) -> Self {
        FormatError(Box::new(Details { kind, doing, name, position: None, found, hint: String::new() }))
    }

    pub fn at(mut self, position: Position) -> Self {
        self.0.position = Some(position);
        self
    }

    /// What to try.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = hint.into();
        self
    }

    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    pub fn position(&self) -> Option<Position> {
        self.0.position
    }
}

impl fmt::Display for Details {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Names and findings may hold text of the file: control characters stay off the terminal.
        let clean = |text: &str| text.replace(|c: char| c.is_control(), "?");
        write!(f, "cannot {} {}: ", self.doing, clean(&self.name))?;
        if let Some(position) = self.position {
            write!(f, "{position}: ")?;
        }
        f.write_str(&clean(&self.found))?;
        if !self.hint.is_empty() {
            write!(f, "; {}", clean(&self.hint))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_says_what_where_and_what_to_try() {
        let error =
            FormatError::read(ErrorKind::Damaged, "perf\x1b[0m.data", "claims 70000 bytes, 312 are left")
                .at(Position::Record { number: 1204, byte: 88_112 })
                .hint("record again");
        assert_eq!(
            error.to_string(),
            "cannot read perf?[0m.data: record 1204 at byte 88112: claims 70000 bytes, 312 are left; record again"
        );
    }
}
