//! Text of `perf script` that something went over: without its indentation, with blank or odd lines inside
//! stacks.
//!
//! Looks at the first bytes; only text that needs it is rewritten, so the usual text is not copied.

use super::{frame, header};
use crate::text::lines::raw_lines;

/// The text as perf would have written it.
pub struct Tidy {
    pub text: Vec<u8>,
    /// Lines inside stacks that are of nobody, left out.
    pub odd: u64,
}

/// What a line is.
#[derive(Clone, Copy, PartialEq)]
enum Line {
    Blank,
    Frame,
    /// A frame that has lost its indentation.
    BareFrame,
    Header,
    /// `# captured on: …`.
    Comment,
    /// Indented text below a frame: where it is in the source.
    Below,
    Odd,
}

/// The text put in order, if its head needs that.
pub fn tidied(bytes: &[u8]) -> Option<Tidy> {
    let head = &bytes[..bytes.len().min(crate::HEAD_BYTES)];
    needs(head).then(|| tidy(bytes))
}

/// Whether lines inside stacks are not as perf writes them. Without any header a blank line is all that
/// parts two stacks.
fn needs(head: &[u8]) -> bool {
    let lines: Vec<Line> = raw_lines(head).map(kind).collect();
    let bare = lines.windows(2).any(|pair| pair == [Line::Header, Line::BareFrame]);
    bare || (lines.contains(&Line::Header) && (0..lines.len()).any(|at| breaks(&lines, at)))
}

/// A blank or odd line (or several) with the same stack before and after.
fn breaks(lines: &[Line], at: usize) -> bool {
    if !matches!(lines[at], Line::Blank | Line::Odd) || at == 0 {
        return false;
    }
    let inside = |line: &Line| matches!(line, Line::Frame | Line::BareFrame | Line::Below | Line::Header);
    inside(&lines[at - 1]) && frame_follows(&lines[at..])
}

fn frame_follows(lines: &[Line]) -> bool {
    /// Lines that may stand between two frames of a stack.
    const MOST: usize = 4;
    let mut next = lines.iter().take(MOST).skip_while(|l| matches!(l, Line::Blank | Line::Odd));
    matches!(next.next(), Some(Line::Frame | Line::BareFrame))
}

fn kind(line: &[u8]) -> Line {
    if line.trim_ascii().is_empty() {
        Line::Blank
    } else if line.starts_with(b"#") {
        Line::Comment
    } else if frame::is_frame_line(line) && frame::is_address_wide(line) {
        Line::Frame
    } else if is_bare_frame(line) {
        Line::BareFrame
    } else if !line.starts_with(b"\t") && header::parse(line).is_some() {
        Line::Header
    } else if line.starts_with(b"  ") {
        Line::Below
    } else {
        Line::Odd
    }
}

/// `ffffffff81630273 zio_read+0xc3 ([zfs])`: an address, a name and a module in parentheses.
pub fn is_bare_frame(line: &[u8]) -> bool {
    let text = line.trim_ascii();
    let digits = text.iter().take_while(|b| b.is_ascii_hexdigit()).count();
    (4..=16).contains(&digits) && text.get(digits) == Some(&b' ') && text.ends_with(b")") && {
        let name = text[digits..].trim_ascii_start();
        name.first().is_some_and(|b| !b.is_ascii_digit())
    }
}

fn tidy(bytes: &[u8]) -> Tidy {
    let mut out = Tidy { text: Vec::with_capacity(bytes.len() + bytes.len() / 16), odd: 0 };
    let mut in_stack = false;
    let mut lines = raw_lines(bytes);
    while let Some(line) = lines.next() {
        let what = kind(line);
        let ahead = || -> Vec<Line> { lines.clone().take(4).map(kind).collect() };
        match what {
            Line::Blank if in_stack && frame_follows(&ahead()) => continue,
            Line::Odd if in_stack && frame_follows(&ahead()) => {
                out.odd += 1;
                continue;
            }
            // A file that lost its blank lines too is no worse for having them.
            Line::Header if in_stack => out.text.push(b'\n'),
            Line::BareFrame => out.text.push(b'\t'),
            _ => {}
        }
        in_stack = matches!(what, Line::Header | Line::Frame | Line::BareFrame | Line::Below);
        out.text.extend(if what == Line::BareFrame { line.trim_ascii() } else { line });
        out.text.push(b'\n');
    }
    out
}
