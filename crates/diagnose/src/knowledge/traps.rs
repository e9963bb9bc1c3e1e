//! Patterns that read well and match nothing, or everything.

use crate::facts::Argument;

/// What is wrong with the pattern of an argument.
pub fn of_pattern(text: &str, kind: Argument, say: &mut impl FnMut(String)) {
    let named = matches!(kind, Argument::Functions | Argument::Threads);
    let like = matches!(kind, Argument::Text | Argument::Tool | Argument::Column | Argument::Row);
    if !(named || like || kind == Argument::KstatSource) {
        return;
    }
    // A version may well be written as `2.*`.
    if text.contains(['?', '\\']) || (named && text.contains(".*")) {
        say(format!("`{text}` is no regular expression: only * stands for any text, | separates names"));
    }
    for name in text.split('|').map(str::trim) {
        match name {
            "" => say(format!("`{text}` has an empty alternative")),
            "*" if named => say(format!("`{text}` matches everything")),
            _ => {}
        }
        if name.contains("**") {
            say(format!("`{name}` has two stars side by side; one is enough"));
        }
    }
    match kind {
        Argument::Functions => text.split('|').for_each(|name| function(name.trim(), say)),
        Argument::Threads => text.split('|').for_each(|name| thread(name.trim(), say)),
        _ => {}
    }
}

/// Functions are compared by bare name.
fn function(name: &str, say: &mut impl FnMut(String)) {
    const SUFFIXES: [&str; 6] = [".isra", ".part", ".constprop", ".cold", ".lto_priv", "+0x"];
    if let Some(suffix) = SUFFIXES.iter().find(|s| name.contains(**s)) {
        say(format!("`{name}`: names are compared without `{suffix}…`, so this never matches"));
    }
    if name.contains(['`', '!', '[', '(', ' ']) {
        say(format!("`{name}` is no bare function name, so it never matches"));
    }
}

/// Threads are compared with and without their number, which differs from host to host.
fn thread(name: &str, say: &mut impl FnMut(String)) {
    let numbered = name
        .rsplit_once(['/', '-'])
        .is_some_and(|(_, n)| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    if numbered {
        say(format!("thread `{name}` has a number: write the name without it, as every host numbers anew"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str, kind: Argument) -> String {
        let mut said = Vec::new();
        of_pattern(text, kind, &mut |what| said.push(what));
        said.join("; ")
    }

    #[test]
    fn patterns_that_cannot_mean_what_they_say_are_named() {
        for (text, kind, says) in [
            ("zio_?rite", Argument::Functions, "no regular expression"),
            ("arc.*", Argument::Functions, "no regular expression"),
            ("iostat\\d", Argument::Text, "no regular expression"),
            ("a||b", Argument::Text, "empty alternative"),
            ("zio_write|*", Argument::Functions, "matches everything"),
            ("arc_**", Argument::Functions, "two stars"),
            ("dnode_sync.isra.0", Argument::Functions, "without `.isra"),
            ("zfs`arc_read", Argument::Functions, "no bare function"),
            ("z_wr_iss/3", Argument::Threads, "has a number"),
            ("zvol_tq-0", Argument::Threads, "has a number"),
        ] {
            let said = said(text, kind);
            assert!(said.contains(says), "{text}: {said}");
        }
        for (text, kind) in [
            ("arc_evict*|dbuf_evict", Argument::Functions),
            ("z_wr_iss*|txg_sync", Argument::Threads),
            ("*", Argument::Text),
            ("0.7*|2.*", Argument::Text),
            ("10.5?", Argument::Version),
        ] {
            assert_eq!(said(text, kind), "", "{text}");
        }
    }
}
