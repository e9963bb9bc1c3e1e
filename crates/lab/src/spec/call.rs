//! The step `call`: one call of the application on a file of its own, and what became of it.

use super::setup::Way;
use crate::Bytes;
use serde::{Deserialize, Serialize};

/// Records of that file; behind them is a part of a page, [`TAIL`].
pub const RECORDS: u64 = 8;
/// Bytes of the last, short block: the file does not end at a page.
pub const TAIL: u64 = 1000;

/// What is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallKind {
    /// Makes the file, buffered, and waits until it is on disk. Has no outcome.
    #[default]
    Make,
    /// Reads, and compares what comes with what was written.
    Read,
    /// Writes something new.
    Write,
    /// Writes the same again and again, while another thread changes the memory that is written.
    WriteChanging,
    /// Maps this part of the file into memory, and looks at each page: they are in the page cache from here on.
    Map,
    /// Waits until the file is on disk.
    Fsync,
}

/// One call with all that decides what becomes of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    pub kind: CallKind,
    /// Byte of the file.
    pub at: u64,
    pub bytes: Bytes,
    /// How the file is open: as all of the cell, or as the step says.
    pub way: Way,
    /// Bytes between the start of a page and the memory that is read into or written from.
    pub memory: u64,
}

/// What the kernel answered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Called {
    /// What was asked: read or written; `None` for what moves nothing.
    pub asked: Option<(Direction, u64)>,
    /// 0 when it worked.
    pub errno: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    Read,
    Write,
}

/// The outcomes that a check can ask for.
pub const OUTCOMES: [&str; 5] = ["direct", "direct in part", "buffered", "EINVAL", "EIO"];

impl Called {
    /// In a word of [`OUTCOMES`], or `errno N`, by what OpenZFS counted as direct; `None` for a call that moves nothing.
    ///
    /// What was served directly is counted in whole blocks (`dmu_read_abd`, `dmu_write_abd`, module/zfs/dmu_direct.c,
    /// 2.3.2), so that a page of a record counts as all of it. A direct read of what the ARC holds counts as nothing.
    pub fn outcome(&self, counted: impl Fn(&str) -> i64) -> Option<String> {
        let (direction, asked) = self.asked?;
        let direct = counted(match direction {
            Direction::Read => "lab.direct_read_bytes",
            Direction::Write => "lab.direct_write_bytes",
        });
        Some(match self.errno {
            0 if direct >= asked.cast_signed() => "direct".to_owned(),
            0 if direct > 0 => "direct in part".to_owned(),
            0 => "buffered".to_owned(),
            libc::EINVAL => "EINVAL".to_owned(),
            libc::EIO => "EIO".to_owned(),
            other => format!("errno {other}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_go_by_the_error_then_by_what_was_counted() {
        let of = |errno, direct: i64| {
            let called = Called { asked: Some((Direction::Write, 4096)), errno };
            called.outcome(|name| if name == "lab.direct_write_bytes" { direct } else { 1 << 20 }).unwrap()
        };
        assert_eq!(
            [of(0, 4096), of(0, 8192), of(0, 1024), of(0, 0)],
            ["direct", "direct", "direct in part", "buffered"]
        );
        assert_eq!([of(22, 4096), of(5, 0), of(28, 0)], ["EINVAL", "EIO", "errno 28"]);
        assert_eq!(Called::default().outcome(|_| 1), None);
    }
}
