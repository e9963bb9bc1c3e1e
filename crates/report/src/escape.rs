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

/// `word` as a shell takes it for one argument, for commands that are to be copied.
pub fn shell_word(word: &str) -> String {
    let is_safe = |c: char| c.is_alphanumeric() || "_./@%+=:,-".contains(c);
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(is_safe) {
        return word.to_owned();
    }
    // A name that begins with a hyphen would be taken for an option.
    let path = if word.starts_with('-') { format!("./{word}") } else { word.to_owned() };
    plain(&format!("'{}'", path.replace('\'', r"'\''"))).into_owned()
}

/// Running text: characters that Markdown or HTML would act on are escaped.
pub(crate) fn markdown_text(raw: &str) -> String {
    let mut out = String::new();
    for c in plain(raw).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '@' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

/// A code span that holds `raw` whatever backticks it has (CommonMark 6.1), safe in a table cell.
pub(crate) fn markdown_code(raw: &str) -> String {
    if raw.is_empty() {
        return String::new();
    }
    let raw = plain(raw).replace('|', "¦");
    let longest = raw.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if raw.starts_with('`') || raw.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{raw}{pad}{fence}")
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
    fn names_are_quoted_for_the_shell_where_they_need_it() {
        assert_eq!(shell_word("tank/größe-1.zwhy"), "tank/größe-1.zwhy");
        assert_eq!(shell_word("my run; rm -r 'x'.zwhy"), r"'my run; rm -r '\''x'\''.zwhy'");
        assert_eq!(shell_word("-v"), "'./-v'");
    }

    #[test]
    fn nothing_reaches_the_terminal_that_it_would_obey() {
        assert_eq!(plain("z_rd_int/0 größe"), "z_rd_int/0 größe");
        assert_eq!(plain("a\u{1b}[2J\u{9b}31m\n\u{202e}b"), "a\\u{1b}[2J\\u{9b}31m\\n\\u{202e}b");
    }

    #[test]
    fn names_cannot_become_markup() {
        assert_eq!(markdown_text("<b>*x*</b>"), "&lt;b>\\*x\\*&lt;/b>");
        assert_eq!(markdown_code("a`b|c"), "``a`b¦c``");
        assert_eq!(markdown_code("`x"), "`` `x ``");
    }
}
