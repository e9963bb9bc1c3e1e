//! `strace`: system calls with their results and, with -T, the seconds each took.
//!
//! Table `strace` (syscall, call, result, seconds). A summary (`strace -c`) is a table of its own.

use super::cells;
use crate::blocks::{Block, Line, Sink, Taken};

/// Calls of one table; those after them make the next one, so that none is lost.
const MOST_CALLS: usize = 1000;
/// Letters of a call that are kept: its name and first arguments.
const MOST_LETTERS: usize = 120;

/// Lines such as `lseek(3, 32768, SEEK_HOLE) = 41943040 <6.812003>`.
pub struct Strace;

impl Block for Strace {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let rows: Vec<Vec<String>> = lines.iter().map_while(|l| call(&l.text)).take(MOST_CALLS).collect();
        let used = rows.len();
        // One line could be code or prose, unless it says how long it took.
        if used < 2 && rows.first().is_none_or(|row| row[3].is_empty()) {
            return None;
        }
        let origin = sink.origin("strace", &lines[..used]);
        cells::table(sink, "strace", cells::names(&["syscall", "call", "result", "seconds"]), rows, origin);
        Taken::kept(used)
    }
}

/// Name, call, result and seconds of one line; a call that did not return has neither of the last two.
fn call(text: &str) -> Option<Vec<String>> {
    let text = after_stamp(text.trim());
    let (name, _) = text.split_once('(')?;
    let is_name = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    if !is_name {
        return None;
    }
    let (said, seconds) = match text.strip_suffix('>').and_then(|t| t.rsplit_once(" <")) {
        Some((said, took)) if took.parse::<f64>().is_ok() => (said, took),
        _ => (text, ""),
    };
    let (said, result) = match said.rsplit_once(" = ") {
        Some((said, result)) if said.trim_end().ends_with(')') => (said.trim_end(), result.trim()),
        _ => (said.strip_suffix("<unfinished ...>")?.trim_end(), ""),
    };
    let number = result.split([' ', '\t']).next().unwrap_or("");
    let digits = number.strip_prefix("0x").unwrap_or(number.trim_start_matches('-'));
    let returned = result.is_empty()
        || number == "?"
        || (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit()));
    returned.then(|| cells::names(&[name, clipped(said), number, seconds]))
}

/// The line without what strace puts before a call: `[pid 12]` or `12` (-f), the time (-t, -tt, -r).
fn after_stamp(text: &str) -> &str {
    let mut rest = text;
    if let Some((_, after)) = rest.strip_prefix("[pid").and_then(|t| t.split_once(']')) {
        rest = after.trim_start();
    }
    const MOST_STAMPS: usize = 2;
    for _ in 0..MOST_STAMPS {
        let Some((word, after)) = rest.split_once(' ') else { break };
        if word.is_empty() || !word.bytes().all(|b| b.is_ascii_digit() || b == b':' || b == b'.') {
            break;
        }
        rest = after.trim_start();
    }
    rest
}

fn clipped(text: &str) -> &str {
    text.char_indices().nth(MOST_LETTERS).map_or(text, |(at, _)| &text[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_all_stamps_are_read() {
        for (line, expected) in [
            (
                "lseek(3, 32768, SEEK_HOLE)   = 41943040 <6.812003>",
                Some(["lseek", "lseek(3, 32768, SEEK_HOLE)", "41943040", "6.812003"]),
            ),
            (
                "[pid  871] read(3, \"a = b) = 1\", 9) = 9",
                Some(["read", "read(3, \"a = b) = 1\", 9)", "9", ""]),
            ),
            (
                "12:30:01.000123 openat(AT_FDCWD, \"x\", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000064>",
                Some(["openat", "openat(AT_FDCWD, \"x\", O_RDONLY)", "-1", "0.000064"]),
            ),
            (
                "871   0.000120 mmap(NULL, 4096) = 0x7f2ce6976000",
                Some(["mmap", "mmap(NULL, 4096)", "0x7f2ce6976000", ""]),
            ),
            ("fsync(4 <unfinished ...>", Some(["fsync", "fsync(4", "", ""])),
            ("exit_group(0) = ?", Some(["exit_group", "exit_group(0)", "?", ""])),
            ("x = foo(3) = 4", None),
            ("Setting(a) = 4", None),
            ("foo(bar) = baz", None),
            ("zfs_read(3)", None),
            ("", None),
        ] {
            let want = expected.map(|e| e.map(str::to_owned).to_vec());
            assert_eq!(call(line), want, "{line}");
        }
    }
}
