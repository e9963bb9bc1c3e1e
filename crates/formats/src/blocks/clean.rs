//! Lines as people paste them, without what mail, Markdown and terminals put around them.

use super::Line;
use crate::text::lines::{raw_lines, text_of};
use std::borrow::Cow;

/// All lines of a text; quote marks, trailing blanks and code fences are taken off (a fence becomes blank).
pub fn clean_lines(bytes: &[u8]) -> Vec<Line<'_>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    raw_lines(bytes)
        .enumerate()
        .map(|(i, raw)| {
            let text = match text_of(raw) {
                Cow::Borrowed(text) => Cow::Borrowed(clean(text)),
                Cow::Owned(text) => Cow::Owned(clean(&text).to_owned()),
            };
            let text = if text.contains(['\u{a0}', '\u{2007}', '\u{202f}']) {
                Cow::Owned(text.replace(['\u{a0}', '\u{2007}', '\u{202f}'], " "))
            } else {
                text
            };
            Line { number: i + 1, text }
        })
        .collect()
}

fn clean(line: &str) -> &str {
    let mut text = line.trim_end();
    // Quotes of mail and Markdown: `> `, `>> `, `| `is not one of them, perf draws with it.
    while let Some(rest) = text.strip_prefix('>') {
        text = rest.strip_prefix(' ').unwrap_or(rest);
    }
    let fence = text.trim_start();
    if fence.starts_with("```")
        || fence.starts_with("~~~")
        || matches!(fence, "<pre>" | "</pre>" | "<code>" | "</code>")
    {
        return "";
    }
    text
}

/// A command line: what was typed after a prompt (`$ `, `# `, `root@host:~# `, `[root@host ~]# `).
pub fn command(text: &str) -> Option<&str> {
    let text = text.trim_start();
    if let Some(rest) = text.strip_prefix("$ ").or_else(|| text.strip_prefix("# ")) {
        return Some(rest.trim());
    }
    for mark in ["# ", "$ ", "% ", "> "] {
        let Some((prompt, rest)) = text.split_once(mark) else { continue };
        let bracketed = prompt.starts_with('[') && prompt.ends_with(']');
        let named = prompt.contains('@') && !prompt.contains(' ');
        if bracketed || named {
            return Some(rest.trim());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_fences_and_prompts_are_seen() {
        let lines = clean_lines(b"> > a\r\n```sh\n  x\xc2\xa0y  \n>q");
        let texts: Vec<&str> = lines.iter().map(|l| &*l.text).collect();
        assert_eq!(texts, ["a", "", "  x y", "q"]);
        assert_eq!(command("root@db7:~# zfs get all"), Some("zfs get all"));
        assert_eq!(command("[root@db7 ~]$ uname -a"), Some("uname -a"));
        assert_eq!(command("$ top"), Some("top"));
        assert_eq!(command("a sentence # with a mark"), None);
    }
}
