//! Lines as people paste them, without what mail, Markdown and terminals put around them.

use super::Line;
use crate::text::lines::{raw_lines, text_of};
use std::borrow::Cow;

/// All lines of a text; quote marks, entities, trailing blanks and code fences are taken off (a fence
/// becomes blank).
pub fn clean_lines(bytes: &[u8]) -> Vec<Line<'_>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    raw_lines(bytes)
        .enumerate()
        .map(|(i, raw)| {
            let text = text_of(raw);
            let text = match entities(&text) {
                Some(decoded) => Cow::Owned(decoded),
                None => text,
            };
            let text = match text {
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
    if fence.starts_with("```") || fence.starts_with("~~~") || is_tags(fence) {
        return "";
    }
    // The first and last line of a block may share theirs with its tags.
    for tag in ["<pre><code>", "<pre>", "<code>"] {
        text = text.strip_prefix(tag).unwrap_or(text);
    }
    for tag in ["</code></pre>", "</pre>", "</code>", "<br>", "<br/>"] {
        text = text.strip_suffix(tag).unwrap_or(text);
    }
    text
}

/// Nothing but tags that fold or frame a block: `<details>`, `<pre><code>`.
fn is_tags(text: &str) -> bool {
    const NAMES: [&str; 6] = ["pre", "code", "details", "summary", "p", "br"];
    let mut rest = text;
    while let Some((tag, after)) = rest.strip_prefix('<').and_then(|r| r.split_once('>')) {
        let name = tag.trim_matches('/').split([' ', '/']).next().unwrap_or("");
        if !NAMES.contains(&name) {
            return false;
        }
        rest = after.trim_start();
    }
    rest.is_empty() && !text.is_empty()
}

/// The text with the entities that browsers copy; `None` where there is none.
fn entities(text: &str) -> Option<String> {
    const ENTITIES: [(&str, &str); 7] = [
        ("&gt;", ">"),
        ("&lt;", "<"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&#x27;", "'"),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ];
    if !text.contains('&') || !ENTITIES.iter().any(|(entity, _)| text.contains(entity)) {
        return None;
    }
    let mut out = text.to_owned();
    for (entity, character) in ENTITIES {
        out = out.replace(entity, character);
    }
    Some(out)
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
        // `root@host:~`, `root@host /tmp`, `user@nas[~]`, `host:~`
        let prompt = prompt.trim_end();
        let named = prompt.len() < 60
            && prompt
                .split(' ')
                .next()
                .is_some_and(|w| w.contains('@') || w.ends_with(":~") || w.contains(":/"))
            && prompt.split(' ').count() <= 2
            && !prompt.contains("://");
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
        assert_eq!(command("root@nas[~]# zpool list"), Some("zpool list"));
        assert_eq!(command("root@pve /tmp # zpool list"), Some("zpool list"));
        let lines = clean_lines(b"&gt; a &lt;b&gt; &amp;amp;\n<details><summary>\n<pre>x\ny</pre>\n<spl> z");
        let texts: Vec<&str> = lines.iter().map(|l| &*l.text).collect();
        assert_eq!(texts, ["a <b> &amp;", "", "x", "y", "<spl> z"]);
        assert_eq!(command("a sentence # with a mark"), None);
    }
}
