//! Text of strangers made harmless for a terminal.
//!
//! Names in a profile are chosen by whoever ran the programs: control characters could move the
//! cursor, reprogram keys or hide text, and direction marks could reorder it.

use std::borrow::Cow;

/// `text` with control characters, line breaks and direction marks shown as escapes.
pub fn plain(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hostile) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if is_hostile(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// As [`plain`], line by line: for our own texts of several lines that quote others.
pub fn plain_lines(text: &str) -> String {
    text.lines().map(plain).collect::<Vec<_>>().join("\n")
}

/// Controls (C0, DEL, C1), line and paragraph separators, bidirectional and invisible formatting.
fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_that_it_would_obey() {
        assert_eq!(plain("z_rd_int/0 größe"), "z_rd_int/0 größe");
        assert_eq!(plain("a\u{1b}[2J\u{9b}31m\n\u{202e}b"), "a\\u{1b}[2J\\u{9b}31m\\n\\u{202e}b");
    }
}
