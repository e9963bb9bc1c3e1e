//! JSON that is no profile that zwhy reads: its top keys.

use super::Kind;

/// Keys that are shown.
const MAX_KEYS: usize = 12;

/// Longest key that is shown.
const MAX_KEY: usize = 40;

/// What zwhy reads as JSON.
const READ: &str = "of JSON zwhy reads speedscope files, profiles of the Firefox profiler and samply, OTLP profiles, and evidence of zwhy";

/// Any other JSON: an object with its keys, or a list.
pub fn any(head: &[u8]) -> Option<Kind> {
    let (list, keys) = top(head)?;
    let shown: Vec<String> = keys
        .iter()
        .take(MAX_KEYS)
        .map(|k| format!("`{}`", k.chars().take(MAX_KEY).collect::<String>()))
        .collect();
    let more = if keys.len() > MAX_KEYS { ", …" } else { "" };
    let keys = match (list, shown.is_empty()) {
        (false, true) => "an object without keys".to_owned(),
        (false, false) => format!("its keys are {}{more}", shown.join(", ")),
        (true, true) => "a list".to_owned(),
        (true, false) => format!("a list; the keys of its first object are {}{more}", shown.join(", ")),
    };
    Some(Kind::new(format!("JSON of no kind that zwhy reads: {keys}"), READ))
}

/// Whether JSON is a list, and the keys of its object, or of the first object of the list, as far as
/// the first bytes show them. `None` when it is not JSON.
pub fn top(head: &[u8]) -> Option<(bool, Vec<String>)> {
    let mut text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii();
    let list = text.first() == Some(&b'[');
    if list {
        text = text[1..].trim_ascii_start();
        if !matches!(text.first()?, b'{' | b'[' | b']' | b'"' | b'-' | b'0'..=b'9') {
            return None;
        }
        if text.first() != Some(&b'{') {
            return looks_like_list(text).then(|| (true, Vec::new()));
        }
    }
    let rest = text.strip_prefix(b"{")?;
    keys(rest).map(|keys| (list, keys))
}

/// `[1, 2]` is JSON, `[1234.5] kernel: …` and `[fio] 3` are lines of a log.
fn looks_like_list(text: &[u8]) -> bool {
    let end = text.iter().position(|b| *b == b'\n').unwrap_or(text.len());
    match text[..end].iter().position(|b| matches!(b, b',' | b']')) {
        Some(at) if text[at] == b',' => true,
        Some(at) => text[at + 1..].trim_ascii().is_empty(),
        None => text.len() > end,
    }
}

/// Keys of the object whose text begins here; `None` when the first thing in it is no key.
fn keys(text: &[u8]) -> Option<Vec<String>> {
    let mut found = Vec::new();
    let (mut at, mut depth) = (0, 0u32);
    let mut key_next = true;
    while at < text.len() {
        match text[at] {
            b'"' => {
                let end = string_end(text, at + 1);
                if depth == 0 && key_next {
                    found.push(String::from_utf8_lossy(&text[at + 1..end.min(text.len())]).into_owned());
                    key_next = false;
                    let colon = text.get(end + 1..).unwrap_or_default().trim_ascii_start().first();
                    if found.len() == 1 && colon.is_some_and(|c| *c != b':') {
                        return None;
                    }
                }
                at = end;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 0 => break,
            b'}' | b']' => depth -= 1,
            b',' if depth == 0 => key_next = true,
            b if found.is_empty() && !b.is_ascii_whitespace() => return None,
            _ => {}
        }
        at += 1;
    }
    Some(found)
}

/// Where the quote is that ends the string beginning at `at`; the end of the text when there is none.
fn string_end(text: &[u8], mut at: usize) -> usize {
    while at < text.len() {
        match text[at] {
            b'\\' => at += 1,
            b'"' => return at,
            _ => {}
        }
        at += 1;
    }
    text.len()
}
