//! Lines of a byte text: without line ends, bad UTF-8 replaced, colour codes removed.
//!
//! Invariant: line numbers count from 1 and every `\n`-ended piece of the input is one line, so
//! importers can account for all of them.

use memchr::memchr;
use std::borrow::Cow;

/// Longest line that importers look at; the rest of a longer one is cut off.
pub const MAX_LINE: usize = 64 * 1024;

/// Pieces of `bytes` between line breaks, without `\n` and a `\r` before it. An empty piece after the
/// last `\n` is not a line.
pub fn raw_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (line, after) = match memchr(b'\n', rest) {
            Some(end) => (&rest[..end], &rest[end + 1..]),
            None => (rest, &rest[rest.len()..]),
        };
        rest = after;
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    })
}

/// A line as text: cut at [`MAX_LINE`], bad UTF-8 replaced by U+FFFD, terminal colour codes removed.
pub fn text_of(line: &[u8]) -> Cow<'_, str> {
    let line = &line[..line.len().min(MAX_LINE)];
    let text = String::from_utf8_lossy(line);
    if memchr(0x1b, line).is_none() { text } else { Cow::Owned(without_escapes(&text)) }
}

/// Removes `ESC [ … letter` sequences, which `perf` and `grep` write for colours, titles and character sets.
fn without_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' && chars.peek() == Some(&']') {
            // Titles and links: ESC ] … BEL, or … ESC \.
            let mut before = ' ';
            for c in chars.by_ref() {
                if c == '\u{7}' || (before == '\u{1b}' && c == '\\') {
                    break;
                }
                before = c;
            }
        } else if c == '\u{1b}' && matches!(chars.peek(), Some('(' | ')')) {
            // Character sets: ESC ( B, of `tput sgr0` and top.
            chars.next();
            chars.next();
        } else if c == '\u{1b}' && chars.peek() == Some(&'[') {
            chars.next();
            for c in chars.by_ref() {
                if ('\u{40}'..='\u{7e}').contains(&c) {
                    break;
                }
            }
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_break_ends_a_line() {
        let lines: Vec<&[u8]> = raw_lines(b"a\r\n\nb").collect();
        assert_eq!(lines, [&b"a"[..], b"", b"b"]);
        assert_eq!(raw_lines(b"").count(), 0);
        assert_eq!(raw_lines(b"x\n").count(), 1);
    }

    #[test]
    fn colours_go_and_bad_bytes_stay_visible() {
        assert_eq!(text_of(b"\x1b[31m12%\x1b[0m x"), "12% x");
        assert_eq!(text_of(b"a\xffb"), "a\u{fffd}b");
        assert_eq!(text_of(b"\x1b[31"), "");
        assert_eq!(text_of(b"\x1b]0;title\x07a\x1b(Bb\x1b]8;;http://x\x1b\\c"), "abc");
    }
}
