//! HTML and XML that is no flame graph.

use super::Kind;
use memchr::memmem;

/// Longest name of an element that is shown.
const MAX_NAME: usize = 60;

pub fn known(head: &[u8]) -> Option<Kind> {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    if !text.starts_with(b"<") {
        return None;
    }
    if starts_with_word(text, b"<!doctype html") || starts_with_word(text, b"<html") {
        return Some(html(text));
    }
    if !text.starts_with(b"<?xml") {
        return None;
    }
    let name = first_element(text)?;
    let hint = if name == "trace-query-result" {
        "Instruments of macOS wrote it: inferno-collapse-xctrace makes folded stacks of it"
    } else {
        "of XML zwhy reads flame graphs as SVG"
    };
    Some(Kind::new(format!("XML whose first element is <{name}>"), hint))
}

fn html(text: &[u8]) -> Kind {
    if memmem::find(text, b"zwhy").is_some() {
        return Kind::new(
            "a page that zwhy wrote",
            "open it in a browser; give zwhy the capture or profile that it was made from",
        );
    }
    if memmem::find(text, b"<svg").is_some() {
        return Kind::new(
            "an HTML page with a drawing in it",
            "if that is a flame graph, save the SVG alone, or give the folded stacks it was drawn from",
        );
    }
    Kind::new(
        "an HTML page",
        "copy the text of interest from the browser into a file and give that, or download the raw file",
    )
}

fn starts_with_word(text: &[u8], word: &[u8]) -> bool {
    text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

/// The name of the first element after declarations and comments.
fn first_element(text: &[u8]) -> Option<String> {
    let mut at = 0;
    loop {
        at += memchr::memchr(b'<', &text[at..])? + 1;
        let rest = &text[at..];
        match rest.first()? {
            b'?' | b'!' => {
                let end: &[u8] = if rest.starts_with(b"!--") { b"-->" } else { b">" };
                at += memmem::find(rest, end)?;
            }
            _ => {
                let end = rest.iter().position(|b| !(b.is_ascii_alphanumeric() || b"-_:.".contains(b)))?;
                return (end > 0).then(|| String::from_utf8_lossy(&rest[..end.min(MAX_NAME)]).into_owned());
            }
        }
    }
}
